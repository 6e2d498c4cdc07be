// What ptxas says of local memory: spills, or arrays.
#include "core/device/compile/ptxas.h"

#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace device_ptxas_test {

using namespace lockstep;
using Catch::Matchers::Contains;

TEST_CASE("local memory is of spills, of arrays, or of both") {
    CHECK(device::local_memory_text({64, "sm_75", 0, 0, 0}).empty());
    CHECK_THAT(device::local_memory_text({64, "sm_75", 128, 0, 0}),
               Contains("128 bytes a thread") && Contains("nothing is spilled"));
    CHECK_THAT(device::local_memory_text({32, "sm_80", 368, 684, 720}),
               Contains("684 bytes of stores and 720 of loads") && Contains("more values at a time than 32 registers hold"));
    CHECK_THAT(device::local_memory_text({32, "sm_80", 500, 96, 108}), Contains("the rest of its stack is for arrays"));
}

TEST_CASE("ptxas, where there is one, tells the spills of a kernel with too many values") {
    const auto told = [](const std::string& name, const std::string& kernel) {
        const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/findings/ptx/" + name;
        return device::ptxas_registers(*ptx::decode(ptx::parse(read_text(path).value(), path).value(), kernel).value(),
                                       "8.0");
    };
    try {
        const device::PtxasRegisters spills = told("too_many_values.ptx", "polynomial");
        CHECK(spills.spill_stores > 0);
        CHECK(spills.spill_loads > 0);
        const device::PtxasRegisters array = told("array_by_index.ptx", "digits");
        CHECK(array.spill_stores == 0);
        CHECK(array.stack >= 64);
    } catch (const Failure& failure) {
        CHECK(failure.status == ExitStatus::missing);
    }
}

}  // namespace device_ptxas_test
