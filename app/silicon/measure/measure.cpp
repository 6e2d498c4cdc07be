// Measures part by part, row by row. A kernel of the pack: up to three launches that do not count, then many, of which the
// median counts; on `cuda` other memory is read before each, so that caches hold nothing of its own, as in the model, and so
// that the GPU is busy until the kernel is in its queue. The clock of the SMs is what a kernel of a known number of cycles
// takes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/silicon/measure/parts.h"
#include "app/silicon/silicon.h"
#include "core/base/nearest.h"
#include "core/device/cuda/cuda.h"

namespace lockstep::device {

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

PackRow clock_row(int rounds) {
    return {.name = "clock_rate",
            .file = "kernels/silicon/ptx/pack.ptx",
            .kernel = "clock_rate",
            .grid = {1},
            .block = {32},
            .arguments = {{PackArgument::Kind::settings, DType::f64, 2},
                          {PackArgument::Kind::reals, DType::f32, 4},
                          {PackArgument::Kind::whole, DType::i32, rounds}}};
}

PackRow flush_row(size_t bytes) {
    const auto count = static_cast<int64_t>(bytes / 4);
    return {.name = "flush",
            .file = "kernels/silicon/ptx/pack.ptx",
            .kernel = "reduce_shuffle",
            .grid = {1024},
            .block = {256},
            .arguments = {{PackArgument::Kind::zeros, DType::f32, count},
                          {PackArgument::Kind::zeros, DType::f32, 1024},
                          {PackArgument::Kind::whole, DType::i32, count}}};
}

namespace {

using SteadyClock = std::chrono::steady_clock;
std::string silicon_today() {  // in UTC
    using namespace std::chrono;
    const year_month_day day(floor<days>(system_clock::now()));
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                       static_cast<unsigned>(day.day()));
}

// Launches once; the time on the device's own timeline.
double timed_launch(Device& device, const LaunchRequest& request) {
    double time = 0;
    device.on_launch = [&](const LaunchEvent& event) { time = event.end_us - event.begin_us; };
    device.launch(request);
    device.on_launch = nullptr;
    return time;
}

double clock_mhz(Device& device, int rounds) {
    const PackRow row = clock_row(rounds);
    const PackLaunch launch(device, row);
    double time = 0;
    if (auto* const cuda = dynamic_cast<Cuda*>(&device)) {  // the second of two in a row
        const CudaLaunch prepared = cuda->prepare(launch.request());
        time = cuda->between_events_us(&prepared, [&](void* stream) { cuda->enqueue(prepared, stream); });
    } else {
        timed_launch(device, launch.request());
        time = timed_launch(device, launch.request());
    }
    int64_t noted[2] = {};
    device.copy_out(noted, launch.buffers()[0], sizeof noted);
    if (!(time > 0) || noted[1] <= noted[0]) throw Failure(device.name() + ": the SM's clock does not go on");
    return static_cast<double>(noted[1] - noted[0]) / time;
}

void measure_properties(SiliconRun& run) {
    const auto& driver = std::get<CudaDriver>(cuda_driver());
    static constexpr struct {  // CUdevice_attribute of cuda.h
        int number;
        const char *name, *unit;
    } rows[] = {{16, "SMs", ""},
                {13, "SM clock", "kHz"},
                {36, "memory clock", "kHz"},
                {37, "memory bus", "bits"},
                {38, "L2", "bytes"},
                {39, "threads an SM", ""},
                {81, "shared memory an SM", "bytes"},
                {97, "shared memory a block, at most", "bytes"},
                {82, "registers an SM", ""},
                {40, "copy engines", ""},
                {32, "error correction", ""},
                {75, "compute capability, major", ""},
                {76, "compute capability, minor", ""}};
    int device = 0;
    if (driver.device_get(&device, std::stoi(run.device_name.substr(5))) != 0) return;
    for (const auto& row : rows) {
        int value = 0;
        if (!run.holds(row.name) && driver.device_attribute(&value, row.number, device) == 0)
            run.add(SiliconFigure{row.name, static_cast<double>(value), *row.unit ? row.unit : "count"});
    }
    size_t memory = 0;
    if (!run.holds("memory") && driver.total_memory(&memory, device) == 0)
        run.add(SiliconFigure{"memory", static_cast<double>(memory), "bytes"});
}

void measure_rows(SiliconRun& run, std::span<const PackRow> rows) {
    auto* const cuda = dynamic_cast<Cuda*>(&run.device);
    const SiliconOptions& options = run.options;
    std::optional<PackLaunch> flush;
    std::optional<CudaLaunch> before;
    for (const PackRow& row : rows)
        run.row(row.name, [&] {
            if (cuda && !before) {
                flush.emplace(*cuda, flush_row(options.flushed));
                before = cuda->prepare(flush->request());
            }
            const PackLaunch launch(run.device, row);
            const double clock_before = clock_mhz(run.device, options.clock_rounds);
            std::vector<double> times;
            if (cuda) {
                const CudaLaunch timed = cuda->prepare(launch.request());
                const auto once = [&] {
                    return cuda->between_events_us(&*before, [&](void* stream) { cuda->enqueue(timed, stream); });
                };
                const std::chrono::duration<double> enough(options.seconds);
                auto begin = SteadyClock::now();
                for (int i = 0; i < 3 && SteadyClock::now() - begin <= enough / 4; ++i) once();
                begin = SteadyClock::now();
                while (times.size() < options.repeats && (times.size() < 3 || SteadyClock::now() - begin < enough))
                    times.push_back(once());
            } else {  // simulated: the same every time
                times.push_back(timed_launch(run.device, launch.request()));
            }
            const double median = median_of(times), clock_after = clock_mhz(run.device, options.clock_rounds);
            run.add(SiliconKernel{row.name, row.grid, row.block, static_cast<uint32_t>(times.size()), median,
                                  *std::min_element(times.begin(), times.end()),
                                  *std::max_element(times.begin(), times.end()), median * (clock_before + clock_after) / 2});
        });
}

void measure_kernels(SiliconRun& run) {
    measure_rows(run, run.options.pack);
}
void measure_published(SiliconRun& run) {
    const auto sms = static_cast<uint32_t>(dynamic_cast<Cuda&>(run.device).attribute(16));
    measure_rows(run, published_pack(sms, run.options.quick));
}

}  // namespace

bool SiliconRun::holds(std::string_view name) const {
    const auto named = [&](const auto& rows) {
        return std::any_of(rows.begin(), rows.end(), [&](const auto& it) { return it.name == name; });
    };
    return named(part_.kernels) || named(part_.checks) || named(part_.trainings) || named(part_.ratios) ||
           named(part_.figures) || named(part_.failures);
}

void SiliconRun::row(const std::string& name, const std::function<void()>& measure) {
    if (holds(name)) return;
    if (Clock::now() >= until_) {
        cut_off_ = true;
        return;
    }
    if (options.started) options.started(name);
    try {
        measure();
    } catch (const Failure& failure) {
        failed(name, failure);
    } catch (const std::bad_alloc&) {
        failed(name, Failure("the host has no memory for it"));
    }
    if (options.ended) options.ended(name);
}

void SiliconRun::save() {
    const auto begin = SteadyClock::now();
    if (!options.finished || begin < next_save_) return;
    options.finished(file_);
    const auto end = SteadyClock::now();
    next_save_ = end + 20 * (end - begin);  // a twentieth of the time, however large the file has grown
}

void SiliconRun::failed(const std::string& name, const Failure& failure) {
    SiliconFailure row{name, failure.diagnostic.message.substr(0, 300)};
    for (char& c : row.why)
        if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
    part_.failures.push_back(row);
    if (options.finished) options.finished(file_);
    if (options.failed) options.failed(row);
    try {
        device.synchronize();
    } catch (const Failure&) {  // it answers nothing any more
        throw Failure(fmt::format("{} failed at '{}': {}; run again to go on behind it", device_name, name, row.why),
                      ExitStatus::faulted);
    }
}

namespace {

void measure_part(Device& device, const std::string& device_name, const SiliconOptions& options, SiliconFile& file,
                  const std::string& name, const std::function<void(SiliconRun&)>& measure, SteadyClock::time_point until) {
    if (options.part_started) options.part_started(name);
    const bool is_new = !file.part(name);
    if (is_new) file.parts.push_back({.name = name, .complete = false});
    SiliconPart& part =
        *std::find_if(file.parts.begin(), file.parts.end(), [&](const SiliconPart& it) { return it.name == name; });
    SiliconRun run(device, device_name, options, file, part, until);
    if (is_new) {  // until it is measured: what the GPU says of itself
        auto* const cuda = dynamic_cast<Cuda*>(&device);
        part.clock_before_mhz = part.clock_after_mhz = std::max(1.0, cuda ? cuda->attribute(13) / 1e3 : 1.0);
        if (options.finished) options.finished(file);
    }
    if (run.holds(name)) {  // it failed between its rows before, and would again
        part.complete = true;
    } else {
        try {
            const double before = clock_mhz(device, options.clock_rounds);
            if (is_new) part.clock_before_mhz = before;
            part.clock_after_mhz = before;
            measure(run);
            part.clock_after_mhz = clock_mhz(device, options.clock_rounds);
        } catch (const Failure& failure) {  // between its rows
            if (failure.status == ExitStatus::faulted) throw;
            run.failed(name, failure);
        }
        part.complete = !run.cut_off();
    }
    if (options.finished) options.finished(file);
}

}  // namespace

void measure_silicon(SiliconFile& file, const std::string& name, const SiliconOptions& options) {
    std::vector<std::string> known;
    for (const SiliconPartRow& row : silicon_parts()) known.emplace_back(row.name);
    for (const std::string& part : options.parts)
        if (std::find(known.begin(), known.end(), part) == known.end()) {
            throw Failure(fmt::format("unknown part '{}'{}; there are {}", part, did_you_mean(part, known, ""),
                                      fmt::join(known, ", ")));
        }
    const bool cuda = name.starts_with("cuda:");
    if (!cuda && !name.starts_with("sim:"))
        throw Failure(fmt::format("silicon is measured on cuda:0, cuda:1 and so on, not on '{}'", name));
    const std::unique_ptr<Device> device = open_device(name).value();

    // "NVIDIA H200, 132 SMs at ...": the device's own words begin with what the driver calls the GPU.
    const std::string words = device->description(), gpu = words.substr(0, words.find(','));
    const std::string driver = cuda ? words.substr(words.rfind(' ') + 1) : "none";
    if (file.made_up) throw Failure("the file is made up: nothing that was measured can be added to it");
    if (!file.parts.empty() && (file.gpu != gpu || file.driver != driver))
        throw Failure(
            fmt::format("the file holds measurements of {} with driver {}, this is {} with driver {}: choose "
                        "another file",
                        file.gpu, file.driver, gpu, driver));
    file.gpu = gpu;
    file.driver = driver;
    if (file.date.empty()) file.date = silicon_today();
    file.modelled = !cuda || gpu.starts_with("Modelled");

    std::map<std::string, std::function<void(SiliconRun&)>, std::less<>> measurers = options.more;
    measurers["kernels"] = measure_kernels;
    if (cuda) {
        measurers["properties"] = measure_properties;
        measurers["launch"] = measure_launches;
        measurers["copies"] = measure_copies;
        measurers["opcodes"] = measure_opcodes;
        measurers["checks"] = measure_checks;
        measurers["micro"] = measure_micro;
        measurers["published"] = measure_published;
        measurers["ratios"] = measure_ratios;
    } else {  // the host's clock says nothing of a modelled GPU
        std::erase_if(measurers, [](const auto& it) { return it.first != "kernels"; });
    }
    const auto begin = SteadyClock::now();
    const auto open = [&](const SiliconPartRow& row) {
        const bool wanted =
            options.parts.empty() || std::find(options.parts.begin(), options.parts.end(), row.name) != options.parts.end();
        const SiliconPart* const held = file.part(row.name);
        return wanted && !(held && held->complete) && measurers.contains(row.name);
    };
    const auto pass = [&] {
        for (const SiliconPartRow& row : silicon_parts()) {
            if (!open(row)) continue;
            auto until = SteadyClock::time_point::max();
            if (options.budget > 0) {
                double shares = 0;
                for (const SiliconPartRow* it = &row; it != silicon_parts().data() + silicon_parts().size(); ++it)
                    if (open(*it)) shares += it->seconds;
                const double left = options.budget - std::chrono::duration<double>(SteadyClock::now() - begin).count();
                until = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                 std::chrono::duration<double>(std::max(0.0, left) * row.seconds / shares));
            }
            measure_part(*device, name, options, file, std::string(row.name), measurers.find(row.name)->second, until);
        }
    };
    pass();
    const auto any_open = [&] { return std::any_of(silicon_parts().begin(), silicon_parts().end(), open); };
    while (any_open() && SteadyClock::now() - begin < std::chrono::duration<double>(options.budget)) pass();
    if (options.part_cut_off)
        for (const SiliconPartRow& row : silicon_parts())
            if (open(row)) options.part_cut_off(row.name);
}

}  // namespace lockstep::device
