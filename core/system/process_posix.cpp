// Child processes by fork and exec: parent and child share one pipe; the child leads a process group, so that ending it ends
// what it started. Between fork and exec the child calls async-signal-safe functions only: another thread may have held any
// lock.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "core/system/feed.h"
#include "core/system/stand_in.h"
#include "core/system/system.h"

namespace lockstep::system {

namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void limit(int resource, uint64_t value) {
    rlimit now{};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
    const rlim_t wanted = std::min<rlim_t>(value, now.rlim_max);
    const rlimit bounded{wanted, wanted};
    setrlimit(static_cast<__rlimit_resource>(resource), &bounded);
}

double processor_seconds_of(const ChildLimits& limits) {
    return limits.processor_seconds > 0 ? limits.processor_seconds : limits.seconds;
}

void bound_this_process(const ChildLimits& limits, uint64_t address_space) {
    limit(RLIMIT_AS, address_space + limits.memory_bytes);
    limit(RLIMIT_CPU, static_cast<uint64_t>(processor_seconds_of(limits)) + 1);
    limit(RLIMIT_FSIZE, limits.file_bytes);
    limit(RLIMIT_CORE, 0);
}

// In a child: it ends with the process that waits for it, also where that one is killed and can end nobody itself.
void end_with(pid_t parent) {
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(126);  // it has ended already
}

uint64_t own_address_space() {  // bytes; 0 where /proc is missing
    std::ifstream statm("/proc/self/statm");
    uint64_t pages = 0;
    statm >> pages;
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Reads what the child prints until it ends or breaks a limit.
ChildOutcome watch(pid_t child, int pipe, const ChildLimits& limits) {
    ChildOutcome outcome;
    const auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.seconds));
    const auto left_ms = [&] {
        return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count());
    };
    bool broken = false;
    const auto end_with = [&](ChildOutcome::End end) {
        outcome.end = end;
        broken = true;
    };
    char buffer[65536];
    while (!broken) {
        pollfd waiting{pipe, POLLIN, 0};
        const int ready = poll(&waiting, 1, std::max(left_ms(), 0));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            end_with(ChildOutcome::End::timed_out);
            break;
        }
        const ssize_t count = read(pipe, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        outcome.output.append(buffer, static_cast<size_t>(count));
        if (outcome.output.size() > limits.output_bytes) end_with(ChildOutcome::End::too_much_output);
    }
    int status = 0;
    while (!broken && waitpid(child, &status, WNOHANG) == 0) {  // it closed the pipe: nearly always ended too
        if (left_ms() <= 0) end_with(ChildOutcome::End::timed_out);
        usleep(500);
    }
    kill(-child, SIGKILL);
    if (broken)
        waitpid(child, &status, 0);
    else if (WIFEXITED(status)) {
        outcome.end = ChildOutcome::End::exited;
        outcome.status = WEXITSTATUS(status);
    } else {
        outcome.end = ChildOutcome::End::killed;
        outcome.status = WTERMSIG(status);
    }
    close(pipe);
    return outcome;
}

// Forks; `body` runs in the child with the pipe's writing end and never returns.
template <class Body>
ChildOutcome fork_and_watch(const ChildLimits& limits, const Body& body) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        end_with(parent);
        setpgid(0, 0);
        for (int number = 1; number < 32; ++number) signal(number, SIG_DFL);
        close(ends[0]);
        body(ends[1]);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return {};
    }
    setpgid(child, child);  // in both: whichever comes first
    return watch(child, ends[0], limits);
}

std::vector<char*> pointers(std::vector<std::string>& strings) {  // as exec takes them
    std::vector<char*> result;
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

// Starts `program`, which prints into the pipe; `last` runs in the child right before exec: async-signal-safe calls only.
template <class Last>
ChildOutcome start(const std::string& program, std::vector<std::string> words, std::vector<std::string> settings,
                   const fs::path& folder, const ChildLimits& limits, const Last& last) {
    const std::vector<char*> argv = pointers(words), environment = pointers(settings);
    const std::string where = folder.string();
    return fork_and_watch(limits, [&](int pipe) {
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, 0);
        dup2(pipe, 1);
        dup2(pipe, 2);
        for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);
        if (chdir(where.c_str()) != 0) _exit(127);
        last();
        execve(program.c_str(), argv.data(), environment.data());
    });
}

std::vector<std::string> bare_environment(const fs::path& folder) {
    const char* path = std::getenv("PATH");
    return {fmt::format("PATH={}", path ? path : "/usr/local/bin:/usr/bin:/bin"), "TMPDIR=" + folder.string(),
            "HOME=" + folder.string(), "LC_ALL=C"};
}

bool write_all(int descriptor, std::string_view text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = write(descriptor, text.data() + done, text.size() - done);
        if (count <= 0) return false;
        done += static_cast<size_t>(count);
    }
    return true;
}

// A child that runs a task: this program, called so, then the task's name, its conditions and its words. Conditions: of one
// that returns its output the bounds, "seconds memory file"; of one that says lines the descriptor that it says them into.
constexpr std::string_view task_program = "lockstep-task";
constexpr double most_starting_seconds = 10;  // of a program on a busy machine, before its task begins

bool& serves_tasks() {
    static bool serves = false;
    return serves;
}

std::filesystem::path& stand_in_program() {
    static std::filesystem::path program;
    return program;
}
// What runs a task: this program, or what stands in for it.
std::string task_executable() {
    return stand_in_program().empty() ? "/proc/self/exe" : stand_in_program().string();
}

// In the child, once the task is known. Bounds are set here: a sanitizer's start would break them.
[[noreturn]] void speak(const ChildTask& task, const char* condition, const std::vector<std::string>& words) {
    const int said = std::atoi(condition);
    if (fcntl(said, F_SETFD, FD_CLOEXEC) != 0) _exit(126);  // what the task starts does not keep it open
    const SayLine say = [said](std::string_view line) {
        if (!write_all(said, std::string(line) + "\n")) _exit(126);
    };
    say("");  // it begins
    task.speak(words, say);
    _exit(0);
}
[[noreturn]] void answer(const ChildTask& task, const char* condition, const std::vector<std::string>& words) {
    ChildLimits limits;
    if (std::sscanf(condition, "%lf %" SCNu64 " %" SCNu64, &limits.seconds, &limits.memory_bytes, &limits.file_bytes) != 3)
        _exit(126);
    bound_this_process(limits, own_address_space());
    _exit(write_all(STDOUT_FILENO, task.answer(words)) ? 0 : 126);
}
}  // namespace

ChildOutcome run_program(const fs::path& program, const std::vector<std::string>& arguments, const fs::path& folder,
                         const ChildLimits& limits) {
    std::vector<std::string> words = {program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return start(program.string(), words, bare_environment(folder), folder, limits, [&] { bound_this_process(limits, 0); });
}

namespace {
volatile sig_atomic_t foreground_child = 0;

// The terminal's Ctrl-C reaches the whole group by itself; what another process sends to this one is meant for the child
// too.
void pass_on(int number, siginfo_t* about, void*) {
    if (foreground_child > 0 && (about->si_code <= 0 || number == SIGTERM)) kill(foreground_child, number);
}
}  // namespace

namespace {

std::vector<std::string> words_of(const Foreground& run) {
    std::vector<std::string> words = {run.name};
    words.insert(words.end(), run.arguments.begin(), run.arguments.end());
    return words;
}

std::vector<std::string> environment_of(const Foreground& run) {
    std::vector<std::string> all = run.settings;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry, name = text.substr(0, text.find('=') + 1);
        const auto is_set = [&](const std::string& own) { return own.starts_with(name); };
        if (std::none_of(run.settings.begin(), run.settings.end(), is_set)) all.emplace_back(text);
    }
    return all;
}

void tell_end(ChildOutcome& outcome, int status) {
    outcome.end = WIFEXITED(status) ? ChildOutcome::End::exited : ChildOutcome::End::killed;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}

// A file that nobody else can open and that ends with its last descriptor, at its beginning; -1: there is no room for one.
int nameless_file(std::string_view contents) {
    char name[] = "/tmp/lockstep-input-XXXXXX";
    const int file = mkostemp(name, O_CLOEXEC);
    if (file < 0) return -1;
    unlink(name);
    if (!write_all(file, contents) || lseek(file, 0, SEEK_SET) != 0) {
        close(file);
        return -1;
    }
    return file;
}

}  // namespace

ChildOutcome run_in_foreground(const Foreground& run) {
    return run_in_foreground_within(run, 0);
}

ChildOutcome run_in_foreground_within(const Foreground& run, double seconds) {
    std::vector<std::string> words = words_of(run), all = environment_of(run);
    const std::vector<char*> argv = pointers(words), environment = pointers(all);
    const std::string program = run.program.string();
    std::fflush(nullptr);
    const pid_t parent = getpid(), child = fork();
    ChildOutcome outcome;
    if (child == 0) {
        end_with(parent);
        for (int number = 1; number < 32; ++number) signal(number, SIG_DFL);
        if (run.output_is_errors) dup2(2, 1);
        execve(program.c_str(), argv.data(), environment.data());
        _exit(127);
    }
    if (child < 0) return outcome;
    foreground_child = child;
    struct sigaction forward {};
    forward.sa_sigaction = pass_on;
    forward.sa_flags = SA_SIGINFO;
    constexpr int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction before[std::size(passed)];
    for (size_t k = 0; k < std::size(passed); ++k) sigaction(passed[k], &forward, &before[k]);
    int status = 0;
    bool is_late = false;
    const auto begin = Clock::now();
    const auto passed_seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    constexpr double patience = 2;
    for (pid_t ended = 0; ended != child;) {
        ended = waitpid(child, &status, seconds > 0 ? WNOHANG : 0);
        if (ended < 0 && errno != EINTR) break;
        if (ended != 0) continue;
        if (passed_seconds() >= seconds && !std::exchange(is_late, true)) kill(child, SIGTERM);
        if (passed_seconds() >= seconds + patience) kill(child, SIGKILL);
        usleep(5000);
    }
    foreground_child = 0;
    for (size_t k = 0; k < std::size(passed); ++k) sigaction(passed[k], &before[k], nullptr);
    tell_end(outcome, status);
    if (is_late) outcome.end = ChildOutcome::End::timed_out;
    return outcome;
}

ChildOutcome run_watched(const Foreground& run, std::string_view input,
                         const std::function<bool(std::string_view text, bool of_errors)>& heard) {
    std::vector<std::string> words = words_of(run), all = environment_of(run);
    const std::vector<char*> argv = pointers(words), environment = pointers(all);
    const std::string program = run.program.string(), where = run.folder.string();
    ChildOutcome outcome;
    int said[2], errors[2];
    const int given = nameless_file(input);
    if (given < 0) return outcome;
    if (pipe2(said, O_CLOEXEC) != 0) {
        close(given);
        return outcome;
    }
    if (pipe2(errors, O_CLOEXEC) != 0) {
        for (const int end : {given, said[0], said[1]}) close(end);
        return outcome;
    }
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        end_with(parent);
        setpgid(0, 0);
        for (int number = 1; number < 32; ++number) signal(number, SIG_DFL);
        dup2(given, 0);
        dup2(said[1], 1);
        dup2(errors[1], 2);
        if (!where.empty() && chdir(where.c_str()) != 0) _exit(127);
        execve(program.c_str(), argv.data(), environment.data());
        _exit(127);
    }
    for (const int end : {given, said[1], errors[1]}) close(end);
    pollfd ends[2] = {{said[0], POLLIN, 0}, {errors[0], POLLIN, 0}};
    bool wanted = child >= 0;
    if (wanted) setpgid(child, child);  // in both: whichever comes first
    int status = 0;
    bool ended = false;
    char buffer[65536];
    while (wanted && !(ended && ends[0].fd < 0 && ends[1].fd < 0)) {
        const int ready = poll(ends, 2, ends[0].fd < 0 && ends[1].fd < 0 ? 1 : 100);
        bool silent = true;
        for (int k = 0; k < 2 && ready > 0; ++k) {
            if (ends[k].fd < 0 || ends[k].revents == 0) continue;
            const ssize_t count = read(ends[k].fd, buffer, sizeof buffer);
            if (count < 0 && errno == EINTR) continue;
            silent = false;
            if (count > 0)
                wanted = heard(std::string_view(buffer, static_cast<size_t>(count)), k == 1) && wanted;
            else
                ends[k].fd = -1;  // poll passes over it
        }
        if (!silent) continue;
        wanted = heard({}, false) && wanted;
        if (!ended && waitpid(child, &status, WNOHANG) == child) {
            ended = true;
            if (ready == 0) break;  // what it started may keep its output open for good
        }
    }
    if (child >= 0) {
        kill(-child, SIGKILL);
        if (!ended) waitpid(child, &status, 0);
        tell_end(outcome, status);
        if (!ended) outcome.end = ChildOutcome::End::timed_out;
    }
    close(said[0]);
    close(errors[0]);
    return outcome;
}

namespace {

// Hands over pieces and keeps what is printed, until the program closes its output or `next` has none.
bool feed(int input, int output, std::string& printed, const std::function<std::optional<std::string_view>()>& next) {
    constexpr size_t most_printed = size_t{64} << 10;
    std::string_view piece;
    bool feeding = true;
    char buffer[65536];
    for (;;) {
        if (feeding && piece.empty()) {
            const std::optional<std::string_view> given = next();
            if (!given) return false;
            piece = *given;
            if (piece.empty()) feeding = false, shutdown(input, SHUT_WR);
        }
        pollfd ends[2] = {{output, POLLIN, 0}, {feeding ? input : -1, POLLOUT, 0}};
        if (poll(ends, 2, -1) < 0 && errno != EINTR) return false;
        if (ends[1].revents != 0) {
            const ssize_t count = send(input, piece.data(), piece.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (count > 0) piece.remove_prefix(static_cast<size_t>(count));
            if (count < 0 && errno != EAGAIN && errno != EINTR) feeding = false;  // it reads no more
        }
        if (ends[0].revents == 0) continue;
        const ssize_t count = read(output, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return true;
        printed.append(buffer, std::min(static_cast<size_t>(count), most_printed - std::min(most_printed, printed.size())));
    }
}

}  // namespace

ChildOutcome run_fed(const Foreground& run, const std::function<std::optional<std::string_view>()>& next) {
    std::vector<std::string> words = words_of(run), all = environment_of(run);
    const std::vector<char*> argv = pointers(words), environment = pointers(all);
    const std::string program = run.program.string(), where = run.folder.string();
    ChildOutcome outcome;
    int given[2], said[2];  // a socket: writing to one that nobody reads is an error, not a signal
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, given) != 0) return outcome;
    if (pipe2(said, O_CLOEXEC) != 0) {
        for (const int end : given) close(end);
        return outcome;
    }
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        end_with(parent);
        setpgid(0, 0);
        for (int number = 1; number < 32; ++number) signal(number, SIG_DFL);
        dup2(given[1], 0);
        dup2(said[1], 1);
        dup2(said[1], 2);
        if (!where.empty() && chdir(where.c_str()) != 0) _exit(127);
        execve(program.c_str(), argv.data(), environment.data());
        _exit(127);
    }
    close(given[1]);
    close(said[1]);
    if (child >= 0) {
        setpgid(child, child);  // in both: whichever comes first
        bool wanted = false;
        int status = 0;
        try {
            wanted = feed(given[0], said[0], outcome.output, next);
        } catch (...) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            close(given[0]);
            close(said[0]);
            throw;
        }
        if (!wanted) kill(-child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        kill(-child, SIGKILL);
        tell_end(outcome, status);
        if (!wanted) outcome.end = ChildOutcome::End::timed_out;
    }
    close(given[0]);
    close(said[0]);
    return outcome;
}

void serve_task(int argc, char** argv, std::span<const ChildTask> tasks) {
    serves_tasks() = true;
    if (argc < 3 || std::string_view(argv[0]) != task_program) return;
    const std::vector<std::string> words(argv + 3, argv + argc);
    for (const ChildTask& task : tasks) {
        if (task.name != argv[1]) continue;
        try {
            if (task.speak) speak(task, argv[2], words);
            answer(task, argv[2], words);
        } catch (...) {
            _exit(126);
        }
    }
    _exit(127);
}

void stand_in(const fs::path& program) {
    stand_in_program() = program;
    serves_tasks() = true;
}

const fs::path& stands_in() {
    return stand_in_program();
}

std::string signal_text(int status) {
    return fmt::format("signal {} ({})", status, strsignal(status));
}

void exit_now(int status) {
    _exit(status);
}

ChildOutcome run_task(std::string_view name, const std::vector<std::string>& words, const fs::path& folder,
                      const ChildLimits& limits) {
    if (!serves_tasks()) return {};
    std::vector<std::string> all = {
        std::string(task_program), std::string(name),
        fmt::format("{} {} {}", processor_seconds_of(limits), limits.memory_bytes, limits.file_bytes)};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<std::string> environment = bare_environment(folder);
    for (const char* const kept : {"LD_LIBRARY_PATH", "LOCKSTEP_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"})
        if (const char* const value = std::getenv(kept)) environment.push_back(fmt::format("{}={}", kept, value));
    return start(task_executable(), all, environment, folder, limits, [] {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 2);  // the output is the task's answer alone
        close(nowhere);
    });
}

ChildOutcome hear_task(std::string_view name, const std::vector<std::string>& words,
                       const std::function<double(std::string_view line)>& heard, double seconds) {
    int ends[2];
    if (!serves_tasks() || pipe2(ends, O_CLOEXEC) != 0) return {};
    std::vector<std::string> all = {std::string(task_program), std::string(name), std::to_string(ends[1])};
    all.insert(all.end(), words.begin(), words.end());
    const std::vector<char*> argv = pointers(all);
    const std::string executable = task_executable();
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {  // of the same process group: the terminal's Ctrl-C reaches it
        end_with(parent);
        signal(SIGPIPE, SIG_DFL);  // nobody listens any more
        fcntl(ends[1], F_SETFD, 0);
        execv(executable.c_str(), argv.data());
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return {};
    }
    ChildOutcome outcome;
    const auto after = [](double wait) {
        return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(wait));
    };
    auto deadline = after(seconds + most_starting_seconds);
    const auto left_ms = [&] {
        return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count());
    };
    bool silent = false;
    std::string rest;
    char buffer[4096];
    while (!silent) {
        pollfd waiting{ends[0], POLLIN, 0};
        const int ready = poll(&waiting, 1, std::max(left_ms(), 0));
        if (ready < 0 && errno == EINTR) continue;
        silent = ready <= 0;
        if (silent) break;
        const ssize_t count = read(ends[0], buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        rest.append(buffer, static_cast<size_t>(count));
        for (size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
            deadline = after(end == 0 ? seconds : heard(std::string_view(rest).substr(0, end)));
    }
    close(ends[0]);
    int status = 0;
    while (!silent && waitpid(child, &status, WNOHANG) == 0) {  // it closed the pipe: nearly always ended too
        silent = left_ms() <= 0;
        usleep(500);
    }
    if (silent) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        outcome.end = ChildOutcome::End::timed_out;
    } else if (WIFEXITED(status)) {
        outcome.end = ChildOutcome::End::exited;
        outcome.status = WEXITSTATUS(status);
    } else {
        outcome.end = ChildOutcome::End::killed;
        outcome.status = WTERMSIG(status);
    }
    return outcome;
}

fs::path find_program(const std::vector<std::string>& names, const std::vector<fs::path>& folders) {
    std::vector<fs::path> places;
    if (const char* path = std::getenv("PATH")) {
        std::istringstream entries(path);
        for (std::string entry; std::getline(entries, entry, ':');)
            if (!entry.empty()) places.emplace_back(entry);
    }
    places.insert(places.end(), folders.begin(), folders.end());
    for (const std::string& name : names)
        for (const fs::path& place : places) {
            std::error_code error;
            const fs::path candidate = place / name;
            if (fs::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0) return candidate;
        }
    return {};
}

}  // namespace lockstep::system
