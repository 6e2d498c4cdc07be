// A folder for everything that this process and its children leave on the way: compilers' files, unpacked archives. It is
// gone when the process has ended, however that ends: by itself, by Ctrl-C or by a signal that nobody can catch (on Windows
// not by the last one). Folders of the same name whose process has gone are removed first.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep::system {

class ScratchFolder {
  public:
    // Temporary folders of this process and its children lie in it from now on. Before the first thread is made: what
    // removes it later is a copy of this process.
    explicit ScratchFolder(std::string_view name);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }  // empty: none could be made

  private:
    std::filesystem::path path_;
    std::string before_;  // where temporary folders lay
};

}  // namespace lockstep::system
