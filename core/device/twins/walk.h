// Walking tensors by strides: up to three operands over one shape of six axes (kernels/strided.cu). Neighbouring axes that
// lie one behind the other in every operand are joined first, so that the inner loop is as long as it can be.
#pragma once
#include <array>
#include <cstdint>

#include "core/device/twins/twins.h"

// For rows: six extents and six strides as a test case has them, all but the last two of one element, and how many elements
// they reach over.
#define EXTENTS(e, before_last, last) #e "0=1 " #e "1=1 " #e "2=1 " #e "3=1 " #e "4=" before_last " " #e "5=" last
#define STRIDES(s, before_last, last) #s "0=0 " #s "1=0 " #s "2=0 " #s "3=0 " #s "4=" before_last " " #s "5=" last
#define ALONG(e, s, i) "+(" #e #i "-1)*" #s #i
#define REACH(e, s) "1" ALONG(e, s, 0) ALONG(e, s, 1) ALONG(e, s, 2) ALONG(e, s, 3) ALONG(e, s, 4) ALONG(e, s, 5)
// A transposed [n,m].
#define STRIDED "n rank=2 " EXTENTS(e, "@m", "@n") " " STRIDES(s, "1", "@m")
// x[first,m,n] over its first and last axis, m outputs.
#define AXES_OF_CASE(first) \
    "n=@m count=" first     \
    "*@n " EXTENTS(e, "1", "@m") " " STRIDES(s, "0", "@n") " " EXTENTS(f, first, "@n") " " STRIDES(g, "@m*@n", "1")
#define REACH_OF_AXES REACH(e, s) "-1+" REACH(f, g)

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <size_t operands>
struct Walk {
    struct Axis {
        int64_t extent = 1;
        std::array<int64_t, operands> strides = {};
    };
    std::array<Axis, 6> axes = {};
    int rank = 0;

    void add(int64_t extent, std::array<int64_t, operands> strides) {  // from the first axis to the last
        if (extent == 1) return;
        if (rank > 0) {
            Axis& before = axes[static_cast<size_t>(rank - 1)];
            bool joins = true;
            for (size_t k = 0; k < operands; ++k) joins = joins && before.strides[k] == strides[k] * extent;
            if (joins) {
                before.extent *= extent;
                before.strides = strides;
                return;
            }
        }
        axes[static_cast<size_t>(rank++)] = {extent, strides};
    }

    Axis inner() const { return rank > 0 ? axes[static_cast<size_t>(rank - 1)] : Axis{}; }
    int64_t outer() const {
        int64_t count = 1;
        for (int i = 0; i + 1 < rank; ++i) count *= axes[static_cast<size_t>(i)].extent;
        return count;
    }
    std::array<int64_t, operands> offsets(int64_t row) const {  // of the inner loop number `row`
        std::array<int64_t, operands> at = {};
        for (int i = rank - 2; i >= 0; --i) {
            const Axis& axis = axes[static_cast<size_t>(i)];
            const int64_t along = row % axis.extent;
            row /= axis.extent;
            for (size_t k = 0; k < operands; ++k) at[k] += along * axis.strides[k];
        }
        return at;
    }

    // loop(offsets, extent) for every inner loop; its strides are inner().strides.
    template <class Loop>
    void each(ThreadPool& pool, const Loop& loop) const {
        const Axis last = inner();
        const int64_t rows = outer(), together = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(last.extent, 1));
        const int64_t parts = rows <= 0 ? 0 : (rows - 1) / together + 1;
        const auto part_of = [&](int part) {
            const int64_t begin = part * together, end = std::min(rows, begin + together);
            for (int64_t row = begin; row < end; ++row) loop(offsets(row), last.extent);
        };
        if (parts == 1) return part_of(0);
        pool.run(static_cast<int>(parts), part_of);
    }
};

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
