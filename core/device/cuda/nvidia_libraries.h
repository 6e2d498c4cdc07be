// Where NVIDIA's libraries lie beside the loader's path: the toolkit's folders, and what pip puts beside PyTorch
// (site-packages/nvidia/*/lib of the Python on the PATH, of a virtual environment, of conda, of the user).
#pragma once
#include <filesystem>
#include <vector>

namespace lockstep::device {

std::vector<std::filesystem::path> nvidia_library_folders();

}  // namespace lockstep::device
