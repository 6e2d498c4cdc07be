// What a verdict says of the kernels in kernels/advice/mistakes.cu, which beginners write: the cause, no false one beside
// it, and a gain that mending the kernel brings.
#include "tests/model/advice_support.h"

namespace model_mistakes_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

const std::string mistakes = "/kernels/advice/ptx/mistakes.ptx";

KernelRun run_mistake(const std::string& name, simt::Dim3 grid, simt::Dim3 block, std::string_view parameters,
                      const std::vector<int32_t>& integers, size_t words, const std::string& gpu_name = "v100") {
    return run_of(gpu_name, program_at(mistakes, name), grid, block, parameters, integers, words);
}

std::string all_of(const Verdict& verdict) {
    std::string text;
    for (const Finding& finding : verdict.findings)
        text +=
            std::string(finding.rule) + ": " + finding.sentence + " " + gain_text(finding) + "; " + finding.change + "\n";
    return text;
}

}  // namespace

TEST_CASE("a line that loads well and stores badly is told by its stores alone") {
    const KernelRun run = run_mistake("_Z15transpose_naivePKfPfii", {16, 16}, {32, 32}, "fzii", {512, 512}, 512 * 512);
    const Verdict verdict = verdict_of(run, {.what_if_none = true});
    INFO(all_of(verdict));
    const Finding* const found = finding_of(verdict, "uncoalesced");
    REQUIRE(found != nullptr);
    CHECK(found->sentence.starts_with(
        "A warp's stores touch 32 sectors where 4 would do, and of each sector's 32 bytes 4 are used"));
    CHECK(found->evidence.starts_with("sectors a request 32, normal 4; "));
}

TEST_CASE("of a product by narrow blocks the rows of its warps are told, and the block that mends it with its gain") {
    const KernelRun narrow = run_mistake("_Z7productPKfS0_Pfi", {16, 16}, {16, 16}, "ffzi", {256}, 256 * 256);
    const KernelRun wide = run_mistake("_Z7productPKfS0_Pfi", {8, 32}, {32, 8}, "ffzi", {256}, 256 * 256);
    const Verdict verdict = verdict_of(narrow, {.what_if_all = true});
    INFO(all_of(verdict));
    const Finding* const found = finding_of(verdict, "uncoalesced");
    REQUIRE(found != nullptr);
    CHECK(found->sentence.starts_with("A warp's loads touch 2 sectors where 1 would do"));
    CHECK(
        found->sentence.ends_with("blocks are 16 threads wide, so a warp is several rows of 16, and each row goes to a "
                                  "place of its own."));
    CHECK(found->change.find("32 x 8 instead of 16 x 16") != std::string::npos);
    CHECK(found->what_if == "wide-block");
    CHECK(found->gain == Approx(saved(narrow, wide)).epsilon(0.01));
    CHECK(finding_of(verdict_of(wide, {.what_if_none = true}), "uncoalesced") == nullptr);
}

TEST_CASE("a kernel that knows its place in the block, or shares memory, is no kernel for blocks of another shape") {
    const auto simulated = [](const KernelRun& run) { return simulate(run, what_if_named("wide-block").value()); };
    const KernelRun place = run_mistake("_Z15transpose_naivePKfPfii", {16, 16}, {16, 16}, "fzii", {512, 512}, 512 * 512);
    CHECK_FALSE(simulated(place));  // blockIdx.x * 32: its blocks have to be 32 wide
    const KernelRun shared = run_mistake("_Z16sum_by_remainderPKfPfi", {4}, {16, 16}, "fzi", {1024}, 1024);
    CHECK_FALSE(simulated(shared));
    const KernelRun odd = run_mistake("_Z7productPKfS0_Pfi", {3, 16}, {16, 16}, "ffzi", {48}, 256 * 256);
    CHECK_FALSE(simulated(odd));  // 48 threads in a row are no whole number of warps
}

TEST_CASE(
    "conversions that double literals make are told as FP64, with the literals, and what writing them as floats saves") {
    for (const std::string gpu_name : {"v100", "rtx4090"}) {
        const uint32_t blocks = gpu_name == "v100" ? 320 : 2048;
        const auto at = [&](const std::string& name) {
            return run_mistake(name, {blocks}, {256}, "fzi", {int32_t(blocks * 256)}, size_t{blocks} * 256, gpu_name);
        };
        const KernelRun slow = at("_Z12decay_doublePKfPfi"), mended = at("_Z11decay_floatPKfPfi");
        const Verdict verdict = verdict_of(slow, {.what_if_all = true});
        INFO(gpu_name << "\n" << all_of(verdict) << slow.result.cycles << " -> " << mended.result.cycles);
        REQUIRE(!verdict.findings.empty());
        CHECK(verdict.findings.front().rule == "fp64");
        CHECK(verdict.findings.front().sentence.find("The literals 1.0001 and 0.5 are doubles") != std::string::npos);
        CHECK(verdict.findings.front().sentence.find("onversions from float to double and back") != std::string::npos);
        CHECK(verdict.findings.front().gain == Approx(saved(slow, mended)).epsilon(0.2));
        CHECK(finding_of(verdict, "conversions") == nullptr);
        const Verdict counted = verdict_of(slow, {.what_if_none = true});
        REQUIRE(!counted.findings.empty());
        CHECK(counted.findings.front().rule == "fp64");
    }
}

TEST_CASE("an integer division is told once, and its derived gain is near what shifts bring") {
    const KernelRun slow = run_mistake("_Z13around_dividePKfPfii", {1024}, {256}, "fzii", {1 << 18, 512}, 1u << 18);
    const KernelRun mended = run_mistake("_Z12around_shiftPKfPfii", {1024}, {256}, "fzii", {1 << 18, 9}, 1u << 18);
    const Verdict verdict = verdict_of(slow, {.what_if_none = true});
    INFO(all_of(verdict) << slow.result.cycles << " -> " << mended.result.cycles);
    const Finding* const found = finding_of(verdict, "integer-division");
    REQUIRE(found != nullptr);
    CHECK(found->gain == Approx(saved(slow, mended)).epsilon(0.2));
    CHECK(finding_of(verdict, "special-functions") == nullptr);
    const KernelRun sum = run_mistake("_Z16sum_by_remainderPKfPfi", {1024}, {256}, "fzi", {1 << 18}, 1u << 18);
    CHECK(finding_of(verdict_of(sum, {.what_if_none = true}), "special-functions") == nullptr);
}

TEST_CASE("where all threads wait for a few counters or one lock, nothing is said of how blocks are cut and spread") {
    for (const uint32_t blocks : {256u, 320u}) {
        const KernelRun bins =
            run_mistake("_Z10eight_binsPKiPii", {blocks}, {256}, "uzi", {int32_t(blocks * 256)}, size_t{blocks} * 256);
        const Verdict verdict = verdict_of(bins, {.what_if_all = true});
        INFO(all_of(verdict));
        REQUIRE(finding_of(verdict, "atomics") != nullptr);
        for (const std::string_view rule : {"uneven-wave", "tail", "imbalance"}) CHECK(finding_of(verdict, rule) == nullptr);
    }
    const KernelRun locked = run_mistake("_Z12count_lockedPiS_", {2}, {32}, "zz", {}, 16);
    const Verdict verdict = verdict_of(locked, {.what_if_none = true});
    INFO(all_of(verdict));
    REQUIRE(finding_of(verdict, "locks") != nullptr);
    CHECK(finding_of(verdict, "locks") == &verdict.findings.front());
    CHECK(finding_of(verdict, "locks")->sentence.find("a lock that one of them holds at a time") != std::string::npos);
    CHECK(gain_text(verdict.findings.front()).starts_with("at most "));
    CHECK(finding_of(verdict, "small-grid") == nullptr);
}

}  // namespace model_mistakes_test
