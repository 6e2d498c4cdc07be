#include "core/scene/host/host_kernels.h"

#include <optional>
#include <string_view>

#include "core/base/files.h"
#include "core/device/compile/source_tokens.h"
#include "core/scene/arguments/kernel_source.h"
#include "core/scene/run.h"

namespace lockstep::scene {
namespace {

// Whether what is declared points to something const: "const float *x", "float const *const x", not "float *const x".
bool points_to_const(std::string_view declaration) {
    declaration = declaration.substr(0, declaration.find('='));
    const size_t star = declaration.rfind('*'), bracket = declaration.find('[');
    const bool array = bracket != std::string_view::npos && declaration.find('(') == std::string_view::npos;
    if (!array && star == std::string_view::npos) return false;
    const std::string_view pointee = declaration.substr(0, array ? bracket : star);
    const size_t inner = pointee.rfind('*');  // of a pointer to pointers, which are const or not themselves
    return device::has_name(inner == std::string_view::npos ? pointee : pointee.substr(inner + 1), "const");
}

}  // namespace

void fail_in(const HostText& text, const HostStatement& s, std::string message) {
    throw Failure(Diagnostic{std::move(message), {text.file, s.line, 1}, line_of(text.text, s.line)});
}

std::map<std::string, HostKernel> load_host_kernels(const HostText& text, const std::filesystem::path& folder) {
    std::map<std::string, HostKernel> kernels;
    for (const HostStatement& s : text.statements) {
        if (s.kernel.empty() || kernels.count(s.kernel)) continue;
        if (text.kernel_files.empty()) fail_in(text, s, "no file of kernels is named: a line 'kernels FILE.cu' is missing");
        std::optional<Diagnostic> problem;
        for (const std::string& file : text.kernel_files) {
            Result<std::shared_ptr<const ptx::Program>> program = load_kernel(folder, file, s.kernel);
            if (!program) {
                problem = program.error();
                continue;
            }
            HostKernel kernel;
            kernel.program = program.value();
            if (Result<std::string> source = read_file(folder / file, 1 << 20)) kernel.source = source.value();
            for (const std::string& declaration : parameter_declarations(kernel.source, s.kernel))
                kernel.read_only.push_back(points_to_const(declaration));
            kernels[s.kernel] = std::move(kernel);
            problem.reset();
            break;
        }
        if (problem) fail_in(text, s, problem->message);
    }
    return kernels;
}

}  // namespace lockstep::scene
