// The cases of the kernels of layers: convolution, pooling, softmax, normalisations, losses. Extents are
// drawn from the shape, so that strides, paddings, dilations, groups and edges all occur.
#include <algorithm>
#include <climits>
#include <cmath>

#include "core/device/kernels/kernel_case_writer.h"

namespace lockstep::device::kernel_cases {

namespace {
namespace layer_cases {

struct Writer : CaseWriter {
    // Of the type of sums, as statistics are.
    void sums(int count, double low, double high) {
        buffer(row.type == DType::f64 ? DType::f64 : DType::f32, count, [&] { return rng.uniform(low, high); });
    }
    void sums_result(int count) { sums(count, 70, 77); }
    void threads(int count, int of_block = 256) { grid(cover(count, of_block)), block(static_cast<uint32_t>(of_block)); }
    void warps(int rows) { grid(cover(rows, 4)), block(128); }
    void blocks(int count) { grid(static_cast<uint32_t>(count)), block(256); }
    void append(const std::vector<int>& values) {
        for (const int value : values) result.arguments.emplace_back(value);
    }
};

bool convolution(Writer& w, Shape shape, std::string_view kernel) {
    if (kernel == "add_channel") {
        const int batch = 1 + shape.k % 5;
        w.given(batch * shape.m * shape.n), w.given(shape.m), w.numbers({batch, shape.m, shape.n});
        w.threads(batch * shape.m * shape.n);
        return true;
    }
    if (kernel == "channel_sum") {
        const int batch = 1 + shape.k % 5;
        w.given(batch * shape.m * shape.n), w.result_buffer(shape.m), w.numbers({batch, shape.m, shape.n});
        w.blocks(shape.m);
        return true;
    }
    if (!kernel.starts_with("conv2d") && kernel != "im2col" && kernel != "col2im") return false;
    const int groups = 1 + shape.k % 2, batch = 1 + shape.m % 4, depth = 1 + shape.n % 3, own = 1 + shape.m % 7;
    const int channels = groups * depth, filters = groups * own, kernel_height = 1 + shape.m % 3,
              kernel_width = 1 + shape.n % 4;
    const int down = 1 + shape.k % 3 / 2, right = 1 + shape.n % 2, padding_down = shape.n % 3, padding_right = shape.m % 2,
              dilation_down = 1 + shape.n / 2 % 2, dilation_right = 1 + shape.m / 4 % 2;
    const int height = 5 + shape.n % 8, width = 7 + shape.k % 20;
    const int out_height = (height + 2 * padding_down - dilation_down * (kernel_height - 1) - 1) / down + 1,
              out_width = (width + 2 * padding_right - dilation_right * (kernel_width - 1) - 1) / right + 1;
    const int taps = depth * kernel_height * kernel_width, positions = out_height * out_width;
    const int in = batch * channels * height * width, out = batch * filters * positions, weights = filters * taps,
              columns = batch * groups * taps * positions;
    const std::vector<int> sizes = {batch,         channels,      height,         width, filters, out_height,
                                    out_width,     kernel_height, kernel_width,   down,  right,   padding_down,
                                    padding_right, dilation_down, dilation_right, groups};
    const std::vector<int> product = {batch, groups, own, positions, taps};
    w.approximate();
    if (kernel == "conv2d") {
        w.given(in), w.given(weights), w.given(filters), w.result_buffer(out), w.numbers({shape.m % 2}), w.append(sizes);
        w.threads(out);
    } else if (kernel == "conv2d_backward_data") {
        w.given(weights), w.given(out), w.result_buffer(in), w.append(sizes);
        w.threads(in);
    } else if (kernel == "conv2d_backward_weight") {
        w.given(in), w.given(out), w.result_buffer(weights), w.append(sizes);
        w.blocks(weights);
    } else if (kernel == "im2col") {
        w.given(in), w.result_buffer(columns), w.append(sizes);
        w.threads(columns);
        w.result.exact = true;
    } else if (kernel == "col2im") {
        w.given(columns), w.result_buffer(in), w.append(sizes);
        w.threads(in);
        w.result.exact = true;
    } else {
        const auto z = static_cast<uint32_t>(batch * groups);
        if (kernel == "conv2d_product") {
            w.given(weights), w.given(columns), w.given(filters), w.result_buffer(out), w.numbers({shape.m % 2});
            w.grid(CaseWriter::cover(positions, 16), CaseWriter::cover(own, 16), z);
        } else if (kernel == "conv2d_product_data") {
            w.given(weights), w.given(out), w.result_buffer(columns);
            w.grid(CaseWriter::cover(positions, 16), CaseWriter::cover(taps, 16), z);
        } else {
            w.given(out), w.given(columns), w.result_buffer(weights);
            w.grid(CaseWriter::cover(taps, 16), CaseWriter::cover(own, 16), static_cast<uint32_t>(groups));
        }
        w.append(product);
        w.block(16, 16);
    }
    return true;
}

bool pooling(Writer& w, Shape shape, std::string_view kernel) {
    const int planes = 1 + shape.m % 11, height = 4 + shape.n % 9, width = 4 + shape.k % 17, in = planes * height * width;
    if (kernel.starts_with("plane_mean")) {
        const int size = height * width;
        if (kernel == "plane_mean") {
            w.given(in), w.result_buffer(planes), w.warps(planes);
        } else {
            w.given(planes), w.result_buffer(in), w.threads(in);
        }
        w.numbers({planes, size});
        return true;
    }
    if (kernel.starts_with("adaptive_avg_pool2d")) {
        const int out_height = 1 + shape.k % 5, out_width = 1 + shape.m % 6, out = planes * out_height * out_width;
        const bool backward = kernel.ends_with("backward");
        w.given(backward ? out : in), w.result_buffer(backward ? in : out), w.threads(backward ? in : out);
        w.numbers({planes, height, width, out_height, out_width});
        return true;
    }
    if (!kernel.starts_with("max_pool2d") && !kernel.starts_with("avg_pool2d")) return false;
    const bool halving = shape.k % 4 == 0;  // 2 x 2 side by side, which the native twin does in vectors
    const int kernel_height = halving ? 2 : 1 + shape.k % 3, kernel_width = halving ? 2 : 2 + shape.m % 2,
              down = halving ? 2 : 1 + shape.n % 3, right = down;
    const int padding_down = halving ? 0 : kernel_height / 2, padding_right = halving ? 0 : shape.m % 2;
    const int out_height = (height + 2 * padding_down - kernel_height) / down + 1,
              out_width = (width + 2 * padding_right - kernel_width) / right + 1, out = planes * out_height * out_width;
    const std::vector<int> sizes = {planes,       height, width, out_height,   out_width,    kernel_height,
                                    kernel_width, down,   right, padding_down, padding_right};
    if (kernel == "max_pool2d") {
        w.given(in), w.result_buffer(out), w.indices(out, 5), w.threads(out);
        if (in > 20) w.result.buffers[0].values[5] = NAN;
    } else if (kernel == "max_pool2d_backward") {
        w.given(out), w.indices(out, height * width), w.result_buffer(in), w.threads(in);
    } else {
        const bool backward = kernel.ends_with("backward");
        w.given(backward ? out : in), w.result_buffer(backward ? in : out), w.threads(backward ? in : out);
        w.numbers({shape.n % 2});
    }
    w.append(sizes);
    return true;
}

bool softmax(Writer& w, Shape shape, std::string_view kernel) {
    const int m = shape.m, n = shape.n, elements = m * n;
    if (!kernel.starts_with("softmax") && !kernel.starts_with("log_softmax")) return false;
    if (kernel.starts_with("softmax_cross")) return false;
    w.given(elements);
    for (double& value : w.result.buffers[0].values) value *= 8;
    if (kernel == "softmax_backward")  // from probabilities
        for (double& value : w.result.buffers[0].values) value = std::abs(value) / 16;
    if (kernel.ends_with("backward")) w.given(elements);
    w.result_buffer(elements), w.numbers({m, n});
    if (kernel == "softmax_causal") w.numbers({1 + shape.k % n});
    w.warps(m), w.approximate();
    return true;
}

bool normalisation(Writer& w, Shape shape, std::string_view kernel) {
    const int m = shape.m, n = shape.n, elements = m * n, affine = shape.k % 3;
    w.approximate();
    if (kernel.starts_with("layer_norm") || kernel.starts_with("rms_norm")) {
        const bool rms = kernel.starts_with("rms");
        w.given(elements);
        if (kernel == "layer_norm" || kernel == "rms_norm") {
            w.given(n);
            if (!rms) w.given(n);
            w.result_buffer(elements), w.sums_result(m);
            if (!rms) w.sums_result(m);
            w.numbers({affine, m, n, w.scalar(1e-3)}), w.warps(m);
            return true;
        }
        const bool weights = kernel.ends_with("weight_grad");
        if (!weights) w.given(n);
        if (!rms) w.sums(m, -0.5, 0.5);
        w.sums(m, 0.5, 1.5), w.given(elements), w.result_buffer(weights ? n : elements);
        if (weights && !rms) w.result_buffer(n);
        if (!weights || !rms) w.numbers({affine});
        w.numbers({m, n}), w.warps(m);
        if (weights) w.grid(CaseWriter::cover(n, 32)), w.block(32, 8);
        return true;
    }
    if (kernel.starts_with("batch_norm")) {
        const int groups = 1 + shape.k % 3, batch = groups * (2 + m % 3), channels = 1 + n % 13, inner = 1 + shape.k % 37;
        const int all = batch * channels * inner, parts = groups * channels;
        const auto sizes = [&] { w.numbers({batch, channels, inner, groups}); };
        if (kernel == "batch_norm_statistics") {
            w.given(all), w.sums_result(parts), w.sums_result(parts), sizes(), w.blocks(parts);
        } else if (kernel == "batch_norm") {
            w.given(all), w.sums(parts, -1, 1), w.sums(parts, 0.5, 2), w.given(channels), w.given(channels);
            w.result_buffer(all), w.numbers({affine}), sizes(), w.numbers({w.scalar(1e-5)}), w.threads(all);
        } else if (kernel == "batch_norm_running") {
            w.sums(parts, -1, 1), w.sums(parts, 0.5, 2), w.given(channels, -1, 1), w.given(channels, 0.5, 2);
            w.numbers({channels, groups, 1 + m, w.scalar(0.1)}), w.threads(channels);
        } else if (kernel == "batch_norm_given") {
            w.given(channels), w.given(channels), w.sums_result(channels), w.sums_result(channels), w.numbers({channels});
            w.threads(channels);
        } else if (kernel == "batch_norm_given_grad") {
            w.sums(channels, 0.5, 2), w.given(channels), w.sums(channels, -9, 9), w.sums(channels, -9, 9);
            w.result_buffer(channels), w.result_buffer(channels), w.numbers({affine, channels, w.scalar(1e-5)});
            w.threads(channels);
        } else if (kernel == "batch_norm_sums") {
            w.given(all), w.given(all), w.sums(parts, -1, 1), w.sums(parts, 0.5, 2), w.sums_result(parts);
            w.sums_result(parts), sizes(), w.numbers({w.scalar(1e-5)}), w.blocks(parts);
        } else if (kernel == "batch_norm_weight_grad") {
            w.sums(parts, -1, 1), w.sums(parts, -1, 1), w.result_buffer(channels), w.result_buffer(channels);
            w.numbers({channels, groups}), w.threads(channels);
        } else {
            w.given(all), w.given(all), w.sums(parts, -1, 1), w.sums(parts, 0.5, 2), w.given(channels);
            w.sums(parts, -9, 9), w.sums(parts, -9, 9), w.result_buffer(all), w.numbers({affine, m % 2}), sizes();
            w.numbers({w.scalar(1e-5)}), w.threads(all);
        }
        return true;
    }
    if (!kernel.starts_with("group_norm")) return false;
    const int groups = 1 + m % 3, batch = 1 + shape.k % 4, channels = groups * (1 + n % 4), inner = 1 + n % 30;
    const int all = batch * channels * inner, parts = batch * groups;
    w.given(all);
    if (kernel == "group_norm") {
        w.given(channels), w.given(channels), w.result_buffer(all), w.sums_result(parts), w.sums_result(parts);
        w.numbers({affine, batch, channels, inner, groups, w.scalar(1e-3)}), w.blocks(parts);
    } else if (kernel == "group_norm_backward") {
        w.given(channels), w.sums(parts, -0.5, 0.5), w.sums(parts, 0.5, 1.5), w.given(all), w.result_buffer(all);
        w.numbers({affine, batch, channels, inner, groups}), w.blocks(parts);
    } else {
        w.sums(parts, -0.5, 0.5), w.sums(parts, 0.5, 1.5), w.given(all), w.result_buffer(channels),
            w.result_buffer(channels);
        w.numbers({batch, channels, inner, groups}), w.blocks(channels);
    }
    return true;
}

bool loss(Writer& w, Shape shape, std::string_view kernel) {
    const int m = shape.m, n = shape.n, elements = m * n, reach = shape.k % 3;
    const int ignored = m > 2 ? 0 : INT_MIN;
    w.approximate();
    if (kernel == "cross_entropy") {
        w.given(elements), w.indices(m, n), w.result_buffer(m), w.result_buffer(elements);
        w.numbers({m, n, ignored, w.scalar(shape.k % 3 * 0.1)}), w.warps(m);
    } else if (kernel == "mean_of_labelled") {
        w.given(m), w.indices(m, n + 1), w.result_buffer(1), w.sums_result(1), w.numbers({m, -1}), w.blocks(1);
    } else if (kernel == "cross_entropy_backward") {
        w.given(elements), w.indices(m, n), w.sums(1, 1, 9), w.given(m), w.result_buffer(elements);
        w.numbers({reach, m % 2, m, n, ignored, w.scalar(shape.k % 3 * 0.1)}), w.threads(elements);
    } else if (kernel == "nll") {
        w.given(elements), w.indices(m, n), w.result_buffer(m), w.numbers({m, n, ignored}), w.threads(m);
    } else if (kernel == "nll_backward") {
        w.indices(m, n), w.sums(1, 1, 9), w.given(m), w.result_buffer(elements);
        w.numbers({reach, m % 2, m, n, ignored});
        w.threads(elements);
    } else if (kernel == "bce_with_logits" || kernel == "kl_div") {
        w.given(elements, -6, 6), w.given(elements, 0, 1), w.result_buffer(elements), w.numbers({elements});
        w.result.buffers[1].values[0] = 0;
    } else if (kernel == "bce_with_logits_backward" || kernel == "kl_div_backward") {
        w.given(elements, -6, 6), w.given(elements, 0, 1), w.given(elements), w.result_buffer(elements);
        w.result.buffers[1].values[0] = 0;
        w.numbers({reach, m % 2, elements, w.scalar(1.0 / elements)});
    } else if (kernel == "smooth_l1") {
        w.given(elements), w.given(elements), w.result_buffer(elements), w.numbers({elements, w.scalar(shape.k % 3 * 0.5)});
    } else if (kernel == "smooth_l1_backward") {
        w.given(elements), w.given(elements), w.given(elements), w.result_buffer(elements);
        w.numbers({reach, elements, w.scalar(shape.k % 3 * 0.5), w.scalar(1.0 / elements)});
    } else {
        return false;
    }
    return true;
}

}  // namespace layer_cases
}  // namespace

bool layer_case(const KernelRow& row, Shape shape, Rng& rng, KernelCase& result) {
    layer_cases::Writer w{{row, rng, result}};
    const KernelCase unchanged = result;
    for (const auto family : {layer_cases::convolution, layer_cases::pooling, layer_cases::softmax,
                              layer_cases::normalisation, layer_cases::loss}) {
        if (family(w, shape, row.base)) return true;
        result = unchanged;
    }
    return false;
}

}  // namespace lockstep::device::kernel_cases
