// A lock that processes of one person share, so that two windows write a file one after the other. It is let go with the
// object, and by the system when the process ends, however it ends.
#pragma once
#include <cstdint>
#include <filesystem>

namespace lockstep::system {

class FileLock {
  public:
    // Makes the file where it is not there, with its folder, and waits for at most so many seconds.
    explicit FileLock(const std::filesystem::path& file, double seconds = 5);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    bool held() const { return handle_ >= 0; }  // false: somebody else kept it, or no file can be made or locked there

  private:
    int64_t handle_ = -1;
};

}  // namespace lockstep::system
