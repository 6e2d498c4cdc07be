// What a verdict says of slow kernels, and that the gain it promises is the one that mending the kernel brings.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "core/model/advice/persistent.h"
#include "core/model/advice/verdict.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/advice_support.h"

namespace model_advice_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

struct Pair {
    std::string rule, what_if, slow, mended, gpu;
    simt::Dim3 grid, block;
    std::string parameters;
    std::vector<int32_t> integers, mended_integers;
    size_t words = 0;
    std::string line;  // a part of the line that the finding has to stand at
};

std::vector<Pair> pairs() {
    const int32_t dt = std::bit_cast<int32_t>(0.01f);
    return {
        {"bank-conflicts",
         "no-conflicts",
         "_Z19transpose_conflictsPKfPfi",
         "_Z16transpose_paddedPKfPfi",
         "v100",
         {16, 16},
         {32, 8},
         "fzi",
         {512},
         {512},
         512 * 512,
         "tile[threadIdx.x][j]"},
        {"uncoalesced",
         "coalesced",
         "_Z12move_recordsPffi",
         "_Z11move_fieldsPffi",
         "v100",
         {1024},
         {256},
         "fii",
         {dt, 1 << 18},
         {dt, 1 << 18},
         8u << 18,
         "p[8 * i]"},
        {"fp64",
         "fp32",
         "_Z11wave_doublePfi",
         "_Z10wave_floatPfi",
         "rtx3090",
         {512},
         {256},
         "fi",
         {1 << 17},
         {1 << 17},
         1u << 17,
         "0.5 * v"},
        {"atomics",
         "spread-atomics",
         "_Z14count_togetherPKhPji",
         "_Z11count_apartPKhPji",
         "v100",
         {160},
         {256},
         "uzi",
         {1 << 18},
         {1 << 18},
         1u << 16,
         "atomicAdd"},
        {"integer-division",
         "short-division",
         "_Z11flip_dividePKfPfii",
         "_Z10flip_shiftPKfPfii",
         "a100",
         {512},
         {256},
         "fzii",
         {1024, 1 << 17},
         {10, 1 << 17},
         1u << 17,
         "/ width"},
        {"uncoalesced",
         "coalesced",
         "_Z8sum_rowsPKfPfii",
         "_Z11sum_columnsPKfPfii",
         "v100",
         {256},
         {128},
         "fzii",
         {1 << 15, 64},
         {1 << 15, 64},
         64u << 15,
         "r * cols + c"},
        {"constants",
         "one-constant",
         "_Z14curve_constantPKfPfi",
         "_Z12curve_sharedPKfPfi",
         "v100",
         {512},
         {256},
         "fzi",
         {1 << 17},
         {1 << 17},
         1u << 17,
         "curve[(threadIdx.x + k) & 63]"},
        {"long-functions",
         "short-functions",
         "_Z11waves_exactPKfPfi",
         "_Z10waves_fastPKfPfi",
         "v100",
         {512},
         {256},
         "fzi",
         {1 << 17},
         {1 << 17},
         1u << 17,
         "sinf(v + k)"},
        {"long-functions",
         "short-functions",
         "_Z12powers_exactPKfPffi",
         "_Z11powers_fastPKfPffi",
         "a100",
         {512},
         {256},
         "fzii",
         {std::bit_cast<int32_t>(1.3f), 1 << 17},
         {std::bit_cast<int32_t>(1.3f), 1 << 17},
         1u << 17,
         "powf(v + k, p)"},
        {"long-functions",
         "short-functions",
         "_Z10angles_farPKfPfi",
         "_Z15angles_far_fastPKfPfi",
         "rtx3090",
         {512},
         {256},
         "fzi",
         {1 << 17},
         {1 << 17},
         1u << 17,
         "sinf(200000.0f * k + v)"},
    };
}

std::string line_of(const std::string& text, int32_t number) {
    size_t begin = 0;
    for (int32_t k = 1; k < number && begin != std::string::npos; ++k) begin = text.find('\n', begin) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

namespace {

// "_Z19transpose_conflictsPKfPfi" -> "transpose_conflicts"
std::string plain_name(const std::string& mangled) {
    const size_t digits = mangled.find_first_not_of("0123456789", 2);
    return mangled.substr(digits, static_cast<size_t>(std::stoi(mangled.substr(2))));
}

// The cells of the row of core/model/ADVICE.md that has this one; none: there is no such row.
std::vector<std::string> cells_of_page(const std::string& page, const std::string& cell) {
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        if (line.find("| " + cell + " |") == std::string::npos) continue;
        std::vector<std::string> cells;
        for (size_t at = 2; at < line.size();) {
            const size_t end = std::min(line.find(" |", at), line.size());
            cells.push_back(line.substr(at, end - at));
            at = end + 3;
        }
        return cells;
    }
    return {};
}
std::string advice_page() {
    return read_text(std::string(LOCKSTEP_SOURCE_DIR) + "/core/model/ADVICE.md").value();
}

}  // namespace

TEST_CASE("the page of the rules has each as its row has it") {
    const std::string page = advice_page();
    for (const RuleRow& row : advice_rules()) {
        const std::string wanted = fmt::format("| {} | {} | {} | {} |", row.name, row.title, row.threshold,
                                               row.source.starts_with("ours") ? "ours" : "guide");
        INFO(wanted);
        CHECK(page.find(wanted) != std::string::npos);
    }
}

TEST_CASE("the gain that a verdict promises is the one that mending the kernel brings") {
    const std::string page = advice_page();
    for (const Pair& pair : pairs()) {
        CAPTURE(pair.slow);
        const auto at = [&](const std::string& name, const std::vector<int32_t>& integers) {
            return run_of(pair.gpu, program_at("/kernels/advice/ptx/pairs.ptx", name), pair.grid, pair.block,
                          pair.parameters, integers, pair.words);
        };
        const KernelRun slow = at(pair.slow, pair.integers), mended = at(pair.mended, pair.mended_integers);
        const Verdict verdict = verdict_of(slow, {.what_if_all = true});
        REQUIRE(!verdict.findings.empty());
        double promised = 0;  // findings of several lines share what their what-if saves
        const Finding* first = nullptr;
        for (const Finding& finding : verdict.findings) {
            if (finding.rule != pair.rule) continue;
            if (first == nullptr) first = &finding;
            promised += finding.gain;
            CHECK(finding.simulated);
            CHECK(finding.what_if == pair.what_if);
        }
        REQUIRE(first != nullptr);
        CHECK(first->gain >= verdict.findings.front().gain);
        CHECK(line_of(slow.source, first->line).find(pair.line) != std::string::npos);
        CHECK(!first->change.empty());
        const double brought = 1 - static_cast<double>(mended.result.cycles) / static_cast<double>(slow.result.cycles);
        INFO(first->sentence << "\n" << slow.result.cycles << " -> " << mended.result.cycles << " cycles");
        CHECK(promised == Approx(brought).epsilon(0.2));
        const std::vector<std::string> told = cells_of_page(page, "`" + plain_name(pair.slow) + "`");
        INFO(fmt::format("| {} | `{}` | {} | {} | {:.0f} % | `{}` | {:.0f} % |", pair.rule, plain_name(pair.slow), pair.gpu,
                         pair.what_if, 100 * promised, plain_name(pair.mended), 100 * brought));
        REQUIRE(told.size() == 7);
        CHECK(told[0] == pair.rule);
        CHECK(told[2] == pair.gpu);
        CHECK(told[3] == pair.what_if);
        CHECK(std::stod(told[4]) == Approx(100 * promised).margin(2));
        CHECK(told[5] == "`" + plain_name(pair.mended) + "`");
        CHECK(std::stod(told[6]) == Approx(100 * brought).margin(2));
        const Verdict after = verdict_of(mended, {.what_if_all = true});
        for (const Finding& finding : after.findings) CHECK(finding.rule != pair.rule);
    }
}

TEST_CASE("an idealised launch computes what the launch computes") {
    const Pair pair = pairs().front();
    const KernelRun run = run_of(pair.gpu, program_at("/kernels/advice/ptx/pairs.ptx", pair.slow), {2, 2}, pair.block,
                                 pair.parameters, {64}, 64 * 64);
    const auto output = [&](const Idealised& ideal) {
        simt::Memory memory = *run.before;
        TimedOptions options;
        options.ideal = ideal;
        const TimedResult result = launch(run.gpu, *run.program, run.config, memory, options);
        CHECK(!result.fault);
        CHECK(result.warp_instructions == run.result.warp_instructions);
        uint64_t out = 0;
        std::memcpy(&out, run.config.parameters.data() + 8, 8);
        const auto* const bytes = reinterpret_cast<const char*>(memory.read(out, 64 * 64 * 4));
        return std::string(bytes, 64 * 64 * 4);
    };
    const std::string real = output({});
    for (const WhatIf& what_if : what_ifs()) {
        CAPTURE(what_if.name);
        if (what_if.shape != nullptr) {  // of persistent kernels alone
            CHECK_FALSE(simulate(run, what_if));
            continue;
        }
        if (what_if.set != nullptr) {
            Idealised ideal;
            what_if.set(ideal);
            CHECK(!(ideal == Idealised{}));
            CHECK(output(ideal) == real);
        } else {
            GpuSpec changed = run.gpu;
            what_if.gpu(changed);
            CHECK(changed.blocks_per_cycle > run.gpu.blocks_per_cycle);
        }
        const auto time = simulate(run, what_if);
        REQUIRE(time);
        CHECK(time.value().cycles > 0);
        CHECK(time.value().gain < 1);
        CHECK(time.value().gain > -0.05);
    }
}

TEST_CASE("every what-if is named once, and every rule that names one names one that there is") {
    std::set<std::string_view> names;
    for (const WhatIf& row : what_ifs()) CHECK(names.insert(row.name).second);
    CHECK(what_if_named("coalesced"));
    const auto wrong = what_if_named("coalesce");
    REQUIRE(!wrong);
    CHECK(wrong.error().message == "unknown what-if 'coalesce', did you mean 'coalesced'?");
    std::set<std::string_view> rules;
    for (const RuleRow& row : advice_rules()) {
        CHECK(rules.insert(row.name).second);
        CHECK(!row.title.empty());
        CHECK(!row.threshold.empty());
        CHECK(!row.source.empty());
    }
    CHECK(rules.size() >= 25);
}

TEST_CASE("a grid of few blocks, a tail, partial warps and idle tensor cores are told") {
    const auto program = program_at("/kernels/advice/ptx/pairs.ptx", "_Z10wave_floatPfi");
    const auto rules_of = [&](const std::string& gpu_name, simt::Dim3 grid, simt::Dim3 block) {
        const KernelRun run = run_of(gpu_name, program, grid, block, "fi", {1 << 20}, 1u << 20);
        std::set<std::string_view> rules;
        for (const Finding& finding : verdict_of(run, {.what_if_none = true}).findings) rules.insert(finding.rule);
        return rules;
    };
    CHECK(rules_of("a100", {8}, {256}).contains("small-grid"));
    CHECK(rules_of("a100", {130}, {1024}).contains("uneven-wave"));
    CHECK(rules_of("v100", {80 * 8 + 40}, {256}).contains("tail"));
    CHECK(rules_of("v100", {640}, {40}).contains("partial-warps"));
    CHECK(!rules_of("v100", {80 * 8}, {256}).contains("tail"));
    CHECK(!rules_of("v100", {80 * 8}, {256}).contains("small-grid"));
}

TEST_CASE("blocks of one warp are told where starting them takes most of the time, and so is what larger ones bring") {
    const auto program = program_at("/kernels/advice/ptx/pairs.ptx", "_Z11move_fieldsPffi");
    const auto run_with = [&](uint32_t threads) {
        const int32_t n = 1 << 18, dt = std::bit_cast<int32_t>(0.01f);
        return run_of("v100", program, {n / threads}, {threads}, "fii", {dt, n}, size_t{4} << 18);
    };
    const KernelRun small = run_with(32), large = run_with(256);
    const Verdict verdict = verdict_of(small);
    const auto found = std::find_if(verdict.findings.begin(), verdict.findings.end(),
                                    [](const Finding& finding) { return finding.rule == "small-blocks"; });
    REQUIRE(found != verdict.findings.end());
    INFO(found->sentence << "\n" << small.result.cycles << " -> " << large.result.cycles << " cycles");
    CHECK(found->sentence.starts_with("8192 blocks of 32 threads: the GPU starts 1 a cycle, which takes "));
    const double brought = 1 - static_cast<double>(large.result.cycles) / static_cast<double>(small.result.cycles);
    CHECK(found->simulated);
    CHECK(found->what_if == "instant-starts");
    CHECK(found->gain == Approx(brought).epsilon(0.2));
    for (const Finding& finding : verdict.findings) CHECK(finding.change.find("smaller blocks") == std::string::npos);
    for (const Finding& finding : verdict_of(large).findings) CHECK(finding.rule != "small-blocks");
}

namespace {

const std::string persistent = "/kernels/advice/ptx/persistent.ptx";

// The tiles of persistent.cu, `rounds` of work each, by so many blocks.
KernelRun run_of_tiles(const std::string& name, uint32_t blocks, int32_t tiles, int32_t rounds, uint32_t threads = 256) {
    const bool queue = name.starts_with("_Z15large") || name.starts_with("_Z16large");
    return run_of("v100", program_at(persistent, name), {blocks}, {threads}, queue ? "fziiz" : "fzii", {tiles, rounds},
                  size_t{2048} * 256);
}

}  // namespace

TEST_CASE("loops whose blocks take one piece of work after another are known, others are not taken for them") {
    const auto of = [](const std::string& name) { return persistent_loop(*program_at(persistent, name)); };
    for (const char* const name : {"_Z15tiles_by_stridePKfPfii", "_Z18elements_by_stridePKfPfi"}) {
        CAPTURE(name);
        REQUIRE(of(name));
        CHECK_FALSE(of(name)->from_counter);
    }
    for (const char* const name : {"_Z15large_tile_lastPKfPfiiPi", "_Z16large_tile_firstPKfPfiiPi"}) {
        CAPTURE(name);
        REQUIRE(of(name));
        CHECK(of(name)->from_counter);
    }
    CHECK_FALSE(of("_Z4sumsPKfPfi"));
    CHECK_FALSE(of("_Z6placesPKfPfPii"));
}

TEST_CASE("a persistent kernel is told which grid fits the GPU, and what that saves") {
    const std::string by_stride = "_Z15tiles_by_stridePKfPfii";
    struct Case {
        uint32_t blocks, fitting, threads;
        int32_t tiles;
    };
    for (const Case& one : {Case{80, 640, 256, 1280}, Case{170, 160, 1024, 340}}) {
        CAPTURE(one.blocks);
        const KernelRun fitting = run_of_tiles(by_stride, one.fitting, one.tiles, 64, one.threads),
                        slow = run_of_tiles(by_stride, one.blocks, one.tiles, 64, one.threads);
        CHECK(finding_of(verdict_of(fitting), "persistent-grid") == nullptr);
        const Verdict verdict = verdict_of(slow, {.what_if_all = true});
        const Finding* const found = finding_of(verdict, "persistent-grid");
        REQUIRE(found != nullptr);
        INFO(found->sentence);
        const std::string launched = fmt::format("{} blocks are launched where {} run at once", one.blocks, one.fitting);
        CHECK(found->sentence.find(launched) != std::string::npos);
        CHECK(found->change.starts_with(fmt::format("Launch {} blocks", one.fitting)));
        CHECK(line_of(slow.source, found->line).find("tile += gridDim.x") != std::string::npos);
        CHECK(found->simulated);
        CHECK(found->gain == Approx(saved(slow, fitting)));
        for (const std::string_view rule : {"tail", "uneven-wave", "small-grid"})
            CHECK(finding_of(verdict, rule) == nullptr);
    }
    const KernelRun few = run_of_tiles(by_stride, 40, 120, 32);  // fewer pieces than places
    const Verdict verdict = verdict_of(few, {.what_if_none = true});
    REQUIRE(finding_of(verdict, "persistent-grid") != nullptr);
    CHECK(finding_of(verdict, "persistent-grid")->change.starts_with("Launch 120 blocks, one for each piece"));
}

TEST_CASE("a persistent kernel whose blocks end at different times is told why, and what another cut of the work saves") {
    const KernelRun uneven = run_of_tiles("_Z15tiles_by_stridePKfPfii", 160, 161, 256, 1024),
                    even = run_of_tiles("_Z15tiles_by_stridePKfPfii", 160, 160, 258, 1024);
    const Verdict of_uneven = verdict_of(uneven);
    const Finding* const rounds = finding_of(of_uneven, "persistent-waves");
    REQUIRE(rounds != nullptr);
    INFO(rounds->sentence << " " << rounds->gain << ": " << uneven.result.cycles << " -> " << even.result.cycles);
    CHECK(rounds->sentence.starts_with("A block takes 1.01 pieces of work on average (in steps of the grid): some take 2,"));
    CHECK(rounds->gain == Approx(saved(uneven, even)).epsilon(0.2));
    CHECK(finding_of(verdict_of(even), "persistent-waves") == nullptr);

    const KernelRun last = run_of_tiles("_Z15large_tile_lastPKfPfiiPi", 640, 1280, 64),
                    first = run_of_tiles("_Z16large_tile_firstPKfPfiiPi", 640, 1280, 64);
    const Verdict of_last = verdict_of(last);
    const Finding* const unlike = finding_of(of_last, "persistent-waves");
    REQUIRE(unlike != nullptr);
    INFO(unlike->sentence << " " << unlike->gain << ": " << last.result.cycles << " -> " << first.result.cycles);
    CHECK(unlike->sentence.find("the pieces take unlike long") != std::string::npos);
    CHECK(unlike->change.starts_with("Let the pieces that have most to do be taken first"));
}

TEST_CASE("blocks that run at once and have unlike amounts to do are told, and what equal ones save") {
    const KernelRun growing = run_of_tiles("_Z14growing_blocksPKfPfii", 80, 50, 50),
                    equal = run_of_tiles("_Z14growing_blocksPKfPfii", 80, 2025, 0);
    const Verdict verdict = verdict_of(growing);
    const Finding* const found = finding_of(verdict, "imbalance");
    REQUIRE(found != nullptr);
    INFO(found->sentence << " " << found->gain << ": " << growing.result.cycles << " -> " << equal.result.cycles);
    CHECK(found->gain == Approx(saved(growing, equal)).epsilon(0.2));
    CHECK(finding_of(verdict_of(equal), "imbalance") == nullptr);
}

TEST_CASE("all that makes doubles of a line's numbers is named at once, with the functions that have a float version") {
    KernelRun run = run_of("rtx3090", program_at("/kernels/advice/ptx/pairs.ptx", "_Z11wave_doublePfi"), {512}, {256}, "fi",
                           {1 << 17}, 1u << 17);
    const auto told = [&]() -> Finding {
        for (const Finding& finding : verdict_of(run, {.what_if_none = true}).findings)
            if (finding.rule == "fp64") return finding;
        return {};
    };
    CHECK(told().sentence.ends_with("The literals 0.5 and 0.25 are doubles, and make doubles of what they meet."));
    CHECK(told().change == "Write 0.5f and 0.25f, if single precision is enough.");
    const std::string line = "0.5 * v * v + 0.25";
    const size_t at = run.source.find(line);
    REQUIRE(at != std::string::npos);
    run.source.replace(at, line.size(), "2.5f * sin(v) + pow(v, 1e-3) + my_exp(v)");
    CHECK(
        told().sentence.ends_with("The literal 1e-3 is a double, and makes a double of what it meets. sin() and pow() of a "
                                  "double compute in double."));
    CHECK(told().change == "Write 1e-3f, and use sinf() and powf(), if single precision is enough.");
}

TEST_CASE("constants that all threads read together, and one call of sinf a thread, get no word") {
    for (const uint32_t blocks : {4u, 512u, 2048u}) {
        const auto n = static_cast<int32_t>(256 * blocks);
        const auto of = [&](const std::string& name) {
            return verdict_of(run_of("v100", program_at("/kernels/advice/ptx/pairs.ptx", name), {blocks}, {256}, "fzi", {n},
                                     size_t{256} * blocks),
                              {.what_if_all = true});
        };
        CAPTURE(blocks);
        CHECK(finding_of(of("_Z14curve_togetherPKfPfi"), "constants") == nullptr);
        CHECK(finding_of(of("_Z9wave_oncePKfPfi"), "long-functions") == nullptr);
    }
}

TEST_CASE("a long function is told by its name, the short one by its own, and large angles by their way") {
    const auto told = [](const std::string& name, const std::string& in_source, const std::string& instead) {
        KernelRun run =
            run_of("v100", program_at("/kernels/advice/ptx/pairs.ptx", name), {512}, {256}, "fzi", {1 << 17}, 1u << 17);
        const size_t at = run.source.find(in_source);
        REQUIRE(at != std::string::npos);
        run.source.replace(at, in_source.size(), instead);
        const Verdict verdict = verdict_of(run, {.what_if_none = true});
        const Finding* const found = finding_of(verdict, "long-functions");
        REQUIRE(found != nullptr);
        return *found;
    };
    const Finding one = told("_Z11waves_exactPKfPfi", "sinf(v + k)", "sinf(v + k)");
    INFO(one.sentence << "\n" << one.evidence << "\n" << one.change);
    CHECK(one.sentence.starts_with("sinf() is no instruction of the GPU but some "));
    CHECK(one.sentence.find("local memory") == std::string::npos);
    CHECK(one.change.starts_with("Where its error is allowed, call __sinf(), which is good to about 2^-21"));
    const Finding two = told("_Z11waves_exactPKfPfi", "sinf(v + k)", "my_sinf(v) + cosf(v) + std::sin(v)");
    CHECK(two.sentence.starts_with("cosf() and sin() are no instruction"));
    CHECK(two.change.find("call __cosf() and __sinf()") != std::string::npos);
    const Finding none = told("_Z11waves_exactPKfPfi", "sinf(v + k)", "WAVE(v)");
    CHECK(none.sentence.starts_with("A sine, cosine or tangent of the math library is no instruction"));
    const Finding far = told("_Z10angles_farPKfPfi", "sinf(200000.0f", "sinf(200000.0f");
    CHECK(far.sentence.find("Angles beyond 105,615 go a longer way, by an array in local memory.") != std::string::npos);
    CHECK(far.change.find("bring large angles near zero first") != std::string::npos);
}

namespace {

// A loop of so many pieces of code, of 8 multiply-adds that run and 56 that every warp jumps over: as code that was unrolled
// far, with its rare cases between.
std::shared_ptr<const ptx::Program> long_loop(int pieces) {
    std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry long_loop(.param .u64 out, .param .u32 rounds)
{
.reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<12>;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [rounds];
mov.u32 %r2, %tid.x;
mov.u32 %r3, 0;
cvt.rn.f32.u32 %f9, %r2;
mul.f32 %f10, %f9, 0f3C800000;
setp.lt.u32 %p2, %r2, 100000;
)";
    for (int k = 0; k < 8; ++k) text += fmt::format("mov.f32 %f{}, %f9;\n", k);
    text += "again:\n";
    for (int piece = 0; piece < pieces; ++piece) {
        for (int k = 0; k < 8; ++k) text += fmt::format("fma.rn.f32 %f{0}, %f{0}, %f10, %f9;\n", k);
        text += fmt::format("@%p2 bra over{};\n", piece);
        for (int k = 0; k < 56; ++k) text += fmt::format("fma.rn.f32 %f{0}, %f{0}, %f9, %f10;\n", k % 8);
        text += fmt::format("over{}:\n", piece);
    }
    text += "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra again;\n";
    for (int k = 1; k < 8; ++k) text += fmt::format("add.f32 %f0, %f0, %f{};\n", k);
    text += "mul.wide.u32 %rd2, %r2, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.f32 [%rd3], %f0;\nret;\n}\n";
    return ptx::decode(ptx::parse(text, "long_loop.ptx").value(), "long_loop").value();
}

}  // namespace

TEST_CASE("code that is longer than the instruction caches is told, and a short loop that does as much is not") {
    for (const std::string on : {"v100", "a100"}) {
        CAPTURE(on);
        // As much work in both: 12,800 multiply-adds a thread.
        const KernelRun slow = run_of(on, long_loop(200), {8}, {128}, "zi", {8}, 128),
                        mended = run_of(on, long_loop(4), {8}, {128}, "zi", {400}, 128);
        const Verdict verdict = verdict_of(slow, {.what_if_all = true});
        const Finding* const found = finding_of(verdict, "instruction-cache");
        REQUIRE(found != nullptr);
        INFO(found->sentence << " " << found->gain << ": " << slow.result.cycles << " -> " << mended.result.cycles);
        CHECK(found->simulated);
        CHECK(found->what_if == "fetched");
        CHECK(found->gain == Approx(saved(slow, mended)).epsilon(0.2));
        CHECK(finding_of(verdict_of(mended, {.what_if_none = true}), "instruction-cache") == nullptr);
    }
}

TEST_CASE("code that a warp alone goes through once is told as that, and what it gains where it is there is simulated") {
    const KernelRun run = run_of("rtx3090", long_loop(800), {1}, {32}, "zi", {1}, 32);
    const Verdict verdict = verdict_of(run, {.what_if_all = true});
    const Finding* const found = finding_of(verdict, "instruction-cache");
    REQUIRE(found != nullptr);
    INFO(found->sentence << " " << found->gain);
    CHECK(found->sentence.find("runs once") != std::string::npos);
    CHECK(found->sentence.find("does not fit") == std::string::npos);
    CHECK(found->simulated);
    CHECK(found->gain > 0.15);
}

TEST_CASE("a stride that has a name is told from records, and one address from several") {
    const auto told = [](const KernelRun& run, std::string_view rule) -> Finding {
        for (const Finding& finding : verdict_of(run, {.what_if_none = true}).findings)
            if (finding.rule == rule) return finding;
        return {};
    };
    const int32_t dt = std::bit_cast<int32_t>(0.01f);
    KernelRun run = run_of("v100", program_at("/kernels/advice/ptx/pairs.ptx", "_Z12move_recordsPffi"), {1024}, {256}, "fii",
                           {dt, 1 << 18}, 8u << 18);
    CHECK(told(run, "uncoalesced").sentence.find("records of which one field is wanted") != std::string::npos);
    const size_t at = run.source.find("p[8 * i] +=");
    REQUIRE(at != std::string::npos);
    run.source.replace(at, 8, "p[i * stride]");
    CHECK(told(run, "uncoalesced").sentence.find("records") == std::string::npos);
    CHECK(told(run, "uncoalesced").sentence.find("the index goes in strides") != std::string::npos);

    const auto count = program_at("/kernels/advice/ptx/pairs.ptx", "_Z14count_togetherPKhPji");
    const auto atomics = [&](std::string_view parameters) {
        return told(run_of("v100", count, {160}, {256}, parameters, {1 << 18}, 1u << 16), "atomics").sentence;
    };
    CHECK(atomics("zzi").find("meet at 1 address, ") != std::string::npos);
    CHECK(atomics("uzi").find(" addresses, ") != std::string::npos);
}

}  // namespace model_advice_test
