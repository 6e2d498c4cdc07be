// Launches for tests of verdicts: a kernel of a checked-in PTX with buffers of its kind, and what a verdict says of it.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/model/advice/verdict.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/support.h"

namespace lockstep::model::test {

inline std::shared_ptr<const ptx::Program> program_at(const std::string& file, const std::string& name) {
    const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + file;
    return ptx::decode(ptx::parse(read_text(path).value(), path).value(), name).value();
}

// `parameters`, in order: 'f' a buffer of `words` floats, 'u' one of bytes, 'z' one of zeros, 'i' the next of `integers`.
inline KernelRun run_of(const std::string& gpu_name, std::shared_ptr<const ptx::Program> program, simt::Dim3 grid,
                        simt::Dim3 block, std::string_view parameters, const std::vector<int32_t>& integers, size_t words) {
    KernelRun run;
    run.gpu = gpu(gpu_name);
    run.program = std::move(program);
    run.config.grid = grid, run.config.block = block;
    run.config.parameters.resize(run.program->parameter_bytes);
    simt::Memory memory;
    for (size_t i = 0, integer = 0; i < parameters.size(); ++i) {
        std::byte* const to = run.config.parameters.data() + run.program->parameters.at(i).offset;
        if (parameters[i] == 'i') {
            std::memcpy(to, &integers.at(integer++), 4);
            continue;
        }
        const uint64_t address = memory.allocate(words * 4, "buffer");
        std::byte* const values = memory.write(address, words * 4);
        for (size_t k = 0; k < words && parameters[i] == 'f'; ++k) {
            const float real = static_cast<float>(k % 97) * 0.01f;
            std::memcpy(values + 4 * k, &real, 4);
        }
        for (size_t k = 0; k < 4 * words && parameters[i] == 'u'; ++k)
            values[k] = static_cast<std::byte>((k * 2654435761u) >> 13);
        std::memcpy(to, &address, 8);
    }
    run.before = std::make_shared<simt::Memory>(memory);
    TimedOptions options;
    options.trace = false;
    run.result = launch(run.gpu, *run.program, run.config, memory, options);
    if (run.result.fault) FAIL(simt::render(*run.result.fault));
    const std::string source = std::string(LOCKSTEP_SOURCE_DIR) + "/" + run.program->source_file;
    if (!run.program->source_file.empty()) run.source = read_text(source).value();
    return run;
}

inline const Finding* finding_of(const Verdict& verdict, std::string_view rule) {
    for (const Finding& finding : verdict.findings)
        if (finding.rule == rule) return &finding;
    return nullptr;
}

inline double saved(const KernelRun& slow, const KernelRun& mended) {
    return 1 - static_cast<double>(mended.result.cycles) / static_cast<double>(slow.result.cycles);
}

}  // namespace lockstep::model::test
