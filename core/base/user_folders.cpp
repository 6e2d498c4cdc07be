#include "core/base/user_folders.h"

#include <cstdlib>

namespace lockstep {
namespace {

std::filesystem::path user_folder(const char* variable, const char* below_home) {
    namespace fs = std::filesystem;
    const char* const set = std::getenv(variable);
    const char* const home = std::getenv("HOME");
    const fs::path base = set != nullptr && *set == '/'   ? fs::path(set)
                          : home != nullptr && *home != 0 ? fs::path(home) / below_home
                                                          : fs::temp_directory_path();
    return base / "lockstep";
}

}  // namespace

std::filesystem::path state_folder() {
    return user_folder("XDG_STATE_HOME", ".local/state");
}
std::filesystem::path cache_folder() {
    return user_folder("XDG_CACHE_HOME", ".cache");
}

}  // namespace lockstep
