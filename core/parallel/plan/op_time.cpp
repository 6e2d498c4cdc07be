// Reads from the bottom: of() asks an op's row for its kind. A product is cut into tiles of C, one a block; the SMs take
// them in waves. A tile's inner loop takes the longer of its arithmetic and of its operands' way from L2; before it stands
// one latency of the memory, behind it the writing of the tile. The tile shape, and how often K is split where there are
// fewer tiles than SMs, is what comes out fastest: the choice that a library makes.
#include "core/parallel/plan/op_time.h"

#include <algorithm>
#include <cmath>

namespace lockstep::parallel {

namespace {
constexpr EfficiencyRow efficiency_table[] = {
    {"arithmetic", "share of the arithmetic peak that an SM sustains in a product's inner loop", &Efficiencies::arithmetic,
     0.4, 0.95},
    {"memory", "share of the DRAM bandwidth that kernels which only move bytes reach", &Efficiencies::memory, 0.5, 0.95},
    {"network", "share of a link's bandwidth that collectives and messages reach", &Efficiencies::network, 0.3, 0.95},
    {"launch_us", "microseconds between two kernels of a stream", &Efficiencies::launch_us, 0.5, 8},
};

struct ProductTile {
    int m, n;
};
constexpr ProductTile product_tiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}, {32, 32}};
constexpr double inner_step = 32;  // elements of K a turn of the inner loop: K is filled up to it

double whole_units(double count, double unit) {
    return std::ceil(count / unit);
}
}  // namespace

std::span<const EfficiencyRow> efficiency_rows() {
    return efficiency_table;
}

OpTimes::OpTimes(const model::GpuSpec& gpu, const Efficiencies& efficiencies) : gpu_(gpu), efficiencies_(efficiencies) {}

double OpTimes::peak_tflops(DType dtype) const {
    if (dtype == DType::f64) return gpu_.fp64_tflops;
    if (dtype != DType::f16 && dtype != DType::bf16) return gpu_.fp32_tflops;
    return gpu_.fp16_tensor_tflops > 0 ? gpu_.fp16_tensor_tflops
           : gpu_.fp16_tflops > 0      ? gpu_.fp16_tflops
                                       : gpu_.fp32_tflops;
}

double OpTimes::bytes_us(double bytes) const {
    if (bytes <= 0) return 0;
    return bytes / (gpu_.dram_gb_per_second * 1e3 * efficiencies_.memory) + efficiencies_.launch_us;
}

double OpTimes::product_us(const Product& p, DType dtype) const {
    if (p.m * p.n * p.k * p.batch <= 0) return 0;
    const double sms = gpu_.sms, clock = gpu_.boost_mhz, el = double(size_of(dtype));  // MHz: cycles a microsecond
    const double sum = dtype == DType::f64 ? 8 : 4;
    const double rate = peak_tflops(dtype) * 1e6 / sms / clock * efficiencies_.arithmetic;  // an SM and cycle
    const double l2 = gpu_.l2_bytes_per_cycle / sms;                                        // bytes, likewise
    const double dram = gpu_.dram_gb_per_second * 1e3 * efficiencies_.memory;               // bytes a microsecond
    const bool clusters = gpu_.compute.number >= 90 && dtype != DType::f64;  // two blocks load what both need once (Hopper)
    double best = INFINITY;
    for (const ProductTile& tile : product_tiles) {
        const double tiles = whole_units(p.m, tile.m) * whole_units(p.n, tile.n) * p.batch;
        const double operands = (tile.m + tile.n - (clusters ? std::max(tile.m, tile.n) / 2.0 : 0)) * el;  // a step of K
        const double step = std::max(2.0 * tile.m * tile.n / rate, operands / l2);
        const double behind = tile.m * tile.n * el / gpu_.sm_write_bytes_per_cycle;
        for (double split = 1; split <= 16; split *= 2) {
            if (split > 1 && (tiles * split > 2 * sms || p.k / split < 4 * inner_step)) break;
            const double k = whole_units(p.k / split, inner_step) * inner_step, waves = whole_units(tiles * split, sms);
            double us = waves * (k * step + gpu_.dram_latency + behind) / clock;
            const double moved = (p.m * p.k + p.k * p.n + p.m * p.n) * el * p.batch;
            us = std::max(us, moved / dram);
            if (split > 1)  // partial sums go out and come back, in a kernel of their own
                us += 2 * split * p.m * p.n * sum * p.batch / dram + efficiencies_.launch_us;
            best = std::min(best, us);
        }
    }
    return best + efficiencies_.launch_us;
}

// A pair of query and key: two products of D forward, five backward; one exponential, on the special function units; about
// five operations of the softmax forward and eight backward, on the FP32 lanes.
OpTime OpTimes::attention(tensor::Types in, const tensor::Attributes& attributes) const {
    const tensor::Shape &q = in[0].shape, &k = in[1].shape;
    const size_t head = attributes.mode == 1 ? 2 : 1, position = 3 - head;
    const double heads = double(q[0] * q[head]), t = double(q[position]), s = double(k[position]), d = double(q[3]);
    const DType dtype = in[0].dtype;
    constexpr double tile = 128;  // queries of a block
    const double sms = gpu_.sms, clock = gpu_.boost_mhz, cores = gpu_.sub_cores;
    const double rate = peak_tflops(dtype) * 1e6 / sms / clock * efficiencies_.arithmetic;
    const double keys =
        attributes.causal ? s - t + (t + std::min(tile, t)) / 2 : s;  // of a query; whole tiles on the diagonal
    const double waves = whole_units(heads * whole_units(t, tile), sms),
                 dram = gpu_.dram_gb_per_second * 1e3 * efficiencies_.memory;
    const auto us = [&](double products, double operations, double moved) {
        const double pair = 2 * products * d / rate + 1 / (gpu_.sfu_lanes * cores) + operations / (gpu_.fp32_lanes * cores);
        return std::max(waves * (tile * keys * pair + gpu_.dram_latency) / clock, moved / dram) + efficiencies_.launch_us;
    };
    const double qb = in[0].bytes(), kvb = in[1].bytes();
    const double forward = us(2, 5, 2 * qb + 2 * kvb), backward = us(5, 8, 5 * qb + 4 * kvb) + bytes_us(2 * qb);
    return {forward, backward, backward};
}

OpTime OpTimes::of(const tensor::OpRow& op, tensor::Types in, const tensor::Attributes& attributes) const {
    if (op.name == "matmul") {
        const double k = double(in[0].shape.back()), m = double(in[0].count()) / std::max(k, 1.0);
        const double n = double(in[1].shape[attributes.transpose_b ? 0 : 1]);
        const DType dtype = in[0].dtype;
        const double input = product_us({m, k, n}, dtype);
        return {product_us({m, n, k}, dtype), input + product_us({n, k, m}, dtype), input};
    }
    if (op.name == "attention") return attention(in, attributes);
    if (!op.cost) return {};  // a row made at run time: its communicator counts
    const tensor::OpCost cost = op.cost(in, attributes);
    if (op.name == "bmm") {
        const tensor::Shape c = op.shape(in, attributes);
        const double m = double(c[c.size() - 2]), n = double(c.back()), k = double(in[0].shape.back());
        const double batch = double(tensor::count_of(c)) / std::max(m * n, 1.0);
        const double backward = product_us({m, k, n, batch}, in[0].dtype) + product_us({k, n, m, batch}, in[0].dtype);
        return {product_us({m, n, k, batch}, in[0].dtype), backward, backward};
    }
    if (op.name == "conv2d" && op.shape) {
        const tensor::Shape y = op.shape(in, attributes);
        const tensor::Shape& w = in[1].shape;
        const double groups = double(attributes.groups), positions = double(tensor::count_of(y)) / double(y[1]);
        const double filters = double(w[0]) / groups, taps = double(tensor::count_of(w)) / double(w[0]);
        const DType dtype = in[0].dtype;
        const double input = product_us({positions, taps, filters, groups}, dtype);
        return {product_us({positions, filters, taps, groups}, dtype),
                input + product_us({filters, taps, positions, groups}, dtype), input};
    }
    const auto us = [&](const tensor::Cost& c) {
        if (c.bytes <= 0) return 0.0;
        const double lanes = std::max<double>(gpu_.fp32_tflops, 1e-3) * 1e6 * efficiencies_.arithmetic;
        return std::max(bytes_us(c.bytes), c.operations / lanes + efficiencies_.launch_us);
    };
    const double backward = us(cost.backward);
    const bool weights_only = op.name == "embedding" || op.name == "add_bias";
    return {us(cost.forward), backward, weights_only ? 0 : backward};
}

}  // namespace lockstep::parallel
