// Sampled launches beside whole ones: of ten bundled kernels the cycles, the counts and the outputs; what is not sampled
// says why.
#include "core/model/sample/sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/files.h"
#include "core/model/sample/evidence.h"
#include "core/model/sample/work.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace model_sample_test {

using namespace lockstep;
using namespace lockstep::model;

namespace {

constexpr const char* all_kernels = "/kernels/ptx/";

struct Launch {
    std::shared_ptr<const ptx::Program> program;
    simt::LaunchConfig config;
    simt::Memory memory;
    std::vector<std::pair<uint64_t, size_t>> buffers;

    // `parameters`, in order: 'b' a buffer, 'i' the next of `integers`, '1' and '0' these numbers as floats.
    Launch(const std::string& file, const std::string& name, simt::Dim3 grid, simt::Dim3 block, std::string_view parameters,
           std::vector<int32_t> integers, size_t floats, const std::string& folder = all_kernels) {
        const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + folder + file + ".ptx";
        program = ptx::decode(ptx::parse(read_file(path).value(), path).value(), name).value();
        config.grid = grid, config.block = block;
        config.parameters.resize(program->parameter_bytes);
        for (size_t i = 0, integer = 0; i < parameters.size(); ++i) {
            std::byte* const to = config.parameters.data() + program->parameters.at(i).offset;
            const float scalar = parameters[i] == '1' ? 1.0f : 0.0f;
            if (parameters[i] == 'i') std::memcpy(to, &integers.at(integer++), 4);
            if (parameters[i] == '1' || parameters[i] == '0') std::memcpy(to, &scalar, 4);
            if (parameters[i] != 'b') continue;
            const uint64_t address = memory.allocate(floats * 4, "buffer");
            auto* values = reinterpret_cast<float*>(memory.write(address, floats * 4));
            for (size_t k = 0; k < floats; ++k) values[k] = static_cast<float>(k % 31) * 0.125f + 1;
            std::memcpy(to, &address, 8);
            buffers.push_back({address, floats * 4});
        }
    }
    std::vector<std::byte> contents(const simt::Memory& of) const {
        std::vector<std::byte> all;
        for (const auto& [address, bytes] : buffers) {
            const std::byte* data = of.read(address, bytes);
            all.insert(all.end(), data, data + bytes);
        }
        return all;
    }
};

GpuSpec small(uint32_t sms) {
    GpuSpec gpu = gpu_named("v100").value();
    gpu.sms.value = sms;
    gpu.l2_bytes.value = 256 << 10;
    return gpu;
}

TimedOptions bare() {
    TimedOptions options;
    options.trace = false;
    return options;
}

TimedResult whole(const GpuSpec& gpu, const Launch& l) {
    simt::Memory memory = l.memory;
    return launch(gpu, *l.program, l.config, memory, bare());
}
SampledResult sampled(const GpuSpec& gpu, const Launch& l, SampleOptions how = {.time_only = true}) {
    simt::Memory memory = l.memory;
    return sampled_launch(gpu, *l.program, l.config, memory, bare(), how);
}

Launch add(uint32_t blocks) {
    return {"bench", "vector_add_f32", {blocks}, {128}, "bbbi", {static_cast<int32_t>(blocks * 128)}, size_t{blocks} * 128};
}

double off(const TimedResult& got, const TimedResult& expected) {
    return static_cast<double>(got.cycles) / static_cast<double>(expected.cycles) - 1;
}

}  // namespace

TEST_CASE("a launch of few waves is run whole, and says so") {
    const Launch l = add(40);
    const SampledResult got = sampled(small(4), l);
    CHECK(got.why.find("too short") != std::string::npos);
    CHECK_FALSE(got.timed.sampling);
    CHECK(got.timed.cycles == whole(small(4), l).cycles);
    // The run that found no pace is the whole one: its outputs are all there.
    simt::Memory memory = l.memory, expected = l.memory;
    sampled_launch(small(4), *l.program, l.config, memory, bare(), {.time_only = true});
    launch(small(4), *l.program, l.config, expected, bare());
    CHECK(l.contents(memory) == l.contents(expected));
    CHECK(l.contents(memory) != l.contents(l.memory));
}

TEST_CASE("ten kernels sampled are within three percent of the whole run, and within their own estimate or nearly") {
    std::vector<Launch> launches;
    launches.push_back(add(4096));
    const size_t floats = 1 << 19;
    const auto n = static_cast<int32_t>(floats);
    launches.emplace_back("unary", "sqrt_value_f32", simt::Dim3{2048}, simt::Dim3{256}, "bbi", std::vector<int32_t>{n},
                          floats);
    launches.emplace_back("glu", "swiglu_f32", simt::Dim3{2048}, simt::Dim3{256}, "bbbi", std::vector<int32_t>{n}, floats);
    launches.emplace_back("softmax", "softmax_f32", simt::Dim3{2048}, simt::Dim3{128}, "bbii",
                          std::vector<int32_t>{8192, 64}, floats);
    launches.emplace_back("softmax", "softmax_backward_f32", simt::Dim3{2048}, simt::Dim3{128}, "bbbii",
                          std::vector<int32_t>{8192, 64}, floats);
    launches.emplace_back("norm_layer", "rms_norm_f32", simt::Dim3{2048}, simt::Dim3{128}, "bbbbiii1",
                          std::vector<int32_t>{1, 8192, 64}, floats);
    launches.emplace_back("bench", "strided_gather_f32", simt::Dim3{1024}, simt::Dim3{256}, "bbiii",
                          std::vector<int32_t>{1 << 18, 33, 3}, floats);
    launches.emplace_back("bench", "divergent_f32", simt::Dim3{1024}, simt::Dim3{256}, "bbi", std::vector<int32_t>{1 << 18},
                          floats);
    launches.emplace_back("matmul", "matmul_nn_f32", simt::Dim3{8, 16}, simt::Dim3{16, 16}, "bbbiii",
                          std::vector<int32_t>{256, 128, 2048}, floats);
    launches.emplace_back("binary", "mul_f32", simt::Dim3{2048}, simt::Dim3{256}, "bbbi", std::vector<int32_t>{n}, floats);
    for (const Launch& l : launches) {
        INFO(l.program->shown_name());
        const GpuSpec gpu = small(2);
        const SampledResult got = sampled(gpu, l);
        INFO(got.why);
        REQUIRE(got.timed.sampling);
        const Sampling& s = *got.timed.sampling;
        const TimedResult expected = whole(gpu, l);
        INFO("whole " << expected.cycles << ", sampled " << got.timed.cycles << ", estimate " << 100 * s.error
                      << " %, timed " << s.timed_instructions << " of " << expected.warp_instructions);
        CHECK(std::abs(off(got.timed, expected)) < 0.03);
        CHECK(std::abs(off(got.timed, expected)) < 2 * s.error + 0.01);
        CHECK(s.blocks_only);
        CHECK(s.timed_instructions < expected.warp_instructions * 2 / 3);
        // What is counted is scaled: all warp instructions, and what they asked of memory.
        CHECK(std::abs(static_cast<double>(got.timed.warp_instructions) / static_cast<double>(expected.warp_instructions) -
                       1) < 0.002);
        CHECK(got.timed.totals.cycles == got.timed.cycles);
        uint64_t sectors = 0, expected_sectors = 0;
        for (const InstructionCounters& c : got.timed.instructions) sectors += c.sectors;
        for (const InstructionCounters& c : expected.instructions) expected_sectors += c.sectors;
        CHECK(std::abs(static_cast<double>(sectors) / static_cast<double>(expected_sectors) - 1) < 0.03);
    }
}

// Rungs of the ladder, with a ring of one tile and of three: blocks of the first share an SM, and take turns.
TEST_CASE("where rounds of long loops are left out, a small part of a product tells within three percent what it takes") {
    struct Rung {
        const char *gpu, *file, *kernel;
        simt::Dim3 grid;
    };
    for (const Rung& rung :
         {Rung{"a6000", "7_autotuned", "sgemm_autotuned", {4, 4}}, Rung{"h100", "9_async", "sgemm_async", {2, 4}}}) {
        INFO(rung.kernel);
        const Launch l(rung.file, rung.kernel, rung.grid, {256}, "iii1bibi0bi", {512, 512, 1536, 1536, 512, 512}, 512 * 1536,
                       "/kernels/sgemm/ptx/");
        GpuSpec gpu = gpu_named(rung.gpu).value();
        gpu.sms.value = 2;
        TimedOptions one = bare(), two = bare();
        one.threads = 1, two.threads = 2, two.alone = 0;
        simt::Memory memory = l.memory, other = l.memory;
        const SampleOptions how{.time_only = true, .rounds_from = 0};
        const SampledResult got = sampled_launch(gpu, *l.program, l.config, memory, one, how);
        INFO(got.why);
        REQUIRE(got.timed.sampling);
        const Sampling& s = *got.timed.sampling;
        const TimedResult expected = whole(gpu, l);
        INFO("whole " << expected.cycles << ", sampled " << got.timed.cycles << ", estimate " << 100 * s.error
                      << " %, timed " << s.timed_instructions << " of " << expected.warp_instructions);
        CHECK(std::abs(off(got.timed, expected)) < 0.03);
        CHECK(std::abs(off(got.timed, expected)) < s.error);
        CHECK_FALSE(s.blocks_only);
        CHECK(s.timed_instructions < expected.warp_instructions / 5);
        CHECK(got.timed.warp_instructions == expected.warp_instructions);
        const auto by = [](const TimedResult& result, uint64_t InstructionCounters::*counter) {
            uint64_t sum = 0;
            for (const InstructionCounters& c : result.instructions) sum += c.*counter;
            return static_cast<double>(sum);
        };
        for (const auto counter :
             {&InstructionCounters::sectors, &InstructionCounters::shared_passes, &InstructionCounters::lanes})
            CHECK(std::abs(by(got.timed, counter) / by(expected, counter) - 1) < 0.02);
        CHECK(std::abs(static_cast<double>(got.timed.totals.warp_cycles) / static_cast<double>(expected.totals.warp_cycles) -
                       1) < 0.06);
        CHECK(sampled_launch(gpu, *l.program, l.config, other, two, how).timed.cycles == got.timed.cycles);
        CHECK(words_of(s).find("% of all warp instructions were timed") != std::string::npos);
    }
}

// All blocks are as far as one another, so none ends before the last one is at its last rounds.
TEST_CASE("where all blocks of a launch start together, rounds left out of a short loop cost it no accuracy") {
    const Launch l("7_autotuned", "sgemm_autotuned", {1, 2}, {256}, "iii1bibi0bi", {256, 128, 640, 640, 128, 128}, 256 * 640,
                   "/kernels/sgemm/ptx/");
    GpuSpec gpu = gpu_named("a6000").value();
    gpu.sms.value = 2;
    simt::Memory memory = l.memory;
    const SampledResult got =
        sampled_launch(gpu, *l.program, l.config, memory, bare(), {.time_only = true, .rounds_from = 0});
    INFO(got.why);
    REQUIRE(got.timed.sampling);
    const TimedResult expected = whole(gpu, l);
    INFO("whole " << expected.cycles << ", sampled " << got.timed.cycles);
    CHECK(got.timed.sampling->timed_instructions < expected.warp_instructions / 2);
    CHECK(std::abs(off(got.timed, expected)) < 0.015);
}

TEST_CASE("the cycles of a sampled launch are the same with all outputs, on one thread and on two") {
    const Launch l = add(4096);
    const GpuSpec gpu = small(2);
    simt::Memory all = l.memory, whole_memory = l.memory;
    launch(gpu, *l.program, l.config, whole_memory, bare());
    const SampledResult with = sampled_launch(gpu, *l.program, l.config, all, bare(), {.threads = 2});
    const SampledResult one = sampled(gpu, l, {.threads = 1}), only = sampled(gpu, l);
    REQUIRE(with.timed.sampling);
    CHECK(with.timed.cycles == one.timed.cycles);
    CHECK(with.timed.cycles == only.timed.cycles);
    CHECK(l.contents(all) == l.contents(whole_memory));
}

TEST_CASE("of a launch that is timed only, the timed blocks' outputs are there and no others") {
    const Launch l = add(4096);
    simt::Memory memory = l.memory;
    const SampledResult got = sampled_launch(small(2), *l.program, l.config, memory, bare(), {.time_only = true});
    REQUIRE(got.timed.sampling);
    CHECK(got.timed.sampling->blocks_only);
    const auto values = [&](size_t buffer) {
        return reinterpret_cast<const float*>(memory.read(l.buffers[buffer].first, l.buffers[buffer].second));
    };
    uint64_t right = 0;
    for (size_t block = 0; block < 4096; ++block)
        right += values(2)[block * 128 + 5] == values(0)[block * 128 + 5] + values(1)[block * 128 + 5];
    CHECK(right == got.timed.sampling->timed_blocks);
}

// Half elements of the product: eight tiles of 128 x 256, 40 rounds.
TEST_CASE("blocks whose products do nothing go the same way as those that compute them") {
    Launch l("gemm_mma", "gemm_mma_f16", {2, 4}, {256}, "bbbiii", {512, 512, 2560}, 512 * 2560 / 2, "/kernels/top/ptx/");
    l.config.dynamic_shared = 147456;
    const Evidence evidence = evidence_of(*l.program, l.config);
    REQUIRE(evidence.counts);
    const auto left = [](const ptx::Program& program, ptx::Kind kind) {
        return std::count_if(program.instructions.begin(), program.instructions.end(),
                             [&](const ptx::DecodedInstruction& i) { return i.kind == kind; });
    };
    const ptx::Program light = steering_of(*l.program, evidence, false), lightest = steering_of(*l.program, evidence, true);
    CHECK(left(*l.program, ptx::Kind::matrix) > 0);
    CHECK(left(light, ptx::Kind::matrix) == 0);
    CHECK(left(light, ptx::Kind::matrix_load) == left(*l.program, ptx::Kind::matrix_load));
    CHECK(left(lightest, ptx::Kind::matrix_load) == 0);
    CHECK(left(lightest, ptx::Kind::store) == 0);
    const Work expected(*l.program, l.config, l.memory, {});
    REQUIRE(expected.refusal().empty());
    REQUIRE_FALSE(expected.loop().warps.empty());
    for (const ptx::Program* const program : {&light, &lightest}) {
        const Work got(*program, l.config, l.memory, {});
        CHECK(got.refusal().empty());
        CHECK(got.of(0, l.config.grid.count()) == expected.of(0, l.config.grid.count()));
        REQUIRE(got.loop().warps.size() == expected.loop().warps.size());
        for (size_t w = 0; w < got.loop().warps.size(); ++w) {
            CHECK(got.loop().warps[w].begin == expected.loop().warps[w].begin);
            CHECK(got.loop().warps[w].length == expected.loop().warps[w].length);
            CHECK(got.loop().warps[w].count == expected.loop().warps[w].count);
        }
    }
}

TEST_CASE("what cannot be sampled is run whole and says why in one sentence") {
    const auto why_of = [](const Launch& l) { return sampled(small(2), l).why; };
    const size_t floats = 1 << 16;
    // adamw leaves where a value in memory says so.
    const Launch adamw("adam", "adamw_f32", {256}, {256}, "bbbbbi", {1 << 16}, floats);
    CHECK(why_of(adamw).find("brings a value from memory that decides where threads go") != std::string::npos);
    Launch clusters = add(4096);
    clusters.config.cluster = {2, 1, 1};
    CHECK(why_of(clusters).find("clusters") != std::string::npos);
}

}  // namespace model_sample_test
