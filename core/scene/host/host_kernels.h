// The kernels that a host program launches, or runs on the host. Internal to core/scene.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/scene/host/host_program.h"

namespace lockstep::scene {

struct HostKernel {
    std::shared_ptr<const ptx::Program> program;
    std::string source;
    std::vector<bool> read_only;  // by parameter: a pointer to const
};
// By name. Throws Failure where none of the program's files has one of them.
std::map<std::string, HostKernel> load_host_kernels(const HostText& text, const std::filesystem::path& folder);

[[noreturn]] void fail_in(const HostText& text, const HostStatement& s, std::string message);

}  // namespace lockstep::scene
