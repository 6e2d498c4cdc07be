#include "core/parallel/train/compression.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/rng.h"
#include "core/parallel/train/buckets.h"

namespace lockstep::parallel {

using comm::Buffer;
using comm::Communicator;

namespace {
// Elements of a buffer of f32 or f64, whichever it is.
std::vector<double> elements_of(const Buffer& buffer) {
    std::vector<double> values(static_cast<size_t>(buffer.count));
    if (!buffer.data) return values;
    if (buffer.type == DType::f64)
        std::memcpy(values.data(), buffer.data, values.size() * sizeof(double));
    else
        std::copy_n(static_cast<const float*>(buffer.data), values.size(), values.begin());
    return values;
}

void write_elements(const Buffer& buffer, std::span<const double> values) {
    if (!buffer.data) return;
    if (buffer.type == DType::f64)
        std::memcpy(buffer.data, values.data(), values.size() * sizeof(double));
    else
        std::transform(values.begin(), values.end(), static_cast<float*>(buffer.data),
                       [](double v) { return static_cast<float>(v); });
}

// A sum over the group of values that travel in the buffer's type.
void sum_over_group(std::vector<double>& values, DType type, Communicator& group) {
    std::vector<std::byte> bytes(values.size() * size_of(type));
    const Buffer buffer{bytes.data(), static_cast<int64_t>(values.size()), type};
    write_elements(buffer, values);
    group.all_reduce(buffer);
    values = elements_of(buffer);
}

// c[m,n] = a[m,k] b[k,n], or aᵀ b with a[k,m].
std::vector<double> small_product(std::span<const double> a, std::span<const double> b, int64_t m, int64_t k, int64_t n,
                                  bool transpose_a) {
    std::vector<double> c(static_cast<size_t>(m * n));
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < k; ++j) {
            const double x = a[static_cast<size_t>(transpose_a ? j * m + i : i * k + j)];
            for (int64_t l = 0; l < n; ++l) c[static_cast<size_t>(i * n + l)] += x * b[static_cast<size_t>(j * n + l)];
        }
    return c;
}
}  // namespace

std::vector<int32_t> largest_of(std::span<const double> values, int64_t k) {
    std::vector<int32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto size = [&](int32_t i) {
        const double v = std::abs(values[static_cast<size_t>(i)]);
        return std::isnan(v) ? HUGE_VAL : v;  // a NaN goes out, where it is seen
    };
    const auto before = [&](int32_t a, int32_t b) { return size(a) != size(b) ? size(a) > size(b) : a < b; };
    const auto some = static_cast<std::ptrdiff_t>(std::min<int64_t>(k, static_cast<int64_t>(order.size())));
    std::nth_element(order.begin(), order.begin() + std::max<std::ptrdiff_t>(0, some - 1), order.end(), before);
    order.resize(static_cast<size_t>(some));
    std::sort(order.begin(), order.end());
    return order;
}

void make_orthonormal(std::span<double> p, int64_t rows, int64_t columns) {
    const auto at = [&](int64_t i, int64_t c) -> double& { return p[static_cast<size_t>(i * columns + c)]; };
    for (int64_t c = 0; c < columns; ++c) {
        for (int64_t before = 0; before < c; ++before) {
            double dot = 0;
            for (int64_t i = 0; i < rows; ++i) dot += at(i, c) * at(i, before);
            for (int64_t i = 0; i < rows; ++i) at(i, c) -= dot * at(i, before);
        }
        double square = 0;
        for (int64_t i = 0; i < rows; ++i) square += at(i, c) * at(i, c);
        const double scale = square > 1e-60 ? 1 / std::sqrt(square) : 0;
        for (int64_t i = 0; i < rows; ++i) at(i, c) *= scale;
    }
}

std::vector<double> first_q(size_t parameter, int64_t columns, int64_t rank) {
    Rng rng(0x9e3779b9u + parameter);
    std::vector<double> q(static_cast<size_t>(columns * rank));
    for (double& value : q) value = rng.normal();
    return q;
}

Compressor::Memory& Compressor::memory_of(const Bucket& bucket) {
    for (auto& [of, memory] : memories_)
        if (of == &bucket) return memory;
    return memories_.emplace_back(&bucket, Memory{}).second;
}

int64_t Compressor::kept_bytes() const {
    size_t values = 0;
    for (const auto& [of, memory] : memories_) {
        values += memory.error.size();
        for (const auto& q : memory.q) values += q.size();
    }
    return static_cast<int64_t>(values * sizeof(double));
}

void Compressor::all_reduce(Bucket& bucket, const Buffer& whole, Communicator& group) {
    if (plan_.compression == Compression::fp16) return fp16(whole, group);
    Memory& memory = memory_of(bucket);
    memory.error.resize(static_cast<size_t>(whole.count));
    if (plan_.compression == Compression::top_k)
        top_k(memory, whole, group);
    else
        power_sgd(memory, bucket, whole, group);
}

void Compressor::fp16(const Buffer& whole, Communicator& group) {
    std::vector<double> values = elements_of(whole);
    std::vector<uint16_t> halves(values.size());
    std::transform(values.begin(), values.end(), halves.begin(), [](double v) { return f32_to_f16(static_cast<float>(v)); });
    group.all_reduce({whole.data ? halves.data() : nullptr, whole.count, DType::f16});
    std::transform(halves.begin(), halves.end(), values.begin(),
                   [](uint16_t h) { return static_cast<double>(f16_to_f32(h)); });
    write_elements(whole, values);
}

// Everybody gets everybody's pairs and adds them in the order of ranks.
void Compressor::top_k(Memory& memory, const Buffer& whole, Communicator& group) {
    const auto k = std::max<int64_t>(1, std::llround(plan_.keep * double(whole.count)));
    const int64_t pair = 4 + static_cast<int64_t>(size_of(whole.type));
    std::vector<double> values = elements_of(whole);
    for (size_t i = 0; i < values.size(); ++i) values[i] += memory.error[i];
    const auto members = static_cast<int64_t>(group.size());
    std::vector<std::byte> all(static_cast<size_t>(members * k * pair));
    std::byte* own = all.data() + group.rank() * k * pair;
    memory.error = values;
    for (const int32_t index : largest_of(values, k)) {
        std::memcpy(own, &index, 4);
        const auto at = static_cast<size_t>(index);
        const Buffer sent{own + 4, 1, whole.type};
        write_elements(sent, std::span(values).subspan(at, 1));
        memory.error[at] -= elements_of(sent)[0];
        own += pair;
    }
    const Buffer gathered{whole.data ? all.data() : nullptr, static_cast<int64_t>(all.size()), DType::u8};
    group.all_gather(gathered.part(group.rank() * k * pair, k * pair), gathered);
    std::fill(values.begin(), values.end(), 0.0);
    for (int64_t i = 0; i < members * k; ++i) {
        int32_t index = 0;
        std::memcpy(&index, all.data() + i * pair, 4);
        values[static_cast<size_t>(index)] += elements_of({all.data() + i * pair + 4, 1, whole.type})[0];
    }
    write_elements(whole, values);
}

// Of sums over ranks, not means: what a rank could not send is its gradient less its equal share of what all got.
void Compressor::power_sgd(Memory& memory, Bucket& bucket, const Buffer& whole, Communicator& group) {
    memory.q.resize(bucket.slots.size());
    for (size_t s = 0; s < bucket.slots.size(); ++s) {
        const BucketSlot& slot = bucket.slots[s];
        const Buffer part = whole.part(slot.offset, slot.count);
        const tensor::Shape& shape = model_.shards[slot.parameter].parameter->value.shape;
        const int64_t rows = shape.empty() ? 1 : shape[0], columns = slot.count / rows;
        const int64_t r = std::min<int64_t>({plan_.rank, rows, columns});
        if (shape.size() < 2 || r * (rows + columns) >= slot.count) {  // no smaller than it is
            group.all_reduce(part);
            continue;
        }
        std::vector<double>& q = memory.q[s];
        if (q.empty()) q = first_q(slot.parameter, columns, r);
        std::vector<double> m = elements_of(part);
        const auto error = std::span(memory.error).subspan(static_cast<size_t>(slot.offset), m.size());
        for (size_t i = 0; i < m.size(); ++i) m[i] += error[i];
        std::vector<double> p = small_product(m, q, rows, columns, r, false);
        sum_over_group(p, whole.type, group);
        make_orthonormal(p, rows, r);
        q = small_product(m, p, columns, rows, r, true);
        sum_over_group(q, whole.type, group);
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j) {
                double sum = 0;
                for (int64_t l = 0; l < r; ++l) sum += p[static_cast<size_t>(i * r + l)] * q[static_cast<size_t>(j * r + l)];
                const auto at = static_cast<size_t>(i * columns + j);
                error[at] = m[at] - sum / double(group.size());
                m[at] = sum;
            }
        write_elements(part, m);
    }
}

}  // namespace lockstep::parallel
