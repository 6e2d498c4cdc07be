// Programs and sources of the bundled kernels, each file read and decoded once a process, when first asked for.
#include <map>
#include <mutex>

#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"

namespace lockstep::device {

namespace {
struct SharedPrograms {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const ptx::Program>, std::less<>> programs;  // by kernel
    std::map<std::string, std::string, std::less<>> sources;                           // by file
};
SharedPrograms& shared_programs() {
    static SharedPrograms instance;
    return instance;
}
}  // namespace

std::shared_ptr<const ptx::Program> program_of(std::string_view kernel) {
    const KernelRow& row = kernel_named(kernel);
    SharedPrograms& it = shared_programs();
    const std::lock_guard lock(it.mutex);
    const auto found = it.programs.find(kernel);
    if (found != it.programs.end()) return found->second;

    const std::string file = "kernels/ptx/" + std::string(row.file.substr(0, row.file.rfind('.'))) + ".ptx";
    const ptx::Module module = ptx::parse(read_file(resource_root() / file).value(), file).value();
    for (const KernelRow& other : kernels())
        if (other.file == row.file) it.programs.emplace(other.name, ptx::decode(module, std::string(other.name)).value());
    return it.programs.find(kernel)->second;
}

const std::string& source_of(std::string_view kernel) {
    const KernelRow& row = kernel_named(kernel);
    SharedPrograms& it = shared_programs();
    const std::lock_guard lock(it.mutex);
    const auto found = it.sources.find(row.file);
    if (found != it.sources.end()) return found->second;
    return it.sources.emplace(row.file, read_file(resource_root() / "kernels" / row.file).value()).first->second;
}

}  // namespace lockstep::device
