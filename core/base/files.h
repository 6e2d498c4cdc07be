// Files: whole-file reads and writes, the project's resource folders, NumPy's npy format (versions 1 to 3).
#pragma once
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

#include "core/base/array.h"
#include "core/base/result.h"

namespace lockstep {

// The file's bytes; a Diagnostic that names the file when it cannot be read or is larger than `limit` bytes.
Result<std::string> read_file(const std::filesystem::path& path, size_t limit = size_t{1} << 30);

// The same of a text that people write: without the byte-order mark that some editors put in front of UTF-8; UTF-16, which
// no reader here takes, is refused by its name.
Result<std::string> read_text(const std::filesystem::path& path, size_t limit = size_t{1} << 30);

// Writes by way of a temporary file and a rename, so that a crash never leaves half a file. Throws Failure.
void write_file(const std::filesystem::path& path, std::string_view contents);
// The same of what is too large to be held: `write` puts it out piece by piece.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

// The same for what must survive: flushed to the disk before it replaces what stood at `path`. On any failure (a full disk,
// a limit, no permission) an earlier file is as it was, and Failure says which step failed and why. Folders are made.
void write_durably(const std::filesystem::path& path, std::string_view contents);

// An empty folder, gone with the object. Throws Failure(missing).
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// The folder that holds kernels/, lessons/ and assets/: $LOCKSTEP_HOME, a folder above the running binary,
// <prefix>/share/lockstep, or the source tree that the binary was built from. Throws Failure(missing).
const std::filesystem::path& resource_root();

// npy: little-endian C-order arrays of the types in DType; bf16 is stored as '<u2'.
Result<Array> read_npy(const std::filesystem::path& path);
Result<Array> parse_npy(std::string_view bytes, const std::string& name);
std::string format_npy(const Array& array);

}  // namespace lockstep
