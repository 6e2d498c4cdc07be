// What a program needs of a GPU, held against the targets that compilers chose: bundled PTX names the lowest that it needs.
#include "core/ptx/analyse/generation.h"

#include <cctype>
#include <filesystem>

#include "core/base/files.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace ptx_generation_test {

using namespace lockstep;
using namespace lockstep::ptx;

namespace {
uint32_t number_of(std::string_view target) {  // "sm_90a": 90
    uint32_t number = 0;
    for (const char c : target)
        if (std::isdigit(static_cast<unsigned char>(c)) != 0) number = 10 * number + static_cast<uint32_t>(c - '0');
    return number;
}
Needed needed_by(const std::string& statement) {
    const std::string text =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<20>; .reg .b64 "
        "%rd<9>; .reg .f32 %f<9>; .reg .b16 %h<9>; .reg .f64 %d<9>; .reg .pred %p<3>; .shared .align 16 .b8 tile[64];\n"
        "mov.u32 %r1, tile;\n" +
        statement + "\nret;\n}\n";
    const auto program = decode(parse(text, "k.ptx").value(), "k");
    INFO(statement);
    REQUIRE(program.ok());
    return needed_generation(*program.value());
}
}  // namespace

TEST_CASE("no bundled kernel needs more than the target that its PTX names, and those for one generation need it") {
    uint32_t kernels = 0, of_ampere = 0;
    for (const char* folder : {"kernels/ptx", "lessons"})
        for (const auto& file :
             std::filesystem::recursive_directory_iterator(std::string(LOCKSTEP_SOURCE_DIR) + "/" + folder)) {
            if (file.path().extension() != ".ptx") continue;
            const auto module = parse(read_file(file.path()).value(), file.path().string());
            REQUIRE(module.ok());
            for (const Entry& entry : module.value().entries) {
                if (entry.function) continue;
                const auto program = decode(module.value(), std::string(entry.name));
                REQUIRE(program.ok());
                const uint32_t compute = needed_generation(*program.value()).compute;
                INFO(file.path() << " " << entry.name << " needs " << compute);
                CHECK(compute <= number_of(program.value()->target));
                ++kernels;
                of_ampere += compute == 80;
            }
        }
    CHECK(kernels > 200);
    CHECK(of_ampere > 0);
}

TEST_CASE("instructions are known by the generation that brought them, and the first that needs the latest is named") {
    CHECK(needed_by("add.u32 %r2, %r2, %r3; fma.rn.f32 %f1, %f1, %f1, %f1;").compute == 0);
    CHECK(needed_by("fma.rn.f16 %h1, %h1, %h1, %h1;").compute == 53);
    CHECK(needed_by("dp4a.u32.u32 %r2, %r3, %r4, %r5;").compute == 61);
    CHECK(needed_by("nanosleep.u32 20;").compute == 70);
    CHECK(needed_by("@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];").compute == 75);
    CHECK(needed_by("redux.sync.add.u32 %r2, %r3, -1;").compute == 80);
    CHECK(needed_by("elect.sync %r2|%p1, -1;").compute == 90);
    CHECK(needed_by("mov.u32 %r2, %cluster_ctarank;").compute == 90);
    CHECK(needed_by("cp.async.ca.shared.global [%r1], [%rd1], 4;").compute == 80);
    CHECK(needed_by("cp.async.bulk.commit_group;").compute == 90);
    const Needed both = needed_by("nanosleep.u32 20; redux.sync.add.u32 %r2, %r3, -1; redux.sync.add.u32 %r2, %r3, -1;");
    CHECK(both.compute == 80);
    CHECK(both.pc == 2);
}

}  // namespace ptx_generation_test
