// Gives a run up that nobody asked for by hand.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace lockstep::gui {

constexpr double most_unasked_seconds = 1.0;  // of a run after an edit
constexpr double most_unasked_wait = 8.0;     // of one whose time on the processor is told, by the clock on the wall

// Stops a run when it has taken so long; whoever asked for it by hand waits as long as it takes.
class Watchdog {
  public:
    Watchdog(double seconds, std::stop_source job) {
        if (seconds <= 0) return;
        thread_ = std::jthread([seconds, job, this](const std::stop_token& stop) mutable {
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any wake;
            if (wake.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; })) return;
            if (stop.stop_requested()) return;
            barked_ = true;
            job.request_stop();
        });
    }
    bool barked() const { return barked_; }

  private:
    std::atomic<bool> barked_ = false;
    std::jthread thread_;
};

}  // namespace lockstep::gui
