// LockFileEx() on the first byte of a file of its own.
#include <windows.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "core/system/lock.h"

namespace lockstep::system {

FileLock::FileLock(const std::filesystem::path& file, double seconds) {
    std::error_code ignored;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    HANDLE opened = CreateFileW(file.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (opened == INVALID_HANDLE_VALUE) return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    OVERLAPPED first = {};
    while (!LockFileEx(opened, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &first)) {
        if (GetLastError() != ERROR_LOCK_VIOLATION || std::chrono::steady_clock::now() >= until) {
            CloseHandle(opened);
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    handle_ = reinterpret_cast<int64_t>(opened);
}

FileLock::~FileLock() {
    if (handle_ >= 0) CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

}  // namespace lockstep::system
