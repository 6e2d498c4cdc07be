// The settings of the desktop, and the folders of fonts.
#include <windows.h>

#include <cstdlib>
#include <string>

#include "core/system/desktop.h"

namespace lockstep::system {

bool prefers_less_motion() {
    BOOL animated = TRUE;
    return SystemParametersInfoW(SPI_GETCLIENTAREAANIMATION, 0, &animated, 0) != 0 && animated == FALSE;
}

namespace {
// Adds the font files below a folder, each of a name once.
void add_fonts(const std::filesystem::path& folder, size_t most, std::vector<std::filesystem::path>& found) {
    std::error_code error;
    const auto skip = std::filesystem::directory_options::skip_permission_denied;
    for (std::filesystem::recursive_directory_iterator at(folder, skip, error), end; !error && at != end;
         at.increment(error)) {
        if (at.depth() > 6) at.disable_recursion_pending();
        std::string ending = at->path().extension().string();
        for (char& c : ending) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
        if (ending != ".ttf" && ending != ".otf" && ending != ".ttc") continue;
        if (found.size() >= most) return;
        found.push_back(at->path());
    }
}
}  // namespace

std::vector<std::filesystem::path> font_files(size_t most) {
    std::vector<std::filesystem::path> found;
    if (const wchar_t* const local = _wgetenv(L"LOCALAPPDATA"))
        add_fonts(std::filesystem::path(local) / "Microsoft" / "Windows" / "Fonts", most, found);
    if (const wchar_t* const windows = _wgetenv(L"WINDIR")) add_fonts(std::filesystem::path(windows) / "Fonts", most, found);
    return found;
}

void give_memory_back() {}  // its heap does

void give_small_pieces_back() {}

}  // namespace lockstep::system
