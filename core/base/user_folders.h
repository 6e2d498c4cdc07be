// Where the program keeps what belongs to the person who runs it, as the XDG base directory specification says: below the
// variable's folder when it is an absolute path (a relative one is to be ignored), else below the home folder, else among
// the temporary files. The folders need not exist yet.
#pragma once
#include <filesystem>

namespace lockstep {

std::filesystem::path state_folder();  // $XDG_STATE_HOME/lockstep or ~/.local/state/lockstep: what must outlast the run
std::filesystem::path cache_folder();  // $XDG_CACHE_HOME/lockstep or ~/.cache/lockstep: what can be worked out again

}  // namespace lockstep
