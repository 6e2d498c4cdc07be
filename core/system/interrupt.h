// Ctrl-C for work that no signal may break into: oneDNN's products keep buffers where a stack is taken to be, and a handler
// would write over them. While one of these is there Ctrl-C waits to be asked for, in this thread and in those that it
// starts.
#pragma once
#include <mutex>

namespace lockstep::system {

class HeldInterrupt {
  public:
    HeldInterrupt();
    ~HeldInterrupt();
    HeldInterrupt(const HeldInterrupt&) = delete;
    HeldInterrupt& operator=(const HeldInterrupt&) = delete;

    bool came();  // since this was made; from any thread. Behind it the next one ends the process

  private:
    std::mutex mutex_;
    bool held_ = false, came_ = false;
};

}  // namespace lockstep::system
