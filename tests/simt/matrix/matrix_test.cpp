// mma: products of matrices spread over a warp, in every shape and type; see matrix_support.h.
#include "tests/matrix_support.h"

namespace simt_matrix_test {

using namespace lockstep;
using namespace lockstep::matrix_test;

namespace {

void check_mma(const Shape& shape, const std::string& ta, const std::string& tb, const std::string& tc,
               const std::string& before = "", const std::string& after = "") {
    const std::string spelling =
        "mma.sync.aligned" + shape.text() + ".row.col" + before + "." + tc + "." + ta + "." + tb + "." + tc + after;
    INFO(spelling);
    Rng rng(7);
    Matrix a = random_matrix(ta, shape.m, shape.k, rng), b = random_matrix(tb, shape.k, shape.n, rng),
           c = random_matrix(tc, shape.m, shape.n, rng);
    const Fragments f = fragments_of(shape.m, shape.k, ta);
    const Operands rc = registers_of(tc, f.of_c);
    const std::string text = kernel_text(spelling, rc, {registers_of(ta, f.of_a), registers_of(tb, f.of_b), rc});
    const Bytes bytes = run_kernel(text, static_cast<size_t>(rc.count * rc.bytes * 32),
                                   {deal(a, f.of_a, f.a), deal(b, f.of_b, f.b), deal(c, f.of_c, f.c)});
    const bool both = after.find(".and") != std::string::npos, either = after.find(".xor") != std::string::npos;
    check_product(a, b, c, collect(tc, shape.m, shape.n, bytes, f.of_c, f.c), [&](double x, double y) {
        return either ? double(x != y) : both ? double(x != 0 && y != 0) : x * y;
    });
}

}  // namespace

TEST_CASE("products of f16, bf16, tf32, fp8 and f64 matrices in a warp's registers are those of whole matrices") {
    for (const char* sums : {"f16", "f32"}) {
        check_mma({16, 8, 8}, "f16", "f16", sums);
        check_mma({16, 8, 16}, "f16", "f16", sums);
        for (const char* a : {"e4m3", "e5m2"})
            for (const char* b : {"e4m3", "e5m2"})
                for (const int k : {16, 32}) check_mma({16, 8, k}, a, b, sums);
    }
    for (const int k : {8, 16}) check_mma({16, 8, k}, "bf16", "bf16", "f32");
    for (const int k : {4, 8}) check_mma({16, 8, k}, "tf32", "tf32", "f32");
    check_mma({8, 8, 4}, "f64", "f64", "f64");
    for (const int k : {4, 8, 16}) check_mma({16, 8, k}, "f64", "f64", "f64");
}

TEST_CASE("products of integers and of bits are exact") {
    for (const char* before : {"", ".satfinite"}) {
        for (const char* a : {"s8", "u8"})
            for (const char* b : {"s8", "u8"})
                for (const Shape& shape : {Shape{8, 8, 16}, Shape{16, 8, 16}, Shape{16, 8, 32}})
                    check_mma(shape, a, b, "s32", before);
        for (const char* a : {"s4", "u4"})
            for (const char* b : {"s4", "u4"})
                for (const Shape& shape : {Shape{8, 8, 32}, Shape{16, 8, 32}, Shape{16, 8, 64}})
                    check_mma(shape, a, b, "s32", before);
    }
    for (const char* after : {".xor.popc", ".and.popc"})
        for (const Shape& shape : {Shape{8, 8, 128}, Shape{16, 8, 128}, Shape{16, 8, 256}})
            check_mma(shape, "b1", "b1", "s32", "", after);
}

TEST_CASE("integer sums wrap, or stop at the ends of the range with .satfinite") {
    for (const bool finite : {false, true})
        for (const bool negative : {false, true}) {
            Matrix a{"s8", 16, 32, std::vector<uint64_t>(512, negative ? 0x80 : 0x7f)},
                b{"s8", 32, 8, std::vector<uint64_t>(256, 0x7f)},
                c{"s32", 16, 8, std::vector<uint64_t>(128, negative ? 0x80000001u : 0x7ffffffeu)};
            const Fragments f = fragments_of(16, 32, "s8");
            const Operands rc = registers_of("s32", 4);
            const Bytes bytes = run_kernel(kernel_text(std::string("mma.sync.aligned.m16n8k32.row.col") +
                                                           (finite ? ".satfinite" : "") + ".s32.s8.s8.s32",
                                                       rc, {registers_of("s8", 16), registers_of("s8", 8), rc}),
                                           512, {deal(a, 16, f.a), deal(b, 8, f.b), deal(c, 4, f.c)});
            const Matrix d = collect("s32", 16, 8, bytes, 4, f.c);
            const int64_t sum = c.at({0, 0}) + (negative ? int64_t{-128} * 127 * 32 : int64_t{127} * 127 * 32);
            const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(sum));
            const int32_t wanted = !finite ? wrapped : negative ? INT32_MIN : INT32_MAX;
            int wrong = 0;
            for (const uint64_t bits : d.bits) wrong += static_cast<int32_t>(bits) != wanted;
            CHECK(wrong == 0);
        }
}

TEST_CASE("random products of f16 come within the rounding of their sums, and no NaN gets lost") {
    Rng rng(3);
    Matrix a{"f16", 16, 16, {}}, b{"f16", 16, 8, {}}, c{"f32", 16, 8, std::vector<uint64_t>(128, 0)};
    for (int i = 0; i < 256; ++i) a.bits.push_back(f32_to_f16(static_cast<float>(rng.uniform(-2.0, 2.0))));
    for (int i = 0; i < 128; ++i) b.bits.push_back(f32_to_f16(static_cast<float>(rng.uniform(-2.0, 2.0))));
    a.at({5, 3}) = 0x7e00;  // a NaN in row 5
    const Fragments f = fragments_of(16, 16, "f16");
    const Operands rc = registers_of("f32", 4);
    const Bytes bytes = run_kernel(kernel_text("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", rc,
                                               {registers_of("f16", 8), registers_of("f16", 4), rc}),
                                   512, {deal(a, 8, f.a), deal(b, 4, f.b), deal(c, 4, f.c)});
    Matrix d = collect("f32", 16, 8, bytes, 4, f.c);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
            double sum = 0, size = 0;
            for (int k = 0; k < 16; ++k) {
                sum += a.value(row, k) * b.value(k, column);
                size += std::abs(a.value(row, k) * b.value(k, column));
            }
            if (row == 5)
                CHECK(d.at({row, column}) == 0x7fffffffu);
            else  // each of 16 sums is rounded once, by at most 2^-24 of what it may have become
                CHECK(std::abs(d.value(row, column) - sum) <= 16 * 0x1p-24 * size);
        }
}

TEST_CASE("a sum is cut, or rounded once to f16, as an H200 gave it") {
    struct Measured {  // a row of A, a column of B, their element of C and that of D: driver 580, CUDA 13.0
        const char *type, *sums;
        std::vector<uint64_t> a, b;
        uint64_t c, d;
    };
    const Measured rows[] = {
        {"f16",
         "f32",
         {0xbf24, 0x3d86, 0x3a14, 0x3fe9, 0x3d83, 0x9b7a, 0xba26, 0xbeea, 0x3eb8, 0x3c09, 0xbce4, 0xb68b, 0x32e1, 0x3e90,
          0x1d3b, 0xbe43},
         {0x2cc5, 0xb468, 0x3230, 0x3695, 0xbc19, 0xbe34, 0x3dbb, 0xbe20, 0xb543, 0x3968, 0xbccd, 0xbd82, 0x3791, 0x3a72,
          0x3c6b, 0xbe59},
         0x3e2f0c18,
         0x40da97dc},  // every sum rounded in order: 0x40da97dd
        {"bf16",
         "f32",
         {0x3ec2, 0x3eff, 0xbfa5, 0xbfd4, 0x3ff2, 0x3ee2, 0x3f0d, 0xbf4f, 0xbf91, 0x3f9a, 0xbfbb, 0xbff4, 0x3f27, 0x3e36,
          0x3fb8, 0x3f84},
         {0x3f99, 0xbfa9, 0xbde2, 0x3f36, 0x3f60, 0x3bbc, 0x3fee, 0x3f9b, 0xbf8c, 0xbf02, 0xbfa4, 0xbf6a, 0xbd4f, 0xbfa3,
          0x3f35, 0xbffe},
         0xbf47ecb9,
         0x402891cb},  // 0x402891cc
        {"tf32",
         "f32",
         {0x3f38e000, 0x3fea4000, 0x3fbdc000, 0x3fd3c000, 0xbf840000, 0x3ef3a000, 0x3fd60000, 0xbf8d2000},
         {0x3fbc2000, 0xbf548000, 0x3f5c6000, 0x3fe7e000, 0xbe79c000, 0xbfe40000, 0x3f1c8000, 0x3f1ee000},
         0x3f53ce94,
         0x408c4c90},  // 0x408c4c91
        {"f16",
         "f16",
         {0x333b, 0xba91, 0xbe5d, 0x381f, 0xbb48, 0x3f10, 0x3ff2, 0x3fcc, 0xbfe0, 0x3ca3, 0x3aab, 0xb99c, 0x38ef, 0x3e93,
          0xbd6b, 0x3cbc},
         {0xbfc2, 0x399a, 0xbc56, 0xb4c6, 0xbd3b, 0xbd64, 0x3a99, 0xbef7, 0xbf8d, 0x3c7a, 0x35ff, 0x3f82, 0x31ee, 0x3d95,
          0x380e, 0xbd5b},
         0x3048,
         0x3f93},  // 0x3f92
    };
    for (const Measured& row : rows) {
        const int k = static_cast<int>(row.a.size());
        const std::string spelling = "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col." + row.sums + "." +
                                     row.type + "." + row.type + "." + row.sums;
        INFO(spelling);
        Matrix a{row.type, 16, k, std::vector<uint64_t>(static_cast<size_t>(16 * k), 0)};
        Matrix b{row.type, k, 8, std::vector<uint64_t>(static_cast<size_t>(8 * k), 0)};
        Matrix c{row.sums, 16, 8, std::vector<uint64_t>(128, 0)};
        for (int i = 0; i < k; ++i)
            a.at({3, i}) = row.a[static_cast<size_t>(i)], b.at({i, 5}) = row.b[static_cast<size_t>(i)];
        c.at({3, 5}) = row.c;
        const Fragments f = fragments_of(16, k, row.type);
        const Operands rc = registers_of(row.sums, f.of_c);
        const Bytes bytes =
            run_kernel(kernel_text(spelling, rc, {registers_of(row.type, f.of_a), registers_of(row.type, f.of_b), rc}),
                       static_cast<size_t>(rc.count * rc.bytes * 32),
                       {deal(a, f.of_a, f.a), deal(b, f.of_b, f.b), deal(c, f.of_c, f.c)});
        Matrix d = collect(row.sums, 16, 8, bytes, f.of_c, f.c);
        CHECK(d.at({3, 5}) == row.d);
    }
}

TEST_CASE("products of f64 round to the sides that they are told to") {
    // a b + c with one product: a and b of 27 bits, c far below, so that 113 bits hold the exact value.
    Rng rng(9);
    __extension__ typedef __float128 Exact;
    Matrix a{"f64", 16, 4, std::vector<uint64_t>(64, 0)}, b{"f64", 4, 8, std::vector<uint64_t>(32, 0)},
        c{"f64", 16, 8, std::vector<uint64_t>(128, 0)};
    const auto set = [](uint64_t& bits, double value) { std::memcpy(&bits, &value, 8); };
    for (int row = 0; row < 16; ++row) set(a.at({row, 0}), static_cast<double>(rng.below(1 << 27)) - (1 << 26));
    for (int column = 0; column < 8; ++column) set(b.at({0, column}), static_cast<double>(rng.below(1 << 27)) - (1 << 26));
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) set(c.at({row, column}), rng.uniform(-1.0, 1.0));
    const Fragments f = fragments_of(16, 4, "f64");
    const Operands rc = registers_of("f64", 4);
    const auto run = [&](const std::string& rounding) {
        const std::string text = kernel_text("mma.sync.aligned.m16n8k4.row.col" + rounding + ".f64.f64.f64.f64", rc,
                                             {registers_of("f64", 2), registers_of("f64", 1), rc});
        return collect("f64", 16, 8, run_kernel(text, 1024, {deal(a, 2, f.a), deal(b, 1, f.b), deal(c, 4, f.c)}), 4, f.c);
    };
    const Matrix nearest = run(".rn"), zero = run(".rz"), below = run(".rm"), above = run(".rp"), plain = run("");
    int wrong = 0;
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
            const Exact exact = Exact{a.value(row, 0)} * Exact{b.value(0, column)} + Exact{c.value(row, column)};
            const double low = below.value(row, column), high = above.value(row, column), near = nearest.value(row, column);
            wrong += !(Exact{low} <= exact && exact <= Exact{high} && (low == high || std::nextafter(low, high) == high));
            const Exact under = exact - Exact{low}, over = Exact{high} - exact;
            wrong += !(near == (under < over ? low : high) || under == over);
            wrong += !(zero.value(row, column) == (exact > 0 ? low : high));
            wrong += !(plain.value(row, column) == near);
        }
    CHECK(wrong == 0);
}

TEST_CASE("the four small products of m8n8k4 are of the lanes that the ISA names, in all layouts") {
    // Lanes 4 q to 4 q + 3 and 16 + 4 q to 16 + 4 q + 3 hold product q; what follows are lanes within it, 0 to 7.
    const auto lane_of = [](int q, int i) { return 4 * q + i % 4 + i / 4 * 16; };
    for (const std::string a_layout : {"row", "col"})
        for (const std::string b_layout : {"row", "col"})
            for (const auto& [tc, td] : {std::pair{"f16", "f16"}, {"f16", "f32"}, {"f32", "f32"}}) {
                const std::string spelling =
                    "mma.sync.aligned.m8n8k4." + a_layout + "." + b_layout + "." + td + ".f16.f16." + tc;
                INFO(spelling);
                const Formula a_place = [&](int lane, int i) {
                    const int upper = lane >= 16 ? 4 : 0;
                    return a_layout == "row" ? At{lane % 4 + upper, i} : At{i % 4 + upper, lane % 4};
                };
                const Formula b_place = [&](int lane, int i) {
                    const int upper = lane >= 16 ? 4 : 0;
                    return b_layout == "row" ? At{lane % 4, i + upper} : At{i, lane % 4 + upper};
                };
                const auto c_place = [](const std::string& type) -> Formula {
                    if (type == "f16") return [](int lane, int i) { return At{lane % 4 + (lane >= 16 ? 4 : 0), i}; };
                    return [](int lane, int i) {
                        const int x = (lane & 1) + (i & 2);
                        return At{lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1)};
                    };
                };
                Rng rng(5);
                Matrix a[4], b[4], c[4];
                Bytes in_a, in_b, in_c;
                const auto only = [&](int q, Bytes& all, const Bytes& own, size_t register_bytes) {
                    all.resize(own.size());
                    for (size_t reg = 0; reg < own.size() / (32 * register_bytes); ++reg)
                        for (int i = 0; i < 8; ++i) {
                            const size_t at = (32 * reg + static_cast<size_t>(lane_of(q, i))) * register_bytes;
                            std::copy_n(own.begin() + static_cast<std::ptrdiff_t>(at), register_bytes,
                                        all.begin() + static_cast<std::ptrdiff_t>(at));
                        }
                };
                for (int q = 0; q < 4; ++q) {
                    a[q] = random_matrix("f16", 8, 4, rng);
                    b[q] = random_matrix("f16", 4, 8, rng);
                    c[q] = random_matrix(tc, 8, 8, rng);
                    only(q, in_a, deal(a[q], 4, a_place), 4);
                    only(q, in_b, deal(b[q], 4, b_place), 4);
                    only(q, in_c, deal(c[q], 8, c_place(tc)), 4);
                }
                const Operands rd = registers_of(td, 8);
                const Bytes bytes = run_kernel(
                    kernel_text(spelling, rd, {registers_of("f16", 4), registers_of("f16", 4), registers_of(tc, 8)}),
                    static_cast<size_t>(rd.count * 128), {in_a, in_b, in_c});
                for (int q = 0; q < 4; ++q) {
                    Matrix d{td, 8, 8, std::vector<uint64_t>(64, ~uint64_t{0})};
                    for (int l = 0; l < 8; ++l)
                        for (int i = 0; i < 8; ++i) {
                            const int lane = lane_of(q, l);
                            std::memcpy(&(d.at(c_place(td)(lane, i)) = 0), &bytes[place_of(td, lane, i).byte],
                                        static_cast<size_t>(bits_of(td) / 8));
                        }
                    check_product(a[q], b[q], c[q], d, [](double x, double y) { return x * y; });
                }
            }
}

namespace {

void check_sparse(const Shape& shape, const std::string& ta, const std::string& tb, const std::string& tc, int selector,
                  const std::string& before = "") {
    const std::string spelling = "mma.sp::ordered_metadata.sync.aligned" + shape.text() + ".row.col" + before + "." + tc +
                                 "." + ta + "." + tb + "." + tc;
    INFO(spelling << " selector " << selector);
    Rng rng(11);
    Sparse sparse = random_sparse(ta, shape.k, selector, rng);
    Matrix& packed = sparse.packed;
    Matrix b = random_matrix(tb, shape.k, 8, rng), c = random_matrix(tc, 16, 8, rng);
    const Fragments fa = fragments_of(16, shape.k / 2, ta), fb = fragments_of(16, shape.k, tb);
    const Operands rc = registers_of(tc, 4);
    const Bytes bytes =
        run_kernel(kernel_text(spelling, rc, {registers_of(ta, fa.of_a), registers_of(tb, fb.of_b), rc, {1, 4, false}},
                               ", %e0, " + std::to_string(selector)),
                   static_cast<size_t>(rc.count * 128),
                   {deal(packed, fa.of_a, fa.a), deal(b, fb.of_b, fb.b), deal(c, 4, fb.c), sparse.metadata});
    check_product(sparse.whole, b, c, collect(tc, 16, 8, bytes, 4, fb.c), [](double x, double y) { return x * y; });
}

}  // namespace

TEST_CASE("products with a sparse first matrix take the elements that the metadata name") {
    for (int selector = 0; selector < 4; ++selector) {
        for (const char* sums : {"f16", "f32"}) check_sparse({16, 8, 16}, "f16", "f16", sums, selector);
        check_sparse({16, 8, 16}, "bf16", "bf16", "f32", selector);
        check_sparse({16, 8, 8}, "tf32", "tf32", "f32", selector);
        if (selector > 1) continue;
        for (const char* sums : {"f16", "f32"}) check_sparse({16, 8, 32}, "f16", "f16", sums, selector);
        check_sparse({16, 8, 32}, "bf16", "bf16", "f32", selector);
        check_sparse({16, 8, 16}, "tf32", "tf32", "f32", selector);
        check_sparse({16, 8, 32}, "s8", "u8", "s32", selector);
        check_sparse({16, 8, 64}, "u4", "s4", "s32", selector, ".satfinite");
        if (selector > 0) continue;
        check_sparse({16, 8, 64}, "u8", "s8", "s32", selector);
        check_sparse({16, 8, 128}, "s4", "u4", "s32", selector);
        check_sparse({16, 8, 64}, "e4m3", "e5m2", "f32", selector);
        check_sparse({16, 8, 64}, "e5m2", "e5m2", "f16", selector);
    }
}

TEST_CASE("a lane that is not there makes a product of the warp a fault that names it") {
    const Operands four{4, 4, true}, a{4, 4, false}, b{2, 4, false};
    const std::string text = kernel_text("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", four, {a, b, four});
    CHECK_THROWS_WITH(run_kernel(text, 512, {Bytes(512), Bytes(256), Bytes(512)}, 20),
                      "mma needs all 32 lanes of the warp: lane 20 has exited or never existed");
}

}  // namespace simt_matrix_test
