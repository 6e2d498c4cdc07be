// The host's cores, and how many of them one piece of work may keep busy.
#pragma once
#include <algorithm>
#include <thread>

namespace lockstep {

namespace detail {
inline thread_local unsigned share_of_cores = 0;  // 0: all
}

// Cores that work begun on this thread may keep busy: all that the host has, or the share that somebody gave to the thread.
inline unsigned cores() {
    static const unsigned all = std::max(1u, std::thread::hardware_concurrency());  // to ask costs a file read
    return detail::share_of_cores == 0 ? all : std::min(all, detail::share_of_cores);
}

// For as long as it lives, work on this thread has so many cores: of several things that run side by side each says so, so
// that one which could use all cores does not take those of the others.
class ShareOfCores {
  public:
    explicit ShareOfCores(unsigned share) : before_(detail::share_of_cores) { detail::share_of_cores = std::max(1u, share); }
    ~ShareOfCores() { detail::share_of_cores = before_; }
    ShareOfCores(const ShareOfCores&) = delete;
    ShareOfCores& operator=(const ShareOfCores&) = delete;

  private:
    unsigned before_;
};

}  // namespace lockstep
