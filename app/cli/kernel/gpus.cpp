// `lockstep gpus [NAME]`, `lockstep occupancy`, `lockstep devices`: what can be run on, every figure with its source.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "core/device/device.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/gpus/gpu_spec.h"

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
    fmt::print("\n'lockstep gpus NAME' gives every figure of one with its source; teaching:N sets its number of SMs.\n");
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

}  // namespace

void add_gpus(CLI::App& app, int&) {
    CLI::App* command = app.add_subcommand("gpus", "the modelled GPUs, every figure with its source");
    auto name = std::make_shared<std::string>();
    command->add_option("NAME", *name, "one GPU in full");
    command->callback([name] {
        if (name->empty())
            print_table();
        else
            print_gpu(model::gpu_named(*name).value());
    });
}

void add_occupancy(CLI::App& app, int&) {
    CLI::App* command = app.add_subcommand("occupancy", "resident blocks and warps of an SM, and what limits them");
    struct Options {
        std::string gpu, json;
        uint32_t threads = 0, registers = 0, shared = 0;
    };
    auto options = std::make_shared<Options>();
    command->add_option("--gpu", options->gpu, "GPU, see 'lockstep gpus'")->required();
    command->add_option("--block", options->threads, "threads a block")->required();
    command->add_option("--regs", options->registers, "registers a thread")->required();
    command->add_option("--shared", options->shared, "bytes of shared memory a block")->required();
    command->add_option("--json", options->json, "write the facts as JSON to this file, - for stdout");
    command->callback([options] {
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

void add_devices(CLI::App& app, int&) {
    CLI::App* command = app.add_subcommand("devices", "what kernels can run on here, and which compilers were found");
    command->callback([] {
        for (const auto& list : {device::list_devices(), device::list_compilers()})
            for (const device::DeviceListing& row : list)
                fmt::print("{} {:<16} {}\n", row.available ? " " : "-", row.name, row.description);
        fmt::print("\n'-' marks what is missing here. sim:NAME takes every GPU of 'lockstep gpus'.\n");
    });
}

}  // namespace lockstep::cli
