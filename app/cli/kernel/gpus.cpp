// `lockstep gpus [NAME]`, `lockstep gpus new FILE`, `lockstep occupancy`, `lockstep devices`: what can be run on, every
// figure with its source.
#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/kernel/area_text.h"
#include "core/base/files.h"
#include "core/device/device.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/gpus/gpu_file.h"

namespace lockstep::cli {
namespace {

void print_table() {
    fmt::print("{:<11} {:<22} {:>4} {:>5} {:>9} {:>9} {:>7} {:>8} {:>9} {:>9} {:>9}\n", "name", "GPU", "cc", "SMs",
               "warps/SM", "shared/SM", "L2 MB", "MHz", "DRAM GB/s", "FP32 TF", "FP16 TF");
    for (const model::GpuSpec& gpu : model::gpus())
        fmt::print("{:<11} {:<22} {:>4} {:>5} {:>9} {:>6} KB {:>7.2f} {:>8.0f} {:>9.0f} {:>9} {:>9}\n", gpu.name, gpu.title,
                   gpu.compute.text(), gpu.sms.value, gpu.warps_per_sm.value, gpu.shared_per_sm.value / 1024,
                   gpu.l2_bytes.value / 1048576.0, gpu.boost_mhz.value, gpu.dram_gb_per_second.value,
                   gpu.fp32_tflops.value > 0 ? fmt::format("{:.1f}", gpu.fp32_tflops.value) : "-",
                   gpu.fp16_tensor_tflops.value > 0 ? fmt::format("{:.0f}", gpu.fp16_tensor_tflops.value) : "-");
    fmt::print(
        "\n'lockstep gpus NAME' gives every figure of one with its source; teaching:N sets its number of SMs.\n"
        "'lockstep gpus new mine.toml --from h100' writes a file for one of your own, which every --gpu takes.\n");
}

void print_gpu(const model::GpuSpec& g) {
    fmt::print("{} ({}), compute capability {}\n", g.title, g.name, g.compute.text());
    const std::vector<model::SpecFigure> figures = model::figures_of(g);
    for (size_t i = 0; i < figures.size(); ++i) {
        const model::SpecFigure& figure = figures[i];
        std::string label(figure.label), unit(figure.unit), value = fmt::format("{:.10g}", figure.value);
        if (unit == "0 or 1") value = figure.value != 0 ? "yes" : "no", unit.clear();
        if (const size_t colon = label.find(": "); colon != std::string::npos)  // a choice, not a number
            value = label.substr(colon + 2), label.resize(colon);
        for (; i + 1 < figures.size() && figures[i + 1].label == figure.label; ++i)  // one line for all of a choice
            value += fmt::format(", {:.10g}", figures[i + 1].value);
        fmt::print("  {:<46} {:<27} {}\n", label, fmt::format("{:>12} {}", value, unit), figure.source);
    }
}

// The names are those that a file of one's own sets.
nlohmann::ordered_json to_json(const model::GpuSpec& g) {
    nlohmann::ordered_json json = {{"gpu", g.name}, {"title", g.title}, {"compute", g.compute.text()}};
    nlohmann::ordered_json& fields = json["fields"] = nlohmann::ordered_json::object();
    const auto add = [&](std::string_view name, nlohmann::ordered_json value, std::string_view unit, std::string_view label,
                         std::string_view source) {
        fields[std::string(name)] = {{"value", std::move(value)}, {"unit", unit}, {"label", label}, {"source", source}};
    };
    auto sizes = nlohmann::ordered_json::array();
    std::string_view sizes_source = g.shared_carveouts.source;
    for (const model::SpecFigure& figure : model::figures_of(g)) {
        nlohmann::ordered_json value = json_number(figure.value);
        if (const auto [field, unit] = model::field_named(figure.name); field != nullptr && field->whole())
            value = static_cast<uint64_t>(figure.value);
        if (figure.name == "shared_carveouts") {
            sizes.push_back(static_cast<uint64_t>(figure.value));
            continue;
        }
        if (figure.name == "scheduler") value = model::name_of(g.scheduler.value);
        if (figure.name == "dram_kind") {
            std::string kind(model::name_of(g.dram_kind.value));
            for (char& letter : kind) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
            value = kind;
        }
        add(figure.name, std::move(value), figure.unit, figure.label, figure.source);
    }
    add("shared_carveouts", std::move(sizes), "bytes", "shared memory may take", sizes_source);
    add("tensor_fmas", json_number(model::tensor_fmas(g)), "per cycle", "FP16 multiply-adds in a sub-core's tensor cores",
        "fp16_tensor_tflops over SMs, sub-cores and clock");
    return json;
}

struct GpusAsked {
    std::string name, json, process;
    bool area = false;
    std::string file, from = "teaching";  // of `new`
};

void write_new_file(const GpusAsked& asked) {
    if (!model::is_gpu_file(asked.file))
        throw Failure(fmt::format("a GPU's file ends in .toml, as mine.toml does, and '{}' does not", asked.file));
    const model::GpuSpec from = model::gpu_named(asked.from).value();
    if (std::error_code error; std::filesystem::exists(asked.file, error))
        throw Failure(Diagnostic{"there is such a file already, and it stays as it is", {asked.file}});
    std::string inherits(from.name);
    if (model::is_gpu_file(inherits)) inherits = std::filesystem::absolute(inherits).string();
    write_file(asked.file, model::new_gpu_file(from, inherits, model::short_name(asked.file)));
    fmt::print(
        "{} inherits from {}: take the # away in front of what is to be other, then\n"
        "  lockstep gpus {}\n  lockstep run ... --gpu {}\n",
        asked.file, from.title, asked.file, asked.file);
}

}  // namespace

void add_gpus(const Command& app, int&) {
    const Command command = app.add_subcommand("gpus", "the modelled GPUs, every figure with its source");
    auto asked = std::make_shared<GpusAsked>();
    command.add_option("NAME", asked->name, "one GPU in full: a name, or a file of your own, mine.toml");
    command.add_option("--json", asked->json, "write its figures as JSON to this file, - for stdout");
    command.add_flag("--area", asked->area,
                     "estimate its area, power and price instead, part by part, beside dies whose size is published");
    command.add_option("--process", asked->process, "with --area: 16nm, 12nm, 8nm, 7nm, 4nm; else that of its generation");
    const Command fresh = command.add_subcommand("new", "write a file for a GPU of your own");
    fresh.add_option("FILE", asked->file, "the file, mine.toml").required();
    fresh.add_option("--from", asked->from, "the GPU that it inherits from: a name or a file");
    fresh.callback([asked] { write_new_file(*asked); });
    command.callback([asked, command] {
        if (command.has_subcommand()) return;
        if (asked->name.empty()) {
            if (!asked->json.empty() || asked->area)
                throw Failure("--json and --area are for one GPU: lockstep gpus NAME --area");
            return print_table();
        }
        const model::GpuSpec gpu = model::gpu_named(asked->name).value();
        if (!asked->process.empty() && !asked->area) throw Failure("--process is for --area");
        if (asked->area) {
            const model::AreaEstimate area = model::area_of(gpu, process_asked(asked->process));
            if (!asked->json.empty()) write_json(area_json(gpu, area), asked->json);
            if (asked->json != "-") fmt::print("{}", area_text(gpu, area));
            return;
        }
        if (!asked->json.empty()) write_json(to_json(gpu), asked->json);
        if (asked->json != "-") print_gpu(gpu);
    });
}

void add_occupancy(const Command& app, int&) {
    const Command command = app.add_subcommand("occupancy", "resident blocks and warps of an SM, and what limits them");
    struct Options {
        std::string gpu, json;
        uint32_t threads = 0, registers = 0, shared = 0;
    };
    auto options = std::make_shared<Options>();
    command.add_option("--gpu", options->gpu, "GPU, see 'lockstep gpus'").required();
    command.add_option("--block", options->threads, "threads a block").required();
    command.add_option("--regs", options->registers, "registers a thread").required();
    command.add_option("--shared", options->shared, "bytes of shared memory a block").required();
    command.add_option("--json", options->json, "write the facts as JSON to this file, - for stdout");
    command.callback([options] {
        const model::GpuSpec gpu = model::gpu_named(options->gpu).value();
        if (options->threads == 0 || options->threads > 1024)
            throw Failure(fmt::format("a block has 1 to 1024 threads, not {}", options->threads));
        if (options->registers == 0 || options->registers > 255)
            throw Failure(fmt::format("a thread has 1 to 255 registers, not {}", options->registers));
        const model::Occupancy o = model::occupancy(gpu, options->threads, options->registers, options->shared);
        const auto limits = model::occupancy_limits(gpu, options->threads, options->registers, options->shared);
        if (!options->json.empty()) {
            nlohmann::ordered_json json = {{"gpu", gpu.name},
                                           {"block", options->threads},
                                           {"regs", options->registers},
                                           {"shared", options->shared},
                                           {"warps_per_block", o.warps_per_block},
                                           {"blocks", o.blocks},
                                           {"warps", o.blocks * o.warps_per_block},
                                           {"warps_per_sm", gpu.warps_per_sm.value},
                                           {"occupancy", json_number(o.fraction)},
                                           {"limiter", o.limiter},
                                           {"limiters", nlohmann::ordered_json::array()},
                                           {"limits", nlohmann::ordered_json::array()}};
            for (const model::OccupancyLimit& limit : limits)
                if (limit.limiter) json["limiters"].push_back(limit.name);
            for (const model::OccupancyLimit& limit : limits)
                json["limits"].push_back({{"name", limit.name},
                                          {"blocks", limit.blocks},
                                          {"a_block", limit.a_block},
                                          {"of", limit.of},
                                          {"unit", limit.unit},
                                          {"rule", limit.rule}});
            write_json(json, options->json);
            if (options->json == "-") return;
        }
        fmt::print("{}: {} block{} an SM, {} of {} warps, occupancy {:.3g} %, limited by {} (derived)\n", gpu.title,
                   o.blocks, o.blocks == 1 ? "" : "s", o.blocks * o.warps_per_block, gpu.warps_per_sm.value,
                   100 * o.fraction, o.limiters);
        for (const model::OccupancyLimit& limit : limits)
            fmt::print("{} {:<14} {:>3} blocks  {:>7} of {:>7} {:<10} {}\n", limit.limiter ? ">" : " ", limit.name,
                       limit.blocks, limit.a_block, limit.of, limit.unit, limit.rule);
        if (o.blocks == 0) fmt::print("Not even one such block fits on an SM: its launch is refused.\n");
    });
}

void add_devices(const Command& app, int&) {
    const Command command = app.add_subcommand("devices", "what kernels can run on here, and which compilers were found");
    command.callback([] {
        for (const auto& list : {device::list_devices(), device::list_compilers()})
            for (const device::DeviceListing& row : list)
                fmt::print("{} {:<16} {}\n", row.available ? " " : "-", row.name, row.description);
        fmt::print("\n'-' marks what is missing here. sim:NAME takes every GPU of 'lockstep gpus'.\n");
    });
}

}  // namespace lockstep::cli
