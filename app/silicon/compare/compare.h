// The model held against measurements (silicon.h), and what follows from them. compare_silicon runs every measured kernel on
// the modelled GPU (compare.cpp), keeping what it got in a file of the user's cache (cache.cpp);
// fit_silicon looks for better estimates in the GPU's row, by one half of the kernels, and lets the other half judge them
// (fit.cpp). Nothing is ever changed in the row itself.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "app/silicon/silicon.h"
#include "core/model/gpus/gpu_spec.h"

namespace lockstep::device {

struct SiliconRow {
    std::string name;
    SiliconHalf half = SiliconHalf::fit;
    double measured = 0, modelled = 0;  // cycles of the SM
    double error() const { return (modelled - measured) / measured; }
};
struct SiliconReport {
    std::string gpu, model;  // "NVIDIA H200", "h200"
    double overhead = 0;  // cycles that the events add to every measured time and the model has not, taken off in the rows
    std::vector<SiliconRow> rows;
    std::vector<std::string> remarks;
};
struct SiliconTotal {
    size_t rows = 0;
    double mean_error = 0;   // of |error|; not a number where an error is none
    double correlation = 0;  // Pearson's, of the logarithms of the cycles; not a number below three rows
};
// What is aimed at on the half that judges.
constexpr double silicon_error_aim = 0.20, silicon_correlation_aim = 0.98;

// The row of core/model/gpus/gpus.cpp that a GPU's own name means: "NVIDIA H200" is "h200". nullopt: none.
std::optional<std::string> model_of(std::string_view gpu);

// Cycles that this very program got before, in a file: another build of it begins anew. A file that is damaged, missing or
// not to be written is no cache, never an error. May be used from several threads.
class SiliconCache {
  public:
    explicit SiliconCache(std::filesystem::path file);
    std::optional<int64_t> find(const std::string& key) const;
    void keep(const std::string& key, int64_t cycles);  // writes the file

  private:
    mutable std::mutex mutex_;
    std::filesystem::path file_;
    std::map<std::string, int64_t> cycles_;
};
std::filesystem::path silicon_cache_file();  // $XDG_CACHE_HOME/lockstep/silicon.json
// Of all that decides a row's cycles: the PTX, the launch, the arguments, every figure of the GPU.
std::string silicon_key(const model::GpuSpec& gpu, const PackRow& row);

struct CompareOptions {
    std::span<const PackRow> pack = silicon_pack();
    int threads = 1;                // kernels that run side by side: changes no figure
    SiliconCache* cache = nullptr;  // none: everything runs
    bool kept_only = false;         // what the cache lacks does not run: its cycles are not a number
    std::stop_token stop;           // ends with a Cancelled
    // Progress, one call at a time: `done` of `of` kernels are ready, `name` is the one that got ready.
    std::function<void(std::string_view name, size_t done, size_t of)> finished;
};
// Runs each measured kernel on the modelled GPU, cycle by cycle. model: "" takes model_of(file.gpu). Throws Failure.
SiliconReport compare_silicon(const SiliconFile& file, std::string model, const CompareOptions& options = {});
// The same on a GPU's row that was changed. `half`: only those kernels.
SiliconReport compare_silicon(const SiliconFile& file, const model::GpuSpec& gpu, const CompareOptions& options,
                              std::optional<SiliconHalf> half = {});
SiliconTotal total_of(std::span<const SiliconRow> rows, SiliconHalf half);

// ---- Fitting. Figures of the row that were estimated, or taken from another model, are tried a fifth smaller and a quarter
// larger on the fitting half; figures that were published stay as they are.
struct SiliconProposal {
    std::string figure, label, unit, source;  // of the GPU's row, as model::figures_of has them
    double from = 0, to = 0;
    double error_without = 0, error_with = 0;  // of the fitting half, reckoned: all other proposals, and this one too
};
struct SiliconFit {
    std::string gpu, model;
    std::vector<SiliconProposal> proposals;                         // most useful first; empty: nothing helps
    std::vector<std::string> tried;                                 // figures
    SiliconTotal fit_before, fit_after, judge_before, judge_after;  // all simulated; after: with all proposals
    std::vector<std::string> remarks;
};
// Names of the row's figures that may be fitted.
std::vector<std::string> fitted_figures(const model::GpuSpec& gpu);
// Runs the fitting half twice a figure, and both halves before and after: with a cache it goes on where it was cut off.
// `figures`: only those; throws Failure where one may not be fitted, or where fewer than 3 kernels are on either half.
SiliconFit fit_silicon(const SiliconFile& file, const model::GpuSpec& gpu, const CompareOptions& options,
                       const std::vector<std::string>& figures = {});

}  // namespace lockstep::device
