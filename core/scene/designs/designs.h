// One launch, or the launches of a training step, on many GPUs: what each design takes of time, of a die and of power, and
// which of them nobody beats in both.
#pragma once
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/device/device.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/model/gpus/process.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"

namespace lockstep::scene {

struct DesignPart {  // one launch
    std::shared_ptr<const ptx::Program> program;
    simt::LaunchConfig config;
    std::shared_ptr<const simt::Memory> memory;  // as the launch finds it; each run has a copy
    std::string label = {};                      // "matmul_dW1"; empty: the kernel's name
    std::string source = {};                     // CUDA text; empty: unknown
};
struct DesignLaunch {  // the same for all designs
    std::shared_ptr<const ptx::Program> program;
    simt::LaunchConfig config;
    std::shared_ptr<const simt::Memory> memory;
    uint64_t max_instructions = 1'000'000'000;
    const model::Process* process = nullptr;  // of the estimates; null: that of each GPU's generation
    std::string label = {}, source = {};      // of the first launch
    std::vector<DesignPart> then = {};        // launches that follow it, each with an empty L2: times and energies add up
    std::string name = {};                    // of all: "a training step of mlp"; empty: the kernel's

    std::vector<DesignPart> parts() const;
    std::string shown_name() const { return name.empty() ? program->shown_name() : name; }
};
// The kernels of a training step, each with the memory that it found. Throws Failure where a launch did not keep its own.
DesignLaunch launches_of(const std::vector<device::LaunchEvent>& launches, std::string name);
// The same of the first step of a bundled model ("mlp"), run on that GPU; "step:mlp" names it where a kernel is asked for.
DesignLaunch step_of_model(const std::string& model, const model::GpuSpec& gpu, const std::stop_token& stop = {});
constexpr std::string_view step_prefix = "step:";

struct DesignRun {
    bool stopped = false;                        // by the stop token: nothing else is known
    std::string refused;                         // why this GPU does not run the launch, as a sentence; empty: it did
    int64_t cycles = 0;                          // simulated
    double time_us = 0;                          // simulated
    double mm2 = 0;                              // estimate
    double watts = 0;                            // estimate: of the run, on average
    double joules = 0;                           // estimate
    std::shared_ptr<const simt::Memory> memory;  // as the run left it, where that was asked for
};
DesignRun run_design(const model::GpuSpec&, const DesignLaunch&, const std::stop_token& stop = {}, bool keep_memory = false);

// A figure, and the values that it takes: "sms=4..32" (4, 8, 16, 32), "sms=4..32:4" (4, 8, 12 ...), "l2_mb=1,2,4".
struct Vary {
    std::string field;
    std::vector<double> values;
};
Result<Vary> parse_vary(std::string_view text);

struct Design {
    std::vector<double> values;  // of the varied figures, in their order
    DesignRun run;
    bool done = false;
    bool on_front = false;  // no other design is as fast on as little area, and better in one of the two
};
struct Sweep {
    std::string kernel, gpu;  // as people call them
    std::vector<Vary> varied;
    std::vector<Design> designs;  // the last figure varies fastest; those that were not done when it stopped are left out
    size_t asked = 0;             // designs in all
    const model::Process* process = nullptr;
};

constexpr size_t most_designs = 20'000;

struct SweepOptions {
    int threads = 0;  // 0: one a core
    std::stop_token stop = {};
    std::function<void(double)> progress = {};  // called in the caller's thread, some times a second, with the share done
};
// Throws Failure for a figure that there is not, and where there are too many designs.
Sweep run_sweep(const model::GpuSpec& base, const std::vector<Vary>& varied, const DesignLaunch& launch,
                const SweepOptions& options = {});

void find_front(std::vector<Design>& designs);
std::string sweep_csv(const Sweep&);
std::string sweep_svg(const Sweep&);  // area against time, the front as a line

}  // namespace lockstep::scene
