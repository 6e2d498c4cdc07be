// Four processes: the watcher (this one), which reads pipes, counts and answers seccomp's questions; the keeper, whose
// namespaces these are; the first process of the inner world, which furnishes it, reaps orphans and carries the result out;
// and the program. When the first one ends, the kernel ends all others of its world.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/system/sandbox.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#define LOCKSTEP_HAS_SANDBOX 1
#endif

namespace lockstep::system {

#ifndef LOCKSTEP_HAS_SANDBOX
SandboxOutcome run_in_sandbox(const Sandbox&) {
    SandboxOutcome outcome;
    outcome.refused = "the sandbox for programs needs Linux on x86-64 or ARM64";
    return outcome;
}
#else
namespace {

using SandboxClock = std::chrono::steady_clock;
constexpr int inner_user = 1000;
constexpr const char* work_inside = "/tmp/work";

// ---- What the program asks the kernel for: most is allowed, some refused, some told to the watcher first.

constexpr uint32_t new_namespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

std::vector<sock_filter> system_call_filter() {
#if defined(__x86_64__)
    constexpr uint32_t machine = AUDIT_ARCH_X86_64;
#else
    constexpr uint32_t machine = AUDIT_ARCH_AARCH64;
#endif
    std::vector<sock_filter> filter = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
#if defined(__x86_64__)
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x40000000, 0, 1));  // x32, which has other numbers
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
#endif
    const auto answer = [&](long number, uint32_t action) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, action));
    };
    const uint32_t forbidden = SECCOMP_RET_ERRNO | EPERM;
    for (const long number : {SYS_ptrace,
                              SYS_process_vm_readv,
                              SYS_process_vm_writev,
                              SYS_mount,
                              SYS_umount2,
                              SYS_unshare,
                              SYS_setns,
                              SYS_pivot_root,
                              SYS_chroot,
                              SYS_bpf,
                              SYS_perf_event_open,
                              SYS_keyctl,
                              SYS_add_key,
                              SYS_request_key,
                              SYS_userfaultfd,
                              SYS_io_uring_setup,
                              SYS_open_by_handle_at,
                              SYS_init_module,
                              SYS_finit_module,
                              SYS_kexec_load,
                              SYS_move_mount,
                              SYS_fsopen,
                              SYS_mount_setattr})
        answer(number, forbidden);
    answer(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);  // its flags lie in memory; the C library takes clone then
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4));
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));  // the lower half
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, new_namespaces, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, forbidden));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));  // the watcher counts
    for (const long number : {SYS_socket, SYS_openat, SYS_openat2}) answer(number, SECCOMP_RET_USER_NOTIF);
#if defined(__x86_64__)
    for (const long number : {SYS_open, SYS_creat, SYS_fork, SYS_vfork}) answer(number, SECCOMP_RET_USER_NOTIF);
#endif
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    return filter;
}

// ---- In the inner world's first process.

struct InnerEnds {  // of pipes; `control` is a socket
    int input = -1, output = -1, errors = -1, result = -1, control = -1;
};

// To the watcher: a letter, then a number or a sentence. R: why there is no sandbox; S: how the program ended.
void tell_watcher(int control, char letter, const std::string& text) {
    const std::string message = letter + text;
    (void)!send(control, message.data(), message.size(), MSG_NOSIGNAL);
}

[[noreturn]] void give_up(int control, const std::string& what) {
    tell_watcher(control, 'R', fmt::format("{} ({})", what, std::strerror(errno)));
    _exit(1);
}

void write_small(int control, const char* file, const std::string& text) {
    const int descriptor = open(file, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0 || write(descriptor, text.data(), text.size()) < 0)
        give_up(control, fmt::format("{} cannot be written", file));
    close(descriptor);
}

void show(int control, const std::filesystem::path& from, const std::filesystem::path& at) {
    std::error_code error;
    if (!std::filesystem::exists(from, error)) return;
    if (std::filesystem::is_directory(from, error)) {
        std::filesystem::create_directories(at, error);
    } else {
        std::filesystem::create_directories(at.parent_path(), error);
        close(open(at.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    }
    if (mount(from.c_str(), at.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
        give_up(control, fmt::format("{} cannot be shown inside", from.string()));
    mount_attr only{};
    const bool device = from.string().starts_with("/dev/");
    only.attr_set =
        device ? MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID : MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    if (syscall(SYS_mount_setattr, AT_FDCWD, at.c_str(), AT_RECURSIVE, &only, sizeof only) != 0)
        give_up(control, fmt::format("{} cannot be made read-only", from.string()));
}

// The files of the submission without its links, which may lead anywhere.
void copy_work(const Sandbox& sandbox, const std::filesystem::path& to) {
    std::error_code error;
    std::filesystem::create_directories(to, error);
    if (sandbox.work.empty()) return;
    if (!sandbox.only.empty()) {
        for (const std::string& name : sandbox.only) std::filesystem::copy_file(sandbox.work / name, to / name, error);
        return;
    }
    for (auto entry = std::filesystem::recursive_directory_iterator(sandbox.work, error);
         entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
        if (error) break;
        const std::filesystem::path place = to / entry->path().lexically_relative(sandbox.work);
        if (entry->is_symlink(error)) continue;
        if (entry->is_directory(error))
            std::filesystem::create_directories(place, error);
        else if (entry->is_regular_file(error))
            std::filesystem::copy_file(entry->path(), place, error);
    }
}

// A root of nothing but what is shown, in memory, which then cannot be written but for /tmp.
void furnish(const Sandbox& sandbox, const std::filesystem::path& root, int control) {
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) give_up(control, "mounts cannot be made private");
    if (mount("tmpfs", root.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=4m") != 0)
        give_up(control, "a root cannot be mounted");
    for (const char* top : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"}) {
        std::error_code error;
        const std::filesystem::path at = root / (top + 1);
        if (std::filesystem::is_symlink(top, error))
            std::filesystem::copy_symlink(top, at, error);
        else
            show(control, top, at);
    }
    for (const char* file :
         {"/etc/ld.so.cache", "/etc/alternatives", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"})
        show(control, file, root / (file + 1));
    for (const Sandbox::Shown& each : sandbox.shown) show(control, each.from, root / each.to.relative_path());
    std::error_code error;
    for (const std::filesystem::path& each : sandbox.empty)
        std::filesystem::create_directories(root / each.relative_path(), error);
    for (const char* folder : {"tmp", "proc"}) std::filesystem::create_directories(root / folder, error);
    if (mount("tmpfs", (root / "tmp").c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
              fmt::format("mode=700,size={}", sandbox.file_bytes).c_str()) != 0)
        give_up(control, "a private folder cannot be mounted");
    if (mount("proc", (root / "proc").c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
        give_up(control, "/proc cannot be mounted");
    copy_work(sandbox, root / (work_inside + 1));
    if (chdir(root.c_str()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 ||
        chdir("/") != 0)
        give_up(control, "the root cannot be changed");
    if (mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) != 0)
        give_up(control, "the root cannot be made read-only");
    if (chdir(work_inside) != 0) give_up(control, "the working folder is missing");
}

// The descriptor by which the watcher hears of system calls.
void install_filter(int control) {
    std::vector<sock_filter> filter = system_call_filter();
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(control, "privileges cannot be given up");
    const auto listener =
        static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
    if (listener < 0) give_up(control, "system calls cannot be filtered");
    char letter = 'L';
    iovec data{&letter, 1};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &listener, sizeof listener);
    if (sendmsg(control, &message, MSG_NOSIGNAL) < 0) give_up(control, "the watcher cannot be reached");
    close(listener);
}

void bound(const Sandbox& sandbox) {
    const auto limit_to = [](auto resource, uint64_t value) {
        const rlimit both{value, value};
        setrlimit(resource, &both);
    };
    limit_to(RLIMIT_CORE, 0);
    limit_to(RLIMIT_FSIZE, sandbox.file_bytes);
    limit_to(RLIMIT_CPU, static_cast<uint64_t>(sandbox.processor_seconds) + 2);
    limit_to(RLIMIT_NOFILE, 1024);
}

std::vector<char*> raw(const std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

[[noreturn]] void be_first(const Sandbox& sandbox, const std::filesystem::path& root, const InnerEnds& ends) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    furnish(sandbox, root, ends.control);
    install_filter(ends.control);
    std::vector<std::string> words = {sandbox.program.string()};
    words.insert(words.end(), sandbox.arguments.begin(), sandbox.arguments.end());
    const std::vector<char*> argv = raw(words), environment = raw(sandbox.settings);
    const pid_t program = fork();
    if (program == 0) {
        setsid();
        dup2(ends.input, 0);
        dup2(ends.output, 1);
        dup2(ends.errors, 2);
        syscall(SYS_close_range, 3u, ~0u, 0u);
        bound(sandbox);
        execve(sandbox.program.c_str(), argv.data(), environment.data());
        _exit(127);
    }
    if (program < 0) give_up(ends.control, "the program cannot be started");
    for (const int end : {ends.input, ends.output, ends.errors}) close(end);
    int status = 0;
    for (pid_t ended = 0; ended != program;) {
        ended = waitpid(-1, &status, 0);
        if (ended < 0 && errno != EINTR) break;
    }
    kill(-1, SIGKILL);  // of this world
    tell_watcher(ends.control, 'S', fmt::format("{}", status));
    const int file = sandbox.result.empty() ? -1 : open(sandbox.result.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char buffer[65536];
    for (ssize_t count; file >= 0 && (count = read(file, buffer, sizeof buffer)) > 0;)
        if (write(ends.result, buffer, static_cast<size_t>(count)) < 0) break;
    _exit(0);
}

// The namespaces are the keeper's, the process numbers those of the process that it starts.
[[noreturn]] void keep_world(const Sandbox& sandbox, const std::filesystem::path& root, const InnerEnds& ends) {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (unshare(static_cast<int>(new_namespaces)) != 0) give_up(ends.control, "namespaces are not allowed here");
    write_small(ends.control, "/proc/self/setgroups", "deny");
    write_small(ends.control, "/proc/self/uid_map", fmt::format("{} {} 1", inner_user, user));
    write_small(ends.control, "/proc/self/gid_map", fmt::format("{} {} 1", inner_user, group));
    const pid_t first = fork();
    if (first == 0) be_first(sandbox, root, ends);
    if (first < 0) give_up(ends.control, "a process of its own world cannot be started");
    for (const int end : {ends.input, ends.output, ends.errors, ends.result, ends.control}) close(end);
    int status = 0;
    while (waitpid(first, &status, 0) < 0 && errno == EINTR) {
    }
    _exit(0);
}

// ---- The watcher.

struct Used {  // by all processes of the inner world
    uint64_t threads = 0, memory_bytes = 0;
    double processor_seconds = 0;
};

void add_usage(pid_t process, Used& used, int depth) {
    const std::string folder = fmt::format("/proc/{}", process);
    std::ifstream stat(folder + "/stat");
    std::string line;
    if (!std::getline(stat, line)) return;
    const size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) return;
    std::istringstream words(line.substr(name_end + 2));
    std::vector<std::string> fields;
    for (std::string word; words >> word;) fields.push_back(word);
    if (fields.size() < 22) return;
    const auto number = [&](size_t field) {
        return std::strtoull(fields[field - 3].c_str(), nullptr, 10);
    };  // as proc(5) counts
    static const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    used.processor_seconds += static_cast<double>(number(14) + number(15) + number(16) + number(17)) / ticks;
    used.threads += number(20);
    used.memory_bytes += number(24) * page;
    if (depth > 64 || used.threads > 100'000) return;
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator(folder + "/task", error)) {
        std::ifstream children(task.path() / "children");
        for (pid_t child = 0; children >> child;) add_usage(child, used, depth + 1);
    }
}

bool under(std::string_view path, std::string_view folder) {
    return path == folder || (path.starts_with(folder) && (folder.ends_with('/') || path[folder.size()] == '/'));
}

class Watcher {
  public:
    Watcher(const Sandbox& sandbox, pid_t keeper) : sandbox_(sandbox), keeper_(keeper) {}

    SandboxOutcome watch(int output, int errors, int result, int control) {
        const auto begin = SandboxClock::now();
        auto counted = begin;
        struct Stream {
            int descriptor;
            std::string* text;
        };
        Stream streams[] = {{output, &outcome_.ended.output}, {errors, &outcome_.errors}, {result, &outcome_.result}};
        bool running = true;
        while (running && !ended_) {
            pollfd waiting[] = {
                {output, POLLIN, 0}, {errors, POLLIN, 0}, {result, POLLIN, 0}, {control, POLLIN, 0}, {listener_, POLLIN, 0}};
            for (size_t k = 0; k < 3; ++k)
                if (streams[k].descriptor < 0) waiting[k].fd = -1;
            poll(waiting, std::size(waiting), 10);
            for (size_t k = 0; k < 3; ++k)
                if (waiting[k].revents && !take(streams[k].descriptor, *streams[k].text)) streams[k].descriptor = -1;
            if (waiting[3].revents & (POLLIN | POLLHUP)) running = hear(control);
            if (waiting[4].revents & POLLIN) answer_system_call();
            const auto now = SandboxClock::now();
            if (std::chrono::duration<double>(now - begin).count() > sandbox_.seconds)
                end(ChildOutcome::End::timed_out, fmt::format("it took longer than {:g} s", sandbox_.seconds));
            if (now - counted > std::chrono::milliseconds(10)) count(), counted = now;
        }
        if (ended_) kill(keeper_, SIGKILL);
        for (Stream& stream : streams)
            while (!ended_ && stream.descriptor >= 0 && take(stream.descriptor, *stream.text)) {
            }
        if (listener_ >= 0) close(listener_);
        waitpid(keeper_, nullptr, 0);
        outcome_.strangers_began = program_began_;
        return std::move(outcome_);
    }

  private:
    void end(ChildOutcome::End how, const std::string& why) {
        if (ended_) return;
        ended_ = true;
        outcome_.ended.end = how;
        note(why);
    }
    void note(const std::string& sentence) {
        constexpr size_t most = 20;
        std::vector<std::string>& all = outcome_.tried;
        if (all.size() < most && std::find(all.begin(), all.end(), sentence) == all.end()) all.push_back(sentence);
    }

    bool take(int descriptor, std::string& text) {
        char buffer[65536];
        const ssize_t read_now = read(descriptor, buffer, sizeof buffer);
        if (read_now <= 0) return read_now < 0 && errno == EINTR;
        text.append(buffer, static_cast<size_t>(read_now));
        if (text.size() <= sandbox_.output_bytes) return true;
        text.resize(sandbox_.output_bytes);
        end(ChildOutcome::End::too_much_output, fmt::format("it printed more than {} bytes", sandbox_.output_bytes));
        return false;
    }

    // False: nothing more comes.
    bool hear(int control) {
        char buffer[4096];
        iovec data{buffer, sizeof buffer};
        alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
        msghdr message{};
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = room;
        message.msg_controllen = sizeof room;
        const ssize_t count = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
        if (count <= 0) return count < 0 && errno == EINTR;
        const std::string text(buffer + 1, static_cast<size_t>(count) - 1);
        if (buffer[0] == 'L') {
            if (const cmsghdr* header = CMSG_FIRSTHDR(&message))
                std::memcpy(&listener_, CMSG_DATA(header), sizeof listener_);
        } else if (buffer[0] == 'R') {
            outcome_.refused = text;
        } else if (buffer[0] == 'S') {
            const int status = std::atoi(text.c_str());
            outcome_.ended.end = WIFEXITED(status) ? ChildOutcome::End::exited : ChildOutcome::End::killed;
            outcome_.ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
        }
        return true;
    }

    void count() {
        Used used;
        add_usage(keeper_, used, 0);
        threads_ = used.threads;
        if (used.memory_bytes > sandbox_.memory_bytes)
            end(ChildOutcome::End::killed, fmt::format("it took more than {} MiB of memory", sandbox_.memory_bytes >> 20));
        if (used.processor_seconds > sandbox_.processor_seconds)
            end(ChildOutcome::End::killed,
                fmt::format("it took more than {:g} s of processor time", sandbox_.processor_seconds));
    }

    // Of a process or thread that is about to be started. Every one is asked for here, so that there are never more; the
    // system's own limit knows nothing of them where this program runs as root.
    bool may_start() {
        if (++threads_ <= sandbox_.threads + 2) return true;
        count();  // some have ended since
        if (++threads_ <= sandbox_.threads + 2) return true;
        end(ChildOutcome::End::killed, fmt::format("it started more than {} processes and threads", sandbox_.threads));
        return false;
    }

    // What the program may open needs no word of ours: its namespace has nothing else. This is to say what it tried.
    void answer_system_call() {
        alignas(seccomp_notif) char asked[512] = {};
        auto& question = *reinterpret_cast<seccomp_notif*>(asked);
        if (ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return;
        seccomp_notif_resp reply{};
        reply.id = question.id;
        reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        const bool of_program = is_of_program(question.pid);
        if (starts_something(question.data.nr)) {
            if (!may_start()) reply.flags = 0, reply.error = -EAGAIN;
        } else if (question.data.nr == SYS_socket) {
            if (of_program && question.data.args[0] != AF_UNIX) note("it tried to open a network connection");
            reply.flags = 0;
            reply.error = -EPERM;
        } else if (of_program) {
            look_at_path(question);
        }
        ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &reply);
    }

    static bool starts_something(long number) {
#if defined(__x86_64__)
        if (number == SYS_fork || number == SYS_vfork) return true;
#endif
        return number == SYS_clone;
    }

    // Compilers may come first; from the first call of a program of the stranger's on all is the stranger's.
    bool is_of_program(uint32_t process) {
        if (!program_began_) {
            std::error_code error;
            const auto exe = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", process), error);
            program_began_ = under(exe.string(), sandbox_.strangers.empty() ? "/" : sandbox_.strangers);
        }
        return program_began_;
    }

    void look_at_path(const seccomp_notif& question) {
        const auto* arguments = question.data.args;
        const bool at = question.data.nr == SYS_openat || question.data.nr == SYS_openat2;
        char buffer[4096] = {};
        const int memory = open(fmt::format("/proc/{}/mem", question.pid).c_str(), O_RDONLY | O_CLOEXEC);
        if (memory < 0) return;
        const uint64_t address = arguments[at ? 1 : 0];
        (void)!pread(memory, buffer, sizeof buffer - 1, static_cast<off_t>(address));
        uint64_t flags = arguments[at ? 2 : 1];
        if (question.data.nr == SYS_openat2 && pread(memory, &flags, sizeof flags, static_cast<off_t>(arguments[2])) < 0)
            flags = 0;
#if defined(__x86_64__)
        if (question.data.nr == SYS_creat) flags = O_WRONLY;
#endif
        close(memory);
        std::filesystem::path path = buffer;
        if (path.is_relative()) {
            std::error_code error;
            const auto folder = static_cast<int>(arguments[0]);
            const std::string link = at && folder != AT_FDCWD ? fmt::format("/proc/{}/fd/{}", question.pid, folder)
                                                              : fmt::format("/proc/{}/cwd", question.pid);
            path = std::filesystem::read_symlink(link, error) / path;
        }
        const std::string whole = path.lexically_normal().string();
        const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
        if (may_be_opened(whole, writes)) return;
        std::string shown;
        for (const char c : whole.substr(0, 200)) shown += static_cast<unsigned char>(c) < ' ' ? '?' : c;
        note(fmt::format("it tried to {} {}", writes ? "write" : "read", shown));
    }

    bool may_be_opened(const std::string& path, bool writes) const {
        for (const char* folder : {"/tmp", "/dev", "/proc"})
            if (under(path, folder)) return true;
        if (writes) return false;
        for (const char* folder : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/sys"})
            if (under(path, folder)) return true;
        return path == "/" || std::any_of(sandbox_.shown.begin(), sandbox_.shown.end(),
                                          [&](const Sandbox::Shown& each) { return under(path, each.to.string()); });
    }

    const Sandbox& sandbox_;
    pid_t keeper_;
    int listener_ = -1;
    bool ended_ = false, program_began_ = false;
    uint64_t threads_ = 0;  // of all processes inside, when they were counted last, and those started since
    SandboxOutcome outcome_;
};

int input_of(const std::string& text) {
    const int file = memfd_create("input", MFD_CLOEXEC);
    if (file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size())) lseek(file, 0, SEEK_SET);
    return file;
}

}  // namespace

SandboxOutcome run_in_sandbox(const Sandbox& sandbox) {
    SandboxOutcome outcome;
    outcome.refused = "no pipes or no temporary folder can be made";
    const std::filesystem::path root = make_temporary_folder();
    int output[2], errors[2], result[2], control[2];
    if (root.empty() || pipe2(output, O_CLOEXEC) != 0) return outcome;
    if (pipe2(errors, O_CLOEXEC) != 0 || pipe2(result, O_CLOEXEC) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
        return outcome;
    const InnerEnds ends{input_of(sandbox.input), output[1], errors[1], result[1], control[1]};
    std::fflush(nullptr);
    const pid_t watcher = getpid(), keeper = fork();
    if (keeper == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != watcher) _exit(1);
        for (const int end : {output[0], errors[0], result[0], control[0]}) close(end);
        keep_world(sandbox, root, ends);
    }
    for (const int end : {ends.input, ends.output, ends.errors, ends.result, ends.control}) close(end);
    if (keeper > 0) outcome = Watcher(sandbox, keeper).watch(output[0], errors[0], result[0], control[0]);
    for (const int end : {output[0], errors[0], result[0], control[0]}) close(end);
    std::error_code error;
    std::filesystem::remove(root, error);
    return outcome;
}
#endif

}  // namespace lockstep::system
