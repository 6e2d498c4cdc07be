// Programs from real life with known answers (tests/programs): by every compiler that is here, in four orders of warps and
// timed, with racecheck and initcheck on: the answer is right and the checkers stay silent.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <queue>

#include "core/simt/warp.h"
#include "tests/program_support.h"

namespace device_program_test {

using namespace lockstep;
using namespace lockstep::test;
using device::Pointer;

namespace {

struct ProgramRow {
    const char* file;
    const char* name;
    std::function<void(Machine&)> run;  // launches and compares
};

void reduce_tree(Machine& m) {
    const int n = 5000;
    const auto in = random_values<float>(n, 1, -1, 1);
    const Pointer out = m.put(std::vector<float>{0});
    m.run("reduce_tree", {10}, {256}, 1024, {m.put(in), out, n});
    check_close(m.get<float>(out, 1), std::vector<double>{std::accumulate(in.begin(), in.end(), 0.0)}, 1e-4);
}
void reduce_last_block(Machine& m) {  // twice: the ticket is back at zero
    const int n = 10'000;
    const auto in = random_values<int>(n, 2, -1000, 1000);
    const Pointer parts = m.put(std::vector<int>(7)), out = m.put(std::vector<int>{0}), given = m.put(in);
    for (int time = 0; time < 2; ++time) {
        m.run("reduce_last_block", {7}, {128}, 0, {given, parts, out, n});
        CHECK(m.get<int>(out, 1)[0] == std::accumulate(in.begin(), in.end(), 0));
    }
}
std::vector<int> prefix_sums(const std::vector<int>& in) {
    std::vector<int> out(in.size());
    std::partial_sum(in.begin(), in.end(), out.begin());
    return out;
}
void scan_block(Machine& m) {
    const auto in = random_values<int>(200, 3, -50, 50);
    const Pointer out = m.put(std::vector<int>(200));
    m.run("scan_block", {1}, {256}, 2048, {m.put(in), out, 200});
    CHECK(m.get<int>(out, 200) == prefix_sums(in));
}
void scan_look_back(Machine& m) {
    const int n = 256 * 9 - 5;
    const auto in = random_values<int>(n, 4, -50, 50);
    const Pointer out = m.put(std::vector<int>(n)), flags = m.put(std::vector<int>(9)), totals = m.put(std::vector<int>(9));
    m.run("scan_look_back", {9}, {256}, 0, {m.put(in), out, flags, totals, n});
    CHECK(m.get<int>(out, n) == prefix_sums(in));
}
void bitonic(Machine& m) {
    auto in = random_values<float>(512, 5, -9, 9);
    const Pointer data = m.put(in);
    m.run("bitonic", {1}, {512}, 2048, {data});
    std::sort(in.begin(), in.end());
    CHECK(m.get<float>(data, 512) == in);
}
void radix_warp(Machine& m) {
    auto in = random_values<unsigned>(1024, 6, 0, 65536);
    const Pointer data = m.put(in);
    m.run("radix_warp", {4}, {256}, 0, {data, 16});
    for (size_t i = 0; i < in.size(); i += 32)
        std::sort(in.begin() + static_cast<long>(i), in.begin() + static_cast<long>(i) + 32);
    CHECK(m.get<unsigned>(data, 1024) == in);
}
void histogram(Machine& m) {
    const auto in = random_values<unsigned char>(9999, 7, 0, 256);
    const Pointer bins = m.put(std::vector<unsigned>(256));
    m.run("histogram", {5}, {192}, 0, {m.put(in), bins, 9999});
    std::vector<unsigned> expected(256);
    for (const unsigned char value : in) ++expected[value];
    CHECK(m.get<unsigned>(bins, 256) == expected);
}
void keep_odd(Machine& m) {
    const auto in = random_values<int>(1000, 8, 0, 500);
    const Pointer out = m.put(std::vector<int>(1000)), count = m.put(std::vector<int>{0});
    m.run("keep_odd", {4}, {256}, 0, {m.put(in), out, count, 1000});
    std::vector<int> expected, got = m.get<int>(out, static_cast<size_t>(m.get<int>(count, 1)[0]));
    for (const int value : in)
        if (value % 2) expected.push_back(value);
    std::sort(expected.begin(), expected.end());
    std::sort(got.begin(), got.end());
    CHECK(got == expected);
}
void transpose(Machine& m) {
    const int rows = 70, columns = 45;
    const auto in = random_values<float>(rows * columns, 9, -1, 1);
    const Pointer out = m.put(std::vector<float>(rows * columns));
    m.run("transpose", {2, 3}, {32, 8}, 0, {m.put(in), out, rows, columns});
    std::vector<float> expected(in.size());
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
            expected[static_cast<size_t>(x * rows + y)] = in[static_cast<size_t>(y * columns + x)];
    CHECK(m.get<float>(out, in.size()) == expected);
}
void stencil(Machine& m) {
    const int nx = 50, ny = 21;
    const auto in = random_values<double>(nx * ny, 10, -1, 1);
    const Pointer out = m.put(std::vector<double>(nx * ny));
    m.run("stencil", {2, 3}, {32, 8}, 0, {m.put(in), out, nx, ny});
    std::vector<double> expected(in.size());
    const auto at = [&](int x, int y) {
        return x >= 0 && x < nx && y >= 0 && y < ny ? in[static_cast<size_t>(y * nx + x)] : 0.0;
    };
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x)
            expected[static_cast<size_t>(y * nx + x)] =
                0.25 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1)) - at(x, y);
    check_close(m.get<double>(out, in.size()), expected, 1e-14);
}
void gravity(Machine& m) {
    const size_t n = 150;
    const auto bodies = random_values<float>(4 * n, 11, 0.1, 1);
    const Pointer pull = m.put(std::vector<float>(3 * n));
    m.run("gravity", {3}, {64}, 1024, {m.put(bodies), pull, static_cast<int>(n)});
    std::vector<double> expected(3 * n);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) {
            double d[3], r2 = 0.01;
            for (size_t k = 0; k < 3; ++k) d[k] = double{bodies[4 * j + k]} - bodies[4 * i + k], r2 += d[k] * d[k];
            for (size_t k = 0; k < 3; ++k) expected[3 * i + k] += bodies[4 * j + 3] * d[k] / (r2 * std::sqrt(r2));
        }
    check_close(m.get<float>(pull, 3 * n), expected, 1e-5);
}
void fourier(Machine& m) {
    const size_t n = 256;
    const auto in = random_values<float>(4 * n, 12, -1, 1);
    const Pointer data = m.put(in);
    m.run("fourier", {2}, {128}, 2048, {data, 8});
    std::vector<double> expected(4 * n);
    for (size_t block = 0; block < 2; ++block)
        for (size_t f = 0; f < n; ++f) {
            std::complex<double> sum = 0;
            for (size_t i = 0; i < n; ++i) {
                const double angle = -2 * 3.14159265358979323846 * static_cast<double>(f * i % n) / static_cast<double>(n);
                sum += std::complex<double>(in[2 * (block * n + i)], in[2 * (block * n + i) + 1]) * std::polar(1.0, angle);
            }
            expected[2 * (block * n + f)] = sum.real();
            expected[2 * (block * n + f) + 1] = sum.imag();
        }
    check_close(m.get<float>(data, 4 * n), expected, 1e-5);
}
template <int which>
void matmul(Machine& machine) {
    const int m = 45, n = 70, k = 37;
    const auto a = random_values<float>(m * k, 13, -1, 1), b = random_values<float>(k * n, 14, -1, 1);
    const Pointer c = machine.put(std::vector<float>(m * n));
    const char* const kernels[] = {"naive", "tiled", "registers", "two_buffers"};
    const simt::Dim3 grid = which == 2 ? simt::Dim3{2, 1} : simt::Dim3{5, 3},
                     block = which == 2 ? simt::Dim3{256} : simt::Dim3{16, 16};
    machine.run(kernels[which], grid, block, 0, {machine.put(a), machine.put(b), c, m, n, k});
    std::vector<double> expected(m * n);
    for (int y = 0; y < m; ++y)
        for (int x = 0; x < n; ++x)
            for (int i = 0; i < k; ++i)
                expected[static_cast<size_t>(y * n + x)] +=
                    double{a[static_cast<size_t>(y * k + i)]} * b[static_cast<size_t>(i * n + x)];
    check_close(machine.get<float>(c, m * n), expected, 1e-6);
}
void softmax(Machine& m) {
    const size_t rows = 6, columns = 77;
    const auto in = random_values<float>(rows * columns, 15, -20, 20);
    const Pointer out = m.put(std::vector<float>(rows * columns));
    m.run("softmax", {3}, {64}, 0, {m.put(in), out, static_cast<int>(columns)});
    std::vector<double> expected;
    for (size_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (size_t i = 0; i < columns; ++i) sum += std::exp(double{in[r * columns + i]});
        for (size_t i = 0; i < columns; ++i) expected.push_back(std::exp(double{in[r * columns + i]}) / sum);
    }
    check_close(m.get<float>(out, expected.size()), expected, 1e-6);
}
void layer_norm(Machine& m) {
    const size_t rows = 4, columns = 100;
    const auto in = random_values<float>(rows * columns, 16, -2, 5), scale = random_values<float>(columns, 17, 0.5, 2),
               shift = random_values<float>(columns, 18, -1, 1);
    const Pointer out = m.put(std::vector<float>(rows * columns));
    m.run("layer_norm", {2}, {64}, 0, {m.put(in), m.put(scale), m.put(shift), out, static_cast<int>(columns)});
    std::vector<double> expected;
    for (size_t r = 0; r < rows; ++r) {
        const float* const x = in.data() + r * columns;
        const double mean = std::accumulate(x, x + columns, 0.0) / columns;
        double variance = 0;
        for (size_t i = 0; i < columns; ++i) variance += (x[i] - mean) * (x[i] - mean) / columns;
        for (size_t i = 0; i < columns; ++i)
            expected.push_back((x[i] - mean) / std::sqrt(variance + 1e-5) * scale[i] + shift[i]);
    }
    check_close(m.get<float>(out, expected.size()), expected, 2e-6);
}
template <bool tiled>
void attention(Machine& m) {
    const size_t tokens = 40;
    const auto q = random_values<float>(tokens * 32, 19, -2, 2), k = random_values<float>(tokens * 32, 20, -2, 2),
               v = random_values<float>(tokens * 32, 21, -1, 1);
    const Pointer out = m.put(std::vector<float>(tokens * 32));
    if (tiled)
        m.run("attention_tiled", {3}, {16}, 0, {m.put(q), m.put(k), m.put(v), out, static_cast<int>(tokens)});
    else
        m.run("attention", {static_cast<uint32_t>(tokens)}, {32}, tokens * 4,
              {m.put(q), m.put(k), m.put(v), out, static_cast<int>(tokens)});
    std::vector<double> expected(tokens * 32);
    for (size_t i = 0; i < tokens; ++i) {
        std::vector<double> p(i + 1);
        double sum = 0;
        for (size_t j = 0; j <= i; ++j) {
            double s = 0;
            for (size_t f = 0; f < 32; ++f) s += double{q[i * 32 + f]} * k[j * 32 + f];
            sum += p[j] = std::exp(s / std::sqrt(32.0));
        }
        for (size_t j = 0; j <= i; ++j)
            for (size_t f = 0; f < 32; ++f) expected[i * 32 + f] += p[j] / sum * v[j * 32 + f];
    }
    check_close(m.get<float>(out, expected.size()), expected, 3e-6);
}
void convolution(Machine& m) {
    const int width = 30, height = 17;
    const std::vector<float> filter = {1, 2, 1, 0, -1, 0.5f, 3, -2, 0.25f};
    const auto in = random_values<float>(width * height, 22, -1, 1);
    const Pointer out = m.put(std::vector<float>(width * height));
    m.set_variable("convolution", "filter", filter);
    m.run("convolution", {2, 3}, {16, 8}, 0, {m.put(in), out, width, height});
    std::vector<double> expected(in.size());
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int f = 0; f < 9; ++f) {
                const int i = x + f % 3 - 1, j = y + f / 3 - 1;
                if (i >= 0 && i < width && j >= 0 && j < height)
                    expected[static_cast<size_t>(y * width + x)] +=
                        double{filter[static_cast<size_t>(f)]} * in[static_cast<size_t>(j * width + i)];
            }
    check_close(m.get<float>(out, in.size()), expected, 1e-6);
}

struct Graph {
    std::vector<int> begin{0}, edges;
    int nodes() const { return static_cast<int>(begin.size()) - 1; }
};
Graph random_graph(int nodes, int pairs, uint64_t seed) {
    Rng rng(seed);
    std::vector<std::vector<int>> to(static_cast<size_t>(nodes));
    for (int i = 0; i < pairs; ++i) {
        const auto a = rng.below(static_cast<uint64_t>(nodes)), b = rng.below(static_cast<uint64_t>(nodes));
        to[a].push_back(static_cast<int>(b));
        to[b].push_back(static_cast<int>(a));
    }
    Graph g;
    for (const auto& list : to) {
        g.edges.insert(g.edges.end(), list.begin(), list.end());
        g.begin.push_back(static_cast<int>(g.edges.size()));
    }
    return g;
}
// Levels from `start`, -1 where it does not lead.
std::vector<int> levels(const Graph& g, int start) {
    std::vector<int> level(static_cast<size_t>(g.nodes()), -1);
    std::queue<int> work;
    level[static_cast<size_t>(start)] = 0;
    for (work.push(start); !work.empty(); work.pop()) {
        const auto i = static_cast<size_t>(work.front());
        for (int e = g.begin[i]; e < g.begin[i + 1]; ++e) {
            int& l = level[static_cast<size_t>(g.edges[static_cast<size_t>(e)])];
            if (l < 0) l = level[i] + 1, work.push(g.edges[static_cast<size_t>(e)]);
        }
    }
    return level;
}
void search(Machine& m) {
    const Graph g = random_graph(300, 330, 23);
    std::vector<int> start(300, -1);
    start[0] = 0;
    const Pointer begin = m.put(g.begin), edges = m.put(g.edges), level = m.put(start);
    for (int now = 0; now < 300; ++now) {
        const Pointer more = m.put(std::vector<int>{0});
        m.run("visit", {3}, {128}, 0, {begin, edges, level, now, 300, more});
        if (m.get<int>(more, 1)[0] == 0) break;
    }
    CHECK(m.get<int>(level, 300) == levels(g, 0));
}
void components(Machine& m) {
    const Graph g = random_graph(200, 150, 24);
    std::vector<int> labels(200), expected(200, -1);
    std::iota(labels.begin(), labels.end(), 0);
    for (int i = 0; i < 200; ++i) {
        if (expected[static_cast<size_t>(i)] >= 0) continue;
        const auto reached = levels(g, i);
        for (size_t j = 0; j < 200; ++j)
            if (reached[j] >= 0) expected[j] = i;
    }
    const Pointer begin = m.put(g.begin), edges = m.put(g.edges), label = m.put(labels);
    for (int round = 0; round < 200; ++round) {
        const Pointer more = m.put(std::vector<int>{0});
        m.run("join", {2}, {128}, 0, {begin, edges, label, 200, more});
        if (m.get<int>(more, 1)[0] == 0) break;
    }
    CHECK(m.get<int>(label, 200) == expected);
}

const ProgramRow rows[] = {
    {"reduce.cu", "a sum by trees in shared memory", reduce_tree},
    {"reduce.cu", "a sum whose last block adds up", reduce_last_block},
    {"scan.cu", "prefix sums of a block", scan_block},
    {"scan.cu", "prefix sums by decoupled look-back", scan_look_back},
    {"sort.cu", "a bitonic sort", bitonic},
    {"sort.cu", "a radix sort by ballots", radix_warp},
    {"histogram.cu", "a histogram", histogram},
    {"histogram.cu", "a filter with one atomic a warp", keep_odd},
    {"transpose.cu", "a transpose by padded tiles", transpose},
    {"transpose.cu", "a stencil with a halo", stencil},
    {"physics.cu", "gravity of n bodies", gravity},
    {"physics.cu", "a Fourier transform", fourier},
    {"matmul.cu", "a product, one element a thread", matmul<0>},
    {"matmul.cu", "a product by tiles", matmul<1>},
    {"matmul.cu", "a product by tiles in registers", matmul<2>},
    {"matmul.cu", "a product with two buffers", matmul<3>},
    {"learning.cu", "softmax", softmax},
    {"learning.cu", "layer norm", layer_norm},
    {"learning.cu", "causal attention", attention<false>},
    {"learning.cu", "causal attention by tiles", attention<true>},
    {"learning.cu", "a convolution with a constant filter", convolution},
    {"graph.cu", "a breadth-first search", search},
    {"graph.cu", "connected components", components},
};

const How ways[] = {{"round robin", simt::WarpOrder::round_robin, false},
                    {"greedy", simt::WarpOrder::greedy, false},
                    {"reverse", simt::WarpOrder::reverse, false},
                    {"random", simt::WarpOrder::random, false},
                    {"timed", simt::WarpOrder::round_robin, true}};

}  // namespace

TEST_CASE("programs with known answers give them by every compiler, in every order, and nothing is reported") {
    for (const device::DeviceListing& compiler : device::list_compilers()) {
        if (!compiler.available) {
            WARN(compiler.name << " is not here: " << compiler.description);
            continue;
        }
        std::map<std::string, ptx::Module> modules;
        for (const ProgramRow& row : rows) {
            INFO(compiler.name << ": " << row.name);
            if (!modules.contains(row.file)) {
                const std::string source =
                    read_file(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/programs/" + row.file).value();
                const auto compiled = device::compile(source, row.file, {.compiler = compiler.name});
                if (!compiled) FAIL(render(compiled.error()));
                modules.emplace(row.file, ptx::parse(compiled.value().ptx, std::string(row.file) + ".ptx").value());
            }
            for (const How& how : ways) {
                INFO(how.name);
                Machine machine(modules.at(row.file), how);
                row.run(machine);
            }
        }
    }
}

}  // namespace device_program_test
