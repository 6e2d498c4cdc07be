// Golden traces: small enough to read in a review. A change of the model shows here as changed lines of text.
#include "tests/golden.h"

#include <cstring>
#include <filesystem>

#include "core/base/files.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "core/trace/text.h"

namespace model_golden_test {

using namespace lockstep;

namespace {
std::string trace_of(const std::string& gpu, const std::string& file, const std::string& kernel, simt::Dim3 grid,
                     simt::Dim3 block, int n) {
    const auto path = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "kernels" / "ptx" / file;
    const auto program = ptx::decode(ptx::parse(read_file(path).value(), file).value(), kernel).value();
    simt::Memory memory;
    simt::LaunchConfig config;
    config.grid = grid;
    config.block = block;
    config.parameters.resize(program->parameter_bytes);
    for (const ptx::Parameter& parameter : program->parameters) {
        uint64_t value = static_cast<uint64_t>(n);
        if (parameter.bytes == 8) value = memory.allocate(static_cast<uint64_t>(n) * 4, parameter.name);
        std::memcpy(config.parameters.data() + parameter.offset, &value, parameter.bytes);
    }
    const model::TimedResult result = model::launch(model::gpu_named(gpu).value(), *program, config, memory);
    REQUIRE_FALSE(result.fault);
    std::string text = "cycles " + std::to_string(result.cycles) + "\n" + format_text(result.trace);
    for (uint32_t pc = 0; pc < program->instructions.size(); ++pc)
        text += "pc " + std::to_string(pc) + " " + ptx::text_of(*program, pc) + "\n";
    return text;
}
}  // namespace

TEST_CASE("relu of 48 floats in two blocks on the teaching GPU") {
    check_golden("relu_teaching.txt", trace_of("teaching:2", "relu.ptx", "relu_f32", {2, 1, 1}, {32, 1, 1}, 48));
}

TEST_CASE("one warp of vector add on the V100") {
    check_golden("vector_add_v100.txt", trace_of("v100", "bench.ptx", "vector_add_f32", {1, 1, 1}, {32, 1, 1}, 32));
}

}  // namespace model_golden_test
