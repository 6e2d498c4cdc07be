// Counters against closed formulas on kernels whose every access is known, and what must hold of them whatever the program.
#include <cmath>
#include <cstring>

#include "core/base/files.h"
#include "core/model/metrics/roofline.h"
#include "core/model/metrics/windows.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/cases.h"

namespace model_metrics_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

// A bundled kernel with buffers of `floats` zeros for every pointer and the integers in order.
KernelRun run_kernel(const std::string& file, const std::string& name, simt::Dim3 grid, simt::Dim3 block, size_t floats,
                     std::vector<int32_t> integers, std::string_view on = "v100") {
    const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + "/kernels/ptx/" + file + ".ptx";
    KernelRun run;
    run.gpu = gpu(on);
    run.program = ptx::decode(ptx::parse(read_file(path).value(), path).value(), name).value();
    run.config.grid = grid, run.config.block = block;
    run.config.parameters.resize(run.program->parameter_bytes);
    simt::Memory memory;
    size_t integer = 0;
    for (const auto& parameter : run.program->parameters) {
        std::byte* const to = run.config.parameters.data() + parameter.offset;
        if (parameter.bytes == 8) {
            const uint64_t address = memory.allocate(floats * 4, "buffer");
            std::memset(memory.write(address, floats * 4), 0, floats * 4);
            std::memcpy(to, &address, 8);
        } else {
            std::memcpy(to, &integers.at(integer++), 4);
        }
    }
    run.result = launch(run.gpu, *run.program, run.config, memory, {});
    REQUIRE_FALSE(run.result.fault);
    return run;
}

// A kernel that runs `body`, one block of 32 threads unless told: %rd1 and %rd2 are buffers, %r1 the lane, `tile` 4 KiB of
// shared memory.
KernelRun run_body(const std::string& body, std::string_view on, simt::Dim3 grid = {1}, simt::Dim3 block = {32}) {
    const std::string text =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b) {\n.reg .b32 %r<20>; .reg .b64 %rd<20>; "
        ".reg .f32 %f<20>; .reg .pred %p<4>;\n"
        ".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b64 bar;\n"
        "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\n" +
        body + "\nret;\n}\n";
    KernelRun run;
    run.gpu = gpu(on);
    run.program = ptx::decode(ptx::parse(text, "k.ptx").value(), "k").value();
    run.config.grid = grid, run.config.block = block;
    simt::Memory memory;
    const uint64_t buffers[] = {memory.allocate(4096, "a"), memory.allocate(4096, "b")};
    for (const uint64_t buffer : buffers) std::memset(memory.write(buffer, 4096), 0, 4096);
    run.config.parameters.resize(sizeof buffers);
    std::memcpy(run.config.parameters.data(), buffers, sizeof buffers);
    run.result = launch(run.gpu, *run.program, run.config, memory, {});
    INFO((run.result.fault ? run.result.fault->message : ""));
    REQUIRE_FALSE(run.result.fault);
    return run;
}

double value(const KernelRun& run, std::string_view name) {
    return metric_of(*run.program, run.result, name).value();
}

}  // namespace

TEST_CASE("a vector addition makes one addition an element and asks for twelve bytes") {
    constexpr int n = 1 << 16;
    const KernelRun run = run_kernel("bench", "vector_add_f32", {n / 256}, {256}, n, {n});
    CHECK(value(run, "fadd") == n);
    CHECK(value(run, "fmul") == 0);
    CHECK(value(run, "ffma") == 0);
    CHECK(value(run, "flop") == n);
    CHECK(value(run, "global_load_bytes") == 8.0 * n);
    CHECK(value(run, "global_store_bytes") == 4.0 * n);
    CHECK(value(run, "bytes_per_sector") == 32);
    CHECK(value(run, "bytes_per_store_sector") == 32);
    CHECK(value(run, "dram_read_bytes") == 8.0 * n);
    CHECK(value(run, "dram_write_bytes") == 0);  // it fits L2
    CHECK(value(run, "l2_read_sectors") == 8.0 * n / 32);
    CHECK(value(run, "l2_write_sectors") == 4.0 * n / 32);
    CHECK(value(run, "intensity") == 1.0 / 8);
    CHECK(value(run, "intensity_l2") == 1.0 / 12);
    CHECK(value(run, "intensity_l1") == 1.0 / 12);
    CHECK(value(run, "grid_size") == n / 256);
    CHECK(value(run, "block_size") == 256);
    CHECK(value(run, "threads") == n);
    const RoofPoint point = point_of(run);
    CHECK(point.flop == n);
    CHECK(point.bytes[0] == 8.0 * n);
    CHECK(point.bytes[1] == 12.0 * n);
    CHECK(point.bytes[2] == 12.0 * n);
    CHECK(point.peak == "fp32");
    CHECK(std::fabs(point.seconds - static_cast<double>(run.result.cycles) / 1530e6) < 1e-12);
}

TEST_CASE("a gather of stride s uses every s-th word of the sectors that it moves") {
    for (const int stride : {1, 2, 4, 8, 16}) {
        INFO("stride " << stride);
        constexpr int threads = 4096;
        const int n = threads * stride;
        const KernelRun run =
            run_kernel("bench", "strided_gather_f32", {threads / 256}, {256}, static_cast<size_t>(n), {n, stride, 1});
        const double used = std::max(4.0, 32.0 / stride);
        CHECK(value(run, "sectors_per_request") == std::min(32.0, 4.0 * stride));
        CHECK(value(run, "bytes_per_sector") == used);
        CHECK(value(run, "global_load_bytes") == 4.0 * threads);
        CHECK(value(run, "dram_read_bytes") == 4.0 * threads * 32 / used);
        CHECK(value(run, "fadd") == threads);
    }
}

TEST_CASE("copies into shared memory are copies whichever caches they pass, those out of it are stores") {
    for (const std::string how : {"ca.shared.global [%r3], [%rd3], 16", "cg.shared.global [%r3], [%rd3], 16"}) {
        INFO(how);
        const KernelRun run = run_body(R"(mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 16, %r2; mad.wide.u32 %rd3, %r1, 16, %rd1;
cp.async.)" + how + R"(;
cp.async.wait_all;
ld.shared.f32 %f1, [%r3]; mad.wide.u32 %rd4, %r1, 4, %rd2; st.global.f32 [%rd4], %f1;)",
                                       "a100");
        CHECK(value(run, "global_copy_requests") == 1);
        CHECK(value(run, "global_copy_sectors") == 16);
        CHECK(value(run, "global_store_requests") == 1);
        CHECK(value(run, "sectors_per_store_request") == 4);
        CHECK(value(run, "l2_read_sectors") == 16);
        CHECK(value(run, "l2_write_sectors") == 4);
        const MemoryTraffic traffic = traffic_of(run);
        CHECK(traffic.link("global_copy")->bytes == 512);
        CHECK(traffic.link("global_store")->bytes == 128);
    }
    const KernelRun bulk = run_body(R"(mov.u32 %r2, tile; mov.u32 %r3, bar; setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [%r3], 1;
bar.sync 0;
@!%p1 bra wait;
mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 1024;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 1024, [%r3];
wait:
mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
@!%p2 bra wait;
bar.sync 0;
@!%p1 bra done;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:)",
                                    "h100");
    CHECK(value(bulk, "global_copy_sectors") == 32);
    CHECK(value(bulk, "global_store_sectors") == 16);
    CHECK(value(bulk, "l2_read_sectors") == 32);
    CHECK(value(bulk, "l2_write_sectors") == 16);
}

TEST_CASE("the four passes of a load of 16 bytes a lane are no bank conflicts, the 28 beyond them are") {
    // Measured with Nsight Compute: 32 wavefronts a load and 28 conflicts, 4 and none (NVIDIA's developer forum,
    // "bank_conflicts metric vs wavefronts for shared memory LDS.128").
    const auto load = [](const std::string& width, int apart) {
        return run_body("mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, " + std::to_string(apart) + ", %r2;\n" +
                            (width == "v4.f32"   ? "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r3];"
                             : width == "v2.f32" ? "ld.shared.v2.f32 {%f1, %f2}, [%r3];"
                                                 : "ld.shared.f32 %f1, [%r3];") +
                            "\nmad.wide.u32 %rd4, %r1, 4, %rd2; st.global.f32 [%rd4], %f1;",
                        "h100");
    };
    struct Row {
        std::string width;
        int apart, passes, conflicts;
    };
    for (const Row& row :
         {Row{"v4.f32", 16, 4, 0}, Row{"v4.f32", 128, 32, 28}, Row{"v2.f32", 8, 2, 0}, Row{"v2.f32", 128, 32, 30},
          Row{"f32", 4, 1, 0}, Row{"f32", 128, 32, 31}, Row{"v4.f32", 0, 2, 0}}) {
        INFO(row.width << " " << row.apart);
        const KernelRun run = load(row.width, row.apart);
        CHECK(value(run, "shared_load_passes") == row.passes);
        CHECK(value(run, "shared_load_conflicts") == row.conflicts);
        CHECK(value(run, "bank_conflict_passes") == row.conflicts);
    }
}

TEST_CASE("what a warp wrote to its local memory it finds again in L1, whatever the width of its stores and loads") {
    const std::string body = R"(
.local .align 16 .b8 depot[64];
mov.f32 %f1, 0f3f800000;
st.local.v4.f32 [depot], {%f1, %f1, %f1, %f1};
st.local.v4.f32 [depot+16], {%f1, %f1, %f1, %f1};
st.local.v2.f32 [depot+32], {%f1, %f1};
st.local.f32 [depot+40], %f1;
and.b32 %r2, %r1, 7; shl.b32 %r2, %r2, 2; cvt.u64.u32 %rd3, %r2;
mov.u64 %rd4, depot; add.u64 %rd4, %rd4, %rd3;
ld.local.f32 %f2, [%rd4];
ld.local.v2.f32 {%f3, %f4}, [depot+8];
add.f32 %f2, %f2, %f3; add.f32 %f2, %f2, %f4;
mul.wide.u32 %rd5, %r1, 4; add.u64 %rd5, %rd2, %rd5;
st.global.f32 [%rd5], %f2;)";
    for (const uint32_t threads : {32u, 96u, 100u}) {
        const KernelRun run = run_body(body, "v100", {2}, {threads});
        INFO(threads);
        const double warps = 2 * ((threads + 31) / 32), last = threads % 32 == 0 ? 0 : 2;  // of which the last has 4 lanes
        CHECK(value(run, "local_store_requests") == 4 * warps);
        CHECK(value(run, "local_store_sectors") == 11 * 4 * (warps - last) + 11 * last);
        // Lanes at eight indices are in eight rows, a sector of four lanes in up to four of them.
        CHECK(value(run, "local_load_sectors") == (32 + 2 * 4) * (warps - last) + (4 + 2) * last);
        CHECK(value(run, "local_load_hit_rate") == 100);
    }
}

TEST_CASE("a tiled matrix product makes 2 M N K operations and reads each tile from shared memory sixteen times") {
    constexpr int m = 64, n = 64, k = 48, tile = 16;
    const KernelRun run = run_kernel("matmul", "matmul_nn_f32", {n / tile, m / tile}, {tile, tile}, 64 * 64, {m, n, k});
    CHECK(value(run, "ffma") == m * n * k);
    CHECK(value(run, "flop") == 2.0 * m * n * k);
    CHECK(value(run, "flop_f64") == 0);
    const double loaded = 2.0 * m * n * k / tile * 4;  // by every thread two floats for each 16 of K
    CHECK(value(run, "global_load_bytes") == loaded);
    CHECK(value(run, "global_store_bytes") == 4.0 * m * n);
    const MemoryTraffic traffic = traffic_of(run);
    CHECK(static_cast<double>(traffic.link("shared_store")->bytes) == loaded);
    CHECK(static_cast<double>(traffic.link("shared_load")->bytes) == 2.0 * m * n * k * 4);
    CHECK(value(run, "dram_read_bytes") == 4.0 * (m * k + k * n));
    CHECK(value(run, "bank_conflict_passes") >= 0);
    CHECK(value(run, "shared_load_passes") + value(run, "shared_store_passes") == value(run, "shared_passes"));
}

TEST_CASE("whatever the program: warps are eligible or stalled, shares stay within 100 %, lines add up to the launch") {
    for (uint64_t seed = 100; seed < 125; ++seed) {
        INFO("seed " << seed);
        Case c = make_case(seed);
        KernelRun run;
        run.gpu = some_gpu(seed);
        run.program = std::make_shared<const Program>(c.program);
        run.config = c.config;
        run.result = launch(run.gpu, c.program, c.config, c.memory);
        REQUIRE_FALSE(run.result.fault);
        for (const Metric& metric : run.result.metrics) {
            INFO(metric.name);
            CHECK(metric.value >= 0);
            CHECK(std::isfinite(metric.value));
            if (metric.unit == "%") CHECK(metric.value <= 100 + 1e-9);
        }
        const double active = value(run, "active_warps"), eligible = value(run, "eligible_warps");
        CHECK(std::fabs(active - eligible - value(run, "stalled_warps")) < 1e-9);
        CHECK(active <= static_cast<double>(run.gpu.warps_per_sm) / run.gpu.sub_cores + 1e-9);
        CHECK(value(run, "issued_per_scheduler") <= eligible + 1e-9);
        CHECK(std::fabs(value(run, "no_eligible") + value(run, "issue_slot_utilization") - 100) < 1e-9);
        // What a warp's instruction costs is all that the warp did meanwhile, as Nsight Compute adds it up.
        const LaunchTotals& totals = run.result.totals;
        const double issued = value(run, "issued_instructions");
        double states = 0;
        for (const Metric& metric : run.result.metrics)
            if (metric.name.starts_with("stall_") && metric.name.ends_with("_per_issue")) states += metric.value;
        CHECK(states == Approx(value(run, "cycles_per_issue")));
        CHECK(value(run, "ipc") * static_cast<double>(totals.active_cycles) == Approx(issued));
        CHECK(value(run, "sm__inst_issued.avg.per_cycle_active") == value(run, "ipc"));
        const double executed = value(run, "smsp__inst_executed.sum");
        CHECK(value(run, "sm__inst_executed.avg.per_cycle_active") * static_cast<double>(totals.active_cycles) ==
              Approx(executed));
        CHECK(value(run, "sm__inst_executed.avg.per_cycle_elapsed") * static_cast<double>(totals.cycles) * run.gpu.sms ==
              Approx(executed));
        CHECK(issued <= value(run, "warp_instructions"));
        CHECK(issued <= static_cast<double>(totals.issue_cycles * run.gpu.issue_width));
        CHECK(issued >= static_cast<double>(totals.issue_cycles));
        if (run.gpu.folds_ptx == 0) CHECK(issued == value(run, "warp_instructions"));
        CHECK(value(run, "bytes_per_sector") <= 32);
        CHECK(value(run, "sectors_per_request") >= 1);
        CHECK(value(run, "sectors_per_request") <= 32);
        CHECK(value(run, "shared_load_requests") + value(run, "shared_store_requests") == value(run, "shared_requests"));
        CHECK(value(run, "l2_read_sectors") + value(run, "l2_write_sectors") + value(run, "l2_atomic_sectors") ==
              value(run, "l2_sectors"));
        CHECK(value(run, "memory_throughput") >= value(run, "dram_throughput"));
        for (const std::string name : {"warp_instructions", "flop", "global_load_bytes", "l2_sectors", "shared_passes"}) {
            INFO(name);
            double sum = 0;
            for (size_t pc = 0; pc < c.program.instructions.size(); ++pc)
                sum += value(run, name + "@line:" + std::to_string(pc + 1));
            CHECK(sum == value(run, name));
        }
    }
}

TEST_CASE("the pipes' shares are those of the instructions as the launch ran them") {
    KernelRun run = run_body("add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1;", "v100");
    CHECK(value(run, "pipe_uniform") == 0);  // the loads of parameters are folded
    simt::Memory memory;
    const uint64_t buffers[] = {memory.allocate(4096, "a"), memory.allocate(4096, "b")};
    std::memcpy(run.config.parameters.data(), buffers, sizeof buffers);
    TimedOptions plain;
    plain.lowering = false;
    run.result = launch(run.gpu, *run.program, run.config, memory, plain);
    CHECK(value(run, "pipe_uniform") > 0);
    CHECK(metrics_between(run, 0, run.result.cycles).metrics.size() == run.result.metrics.size());
}

TEST_CASE("roofs and peaks are the vendor's figures, and ridges their ratios") {
    const Roofline v100 = roofline_of(gpu("v100"));
    CHECK(v100.roof(RoofLevel::dram).name == "HBM");
    CHECK(roofline_of(gpu("rtx3090")).roof(RoofLevel::dram).name == "GDDR");
    GpuSpec reworded = gpu("v100");  // it is the row that says so, not the words of its sources
    reworded.dram_channels.source = "LPDDR4";
    CHECK(roofline_of(reworded).roof(RoofLevel::dram).name == "HBM");
    CHECK(v100.roof(RoofLevel::dram).bytes_per_second == 900e9);
    CHECK(v100.roof(RoofLevel::l1).bytes_per_second == 128.0 * 80 * 1530e6);
    REQUIRE(v100.peak("fp32") != nullptr);
    CHECK(std::fabs(ridge(v100.roof(RoofLevel::dram), *v100.peak("fp32")) - 15.7e12 / 900e9) < 1e-9);
    CHECK(std::fabs(ridge(v100.roof(RoofLevel::dram), *v100.peak("tensor fp16")) - 125e12 / 900e9) < 1e-9);
    CHECK(roofline_of(gpu("p100")).peak("tensor fp16") == nullptr);
    for (const GpuSpec& each : gpus()) {
        INFO(each.name);
        const Roofline roofline = roofline_of(each);
        REQUIRE(roofline.roofs.size() == 3);
        REQUIRE_FALSE(roofline.peaks.empty());
        for (const Peak& peak : roofline.peaks)
            for (const Roof& roof : roofline.roofs) {
                const double at = ridge(roof, peak);
                CHECK(std::fabs(attainable(roof, peak, at) / peak.flop_per_second - 1) < 1e-12);
                CHECK(std::fabs(attainable(roof, peak, at / 2) / peak.flop_per_second - 0.5) < 1e-12);
                CHECK(attainable(roof, peak, at * 2) == peak.flop_per_second);
            }
    }
}

TEST_CASE("no run stands above its roof: the time is at least that of its bytes and that of its operations") {
    for (const char* on : {"v100", "teaching:2", "a100"}) {
        INFO(on);
        const KernelRun add = run_kernel("bench", "vector_add_f32", {256}, {256}, 1 << 16, {1 << 16}, on);
        const KernelRun product = run_kernel("matmul", "matmul_nn_f32", {4, 4}, {16, 16}, 64 * 64, {64, 64, 64}, on);
        for (const KernelRun* run : {&add, &product}) {
            const Roofline roofline = roofline_of(run->gpu);
            const RoofPoint point = point_of(*run);
            REQUIRE(point.plotted());
            for (const RoofLevel level : {RoofLevel::dram, RoofLevel::l2, RoofLevel::l1}) {
                CHECK(point.seconds >= memory_seconds(roofline, point, level) * (1 - 1e-9));
                CHECK(headroom(roofline, point, level) >= 1 - 1e-9);
            }
            CHECK(point.seconds >= math_seconds(roofline, point));
            const double least = std::max(memory_seconds(roofline, point), math_seconds(roofline, point));
            CHECK(std::fabs(headroom(roofline, point) - point.seconds / least) < 1e-6 * headroom(roofline, point));
            CHECK(std::fabs(value(*run, "dram_time_us") - 1e6 * memory_seconds(roofline, point)) < 1e-9);
            CHECK(std::fabs(value(*run, "math_time_us") - 1e6 * math_seconds(roofline, point)) < 1e-9);
            CHECK(std::fabs(value(*run, "headroom") - headroom(roofline, point)) < 1e-9 * headroom(roofline, point));
        }
    }
}

TEST_CASE("a run above its roof has a headroom below 1, one that moves nothing is held against its operations alone") {
    const GpuSpec v100 = gpu("v100");
    const Roofline roofline = roofline_of(v100);
    RoofPoint point;
    point.peak = "fp32";
    point.flop = 1e9;
    point.bytes[0] = 4e9;
    point.seconds = memory_seconds(roofline, point) / 2;
    CHECK(headroom(roofline, point) == Approx(0.5));
    point.flop = std::nan("");
    CHECK(headroom(roofline, point) == 0);  // it stands nowhere
    // Multiply-adds in registers, no byte from DRAM.
    std::string body = "mov.u32 %r2, 0;\nagain:\n";
    for (int i = 0; i < 16; ++i) body += "fma.rn.f32 %f1, %f1, %f2, %f1;\n";
    body += "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 20; @%p1 bra again;\n";
    const KernelRun run = run_body(body, "v100");
    CHECK(value(run, "dram_bytes") == 0);
    CHECK(value(run, "headroom") == Approx(value(run, "time_us") / value(run, "math_time_us")));
    CHECK(value(run, "headroom") > 1);
}

TEST_CASE("surfaces are counted apart from textures, loads apart from stores") {
    simt::Memory memory;
    simt::Texture t;
    t.element = simt::Texture::Element::u32;
    t.width = 32;
    t.address = memory.allocate(128, "s");
    const uint64_t handle = memory.texture(t);
    const std::string text = R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 s) {
.reg .b32 %r<20>; .reg .b64 %rd<2>;
ld.param.u64 %rd1, [s];
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, 0;
suld.b.2d.b32.trap {%r5}, [%rd1, {%r2, %r3}];
suld.b.2d.b32.trap {%r6}, [%rd1, {%r2, %r3}];
tex.2d.v4.u32.s32 {%r8, %r9, %r10, %r11}, [%rd1, {%r1, %r3}];
add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r8;
sust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r5};
ret;
}
)";
    KernelRun run;
    run.gpu = gpu("v100");
    run.program = ptx::decode(ptx::parse(text, "k.ptx").value(), "k").value();
    run.config.grid = {1}, run.config.block = {32};
    run.config.parameters.resize(8);
    std::memcpy(run.config.parameters.data(), &handle, 8);
    run.result = launch(run.gpu, *run.program, run.config, memory, {});
    INFO((run.result.fault ? run.result.fault->message : ""));
    REQUIRE_FALSE(run.result.fault);
    CHECK(value(run, "surface_load_requests") == 2);
    CHECK(value(run, "surface_load_sectors") == 8);
    CHECK(value(run, "surface_store_requests") == 1);
    CHECK(value(run, "surface_store_sectors") == 4);
    CHECK(value(run, "texture_requests") == 1);
    CHECK(value(run, "texture_sectors") == 4);
    CHECK(value(run, "l2_read_sectors") + value(run, "l2_write_sectors") == value(run, "l2_sectors"));
}

TEST_CASE("a run is held against the peak of the format that it computes in, and reaches no more than that", "[long]") {
    struct Row {
        std::string name, step, peak;
        double tera;
    };
    const std::string a = "{%r10, %r11, %r12, %r13}", d = "{%f1, %f2, %f3, %f4}";
    for (const Row& row : {
             Row{"half2", "fma.rn.f16x2 %r10, %r10, %r11, %r10; fma.rn.f16x2 %r12, %r12, %r11, %r12;", "fp16", 78},
             Row{"f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + d + ", " + a + ", {%r14, %r15}, " + d + ";",
                 "tensor fp16", 312},
             Row{"bf16",
                 "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " + d + ", " + a + ", {%r14, %r15}, " + d + ";",
                 "tensor fp16", 312},
             Row{"tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " + d + ", " + a + ", {%r14, %r15}, " + d + ";",
                 "tensor tf32", 156},
         }) {
        INFO(row.name);
        std::string body = "mov.u32 %r2, 0;\nagain:\n";
        for (int i = 0; i < 8; ++i) body += row.step + "\n";
        body += "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 50; @%p1 bra again;\nst.global.f32 [%rd2], %f1;";
        const KernelRun run = run_body(body, "a100", {108 * 2}, {1024});
        const Roofline roofline = roofline_of(run.gpu);
        const RoofPoint point = point_of(run);
        CHECK(point.peak == row.peak);
        REQUIRE(roofline.peak(point.peak) != nullptr);
        CHECK(std::fabs(roofline.peak(point.peak)->flop_per_second / (row.tera * 1e12) - 1) < 0.01);
        const double reached = point.flop_per_second() / roofline.peak(point.peak)->flop_per_second;
        INFO(reached);
        CHECK(reached > 0.5);  // the loop's own instructions and the start take the rest
        CHECK(reached <= 1.01);
    }
}

TEST_CASE("products of matrices count by the types of their factors and results, as Nsight Compute names them") {
    struct Row {
        const char *step, *name, *nsight;
        double operations;  // of a warp
    };
    for (const Row& row : {
             Row{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, "
                 "{%f1,%f2,%f3,%f4};",
                 "tensor_f16_f32", "sm__ops_path_tensor_src_fp16_dst_fp32.sum", 4096},
             Row{"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r2,%r3}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, "
                 "{%r2,%r3};",
                 "tensor_f16_f16", "sm__ops_path_tensor_src_fp16_dst_fp16.sum", 4096},
             Row{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r10,%r11,%r12,%r13}, "
                 "{%r14,%r15}, {%f1,%f2,%f3,%f4};",
                 "tensor_bf16", "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 4096},
             Row{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r2,%r3,%r4,%r5}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, "
                 "{%r2,%r3,%r4,%r5};",
                 "tensor_i8", "sm__ops_path_tensor_src_int8.sum", 8192},
             Row{"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r2,%r3}, {%r10}, {%r14}, {%r2,%r3};", "tensor_i4",
                 "sm__ops_path_tensor_src_int4.sum", 4096},
             // Four products at once, one a quarter of the warp.
             Row{"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, {%r10,%r11}, "
                 "{%r14,%r15}, {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};",
                 "tensor_f16_f32", "sm__ops_path_tensor_src_fp16_dst_fp32.sum", 2048},
         }) {
        INFO(row.step);
        const KernelRun run = run_body(row.step, "a100");
        CHECK(value(run, row.name) == row.operations);
        CHECK(value(run, row.nsight) == row.operations);
        CHECK(value(run, "tensor_f16") == value(run, "tensor_f16_f16") + value(run, "tensor_f16_f32"));
        CHECK(value(run, "tensor_f16") + value(run, "tensor_bf16") + value(run, "tensor_integer") == row.operations);
    }
}

TEST_CASE("Volta's product of four quarters takes as long as the peak of its tensor cores allows", "[long]") {
    const std::string sums = "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}";
    std::string body = "mov.u32 %r2, 0;\nagain:\n";
    for (int i = 0; i < 8; ++i)
        body += "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 " + sums + ", {%r10,%r11}, {%r14,%r15}, " + sums + ";\n";
    body += "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 50; @%p1 bra again;\nst.global.f32 [%rd2], %f1;";
    const KernelRun run = run_body(body, "v100", {80 * 2}, {1024});
    const double reached = point_of(run).flop_per_second() / 125e12;
    INFO(reached);
    CHECK(reached > 0.8);
    CHECK(reached <= 1.01);
}

TEST_CASE("a run that computes or moves nothing stands nowhere on the roofline") {
    Builder b;
    b.exit();
    KernelRun run;
    run.gpu = gpu("v100");
    run.program = std::make_shared<const Program>(finished(b.program));
    run.config = simt::test::config_of({1}, {32});
    simt::Memory memory;
    run.result = launch(run.gpu, *run.program, run.config, memory);
    const RoofPoint point = point_of(run);
    CHECK_FALSE(point.plotted());
    CHECK(headroom(roofline_of(run.gpu), point) == 0);
    CHECK(point.intensity(RoofLevel::dram) == 0);
}

}  // namespace model_metrics_test
