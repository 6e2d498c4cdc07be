// Matrix products by oneDNN's row-major sgemm, one thread a call: OpenMP's threads spin where they wait, which on a busy
// machine takes milliseconds a product. C is cut into bands instead, for our own threads.
#include <dnnl.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/device/kernels/matmul.h"
#include "core/system/system.h"

namespace lockstep::device {

namespace {
// Measured on Zen 4 and 5: bands of 16 rows cost 2 % over the whole product. B transposed is packed anew for each band of
// rows, so such a C is cut by columns, of which fewer than 128 cost twice as much; where A has many rows, B is turned first,
// which takes 2 % of the product, and bands of rows then gain 4 %. A part takes 25 us or more.
constexpr int rows_of_part = 16, columns_of_part = 128, rows_that_turn = 512;
constexpr int64_t products_of_part = 3 << 19;

// The count belongs to the calling thread. Looked up, not linked: whichever OpenMP came with oneDNN, or none.
void keep_to_one_thread() {
    thread_local const bool done = [] {
        using Set = void (*)(int);
        if (const auto set = reinterpret_cast<Set>(system::symbol_of_program("omp_set_num_threads"))) set(1);
        return true;
    }();
    static_cast<void>(done);
}

void product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, int64_t row_a,
             const float* b, int64_t row_b, float* c, int64_t row_c) {
    keep_to_one_thread();
    const auto status =
        dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a, row_a, b, row_b, 0.0f, c, row_c);
    if (status != dnnl_success)
        throw Failure(
            fmt::format("oneDNN refused a {} x {} x {} matrix product (status {})", m, n, k, static_cast<int>(status)));
}
// Four elements of four rows, in registers: element i of row j goes to element j of column i.
void turn_four(const float* x, int64_t row_x, float* y, int64_t row_y) {
    using Four [[gnu::vector_size(16)]] = float;
    Four row[4];
    for (int64_t i = 0; i < 4; ++i) std::memcpy(&row[i], x + i * row_x, sizeof row[i]);
    const Four upper = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5),
               lower = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5),
               upper_end = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7),
               lower_end = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
    const Four column[4] = {__builtin_shufflevector(upper, lower, 0, 1, 4, 5),
                            __builtin_shufflevector(upper, lower, 2, 3, 6, 7),
                            __builtin_shufflevector(upper_end, lower_end, 0, 1, 4, 5),
                            __builtin_shufflevector(upper_end, lower_end, 2, 3, 6, 7)};
    for (int64_t i = 0; i < 4; ++i) std::memcpy(y + i * row_y, &column[i], sizeof column[i]);
}
// [rows,columns] -> [columns,rows]
void turn(const float* x, int64_t rows, int64_t columns, float* y) {
    constexpr int64_t side = 16;  // a square of the host's cache lines
    for (int64_t row = 0; row < rows; row += side)
        for (int64_t column = 0; column < columns; column += side) {
            const int64_t row_end = std::min(rows, row + side), column_end = std::min(columns, column + side);
            const int64_t whole_rows = row + (row_end - row) / 4 * 4, whole_columns = column + (column_end - column) / 4 * 4;
            for (int64_t j = column; j < whole_columns; j += 4)
                for (int64_t i = row; i < whole_rows; i += 4)
                    turn_four(x + i * columns + j, columns, y + j * rows + i, rows);
            for (int64_t j = column; j < column_end; ++j)
                for (int64_t i = j < whole_columns ? whole_rows : row; i < row_end; ++i)
                    y[j * rows + i] = x[i * columns + j];
        }
}
}  // namespace

void matmul_here(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c) {
    if (m <= 0 || n <= 0) return;
    if (k <= 0)
        std::fill_n(c, static_cast<size_t>(m) * static_cast<size_t>(n), 0.0f);
    else
        product(transpose_a, transpose_b, m, n, k, a, transpose_a ? m : k, b, transpose_b ? k : n, c, n);
}

void matmul(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c,
            ThreadPool& pool, bool tell) {
    if (m <= 0 || n <= 0) return;
    if (k <= 0) {
        std::fill_n(c, static_cast<size_t>(m) * static_cast<size_t>(n), 0.0f);
        return;
    }
    if (transpose_b && m >= rows_that_turn) {
        thread_local std::vector<float> turned;
        if (turned.size() < static_cast<size_t>(n) * static_cast<size_t>(k))
            turned.resize(static_cast<size_t>(n) * static_cast<size_t>(k));
        turn(b, n, k, turned.data());
        b = turned.data();
        transpose_b = false;
    }
    const bool by_rows = !transpose_b;
    const int64_t extent = by_rows ? m : n;
    const int64_t most =
        std::min(extent / (by_rows ? rows_of_part : columns_of_part), int64_t{m} * n * k / products_of_part);
    const auto parts = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(most, 1, 64))));
    pool.run(static_cast<int>(parts), [&](int part) {
        const auto border = [&](int64_t p) { return p == parts ? extent : extent * p / parts / 8 * 8; };
        const int64_t begin = border(part), length = border(part + 1) - begin;
        const float* from_a = by_rows ? a + (transpose_a ? begin : begin * k) : a;
        const float* from_b = by_rows ? b : b + begin * k;
        const bool told = tell && by_rows;
        float* to = told ? pool.place(c, begin * n, length * n) : by_rows ? c + begin * n : c + begin;
        product(transpose_a, transpose_b, by_rows ? length : m, by_rows ? n : length, k, from_a, transpose_a ? m : k, from_b,
                transpose_b ? k : n, to, n);
        if (told) pool.made(begin * n, length * n);
    });
}

const char* matmul_library() {
    static const std::string name = [] {
        const auto* version = dnnl_version();
        return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
    }();
    return name.c_str();
}

}  // namespace lockstep::device
