// What a program on a desktop wants of it: how the person likes it, its fonts, and room for others.
#pragma once
#include <filesystem>
#include <vector>

namespace lockstep::system {

// Whether she has asked for less motion. POSIX: KDE's kdeglobals, GTK's settings.ini, then GNOME's own setting, which takes
// a child process of a few hundredths of a second; Windows: the animations of its controls.
bool prefers_less_motion();
// Font files (.ttf, .otf, .ttc) in the folders where the system and the person keep them; at most so many.
std::vector<std::filesystem::path> font_files(size_t most = 4000);
// What is freed from here on goes back to the system where it can, large pieces at once: for a program that stays open.
void give_memory_back();
// And the small pieces between those that are in use; takes milliseconds, and is for a moment without work.
void give_small_pieces_back();

}  // namespace lockstep::system
