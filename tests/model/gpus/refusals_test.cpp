// What the modelled GPU runs and a real one would not: said with the limit and its value.
#include "core/model/gpus/refusals.h"

#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace model_refusals_test {

using namespace lockstep;

namespace {
std::vector<std::string> refused(std::string_view gpu, const std::string& variables, const std::string& body,
                                 const std::string& parameters = "", simt::LaunchConfig config = {}) {
    const std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n" + variables + "\n.visible .entry k(" +
                             parameters + ") {\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\n" + body + "\nret;\n}\n";
    const auto program = ptx::decode(ptx::parse(text, "k.ptx").value());
    INFO(text);
    REQUIRE(program.ok());
    return model::refusals(model::gpu_named(gpu).value(), *program.value(), config);
}
using Sentences = std::vector<std::string>;
}  // namespace

TEST_CASE("a launch within every limit is refused by nobody") {
    simt::LaunchConfig config;
    config.dynamic_shared = 16 * 1024;
    const std::string most = ".shared .align 4 .b8 tile[32768]; .const .align 4 .b8 table[65536];";
    CHECK(refused("v100", most, "mov.u32 %r1, tile;", ".param .align 4 .b8 p[8000]", config).empty());
    CHECK(refused("p100", most, "mov.u32 %r1, tile;", ".param .align 4 .b8 p[4096]", config).empty());
    CHECK(refused("teaching", ".const .align 4 .b8 table[70000];", "elect.sync %r1|_, -1;").empty());
}

TEST_CASE("static shared memory over 48 KiB and constants over 64 KiB are refused by ptxas, for every GPU") {
    const std::string tile = ".shared .align 4 .b8 tile[60000];";
    for (const char* gpu : {"v100", "h100"})
        CHECK(refused(gpu, tile, "mov.u32 %r1, tile;") ==
              Sentences{"60000 bytes of static shared memory: ptxas takes at most 49152 (48 KiB) for every GPU, more has to "
                        "be dynamic (extern __shared__); the modelled one runs it"});
    CHECK(refused("h100", tile, "").empty());  // another kernel's
    CHECK(refused("v100", ".const .align 4 .b8 a[60000]; .const .align 4 .b8 b[20000];", "") ==
          Sentences{"80000 bytes of __constant__ variables: ptxas takes at most 65536 (64 KiB) for every GPU; the modelled "
                    "one runs it"});
    CHECK(refused("p100", "", "", ".param .align 4 .b8 p[8000]") ==
          Sentences{"8000 bytes of parameters: a real Tesla P100 SXM2 (6.0) takes at most 4096; the modelled one runs it"});
}

TEST_CASE("what the host has to ask for first is said with the attribute's name") {
    simt::LaunchConfig config;
    config.dynamic_shared = 70'000;
    const Sentences dynamic = refused("v100", ".extern .shared .align 16 .b8 tile[];", "mov.u32 %r1, tile;", "", config);
    REQUIRE(dynamic.size() == 1);
    CHECK(dynamic[0] ==
          "70000 bytes of shared memory a block are more than 49152 (48 KiB): on a real GPU the host has to ask for them "
          "first, with cudaFuncAttributeMaxDynamicSharedMemorySize");
    simt::LaunchConfig clustered;
    clustered.cluster = {16, 1, 1};
    const Sentences wide = refused("h100", "", "", "", clustered);
    REQUIRE(wide.size() == 1);
    CHECK(wide[0].find("cudaFuncAttributeNonPortableClusterSizeAllowed") != std::string::npos);
    CHECK(refused("a100", "", "", "", clustered) ==
          Sentences{"a cluster of 16 x 1 x 1 blocks needs compute capability 9.0: a real A100 SXM4 40 GB (8.0) would refuse "
                    "this launch, the modelled one runs it"});
    clustered.cluster = {8, 1, 1};
    CHECK(refused("h100", "", "", "", clustered).empty());
}

TEST_CASE("an array over the largest that a variable may be is told so, whatever its size") {
    for (const char* bytes : {"1073741825", "12884901888", "1099511627776", "1024][1048577"}) {
        const auto module = ptx::parse(
            std::string(".version 8.0\n.target sm_70\n.address_size 64\n.global .align 4 .b8 big[") + bytes + "];\n",
            "k.ptx");
        REQUIRE_FALSE(module.ok());
        CHECK(module.error().message == "a variable has at most 1 GiB");
    }
}

}  // namespace model_refusals_test
