// flock() on a file of its own: a lock that belongs to the open file, so that two desks of one process exclude each other
// too.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "core/system/lock.h"

namespace lockstep::system {

FileLock::FileLock(const std::filesystem::path& file, double seconds) {
    std::error_code ignored;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    const int opened = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (opened < 0) return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (flock(opened, LOCK_EX | LOCK_NB) != 0) {
        const bool busy = errno == EWOULDBLOCK || errno == EINTR;
        if (!busy || std::chrono::steady_clock::now() >= until) {
            close(opened);
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    handle_ = opened;
}

FileLock::~FileLock() {
    if (handle_ >= 0) close(static_cast<int>(handle_));
}

}  // namespace lockstep::system
