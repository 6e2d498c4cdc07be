// `lockstep silicon --out F.json`: measures a real GPU once and keeps the figures; parts that the file holds are kept as
// they are. `lockstep validate silicon` then sets the model against them, wherever it runs. See app/silicon/silicon.h.
#include "app/silicon/silicon.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/measure/silicon.h"
#include "core/base/files.h"
#include "core/base/tell.h"

namespace lockstep::cli {
namespace {

constexpr size_t largest_silicon_file = size_t{16} << 20;

device::SiliconFile read_silicon(const std::string& path) {
    return device::parse_silicon(read_file(path, largest_silicon_file).value(), path).value();
}

}  // namespace

void add_silicon(const Command& app, int&) {
    const Command command = app.add_subcommand("silicon", "measure a real GPU once and keep the figures");
    struct Chosen {
        std::string out, device = "cuda:0";
        std::vector<std::string> parts;
        bool quick = false, tiny = false;
        double minutes = 5.5, patience = 120;
    };
    auto chosen = std::make_shared<Chosen>();
    command.add_option("--out", chosen->out, "the file; what it holds is not measured again").required();
    command.add_option("--device", chosen->device, "cuda:0, cuda:1; sim:v100 gives a file that says it is modelled");
    command.add_flag("--quick", chosen->quick,
                     "a first picture: one minute, fewer repeats; a run without it goes on in the same file");
    command.add_flag("--tiny", chosen->tiny, "the smallest sizes: to try out the way, not to keep");
    std::string parts;
    double seconds = 0;
    for (const device::SiliconPartRow& part : device::silicon_parts()) {
        parts += fmt::format("{}{} ({}; about {:.0f} s)", parts.empty() ? "" : ", ", part.name, part.what, part.seconds);
        seconds += part.seconds;
    }
    const Option minutes = command.add_option(
        "--minutes", chosen->minutes, "for all parts, each with its share; what is left over is for the next run (5.5)");
    minutes.between(0.01, 1e4);
    command.add_option("--patience", chosen->patience, "seconds that a row may take before it is given up, as failed (120)")
        .between(0.1, 1e5);
    command.add_option("--part", chosen->parts,
                       fmt::format("may be given again; all unless said, about {:.0f} min: {}", seconds / 60, parts));
    command.footer(
        "Libraries are sought on the loader's path, in the CUDA toolkit and where pip puts PyTorch's; these name others:\n"
        "  LOCKSTEP_LIBCUDA    the driver, libcuda.so.1\n"
        "  LOCKSTEP_LIBCUBLAS  cuBLAS, the yardstick of the part ratios; without it those rows are left out\n"
        "  LOCKSTEP_LIBNCCL    NCCL, of the part nccl");
    command.callback([chosen, minutes] {
        device::SiliconFile file;
        if (std::filesystem::exists(chosen->out)) file = read_silicon(chosen->out);
        device::SiliconOptions options;
        options.parts = chosen->parts;
        options.budget = 60 * (chosen->quick && !minutes.given() ? 1 : chosen->minutes);
        if (chosen->quick) {
            options.repeats = 5;
            options.seconds = 0.1;
        }
        if (chosen->tiny) {
            options.quick = true;
            options.repeats = 5;
            options.seconds = 0;
            options.clock_rounds = 1 << 12;
            options.flushed = size_t{1} << 20;
        }
        if (chosen->device.starts_with("sim:"))  // the host's clock says nothing of a modelled GPU
            for (const device::SiliconPartRow& part : device::silicon_parts())
                if (part.name != "kernels" &&
                    std::find(chosen->parts.begin(), chosen->parts.end(), part.name) != chosen->parts.end())
                    throw Failure(fmt::format("the part {} needs a real GPU: on {} only kernels is measured", part.name,
                                              chosen->device),
                                  ExitStatus::missing);
        const auto begin = std::chrono::steady_clock::now();
        const auto seconds_so_far = [begin] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        options.started =
            options.part_started = [&](std::string_view what) { tell("{:6.1f} s  {} ...\n", seconds_so_far(), what); };
        options.part_cut_off = [&](std::string_view part) {
            tell("{:6.1f} s  {}: its share of the {:.1f} min is over; run again to go on with it\n", seconds_so_far(), part,
                 options.budget / 60);
        };
        options.failed = [](const device::SiliconFailure& row) { tell("not measured: {}: {}\n", row.name, row.why); };
        options.more = device::further_parts();
        if (chosen->device.starts_with("cuda:")) {
            device::measure_silicon_guarded(file, chosen->out, chosen->device, options, chosen->patience);
        } else {
            options.finished = [&](const device::SiliconFile& so_far) {
                write_file(chosen->out, device::format_silicon(so_far));
            };
            device::measure_silicon(file, chosen->device, options);
        }
        fmt::print("{}: {}, driver {}{}; {:.0f} s\n", chosen->out, file.gpu, file.driver,
                   file.modelled ? "; a modelled GPU: nothing was measured on silicon" : "", seconds_so_far());
        for (const device::SiliconPart& part : file.parts)
            fmt::print("  {:<12} {:>4} rows{}{}, SM clock {:.0f} MHz before, {:.0f} MHz after\n", part.name, part.rows(),
                       part.failures.empty() ? "" : fmt::format(" and {} that failed", part.failures.size()),
                       part.complete ? "" : ", more to come", part.clock_before_mhz, part.clock_after_mhz);
    });
}

}  // namespace lockstep::cli
