// Child processes by CreateProcess inside of a job object: the job bounds memory and processor time, and ending it ends what
// the child started. A child that has a job ends with this process, which holds the job's only handle.
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <fmt/format.h>
#include <windows.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "core/system/feed.h"
#include "core/system/stand_in.h"
#include "core/system/system.h"

namespace lockstep::system {

namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::wstring wide(std::string_view text) {  // of UTF-8
    const int length = MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0);
    std::wstring result(static_cast<size_t>(length), L' ');
    MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), result.data(), length);
    return result;
}

struct Handle {
    HANDLE value = nullptr;
    Handle() = default;
    explicit Handle(HANDLE of) : value(of) {}
    Handle(Handle&& other) noexcept : value(std::exchange(other.value, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(value, other.value);
        return *this;
    }
    ~Handle() { close(); }
    void close() {
        if (value != nullptr && value != INVALID_HANDLE_VALUE) CloseHandle(value);
        value = nullptr;
    }
};

// A word as CommandLineToArgvW and the C runtime take it apart again: backslashes double before a quotation mark only.
void append_word(std::wstring& line, std::string_view word) {
    if (!line.empty()) line += L' ';
    line += L'"';
    size_t backslashes = 0;
    for (const wchar_t c : wide(word)) {
        if (c == L'"') line.append(backslashes + 1, L'\\');
        backslashes = c == L'\\' ? backslashes + 1 : 0;
        line += c;
    }
    line.append(backslashes, L'\\');
    line += L'"';
}

std::wstring environment_block(const std::vector<std::string>& settings) {
    std::wstring block;
    for (const std::string& setting : settings) block += wide(setting) + L'\0';
    return block + L'\0';
}

std::string setting_of(const char* name) {
    const char* const value = std::getenv(name);
    return fmt::format("{}={}", name, value ? value : "");
}

std::vector<std::string> bare_environment(const fs::path& folder) {  // sorted by name, as CreateProcess wants them
    return {"HOME=" + folder.string(), setting_of("PATH"), setting_of("SYSTEMROOT"), "TEMP=" + folder.string(),
            "TMP=" + folder.string()};
}

Handle job_of(const ChildLimits* limits) {
    Handle job(CreateJobObjectW(nullptr, nullptr));
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION bounds{};
    bounds.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    if (limits) {
        bounds.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_JOB_MEMORY | JOB_OBJECT_LIMIT_JOB_TIME;
        bounds.JobMemoryLimit = static_cast<SIZE_T>(limits->memory_bytes);
        bounds.BasicLimitInformation.PerJobUserTimeLimit.QuadPart = static_cast<LONGLONG>(
            ((limits->processor_seconds > 0 ? limits->processor_seconds : limits->seconds) + 1) * 1e7);  // of 100 ns
    }
    SetInformationJobObject(job.value, JobObjectExtendedLimitInformation, &bounds, sizeof bounds);
    return job;
}

struct Pipe {
    Handle reading, writing;  // the writing end is inherited
    Pipe() {
        SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
        CreatePipe(&reading.value, &writing.value, &inherited, 0);
        SetHandleInformation(reading.value, HANDLE_FLAG_INHERIT, 0);
    }
};

struct Child {
    Handle job, process;
};

// Starts `words`, the first of which is the program; no process where it cannot be started.
Child start(const std::vector<std::string>& words, const fs::path* folder, const std::wstring* environment,
            const ChildLimits* limits, HANDLE output, HANDLE errors) {
    Child child{job_of(limits), {}};
    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    startup.dwFlags = STARTF_USESTDHANDLES;
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    const Handle nothing(CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, 0, &inherited, OPEN_EXISTING, 0, nullptr));
    startup.hStdInput = nothing.value;
    startup.hStdOutput = output ? output : nothing.value;
    startup.hStdError = errors ? errors : nothing.value;
    std::wstring line;
    for (const std::string& word : words) append_word(line, word);
    PROCESS_INFORMATION made{};
    const DWORD flags = CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | (limits ? CREATE_NO_WINDOW : 0);
    if (!CreateProcessW(wide(words.front()).c_str(), line.data(), nullptr, nullptr, TRUE, flags,
                        environment ? const_cast<wchar_t*>(environment->c_str()) : nullptr,
                        folder ? folder->wstring().c_str() : nullptr, &startup, &made))
        return child;
    child.process.value = made.hProcess;
    AssignProcessToJobObject(child.job.value, made.hProcess);
    ResumeThread(made.hThread);
    CloseHandle(made.hThread);
    return child;
}

// Calls `take` with what comes out of the pipe until it closes, `take` returns false or `deadline()` has passed.
template <class Take, class Deadline>
bool drain(HANDLE pipe, const Take& take, const Deadline& deadline) {  // false: the deadline passed
    char buffer[65536];
    for (;;) {
        DWORD there = 0, count = 0;
        if (!PeekNamedPipe(pipe, nullptr, 0, nullptr, &there, nullptr)) return true;
        if (there == 0) {
            if (Clock::now() >= deadline()) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        if (!ReadFile(pipe, buffer, std::min<DWORD>(there, sizeof buffer), &count, nullptr) || count == 0) return true;
        if (!take(std::string_view(buffer, count))) return true;
    }
}

Clock::time_point after(double seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// How a child whose output has ended itself ends.
void finish(Child& child, ChildOutcome& outcome, Clock::time_point deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (WaitForSingleObject(child.process.value, static_cast<DWORD>(std::max<int64_t>(left, 0))) != WAIT_OBJECT_0) {
        outcome.end = ChildOutcome::End::timed_out;
        return;
    }
    DWORD status = 0;
    GetExitCodeProcess(child.process.value, &status);
    outcome.end = status >= 0xC0000000 ? ChildOutcome::End::killed : ChildOutcome::End::exited;
    outcome.status = static_cast<int>(status);
}

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

bool write_all(HANDLE file, std::string_view text) {
    for (size_t done = 0; done < text.size();) {
        DWORD count = 0;
        if (!WriteFile(file, text.data() + done, static_cast<DWORD>(text.size() - done), &count, nullptr) || count == 0)
            return false;
        done += count;
    }
    return true;
}

std::vector<std::string> task_words(std::string_view name, const std::string& condition,
                                    const std::vector<std::string>& words) {
    std::vector<std::string> all = {own_executable().string(), std::string(task_program), std::string(name), condition};
    all.insert(all.end(), words.begin(), words.end());
    return all;
}
}  // namespace

ChildOutcome run_program(const fs::path& program, const std::vector<std::string>& arguments, const fs::path& folder,
                         const ChildLimits& limits) {
    std::vector<std::string> words = {program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    Pipe pipe;
    const std::wstring environment = environment_block(bare_environment(folder));
    Child child = start(words, &folder, &environment, &limits, pipe.writing.value, pipe.writing.value);
    pipe.writing.close();
    ChildOutcome outcome;
    if (!child.process.value) return outcome;
    const auto deadline = after(limits.seconds);
    const auto take = [&](std::string_view text) {
        outcome.output += text;
        return outcome.output.size() <= limits.output_bytes;
    };
    if (!drain(pipe.reading.value, take, [&] { return deadline; }))
        outcome.end = ChildOutcome::End::timed_out;
    else if (outcome.output.size() > limits.output_bytes)
        outcome.end = ChildOutcome::End::too_much_output;
    else
        finish(child, outcome, deadline);
    TerminateJobObject(child.job.value, 1);
    return outcome;
}

ChildOutcome run_in_foreground(const Foreground& run) {
    return run_in_foreground_within(run, 0);
}

ChildOutcome run_in_foreground_within(const Foreground& run, double seconds) {
    for (const std::string& setting : run.settings) {
        const size_t equals = setting.find('=');
        SetEnvironmentVariableW(wide(setting.substr(0, equals)).c_str(), wide(setting.substr(equals + 1)).c_str());
    }
    std::wstring line;
    append_word(line, run.name);
    for (const std::string& word : run.arguments) append_word(line, word);
    ChildOutcome outcome;
    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    if (run.output_is_errors) {
        startup.dwFlags = STARTF_USESTDHANDLES;
        startup.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
        startup.hStdOutput = startup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    }
    PROCESS_INFORMATION started{};
    std::fflush(nullptr);
    if (!CreateProcessW(wide(run.program.string()).c_str(), line.data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED, nullptr,
                        nullptr, &startup, &started))
        return outcome;
    Child child{job_of(nullptr), Handle(started.hProcess)};
    AssignProcessToJobObject(child.job.value, started.hProcess);
    SetConsoleCtrlHandler(nullptr, TRUE);  // Ctrl-C is the program's
    ResumeThread(started.hThread);
    CloseHandle(started.hThread);
    const bool is_late =
        seconds > 0 && WaitForSingleObject(started.hProcess, static_cast<DWORD>(1000 * seconds)) == WAIT_TIMEOUT;
    if (is_late) TerminateJobObject(child.job.value, 1);
    WaitForSingleObject(started.hProcess, INFINITE);
    SetConsoleCtrlHandler(nullptr, FALSE);
    DWORD status = 0;
    GetExitCodeProcess(started.hProcess, &status);
    outcome.end = is_late                 ? ChildOutcome::End::timed_out
                  : status >= 0xc0000000u ? ChildOutcome::End::killed
                                          : ChildOutcome::End::exited;
    outcome.status = static_cast<int>(status);
    return outcome;
}

ChildOutcome run_watched(const Foreground& run, std::string_view input,
                         const std::function<bool(std::string_view text, bool of_errors)>& heard) {
    for (const std::string& setting : run.settings) {
        const size_t equals = setting.find('=');
        SetEnvironmentVariableW(wide(setting.substr(0, equals)).c_str(), wide(setting.substr(equals + 1)).c_str());
    }
    std::wstring line;
    append_word(line, run.name);
    for (const std::string& word : run.arguments) append_word(line, word);
    ChildOutcome outcome;
    Pipe said, errors;
    HANDLE given_reading = nullptr, given_writing = nullptr;
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    if (!CreatePipe(&given_reading, &given_writing, &inherited, static_cast<DWORD>(input.size() + 1))) return outcome;
    Handle reading(given_reading), writing(given_writing);
    SetHandleInformation(writing.value, HANDLE_FLAG_INHERIT, 0);
    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = reading.value;
    startup.hStdOutput = said.writing.value;
    startup.hStdError = errors.writing.value;
    PROCESS_INFORMATION started{};
    if (!CreateProcessW(wide(run.program.string()).c_str(), line.data(), nullptr, nullptr, TRUE,
                        CREATE_SUSPENDED | CREATE_NO_WINDOW, nullptr,
                        run.folder.empty() ? nullptr : run.folder.wstring().c_str(), &startup, &started))
        return outcome;
    Child child{job_of(nullptr), Handle(started.hProcess)};
    AssignProcessToJobObject(child.job.value, started.hProcess);
    ResumeThread(started.hThread);
    CloseHandle(started.hThread);
    reading.close();
    said.writing.close();
    errors.writing.close();
    std::thread writer([&] {
        write_all(writing.value, input);
        writing.close();
    });
    bool wanted = true;
    const auto take = [&](HANDLE pipe, bool of_errors) {
        return drain(
            pipe, [&](std::string_view text) { return wanted = heard(text, of_errors) && wanted; },
            [] { return Clock::time_point(); });
    };
    for (bool ended = false; wanted && !ended;) {
        ended = WaitForSingleObject(child.process.value, 50) == WAIT_OBJECT_0;  // then what it has said comes once more
        take(said.reading.value, false);
        take(errors.reading.value, true);
        wanted = heard({}, false) && wanted;
    }
    if (wanted)
        finish(child, outcome, after(1));
    else
        outcome.end = ChildOutcome::End::timed_out;
    TerminateJobObject(child.job.value, 1);
    writer.join();
    return outcome;
}

ChildOutcome run_fed(const Foreground& run, const std::function<std::optional<std::string_view>()>& next) {
    std::wstring line;
    append_word(line, run.name);
    for (const std::string& word : run.arguments) append_word(line, word);
    ChildOutcome outcome;
    Pipe said;
    HANDLE given_reading = nullptr, given_writing = nullptr;
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    if (!CreatePipe(&given_reading, &given_writing, &inherited, 0)) return outcome;
    Handle reading(given_reading), writing(given_writing);
    SetHandleInformation(writing.value, HANDLE_FLAG_INHERIT, 0);
    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = reading.value;
    startup.hStdOutput = startup.hStdError = said.writing.value;
    PROCESS_INFORMATION started{};
    const DWORD flags = CREATE_SUSPENDED | CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP;
    if (!CreateProcessW(wide(run.program.string()).c_str(), line.data(), nullptr, nullptr, TRUE, flags, nullptr,
                        run.folder.empty() ? nullptr : run.folder.wstring().c_str(), &startup, &started))
        return outcome;
    Child child{job_of(nullptr), Handle(started.hProcess)};
    AssignProcessToJobObject(child.job.value, started.hProcess);
    ResumeThread(started.hThread);
    CloseHandle(started.hThread);
    reading.close();
    said.writing.close();
    std::thread listener([&] {
        const auto take = [&](std::string_view text) {
            outcome.output += text.substr(0, (size_t{64} << 10) - std::min(outcome.output.size(), size_t{64} << 10));
            return true;
        };
        drain(said.reading.value, take, [] { return Clock::time_point::max(); });
    });
    const auto end = [&] {
        TerminateJobObject(child.job.value, 1);
        listener.join();
    };
    std::optional<std::string_view> piece;
    try {
        while ((piece = next()) && !piece->empty() && write_all(writing.value, *piece)) {
        }
    } catch (...) {
        end();
        throw;
    }
    writing.close();
    if (piece) {
        WaitForSingleObject(child.process.value, INFINITE);
        finish(child, outcome, after(1));
    } else {
        outcome.end = ChildOutcome::End::timed_out;
    }
    end();
    return outcome;
}

void stand_in(const fs::path& program) {
    stand_in_program() = program;
    serves_tasks() = true;
}

const fs::path& stands_in() {
    return stand_in_program();
}

std::string signal_text(int status) {
    return fmt::format("exception {:#010x}", static_cast<unsigned>(status));
}

fs::path find_program(const std::vector<std::string>& names, const std::vector<fs::path>& folders) {
    std::vector<fs::path> places;
    if (const wchar_t* path = _wgetenv(L"PATH")) {
        const std::wstring all = path;
        for (size_t begin = 0; begin <= all.size();) {
            const size_t end = std::min(all.find(L';', begin), all.size());
            if (end > begin) places.emplace_back(all.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    places.insert(places.end(), folders.begin(), folders.end());
    for (const std::string& name : names)
        for (const fs::path& place : places) {
            std::error_code error;
            if (const fs::path candidate = place / (name + ".exe"); fs::is_regular_file(candidate, error)) return candidate;
        }
    return {};
}

// A task's condition: of one that answers its bounds, of one that speaks the handle that it speaks into.
void serve_task(int argc, char** argv, std::span<const ChildTask> tasks) {
    serves_tasks() = true;
    if (argc < 4 || std::string_view(argv[1]) != task_program) return;
    const std::vector<std::string> words(argv + 4, argv + argc);
    for (const ChildTask& task : tasks) {
        if (task.name != argv[2]) continue;
        try {
            if (!task.speak) exit_now(write_all(GetStdHandle(STD_OUTPUT_HANDLE), task.answer(words)) ? 0 : 126);
            const auto said = reinterpret_cast<HANDLE>(static_cast<uintptr_t>(std::strtoull(argv[3], nullptr, 10)));
            const SayLine say = [said](std::string_view line) {
                if (!write_all(said, std::string(line) + "\n")) exit_now(126);
            };
            say("");  // it begins
            task.speak(words, say);
            exit_now(0);
        } catch (...) {
            exit_now(126);
        }
    }
    exit_now(127);
}

ChildOutcome run_task(std::string_view name, const std::vector<std::string>& words, const fs::path& folder,
                      const ChildLimits& limits) {
    if (!serves_tasks()) return {};
    const std::vector<std::string> all = task_words(name, "answers", words);
    return run_program(all.front(), {all.begin() + 1, all.end()}, folder, limits);
}

ChildOutcome hear_task(std::string_view name, const std::vector<std::string>& words,
                       const std::function<double(std::string_view line)>& heard, double seconds) {
    ChildOutcome outcome;
    if (!serves_tasks()) return outcome;
    Pipe pipe;
    Child child = start(task_words(name, std::to_string(reinterpret_cast<uintptr_t>(pipe.writing.value)), words), nullptr,
                        nullptr, nullptr, GetStdHandle(STD_OUTPUT_HANDLE), GetStdHandle(STD_ERROR_HANDLE));
    pipe.writing.close();
    if (!child.process.value) return outcome;
    auto deadline = after(seconds + most_starting_seconds);
    std::string rest;
    const auto take = [&](std::string_view text) {
        rest += text;
        for (size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
            deadline = after(end == 0 ? seconds : heard(std::string_view(rest).substr(0, end)));
        return true;
    };
    if (!drain(pipe.reading.value, take, [&] { return deadline; }))
        outcome.end = ChildOutcome::End::timed_out;
    else
        finish(child, outcome, deadline);
    return outcome;
}

void exit_now(int status) {
    TerminateProcess(GetCurrentProcess(), static_cast<UINT>(status));
    std::abort();  // the call above does not return
}

}  // namespace lockstep::system
