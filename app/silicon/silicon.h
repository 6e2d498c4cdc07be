// On silicon: kernels, copies and launches measured once on a real GPU and kept as a file, assets/silicon/<gpu>.json, so
// that the model can be held against them where there is no GPU. Read in this order: the file (file.cpp), the table
// of kernels (measure/pack.cpp), who measures (measure/measure.cpp). Who compares: compare/compare.h; what is kept:
// measured.h.
#pragma once
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/device/device.h"
#include "core/system/system.h"

namespace lockstep::device {

// ---- The file. Times are microseconds, clocks MHz; every number is finite.
// Which half of the kernels a row belongs to: one half may fit the GPU's row in core/model/gpus/gpus.cpp, the other only
// judges it. By the FNV-1a hash of the name, so it was decided before anything was measured.
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
struct SiliconFigure {  // one number of the parts properties, launch, copies, micro and nccl
    std::string name;   // "host to device, pinned, 1048576 bytes"; of micro: a row of silicon_micro()
    double value = 0;
    std::string unit;
};
// One operation or kernel on the GPU and on our machine, on the same values (parts opcodes and checks).
struct SiliconCheck {
    // Of floats: how many are 0, 1, 2, 3 to 4, 5 to 8, 9 to 16 or more encodings apart; the last: one alone is not a number.
    static constexpr size_t buckets = 8;
    std::string name;                          // "add.f32": operation and types; "relu_f16 17x33x19": kernel and shape
    uint64_t compared = 0, different = 0;      // values, and those whose bits are not the same
    std::array<uint64_t, buckets> apart = {};  // of floats; of others all 0
    double largest = 0;                        // difference over the largest value (of a kernel's buffer; of operations 0)
    uint64_t refused = 0;                      // spellings that the GPU's compiler does not take
    std::string note;                          // the first difference, or the refusal; may be empty
};
struct SiliconTraining {                                 // training steps of a model in one execution mode (part training)
    std::string name;                                    // "gpt fused": model and mode
    uint32_t batch = 0, steps = 0, launches = 0;         // examples a step; steps timed; kernels a step
    double time_us = 0, fastest_us = 0, slowest_us = 0;  // of a step on the host's clock; time_us: the median
    double loss = 0, host_loss = 0;                      // of the last step; on `host` after the same steps
    double host_difference = 0;                          // the largest |loss - host_loss| / |host_loss| of the steps
};
struct SiliconRatio {                 // a kernel against a yardstick at the same work (part ratios)
    std::string name;                 // "sgemm_wide 4096"
    double value = 0, yardstick = 0;  // in `unit`, higher is better
    std::string unit, of;             // "GFLOP/s", "cuBLAS 13.0 SGEMM"
    double ratio() const { return value / yardstick; }
};
struct SiliconFailure {  // a row that could not be measured; it is not tried again
    std::string name, why;
};
struct SiliconPart {
    std::string name;                                  // of silicon_parts()
    bool complete = true;                              // false: cut off; measuring goes on with the rows that it lacks
    double clock_before_mhz = 0, clock_after_mhz = 0;  // of the SMs, measured by a kernel
    std::vector<SiliconKernel> kernels;                // of the parts `kernels` and `published`
    std::vector<SiliconCheck> checks;                  // of `opcodes` and `checks`
    std::vector<SiliconTraining> trainings;            // of `training`
    std::vector<SiliconRatio> ratios;                  // of `ratios`
    std::vector<SiliconFigure> figures;                // of the others
    std::vector<SiliconFailure> failures;
    size_t rows() const { return kernels.size() + checks.size() + trainings.size() + ratios.size() + figures.size(); }
};
struct SiliconFile {
    std::string gpu, driver;  // as they call themselves
    std::string date;         // "2026-11-22": the day, in UTC, on which measuring began; "": not known
    bool made_up = false;     // typed, not measured: tests alone have such files
    bool modelled = false;    // the "GPU" was the modelled one
    std::vector<SiliconPart> parts;

    const SiliconPart* part(std::string_view name) const;
};
// In the order in which they are measured, with what a GPU is expected to take.
struct SiliconPartRow {
    std::string_view name, what;
    double seconds = 0;
};
std::span<const SiliconPartRow> silicon_parts();
// The figure of `launch` that is in every time of the part `kernels`: events around a kernel that does nothing.
inline constexpr std::string_view empty_kernel_figure = "a kernel of one warp that does nothing, between two events";

// A Diagnostic says at which place ("parts.kernels.rows[3].time_us") what is wrong; text that is no JSON: line and column.
Result<SiliconFile> parse_silicon(const std::string& text, const std::string& file);
std::string format_silicon(const SiliconFile& file);

// ---- The pack.
struct PackArgument {
    enum class Kind : uint8_t { reals, indices, settings, zeros, whole, real } kind = Kind::whole;
    DType type = DType::f32;    // of a buffer's elements
    int64_t count = 0;          // elements of a buffer; the value of a whole number
    double low = -1, high = 1;  // what a buffer holds, drawn evenly; high: the value of a real number
    // Of a buffer that is passed as a tensor map (TensorTile), swizzled by 128 bytes: elements, innermost first.
    std::vector<uint64_t> dims = {};
    std::vector<uint32_t> box = {};
};
struct PackRow {
    std::string name;
    std::string_view file;    // PTX under the resource root; "": the kernel library's
    std::string_view kernel;  // in that file, or in the library
    simt::Dim3 grid, block;
    std::vector<PackArgument> arguments;
    uint32_t dynamic_shared = 0;  // bytes
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
    std::vector<std::unique_ptr<TensorTile>> tiles_;
    LaunchRequest request_;
};

// ---- Measuring.
class SiliconRun;
// Parts beside those that need a device alone: "training", "nccl". Without one the part is left out.
using SiliconParts = std::map<std::string, std::function<void(SiliconRun&)>, std::less<>>;
struct SiliconOptions {
    std::vector<std::string> parts;                  // empty: all
    std::span<const PackRow> pack = silicon_pack();  // of the parts `kernels` and `published`
    uint32_t repeats = 21;                           // of a kernel, behind three that are not counted
    double seconds = 1;                              // of a kernel, after which fewer repeats (5 at least) have to do
    int clock_rounds = 1 << 16;                      // of clock_rate: about 2 ms
    size_t flushed = size_t{192} << 20;              // bytes read before each kernel, so that it finds its own in no cache
    bool quick = false;                              // less of everything: for tests
    // Seconds for all parts, 0: as long as it takes. Each gets its share by silicon_parts(), and what others left; a part
    // whose share is over stays incomplete, so that the next run goes on with it.
    double budget = 0;
    std::function<void(std::string_view part)> part_started, part_cut_off;  // progress
    std::function<void(std::string_view row)> started, ended;
    std::function<void(const SiliconFailure&)> failed;  // a row; measuring goes on
    std::function<void(const SiliconFile&)> finished;   // after each row: what there is so far
    SiliconParts more;
};
// A part under way: each row is measured unless the file holds it, and is in the file at once.
class SiliconRun {
  public:
    Device& device;
    const std::string& device_name;
    const SiliconOptions& options;

    // Calls measure(), which adds rows; a Failure becomes the row's failure, unless the GPU does not go on after it.
    void row(const std::string& name, const std::function<void()>& measure);
    bool holds(std::string_view name) const;
    void failed(const std::string& name, const Failure& failure);  // throws where the GPU does not go on
    void add(SiliconKernel it) { part_.kernels.push_back(std::move(it)), save(); }
    void add(SiliconCheck it) { part_.checks.push_back(std::move(it)), save(); }
    void add(SiliconTraining it) { part_.trainings.push_back(std::move(it)), save(); }
    void add(SiliconRatio it) { part_.ratios.push_back(std::move(it)), save(); }
    void add(SiliconFigure it) { part_.figures.push_back(std::move(it)), save(); }

    using Clock = std::chrono::steady_clock;
    SiliconRun(Device& on, const std::string& name, const SiliconOptions& asked, SiliconFile& file, SiliconPart& part,
               Clock::time_point until = Clock::time_point::max())
        : device(on), device_name(name), options(asked), until_(until), file_(file), part_(part) {}
    bool cut_off() const { return cut_off_; }  // rows were left for another run

  private:
    void save();  // unless the last time is too short ago for what it took
    Clock::time_point next_save_ = {}, until_;
    bool cut_off_ = false;
    SiliconFile& file_;
    SiliconPart& part_;
};
// Measures the parts and rows that `file` does not hold on `device`, "cuda:0" (or "sim:v100": then it says that it is
// modelled). Throws Failure: an unknown part or device, no GPU (missing), a file of another GPU, a GPU that failed.
void measure_silicon(SiliconFile& file, const std::string& device, const SiliconOptions& options = {});

// The same in a child process that keeps what there is in the file `path`: a row whose kernel breaks the GPU's context, or
// in which the driver crashes or says nothing for `patience` seconds, is noted as failed, and another child goes on behind
// it. `file`, which is what `path` holds, is as it is on the disk afterwards. Throws Failure as above, and where a GPU does
// not come back. The child is this program again: its main() serves measuring_task.
extern const system::ChildTask measuring_task;
void measure_silicon_guarded(SiliconFile& file, const std::string& path, const std::string& device,
                             const SiliconOptions& options, double patience = 120);

SiliconParts further_parts();  // what `lockstep silicon` measures beside: SiliconOptions::more

// Figures of many repeats. `values` is not empty.
double median_of(std::vector<double> values);

}  // namespace lockstep::device
