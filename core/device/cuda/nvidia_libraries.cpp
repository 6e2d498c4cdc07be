#include "core/device/cuda/nvidia_libraries.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/system/system.h"

namespace lockstep::device {

std::vector<std::filesystem::path> nvidia_library_folders() {
    namespace fs = std::filesystem;
    std::vector<fs::path> folders = {"/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib",
                                     "/usr/local/cuda/targets/sbsa-linux/lib", "/opt/cuda/lib64"};
    std::vector<fs::path> roots, packages;  // of Pythons: lib/python3*/{site,dist}-packages
    std::error_code error;
    for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (const char* const root = std::getenv(name); root && *root) roots.emplace_back(root);
    for (const fs::path& python : {system::find_program({"python3"}), system::find_program({"python"})}) {
        if (python.empty()) continue;
        roots.push_back(python.parent_path().parent_path());
        if (const fs::path real = fs::canonical(python, error); !error) roots.push_back(real.parent_path().parent_path());
    }
    if (const fs::path home = system::home_folder(); !home.empty()) roots.push_back(home / ".local");
    for (const char* const root : {"/usr/local", "/usr", "/opt/conda", "/opt/venv"}) roots.emplace_back(root);
    for (const fs::path& root : roots)
        for (const char* const lib : {"lib", "lib64"})
            for (const auto& entry : fs::directory_iterator(root / lib, error))
                if (entry.path().filename().string().starts_with("python3"))
                    for (const char* const kind : {"site-packages", "dist-packages"})
                        packages.push_back(entry.path() / kind);
    packages.emplace_back("/usr/lib/python3/dist-packages");
    for (const fs::path& package : packages)
        for (const auto& entry : fs::directory_iterator(package / "nvidia", error))
            if (const fs::path folder = entry.path() / "lib";
                fs::is_directory(folder, error) && std::find(folders.begin(), folders.end(), folder) == folders.end())
                folders.push_back(folder);
    return folders;
}

}  // namespace lockstep::device
