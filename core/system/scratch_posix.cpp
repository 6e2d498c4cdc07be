// A small copy of the process waits at a pipe that ends with the process, and then removes the folder.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>

#include "core/system/scratch.h"

namespace lockstep::system {

namespace {
namespace fs = std::filesystem;

constexpr int most_descriptors = 1024;

// "lockstep-grade-1234-abcdef" of process 1234.
bool belongs_to_nobody(const fs::path& folder, const std::string& begin) {
    const std::string name = folder.filename().string();
    if (!name.starts_with(begin)) return false;
    int process = 0;
    const auto [rest, error] = std::from_chars(name.data() + begin.size(), name.data() + name.size(), process);
    if (error != std::errc{} || rest == name.data() + name.size() || *rest != '-' || process <= 1) return false;
    struct stat about {};
    if (lstat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != geteuid()) return false;
    return kill(process, 0) != 0 && errno == ESRCH;
}

void remove_stale(const fs::path& base, const std::string& begin) {
    std::error_code error;
    for (fs::directory_iterator entry(base, error), end; !error && entry != end; entry.increment(error))
        if (belongs_to_nobody(entry->path(), begin)) {
            std::error_code kept;
            fs::remove_all(entry->path(), kept);
        }
}

// In the copy: what other processes of this one still write there ends within moments, since they end with it.
[[noreturn]] void remove_when_it_ends(const fs::path& folder, int pipe) {
    setsid();
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(number, SIG_IGN);
    const int nowhere = open("/dev/null", O_RDWR);
    for (int descriptor = 0; descriptor < most_descriptors; ++descriptor)
        if (descriptor != pipe && descriptor != nowhere) close(descriptor);
    for (int descriptor = 0; descriptor < 3; ++descriptor) dup2(nowhere, descriptor);
    char nothing = 0;
    for (ssize_t count = -1; count != 0;) {
        count = read(pipe, &nothing, 1);
        if (count < 0 && errno != EINTR) break;
    }
    std::error_code error;
    for (int tries = 0; tries < 100 && fs::exists(folder, error); ++tries) {
        fs::remove_all(folder, error);
        usleep(20'000);
    }
    _exit(0);
}
}  // namespace

ScratchFolder::ScratchFolder(std::string_view name) {
    std::error_code error;
    const fs::path base = fs::temp_directory_path(error);
    if (error) return;
    const std::string begin = fmt::format("{}-", name);
    remove_stale(base, begin);
    std::string pattern = (base / fmt::format("{}{}-XXXXXX", begin, getpid())).string();
    int ends[2];
    if (!mkdtemp(pattern.data())) return;
    path_ = pattern;
    if (pipe2(ends, O_CLOEXEC) == 0) {
        const pid_t copy = fork();
        if (copy == 0) {
            close(ends[1]);
            remove_when_it_ends(path_, ends[0]);
        }
        close(ends[0]);  // the other end closes with the process
    }
    if (const char* const now = std::getenv("TMPDIR")) before_ = now;
    setenv("TMPDIR", pattern.c_str(), 1);
}

ScratchFolder::~ScratchFolder() {
    if (path_.empty()) return;
    std::error_code error;
    fs::remove_all(path_, error);
    before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
}

}  // namespace lockstep::system
