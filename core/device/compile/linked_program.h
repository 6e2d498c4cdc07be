// Programs whose device code lies in several files (-rdc=true). Each object keeps its own PTX, and core/runtime links them
// when the program starts; here is what links the host's side, and what finds out beforehand whether the PTX fits together.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"

namespace lockstep::device {

struct DeviceObject {
    std::string source;  // as people know it
    std::filesystem::path object;
};

// What is wrong with the device code of all of them together, in a sentence with the names of the files.
std::optional<Diagnostic> check_linked(const std::vector<DeviceObject>& objects, uint32_t compute);

// A C++ source that takes the place of nvcc's link stub (crt/link.stub): each object calls a function of its own name at the
// program's start, which hands over its kernels and variables. "": the objects have none.
std::string link_stub(const std::vector<DeviceObject>& objects);

}  // namespace lockstep::device
