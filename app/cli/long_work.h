// Work that may take long: after two seconds it says on stderr how far it is and how long the rest will take, and Ctrl-C
// ends it early, with what there is so far; a second one ends the process. One of them at a time.
#pragma once
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/system/interrupt.h"

namespace lockstep::cli {

inline constexpr int interrupted_status = 130;  // as shells have it of a process that SIGINT ended

class LongWork {
  public:
    enum class Interrupt : unsigned char { signals, held };  // held: of work by oneDNN, which no signal may break into
    explicit LongWork(std::string what, Interrupt interrupt = Interrupt::signals);
    ~LongWork();
    LongWork(const LongWork&) = delete;
    LongWork& operator=(const LongWork&) = delete;

    // To be called often, with the share that is done, 0..1.
    void operator()(double share);
    std::stop_token token() const { return source_.get_token(); }
    bool interrupted() const { return source_.stop_requested(); }
    bool asked_to_stop();  // for work that is not cut up: looks for Ctrl-C and says nothing; from any thread
    void keep_looking();   // for it, on a thread of its own: for work that asks nobody
    void clear();          // what stands on the terminal's line, before other words go there

  private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    std::stop_source source_;
    Clock::time_point begin_ = Clock::now(), told_ = begin_;
    void (*before_)(int) = nullptr;
    std::optional<system::HeldInterrupt> held_;
    size_t width_ = 0;  // of what stands on the terminal's line
    bool terminal_ = false;
    std::jthread looking_;
};

// Work of which nobody knows how far it is, such as a compiler's: after two seconds, and then every ten, stderr hears for
// how long it has run. Ctrl-C is not its business.
class Patience {
  public:
    explicit Patience(std::string what);

  private:
    std::jthread waits_;
};

// "12 % done, 34 s, about 4 min left"
std::string progress_text(double share, double seconds);

}  // namespace lockstep::cli
