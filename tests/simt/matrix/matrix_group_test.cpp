// wgmma: the product of a warpgroup. Matrices are put into shared memory by the ISA's canonical layouts, written here as
// shapes and strides of nested coordinates and a swizzle of address bits, and given to the instruction as descriptors.
#include "tests/matrix_support.h"

namespace simt_matrix_group_test {

using namespace lockstep;
using namespace lockstep::matrix_test;

namespace {

constexpr int swizzle_bits[] = {0, 3, 2, 1};  // by the descriptor's field: none, 128, 64, 32 bytes

struct Placement {
    int swizzle = 0;          // the descriptor's field
    bool transposed = false;  // neighbours across k lie side by side
    uint32_t start = 0, leading = 0, stride = 0;

    // Byte address of element (mn, k), `bits` wide.
    uint32_t address(int mn, int k, int bits) const {
        const int t = 128 / bits, width = swizzle ? 1 << swizzle_bits[swizzle] : 1;  // in elements, in pieces of 16 bytes
        int64_t bytes;
        const auto in_bytes = [&](int elements) { return int64_t{elements} * bits / 8; };
        if (!transposed && !swizzle)  // ((8,m),(T,2)) : ((T,stride),(1,leading)), sparse (T,4)
            bytes = in_bytes(mn % 8 * t + k % t) + mn / 8 * int64_t{stride} + k / t * int64_t{leading};
        else if (!transposed)  // ((8,m),(T,2)) : ((width T,stride),(1,T)), sparse ((T,width,..)) : (1,T,leading)
            bytes = in_bytes(mn % 8 * width * t + k % (width * t)) + mn / 8 * int64_t{stride} +
                    k / (width * t) * int64_t{leading};
        else if (!swizzle)  // ((T,1,m),(8,k)) : ((1,T,stride),(T,leading))
            bytes = in_bytes(mn % t + k % 8 * t) + mn / t * int64_t{stride} + k / 8 * int64_t{leading};
        else  // ((T,width,m),(8,k)) : ((1,T,leading),(width T,stride))
            bytes = in_bytes(mn % (t * width) + k % 8 * width * t) + mn / (t * width) * int64_t{leading} +
                    k / 8 * int64_t{stride};
        const auto at = start + static_cast<uint32_t>(bytes);
        return at ^ ((at >> 7 & ((1u << swizzle_bits[swizzle]) - 1)) << 4);
    }
    uint64_t descriptor() const {
        return uint64_t{start >> 4} | uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 |
               static_cast<uint64_t>(swizzle) << 62;
    }
};

// Strides that leave no element on another's place; with gaps where `loose`.
Placement placed(int swizzle, bool transposed, uint32_t start, int rows, bool loose, bool sparse = false) {
    Placement p{swizzle, transposed, start, 0, 0};
    const uint32_t width = swizzle ? 1u << swizzle_bits[swizzle] : 1;
    const uint32_t group = 8 * width * 16;  // bytes of 8 rows of pieces
    const auto groups = static_cast<uint32_t>(rows / 8);
    if (!transposed && !swizzle) {
        p.leading = loose && !sparse ? 128 : groups * (loose ? 256 : 128);
        p.stride = loose ? 256 : 128;
    } else if (!transposed) {
        p.stride = group * (loose ? 2 : 1);
        p.leading = groups * p.stride;  // only where a row is longer than the swizzle
    } else if (!swizzle) {
        p.stride = loose ? 256 : 128;
        p.leading = loose ? 128 : groups * 128;
        if (sparse) p.leading = groups * p.stride;
    } else {
        p.stride = group;
        p.leading = (sparse ? 4 : 2) * group * (loose ? 2 : 1);
    }
    return p;
}

void put_element(Bytes& shared, uint32_t address, int bits, int k, uint64_t value) {
    if (bits < 8) {
        uint8_t& byte = shared.at(address);
        byte = static_cast<uint8_t>(byte | value << k % 8);
    } else {
        std::memcpy(&shared.at(address), &value, static_cast<size_t>(bits / 8));
    }
}

struct Group {
    std::string ta, tb, tc;
    int n = 8;
    bool in_registers = false;
    int swizzle_a = 0, swizzle_b = 0;
    bool transposed_a = false, transposed_b = false;
    bool negated_a = false, negated_b = false, keeps = true, loose = false;
    std::string after = "";
    int selector = -1;  // of a sparse product
};

void check_group(const Group& g) {
    const bool sparse = g.selector >= 0;
    const int bits = bits_of(g.ta), stored = 256 / bits, k = sparse ? 2 * stored : stored, of_d = 64 * g.n / 128;
    const bool integers = g.tc == "s32", halves = bits == 16;
    Rng rng(17);
    Matrix a = random_matrix(g.ta, 64, stored, rng), b = random_matrix(g.tb, k, g.n, rng),
           c = random_matrix(g.tc, 64, g.n, rng);
    Matrix meant = a;  // with the zeros of a sparse one
    Bytes in_e;
    if (sparse) {
        meant = Matrix{g.ta, 64, k, {}};
        a.bits.clear();
        for (int warp = 0; warp < 4; ++warp) {
            const Sparse part = random_sparse(g.ta, k, g.selector, rng);
            a.bits.insert(a.bits.end(), part.packed.bits.begin(), part.packed.bits.end());
            meant.bits.insert(meant.bits.end(), part.whole.bits.begin(), part.whole.bits.end());
            in_e.insert(in_e.end(), part.metadata.begin(), part.metadata.end());
        }
    }
    const Placement pa = placed(g.swizzle_a, g.transposed_a, 1024, 64, g.loose),
                    pb = placed(g.swizzle_b, g.transposed_b, 16384, g.n, g.loose, sparse);
    Bytes shared(65536, 0);
    for (int row = 0; row < 64 && !g.in_registers; ++row)
        for (int i = 0; i < stored; ++i) put_element(shared, pa.address(row, i, bits), bits, i, a.at({row, i}));
    for (int column = 0; column < g.n; ++column)
        for (int i = 0; i < k; ++i) put_element(shared, pb.address(column, i, bits), bits, i, b.at({i, column}));
    // Registers of A (as of mma with 16 rows) and of C of the four warps, one warp's after the other's.
    const Fragments f = fragments_of(16, stored, g.ta);
    const Formula place = [](int lane, int i) { return At{lane / 4 + i % 4 / 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2}; };
    const auto rows_of = [](const Matrix& x, int warp) {
        const auto size = static_cast<std::ptrdiff_t>(16 * x.columns);
        return Matrix{x.type, 16, x.columns, {x.bits.begin() + warp * size, x.bits.begin() + (warp + 1) * size}};
    };
    Bytes in_a, in_c;
    for (int warp = 0; warp < 4; ++warp) {
        Matrix own_a = rows_of(a, warp), own_c = rows_of(c, warp);
        const Bytes one = deal(own_a, f.of_a, f.a), two = deal(own_c, of_d, place);
        in_a.insert(in_a.end(), one.begin(), one.end());
        in_c.insert(in_c.end(), two.begin(), two.end());
    }
    const Operands rd = registers_of(g.tc, of_d);
    const std::string count = std::to_string(rd.count), type = rd.real ? ".f32" : ".b32";
    std::string text =
        ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 q0, .param .u64 q1, .param .u64 q2, "
        ".param .u64 q3, .param .u64 q4)\n{\n.shared .align 1024 .b8 tile[65536];\n.reg .u32 %t, %w, %s; .reg .u64 %p<5>, "
        "%o, %x, %da, "
        "%db;\n"
        ".reg .b32 %a<4>, %m<4>, %e; .reg .pred %keep, %z; .reg " +
        type + " %d<" + count + ">;\n";
    for (int i = 0; i < 5; ++i) text += "ld.param.u64 %p" + std::to_string(i) + ", [q" + std::to_string(i) + "];\n";
    text +=
        "mov.u32 %t, %tid.x;\nmul.lo.u32 %s, %t, 16;\nLOOP:\ncvt.u64.u32 %x, %s;\nadd.u64 %x, %x, %p1;\n"
        "ld.global.v4.b32 {%m0, %m1, %m2, %m3}, [%x];\nmov.u32 %w, tile;\nadd.u32 %w, %w, %s;\n"
        "st.shared.v4.b32 [%w], {%m0, %m1, %m2, %m3};\nadd.u32 %s, %s, 2048;\nsetp.lt.u32 %z, %s, 65536;\n@%z bra LOOP;\n"
        "bar.sync 0;\nshr.u32 %w, %t, 5;\nand.b32 %t, %t, 31;\nmul.wide.u32 %o, %t, 4;\n";
    const auto warp_base = [&](int pointer, int bytes) {
        text += "mul.wide.u32 %x, %w, " + std::to_string(bytes) + ";\nadd.u64 %x, %x, %o;\nadd.u64 %x, %x, %p" +
                std::to_string(pointer) + ";\n";
    };
    warp_base(2, 512);
    for (int i = 0; i < 4; ++i) text += "ld.global.b32 %a" + std::to_string(i) + ", [%x+" + std::to_string(128 * i) + "];\n";
    if (sparse) {
        warp_base(4, 128);
        text += "ld.global.b32 %e, [%x];\n";
    }
    warp_base(3, rd.count * 128);
    for (int i = 0; i < rd.count; ++i)
        text += "ld.global" + type + " %d" + std::to_string(i) + ", [%x+" + std::to_string(128 * i) + "];\n";
    text += "mov.u64 %da, " + std::to_string(pa.descriptor()) + ";\nmov.u64 %db, " + std::to_string(pb.descriptor()) +
            ";\nsetp.ne.u32 %keep, " + (g.keeps ? "1" : "0") + ", 0;\nwgmma.fence.sync.aligned;\n";
    const std::string spelling = std::string("wgmma.mma_async") + (sparse ? ".sp" : "") + ".sync.aligned.m64n" +
                                 std::to_string(g.n) + "k" + std::to_string(k) + "." + g.tc + "." + g.ta + "." + g.tb +
                                 g.after;
    text += spelling + " " + list("d", rd.count) + ", " + (g.in_registers ? list("a", 4) : std::string("%da")) + ", %db, " +
            (sparse ? "%e, " + std::to_string(g.selector) + ", " : "") + "%keep";
    if (!integers) text += std::string(g.negated_a ? ", -1" : ", 1") + (g.negated_b ? ", -1" : ", 1");
    if (halves && !g.in_registers) text += g.transposed_a ? ", 1" : ", 0";
    if (halves) text += g.transposed_b ? ", 1" : ", 0";
    text += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    warp_base(0, rd.count * 128);
    for (int i = 0; i < rd.count; ++i)
        text += "st.global" + type + " [%x+" + std::to_string(128 * i) + "], %d" + std::to_string(i) + ";\n";
    text += "ret;\n}\n";
    INFO(spelling << (g.in_registers ? " a in registers" : "") << " swizzles " << g.swizzle_a << g.swizzle_b
                  << " transposed " << g.transposed_a << g.transposed_b << " keeps " << g.keeps << " selector "
                  << g.selector);
    const Bytes out = run_kernel(text, static_cast<size_t>(4 * rd.count * 128), {shared, in_a, in_c, in_e}, 128);
    if (!g.keeps) c.bits.assign(c.bits.size(), 0);
    for (int warp = 0; warp < 4; ++warp) {
        const auto size = static_cast<std::ptrdiff_t>(rd.count * 128);
        Matrix own_a = rows_of(meant, warp), own_c = rows_of(c, warp);
        const Matrix d =
            collect(g.tc, 16, g.n, Bytes(out.begin() + warp * size, out.begin() + (warp + 1) * size), of_d, place);
        check_product(own_a, b, own_c, d, [&](double x, double y) {
            return g.ta == "b1" ? double(x != 0 && y != 0) : g.negated_a != g.negated_b ? -(x * y) : x * y;
        });
    }
}

}  // namespace

TEST_CASE("a warpgroup multiplies matrices from shared memory in every layout") {
    for (int swizzle_a = 0; swizzle_a < 4; ++swizzle_a)
        for (int swizzle_b = 0; swizzle_b < 4; ++swizzle_b)
            for (const bool loose : {false, true})
                for (int transposed = 0; transposed < 4; ++transposed)
                    check_group({.ta = "f16",
                                 .tb = "f16",
                                 .tc = "f32",
                                 .n = 128,  // a multiple of what every swizzle holds side by side
                                 .swizzle_a = swizzle_a,
                                 .swizzle_b = swizzle_b,
                                 .transposed_a = (transposed & 1) != 0,
                                 .transposed_b = (transposed & 2) != 0,
                                 .loose = loose});
}

TEST_CASE("a warpgroup multiplies every type, with A in registers or in shared memory, up to 256 columns") {
    for (const bool in_registers : {false, true}) {
        const auto check = [&](const char* ta, const char* tb, const char* tc, int n, const char* after = "") {
            for (const int swizzle : {0, 1})
                check_group({.ta = ta,
                             .tb = tb,
                             .tc = tc,
                             .n = n,
                             .in_registers = in_registers,
                             .swizzle_a = swizzle,
                             .swizzle_b = swizzle,
                             .after = after});
        };
        for (const int n : {8, 24, 104, 256}) check("f16", "f16", "f32", n);
        check("f16", "f16", "f16", 64);
        check("bf16", "bf16", "f32", 64);
        check("tf32", "tf32", "f32", 64);
        for (const char* tc : {"f16", "f32"})
            for (const char* ta : {"e4m3", "e5m2"})
                for (const char* tb : {"e4m3", "e5m2"}) check(ta, tb, tc, 40);
        for (const char* after : {"", ".satfinite"})
            for (const char* ta : {"s8", "u8"})
                for (const char* tb : {"s8", "u8"}) check(ta, tb, "s32", 48, after);
        check("b1", "b1", "s32", 32, ".and.popc");
    }
}

TEST_CASE("a warpgroup multiplies a sparse matrix, whose metadata say which elements are there, in every type and layout",
          "[long]") {
    for (int swizzle = 0; swizzle < 4; ++swizzle)
        for (const bool loose : {false, true})
            for (int transposed = 0; transposed < 4; ++transposed)
                check_group({.ta = "f16",
                             .tb = "f16",
                             .tc = "f32",
                             .n = 64,
                             .swizzle_a = (swizzle + transposed) % 4,
                             .swizzle_b = swizzle,
                             .transposed_a = (transposed & 1) != 0,
                             .transposed_b = (transposed & 2) != 0,
                             .loose = loose,
                             .selector = transposed / 2});
    for (const bool in_registers : {false, true})
        for (const int swizzle : {0, 1}) {
            const auto check = [&](const char* ta, const char* tb, const char* tc, int n, int selector,
                                   const char* after = "") {
                check_group({.ta = ta,
                             .tb = tb,
                             .tc = tc,
                             .n = n,
                             .in_registers = in_registers,
                             .swizzle_a = swizzle,
                             .swizzle_b = swizzle,
                             .negated_a = std::string(tc) != "s32" && n == 24,
                             .keeps = n != 40,
                             .after = after,
                             .selector = selector});
            };
            for (const int selector : {0, 1}) {
                for (const int n : {8, 24, 40, 256}) check("f16", "f16", "f32", n, selector);
                check("f16", "f16", "f16", 24, selector);
                check("bf16", "bf16", "f32", 40, selector);
                check("tf32", "tf32", "f32", 24, selector);
            }
            for (const char* tc : {"f16", "f32"})
                for (const char* ta : {"e4m3", "e5m2"})
                    for (const char* tb : {"e4m3", "e5m2"}) check(ta, tb, tc, 24, 0);
            for (const char* after : {"", ".satfinite"})
                for (const char* ta : {"s8", "u8"})
                    for (const char* tb : {"s8", "u8"}) check(ta, tb, "s32", 48, 0, after);
        }
}

TEST_CASE("a sparse product of a warpgroup is refused in a shape or with a selector that it has not") {
    const auto refusal = [](const std::string& spelling, const std::string& rest) -> std::string {
        const std::string text =
            ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %a<4>, %e; .reg .f32 %d<4>; "
            ".reg .pred %p; .reg .u64 %b;\nwgmma.mma_async.sp.sync.aligned." +
            spelling + " {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, %e, " + rest + ";\nret;\n}\n";
        const auto program = ptx::decode(ptx::parse(text, "group.ptx").value(), "k");
        return program ? "" : render(program.error());
    };
    CHECK(refusal("m64n8k32.f32.f16.f16", "1, %p, 1, 1, 0").empty());
    CHECK(refusal("m64n8k32.f32.f16.f16", "2, %p, 1, 1, 0").find("the selector of") != std::string::npos);
    CHECK(refusal("m64n8k64.f32.e4m3.e5m2", "1, %p, 1, 1").find("is 0") != std::string::npos);
    CHECK(refusal("m64n8k32.f32.f16.f16", "%e, %p, 1, 1, 0").find("is 0 or 1") != std::string::npos);
    CHECK(refusal("m64n8k16.f32.f16.f16", "0, %p, 1, 1, 0").find("k 32") != std::string::npos);
    CHECK(refusal("m64n8k32.f32.f16.f16", "0, %p, 1, 1").find("takes 9 operands") != std::string::npos);
    CHECK(refusal("m64n8k512.s32.b1.b1.and.popc", "0, %p").find("unknown form") != std::string::npos);
}

TEST_CASE("a warpgroup's product forgets what was there and changes signs when it is told to") {
    for (const bool keeps : {false, true})
        for (int signs = 0; signs < 4; ++signs)
            check_group({.ta = "bf16",
                         .tb = "bf16",
                         .tc = "f32",
                         .n = 16,
                         .negated_a = (signs & 1) != 0,
                         .negated_b = (signs & 2) != 0,
                         .keeps = keeps});
    check_group({.ta = "s8", .tb = "s8", .tc = "s32", .n = 16, .keeps = false});
}

TEST_CASE("a descriptor that points outside of shared memory and a half warpgroup are faults") {
    const auto run = [](uint64_t descriptor, uint32_t threads) -> std::string {
        const std::string text =
            ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 q0)\n{\n.shared .align 1024 .b8 "
            "tile[4096];\n.reg .b32 %a<4>; .reg .f32 %d<4>; .reg .pred %p; .reg .u64 %b;\nmov.u64 %b, " +
            std::to_string(descriptor) +
            ";\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, %p, 1, 1, "
            "0;\nst.shared.u8 [tile], 0;\nret;\n}\n";
        try {
            run_kernel(text, 64, {}, threads);
        } catch (const std::exception& fault) {
            return fault.what();
        }
        return "no fault";
    };
    CHECK(run(0, 128) == "no fault");
    CHECK(run(0xff, 128).starts_with(
        "invalid shared read of 16 bytes that reaches 16 bytes past the end of the block's shared memory (4096 bytes)"));
    CHECK(run(0, 192) == "wgmma needs warpgroups of 4 warps: the block's last one has 2");
    CHECK(run(0, 100) == "wgmma needs all 32 lanes of the warp: lane 4 has exited or never existed");
}

}  // namespace simt_matrix_group_test
