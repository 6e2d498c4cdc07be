// What was measured on real GPUs and is kept for everybody: the files of assets/silicon, one a GPU. The command line and the
// app read them here, and look up what stands beside a simulated figure. Without a file nothing is found, and nothing shown.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/silicon/silicon.h"
#include "core/base/result.h"
#include "core/model/launch/launch.h"

namespace lockstep::device {

struct MeasuredGpu {
    std::filesystem::path path;
    SiliconFile file;
    std::string model;  // the row of core/model/gpus/gpus.cpp; "": none is known

    // "measured on NVIDIA H200, driver 13.0, 2026-11-22"; of a file that was not measured it says so instead.
    std::string badge() const;
    bool real() const { return !file.made_up && !file.modelled; }
};

struct MeasuredKernel {  // a launch as it was measured
    const MeasuredGpu* gpu = nullptr;
    const SiliconKernel* kernel = nullptr;
    double time_us = 0;  // the median, without what the events around it take
};

struct MeasuredStore {
    std::vector<MeasuredGpu> gpus;     // by file name
    std::vector<Diagnostic> problems;  // of files that cannot be read, each one sentence

    const MeasuredGpu* of_model(std::string_view model) const;  // null: none
    // The same PTX instructions with the same launch and numbers on the GPU that the row `model` models. What the buffers
    // hold may differ.
    std::optional<MeasuredKernel> find(const ptx::Program& program, const simt::LaunchConfig& config,
                                       std::string_view model) const;
    std::optional<MeasuredKernel> find(const model::KernelRun& run) const {
        return find(*run.program, run.config, run.gpu.name);
    }
    // Training steps "MODEL MODE" with that many examples, on the GPU of that row.
    std::vector<const SiliconTraining*> trainings(std::string_view network, int64_t batch, std::string_view model) const;
};

// $LOCKSTEP_SILICON, where a test keeps files of its own, else assets/silicon.
std::filesystem::path measured_folder();
// The *.json of a folder; one that does not exist is empty.
MeasuredStore read_measured(const std::filesystem::path& folder);
Result<MeasuredGpu> read_measured_file(const std::filesystem::path& path);
// Of the part `launch`: what events around a kernel take, microseconds; 0: it was not measured.
double event_time_us(const SiliconFile& file);
// The row of the pack that this launch is; null: none.
const PackRow* pack_row_of(const ptx::Program& program, const simt::LaunchConfig& config,
                           std::span<const PackRow> pack = silicon_pack());

}  // namespace lockstep::device
