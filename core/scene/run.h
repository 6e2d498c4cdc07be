// Running a scene. A kernel scene: checked-in PTX (or, when it is stale, the compiler) -> Program -> timed
// launch on the lesson's GPU -> KernelRun. A tensor program, or training -> StepRecord, and what tape_program.h and
// training_runs.h say.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "core/model/launch/launch.h"
#include "core/nn/train/step_record.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/scene.h"

namespace lockstep::scene {

struct HostRun;        // host_program.h
struct ParallelScene;  // parallel_scene.h
struct TapeRun;        // tape_program.h
struct TrainingRuns;   // training_runs.h

struct RunOptions {
    std::string gpu;                                  // instead of the lesson's and the scene's; "" keeps theirs
    bool keep_runs = false;                           // training scenes: the KernelRun of every launch
    bool keep_values = false;                         // training scenes: values and gradients of every node
    std::string compiler;                             // of a learner's text, see device::CompileOptions; "" the first found
    double compile_seconds = 30;                      // after which that compiler is ended
    double compile_processor_seconds = 0;             // the same of processor time; 0: as many
    std::optional<std::filesystem::path> submission;  // graded: the one folder, but for the lesson's, whose files the
                                                      // text may include, and no solution
    std::stop_token stop;
    std::function<void(double)>
        progress;  // 0..1 of a kernel or of training runs; launches so far of a training step as a negative count
};

struct GpuRun {  // the scene's kernel on another GPU, its figures alone
    model::GpuSpec gpu;
    int64_t cycles = 0;
    double time_us = 0;
    std::vector<model::Metric> metrics;
};

struct KernelResult {
    std::shared_ptr<const model::KernelRun> run;
    BoundArguments bound;
    std::vector<Array> outputs;       // out and inout buffers after the launch
    std::vector<GpuRun> generations;  // of a scene with gpus=, in its order
};

struct SceneResult {  // what ran, of one of these kinds; never null
    std::variant<std::shared_ptr<const KernelResult>, std::shared_ptr<const HostRun>, std::shared_ptr<const TapeRun>,
                 std::shared_ptr<const TrainingRuns>, std::shared_ptr<const ParallelScene>>
        of;

    template <class Kind>
    std::shared_ptr<const Kind> as() const {  // null: it is of another kind
        const auto* found = std::get_if<std::shared_ptr<const Kind>>(&of);
        return found ? *found : nullptr;
    }
    // Of a tensor program the last step, of training the first run's last one; null for other kinds.
    std::shared_ptr<const nn::StepRecord> step() const;
};

// "even_odd.cu" of the folder, by its checked-in PTX (ptx/even_odd.ptx beside it) when that has the source's hash, else
// compiled.
Result<std::shared_ptr<const ptx::Program>> load_kernel(const std::filesystem::path& folder, const std::string& file,
                                                        const std::string& kernel);
// A learner's text, CUDA or PTX by the name's end. A compile error's Diagnostic has line, column and caret of the text.
Result<std::shared_ptr<const ptx::Program>> compile_kernel(const std::string& text, const std::string& file,
                                                           const std::string& kernel, const std::string& compiler = {});
// The same with what `options` say of it, for an exercise of the lesson in `folder`.
Result<std::shared_ptr<const ptx::Program>> compile_submission(const std::string& text, const std::string& file,
                                                               const std::string& kernel,
                                                               const std::filesystem::path& folder,
                                                               const RunOptions& options);
// Whether ptx/<stem>.ptx beside the file holds the hash of its source; the Diagnostic says what to run.
Result<bool> check_ptx(const std::filesystem::path& source);

struct KernelLaunch {
    model::GpuSpec gpu;
    std::shared_ptr<const ptx::Program> program;
    simt::Dim3 grid, block;
    uint32_t dynamic_shared = 0;
    std::vector<KernelArgument> arguments;
    uint64_t seed = 1;
    std::filesystem::path folder;
    std::string source;                         // CUDA text, may be empty
    bool racecheck = false, initcheck = false;  // their reports are in TimedResult::reports
    std::byte shared_fill{};                    // as simt::LaunchConfig has it
};
Result<std::shared_ptr<const KernelResult>> run_timed(const KernelLaunch& launch, const RunOptions& options = {});

std::string gpu_of(const SceneHome& home, const Scene& scene, const RunOptions& options = {});
Result<SceneResult> run_scene(const SceneHome& home, const Scene& scene, const RunOptions& options = {});

}  // namespace lockstep::scene
