// Measures part by part. A kernel: three launches that do not count, then many, of which the median counts; on `cuda` events
// around each launch give its time, so a short kernel's holds a microsecond or two of what starts it. The clock of the SMs
// is what a kernel of a known number of cycles takes, before and behind each part.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base/nearest.h"
#include "core/device/cuda_driver.h"
#include "core/device/silicon.h"

namespace lockstep::device {
namespace {

using SteadyClock = std::chrono::steady_clock;
double microseconds_since(SteadyClock::time_point begin) {
    return std::chrono::duration<double, std::micro>(SteadyClock::now() - begin).count();
}
double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
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
    const PackRow row{.name = "clock_rate",
                      .file = "kernels/silicon/ptx/pack.ptx",
                      .kernel = "clock_rate",
                      .grid = {1},
                      .block = {32},
                      .arguments = {{PackArgument::Kind::settings, DType::f64, 2},
                                    {PackArgument::Kind::reals, DType::f32, 4},
                                    {PackArgument::Kind::whole, DType::i32, rounds}}};
    const PackLaunch launch(device, row);
    timed_launch(device, launch.request());
    const double time = timed_launch(device, launch.request());
    int64_t noted[2] = {};
    device.copy_out(noted, launch.buffers()[0], sizeof noted);
    if (!(time > 0) || noted[1] <= noted[0]) throw Failure(device.name() + ": the SM's clock does not go on");
    return static_cast<double>(noted[1] - noted[0]) / time;
}

SiliconKernel measure_kernel(Device& device, const PackRow& row, const SiliconOptions& options, double mhz) {
    const PackLaunch launch(device, row);
    const bool simulated = device.provenance() == "simulated";  // the same every time
    for (int i = 0; i < (simulated ? 0 : 3); ++i) timed_launch(device, launch.request());
    std::vector<double> times;
    const auto begin = SteadyClock::now();
    while (times.size() < (simulated ? 1 : options.repeats) &&
           (times.size() < 5 || microseconds_since(begin) < 1e6 * options.seconds))
        times.push_back(timed_launch(device, launch.request()));
    const double median = median_of(times);
    return {row.name,
            row.grid,
            row.block,
            static_cast<uint32_t>(times.size()),
            median,
            *std::min_element(times.begin(), times.end()),
            *std::max_element(times.begin(), times.end()),
            median * mhz};
}

std::vector<SiliconFigure> measure_copies(Device& device) {
    std::vector<SiliconFigure> figures;
    for (const size_t bytes : {size_t{1024}, size_t{1} << 20, size_t{16} << 20}) {
        std::vector<std::byte> host(bytes, std::byte{1});
        const Pointer buffer = device.allocate(bytes, "copied");
        const auto median = [&](auto copy) {
            std::vector<double> times;
            copy();
            for (int i = 0; i < 11; ++i) {
                const auto begin = SteadyClock::now();
                copy();
                times.push_back(microseconds_since(begin));
            }
            return median_of(std::move(times));
        };
        figures.push_back({fmt::format("host to device, pageable, {} bytes", bytes),
                           median([&] { device.copy_in(buffer, host.data(), bytes); }), "us"});
        figures.push_back({fmt::format("device to host, pageable, {} bytes", bytes),
                           median([&] { device.copy_out(host.data(), buffer, bytes); }), "us"});
        device.release(buffer);
    }
    return figures;
}

std::vector<SiliconFigure> measure_launches(Device& device) {
    const PackRow row{.name = "empty",
                      .file = "",
                      .kernel = "relu_f32",
                      .grid = {1},
                      .block = {32},
                      .arguments = {{PackArgument::Kind::reals, DType::f32, 32},
                                    {PackArgument::Kind::reals, DType::f32, 32},
                                    {PackArgument::Kind::whole, DType::i32, 32}}};
    const PackLaunch launch(device, row);
    const auto median = [&](int launches) {
        std::vector<double> times;
        for (int i = 0; i < 12; ++i) {
            device.synchronize();
            const auto begin = SteadyClock::now();
            for (int j = 0; j < launches; ++j) device.launch(launch.request());
            device.synchronize();
            if (i > 0) times.push_back(microseconds_since(begin));
        }
        return median_of(std::move(times));
    };
    return {{"a launch of one warp and waiting for it", median(1), "us"},
            {"a launch of one warp, of 200 in a row", median(200) / 200, "us"}};
}

std::vector<SiliconFigure> properties_of(int ordinal) {
    const auto* driver = std::get_if<CudaDriver>(&cuda_driver());
    if (!driver) return {};
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
                {75, "compute capability, major", ""},
                {76, "compute capability, minor", ""}};
    std::vector<SiliconFigure> figures;
    int device = 0;
    if (driver->device_get(&device, ordinal) != 0) return {};
    for (const auto& row : rows) {
        int value = 0;
        if (driver->device_attribute(&value, row.number, device) == 0)
            figures.push_back({row.name, static_cast<double>(value), *row.unit ? row.unit : "count"});
    }
    return figures;
}

}  // namespace

void measure_silicon(SiliconFile& file, const std::string& name, const SiliconOptions& options) {
    std::vector<std::string> known(silicon_parts().begin(), silicon_parts().end());
    for (const std::string& part : options.parts)
        if (std::find(known.begin(), known.end(), part) == known.end()) {
            const std::string nearest = nearest_name(part, known);
            throw Failure(fmt::format("unknown part '{}'{}; there are {}", part,
                                      nearest.empty() ? "" : fmt::format(", did you mean '{}'?", nearest),
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
    file.modelled = !cuda || gpu.starts_with("Modelled");

    for (const std::string& part_name : known) {
        const bool wanted =
            options.parts.empty() || std::find(options.parts.begin(), options.parts.end(), part_name) != options.parts.end();
        if (!wanted || file.part(part_name)) continue;
        if (!cuda && part_name != "kernels") continue;  // the host's clock says nothing of a modelled GPU
        if (options.started) options.started(part_name);
        SiliconPart part{.name = part_name};
        part.clock_before_mhz = clock_mhz(*device, options.clock_rounds);
        if (part_name == "properties") {
            part.figures = properties_of(std::stoi(name.substr(5)));
        } else if (part_name == "copies") {
            part.figures = measure_copies(*device);
        } else if (part_name == "launch") {
            part.figures = measure_launches(*device);
        } else {
            for (const PackRow& row : options.pack) {
                if (options.started) options.started(row.name);
                part.kernels.push_back(measure_kernel(*device, row, options, part.clock_before_mhz));
            }
        }
        part.clock_after_mhz = clock_mhz(*device, options.clock_rounds);
        const double before = part.clock_before_mhz, mean = (before + part.clock_after_mhz) / 2;
        for (SiliconKernel& kernel : part.kernels) kernel.cycles *= mean / before;
        file.parts.push_back(std::move(part));
        if (options.finished) options.finished(file);
    }
}

}  // namespace lockstep::device
