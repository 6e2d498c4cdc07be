// A whole launch, run functionally instruction by instruction while somebody looks on: slower than launch(), in the same
// order. For questions about values that come up when a launch has ended, from the memory that it began with.
#pragma once
#include "core/simt/warp.h"

namespace lockstep::simt {

class Observer {
  public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;
    virtual bool wants(const Block&) const { return true; }  // to see its instructions; all others run as in launch()
    virtual void before(const Warp&) {}                      // its next instruction
    virtual void after(const Warp&, const WarpEvent&) {}
    virtual void ended(const Block&) {}
    virtual bool done() const { return false; }  // the rest of the launch need not run
};

// Without racecheck and initcheck, whatever the options say, and nothing is printed.
LaunchResult launch_observed(const ptx::Program&, const LaunchConfig&, Memory&, const LaunchOptions&, Observer&);

}  // namespace lockstep::simt
