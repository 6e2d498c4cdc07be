// Settings files of the desktops, and gsettings.
#include <cstdlib>
#include <fstream>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "core/system/desktop.h"
#include "core/system/system.h"

namespace lockstep::system {

namespace {

// The value behind "key=" in a file of settings; "": it is not there.
std::string setting_in(const std::filesystem::path& file, const std::string& key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const size_t equals = line.find('=');
        if (equals == std::string::npos) continue;
        std::string name = line.substr(0, equals), value = line.substr(equals + 1);
        name.erase(name.find_last_not_of(" \t") + 1);
        value.erase(0, value.find_first_not_of(" \t"));
        value.erase(value.find_last_not_of(" \t\r") + 1);
        if (name == key) return value;
    }
    return {};
}

bool gnome_has_no_animations() {
    if (std::getenv("DBUS_SESSION_BUS_ADDRESS") == nullptr) return false;
    const std::filesystem::path program = find_program({"gsettings"});
    if (program.empty()) return false;
    std::string said;
    Foreground asked;
    asked.program = program;
    asked.name = "gsettings";
    asked.arguments = {"get", "org.gnome.desktop.interface", "enable-animations"};
    int quiet = 0;
    run_watched(asked, "", [&](std::string_view text, bool of_errors) {
        if (!of_errors) said += text;
        return ++quiet < 20;  // two seconds
    });
    return said.starts_with("false");
}

}  // namespace

bool prefers_less_motion() {
    const char* const folder = std::getenv("XDG_CONFIG_HOME");
    const std::filesystem::path config =
        folder != nullptr && *folder == '/' ? std::filesystem::path(folder) : home_folder() / ".config";
    const std::string kde = setting_in(config / "kdeglobals", "AnimationDurationFactor");
    if (!kde.empty()) return std::strtod(kde.c_str(), nullptr) == 0;
    for (const char* const gtk : {"gtk-4.0", "gtk-3.0"})
        if (const std::string on = setting_in(config / gtk / "settings.ini", "gtk-enable-animations"); !on.empty())
            return on == "0" || on == "false";
    return gnome_has_no_animations();
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
    const char* const data = std::getenv("XDG_DATA_HOME");
    if (data != nullptr && *data == '/') add_fonts(std::filesystem::path(data) / "fonts", most, found);
    if (const std::filesystem::path home = home_folder(); !home.empty())
        for (const char* const folder : {".local/share/fonts", ".fonts", "Library/Fonts"})
            add_fonts(home / folder, most, found);
    for (const char* const folder :
         {"/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts", "/System/Library/Fonts"})
        add_fonts(folder, most, found);
    return found;
}

void give_memory_back() {
#if defined(__GLIBC__)
    constexpr int large = 256 << 10;   // bytes; set, the C library no longer raises it whenever something large is freed
    mallopt(M_MMAP_THRESHOLD, large);  // what is larger has pages of its own
    mallopt(M_TRIM_THRESHOLD, large);  // so much may stay free at the top of a heap
    constexpr int most_heaps = 4;      // what one thread frees, another finds
    mallopt(M_ARENA_MAX, most_heaps);
#endif
}

void give_small_pieces_back() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace lockstep::system
