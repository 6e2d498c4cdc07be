// Sources to programs.
#include <fmt/format.h>

#include <filesystem>

#include "core/api/api.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_source.h"

namespace lockstep::api {

namespace {

bool is_ptx(const std::string& file) {
    return std::filesystem::path(file).extension() == ".ptx";
}

std::string ptx_of(const Source& source, int generation, std::string* compiler, std::vector<Diagnostic>* messages) {
    if (is_ptx(source.file)) return source.text;
    device::CompileOptions how;
    how.compiler = source.compiler;
    how.arch = source.arch;
    how.least_arch = generation;
    how.include = source.include;
    how.define = source.define;
    how.messages = messages;
    device::Compiled compiled = device::compile(source.text, source.file, how).value();
    if (compiler) *compiler = compiled.compiler;
    return std::move(compiled.ptx);
}

std::string ptx_name(const Source& source) {
    return is_ptx(source.file) ? source.file : source.file + ".ptx";
}

int generation_of(const std::string& gpu) {
    return static_cast<int>(model::gpu_named(gpu).value().compute.number);
}

}  // namespace

Kernel::Kernel(Source source) : source_(std::move(source)), is_ptx_(is_ptx(source_.file)) {
    first_ = compiled_for(generation_of(source_.gpu));
}

const std::string& Kernel::text() const {
    return is_ptx_ ? source_.source_text : source_.text;
}

std::shared_ptr<const ptx::Program> Kernel::compiled_for(int generation) const {
    const std::string ptx = ptx_of(source_, generation, &compiler_, &warnings_);
    auto program = ptx::decode(ptx::parse(ptx, ptx_name(source_)).value(), source_.kernel);
    if (!program) throw Failure(is_ptx_ ? program.error() : device::in_source(program.error(), source_.text, source_.file));
    return program.value();
}

std::shared_ptr<const ptx::Program> Kernel::program_for(const model::GpuSpec& gpu) const {
    const auto generation = static_cast<int>(gpu.compute.number);
    if (is_ptx_ || !source_.arch.empty() || generation == generation_of(source_.gpu)) return first_;
    const std::lock_guard lock(mutex_);
    auto& program = compiled_[generation];
    if (!program) program = compiled_for(generation);
    return program;
}

std::vector<Parameter> Kernel::parameters() const {
    const std::vector<std::string> names =
        source_.names.empty() ? scene::parameter_names(text(), first_->kernel) : source_.names;
    const std::vector<std::string> declarations = scene::parameter_declarations(text(), first_->kernel);
    std::vector<Parameter> found;
    for (size_t i = 0; i < first_->parameters.size(); ++i) {
        const ptx::Parameter& p = first_->parameters[i];
        Parameter one;
        one.name = names.size() == first_->parameters.size() ? names[i] : fmt::format("argument {}", i + 1);
        if (declarations.size() == first_->parameters.size()) one.declaration = declarations[i];
        one.type = p.type == ptx::Type::none ? "" : std::string(ptx::name_of(p.type));
        one.bytes = p.bytes;
        one.pointer = p.pointer;
        found.push_back(std::move(one));
    }
    return found;
}

std::vector<std::string> kernels_in(const Source& source) {
    const std::string ptx = ptx_of(source, generation_of(source.gpu), nullptr, nullptr);
    std::vector<std::string> names;
    for (const std::string& entry : ptx::entries(ptx::parse(ptx, ptx_name(source)).value()))
        names.push_back(ptx::readable_name(entry));
    return names;
}

}  // namespace lockstep::api
