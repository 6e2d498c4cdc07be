// `lockstep compile FILE.cu [-o F.ptx] [--compiler nvrtc|nvcc|clang]`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "app/cli/cli.h"
#include "core/base/files.h"
#include "core/device/kernel_library.h"

namespace lockstep::cli {

void add_compile(CLI::App& app, int&) {
    CLI::App* command = app.add_subcommand("compile", "CUDA C++ to PTX, by NVRTC, nvcc or clang");
    struct Options {
        std::string file, output, compiler, arch;
    };
    auto options = std::make_shared<Options>();
    command->add_option("FILE", options->file, "CUDA source")->required();
    command->add_option("-o,--output", options->output,
                        "PTX file, or - for stdout; default: the source's name with .ptx, in this folder");
    command->add_option("--compiler", options->compiler, "nvrtc, nvcc or clang; default: the first found");
    command->add_option("--arch", options->arch, "such as sm_75; default: the lowest the compiler has");
    command->callback([options] {
        const std::string source = read_file(options->file).value();
        const device::Compiled compiled = device::compile(source, options->file, {options->compiler, options->arch}).value();
        if (!compiled.log.empty()) fmt::print(stderr, "{}\n", compiled.log);
        const std::string output =
            options->output.empty() ? std::filesystem::path(options->file).stem().string() + ".ptx" : options->output;
        if (output == "-") {
            fmt::print("{}", compiled.ptx);
        } else {
            write_file(output, compiled.ptx);
            fmt::print(stderr, "{}: {} bytes of PTX by {}\n", output, compiled.ptx.size(), compiled.compiler);
        }
    });
}

}  // namespace lockstep::cli
