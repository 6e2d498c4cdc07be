// The special functions against outputs of an H200: hashes over 1025 awkward and random arguments, and over every 1021st
// of all significands or of a regular grid, which the GPU's outputs had.
#include "tests/ptx/opcode_support.h"

namespace ptx_special_test {

using namespace opcode_test;

namespace {

uint32_t of(float x) {
    return __builtin_bit_cast(uint32_t, x);
}
std::vector<float> awkward() {  // also 974 random numbers of both signs from 2^-12 to 2^12
    std::vector<float> v = {0.0f,
                            -0.0f,
                            1.0f,
                            -1.0f,
                            0.5f,
                            -0.5f,
                            2.0f,
                            3.0f,
                            -3.0f,
                            10.0f,
                            100.0f,
                            -100.0f,
                            1e-3f,
                            1e-10f,
                            1e10f,
                            3.14159265358979f,
                            1.5707963267948966f,
                            0.1f,
                            0.3f,
                            0.7f,
                            0.9f,
                            0.999999f,
                            1.000001f,
                            1.5f,
                            -1.7f,
                            4.5f,
                            -4.5f,
                            2.5f,
                            87.0f,
                            88.9f,
                            -87.5f,
                            -104.0f,
                            127.5f,
                            -149.0f,
                            38.7f,
                            709.5f,
                            105615.0f,
                            1e6f,
                            -1e6f,
                            1e22f,
                            1e30f,
                            1e-38f,
                            1e-40f,
                            1.4e-45f,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            7.3f,
                            -12.25f,
                            19.75f,
                            33.3f};
    uint32_t s = 12345;
    for (int i = 0; i < 974; ++i) {
        s = s * 1664525u + 1013904223u;
        const float m = static_cast<float>(s >> 8) / static_cast<float>(1 << 24);
        s = s * 1664525u + 1013904223u;
        const float x = std::ldexp(m + 1.0f, static_cast<int>(s >> 24) % 24 - 12);
        v.push_back(i & 1 ? -x : x);
    }
    return v;
}
std::vector<float> floats_from(float first, size_t n) {  // every 1021st of n neighbours
    std::vector<float> v;
    for (size_t i = 500; i < n; i += 1021) v.push_back(__builtin_bit_cast(float, of(first) + static_cast<uint32_t>(i)));
    return v;
}
std::vector<float> grid(double step, size_t n) {
    std::vector<float> v;
    for (size_t i = 500; i < n; i += 1021) v.push_back(static_cast<float>(static_cast<double>(i) * step));
    return v;
}
// FNV over the results' bits, in 64-bit words.
uint64_t hash(const std::string& instruction, std::span<const float> x, std::span<const float> y, Simd simd) {
    const auto program = program_of({instruction});
    if (!program) FAIL(program.error().message);
    Machine machine(*program.value());
    const DecodedInstruction& i = program.value()->instructions[0];
    const Form& form = opcodes(simd)[place_of(i).row].forms[place_of(i).form];
    uint64_t h = 14695981039346656037ull;
    for (size_t k = 0; k < x.size(); k += 32) {
        const size_t here = std::min<size_t>(32, x.size() - k);
        for (size_t l = 0; l < here; ++l) {
            machine.set("%r1", Type::f32, static_cast<int>(l), of(x[k + l]));
            machine.set("%r2", Type::f32, static_cast<int>(l), of(y.empty() ? 0.0f : y[k + l]));
        }
        machine.run(i, form);
        for (size_t l = 0; l < here; ++l)
            h = (h ^ (machine.get("%r3", Type::f32, static_cast<int>(l)) & 0xffffffffu)) * 1099511628211ull;
    }
    return h;
}
struct Measured {
    const char* instruction;
    uint64_t hash;
};

}  // namespace

TEST_CASE("awkward and random arguments of special functions give an H200's bits") {
    const std::vector<float> x = awkward();
    std::vector<float> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[(i * 37 + 11) % x.size()];
    const Measured measured[] = {
        {"ex2.approx.f32 %r3, %r1", 0x5ef858736bcc925d},      {"ex2.approx.ftz.f32 %r3, %r1", 0x6e4eb00c53620fdb},
        {"lg2.approx.f32 %r3, %r1", 0x789653dcaeb846fe},      {"rcp.approx.f32 %r3, %r1", 0x47c79446637f4dff},
        {"rcp.approx.ftz.f32 %r3, %r1", 0x5fd97e57ab48f509},  {"rsqrt.approx.f32 %r3, %r1", 0x9b5b8ada2ab2dfd4},
        {"sqrt.approx.f32 %r3, %r1", 0x53bc91791e06b6c8},     {"sin.approx.f32 %r3, %r1", 0x18d6103a6342cf77},
        {"cos.approx.f32 %r3, %r1", 0x5d97b5a380164632},      {"tanh.approx.f32 %r3, %r1", 0x8e9210b4e3af4adf},
        {"div.approx.f32 %r3, %r1, %r2", 0x34706aa37b92c465}, {"div.full.f32 %r3, %r1, %r2", 0x34706aa37b92c465}};
    for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
        if (opcodes(simd).empty()) continue;
        for (const Measured& m : measured) {
            CAPTURE(m.instruction);
            CHECK(hash(m.instruction, x, y, simd) == m.hash);
        }
    }
}

TEST_CASE("special functions give an H200's bits over all significands") {
    struct Sweep {
        Measured measured;
        std::vector<float> x;
    };
    const double turn = 6.283185307179586 / 0x1p22;
    const Sweep sweeps[] = {{{"rcp.approx.ftz.f32 %r3, %r1", 0x3df1bd0a28c57e01}, floats_from(1.0f, 1 << 23)},
                            {{"sqrt.approx.ftz.f32 %r3, %r1", 0x180900c74940e9d6}, floats_from(1.0f, 1 << 24)},
                            {{"rsqrt.approx.ftz.f32 %r3, %r1", 0xf6695718f2fa1469}, floats_from(1.0f, 1 << 24)},
                            {{"lg2.approx.ftz.f32 %r3, %r1", 0x993b8b669bb52d02}, floats_from(0.5f, 1 << 24)},
                            {{"ex2.approx.ftz.f32 %r3, %r1", 0x1ecb160deb548a72}, grid(0x1p-23, 1 << 23)},
                            {{"sin.approx.ftz.f32 %r3, %r1", 0xa024974a5c874fa9}, grid(turn, 1 << 22)},
                            {{"cos.approx.ftz.f32 %r3, %r1", 0x2af9f7ceea5b471f}, grid(turn, 1 << 22)},
                            {{"tanh.approx.f32 %r3, %r1", 0x97c9f6e8742b6a17}, grid(10.0 / 0x1p22, 1 << 22)}};
    for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
        if (opcodes(simd).empty()) continue;
        for (const Sweep& s : sweeps) {
            CAPTURE(s.measured.instruction);
            CHECK(hash(s.measured.instruction, s.x, {}, simd) == s.measured.hash);
        }
    }
}

}  // namespace ptx_special_test
