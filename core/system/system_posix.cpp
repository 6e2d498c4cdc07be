// Libraries by dlopen, files by descriptors, folders as the XDG base directory specification names them.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <utility>

#include "core/system/interrupt.h"
#include "core/system/stand_in.h"
#include "core/system/system.h"

namespace lockstep::system {
namespace fs = std::filesystem;

Library load_library(const std::vector<std::string>& names, const std::vector<fs::path>& folders) {
    for (const std::string& name : names) {
        if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return {handle, name};
        for (const fs::path& folder : folders)
            if (void* handle = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL))
                return {handle, (folder / name).string()};
    }
    return {};
}

void* symbol_of(const Library& library, const char* name) {
    return library.handle ? dlsym(library.handle, name) : nullptr;
}

void* symbol_of_program(const char* name) {
    return dlsym(RTLD_DEFAULT, name);
}

bool runs_whole_programs() {
    return true;
}

std::string library_name(std::string_view posix, std::string_view) {
    return std::string(posix);
}

fs::path own_executable() {
    if (!stands_in().empty()) return stands_in();
    std::error_code error;
    const fs::path path = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : path;
}

fs::path home_folder() {
    const char* const home = std::getenv("HOME");
    return home != nullptr && *home != 0 ? fs::path(home) : fs::path();
}

namespace {

// Below the variable's folder when it is an absolute path (a relative one is to be ignored), else below the home folder,
// else among the temporary files.
fs::path user_folder(const char* variable, const char* below_home) {
    const char* const set = std::getenv(variable);
    const fs::path home = home_folder();
    const fs::path base = set != nullptr && *set == '/' ? fs::path(set)
                          : !home.empty()               ? home / below_home
                                                        : fs::temp_directory_path();
    return base / "lockstep";
}

struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
    int close() { return ::close(std::exchange(number, -1)); }
};

struct TemporaryFile {  // removed unless it was renamed
    std::string path;
    ~TemporaryFile() {
        if (!path.empty()) ::unlink(path.c_str());
    }
};

}  // namespace

fs::path state_folder() {
    return user_folder("XDG_STATE_HOME", ".local/state");
}

fs::path cache_folder() {
    return user_folder("XDG_CACHE_HOME", ".cache");
}

namespace {

// The temporary folders of a process that main() has prepared do not outlast it where Ctrl-C or kill ends it: a shell waits
// for its end and removes them. A handler may do no more than start one.
bool is_own_process = false;
constexpr size_t most_folders = 32;
char folder_paths[most_folders][512];  // of the last ones made; what is gone already does no harm
std::atomic<size_t> folders_made{0};

constexpr const char* remove_them =
    "exec </dev/null >/dev/null 2>&1; trap '' INT TERM HUP; n=0; "
    "while kill -0 \"$PPID\" && [ $n -lt 40 ]; do sleep 0.05; n=$((n+1)); done; "
    "for k in 1 2 3; do rm -rf -- \"$@\"; sleep 0.1; done";

void end_without_folders(int number) {
    static const char* words[5 + most_folders] = {"sh", "-c", remove_them, "sh"};
    size_t count = 4;
    for (const auto& path : folder_paths)
        if (path[0] == '/') words[count++] = path;
    words[count] = nullptr;
    if (vfork() == 0) {
        execv("/bin/sh", const_cast<char* const*>(words));
        _exit(127);
    }
    std::signal(number, SIG_DFL);
    raise(number);
}

void remember_folder(const std::string& path) {
    if (!is_own_process || path.size() >= sizeof folder_paths[0]) return;
    static std::once_flag installed;
    std::call_once(installed, [] {
        for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
            struct sigaction now {};
            if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
            struct sigaction wanted {};
            wanted.sa_handler = end_without_folders;
            sigaction(number, &wanted, nullptr);
        }
    });
    char* const place = folder_paths[folders_made++ % most_folders];
    std::memcpy(place + 1, path.c_str() + 1, path.size());  // with its end; the handler looks at the first letter
    place[0] = path[0];
}

}  // namespace

fs::path make_temporary_folder() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "lockstep-XXXXXX").string();
    if (error || !mkdtemp(pattern.data())) return {};
    remember_folder(pattern);
    return pattern;
}

std::string why_unwritable(const fs::path& folder) {
    return ::access(folder.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
}

std::string write_durably(const fs::path& path, std::string_view contents) {
    const auto failed = [](const char* step, int error) {
        return fmt::format("the file cannot be {}: {}", step, std::strerror(error));
    };
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    std::error_code ignored;
    fs::create_directories(folder, ignored);

    TemporaryFile temporary{path.string() + ".XXXXXX"};
    Descriptor file{::mkostemp(temporary.path.data(), O_CLOEXEC)};
    if (file.number < 0) {
        const int error = errno;
        temporary.path.clear();
        return failed("made", error);
    }
    ::fchmod(file.number, 0644);
    for (size_t done = 0; done < contents.size();) {
        const ssize_t wrote = ::write(file.number, contents.data() + done, contents.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return failed("written", wrote < 0 ? errno : ENOSPC);
        done += static_cast<size_t>(wrote);
    }
    if (::fsync(file.number) != 0) return failed("flushed to the disk", errno);
    if (file.close() != 0) return failed("closed", errno);
    if (::rename(temporary.path.c_str(), path.c_str()) != 0) return failed("put in its place", errno);
    temporary.path.clear();
    // The rename itself reaches the disk with the folder; where folders cannot be flushed it is none the worse.
    const Descriptor place{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (place.number >= 0) ::fsync(place.number);
    return "";
}

void prepare_process() {
    is_own_process = true;
    // Stdout can be read only: what is written there fails as before, and says so.
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", file == STDERR_FILENO ? O_WRONLY : O_RDONLY) != file) break;
    std::signal(SIGXFSZ, SIG_IGN);
}

bool errors_go_to_a_terminal() {
    return isatty(STDERR_FILENO) != 0;
}

namespace {
void (*crash_handler)(int signal, uint64_t address) = nullptr;

void crashed(int number, siginfo_t* about, void*) {
    const bool has_address = number == SIGSEGV || number == SIGBUS;
    crash_handler(number, has_address ? reinterpret_cast<uintptr_t>(about->si_addr) : 0);
    raise(number);  // the handler is gone: SA_RESETHAND
}
}  // namespace

void before_a_crash(void (*handler)(int signal, uint64_t address)) {
    crash_handler = handler;
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM}) {
        struct sigaction now {};
        if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
        struct sigaction wanted {};
        wanted.sa_sigaction = crashed;
        wanted.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
        sigaction(number, &wanted, nullptr);
    }
}

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double process_seconds() {
    double seconds = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        getrusage(who, &used);
        for (const timeval& time : {used.ru_utime, used.ru_stime})
            seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    }
    return seconds;
}

void advise_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

namespace {
sigset_t only_interrupt() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    return set;
}
}  // namespace

HeldInterrupt::HeldInterrupt() {
    const sigset_t set = only_interrupt();
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &set, &before);
    held_ = sigismember(&before, SIGINT) == 0;
}

HeldInterrupt::~HeldInterrupt() {
    const sigset_t set = only_interrupt();
    if (held_) pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool HeldInterrupt::came() {
    const std::lock_guard lock(mutex_);
    sigset_t pending;
    if (came_ || sigpending(&pending) != 0 || sigismember(&pending, SIGINT) != 1) return came_;
    const sigset_t set = only_interrupt();
    int number = 0;
    sigwait(&set, &number);
    if (held_) pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    return came_ = true;
}

}  // namespace lockstep::system
