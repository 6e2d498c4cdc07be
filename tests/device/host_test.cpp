// The host device: matrix products against double precision, buffers, and what it says about wrong requests.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <thread>

#include "core/base/rng.h"
#include "core/device/devices.h"
#include "core/device/host/host_memory.h"
#include "core/device/kernels/kernel_cases.h"
#include "core/device/kernels/kernel_library.h"
#include "core/device/kernels/matmul.h"
#include "core/device/twins/twins.h"
#include "tests/catch.h"

namespace device_host_test {

using namespace lockstep;
using namespace lockstep::device;
using namespace lockstep::device::kernel_cases;
using Catch::Matchers::Contains;

namespace {
std::vector<float> random_values(Rng& rng, size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(rng.uniform(-1.0, 1.0));
    return values;
}

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return "nothing was thrown";
}
}  // namespace

// By the build's library, and by the plain loops that stand in for it.
void library_product(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c,
                     ThreadPool& pool) {
    matmul(transpose_a, transpose_b, m, n, k, a, b, c, pool);
}

TEST_CASE("host matrix products agree with double precision, transposed or not, for any shape") {
    Rng rng(7);
    ThreadPool pool(3);
    const auto multiply = GENERATE(&library_product, twins::plain_products().whole);
    for (const auto& [m, n, k] : {std::tuple{1, 1, 1},
                                  {3, 5, 7},
                                  {17, 33, 65},
                                  {64, 128, 784},
                                  {1, 10, 128},
                                  {128, 1, 64},
                                  {5, 4, 0},
                                  {203, 389, 71},
                                  {600, 70, 33}})
        for (const int form : {0, 1, 2, 3}) {
            const bool transpose_a = form & 1, transpose_b = form & 2;
            const auto a = random_values(rng, static_cast<size_t>(m * k)),
                       b = random_values(rng, static_cast<size_t>(k * n));
            std::vector<float> c(static_cast<size_t>(m * n), NAN);
            multiply(transpose_a, transpose_b, m, n, k, a.data(), b.data(), c.data(), pool);
            double worst = 0;
            for (int i = 0; i < m; ++i)
                for (int j = 0; j < n; ++j) {
                    double exact = 0, magnitude = 1e-30;
                    for (int l = 0; l < k; ++l) {
                        const double product = double{a[static_cast<size_t>(transpose_a ? l * m + i : i * k + l)]} *
                                               double{b[static_cast<size_t>(transpose_b ? j * k + l : l * n + j)]};
                        exact += product;
                        magnitude += std::abs(product);
                    }
                    const double error = std::abs(double{c[static_cast<size_t>(i * n + j)]} - exact) / magnitude;
                    if (!(error <= worst)) worst = error;  // a NaN stays
                }
            INFO(m << " x " << n << " x " << k << " form " << form);
            CHECK(worst < 1e-6);
        }
}

TEST_CASE("host matrix products have the same bits on any number of threads") {
    Rng rng(8);
    ThreadPool one(1), two(2), five(5);
    const auto multiply = GENERATE(&library_product, twins::plain_products().whole);
    for (const auto& [m, n, k] :
         {std::tuple{64, 512, 784}, {784, 128, 64}, {64, 128, 784}, {130, 517, 200}, {2000, 10, 128}, {10, 2000, 130}})
        for (const int form : {0, 1, 2, 3}) {
            const auto a = random_values(rng, static_cast<size_t>(m * k)),
                       b = random_values(rng, static_cast<size_t>(k * n));
            const auto product = [&, m = m, n = n, k = k](ThreadPool& pool) {
                std::vector<float> c(static_cast<size_t>(m * n), NAN);
                multiply(form & 1, form & 2, m, n, k, a.data(), b.data(), c.data(), pool);
                return c;
            };
            INFO(m << " x " << n << " x " << k << " form " << form);
            const auto alone = product(one);
            CHECK(product(two) == alone);
            CHECK(product(five) == alone);
            if (multiply == &library_product) continue;
            std::vector<float> here(alone.size(), NAN);
            twins::plain_products().here(form & 1, form & 2, m, n, k, a.data(), b.data(), here.data());
            CHECK(here == alone);
        }
}

// Goes on from each part on the thread that made it: into the whole result, with every value doubled.
struct Doubling final : ThreadPool::Listener {
    explicit Doubling(float* c) : whole(c) {}
    void* place(int64_t, int64_t count) override {
        part().resize(static_cast<size_t>(count));
        return part().data();
    }
    void made(int64_t first, int64_t count) override {
        for (int64_t i = 0; i < count; ++i) whole[first + i] = 2 * part()[static_cast<size_t>(i)];
        heard += count;
    }
    static std::vector<float>& part() {
        static thread_local std::vector<float> memory;
        return memory;
    }
    float* whole;
    std::atomic<int64_t> heard = 0;
};

TEST_CASE("who listens to the pool hears of every row of a product or of none, once, on the thread that made it") {
    Rng rng(9);
    ThreadPool pool(3);
    for (const auto& [m, n, k] : {std::tuple{1030, 96, 130}, {2048, 128, 128}, {128, 512, 64}, {7, 9, 11}, {600, 40, 0}})
        for (const int form : {0, 1, 2, 3}) {
            const auto a = random_values(rng, static_cast<size_t>(m * k)),
                       b = random_values(rng, static_cast<size_t>(k * n));
            const auto size = static_cast<size_t>(m * n);
            std::vector<float> plain(size, NAN), c(size, NAN), doubled(size, NAN);
            matmul(form & 1, form & 2, m, n, k, a.data(), b.data(), plain.data(), pool);
            Doubling listener(doubled.data());
            pool.listen(&listener);
            matmul(form & 1, form & 2, m, n, k, a.data(), b.data(), c.data(), pool, true);
            pool.listen(nullptr);
            INFO(m << " x " << n << " x " << k << " form " << form << ", " << listener.heard << " elements heard");
            if (listener.heard == 0) {
                CHECK(c == plain);
                continue;
            }
            CHECK(listener.heard == int64_t{m} * n);
            for (float& value : plain) value *= 2;
            CHECK(doubled == plain);
        }
}

TEST_CASE("long elementwise twins have the same bits on any number of threads", "[long]") {
    for (const KernelRow& row : kernels()) {
        if (row.name.starts_with("matmul")) continue;
        const KernelCase long_case = case_of(row, {401, 331, 1}, 9);
        const auto one = make_host({.threads = 1}), three = make_host({.threads = 3});
        const auto alone = run_case(*one, long_case), together = run_case(*three, long_case);
        INFO(row.name);
        for (size_t i = 0; i < alone.size(); ++i)
            CHECK(std::memcmp(alone[i].data(), together[i].data(), alone[i].size() * sizeof(double)) == 0);
    }
}

TEST_CASE("a pool of threads does every part of every job once, and hands on what a part throws") {
    ThreadPool pool(4);
    std::vector<int> times(1000, 0);
    for (int job = 1; job <= 3000; ++job) {
        const int parts = job % 7;
        pool.run(parts, [&](int part) { ++times[static_cast<size_t>(part)]; });
    }
    int left = 0;
    for (int part = 0; part < 7; ++part) {
        for (int parts = part + 1; parts < 7; ++parts) left += 3000 / 7 + (parts <= 3000 % 7);
        CHECK(times[static_cast<size_t>(part)] == left);
        left = 0;
    }
    for (int round = 0; round < 20; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the others sleep by now
        CHECK(message_of([&] { pool.run(8, [](int part) { part == 5 ? throw Failure("part 5") : void(); }); }) == "part 5");
    }
    std::atomic<int> sum{0};
    pool.run(1000, [&](int part) { sum += part; });
    CHECK(sum == 499500);
}

TEST_CASE("a host launch runs the kernel's native twin and reports what it did") {
    const auto device = make_host({});
    const std::vector<float> x = {-1.0f, 2.0f, -0.0f, NAN};
    std::vector<float> y(4);
    const Pointer px = device->allocate(16, "x"), py = device->allocate(16, "y");
    device->copy_in(px, x.data(), 16);
    std::vector<LaunchEvent> events;
    device->on_launch = [&](const LaunchEvent& event) { events.push_back(event); };
    device->launch(
        {.kernel = "relu_f32", .grid = {1}, .block = {256}, .arguments = {px, py, 4}, .label = "act", .phase = "forward"});
    device->copy_out(y.data(), py, 16);
    CHECK(y[0] == 0.0f);
    CHECK(y[1] == 2.0f);
    CHECK(std::isnan(y[3]));
    REQUIRE(events.size() == 1);
    CHECK(events[0].label == "act");
    CHECK(events[0].end_us >= events[0].begin_us);
    CHECK(device->provenance() == "measured");
}

TEST_CASE("the host device says in one sentence what is wrong with a request") {
    const auto device = make_host({});
    const Pointer x = device->allocate(16, "x");
    const auto launch = [&](std::string_view kernel, std::vector<Argument> arguments) {
        return message_of([&] { device->launch({.kernel = kernel, .arguments = std::move(arguments)}); });
    };
    CHECK(launch("relu_f33", {x, x, 4}) == "unknown kernel 'relu_f33', did you mean 'relu_f32'?");
    CHECK_THAT(launch("zzzzzzzzzzzzzzzz", {}), Contains("unknown kernel") && Contains("matmul_nn_f32"));
    CHECK(launch("relu_f32", {x, x}) == "kernel relu_f32 takes 3 arguments, but 2 were given");
    CHECK(launch("relu_f32", {x, x, 4.0f}) == "argument 3 of relu_f32 is an i32, but an f32 was given");
    CHECK(launch("relu_f32", {x, 4, 4}) == "argument 2 of relu_f32 is a pointer, but an i32 was given");
    CHECK_THAT(launch("relu_f32", {x, Pointer{}, 4}), Contains("address 0x0 is in no buffer on host"));
    float values[8] = {};
    CHECK_THAT(message_of([&] { device->copy_in(x, values, 32); }), Contains("past the end of 'x' (16 bytes)"));
    CHECK_THAT(message_of([&] { device->release({x.address + 4}); }), Contains("no buffer's first byte"));
    device->release(x);
    CHECK_THAT(message_of([&] { device->copy_out(values, x, 4); }), Contains("in no buffer"));
    CHECK_THAT(message_of([&] { device->wait(0, 3); }), Contains("never recorded"));
}

TEST_CASE("twins for AVX-512 have the bits of AVX2's, in every shape") {
    const std::vector<twins::TwinPair> pairs = twins::twins_of_both_widths();
    if (pairs.empty()) WARN("this machine has no AVX-512");
    ThreadPool pool(1);
    for (const twins::TwinPair& pair : pairs) {
        const KernelRow& row = kernel_named(std::string(pair.base) + "_f32");
        for (const Shape shape : {Shape{1, 1, 1}, Shape{3, 5, 7}, Shape{16, 33, 20}, Shape{61, 70, 40}}) {
            INFO(pair.base << " " << shape.m << " x " << shape.n << " x " << shape.k);
            const KernelCase one = case_of(row, shape, 5);
            const auto run = [&](Run twin) {
                std::vector<std::vector<std::byte>> memory;
                for (const kernel_cases::Buffer& buffer : one.buffers) memory.push_back(bytes_of(buffer));
                std::vector<Argument> arguments = one.arguments;
                for (Argument& argument : arguments)
                    if (auto* pointer = std::get_if<Pointer>(&argument))
                        pointer->address = reinterpret_cast<uint64_t>(memory.at(pointer->address).data());
                twin(row.name, arguments, pool);
                return memory;
            };
            CHECK(run(pair.avx2) == run(pair.avx512));
        }
    }
}

TEST_CASE("buffers of the host never overlap, are found again when released, and their memory goes back") {
    device::HostMemory memory;
    Rng rng(11);
    std::map<std::byte*, size_t> live;
    size_t most_pieces = 0;
    const auto release_any = [&] {
        const auto one = std::next(live.begin(), static_cast<std::ptrdiff_t>(rng.below(live.size())));
        memory.release(one->first);
        live.erase(one);
    };
    for (int round = 0; round < 4000; ++round) {
        if (!live.empty() && rng.below(5) < 2) release_any();
        const size_t bytes = rng.below(2) ? rng.below(300) : rng.below(600'000);
        std::byte* at = memory.allocate(bytes);
        REQUIRE(at != nullptr);
        REQUIRE(reinterpret_cast<uintptr_t>(at) % device::HostMemory::alignment == 0);
        const auto after = live.lower_bound(at);
        REQUIRE((after == live.end() || at + std::max<size_t>(bytes, 1) <= after->first));
        REQUIRE((after == live.begin() || std::prev(after)->first + std::max<size_t>(std::prev(after)->second, 1) <= at));
        live[at] = bytes;
        while (live.size() > 200) release_any();
        most_pieces = std::max(most_pieces, memory.pieces());
    }
    // 200 buffers of 150 KB on average are two pieces, holes between them are used again; under AddressSanitizer each is its
    // own.
    CHECK(most_pieces <= (sanitized ? 200 : 8));
    while (!live.empty()) release_any();
    CHECK(memory.pieces() == 0);
    CHECK(memory.allocate(SIZE_MAX) == nullptr);
}

TEST_CASE("a label outside of the classes is refused, not read") {
    const auto device = make_host({});
    const Pointer logits = device->allocate(40, "logits"), labels = device->allocate(4, "labels"),
                  loss = device->allocate(4, "loss"), p = device->allocate(40, "p");
    const int label = 10;
    device->copy_in(labels, &label, 4);
    CHECK(message_of([&] {
              device->launch({.kernel = "softmax_cross_entropy_f32", .arguments = {logits, labels, loss, p, 1, 10}});
          }) == "label 10 of row 0 is outside of the 10 classes");
}

}  // namespace device_host_test
