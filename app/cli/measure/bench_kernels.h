// What `lockstep bench` launches: bundled kernels with their buffers, ready to run as often as wanted.
#pragma once
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/cli.h"
#include "core/base/files.h"
#include "core/ptx/ptx.h"
#include "core/simt/launch.h"

namespace lockstep::cli {

// Rows "functional/..." whose name begins with `wanted`; see bench_functional.cpp.
std::vector<BenchRow> functional_bench(std::string_view wanted);

constexpr uint32_t bench_threads = 256;  // a block's, where a row says nothing else
inline uint32_t bench_parts(int64_t n, int64_t each) {
    return static_cast<uint32_t>((n + each - 1) / each);
}

struct BenchKernel {
    std::shared_ptr<const ptx::Program> program;
    simt::Memory memory{uint64_t{16} << 30};
    simt::LaunchConfig config;

    // `prologue`: PTX that every thread runs first.
    BenchKernel(const std::string& file, const std::string& kernel, simt::Dim3 grid, simt::Dim3 block,
                const std::string& prologue = "") {
        const auto path = resource_root() / "kernels" / "ptx" / file;
        std::string text = read_file(path).value();
        if (!prologue.empty()) text.insert(text.find("\n{", text.find(".entry " + kernel + "(")) + 2, "\n" + prologue);
        program = ptx::decode(ptx::parse(text, path.string()).value(), kernel).value();
        config.grid = grid;
        config.block = block;
        config.parameters.resize(program->parameter_bytes);
    }
    void set(size_t parameter, const void* value, size_t bytes) {
        std::memcpy(config.parameters.data() + program->parameters.at(parameter).offset, value, bytes);
    }
    void integer(size_t parameter, int32_t value) { set(parameter, &value, sizeof value); }
    void buffer(size_t parameter, size_t floats) {
        const uint64_t address = memory.allocate(floats * 4, fmt::format("argument {}", parameter));
        auto* values = reinterpret_cast<float*>(memory.write(address, floats * 4));
        for (size_t i = 0; i < floats; ++i) values[i] = static_cast<float>(i % 97) * 0.01f;
        set(parameter, &address, sizeof address);
    }
};

inline BenchKernel bench_matmul(const std::string& kernel, int n, const std::string& prologue = "") {
    const auto tiles = static_cast<uint32_t>((n + 15) / 16);
    BenchKernel k("matmul.ptx", kernel, {tiles, tiles, 1}, {16, 16, 1}, prologue);
    for (size_t i = 0; i < 3; ++i) k.buffer(i, static_cast<size_t>(n) * static_cast<size_t>(n));
    for (size_t i = 3; i < 6; ++i) k.integer(i, n);
    return k;
}

// A kernel of bench.cu over n floats in and n out, a grid of `blocks` blocks.
inline BenchKernel bench_of_array(const std::string& kernel, int n, uint32_t blocks, uint32_t threads = 256,
                                  const std::string& prologue = "") {
    BenchKernel k("bench.ptx", kernel, {blocks, 1, 1}, {threads, 1, 1}, prologue);
    k.buffer(0, static_cast<size_t>(n));
    k.buffer(1, static_cast<size_t>(n));
    k.integer(2, n);
    return k;
}
// So many loads a thread, 33 floats apart.
inline BenchKernel bench_gather(int n, int loads, uint32_t blocks, uint32_t threads = 256,
                                const std::string& prologue = "") {
    BenchKernel k = bench_of_array("strided_gather_f32", n, blocks, threads, prologue);
    k.integer(3, 33);
    k.integer(4, loads);
    return k;
}

inline void check_bench(const simt::LaunchResult& result) {
    if (result.fault) throw Failure(render(*result.fault));
    if (!result.reports.empty()) throw Failure(render(result.reports[0]));
}

}  // namespace lockstep::cli
