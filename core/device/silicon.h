// On silicon: kernels, copies and launches measured once on a real GPU and kept as a file, assets/silicon/<gpu>.json, so
// that the model can be held against them where there is no GPU. Read in this order: the file (silicon_file.cpp), the table
// of kernels (silicon_pack.cpp), who measures (silicon_measure.cpp), who compares (silicon_compare.cpp).
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/device/device.h"

namespace lockstep::device {

// ---- The file. Times are microseconds, clocks MHz; every number is finite.
// Which half of the kernels a row belongs to: one half may fit the GPU's row in core/model/gpus.cpp, the other only judges
// it. By the FNV-1a hash of the name, so it was decided before anything was measured.
enum class SiliconHalf : uint8_t { fit, judge };
SiliconHalf half_of(std::string_view kernel);
std::string_view name_of(SiliconHalf half);

struct SiliconKernel {
    std::string name;  // of a PackRow
    simt::Dim3 grid, block;
    uint32_t repeats = 0;
    double time_us = 0, fastest_us = 0, slowest_us = 0;  // time_us: the median
    double cycles = 0;                                   // of the SM: the median's time at the clock measured around it
};
struct SiliconFigure {  // one number of the parts properties, copies and launch
    std::string name;   // "host to device, 1048576 bytes"
    double value = 0;
    std::string unit;
};
struct SiliconPart {
    std::string name;                                  // of silicon_parts()
    double clock_before_mhz = 0, clock_after_mhz = 0;  // of the SMs, measured by a kernel
    std::vector<SiliconKernel> kernels;                // of the part `kernels`
    std::vector<SiliconFigure> figures;                // of the others
};
struct SiliconFile {
    std::string gpu, driver;  // as they call themselves
    bool made_up = false;     // typed, not measured: tests alone have such files
    bool modelled = false;    // the "GPU" was the modelled one
    std::vector<SiliconPart> parts;

    const SiliconPart* part(std::string_view name) const;
};
std::span<const std::string_view> silicon_parts();  // "properties", "kernels", "copies", "launch"

// A Diagnostic says at which place ("parts.kernels.rows[3].time_us") what is wrong; text that is no JSON: line and column.
Result<SiliconFile> parse_silicon(const std::string& text, const std::string& file);
std::string format_silicon(const SiliconFile& file);

// ---- The pack.
struct PackArgument {
    enum class Kind : uint8_t { reals, indices, settings, whole, real } kind = Kind::whole;
    DType type = DType::f32;    // of a buffer's elements
    int64_t count = 0;          // elements of a buffer; the value of a whole number
    double low = -1, high = 1;  // what a buffer holds, drawn evenly; high: the value of a real number
};
struct PackRow {
    std::string name;
    std::string_view file;    // PTX under the resource root; "": the kernel library's
    std::string_view kernel;  // in that file, or in the library
    simt::Dim3 grid, block;
    std::vector<PackArgument> arguments;
};
std::span<const PackRow> silicon_pack();
// The decoded program of a row or of the clock's kernel; GeneratedKernel as `cuda` and `sim` take it.
const GeneratedKernel* pack_program(std::string_view file, std::string_view kernel);

// A row's buffers on a device, filled the same every time, and its launch. Throws Failure.
class PackLaunch {
  public:
    PackLaunch(Device& device, const PackRow& row);
    ~PackLaunch();
    PackLaunch(const PackLaunch&) = delete;
    PackLaunch& operator=(const PackLaunch&) = delete;
    const LaunchRequest& request() const { return request_; }
    std::span<const Pointer> buffers() const { return buffers_; }

  private:
    Device& device_;
    std::vector<Pointer> buffers_;
    LaunchRequest request_;
};

// ---- Measuring.
struct SiliconOptions {
    std::vector<std::string> parts;                      // empty: all
    std::span<const PackRow> pack = silicon_pack();      // of the part `kernels`
    uint32_t repeats = 21;                               // of a kernel, behind three that are not counted
    double seconds = 4;                                  // of a kernel, after which fewer repeats (5 at least) have to do
    int clock_rounds = 1 << 16;                          // of clock_rate: about 5 ms
    std::function<void(std::string_view what)> started;  // progress
    std::function<void(const SiliconFile&)> finished;    // after each part: what there is so far
};
// Measures the parts that `file` does not hold on `device`, "cuda:0" (or "sim:v100": then it says that it is modelled).
// Throws Failure: an unknown part or device, no GPU (missing), a file of another GPU.
void measure_silicon(SiliconFile& file, const std::string& device, const SiliconOptions& options = {});

// ---- Comparing.
struct SiliconRow {
    std::string name;
    SiliconHalf half = SiliconHalf::fit;
    double measured = 0, modelled = 0;  // cycles
    double error() const { return (modelled - measured) / measured; }
};
struct SiliconReport {
    std::string gpu, model;  // "NVIDIA H200", "h200"
    std::vector<SiliconRow> rows;
    std::vector<std::string> remarks;
};
struct SiliconTotal {
    size_t rows = 0;
    double mean_error = 0;   // of |error|; not a number where an error is none
    double correlation = 0;  // Pearson's, of the logarithms of the cycles; not a number below three rows
};
// The row of core/model/gpus.cpp that a GPU's own name means: "NVIDIA H200" is "h200". nullopt: none.
std::optional<std::string> model_of(std::string_view gpu);
// Runs each measured kernel on the modelled GPU, cycle by cycle. model: "" takes model_of(file.gpu). Throws Failure.
SiliconReport compare_silicon(const SiliconFile& file, std::string model, std::span<const PackRow> pack = silicon_pack(),
                              const std::function<void(std::string_view)>& started = {});
SiliconTotal total_of(std::span<const SiliconRow> rows, SiliconHalf half);

}  // namespace lockstep::device
