// Exact launches: what runs ahead there nobody but its own warp can tell, not even where warps race. So they may leave
// checkpoints, and a replay from those shows every cycle as a launch that goes step by step comes to it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/model/launch/machine.h"
#include "core/model/launch/replay.h"
#include "core/ptx/ptx.h"
#include "core/trace/text.h"
#include "tests/catch.h"
#include "tests/model/support.h"
#include "tests/simt/text.h"

namespace model_exact_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

struct Kernel {
    std::string name, gpu;
    std::shared_ptr<const ptx::Program> program;
    simt::LaunchConfig config;
    simt::Memory memory;
    std::vector<std::pair<uint64_t, size_t>> buffers;

    // `parameters`, in order: 'f' a buffer of random floats, 'u' one of small numbers, 'z' one of zeros, an 'i' the next of
    // `integers`.
    Kernel(std::string gpu_name, std::shared_ptr<const ptx::Program> program_of_it, simt::Dim3 grid, simt::Dim3 block,
           std::string_view parameters, const std::vector<int32_t>& integers, size_t words)
        : name(program_of_it->shown_name()), gpu(std::move(gpu_name)), program(std::move(program_of_it)) {
        config.grid = grid, config.block = block;
        config.parameters.resize(program->parameter_bytes);
        Rng rng(1);
        for (size_t i = 0, integer = 0; i < parameters.size(); ++i) {
            std::byte* const to = config.parameters.data() + program->parameters.at(i).offset;
            if (parameters[i] == 'i') {
                std::memcpy(to, &integers.at(integer++), 4);
                continue;
            }
            const uint64_t address = memory.allocate(words * 4, "buffer");
            std::byte* const values = memory.write(address, words * 4);
            for (size_t k = 0; k < words && parameters[i] != 'z'; ++k) {
                const auto number = static_cast<uint32_t>(rng.below(256));
                const auto real = static_cast<float>(rng.uniform(-1, 1));
                std::memcpy(values + 4 * k, parameters[i] == 'f' ? static_cast<const void*>(&real) : &number, 4);
            }
            std::memcpy(to, &address, 8);
            buffers.push_back({address, words * 4});
        }
    }
    std::string contents(const simt::Memory& of) const {
        std::string all;
        for (const auto& [address, bytes] : buffers)
            all.append(reinterpret_cast<const char*>(of.read(address, bytes)), bytes);
        return all;
    }
    std::shared_ptr<const KernelRun> run(const TimedOptions& options, std::string* left = nullptr) const {
        auto run = std::make_shared<KernelRun>();
        run->gpu = test::gpu(gpu);
        run->program = program;
        run->config = config;
        run->before = std::make_shared<simt::Memory>(memory);
        simt::Memory changed = memory;
        run->result = launch(run->gpu, *program, config, changed, options);
        if (run->result.fault) FAIL(simt::render(*run->result.fault));
        if (left != nullptr) *left = contents(changed);
        return run;
    }
};

std::shared_ptr<const ptx::Program> program_at(const std::string& file, const std::string& name) {
    const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + file;
    return ptx::decode(ptx::parse(read_file(path).value(), path).value(), name).value();
}

// Warps write to shared memory what they have read there of others a moment before: what comes out is a matter of cycles.
const std::string race = R"(
.shared .align 4 .b8 tile[1024];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1;
ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
mul.wide.u32 %rd3, %r4, 4;
add.u64 %rd4, %rd1, %rd3;
add.u64 %rd5, %rd2, %rd3;
mov.u32 %r10, tile; mad.lo.u32 %r11, %r1, 4, %r10;
xor.b32 %r12, %r1, 96; mad.lo.u32 %r13, %r12, 4, %r10;
ld.global.u32 %r6, [%rd4];
mov.u32 %r5, 0;
again:
ld.shared.u32 %r7, [%r13];
mad.lo.u32 %r6, %r6, 3, %r7;
add.u32 %r6, %r6, %r5;
xor.b32 %r8, %r6, %r1;
st.shared.u32 [%r11], %r8;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p1, %r5, 40;
@%p1 bra again;
bar.sync 0;
ld.shared.u32 %r9, [%r13];
add.u32 %r6, %r6, %r9;
st.global.u32 [%rd5], %r6;
)";

// Barriers and shared memory; divergence; atomics; a reduction in a block; a race.
std::vector<Kernel> kernels() {
    const simt::Dim3 square{16, 16}, line{128};
    std::vector<Kernel> all;
    all.emplace_back("teaching:2", program_at("/kernels/ptx/matmul.ptx", "matmul_nn_f32"), simt::Dim3{6, 6}, square,
                     "ffziii", std::vector<int32_t>{90, 96, 93}, 9216);
    all.emplace_back("v100", program_at("/kernels/ptx/matmul.ptx", "matmul_tn_f32"), simt::Dim3{7, 6}, square, "ffziii",
                     std::vector<int32_t>{96, 100, 70}, 10000);
    all.emplace_back("p100", program_at("/kernels/ptx/bench.ptx", "divergent_f32"), simt::Dim3{30}, line, "fzi",
                     std::vector<int32_t>{3800}, 3840);
    all.emplace_back("teaching:2", program_at("/lessons/A16_where_gpus_struggle/ptx/kmeans.ptx", "kmeans"), simt::Dim3{16},
                     simt::Dim3{256}, "uuuuzi", std::vector<int32_t>{8}, 4096);
    all.emplace_back("a100", program_at("/kernels/ptx/reduce.ptx", "reduce_sum_f32"), simt::Dim3{1}, simt::Dim3{256}, "fzi",
                     std::vector<int32_t>{4000}, 4096);
    all.emplace_back("teaching:2", simt::test::text_program(simt::test::text_kernel(race, 2)), simt::Dim3{9}, line, "uz",
                     std::vector<int32_t>{}, 1152);
    return all;
}

TimedOptions step_by_step() {
    TimedOptions options;
    options.run_ahead = false;
    return options;
}
TimedOptions exact(uint64_t checkpoint_bytes = 0) {
    TimedOptions options;
    options.exact = true;
    options.checkpoint_bytes = checkpoint_bytes;
    return options;
}

void same(const TimedResult& a, const TimedResult& b) {
    CHECK(a.cycles == b.cycles);
    CHECK(a.warp_instructions == b.warp_instructions);
    CHECK(a.thread_instructions == b.thread_instructions);
    REQUIRE(a.metrics.size() == b.metrics.size());
    for (size_t i = 0; i < a.metrics.size(); ++i) {
        INFO(a.metrics[i].name);
        CHECK(a.metrics[i].value == b.metrics[i].value);
    }
    REQUIRE(a.instructions.size() == b.instructions.size());
    for (size_t pc = 0; pc < a.instructions.size(); ++pc)
        CHECK(std::memcmp(&a.instructions[pc], &b.instructions[pc], sizeof a.instructions[pc]) == 0);
}

// Every warp that is there, its registers and its block's shared memory, and device memory.
std::string state_of(const Kernel& kernel, const std::function<const simt::Block*(uint32_t)>& block_at,
                     const simt::Memory& memory) {
    const auto hash = [](const std::byte* data, size_t bytes) {
        return fnv1a64(std::string_view(reinterpret_cast<const char*>(data), bytes));
    };
    std::string all;
    for (uint32_t linear = 0; linear < kernel.config.grid.count(); ++linear) {
        const simt::Block* const block = block_at(linear);
        if (block == nullptr) continue;
        all += fmt::format("block {} shared {:x}\n", linear, hash(block->shared.data(), block->shared.size()));
        for (const simt::Warp& w : block->warps)
            all += fmt::format("  pc {} lanes {:x} exited {:x} barrier {} done {} ran {} registers {:x}\n",
                               w.done ? 0 : w.pc(), w.done ? 0 : w.active(), w.exited, w.at_barrier, w.done, w.instructions,
                               hash(w.registers, kernel.program->register_bytes));
    }
    return all + fmt::format("memory {:x}\n", fnv1a64(kernel.contents(memory)));
}

}  // namespace

TEST_CASE("exact launches, with checkpoints or not, report what those report that go step by step, races included") {
    for (const Kernel& kernel : kernels()) {
        INFO(kernel.name << " on " << kernel.gpu);
        std::string plain_left, left;
        const auto plain = kernel.run(step_by_step(), &plain_left);
        CHECK(plain_left != kernel.contents(kernel.memory));
        for (const uint64_t bytes : {uint64_t{0}, uint64_t{1} << 20, uint64_t{64} << 20}) {
            const auto run = kernel.run(exact(bytes), &left);
            same(run->result, plain->result);
            CHECK(left == plain_left);
            CHECK(run->result.exact);
            CHECK(format_text(run->result.trace, SIZE_MAX) == format_text(plain->result.trace, SIZE_MAX));
            if (bytes == 0) continue;
            if (bytes > 1 << 20 && plain->result.warp_instructions > 300'000) CHECK(run->result.checkpoints->size() >= 2);
            for (const auto& checkpoint : run->result.checkpoints->all())
                for (const SmCheckpoint& sm : checkpoint->sms) CHECK(sm.ahead.bytes() == 0);
        }
    }
}

TEST_CASE("a replay that runs ahead on the way shows registers, shared and device memory of every cycle") {
    size_t ahead = 0;
    for (const Kernel& kernel : kernels()) {
        INFO(kernel.name << " on " << kernel.gpu);
        const auto run = kernel.run(exact(uint64_t{64} << 20));
        const auto cycles = static_cast<uint64_t>(run->result.cycles);
        Rng rng(3);
        std::vector<int64_t> places;
        for (int k = 0; k < 12; ++k) places.push_back(static_cast<int64_t>(rng.below(cycles)));
        std::vector<int64_t> in_order = places;
        std::sort(in_order.begin(), in_order.end());

        TimedOptions by_steps = step_by_step(), running = exact();
        by_steps.trace = running.trace = false;
        simt::Memory memory = kernel.memory, other = kernel.memory;
        Machine machine(run->gpu, *kernel.program, kernel.config, memory, by_steps);
        Machine runs_ahead(run->gpu, *kernel.program, kernel.config, other, running);
        std::map<int64_t, std::string> expected;
        for (const int64_t cycle : in_order) {
            machine.run_until(cycle);
            runs_ahead.run_until(cycle);
            CHECK(machine.is_exact());
            ahead += !runs_ahead.is_exact();
            expected[cycle] = state_of(
                kernel, [&](uint32_t linear) { return machine.find_block(linear); }, memory);
        }
        Replay replay(run);
        for (const int64_t cycle : places) {
            REQUIRE(replay.seek(cycle));
            CHECK(replay.cycle() == cycle);
            CHECK(state_of(
                      kernel, [&](uint32_t linear) { return replay.block(linear); }, replay.device_memory()) ==
                  expected[cycle]);
        }
        // The way through a traced stretch ends as exactly.
        const int64_t begin = std::min(places[0], places[1]), end = std::max(places[0], places[1]);
        const auto found = replay.trace(0, begin, end);
        REQUIRE(found);
        CHECK(format_text(*found, SIZE_MAX) == format_text(stretch_of(run->result.trace, begin, end), SIZE_MAX));
        CHECK(state_of(
                  kernel, [&](uint32_t linear) { return replay.block(linear); }, replay.device_memory()) == expected[end]);
    }
    CHECK(ahead > 20);
}

}  // namespace model_exact_test
