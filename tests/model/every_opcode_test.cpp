// The rows of the opcode table, run: a planted one goes all the way from its text to its cycles, and every one that reaches
// memory writes global memory only where its row says so.
#include <map>
#include <set>

#include "core/model/issue/timing.h"
#include "core/model/launch/launch.h"
#include "core/model/metrics/operations.h"
#include "core/ptx/analyse/generation.h"
#include "core/simt/execute/ahead.h"
#include "tests/catch.h"
#include "tests/simt/text.h"

namespace model_every_opcode_test {

using namespace lockstep;
using namespace lockstep::ptx;
using simt::test::text_kernel;

namespace {

// All that a new lane-wise instruction takes: what it does to 32 lanes, its spelling, and its row.
void mean(std::byte* d, const std::byte* a, const std::byte* b, const std::byte*) {
    for (int i = 0; i < 32; ++i)
        reinterpret_cast<float*>(d)[i] =
            (reinterpret_cast<const float*>(a)[i] + reinterpret_cast<const float*>(b)[i]) * 0.5f;
}
constexpr Form mean_forms[] = {{".f32", &mean}};
constexpr Since of_floats[] = {{".f32", 103}};
constexpr Sequence mean_steps[] = {{.latency = 40, .interval = 16, .source = "planted"}};
constexpr Opcode planted = {
    "mean", Kind::lane_wise, Unit::fma,
    'F',    "float",         "d = (a + b) / 2",
    "T=TT", mean_forms,      {.since = 90, .later = of_floats, .counts = Counts::addition, .sequences = mean_steps}};

// A row of another kind whose operands are registers: the row says how it is decoded and how it issues.
constexpr Form rest_forms[] = {{".u32"}};
constexpr Opcode planted_rest = {"rest", Kind::nop,  Unit::cbu,
                                 'N',    "fence",    "rests for a, d = a",
                                 "U=U",  rest_forms, {.since = 80, .route = Route::sleep}};

std::shared_ptr<const Program> decoded(const std::string& body, std::span<const Opcode> table) {
    return decode(parse(text_kernel(body), "test.ptx").value(), "k", table).value();
}

// What runs before and after a statement that reaches memory: %rd1 global memory, %r1 shared memory with 128 bytes of
// ones, %r2 an mbarrier.
const std::string prologue = R"(
.shared .align 128 .b8 tile[1024];
.shared .align 8 .b64 bar;
ld.param.u64 %rd1, [p0];
mov.u32 %r1, tile;
mov.u32 %r2, bar;
mov.u32 %r3, %tid.x;
setp.eq.u32 %p1, %r3, 0;
mov.u32 %r4, 1;
mov.u32 %r5, 1;
mov.f32 %f1, 0f3F800000;
mov.u64 %rd3, 1;
shl.b32 %r6, %r3, 2;
add.u32 %r7, %r1, %r6;
st.shared.u32 [%r7], %r4;
@%p1 mbarrier.init.shared.b64 [%r2], 32;
bar.sync 0;
)";
const std::string epilogue = R"(
cp.async.wait_all;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
)";
const char* const statements[] = {
    "ld.global.u32 %r8, [%rd1]",
    "ldu.global.u32 %r8, [%rd1]",
    "st.global.u32 [%rd1], %r4",
    "atom.global.add.u32 %r8, [%rd1], %r4",
    "red.global.add.u32 [%rd1], %r4",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%rd1]",
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd1], {%r4,%r4,%r4,%r4}",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r1]",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r4}",
    "cp.async.ca.shared.global [%r7], [%rd1], 4",
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r2]",
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64",
    "@%p1 cp.async.bulk.prefetch.L2.global [%rd1], 64",
    "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 64",
    "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r1], [%r1], 64, [%r2]",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r7], %r4, [%r2]",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r7], %r4, [%r2]",
    "multimem.ld_reduce.relaxed.sys.global.add.u32 %r8, [%rd1]",
    "multimem.red.relaxed.sys.global.add.u32 [%rd1], %r4",
    "mbarrier.arrive.shared.b64 %rd2, [%r2]",
};
// Rows that want an object of the host: texture_test.cpp and hopper_test.cpp of tests/simt run them.
const std::set<std::string_view> of_objects = {"tex", "tld4", "txq", "istypep", "suld", "sust", "suq", "sured", "tensormap"};

constexpr size_t bytes = 4096;
std::vector<std::byte> after(const Program& program, bool* faulted) {
    simt::Memory memory;
    const uint64_t address = memory.allocate(bytes, "buffer");
    const simt::LaunchConfig config = simt::test::config_of({1}, {32}, {address});
    const simt::LaunchResult result = simt::launch(program, config, memory, {});
    *faulted = result.fault.has_value();
    if (result.fault) UNSCOPED_INFO(simt::render(*result.fault));
    std::vector<std::byte> values(bytes);
    std::memcpy(values.data(), memory.read(address, bytes), bytes);
    return values;
}

}  // namespace

TEST_CASE("a planted lane-wise row is parsed, decoded, run, timed and counted, and no other table knows it") {
    std::vector<Opcode> table(opcodes().begin(), opcodes().end());
    table.push_back(planted);
    const std::string body =
        "ld.param.u64 %rd1, [p0];\nmov.f32 %f1, 0f40400000;\nmov.f32 %f2, 0f40A00000;\nmean.f32 %f3, %f1, %f2;\n"
        "mean.f32 %f3, %f3, %f2;\nst.global.f32 [%rd1], %f3;";
    CHECK(decode(parse(text_kernel(body), "test.ptx").value(), "k").error().message.starts_with("unknown instruction"));
    const auto program = decoded(body, table);
    REQUIRE(program->instructions[3].opcode == &table.back());

    simt::Memory memory;
    const uint64_t address = memory.allocate(4, "buffer");
    const auto value = [&] {
        float v = 0;
        std::memcpy(&v, memory.read(address, 4), 4);
        return v;
    };
    const simt::LaunchConfig config = simt::test::config_of({1}, {32}, {address});
    REQUIRE(!simt::launch(*program, config, memory, {}).fault);
    CHECK(value() == 4.5f);

    const model::GpuSpec gpu = model::gpu_named("v100").value();
    const auto timed = model::launch(gpu, *program, config, memory, {});
    REQUIRE(!timed.fault);
    CHECK(value() == 4.5f);
    std::vector<int64_t> cycles;
    model::Operations operations;
    for (const IssueRecord& issue : timed.trace.issues)
        if (issue.pc == 3 || issue.pc == 4) cycles.push_back(issue.cycle);
    for (uint32_t pc = 0; pc < program->instructions.size(); ++pc)
        model::add_to(operations, program->instructions[pc], timed.instructions[pc]);
    REQUIRE(cycles.size() == 2);
    CHECK(cycles[1] - cycles[0] == 40 * gpu.fp32_latency / 4);
    CHECK(operations.f32.add == 64);
    CHECK(operations.flop() == 64);
    CHECK(needed_generation(*program).compute == 103);
    CHECK(needed_generation(*program).pc == 3);
}

TEST_CASE("a planted row of another kind is decoded and issues as it says") {
    std::vector<Opcode> table(opcodes().begin(), opcodes().end());
    table.push_back(planted_rest);
    const auto program = decoded("mov.u32 %r1, 5;\nrest.u32 %r2, %r1;", table);
    const DecodedInstruction& in = program->instructions[1];
    REQUIRE(in.opcode == &table.back());
    CHECK(in.source[0] != no_operand);
    CHECK(in.destination[0] != no_operand);
    CHECK(model::make_timing(model::gpu_named("v100").value(), *program)[1].route == Route::sleep);
    CHECK(needed_generation(*program).compute == 80);
}

TEST_CASE("every row that reaches memory writes global memory where it says so, and nowhere else") {
    std::set<const Opcode*> seen;
    for (const char* const statement : statements) {
        const auto program = decoded(prologue + statement + ";\n" + epilogue, opcodes());
        const auto at = std::find_if(program->instructions.begin(), program->instructions.end(),
                                     [](const DecodedInstruction& i) { return i.kind == Kind::barrier; });
        const Opcode& row = *at[1].opcode;
        seen.insert(&row);
        INFO(statement);
        bool faulted = false;
        const std::vector<std::byte> values = after(*program, &faulted);
        CHECK(!faulted);
        const bool wrote = std::any_of(values.begin(), values.end(), [](std::byte b) { return b != std::byte{0}; });
        CHECK(wrote == (row.facts.writes != Writes::nothing && at[1].space != Space::shared));
    }
    for (const Opcode& row : opcodes()) {
        const bool reaches = row.facts.route == Route::memory || row.facts.route == Route::mbarrier;
        if (!reaches || of_objects.contains(row.name)) continue;
        INFO(row.name << row.forms[0].pattern << " is in no statement of this test");
        CHECK(seen.contains(&row));
    }
}

}  // namespace model_every_opcode_test
