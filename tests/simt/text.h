// Kernels written as PTX in a test: the body between the braces, with parameters of 64 bits and a few registers of each
// type, run functionally.
#pragma once
#include "core/ptx/ptx.h"
#include "tests/simt/support.h"

namespace lockstep::simt::test {

// A kernel `k` with `parameters` parameters (p0, p1 ... of .u64). `before` stands in front of the body: attributes.
inline std::string text_kernel(const std::string& body, int parameters = 1, const std::string& before = "",
                               const std::string& module = "") {
    std::string text = ".version 8.6\n.target sm_90a\n.address_size 64\n" + module + ".visible .entry k(";
    for (int i = 0; i < parameters; ++i) text += (i ? ", " : "") + std::string(".param .u64 p") + std::to_string(i);
    return text + ")\n" + before +
           "{\n.reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<8>;\n" + body +
           "\nret;\n}\n";
}

inline std::shared_ptr<const ptx::Program> text_program(const std::string& text) {
    return ptx::decode(ptx::parse(text, "test.ptx").value(), "k").value();
}

inline LaunchResult run_text(const std::string& text, Dim3 grid, Dim3 block, std::initializer_list<uint64_t> parameters,
                             Memory& memory, const LaunchOptions& options = {}, Dim3 cluster = {}) {
    const auto program = text_program(text);
    LaunchConfig config = config_of(grid, block, parameters);
    config.cluster = cluster;
    if (const auto refused = check_launch(*program, config, {})) throw std::runtime_error(refused->message);
    return launch(*program, config, memory, options);
}

// What decode says of a body that it refuses.
inline std::string refusal_of(const std::string& body) {
    const Result<ptx::Module> module = ptx::parse(text_kernel(body), "test.ptx");
    if (!module.ok()) return module.error().message;
    const auto program = ptx::decode(module.value(), "k");
    return program.ok() ? "" : program.error().message;
}

}  // namespace lockstep::simt::test
