// The thread waits for something to write; who gives it more before it has begun replaces what waits.
#include "app/gui/desk/state_keeper.h"

#include <exception>
#include <utility>

#include "core/base/tell.h"

namespace lockstep::gui {

StateKeeper::StateKeeper(std::string what) : what_(std::move(what)) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, stop, [&] { return waiting_ != nullptr; });
            if (!waiting_) return;  // asked to end, nothing left
            const Write write = std::exchange(waiting_, nullptr);
            lock.unlock();
            std::string why;
            try {
                why = write();
            } catch (const std::exception& error) {
                why = error.what();
            }
            lock.lock();
            if (!why.empty()) problem_ = what_ + " cannot be kept: " + why;
        }
    });
}

StateKeeper::~StateKeeper() {
    thread_.request_stop();
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    if (!problem_.empty() && !told_) tell("warning: {}\n", problem_);  // the window that would have said it is closed
}

void StateKeeper::keep(Write write) {
    {
        const std::lock_guard lock(mutex_);
        waiting_ = std::move(write);
    }
    wake_.notify_all();
}

std::string StateKeeper::problem() {
    const std::lock_guard lock(mutex_);
    if (problem_.empty() || told_) return {};
    told_ = true;
    return problem_;
}

}  // namespace lockstep::gui
