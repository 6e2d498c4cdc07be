// Files are read whole or not at all: a damaged one is a sentence in `problems`, and the others are there all the same.
#include "app/silicon/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "app/silicon/compare/compare.h"
#include "core/base/files.h"
#include "core/device/arguments.h"
#include "core/device/kernels/kernel_library.h"

namespace lockstep::device {
namespace {

constexpr size_t largest_measured = size_t{16} << 20, most_measured = 64;

// PTX of two instructions: the same but for the number of the function in a label, $L__BB0_2.
bool same_text(std::string_view a, std::string_view b) {
    static constexpr std::string_view label = "$L__BB";
    const auto skip_number = [](std::string_view& text) {
        text.remove_prefix(label.size());
        while (!text.empty() && text[0] >= '0' && text[0] <= '9') text.remove_prefix(1);
    };
    for (;;) {
        const size_t at = a.find(label);
        if (at == std::string_view::npos || !b.substr(std::min(at, b.size())).starts_with(label)) return a == b;
        if (a.substr(0, at) != b.substr(0, at)) return false;
        a.remove_prefix(at), b.remove_prefix(at);
        skip_number(a), skip_number(b);
    }
}

// Whether two compilers, or the same one twice, made the same instructions.
bool same_instructions(const ptx::Program& a, const ptx::Program& b) {
    if (&a == &b) return true;
    if (a.texts.size() != b.texts.size() || a.texts.size() != a.instructions.size()) return false;
    const auto text = [](const ptx::Program& program, size_t pc) {
        const ptx::TextRange& range = program.texts[pc];
        return std::string_view(program.ptx).substr(std::min<size_t>(range.begin, program.ptx.size()), range.length);
    };
    for (size_t pc = 0; pc < a.texts.size(); ++pc)
        if (!same_text(text(a, pc), text(b, pc))) return false;
    return true;
}

// Whether the parameter blocks are the same but for addresses.
bool same_numbers(const ptx::Program& program, const PackRow& row, std::span<const std::byte> parameters) {
    std::vector<Argument> arguments;
    for (const PackArgument& argument : row.arguments)
        if (argument.kind == PackArgument::Kind::whole)
            arguments.emplace_back(static_cast<int32_t>(argument.count));
        else if (argument.kind == PackArgument::Kind::real)
            arguments.emplace_back(static_cast<float>(argument.high));
        else
            arguments.emplace_back(Pointer{});
    if (arguments.size() != program.parameters.size()) return false;
    const std::vector<std::byte> wanted = pack(program, arguments);
    if (wanted.size() != parameters.size()) return false;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (std::holds_alternative<Pointer>(arguments[i])) continue;
        const ptx::Parameter& parameter = program.parameters[i];
        if (std::memcmp(wanted.data() + parameter.offset, parameters.data() + parameter.offset, parameter.bytes) != 0)
            return false;
    }
    return true;
}

}  // namespace

std::string MeasuredGpu::badge() const {
    const std::string_view how = file.made_up    ? "made up, not measured: as if on"
                                 : file.modelled ? "not measured, simulated: as if on"
                                                 : "measured on";
    return fmt::format("{} {}, driver {}{}", how, file.gpu, file.driver, file.date.empty() ? "" : ", " + file.date);
}

const MeasuredGpu* MeasuredStore::of_model(std::string_view model) const {
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const MeasuredGpu& gpu) { return gpu.model == model; });
    return found == gpus.end() || model.empty() ? nullptr : &*found;
}

std::optional<MeasuredKernel> MeasuredStore::find(const ptx::Program& program, const simt::LaunchConfig& config,
                                                  std::string_view model) const {
    const MeasuredGpu* const gpu = of_model(model);
    const SiliconPart* const kernels = gpu ? gpu->file.part("kernels") : nullptr;
    const PackRow* const row = kernels ? pack_row_of(program, config) : nullptr;
    if (!row) return std::nullopt;
    for (const SiliconKernel& kernel : kernels->kernels)
        if (kernel.name == row->name && kernel.grid == config.grid && kernel.block == config.block)
            return MeasuredKernel{gpu, &kernel, std::max(kernel.time_us - event_time_us(gpu->file), kernel.time_us / 4)};
    return std::nullopt;
}

std::vector<const SiliconTraining*> MeasuredStore::trainings(std::string_view network, int64_t batch,
                                                             std::string_view model) const {
    std::vector<const SiliconTraining*> found;
    const MeasuredGpu* const gpu = of_model(model);
    const SiliconPart* const part = gpu ? gpu->file.part("training") : nullptr;
    if (part)
        for (const SiliconTraining& training : part->trainings)
            if (training.batch == batch && training.name.starts_with(network) && training.name.size() > network.size() &&
                training.name[network.size()] == ' ')
                found.push_back(&training);
    return found;
}

std::filesystem::path measured_folder() {
    const char* const own = std::getenv("LOCKSTEP_SILICON");
    return own != nullptr && *own != 0 ? std::filesystem::path(own) : resource_root() / "assets" / "silicon";
}

Result<MeasuredGpu> read_measured_file(const std::filesystem::path& path) {
    const auto text = read_file(path, largest_measured);
    if (!text) return text.error();
    auto file = parse_silicon(text.value(), path.string());
    if (!file) return file.error();
    const std::string model = model_of(file.value().gpu).value_or("");
    return MeasuredGpu{path, std::move(file.value()), model};
}

MeasuredStore read_measured(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (auto it = std::filesystem::directory_iterator(folder, error); !error && it != std::filesystem::directory_iterator();
         it.increment(error))
        if (it->path().extension() == ".json" && files.size() < most_measured) files.push_back(it->path());
    std::sort(files.begin(), files.end());
    MeasuredStore store;
    for (const auto& path : files) {
        auto gpu = read_measured_file(path);
        if (gpu)
            store.gpus.push_back(std::move(gpu.value()));
        else
            store.problems.push_back(gpu.error());
    }
    return store;
}

double event_time_us(const SiliconFile& file) {
    if (const SiliconPart* const launch = file.part("launch"))
        for (const SiliconFigure& figure : launch->figures)
            if (figure.name == empty_kernel_figure && figure.unit == "us") return figure.value;
    return 0;
}

const PackRow* pack_row_of(const ptx::Program& program, const simt::LaunchConfig& config, std::span<const PackRow> rows) {
    for (const PackRow& row : rows) {
        if (row.kernel != program.kernel || row.grid != config.grid || row.block != config.block ||
            config.dynamic_shared != 0)
            continue;
        const GeneratedKernel* const own = pack_program(row.file, row.kernel);
        const auto known = own ? own->program : program_of(row.kernel);
        if (known && same_instructions(*known, program) && same_numbers(program, row, config.parameters)) return &row;
    }
    return nullptr;
}

}  // namespace lockstep::device
