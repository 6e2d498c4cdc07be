// Matrix products of a step, or of a kernel's arguments, as pictures need them: which row and column make an element, how a
// launch cuts the result into tiles, and products that are one product cut over several GPUs: by columns, whose parts stand
// side by side, or by rows, whose parts are added. Worked out without drawing; tested without a window.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/nn/train/step_record.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/scene.h"

namespace lockstep::gui {

struct ProductRun {  // one launch of the product, or of its backward
    std::string label = {};
    bool back = false;
    int64_t rows = 0, inner = 0, columns = 0;  // of what it makes, and what it sums over
    int64_t down = 0, across = 0;              // blocks of its grid
    int64_t tile_rows = 0, tile_columns = 0;   // elements of the result that a block makes
    double us = 0;                             // 0: it was not timed
    int sms = 0;                               // of the GPU that ran it; 0: not known
    int64_t blocks() const { return down * across; }
    int64_t steps() const { return tile_rows > 0 ? (inner + tile_rows - 1) / tile_rows : 0; }  // along the inner extent
};

struct MatrixProduct {
    enum class Cut : uint8_t { none, columns, rows } cut = Cut::none;
    std::string x_name = {}, w_name = {}, y_name = {};
    int64_t rows = 0, inner = 0, columns = 0;
    bool stored_by_rows = false;                   // W is kept as [columns, inner]: y = x Wᵀ
    std::vector<float> x = {}, w = {}, bias = {};  // [rows, inner], [inner, columns] as it multiplies, [columns] or empty
    std::string added_name = {};
    std::vector<float> added = {};               // a matrix that the product is added to, [rows, columns]; or empty
    std::vector<float> y = {};                   // [rows, columns]
    bool ran = false;                            // y is what ran; else the sums
    std::vector<int64_t> ends = {};              // of the parts, along columns or along inner; one a GPU
    std::vector<std::vector<float>> parts = {};  // cut by rows: what each GPU has of y
    bool joined = false;                         // the step joins the parts: side by side, or as a sum
    std::vector<ProductRun> runs = {};           // forward first
    int64_t blocks_down = 0, blocks_across = 0;  // of a kernel's launch, which cut y into equal tiles; 0: they do not
    std::vector<int> nodes = {};                 // of the tape
    int last_node = -1;                          // with which y is whole

    int64_t part_of(int64_t column, int64_t k) const;  // the GPU that multiplies there, from 0
    double term(int64_t row, int64_t column, int64_t k) const {
        return static_cast<double>(x[static_cast<size_t>(row * inner + k)]) *
               static_cast<double>(w[static_cast<size_t>(k * columns + column)]);
    }
    // Of an element what the products from `from` to `to` of the inner extent sum up to.
    double sum(int64_t row, int64_t column, int64_t from, int64_t to) const;
};

// Every product of two matrices of the step whose values are kept. Products of weights that are called alike but for a
// number at the end ("W1", "W2") are one that is cut.
std::vector<MatrixProduct> products_of(const nn::StepRecord& step);
// What a scene gives its kernel; what cannot be read is left out.
std::vector<scene::KernelArgument> arguments_of(const scene::Scene& scene);
// Of a kernel that is given x [rows, inner], w [inner, columns] or [columns, inner], perhaps a bias [columns] or a matrix
// that the product is added to, and an output [rows, columns], each of f32, f16 or bf16. Where both forms of w fit, one with
// a bias is taken as a layer's. `seed`: as bind_arguments has it; `names`: of the kernel's parameters, or none.
std::optional<MatrixProduct> product_of(std::span<const scene::KernelArgument> arguments, uint64_t seed,
                                        std::span<const std::string> names = {});

}  // namespace lockstep::gui
