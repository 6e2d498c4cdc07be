// `lockstep compile FILE.cu [-o F.ptx] [--compiler nvrtc|nvcc|clang]`, and the compilers' options that `run` has too.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "app/cli/cli.h"
#include "app/cli/kernel/own_files.h"
#include "app/cli/long_work.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/device/kernels/kernel_library.h"

namespace lockstep::cli {

void add_compiler_options(const Command& command, device::CompileOptions& options) {
    command.add_option("--compiler", options.compiler, "nvrtc, nvcc, clang or ziglang; default: the first found");
    command.add_option("--arch", options.arch,
                       "such as sm_75; default: the lowest the compiler has, for run at least the GPU's");
    command.add_option("-I,--include", options.include, "a folder to look for headers in, behind the file's own")
        .one_value_each();
    command.add_option("-D,--define", options.define, "a macro: N=16").one_value_each();
    command
        .add_option("--compile-seconds", options.seconds,
                    "after which a compiler is ended, and the next one tried; default: 30, for a program 300")
        .between(1.0, 86400.0);
}

device::Compiled compile_with_warnings(const std::string& source, const std::string& file, device::CompileOptions how) {
    std::vector<Diagnostic> messages;
    how.messages = &messages;
    Result<device::Compiled> result = [&] {
        const Patience patience("compiling " + file);
        return device::compile(source, file, how);
    }();
    if (!result && result.error().message.ends_with(" s and was ended")) {
        Diagnostic error = result.error();
        error.message += "; --compile-seconds gives it longer";
        throw Failure(error);
    }
    device::Compiled compiled = std::move(result).value();
    for (const Diagnostic& message : messages) complain(message);
    return compiled;
}

void add_compile(const Command& app, int&) {
    const Command command = app.add_subcommand("compile", "CUDA C++ to PTX, by NVRTC, nvcc or clang");
    struct Options {
        std::string file, output;
        device::CompileOptions how;
    };
    auto options = std::make_shared<Options>();
    command.add_option("FILE", options->file, "CUDA source").required();
    command.add_option("-o,--output", options->output,
                       "PTX file, or - for stdout; default: the source's name with .ptx, in this folder");
    add_compiler_options(command, options->how);
    command.callback([options] {
        const std::string source = read_text(options->file).value();
        const std::string output =
            options->output.empty() ? std::filesystem::path(options->file).stem().string() + ".ptx" : options->output;
        keep_apart({{"", options->file}}, {{"-o", output}});
        check_can_write(output);
        const device::Compiled compiled = compile_with_warnings(source, options->file, options->how);
        if (output == "-") {
            fmt::print("{}", compiled.ptx);
        } else {
            write_file(output, compiled.ptx);
            tell("{}: {} bytes of PTX by {}{}\n", output, compiled.ptx.size(), compiled.compiler,
                 compiled.from_cache ? ", compiled before" : "");
        }
    });
}

}  // namespace lockstep::cli
