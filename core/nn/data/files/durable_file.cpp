#include "core/nn/data/files/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/diagnostic.h"

namespace lockstep::nn {

namespace {
struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
    int close() { return ::close(std::exchange(number, -1)); }
};

struct Temporary {  // removed unless it was renamed
    std::string path;
    ~Temporary() {
        if (!path.empty()) ::unlink(path.c_str());
    }
};
}  // namespace

void write_durably(const std::filesystem::path& path, std::string_view contents) {
    const auto fail = [&](const char* step, int error) {
        throw Failure(Diagnostic{fmt::format("the file cannot be {}: {}", step, std::strerror(error)), {path.string()}});
    };
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);

    Temporary temporary{path.string() + ".XXXXXX"};
    Descriptor file{::mkostemp(temporary.path.data(), O_CLOEXEC)};
    if (file.number < 0) {
        const int error = errno;
        temporary.path.clear();
        fail("made", error);
    }
    ::fchmod(file.number, 0644);
    for (size_t done = 0; done < contents.size();) {
        const ssize_t wrote = ::write(file.number, contents.data() + done, contents.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) fail("written", wrote < 0 ? errno : ENOSPC);
        done += static_cast<size_t>(wrote);
    }
    if (::fsync(file.number) != 0) fail("flushed to the disk", errno);
    if (file.close() != 0) fail("closed", errno);
    if (::rename(temporary.path.c_str(), path.c_str()) != 0) fail("put in its place", errno);
    temporary.path.clear();
    // The rename itself reaches the disk with the folder; where folders cannot be flushed it is none the worse.
    const Descriptor place{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (place.number >= 0) ::fsync(place.number);
}

}  // namespace lockstep::nn
