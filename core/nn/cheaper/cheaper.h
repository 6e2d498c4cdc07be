// Cheaper arithmetic, each form beside f32: a model is trained, made cheaper, judged on what it has not seen, and its bytes
// and operations are counted. Every function returns a table of plain rows; the first row is f32's. Sizes are the caller's:
// a few hundred steps of `mlp` take about a second on one core.
//
//     Comparison c = compare_quantized({.model = "mlp", .steps = 300});
//     for (const CheaperRow& row : c.rows) fmt::print("{} {} {}\n", row.method, row.quality, row.bytes);
//
// Accuracies and losses are executed, bytes and operations derived from shapes (each buffer moved once a kernel).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/nn/train/step_record.h"

namespace lockstep::tensor {
class Heap;
}

namespace lockstep::nn {

struct Checkpoint;
struct Task;
struct TrainerOptions;

struct Comparison;

struct CheaperRun {  // how the models of a comparison are trained; 0 and "": the model's own
    std::string model = "mlp", data = "";
    int64_t steps = 0, batch = 0;
    double learning_rate = 0;
    uint64_t seed = 1;
    std::string device = "host";  // that trains; evaluations are on the host
    bool functional = false;
    int threads = 1;
    int64_t test_examples = 0;  // of the test set; 0: all
    std::stop_token stop = {};
    // What is being trained ("f32", "2:4, fine-tuned") and its step.
    std::function<void(const std::string& phase, const StepRecord& step)> on_step = {};
    std::function<void(const Comparison& so_far)> on_row = {};  // it has one row more
};

struct CheaperRow {
    std::string method;      // "f32", "int8 per channel, min-max"
    double quality = 0;      // accuracy, 0 to 1, or nats a character: the comparison's measure
    double loss = 0;         // on the test set
    double bytes = 0;        // of the parameters as they are stored for use
    double moved = 0;        // bytes moved, an example: a forward pass; where training is compared, a training step
    double operations = 0;   // arithmetic, an example, likewise
    int64_t trained = 0;     // parameters that were trained
    double state_bytes = 0;  // of what the optimiser keeps
    std::vector<Measure> more;
};

struct Comparison {
    std::string method, model, data;
    std::string measure;  // "accuracy", "nats a character"
    bool lower_is_better = false;
    std::string moves;  // what `moved` and `operations` are of: "an example forward", "an example trained"
    std::vector<CheaperRow> rows;
};

// ---- mixed precision: f32 beside each of the types, trained from the same seed; `moved`: of a training step.
Comparison compare_precision(const CheaperRun& run, std::span<const DType> types);

// ---- int8: symmetric, -127 .. 127, scale = largest magnitude / 127, rounded to nearest even
struct QuantizedMatrix {
    int64_t rows = 0, columns = 0;
    std::vector<int8_t> values;  // [rows, columns]
    std::vector<float> scales;   // one, or one a row
    double value(int64_t row, int64_t column) const;
};
QuantizedMatrix quantize_matrix(std::span<const float> values, int64_t rows, bool by_row);

enum class Calibration : uint8_t { min_max, percentile };  // of activations: the largest, or what 99.9 % stay below
struct QuantizeOptions {
    bool by_row = true;         // a scale for each output of a layer (per channel), or one a layer
    bool weights_only = false;  // activations stay f32
    bool requantizes = false;   // between linear layers they stay int8: a product's sums straight to the next one's input
    Calibration calibration = Calibration::min_max;
    double percentile = 0.999;
    int64_t batches = 4;  // of training data that calibrate
};
// Rows: f32; weights alone, per tensor and per channel (models of linear layers); weights and activations, per tensor and
// per channel, min-max and percentile; of mlp and mlp512 requantised too. A text model's embedding stays f32, beside
// the 8-bit form of a head that is the same matrix: the bytes count both.
Comparison compare_quantized(const CheaperRun& run);

// ---- pruning
// Ones and zeros: of all values together the `share` smallest magnitudes go (the earlier of equals first).
std::vector<std::vector<float>> magnitude_masks(std::span<const std::vector<float>> layers, double share, bool by_layer);
std::vector<float> two_of_four_mask(std::span<const float> values, int64_t rows);  // of four along a row, two stay

struct Sparse24 {  // kernels/sparse24.cu: as mma.sp reads it
    int64_t rows = 0, columns = 0;
    std::vector<float> values;     // [rows, columns / 2]
    std::vector<uint32_t> places;  // [rows, columns / 32 rounded up]: two bits a value, the first lowest
    int64_t bytes() const;         // values, and two bits each
    std::vector<float> dense() const;
};
// Throws Failure where the columns are no multiple of 4 or a group of four keeps more than two.
Sparse24 compress_two_of_four(std::span<const float> values, int64_t rows);

struct PruneOptions {
    std::vector<double> shares = {0.5, 0.8, 0.9, 0.95};  // empty: 2:4 alone
    bool by_layer = false, two_of_four = true;
    int64_t fine_tune = 0;  // steps with the mask; 0: a fifth of the training's
};
// Rows: f32; each share as it is and fine-tuned; 2:4 likewise, run in its compressed form.
Comparison compare_pruned(const CheaperRun& run, const PruneOptions& options = {});

// ---- distillation: loss = (1 - weight) cross-entropy + weight T^2 KL(teacher at T || student at T)
struct DistillOptions {
    std::string teacher = "mlp512";
    double temperature = 4, weight = 0.7;
    int64_t seeds = 3, teacher_steps = 0;
};
// Rows: the teacher, the student alone and the student taught, means over the seeds; `more` has the spread.
Comparison compare_distilled(const CheaperRun& run, const DistillOptions& options = {});

// ---- LoRA: y = x Wᵀ + alpha / rank (x Aᵀ) Bᵀ; W frozen, A from N(0, 1 / inputs), B zero
struct LoraOptions {
    int64_t rank = 8;
    double alpha = 16;
    std::string data = "pig latin";  // what the trained model is tuned to
    int64_t tune_steps = 0;          // 0: a quarter of the training's
};
// Rows: the model before tuning, tuned whole, tuned by LoRA, and LoRA merged into the weights: all on the other data.
Comparison compare_lora(const CheaperRun& run, const LoraOptions& options = {});

// ---- a run of its own in a cheaper form: it begins, at step 0, with a checkpoint's weights; what it saves holds its masks
// or adapters (kept_form.h)
struct Form {
    bool prunes = false, by_layer = false, two_of_four = false;
    double share = 0;  // of all weights of linear layers and convolutions: the smallest magnitudes go; not with two_of_four
    int64_t rank = 0;  // of LoRA's adapters on the linear layers; 0: none
    double alpha = 16;
};
struct FormedRun {
    std::function<void(Task& task, tensor::Heap& heap)> alter;  // for TrainerOptions
    int64_t kept = 0, weights = 0;                              // of those that can be pruned: what the masks keep, and all
};
// Masks of the checkpoint stay, zeros of a new one among them. Throws Failure: another model, adapters in the checkpoint,
// weights that do not fit.
FormedRun begin_in_form(const TrainerOptions& options, const Checkpoint& from, const Form& form);

// The table as lines of text, with ratios to the first row.
std::string text_of(const Comparison& comparison);

}  // namespace lockstep::nn
