// Every bundled kernel on the plain SM and on the fast one: they have to agree in every cycle of every warp.
#include <cstring>

#include "core/device/arguments.h"
#include "core/device/kernels/kernel_cases.h"
#include "tests/catch.h"
#include "tests/model/side_by_side.h"

namespace device_plain_sm_test {

using namespace lockstep;
using namespace lockstep::device;
using namespace lockstep::device::kernel_cases;

namespace {

model::test::Launch launch_of(const ptx::Program& program, const KernelCase& kernel_case) {
    model::test::Launch it;
    std::vector<Argument> arguments = kernel_case.arguments;
    for (const Buffer& buffer : kernel_case.buffers) {
        const auto bytes = bytes_of(buffer);
        const uint64_t address = it.memory.allocate(bytes.size(), "buffer");
        std::memcpy(it.memory.write(address, bytes.size()), bytes.data(), bytes.size());
        it.buffers.push_back({address, bytes.size()});
    }
    for (Argument& argument : arguments)
        if (const auto* index = std::get_if<Pointer>(&argument)) argument = Pointer{it.buffers[index->address].first};
    it.config = {kernel_case.grid, kernel_case.block, 0, pack(program, arguments)};
    return it;
}

}  // namespace

TEST_CASE("the plain SM and the fast one agree in every cycle of every bundled kernel") {
    const char* const gpus[] = {"teaching:2", "p100", "v100", "a100", "h100", "rtx4090"};
    size_t number = 0;
    for (const KernelRow& row : kernels()) {
        const model::GpuSpec gpu = model::gpu_named(gpus[number++ % std::size(gpus)]).value();
        const KernelCase kernel_case = case_of(row, {17, 33, 19}, number);
        const auto program = program_of(row.name);
        INFO(row.name << " on " << gpu.name);
        CHECK(model::test::difference(gpu, *program, launch_of(*program, kernel_case)) == "");
    }
}

}  // namespace device_plain_sm_test
