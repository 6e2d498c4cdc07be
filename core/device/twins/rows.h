// What a warp does with a row, for the twins of kernels that give one to each row: lane l adds the elements l, l + 32, ...,
// and a butterfly of shuffles adds the 32 lanes.
#pragma once
#include "core/device/twins/element.h"
#include "core/device/twins/twins.h"
#include "core/device/twins/vector_math.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class A, class Value>
A sum_of_row(int count, const Value& value) {
    A lanes[32] = {};
    int i = 0;
    for (; i + 32 <= count; i += 32)
        for (int j = 0; j < 32; ++j) lanes[j] += value(i + j);
    for (int j = 0; i + j < count; ++j) lanes[j] += value(i + j);
    return tree_sum(lanes, 32);
}

// NaN wins, whatever the order.
template <class T>
Acc<T> largest_of_row(const T* x, int count) {
    constexpr int width = 16;
    Acc<T> lanes[width];
    std::fill_n(lanes, width, Acc<T>(x[0]));
    const auto larger = [](Acc<T> a, Acc<T> b) { return ((b > a) | (b != b)) ? b : a; };
    int i = 0;
    for (; i + width <= count; i += width)
        for (int j = 0; j < width; ++j) lanes[j] = larger(lanes[j], Acc<T>(x[i + j]));
    for (int j = 0; i + j < count; ++j) lanes[j] = larger(lanes[j], Acc<T>(x[i + j]));
    for (int j = 1; j < width; ++j) lanes[0] = larger(lanes[0], lanes[j]);
    return lanes[0];
}

// power[i] = exp(x[i] - largest); their sum.
template <class T>
Acc<T> powers_of_row(const T* x, int count, Acc<T> largest, Acc<T>* power) {
    for (int i = 0; i < count; ++i) power[i] = exp_of(Acc<T>(x[i]) - largest);
    return sum_of_row<Acc<T>>(count, [=](int i) { return power[i]; });
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
