// Random numbers by counter: Philox's published words, the normal distribution by its own integral, and dropout's share.
#include <cmath>

#include "core/device/devices.h"
#include "tests/catch.h"

namespace device_random_test {

using namespace lockstep;
using namespace lockstep::device;

namespace {
std::vector<float> run(const std::string& device_name, const std::string& kernel, int64_t seed, int64_t offset,
                       std::vector<Argument> numbers, int n, const std::vector<float>* x = nullptr) {
    const auto device = open_device(device_name, {.functional = true}).value();
    std::vector<float> values(static_cast<size_t>(n));
    const size_t bytes = values.size() * sizeof(float);
    const Pointer y = device->allocate(bytes, "y");
    std::vector<Argument> arguments = {y, seed, offset};
    if (x) {
        const Pointer from = device->allocate(bytes, "x");
        device->copy_in(from, x->data(), bytes);
        arguments.insert(arguments.begin(), from);
    }
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    arguments.push_back(n);
    device->launch({.kernel = kernel,
                    .grid = {static_cast<uint32_t>((n + 1023) / 1024), 1, 1},
                    .block = {256, 1, 1},
                    .arguments = arguments});
    device->copy_out(values.data(), y, bytes);
    return values;
}
float fraction(uint32_t word) {
    return static_cast<float>(word >> 8) * 0x1p-24f;
}
}  // namespace

TEST_CASE("Philox 4x32-10 gives its published words") {
    // Random123, kat_vectors: counter and key of zeros.
    const auto zeros = run("host", "uniform_f32", 0, 0, {0.0f, 1.0f}, 4);
    CHECK(zeros ==
          std::vector<float>{fraction(0x6627e8d5), fraction(0xe169c58d), fraction(0xbc57ac4c), fraction(0x9b00dbd8)});
    CHECK(run("sim:v100", "uniform_f32", 0, 0, {0.0f, 1.0f}, 4) == zeros);
}

TEST_CASE("an offset continues the sequence, and the seed changes all of it") {
    const auto whole = run("host", "uniform_f32", 5, 100, {-1.0f, 1.0f}, 1000),
               later = run("host", "uniform_f32", 5, 110, {-1.0f, 1.0f}, 960),
               other = run("host", "uniform_f32", 6, 100, {-1.0f, 1.0f}, 1000);
    CHECK(std::equal(later.begin(), later.end(), whole.begin() + 40));
    size_t same = 0;
    for (size_t i = 0; i < whole.size(); ++i) same += whole[i] == other[i];
    CHECK(same < 3);
    CHECK(run("sim:v100", "uniform_f32", 5, 100, {-1.0f, 1.0f}, 1000) == whole);
}

TEST_CASE("normal numbers have the normal distribution, the same bits on the modelled GPU") {
    constexpr int n = 20000;
    const auto z = run("host", "normal_f32", 3, 0, {0.0f, 1.0f}, n), u = run("host", "uniform_f32", 3, 0, {0.0f, 1.0f}, n);
    CHECK(run("sim:v100", "normal_f32", 3, 0, {0.0f, 1.0f}, n) == z);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < z.size(); ++i) {
        const double below = 0.5 * std::erfc(-double(z[i]) / std::sqrt(2.0));  // the integral up to z
        const double tail = std::min(double(u[i]), 1 - double(u[i])) + 1e-7;
        const double error = std::abs(below - double(u[i]));
        if (!(error < 3e-7 + 5e-6 * tail)) FAIL(z[i] << " has " << below << " below it, not " << u[i]);
        sum += double(z[i]);
        squares += double(z[i]) * double(z[i]);
    }
    CHECK(std::abs(sum / n) < 0.03);
    CHECK(std::abs(squares / n - 1) < 0.04);
}

TEST_CASE("dropout zeroes its share and scales the rest, the same elements on every device") {
    const std::vector<float> ones(10000, 1.0f);
    const auto dropped = run("host", "dropout_f32", 1, 0, {uint32_t{1} << 30, 4.0f / 3}, 10000, &ones);
    int zeros = 0;
    for (float value : dropped) {
        zeros += value == 0;
        CHECK((value == 0 || value == 4.0f / 3));
    }
    CHECK(std::abs(zeros - 2500) < 200);
    CHECK(run("sim:v100", "dropout_f32", 1, 0, {uint32_t{1} << 30, 4.0f / 3}, 10000, &ones) == dropped);
}

}  // namespace device_random_test
