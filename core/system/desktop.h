// What the desktop says about the person at it, and the fonts that it has.
#pragma once
#include <filesystem>
#include <vector>

namespace lockstep::system {

// Whether she has asked for less motion. POSIX: KDE's kdeglobals, GTK's settings.ini, then GNOME's own setting, which takes
// a child process of a few hundredths of a second; Windows: the animations of its controls.
bool prefers_less_motion();
// Font files (.ttf, .otf, .ttc) in the folders where the system and the person keep them; at most so many.
std::vector<std::filesystem::path> font_files(size_t most = 4000);

}  // namespace lockstep::system
