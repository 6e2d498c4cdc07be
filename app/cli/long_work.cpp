#include "app/cli/long_work.h"

#include <fmt/format.h>

#include <condition_variable>
#include <csignal>
#include <mutex>

#include "core/base/tell.h"
#include "core/system/system.h"

namespace lockstep::cli {
namespace {
volatile std::sig_atomic_t interrupt = 0;

void note_interrupt(int number) {
    interrupt = 1;
    std::signal(number, SIG_DFL);  // the next one is not asked
}

std::string duration(double seconds) {
    if (seconds < 90) return fmt::format("{:.0f} s", seconds);
    return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}
}  // namespace

std::string progress_text(double share, double seconds) {
    if (!(share > 0.001)) return fmt::format("running for {}", duration(seconds));
    return fmt::format("{:.0f} % done, {}, about {} left", 100 * share, duration(seconds),
                       duration(seconds * (1 - share) / share));
}

LongWork::LongWork(std::string what, Interrupt how) : what_(std::move(what)), terminal_(system::errors_go_to_a_terminal()) {
    if (how == Interrupt::held) {
        held_.emplace();
        return;
    }
    interrupt = 0;
    before_ = std::signal(SIGINT, note_interrupt);
    if (before_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);  // of a shell's background work
}

LongWork::~LongWork() {
    looking_ = {};
    clear();
    if (!held_ && before_ != SIG_ERR) std::signal(SIGINT, before_);
}

bool LongWork::asked_to_stop() {
    if (held_ ? held_->came() : interrupt != 0) source_.request_stop();
    return interrupted();
}

void LongWork::keep_looking() {
    looking_ = std::jthread([this](const std::stop_token& end) {
        while (!end.stop_requested() && !asked_to_stop()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
}

void LongWork::clear() {
    if (width_ > 0) tell("\r{:{}}\r", "", width_);
    width_ = 0;
}

void LongWork::operator()(double share) {
    asked_to_stop();
    const auto now = Clock::now();
    const auto pause = !terminal_ && told_ != begin_ ? std::chrono::milliseconds(10'000)
                       : width_ > 0                  ? std::chrono::milliseconds(500)
                                                     : std::chrono::milliseconds(2000);
    if (now - told_ < pause) return;
    told_ = now;
    const std::string text = what_ + ": " + progress_text(share, std::chrono::duration<double>(now - begin_).count());
    if (!terminal_) {
        tell("{}\n", text);
        return;
    }
    tell("\r{:{}}", text, width_);
    width_ = text.size();
}

Patience::Patience(std::string what)
    : waits_([what = std::move(what)](const std::stop_token& end) {
          using namespace std::chrono;
          std::mutex mutex;
          std::condition_variable_any ended;
          std::unique_lock lock(mutex);
          const auto begin = steady_clock::now();
          for (auto pause = seconds(2); !ended.wait_for(lock, end, pause, [&] { return end.stop_requested(); });
               pause = seconds(10))
              tell("{}: {}\n", what, progress_text(0, std::chrono::duration<double>(steady_clock::now() - begin).count()));
      }) {}

}  // namespace lockstep::cli
