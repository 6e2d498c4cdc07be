// Kernels that a kernel launches (dynamic parallelism). They run in the order of their launches, each with all that it
// launches itself: when the kernel waits for them (cudaDeviceSynchronize on the device), else when its grid has ended; those
// of the tail stream come last. CUDA promises no more, whatever the stream. A program that relies on more reads what its
// children have not written yet, and sees that here.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/runtime.h"
#include "core/simt/device_runtime.h"

namespace lockstep::runtime {

class Children final : public simt::DeviceRuntime {
  public:
    // Of a launch of `parent`; `like`: its record, from which theirs take the stream, the device and the site.
    Children(Runtime& runtime, const Kernel& parent, const LaunchRecord& like, int depth = 0)
        : runtime_(runtime), parent_(parent), like_(like), depth_(depth) {}

    int start(simt::DeviceWork work) override;
    bool wait() override;
    int device() const override { return static_cast<int>(like_.device); }
    int devices() const override { return static_cast<int>(runtime_.device_count()); }

    void finish();  // when the grid has ended

    struct Ended {
        LaunchRecord record;
        std::shared_ptr<const model::KernelTime> time;
    };
    std::vector<Ended>& ended() { return ended_; }  // in the order in which they ran, children of children included

  private:
    int problem_of(const simt::DeviceWork& work);
    void run_all(std::deque<simt::DeviceWork>& work);
    void run(const simt::DeviceWork& work);

    Runtime& runtime_;
    const Kernel& parent_;
    const LaunchRecord& like_;
    const int depth_;
    std::deque<simt::DeviceWork> waiting_, tail_;
    std::vector<Ended> ended_;
};

}  // namespace lockstep::runtime
