// The folder goes with the object. What a process that was ended left behind is removed by the next one.
#include <fmt/format.h>
#include <windows.h>

#include <charconv>
#include <cstdlib>

#include "core/system/scratch.h"

namespace lockstep::system {

namespace {
namespace fs = std::filesystem;

bool is_gone(DWORD process) {
    HANDLE handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process);
    if (!handle) return GetLastError() == ERROR_INVALID_PARAMETER;
    DWORD status = STILL_ACTIVE;
    GetExitCodeProcess(handle, &status);
    CloseHandle(handle);
    return status != STILL_ACTIVE;
}

void remove_stale(const fs::path& base, const std::string& begin) {
    std::error_code error;
    for (fs::directory_iterator entry(base, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        DWORD process = 0;
        if (!name.starts_with(begin)) continue;
        const auto read = std::from_chars(name.data() + begin.size(), name.data() + name.size(), process);
        std::error_code kept;
        if (read.ec == std::errc{} && is_gone(process)) fs::remove_all(entry->path(), kept);
    }
}
}  // namespace

ScratchFolder::ScratchFolder(std::string_view name) {
    std::error_code error;
    const fs::path base = fs::temp_directory_path(error);
    if (error) return;
    const std::string begin = fmt::format("{}-", name);
    remove_stale(base, begin);
    const fs::path folder = base / fmt::format("{}{}-{:x}", begin, GetCurrentProcessId(), GetTickCount64());
    if (!fs::create_directory(folder, error)) return;
    path_ = folder;
    if (const char* const now = std::getenv("TMP")) before_ = now;
    for (const char* const variable : {"TMP", "TEMP"}) _putenv_s(variable, folder.string().c_str());
}

ScratchFolder::~ScratchFolder() {
    if (path_.empty()) return;
    std::error_code error;
    fs::remove_all(path_, error);
    for (const char* const variable : {"TMP", "TEMP"}) _putenv_s(variable, before_.c_str());
}

}  // namespace lockstep::system
