// Writes what is to survive a restart, soon, on a thread of its own; what is left is written when it ends.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace lockstep::gui {

class StateKeeper {
  public:
    using Write = std::function<std::string()>;  // returns why that was not possible; "": it was
    explicit StateKeeper(std::string what);      // "your kernels", for the sentence
    ~StateKeeper();
    StateKeeper(const StateKeeper&) = delete;
    StateKeeper& operator=(const StateKeeper&) = delete;
    void keep(Write write);  // of those that wait only the newest counts
    std::string problem();   // a sentence, once; "": all is well

  private:
    std::string what_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    Write waiting_;
    std::string problem_;
    bool told_ = false;
    std::jthread thread_;
};

}  // namespace lockstep::gui
