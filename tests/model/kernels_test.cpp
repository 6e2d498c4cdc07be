// The bundled kernels on every modelled GPU: the timed run computes what the functional run computes, bit for bit, and the
// counters are what counting by hand gives.
#include <cstring>
#include <memory>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace model_kernels_test {

using namespace lockstep;
using namespace lockstep::model;

namespace {

struct Kernel {
    std::shared_ptr<const ptx::Program> program;
    simt::LaunchConfig config;
    simt::Memory memory;
    std::vector<std::pair<uint64_t, size_t>> buffers;

    // `parameters`, in order: 'f' a buffer of random floats, 'z' one of zeros, an 'i' the next of `integers`, an 's' a
    // scalar.
    Kernel(const std::string& file, const std::string& name, simt::Dim3 grid, simt::Dim3 block, std::string_view parameters,
           std::vector<int32_t> integers, size_t floats, const std::string& folder = "/kernels/ptx/") {
        const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + folder + file + ".ptx";
        program = ptx::decode(ptx::parse(read_file(path).value(), path).value(), name).value();
        config.grid = grid, config.block = block;
        config.parameters.resize(program->parameter_bytes);
        Rng rng(1);
        for (size_t i = 0, integer = 0; i < parameters.size(); ++i) {
            std::byte* const to = config.parameters.data() + program->parameters.at(i).offset;
            const float scalar = 0.125f;
            if (parameters[i] == 'i') std::memcpy(to, &integers.at(integer++), 4);
            if (parameters[i] == 's') std::memcpy(to, &scalar, 4);
            if (parameters[i] != 'f' && parameters[i] != 'z') continue;
            const uint64_t address = memory.allocate(floats * 4, "buffer");
            auto* values = reinterpret_cast<float*>(memory.write(address, floats * 4));
            for (size_t k = 0; k < floats; ++k)
                values[k] = parameters[i] == 'f' ? static_cast<float>(rng.uniform(-1, 1)) : 0.0f;
            std::memcpy(to, &address, 8);
            buffers.push_back({address, floats * 4});
        }
    }
    std::vector<std::byte> contents(const simt::Memory& of) const {
        std::vector<std::byte> all;
        for (const auto& [address, bytes] : buffers) {
            const std::byte* data = of.read(address, bytes);
            all.insert(all.end(), data, data + bytes);
        }
        return all;
    }
    TimedResult run(std::string_view gpu) { return model::launch(gpu_named(gpu).value(), *program, config, memory); }
};

std::vector<Kernel> bundled() {
    std::vector<Kernel> kernels;
    for (const char* name : {"matmul_nn_f32", "matmul_nt_f32", "matmul_tn_f32", "matmul_naive_f32"})
        kernels.emplace_back("matmul", name, simt::Dim3{3, 3}, simt::Dim3{16, 16}, "ffziii",
                             std::vector<int32_t>{33, 40, 25}, 2048);
    const simt::Dim3 four{4}, threads{128};
    kernels.emplace_back("bench", "vector_add_f32", four, threads, "ffzi", std::vector<int32_t>{500}, 512);
    kernels.emplace_back("bench", "strided_gather_f32", four, threads, "fziii", std::vector<int32_t>{512, 33, 5}, 512);
    kernels.emplace_back("bench", "divergent_f32", four, threads, "fzi", std::vector<int32_t>{490}, 512);
    kernels.emplace_back("bias", "add_bias_f32", four, threads, "ffzii", std::vector<int32_t>{10, 50}, 512);
    kernels.emplace_back("bias", "bias_grad_f32", simt::Dim3{2}, simt::Dim3{32, 8}, "fzii", std::vector<int32_t>{10, 50},
                         512);
    kernels.emplace_back("fill", "accumulate_f32", four, threads, "ffi", std::vector<int32_t>{500}, 512);
    kernels.emplace_back("mse", "mse_f32", four, threads, "ffzi", std::vector<int32_t>{500}, 512);
    kernels.emplace_back("relu", "relu_backward_f32", four, threads, "ffzi", std::vector<int32_t>{500}, 512);
    kernels.emplace_back("sgd", "sgd_f32", four, threads, "ffsi", std::vector<int32_t>{500}, 512);
    kernels.emplace_back("reduce", "reduce_sum_f32", simt::Dim3{1}, simt::Dim3{256}, "fzi", std::vector<int32_t>{500}, 512);
    kernels.emplace_back("reduce", "reduce_mean_f32", simt::Dim3{1}, simt::Dim3{256}, "fzi", std::vector<int32_t>{500}, 512);
    return kernels;
}

}  // namespace

TEST_CASE("every bundled kernel on every GPU computes the functional run's bits, faster on no GPU than its issues allow") {
    for (Kernel& kernel : bundled()) {
        simt::Memory functional = kernel.memory;
        const simt::LaunchResult expected = simt::launch(*kernel.program, kernel.config, functional);
        if (expected.fault) FAIL(render(*expected.fault));
        for (const GpuSpec& gpu : gpus()) {
            INFO(kernel.program->kernel << " on " << gpu.name);
            REQUIRE_FALSE(simt::check_launch(*kernel.program, kernel.config, limits_of(gpu)));
            simt::Memory memory = kernel.memory;
            const TimedResult got = model::launch(gpu, *kernel.program, kernel.config, memory);
            REQUIRE_FALSE(got.fault);
            CHECK(kernel.contents(memory) == kernel.contents(functional));
            CHECK(got.warp_instructions == expected.warp_instructions);
            CHECK(got.thread_instructions == expected.thread_instructions);
            const auto slots = static_cast<double>(uint64_t{gpu.sms} * gpu.sub_cores * gpu.issue_width);
            CHECK(static_cast<double>(got.cycles) >= static_cast<double>(got.warp_instructions) / slots);
            CHECK(got.cycles > gpu.dram_latency);  // each of them loads something first
        }
    }
}

TEST_CASE("a streaming kernel is bound by DRAM and its loads touch four sectors each") {
    Kernel kernel("bench", "vector_add_f32", {4096}, {256}, "ffzi", {1 << 20}, 1 << 20);
    const TimedResult result = kernel.run("v100");
    CHECK(metric_of(*kernel.program, result, "sectors_per_request").value() == 4);
    CHECK(metric_of(*kernel.program, result, "sectors_per_request@line:8").value() == 4);
    CHECK(metric_of(*kernel.program, result, "global_load_requests").value() == 2 * (1 << 20) / 32);
    CHECK(metric_of(*kernel.program, result, "dram_read_bytes").value() == 8 * (1 << 20));
    CHECK(metric_of(*kernel.program, result, "l1_hit_rate").value() == 0);
    const double used = metric_of(*kernel.program, result, "dram_utilization").value();
    CHECK(used > 78);
    CHECK(used <= 100);
}

TEST_CASE("kernels that reduce a row between reading and writing it take little longer than a copy of it") {
    const int32_t rows = 1024, columns = 2048;
    const auto cycles = [&](const std::string& name, std::string_view parameters, const std::vector<int32_t>& integers) {
        return Kernel("rows", name, {8 * 80}, {256}, parameters, integers, size_t(rows) * columns, "/kernels/top/ptx/")
            .run("v100")
            .cycles;
    };
    const auto copy = static_cast<double>(cycles("copy_vectors", "fzi", {rows * columns / 4}));
    const std::vector<int32_t> shape{rows, columns};
    const std::pair<const char*, std::string_view> kernels[] = {
        {"rms_norm_block_f32", "ffziis"}, {"softmax_block_f32", "fzii"}, {"layer_norm_block_f32", "fffziis"}};
    for (const auto& [name, parameters] : kernels) {
        INFO(name << " beside a copy's " << copy << " cycles");
        CHECK(static_cast<double>(cycles(name, parameters, shape)) < 1.1 * copy);
    }
}

TEST_CASE("a stride of 33 floats makes a request touch 32 sectors") {
    Kernel kernel("bench", "strided_gather_f32", {8}, {256}, "fziii", {1 << 16, 33, 4}, 1 << 16);
    const TimedResult result = kernel.run("v100");
    CHECK(metric_of(*kernel.program, result, "sectors_per_request").value() == 32);
    CHECK(metric_of(*kernel.program, result, "sectors_per_store_request").value() == 4);
}

TEST_CASE("divergent lanes show in the lanes an issue, uniform ones do not") {
    Kernel divergent("bench", "divergent_f32", {8}, {256}, "fzi", {2048}, 2048);
    const TimedResult split = divergent.run("v100");
    CHECK(metric_of(*divergent.program, split, "divergent_branches").value() > 0);
    CHECK(metric_of(*divergent.program, split, "lanes_per_issue").value() < 25);
    Kernel uniform("bench", "vector_add_f32", {8}, {256}, "ffzi", {2048}, 2048);
    const TimedResult whole = uniform.run("v100");
    CHECK(metric_of(*uniform.program, whole, "lanes_per_issue").value() == 32);
    CHECK(metric_of(*uniform.program, whole, "branch_efficiency").value() == 100);
}

TEST_CASE("a launch that would take more memory than a computer has is refused in a sentence") {
    Kernel kernel("bench", "vector_add_f32", {100000}, {1024}, "ffzi", {512}, 512);
    ptx::Program hungry = *kernel.program;
    hungry.local_bytes = 512 * 1024;
    const TimedResult result = model::launch(gpu_named("v100").value(), hungry, kernel.config, kernel.memory);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "memory");
    CHECK(result.cycles == 0);
}

}  // namespace model_kernels_test
