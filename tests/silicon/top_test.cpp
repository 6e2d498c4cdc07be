// The kernels that show what the chip can do (kernels/top, the last rung of kernels/sgemm): against plain definitions in
// double, at sizes with edges, under every checker, in four orders of warps with the same bits each time. And tensor maps as
// arguments.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "app/silicon/silicon.h"
#include "core/base/rng.h"
#include "core/device/arguments.h"
#include "core/device/devices.h"
#include "core/simt/launch.h"
#include "tests/catch.h"

namespace silicon_top_test {

using namespace lockstep;
using namespace lockstep::device;

namespace {

using Numbers = std::vector<double>;

// As the type holds them.
double rounded(DType type, double x) {
    const auto single = static_cast<float>(x);
    if (type == DType::f16) return static_cast<double>(f16_to_f32(f32_to_f16(single)));
    if (type == DType::bf16) return static_cast<double>(bf16_to_f32(f32_to_bf16(single)));
    return static_cast<double>(single);
}
// How far rounding a result may take it, of its size.
double grain(DType type) {
    return type == DType::f16 ? 1.01 / 2048 : type == DType::bf16 ? 1.01 / 256 : 1e-6;
}
Numbers random_numbers(DType type, int64_t count, uint64_t seed, double reach = 1) {
    Rng rng(seed);
    Numbers values(static_cast<size_t>(count));
    for (double& value : values) value = rounded(type, rng.uniform(-reach, reach));
    return values;
}

struct TopKernel {
    std::string file, kernel;  // "top/rows"; the PTX stands in ptx/ beside it
    simt::Dim3 grid, block;
    uint32_t shared = 0;
};

// A launch that is put together argument by argument and run in every order, with every checker.
class TopLaunch {
  public:
    explicit TopLaunch(TopKernel kernel) : kernel_(std::move(kernel)) {}
    TopLaunch& in(DType type, const Numbers& values) {
        arguments_.emplace_back(Pointer{put(type, values)});
        return *this;
    }
    TopLaunch& out(DType type, int64_t count) {
        arguments_.emplace_back(Pointer{unwritten(type, count)});
        return *this;
    }
    TopLaunch& inout(DType type, const Numbers& values) {
        arguments_.emplace_back(Pointer{put(type, values)});
        outputs_.push_back({type, values.size(), std::get<Pointer>(arguments_.back()).address, bytes_of(type, values)});
        return *this;
    }
    // A tensor map of dims, innermost first, with a swizzle of 128 bytes.
    TopLaunch& in(DType type, const Numbers& values, std::vector<uint64_t> dims, std::vector<uint32_t> box) {
        return map(type, put(type, values), std::move(dims), std::move(box));
    }
    TopLaunch& out(DType type, int64_t count, std::vector<uint64_t> dims, std::vector<uint32_t> box) {
        return map(type, unwritten(type, count), std::move(dims), std::move(box));
    }
    template <class T>
    TopLaunch& number(T value) {
        arguments_.emplace_back(value);
        return *this;
    }
    // Output `which` after the launch.
    Numbers run(size_t which = 0) {
        const auto separator = kernel_.file.find('/');
        const std::string path =
            "kernels/" + kernel_.file.substr(0, separator) + "/ptx" + kernel_.file.substr(separator) + ".ptx";
        const ptx::Program& program = *pack_program(path, kernel_.kernel)->program;
        const simt::LaunchConfig config{kernel_.grid, kernel_.block, kernel_.shared, pack(program, arguments_)};
        const auto h100 = model::limits_of(model::gpu_named("h100").value());
        if (const auto refused = simt::check_launch(program, config, h100)) FAIL(render(*refused));
        std::vector<std::vector<std::byte>> first;
        using enum simt::WarpOrder;
        for (const auto order : {round_robin, greedy, reverse, random}) {
            for (const Output& output : outputs_) {
                if (output.before.empty())
                    memory_.mark_unwritten(output.address);
                else
                    std::memcpy(memory_.write(output.address, output.before.size()), output.before.data(),
                                output.before.size());
            }
            simt::LaunchOptions options;
            options.racecheck = options.initcheck = options.synccheck = true;
            options.order = order;
            const simt::LaunchResult result = simt::launch(program, config, memory_, options);
            INFO(kernel_.kernel << ", order " << static_cast<int>(order));
            if (result.fault) FAIL(simt::render(*result.fault));
            for (const simt::Fault& report : result.reports) FAIL_CHECK(simt::render(report));
            for (const std::string& note : result.notes) FAIL_CHECK(note);
            for (size_t i = 0; i < outputs_.size(); ++i) {
                std::vector<std::byte> bytes(outputs_[i].count * size_of(outputs_[i].type));
                std::memcpy(bytes.data(), memory_.read(outputs_[i].address, bytes.size()), bytes.size());
                if (order == round_robin)
                    first.push_back(bytes);
                else
                    CHECK(first[i] == bytes);
            }
        }
        results_ = std::move(first);
        return result(which);
    }
    Numbers result(size_t which) const {
        const Output& output = outputs_.at(which);
        Numbers values(output.count);
        for (size_t i = 0; i < output.count; ++i) {
            uint32_t bits = 0;
            const size_t size = size_of(output.type);
            std::memcpy(&bits, results_[which].data() + i * size, size);
            const auto half = static_cast<uint16_t>(bits);
            values[i] = static_cast<double>(output.type == DType::f16    ? f16_to_f32(half)
                                            : output.type == DType::bf16 ? bf16_to_f32(half)
                                                                         : __builtin_bit_cast(float, bits));
        }
        return values;
    }

  private:
    struct Output {
        DType type;
        size_t count;
        uint64_t address;
        std::vector<std::byte> before;  // empty: not written
    };
    static std::vector<std::byte> bytes_of(DType type, const Numbers& values) {
        std::vector<std::byte> bytes(values.size() * size_of(type));
        for (size_t i = 0; i < values.size(); ++i) {
            const auto single = static_cast<float>(values[i]);
            const uint32_t bits = type == DType::f16    ? f32_to_f16(single)
                                  : type == DType::bf16 ? f32_to_bf16(single)
                                                        : __builtin_bit_cast(uint32_t, single);
            std::memcpy(bytes.data() + i * size_of(type), &bits, size_of(type));
        }
        return bytes;
    }
    uint64_t put(DType type, const Numbers& values) {
        const auto bytes = bytes_of(type, values);
        const uint64_t address = memory_.allocate(bytes.size(), fmt::format("argument {}", arguments_.size() + 1));
        std::memcpy(memory_.write(address, bytes.size()), bytes.data(), bytes.size());
        return address;
    }
    uint64_t unwritten(DType type, int64_t count) {
        const size_t bytes = static_cast<size_t>(count) * size_of(type);
        const uint64_t address = memory_.allocate(bytes, fmt::format("argument {}", arguments_.size() + 1));
        std::memset(memory_.write(address, bytes), 0xCD, bytes);
        outputs_.push_back({type, static_cast<size_t>(count), address, {}});
        return address;
    }
    TopLaunch& map(DType type, uint64_t address, std::vector<uint64_t> dims, std::vector<uint32_t> box) {
        tiles_.push_back(std::make_unique<TensorTile>(TensorTile{{address}, type, std::move(dims), std::move(box), 128}));
        arguments_.emplace_back(static_cast<const TensorTile*>(tiles_.back().get()));
        return *this;
    }

    TopKernel kernel_;
    simt::Memory memory_;
    std::vector<Argument> arguments_;
    std::vector<std::unique_ptr<TensorTile>> tiles_;
    std::vector<Output> outputs_;
    std::vector<std::vector<std::byte>> results_;
};

// No more than a few messages; a NaN differs from everything.
void compare(const Numbers& got, const Numbers& wanted, double relative, double absolute) {
    REQUIRE(got.size() == wanted.size());
    int shown = 0;
    for (size_t i = 0; i < got.size() && shown < 4; ++i)
        if (!(std::abs(got[i] - wanted[i]) <= relative * std::abs(wanted[i]) + absolute)) {
            FAIL_CHECK(fmt::format("element {}: {} instead of {}", i, got[i], wanted[i]));
            ++shown;
        }
}

Numbers product(const Numbers& a, const Numbers& b, int m, int n, int k) {
    Numbers c(static_cast<size_t>(m * n));
    for (int i = 0; i < m; ++i)
        for (int l = 0; l < k; ++l)
            for (int j = 0; j < n; ++j)
                c[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
    return c;
}

struct Attention {
    Numbers out, lse;
};
Attention attention(const Numbers& q, const Numbers& k, const Numbers& v, int heads, int t, int s, int d, bool causal,
                    double scale) {
    Attention result{Numbers(static_cast<size_t>(heads * t * d)), Numbers(static_cast<size_t>(heads * t))};
    for (int row = 0; row < heads * t; ++row) {
        const int head = row / t, i = row % t, seen = causal ? std::min(s, i + 1 + s - t) : s;
        Numbers weights(static_cast<size_t>(std::max(seen, 0)));
        double sum = 0;
        for (int j = 0; j < seen; ++j) {
            double score = 0;
            for (int e = 0; e < d; ++e)
                score += q[static_cast<size_t>(row * d + e)] * k[static_cast<size_t>((head * s + j) * d + e)];
            sum += weights[static_cast<size_t>(j)] = std::exp(scale * score);
        }
        result.lse[static_cast<size_t>(row)] = std::log(sum);
        for (int j = 0; j < seen; ++j)
            for (int e = 0; e < d; ++e)
                result.out[static_cast<size_t>(row * d + e)] +=
                    weights[static_cast<size_t>(j)] / sum * v[static_cast<size_t>((head * s + j) * d + e)];
    }
    return result;
}

struct AttentionShape {
    int heads, t, s, d;
    bool causal;
};
void check_attention(const std::string& form, DType type, const AttentionShape& it) {
    const auto [heads, t, s, d, causal] = it;
    INFO(form << ": " << heads << " heads, T " << t << ", S " << s << ", d " << d << (causal ? ", causal" : ""));
    const double scale = rounded(DType::f32, 1 / std::sqrt(d));
    const Numbers q = random_numbers(type, heads * t * d, 1, 2), k = random_numbers(type, heads * s * d, 2, 2),
                  v = random_numbers(type, heads * s * d, 3);
    const bool maps = form == "wgmma";
    TopLaunch launch({"top/attention_" + form,
                      fmt::format("attention_{}_{}_{}", form, name_of(type), d),
                      {static_cast<uint32_t>((t + 127) / 128), static_cast<uint32_t>(heads)},
                      {maps ? 384u : 128u},
                      static_cast<uint32_t>(maps ? 1280 * d + 128 : 512 * d)});
    if (maps) {
        const auto dims = [&](int length) {
            return std::vector<uint64_t>{static_cast<uint64_t>(d), static_cast<uint64_t>(length),
                                         static_cast<uint64_t>(heads)};
        };
        launch.in(type, q, dims(t), {64, 64, 1}).in(type, k, dims(s), {64, 128, 1}).in(type, v, dims(s), {64, 128, 1});
        launch.out(type, heads * t * d, dims(t), {64, 64, 1});
    } else {
        launch.in(type, q).in(type, k).in(type, v).out(type, heads * t * d);
    }
    launch.out(DType::f32, heads * t).number(t).number(s).number(causal ? 1 : 0).number(static_cast<float>(scale));
    const Numbers out = launch.run();
    const Attention wanted = attention(q, k, v, heads, t, s, d, causal, scale);
    compare(out, wanted.out, grain(type), 2 * grain(type));  // weights are rounded, too
    compare(launch.result(1), wanted.lse, 1e-5, 1e-5);
}

}  // namespace

TEST_CASE("the ladder's last rung multiplies, scales and adds to what is there") {
    for (const int k : {8, 40}) {
        constexpr int m = 256, n = 512;
        const Numbers a = random_numbers(DType::f32, m * k, 1), b = random_numbers(DType::f32, k * n, 2),
                      c = random_numbers(DType::f32, m * n, 3);
        Numbers wanted = product(a, b, m, n, k);
        for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = 0.5 * wanted[i] - 2 * c[i];
        TopLaunch launch({"sgemm/9_async", "sgemm_async", {n / 256, m / 128}, {256}});
        launch.number(m).number(n).number(k).number(0.5f).in(DType::f32, a).number(k).in(DType::f32, b).number(n);
        compare(launch.number(-2.0f).inout(DType::f32, c).number(n).run(), wanted, 1e-6, 1e-5);
    }
}

TEST_CASE("tensor cores multiply matrices of any height, by mma.sync") {
    for (const DType type : {DType::f16, DType::bf16}) {
        constexpr int m = 133, n = 264, k = 200;
        const Numbers a = random_numbers(type, m * k, 1), b = random_numbers(type, k * n, 2);
        TopLaunch launch({"top/gemm_mma", fmt::format("gemm_mma_{}", name_of(type)), {2, 2}, {256}, 147456});
        launch.in(type, a).in(type, b).out(type, m * n).number(m).number(n).number(k);
        compare(launch.run(), product(a, b, m, n, k), grain(type), 1e-4);
    }
}

TEST_CASE("and by wgmma, with tensor maps, in clusters that stay for several tiles", "[long]") {
    for (const DType type : {DType::f16, DType::bf16})
        for (const uint32_t blocks : {2u, 4u}) {
            const int m = blocks == 2 ? 133 : 300, n = blocks == 2 ? 520 : 264, k = blocks == 2 ? 200 : 328;
            const Numbers a = random_numbers(type, m * k, 1), b = random_numbers(type, k * n, 2);
            TopLaunch launch({"top/gemm_wgmma", fmt::format("gemm_wgmma_{}", name_of(type)), {blocks}, {384}, 229440});
            const auto size = [](int x) { return static_cast<uint64_t>(x); };
            launch.in(type, a, {size(k), size(m)}, {64, 128}).in(type, b, {size(n), size(k)}, {64, 64});
            launch.out(type, m * n, {size(n), size(m)}, {64, 64}).number(m).number(n).number(k);
            compare(launch.run(), product(a, b, m, n, k), grain(type), 1e-4);
        }
}

TEST_CASE("attention in tiles is attention, by mma.sync") {
    check_attention("mma", DType::f16, {2, 200, 200, 64, true});
    check_attention("mma", DType::f16, {1, 70, 150, 128, false});
    check_attention("mma", DType::bf16, {1, 130, 131, 128, true});
    check_attention("mma", DType::bf16, {1, 129, 65, 64, false});
}

TEST_CASE("and by wgmma") {
    check_attention("wgmma", DType::f16, {2, 200, 200, 64, true});
    check_attention("wgmma", DType::f16, {1, 70, 450, 128, false});
    check_attention("wgmma", DType::bf16, {1, 130, 390, 128, true});
    check_attention("wgmma", DType::bf16, {1, 129, 65, 64, false});
}

TEST_CASE("norms, softmax and a fused chain give what their definitions do, a row a warp or a block") {
    for (const DType type : {DType::f32, DType::f16, DType::bf16})
        for (const std::string width : {"warp", "block"}) {
            const std::string suffix = fmt::format("_{}_{}", width, name_of(type));
            const int rows = 11, columns = width == "warp" ? 504 : 2504;
            INFO(suffix);
            const Numbers x = random_numbers(type, rows * columns, 1, 4), weight = random_numbers(type, columns, 2),
                          bias = random_numbers(type, columns, 3);
            Numbers layer(x.size()), rms(x.size()), shares(x.size());
            for (int r = 0; r < rows; ++r) {
                const auto at = [&](int c) { return static_cast<size_t>(r * columns + c); };
                double sum = 0, squares = 0, variance = 0, powers = 0;
                for (int c = 0; c < columns; ++c)
                    sum += x[at(c)], squares += x[at(c)] * x[at(c)], powers += std::exp(x[at(c)]);
                const double mean = sum / columns;
                for (int c = 0; c < columns; ++c) variance += (x[at(c)] - mean) * (x[at(c)] - mean) / columns;
                for (int c = 0; c < columns; ++c) {
                    const auto i = static_cast<size_t>(c);
                    layer[at(c)] = (x[at(c)] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
                    rms[at(c)] = x[at(c)] / std::sqrt(squares / columns + 1e-5) * weight[i];
                    shares[at(c)] = std::exp(x[at(c)]) / powers;
                }
            }
            const auto count = static_cast<int64_t>(x.size());
            const auto kernel = [&](const std::string& name) { return TopKernel{"top/rows", name + suffix, {3}, {256}}; };
            TopLaunch one(kernel("layer_norm")), two(kernel("rms_norm")), three(kernel("softmax"));
            one.in(type, x).in(type, weight).in(type, bias).out(type, count).number(rows).number(columns).number(1e-5f);
            two.in(type, x).in(type, weight).out(type, count).number(rows).number(columns).number(1e-5f);
            three.in(type, x).out(type, count).number(rows).number(columns);
            compare(one.run(), layer, grain(type), 2e-6);
            compare(two.run(), rms, grain(type), 2e-6);
            compare(three.run(), shares, grain(type) + 1e-6, 1e-7);
            if (width == "warp") continue;
            Numbers fused(x.size());
            const Numbers residual = random_numbers(type, count, 4);
            for (size_t i = 0; i < x.size(); ++i) {
                const double u = x[i] + bias[i % bias.size()];
                fused[i] = 0.5 * u * (1 + std::tanh(std::sqrt(2 / M_PI) * (u + 0.044715 * u * u * u))) + residual[i];
            }
            TopLaunch four({"top/rows", fmt::format("bias_gelu_add_{}", name_of(type)), {3}, {256}});
            four.in(type, x).in(type, bias).in(type, residual).out(type, count).number(rows).number(columns);
            compare(four.run(), fused, grain(type), 2e-6);
        }
    const Numbers x = random_numbers(DType::f32, 4000, 1);
    TopLaunch copy({"top/rows", "copy_vectors", {2}, {256}});
    CHECK(copy.in(DType::f32, x).out(DType::f32, 4000).number(1000).run() == x);
}

TEST_CASE("a tensor map is made by the driver on cuda and by our machine on sim: the same request, the same bits") {
    setenv("LOCKSTEP_LIBCUDA", LOCKSTEP_MODELLED_DRIVER, 1);
    const PackRow& row = *std::find_if(silicon_pack().begin(), silicon_pack().end(),
                                       [](const PackRow& it) { return it.name == "gemm_wgmma_f16"; });
    PackRow small = row;  // 256 x 512 x 64
    constexpr uint64_t m = 256, n = 512, k = 64;
    const std::vector<uint64_t> dims[] = {{k, m}, {n, k}, {n, m}};
    for (size_t i = 0; i < 3; ++i) {
        small.arguments[i].dims = dims[i];
        small.arguments[i].count = static_cast<int64_t>(dims[i][0] * dims[i][1]);
        small.arguments[3 + i].count = static_cast<int64_t>(i == 0 ? m : i == 1 ? n : k);
    }
    small.grid = {4};
    std::vector<std::byte> results[2];
    for (const std::string name : {"sim:h100", "cuda:0"}) {
        const auto device = open_device(name, {.functional = true}).value();
        const PackLaunch launch(*device, small);
        device->launch(launch.request());
        auto& result = results[name == "cuda:0"];
        result.resize(m * n * 2);
        device->copy_out(result.data(), launch.buffers()[2], result.size());
    }
    CHECK(results[0] == results[1]);
    CHECK(std::any_of(results[0].begin(), results[0].end(), [](std::byte b) { return b != std::byte{0}; }));

    const auto device = open_device("cuda:0").value();
    small.arguments[0].box = {512, 1};
    const PackLaunch wide(*device, small);
    CHECK_THROWS_WITH(device->launch(wide.request()), Catch::Contains("a box has 1 to 256 elements"));
}

TEST_CASE("kernels are measured against a copy where there is no cuBLAS, each with a yardstick of its own unit") {
    setenv("LOCKSTEP_LIBCUDA", LOCKSTEP_MODELLED_DRIVER, 1);
    setenv("LOCKSTEP_LIBCUBLAS", "no such library", 1);
    SiliconFile file;
    SiliconOptions options;
    options.parts = {"ratios"};
    options.clock_rounds = 1 << 10;
    options.quick = true;
    measure_silicon(file, "cuda:0", options);
    unsetenv("LOCKSTEP_LIBCUBLAS");
    const SiliconPart* const part = file.part("ratios");
    REQUIRE(part);
    CHECK(part->failures.empty());
    REQUIRE(part->ratios.size() == 8);
    for (const SiliconRatio& it : part->ratios) {
        INFO(it.name);
        CHECK(it.unit == "GB/s");
        CHECK(it.value > 0);
        CHECK(it.yardstick > 0);
    }
}

}  // namespace silicon_top_test
