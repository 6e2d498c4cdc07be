// Registers that a thread reads before it has written them, and what their variable is called.
#include "core/simt/origins/unset_registers.h"

#include <filesystem>

#include "core/base/files.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace simt_unset_registers_test {

using namespace lockstep;

namespace {
ptx::Program program_of(const std::string& body) {
    const std::string text =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x) {\n"
        ".reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>;\n" +
        body + "ret;\n}\n";
    return *ptx::decode(ptx::parse(text, "k.ptx").value(), "k").value();
}
}  // namespace

TEST_CASE("the variable of an accumulation is found in its line") {
    CHECK(simt::accumulator_in("    sum += x[i];") == "sum");
    CHECK(simt::accumulator_in("for (int c = 0; c < n; ++c) sum += x[row * n + c];") == "sum");
    CHECK(simt::accumulator_in("for (int i = 0; i < n; i++) if (x[i] > 0) count++;") == "count");
    CHECK(simt::accumulator_in("best = fmaxf(best, x[i]);") == "best");
    CHECK(simt::accumulator_in("acc[k] += a * b;") == "acc");
    CHECK(simt::accumulator_in("p.x *= 2;") == "p");
    CHECK(simt::accumulator_in("float y = x + 1;") == "");
    CHECK(simt::accumulator_in("int n = n0; out[i] = n;") == "");
    CHECK(simt::accumulator_in("") == "");
}

TEST_CASE("a register that no way has set is one that is never set; one that all ways set is not") {
    const std::string parameter = "ld.param.u64 %rd1, [x];\n";
    CHECK(simt::registers_never_set(program_of(parameter + "add.f32 %f1, %f2, 0f3F800000;\nst.global.f32 [%rd1], %f1;\n"))
              .size() == 1);
    CHECK(simt::registers_never_set(program_of(parameter + "mov.f32 %f2, 0f00000000;\nadd.f32 %f1, %f2, 0f3F800000;\n"
                                                           "st.global.f32 [%rd1], %f1;\n"))
              .empty());
    // One way sets it, the other one does not.
    CHECK(simt::registers_never_set(program_of(parameter + "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\n"
                                                           "mov.f32 %f1, 0f00000000;\nA:\nst.global.f32 [%rd1], %f1;\n"))
              .size() == 1);
}

TEST_CASE("no bundled kernel reads a register that nothing has set, but to copy it") {
    namespace fs = std::filesystem;
    size_t kernels = 0;
    for (const auto& file : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "kernels/ptx")) {
        if (file.path().extension() != ".ptx") continue;
        const auto module = ptx::parse(read_text(file.path()).value(), file.path().string());
        for (const ptx::Entry& entry : module.value().entries) {
            const auto program = ptx::decode(module.value(), std::string(entry.name));
            if (!program) continue;
            INFO(file.path() << " " << entry.name);
            CHECK(simt::registers_never_set(*program.value()).empty());
            ++kernels;
        }
    }
    CHECK(kernels > 100);
}

}  // namespace simt_unset_registers_test
