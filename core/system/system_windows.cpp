// Libraries by LoadLibrary, files by handles, folders below %LOCALAPPDATA%.
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <fcntl.h>
#include <fmt/format.h>
#include <io.h>
#include <windows.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <locale>
#include <system_error>

#include "core/system/interrupt.h"
#include "core/system/stand_in.h"
#include "core/system/system.h"

namespace lockstep::system {
namespace fs = std::filesystem;

// What is a letter the C++ library looks up for good in the table of the locale that is set when it is first asked, and that
// table is freed with its locale. Inside of Python, which sets one, that must be "C", whose table stays; before anything
// else.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wprio-ctor-dtor"
__attribute__((constructor(99))) static void take_table_of_letters() {
    const int before = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    const char* const set = std::setlocale(LC_ALL, nullptr);
    char kept[512] = "C";
    if (set != nullptr) snprintf(kept, sizeof kept, "%s", set);
    std::setlocale(LC_ALL, "C");
    std::use_facet<std::ctype<char>>(std::locale::classic()).is(std::ctype_base::alpha, 'a');
    std::setlocale(LC_ALL, kept);
    _configthreadlocale(before);
}
#pragma GCC diagnostic pop

Library load_library(const std::vector<std::string>& names, const std::vector<fs::path>& folders) {
    for (const std::string& name : names) {
        if (HMODULE handle = LoadLibraryW(fs::path(name).c_str())) return {handle, name};
        for (const fs::path& folder : folders)
            if (HMODULE handle = LoadLibraryW((folder / name).c_str())) return {handle, (folder / name).string()};
    }
    return {};
}

void* symbol_of(const Library& library, const char* name) {
    return library.handle ? reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library.handle), name)) : nullptr;
}

void* symbol_of_program(const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(nullptr), name));
}

bool runs_whole_programs() {
    return false;
}

std::string library_name(std::string_view, std::string_view windows) {
    return std::string(windows);
}

fs::path own_executable() {
    if (!stands_in().empty()) return stands_in();
    std::wstring path(32768, L'\0');
    path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
    return path;
}

fs::path home_folder() {
    const wchar_t* const home = _wgetenv(L"USERPROFILE");
    return home ? fs::path(home) : fs::path();
}

namespace {

fs::path local_folder() {
    const wchar_t* const local = _wgetenv(L"LOCALAPPDATA");
    return (local ? fs::path(local) : fs::temp_directory_path()) / "lockstep";
}

std::string last_error() {
    return std::system_category().message(static_cast<int>(GetLastError()));
}

std::string failed(const char* step) {
    return fmt::format("the file cannot be {}: {}", step, last_error());
}

// A name beside or below `folder` that nobody has yet.
fs::path fresh_name(const fs::path& folder, const std::wstring& begin) {
    static unsigned count = 0;
    return folder / (begin + std::to_wstring(GetCurrentProcessId()) + L"-" + std::to_wstring(GetTickCount64()) + L"-" +
                     std::to_wstring(++count));
}

}  // namespace

fs::path state_folder() {
    return local_folder() / "state";
}

fs::path cache_folder() {
    return local_folder() / "cache";
}

fs::path make_temporary_folder() {
    std::error_code error;
    const fs::path folder = fresh_name(fs::temp_directory_path(error), L"lockstep-");
    return !error && fs::create_directory(folder, error) ? folder : fs::path();
}

std::string why_unwritable(const fs::path& folder) {  // rights are lists of rules here: a file that goes at once tells
    HANDLE file = CreateFileW(fresh_name(folder, L"lockstep-").c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW,
                              FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
    if (file == INVALID_HANDLE_VALUE) return last_error();
    CloseHandle(file);
    return "";
}

std::string write_durably(const fs::path& path, std::string_view contents) {
    std::error_code ignored;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
    const fs::path temporary = fresh_name(path.parent_path(), path.filename().wstring() + L".");
    HANDLE file = CreateFileW(temporary.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file == INVALID_HANDLE_VALUE) return failed("made");
    std::string problem;
    for (size_t done = 0; done < contents.size() && problem.empty();) {
        DWORD count = 0;
        const auto most = static_cast<DWORD>(std::min<size_t>(contents.size() - done, size_t{1} << 30));
        if (!WriteFile(file, contents.data() + done, most, &count, nullptr)) problem = failed("written");
        done += count;
    }
    if (problem.empty() && !FlushFileBuffers(file)) problem = failed("flushed to the disk");
    CloseHandle(file);
    if (problem.empty() && !MoveFileExW(temporary.c_str(), path.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        problem = failed("put in its place");
    if (!problem.empty()) DeleteFileW(temporary.c_str());
    return problem;
}

void prepare_process() {
    SetConsoleOutputCP(CP_UTF8);
    for (FILE* const stream : {stdin, stdout, stderr})  // numbers and bytes are the same everywhere
        if (_fileno(stream) >= 0) _setmode(_fileno(stream), _O_BINARY);
}

bool errors_go_to_a_terminal() {
    return _isatty(_fileno(stderr)) != 0;
}

namespace {
void (*crash_handler)(int signal, uint64_t address) = nullptr;

LONG WINAPI crashed(EXCEPTION_POINTERS* about) {
    const EXCEPTION_RECORD& record = *about->ExceptionRecord;
    const bool has_address = record.ExceptionCode == EXCEPTION_ACCESS_VIOLATION && record.NumberParameters >= 2;
    crash_handler(static_cast<int>(record.ExceptionCode), has_address ? record.ExceptionInformation[1] : 0);
    return EXCEPTION_CONTINUE_SEARCH;
}
}  // namespace

void before_a_crash(void (*handler)(int signal, uint64_t address)) {
    crash_handler = handler;
    SetUnhandledExceptionFilter(crashed);
}

double process_seconds() {
    FILETIME created{}, ended{}, kernel{}, user{};
    GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user);
    const auto ticks = [](const FILETIME& time) {
        return static_cast<double>((uint64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime);
    };
    return (ticks(kernel) + ticks(user)) * 1e-7;  // of 100 ns
}

double thread_seconds() {
    FILETIME created{}, ended{}, kernel{}, user{};
    GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user);
    const auto ticks = [](const FILETIME& time) {
        return static_cast<double>((uint64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime);
    };
    return (ticks(kernel) + ticks(user)) * 1e-7;  // of 100 ns
}

void advise_large_pages(void*, size_t) {}  // they need a right that few people have

namespace {
volatile std::sig_atomic_t held_interrupt = 0;
void note_interrupt(int number) {  // on a thread of its own
    held_interrupt = 1;
    std::signal(number, SIG_DFL);
}
}  // namespace

HeldInterrupt::HeldInterrupt() {
    held_interrupt = 0;
    std::signal(SIGINT, note_interrupt);
}

HeldInterrupt::~HeldInterrupt() {
    std::signal(SIGINT, SIG_DFL);
}

bool HeldInterrupt::came() {
    const std::lock_guard lock(mutex_);
    return came_ = came_ || held_interrupt != 0;
}

}  // namespace lockstep::system
