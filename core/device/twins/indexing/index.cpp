// Taking elements by number, and adding them back (kernels/index.cu).
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

static void check_indices(const int* index, int64_t n, int extent) {
    for (int64_t i = 0; i < n; ++i)
        if (index[i] < 0 || index[i] >= extent)
            throw Failure(fmt::format("index {} at place {} is outside of the {} rows", index[i], i, extent));
}

template <class T>
void index_select(ThreadPool& pool, const T* x, const int* index, T* y, int outer, int extent, int count, int inner) {
    check_indices(index, count, extent);
    each_row(pool, outer * count, inner, [=](int row) {
        const int64_t from = int64_t{row / count} * extent + index[row % count];
        std::copy_n(x + from * inner, inner, y + int64_t{row} * inner);
    });
}

// One walk from the end: where each index was met last.
void index_order(ThreadPool&, const int* index, int* next, int* first, int n) {
    int largest = 0;
    for (int i = 0; i < n; ++i) {
        if (index[i] < 0) throw Failure(fmt::format("index {} at place {} is negative", index[i], i));
        largest = std::max(largest, index[i]);
    }
    int* met = scratch<int>(0, static_cast<size_t>(largest) + 1);
    std::fill_n(met, static_cast<size_t>(largest) + 1, -1);
    for (int i = n - 1; i >= 0; --i) {
        int& last = met[index[i]];
        next[i] = last;
        first[i] = 1;
        if (last >= 0) first[last] = 0;
        last = i;
    }
}

template <class T>
void index_add(ThreadPool& pool, const T* x, const int* index, const int* next, const int* first, T* y, int outer,
               int extent, int count, int inner, int skip) {
    check_indices(index, count, extent);
    each_row(pool, outer * count, inner * 2, [=](int job) {
        const int start = job % count;
        if (!first[start] || index[start] == skip) return;
        const int64_t o = job / count;
        Acc<T>* sum = scratch<Acc<T>>(0, static_cast<size_t>(inner));
        T* to = y + (o * extent + index[start]) * inner;
        for (int r = 0; r < inner; ++r) sum[r] = to[r];
        for (int i = start; i >= 0; i = next[i]) {
            const T* from = x + (o * count + i) * inner;
            for (int r = 0; r < inner; ++r) sum[r] += Acc<T>(from[r]);
        }
        for (int r = 0; r < inner; ++r) to[r] = static_cast<T>(sum[r]);
    });
}

template <class T>
void gather(ThreadPool& pool, const T* x, const int* index, T* y, int outer, int extent, int count, int inner) {
    check_indices(index, int64_t{outer} * count * inner, extent);
    each_row(pool, outer * count, inner, [=](int row) {
        const int64_t o = row / count, at = int64_t{row} * inner;
        for (int r = 0; r < inner; ++r) y[at + r] = x[(o * extent + index[at + r]) * inner + r];
    });
}

// Each column in order, as the kernel's threads; columns side by side, as memory lies.
template <class T>
void add_columns(const int* index, const T* source, T* y, int64_t o, int extent, int count, int inner) {
    for (int64_t i = 0; i < count; ++i) {
        const int64_t at = (o * count + i) * inner;
        for (int r = 0; r < inner; ++r) {
            T& to = y[(o * extent + index[at + r]) * inner + r];
            to = Acc<T>(to) + Acc<T>(source[at + r]);
        }
    }
}
template <class T>
void scatter_add(ThreadPool& pool, const T* x, const int* index, const T* source, T* y, int outer, int extent, int count,
                 int inner) {
    check_indices(index, int64_t{outer} * count * inner, extent);
    each_row(pool, outer, (extent + count) * inner, [=](int o) {
        const int64_t begin = int64_t{o} * extent * inner;
        std::copy_n(x + begin, int64_t{extent} * inner, y + begin);
        add_columns(index, source, y, o, extent, count, inner);
    });
}
template <class T>
void gather_backward(ThreadPool& pool, const int* index, const T* dy, T* dx, int outer, int extent, int count, int inner) {
    check_indices(index, int64_t{outer} * count * inner, extent);
    each_row(pool, outer, (extent + count) * inner, [=](int o) {
        std::fill_n(dx + int64_t{o} * extent * inner, int64_t{extent} * inner, T(Acc<T>(0)));
        add_columns(index, dy, dx, o, extent, count, inner);
    });
}

template <class T>
void one_hot(ThreadPool& pool, const int* index, T* y, int count, int classes) {
    check_indices(index, count, classes);
    each_row(pool, count, classes, [=](int i) {
        for (int c = 0; c < classes; ++c) y[int64_t{i} * classes + c] = Acc<T>(c == index[i] ? 1 : 0);
    });
}

template <class T>
void masked_fill(ThreadPool& pool, const T* x, const int* mask, T* y, Acc<T> value, int n, int mask_count) {
    each_row(pool, (n + mask_count - 1) / mask_count, mask_count, [=](int row) {
        const int64_t begin = int64_t{row} * mask_count;
        const int width = std::min(mask_count, static_cast<int>(n - begin));
        for (int i = 0; i < width; ++i) {
            const Acc<T> kept = x[begin + i];
            y[begin + i] = mask[i] ? value : kept;
        }
    });
}

#define PLACES "outer=1+@k%3 extent=@m count=@n inner=1+@k%40"
std::span<const Kernel> index() {
    static constexpr Kernel rows[] = {
        {"index_select",
         "index.cu",
         "y[o,i,r] = x[o,index[i],r]: rows by number, an embedding",
         "x[outer,extent,inner] index[count]:i32{0..extent} >y[outer,count,inner] " PLACES,
         FLOATS(index_select),
         "threads(outer*count*inner)",
         Agreement::to_the_bit,
         {.stored_once = {2, {3, 5, 6}}}},
        {"index_add", "index.cu", "y[o,index[i],r] += x[o,i,r], in order",
         "x[outer,count,inner] index[count]:i32{0..extent} next[count]:i32{next:index} first[count]:i32{first:index} "
         "&y[outer,extent,inner] " PLACES " skip=extent/2",
         FLOATS(index_add), "grid(count,outer,1,128,1)"},
        {"gather", "index.cu", "y[o,i,r] = x[o,index[o,i,r],r]",
         "x[outer,extent,inner] index[outer,count,inner]:i32{0..extent} >y[outer,count,inner] " PLACES, FLOATS(gather),
         "threads(outer*count*inner)"},
        {"scatter_add", "index.cu", "y = x, then y[o,index[o,i,r],r] += source[o,i,r]",
         "x[outer,extent,inner] index[outer,count,inner]:i32{0..extent} source[outer,count,inner] "
         ">y[outer,extent,inner] " PLACES,
         FLOATS(scatter_add), "threads(outer*inner)"},
        {"gather_backward", "index.cu", "dx = 0, then dx[o,index[o,i,r],r] += dy[o,i,r]",
         "index[outer,count,inner]:i32{0..extent} dy[outer,count,inner] >dx[outer,extent,inner] " PLACES,
         FLOATS(gather_backward), "threads(outer*inner)"},
        {"one_hot", "index.cu", "y[i,c] = 1 where c = index[i], else 0",
         "index[count]:i32{0..classes} >y[count,classes] count=@m classes=@n", FLOATS(one_hot), "threads(count*classes)"},
        {"masked_fill", "index.cu", "y = value where the mask is set, else x",
         "x[n] mask[mask_count]:i32{0..2} >y[n] value:sum=-10000 n mask_count=@n", FLOATS(masked_fill)},
        {"index_order",
         "index.cu",
         "next[i] = the next place with index[i], first[i] = whether it is the first",
         "index[n]:i32{0..1+@k} >next[n] >first[n] n",
         {.i32 = run<index_order>}},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
