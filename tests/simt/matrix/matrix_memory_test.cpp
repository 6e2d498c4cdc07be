// Fragments between registers and memory: ldmatrix, stmatrix and movmatrix by the ISA's tables, wmma as whole products,
// because where its elements are is left open. Every wrong address is a fault with a sentence.
#include "tests/matrix_support.h"

namespace simt_matrix_memory_test {

using namespace lockstep;
using namespace lockstep::matrix_test;

namespace {

// A kernel whose parameters p0, p1 ... point to buffers; `body` may use %p0.., %t (the thread), %lane, and `tile`, 8 KiB of
// shared memory.
std::string around(const std::string& declarations, const std::string& body, int pointers) {
    std::string text = ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(";
    for (int i = 0; i < pointers; ++i) text += (i ? ", .param .u64 q" : ".param .u64 q") + std::to_string(i);
    text += ")\n{\n.shared .align 128 .b8 tile[8192];\n.reg .u32 %t; .reg .u64 %o;\n.reg .u64 %p<4>;\n" + declarations +
            "\nmov.u32 %t, %tid.x;\n";
    for (int i = 0; i < pointers; ++i) text += "ld.param.u64 %p" + std::to_string(i) + ", [q" + std::to_string(i) + "];\n";
    return text + body + "ret;\n}\n";
}

std::vector<uint16_t> numbered(size_t count) {
    std::vector<uint16_t> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint16_t>(i * 7 + 3);
    return values;
}
Bytes bytes_of(const std::vector<uint16_t>& values) {
    Bytes bytes(values.size() * 2);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

// Shared memory holds 32 rows of 24 bytes less than a line apart (48 bytes); lane i points at row i.
constexpr int row_step = 48;
const char* const copy_in =
    "mul.lo.u32 %r, %t, 48;\nmul.wide.u32 %o, %t, 16;\nadd.u64 %p1, %p1, %o;\nmov.u32 %s, tile;\nadd.u32 %s, %s, %r;\n"
    "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p1];\nst.shared.v4.b32 [%s], {%a0, %a1, %a2, %a3};\nbar.sync 0;\n";
const char* const tile_registers = ".reg .u32 %r, %s;\n.reg .b32 %a<4>;\n.reg .b32 %d<4>;\n";

}  // namespace

TEST_CASE("ldmatrix hands out up to four tiles, by rows or transposed") {
    const std::vector<uint16_t> rows = numbered(32 * 8);
    for (const int tiles : {1, 2, 4})
        for (const bool turned : {false, true})
            for (const char* space : {".shared", ".shared::cta", ""}) {
                INFO(tiles << (turned ? " transposed" : "") << space);
                const bool generic = !*space;
                std::string body = copy_in;
                body += "mov.b32 %d0, 0;\nmov.b32 %d1, 0;\nmov.b32 %d2, 0;\nmov.b32 %d3, 0;\n";
                body += "cvt.u64.u32 %o, %s;\n";
                if (generic) body += "cvta.shared.u64 %o, %o;\n";
                body += "ldmatrix.sync.aligned.m8n8.x" + std::to_string(tiles) + (turned ? ".trans" : "") + space + ".b16 " +
                        list("d", tiles) + ", [%o];\n";
                body += "mul.wide.u32 %o, %t, 16;\nadd.u64 %p0, %p0, %o;\nst.global.v4.b32 [%p0], {%d0, %d1, %d2, %d3};\n";
                const Bytes out = run_kernel(around(tile_registers, body, 2), 512, {bytes_of(rows)});
                int wrong = 0;
                for (int lane = 0; lane < 32; ++lane)
                    for (int t = 0; t < 4; ++t)
                        for (int e = 0; e < 2; ++e) {
                            uint16_t got;
                            std::memcpy(&got, &out[static_cast<size_t>(lane * 16 + t * 4 + e * 2)], 2);
                            const int row = turned ? lane % 4 * 2 + e : lane / 4,
                                      column = turned ? lane / 4 : lane % 4 * 2 + e;
                            const uint16_t wanted = t < tiles ? rows[static_cast<size_t>((8 * t + row) * 8 + column)] : 0;
                            wrong += got != wanted;
                        }
                CHECK(wrong == 0);
            }
}

TEST_CASE("stmatrix puts down what ldmatrix takes up, and movmatrix turns a tile over") {
    const std::vector<uint16_t> rows = numbered(32 * 8);
    for (const bool turned_in : {false, true})
        for (const bool turned_out : {false, true})
            for (const int tiles : {1, 2, 4}) {
                INFO(tiles << turned_in << turned_out);
                std::string body = copy_in;
                body += std::string("ldmatrix.sync.aligned.m8n8.x4") + (turned_in ? ".trans" : "") +
                        ".shared.b16 {%d0, %d1, %d2, %d3}, [%s];\nbar.sync 0;\n";
                body += "stmatrix.sync.aligned.m8n8.x" + std::to_string(tiles) + (turned_out ? ".trans" : "") +
                        ".shared.b16 [%s], " + list("d", tiles) + ";\nbar.sync 0;\n";
                body +=
                    "ld.shared.v4.b32 {%a0, %a1, %a2, %a3}, [%s];\nmul.wide.u32 %o, %t, 16;\nadd.u64 %p0, %p0, %o;\n"
                    "st.global.v4.b32 [%p0], {%a0, %a1, %a2, %a3};\n";
                const Bytes out = run_kernel(around(tile_registers, body, 2), 512, {bytes_of(rows)});
                int wrong = 0;
                for (int row = 0; row < 32; ++row)
                    for (int column = 0; column < 8; ++column) {
                        uint16_t got;
                        std::memcpy(&got, &out[static_cast<size_t>((row * 8 + column) * 2)], 2);
                        const bool turned = turned_in != turned_out && row / 8 < tiles;
                        const int r = turned ? column : row % 8, c = turned ? row % 8 : column;
                        wrong += got != rows[static_cast<size_t>((row / 8 * 8 + r) * 8 + c)];
                    }
                CHECK(wrong == 0);
            }
    const std::string body =
        "mul.wide.u32 %o, %t, 4;\nadd.u64 %p1, %p1, %o;\nadd.u64 %p0, %p0, %o;\nld.global.b32 %a0, [%p1];\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;\nst.global.b32 [%p0], %d0;\n";
    const std::vector<uint16_t> tile = numbered(64);
    const Bytes out = run_kernel(around(tile_registers, body, 2), 128, {bytes_of(tile)});
    int wrong = 0;
    for (size_t i = 0; i < 64; ++i) {
        uint16_t got;
        std::memcpy(&got, &out[2 * i], 2);
        wrong += got != tile[i % 8 * 8 + i / 8];
    }
    CHECK(wrong == 0);
}

namespace {

// A matrix in memory: rows or columns one after the other, `stride` elements apart.
Bytes in_memory(const Matrix& x, bool by_columns, int stride) {
    const int lines = by_columns ? x.columns : x.rows, bits = bits_of(x.type);
    Bytes bytes(static_cast<size_t>((lines * stride * bits + 7) / 8), 0xee);
    for (int row = 0; row < x.rows; ++row)
        for (int column = 0; column < x.columns; ++column) {
            const int at = by_columns ? column * stride + row : row * stride + column;
            const uint64_t value = x.bits[static_cast<size_t>(row * x.columns + column)];
            if (bits >= 8) {
                std::memcpy(&bytes[static_cast<size_t>(at * bits / 8)], &value, static_cast<size_t>(bits / 8));
            } else {
                uint8_t& byte = bytes[static_cast<size_t>(at * bits / 8)];
                const int shift = at * bits % 8, ones = (1 << bits) - 1;
                byte = static_cast<uint8_t>((byte & ~(ones << shift)) | static_cast<int>(value) << shift);
            }
        }
    return bytes;
}

struct Wmma {
    Shape shape;
    std::string ta, tc, td;
    std::string operation = "";  // ".xor.popc"
    std::string after = "";      // ".satfinite"
};

int registers(const std::string& type, char which, const Shape& shape) {
    const int elements = which == 'a' ? shape.m * shape.k : which == 'b' ? shape.k * shape.n : shape.m * shape.n;
    if (type == "f16" && which != 'c') return 8;
    return elements * bits_of(type) / 32 / (type == "f64" ? 64 : 32);
}
std::string register_type(const std::string& type) {
    return type == "f32" || type == "f64" ? "." + type : ".b32";
}

// D = A B + C through wmma, each matrix by rows or columns; A, B and C in global memory, in shared memory or generic.
void check_wmma(const Wmma& w, bool a_columns, bool b_columns, bool c_columns, const std::string& space, int more) {
    const Shape& shape = w.shape;
    Rng rng(21);
    Matrix a = random_matrix(w.ta, shape.m, shape.k, rng), b = random_matrix(w.ta, shape.k, shape.n, rng),
           c = random_matrix(w.tc, shape.m, shape.n, rng);
    const auto stride = [&](const std::string& type, int line) {  // lines begin at multiples of 16 bytes
        return more ? line + more * 128 / bits_of(type) : line;
    };
    const int lda = stride(w.ta, a_columns ? shape.m : shape.k), ldb = stride(w.ta, b_columns ? shape.k : shape.n),
              ldc = stride(w.tc, c_columns ? shape.m : shape.n), ldd = stride(w.td, c_columns ? shape.m : shape.n);
    const auto layout = [](bool columns) { return std::string(columns ? ".col" : ".row"); };
    const int na = registers(w.ta, 'a', shape), nb = registers(w.ta, 'b', shape), nc = registers(w.tc, 'c', shape),
              nd = registers(w.td, 'c', shape);
    const auto declare = [](const char* name, int count, const std::string& type) {
        return ".reg " + type + " %" + name + "<" + std::to_string(count) + ">;\n";
    };
    const std::string declarations = declare("a", na, register_type(w.ta) == ".f64" ? ".f64" : ".b32") +
                                     declare("b", nb, register_type(w.ta) == ".f64" ? ".f64" : ".b32") +
                                     declare("c", nc, register_type(w.tc)) + declare("d", nd, register_type(w.td)) +
                                     ".reg .u32 %sa, %i; .reg .u8 %x; .reg .pred %z; .reg .u64 %u, %v;\n";
    std::string body;
    std::string at[3] = {"%p1", "%p2", "%p3"};
    if (space == ".shared") {  // lane 0 copies byte by byte; A at 0, B at 2048, C at 4096
        const size_t sizes[3] = {in_memory(a, a_columns, lda).size(), in_memory(b, b_columns, ldb).size(),
                                 in_memory(c, c_columns, ldc).size()};
        for (int m = 0; m < 3; ++m) {
            const std::string n = std::to_string(m);
            body += "mov.u32 %i, 0;\nL" + n + ":\ncvt.u64.u32 %u, %i;\nadd.u64 %v, %p" + std::to_string(m + 1) +
                    ", %u;\nld.global.u8 %x, [%v];\nmov.u32 %sa, tile;\nadd.u32 %sa, %sa, %i;\nst.shared.u8 [%sa+" +
                    std::to_string(2560 * m) + "], %x;\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %z, %i, " +
                    std::to_string(sizes[m]) + ";\n@%z bra L" + n + ";\n";
            at[m] = "tile+" + std::to_string(2560 * m);
            REQUIRE(sizes[m] <= 2560);
        }
    }
    const auto strided = [&](int line) { return more ? ", " + std::to_string(line) : std::string(); };
    const std::string where = shape.text() + space + ".";
    body += "wmma.load.a.sync.aligned" + layout(a_columns) + where + w.ta + " " + list("a", na) + ", [" + at[0] + "]" +
            strided(lda) + ";\n";
    body += "wmma.load.b.sync.aligned" + layout(b_columns) + where + w.ta + " " + list("b", nb) + ", [" + at[1] + "]" +
            strided(ldb) + ";\n";
    body += "wmma.load.c.sync.aligned" + layout(c_columns) + where + w.tc + " " + list("c", nc) + ", [" + at[2] + "]" +
            strided(ldc) + ";\n";
    const std::string types = w.ta == "f16" ? "." + w.td + "." + w.tc : "." + w.td + "." + w.ta + "." + w.ta + "." + w.tc;
    const std::string product =
        "wmma.mma" + w.operation + ".sync.aligned" + layout(a_columns) + layout(b_columns) + shape.text() + types + w.after;
    body += product + " " + list("d", nd) + ", " + list("a", na) + ", " + list("b", nb) + ", " + list("c", nc) + ";\n";
    body += "wmma.store.d.sync.aligned" + layout(c_columns) + shape.text() +
            (space == ".shared" ? ".global." : space + ".") + w.td + " [%p0], " + list("d", nd) + strided(ldd) + ";\n";
    INFO(product << space << " stride " << more << layout(c_columns));
    const Matrix empty{w.td, shape.m, shape.n, std::vector<uint64_t>(static_cast<size_t>(shape.m * shape.n), 0)};
    const size_t bytes = in_memory(empty, c_columns, ldd).size();
    const Bytes out = run_kernel(around(declarations, body, 4), bytes,
                                 {in_memory(a, a_columns, lda), in_memory(b, b_columns, ldb), in_memory(c, c_columns, ldc)});
    Matrix d = empty;
    for (int row = 0; row < shape.m; ++row)
        for (int column = 0; column < shape.n; ++column)
            std::memcpy(&d.at({row, column}),
                        &out[static_cast<size_t>((c_columns ? column * ldd + row : row * ldd + column) * bits_of(w.td) / 8)],
                        static_cast<size_t>(bits_of(w.td) / 8));
    check_product(a, b, c, d, [&](double x, double y) {
        return w.operation == ".xor.popc" ? double(x != y) : w.operation == ".and.popc" ? double(x != 0 && y != 0) : x * y;
    });
}

const Shape shapes_of_16[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};

}  // namespace

TEST_CASE("wmma multiplies matrices in memory, by rows and by columns, in all spaces, with and without a stride") {
    int space = 0, more = 0;
    const char* const spaces[] = {".global", ".shared", ""};
    for (const Shape& shape : shapes_of_16)
        for (int layout = 0; layout < 8; ++layout) {
            const auto check = [&](const Wmma& w) {
                check_wmma(w, layout & 1, layout & 2, layout & 4, spaces[space++ % 3], more++ % 2);
            };
            for (const char* tc : {"f16", "f32"})
                for (const char* td : {"f16", "f32"}) check({shape, "f16", tc, td});
            check({shape, "bf16", "f32", "f32"});
            for (const char* after : {"", ".satfinite"})
                for (const char* ta : {"s8", "u8"}) check({shape, ta, "s32", "s32", "", after});
        }
    for (int layout = 0; layout < 8; ++layout) {
        check_wmma({{16, 16, 8}, "tf32", "f32", "f32"}, layout & 1, layout & 2, layout & 4, spaces[layout % 3], layout % 2);
        check_wmma({{8, 8, 4}, "f64", "f64", "f64"}, layout & 1, layout & 2, layout & 4, spaces[layout % 3], layout % 2);
    }
    for (const bool columns : {false, true})
        for (const int stride : {0, 1}) {
            for (const char* ta : {"s4", "u4"})
                for (const char* after : {"", ".satfinite"})
                    check_wmma({{8, 8, 32}, ta, "s32", "s32", "", after}, false, true, columns, ".global", stride);
            for (const char* operation : {".xor.popc", ".and.popc"})
                check_wmma({{8, 8, 128}, "b1", "s32", "s32", operation}, false, true, columns, ".shared", stride);
        }
}

namespace {

std::string fault_of(const std::string& declarations, const std::string& body, size_t bytes) {
    try {
        run_kernel(around(declarations, body, 2), bytes, {Bytes(1024)});
    } catch (const std::exception& fault) {
        return fault.what();
    }
    return "no fault";
}

}  // namespace

TEST_CASE("a matrix that leaves its memory, lies askew or is asked for by a part of the warp is a fault") {
    const char* const a = ".reg .b32 %a<8>; .reg .pred %z; .reg .u64 %u;\n";
    const std::string registers_a = "{%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}";
    const std::string load = "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + registers_a;
    CHECK(fault_of(a, load + ", [%p1+16], 32;\n", 64) == "no fault");
    CHECK(fault_of(a, load + ", [%p1+64], 32;\n", 64)
              .starts_with("invalid global read of 32 bytes that reaches 32 bytes past the end of 'source' (1024 bytes)"));
    CHECK(fault_of(a, load + ", [%p1+8], 16;\n", 64) ==
          "misaligned global read of a matrix: line 0 does not begin at a multiple of 16 bytes");
    CHECK(fault_of(a, load + ", [%p1], 12;\n", 64) ==
          "misaligned global read of a matrix: line 1 does not begin at a multiple of 16 bytes");
    CHECK(fault_of(a, "mul.wide.u32 %u, %t, 16;\nadd.u64 %u, %u, %p1;\n" + load + ", [%u];\n", 64) ==
          "all lanes of wmma must give the same address: lane 1 gives another than lane 0");
    CHECK(fault_of(a, "setp.ne.u32 %z, %t, 7;\n@%z " + load + ", [%p1], 16;\n", 64) ==
          "wmma needs all 32 lanes of the warp: lane 7 is guarded off");
    CHECK(fault_of(a, "setp.lt.u32 %z, %t, 7;\n@%z bra L;\n" + load + ", [%p1], 16;\nL:\n", 64) ==
          "wmma needs all 32 lanes of the warp: lane 0 is on another path");
    CHECK(fault_of(a, "ldmatrix.sync.aligned.m8n8.x1.b16 {%a0}, [%p1];\n", 64) ==
          "ldmatrix takes addresses in shared memory, this one is in .global");
    CHECK(fault_of(a, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a0}, [tile+8];\n", 64) ==
          "misaligned shared read of 16 bytes, the address is not a multiple of 16");
    CHECK(fault_of(a, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile+8192], {%a0};\n", 64)
              .starts_with("invalid shared write of 16 bytes that reaches 16 bytes past the end of 'tile' (8192 bytes)"));
}

}  // namespace simt_matrix_memory_test
