// What a launch began with, written by one process and opened by another: the same kernel over the same bytes.
#include "core/runtime/report/snapshots.h"

#include <cstring>
#include <fstream>

#include "core/base/files.h"
#include "core/model/launch/replay.h"
#include "core/ptx/ptx.h"
#include "core/simt/history/history.h"
#include "tests/catch.h"

namespace runtime_snapshots_test {
namespace {

using namespace lockstep;

const char* const text = R"(.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 count = 7;
.visible .entry add_one(.param .u64 p)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
)";

// What nvcc makes of a kernel that launches p[0] += 5 (p[0] was 1), waits for it and stores 2 p[0] in p[1].
const char* const nested = R"(.version 7.0
.target sm_80
.address_size 64
.extern .func  (.param .b64 func_retval0) cudaGetParameterBufferV2
(
    .param .b64 cudaGetParameterBufferV2_param_0,
    .param .align 4 .b8 cudaGetParameterBufferV2_param_1[12],
    .param .align 4 .b8 cudaGetParameterBufferV2_param_2[12],
    .param .b32 cudaGetParameterBufferV2_param_3
)
;
.extern .func  (.param .b32 func_retval0) cudaLaunchDeviceV2
(
    .param .b64 cudaLaunchDeviceV2_param_0,
    .param .b64 cudaLaunchDeviceV2_param_1
)
;
.extern .func  (.param .b32 func_retval0) cudaDeviceSynchronize
()
;
.visible .entry child(
    .param .u64 child_param_0
)
{
    .reg .b32     %r<3>;
    .reg .b64     %rd<3>;
    ld.param.u64     %rd1, [child_param_0];
    cvta.to.global.u64     %rd2, %rd1;
    ld.global.u32     %r1, [%rd2];
    add.s32     %r2, %r1, 5;
    st.global.u32     [%rd2], %r2;
    ret;
}
.visible .entry parent(
    .param .u64 parent_param_0
)
{
    .reg .pred     %p<2>;
    .reg .b32     %r<6>;
    .reg .b64     %rd<5>;
    ld.param.u64     %rd3, [parent_param_0];
    cvta.to.global.u64     %rd1, %rd3;
    mov.u32     %r1, 1;
    st.global.u32     [%rd1], %r1;
    mov.u64     %rd4, child;
    { // callseq 0, 0
    .reg .b32 temp_param_reg;
    .param .b64 param0;
    st.param.b64     [param0+0], %rd4;
    .param .align 4 .b8 param1[12];
    st.param.b32     [param1+0], 1;
    st.param.b32     [param1+4], 1;
    st.param.b32     [param1+8], 1;
    .param .align 4 .b8 param2[12];
    st.param.b32     [param2+0], 1;
    st.param.b32     [param2+4], 1;
    st.param.b32     [param2+8], 1;
    .param .b32 param3;
    st.param.b32     [param3+0], 0;
    .param .b64 retval0;
    call.uni (retval0), 
    cudaGetParameterBufferV2, 
    (
    param0, 
    param1, 
    param2, 
    param3
    );
    ld.param.b64     %rd2, [retval0+0];
    } // callseq 0
    setp.eq.s64     %p1, %rd2, 0;
    @%p1 bra     $L__BB1_2;
    st.u64     [%rd2], %rd3;
    { // callseq 1, 0
    .reg .b32 temp_param_reg;
    .param .b64 param0;
    st.param.b64     [param0+0], %rd2;
    .param .b64 param1;
    st.param.b64     [param1+0], 0;
    .param .b32 retval0;
    call.uni (retval0), 
    cudaLaunchDeviceV2, 
    (
    param0, 
    param1
    );
    ld.param.b32     %r2, [retval0+0];
    } // callseq 1
$L__BB1_2:
    { // callseq 2, 0
    .reg .b32 temp_param_reg;
    .param .b32 retval0;
    call.uni (retval0), 
    cudaDeviceSynchronize, 
    (
    );
    ld.param.b32     %r3, [retval0+0];
    } // callseq 2
    ld.global.u32     %r4, [%rd1];
    shl.b32     %r5, %r4, 1;
    st.global.u32     [%rd1+4], %r5;
    ret;
}
)";

simt::LaunchConfig config_of(uint64_t address) {
    simt::LaunchConfig config;
    config.parameters.resize(sizeof address);
    std::memcpy(config.parameters.data(), &address, sizeof address);
    return config;
}

uint32_t word(const simt::Memory& memory, uint64_t address) {
    uint32_t value = 0;
    REQUIRE(memory.read(address, sizeof value));
    std::memcpy(&value, memory.read(address, sizeof value), sizeof value);
    return value;
}

}  // namespace

TEST_CASE("a snapshot is opened with the bytes that its launch found, whatever came later") {
    const TemporaryFolder folder;
    const auto module = ptx::parse(text, "module 1 of GPU 0");
    REQUIRE(module.ok());
    const auto program = ptx::decode(module.value(), "add_one");
    REQUIRE(program.ok());
    simt::Memory memory;
    const uint64_t large = memory.allocate(1 << 20, "large"), odd = memory.allocate(10'001, "odd"),
                   gone = memory.allocate(64, "gone");
    memory.write(odd, 10'001)[10'000] = std::byte{9};
    simt::Texture texture;
    texture.name = "picture";
    texture.address = large;
    texture.width = 16;
    texture.height = 4;
    texture.border[2] = 0.5f;
    texture.modes[1] = simt::Texture::Mode::mirror;
    const uint64_t handle = memory.texture(texture);
    runtime::SnapshotWriter writer(folder.path());
    const simt::LaunchConfig config = config_of(large + 4096);
    const std::vector<uint64_t> l2{large / 128, 0x0f0fffffffff, large / 128 + 1, 0x0f00000000ff};
    for (uint32_t launch = 0; launch < 3; ++launch) {
        writer.take(launch, module.value(), "add_one", config, memory,
                    launch == 0 ? std::span<const uint64_t>() : std::span(l2));
        REQUIRE(!simt::launch(*program.value(), config, memory).fault);
        if (launch == 0) memory.release(gone);
    }
    for (uint32_t launch = 0; launch < 3; ++launch) {
        REQUIRE(runtime::has_snapshot(folder.path(), launch));
        auto opened = runtime::open_snapshot(folder.path(), launch);
        REQUIRE(opened.ok());
        simt::Memory& found = opened.value().memory;
        CHECK(word(found, large + 4096) == launch);
        CHECK(found.read(odd, 10'001)[10'000] == std::byte{9});
        CHECK((found.find(gone) != nullptr) == (launch == 0));
        CHECK(found.find(odd)->name == "odd");
        const simt::Texture* const sampled = found.find_texture(handle);
        REQUIRE(sampled);
        CHECK(sampled->width == 16);
        CHECK(sampled->border[2] == 0.5f);
        CHECK(sampled->modes[1] == simt::Texture::Mode::mirror);
        CHECK(opened.value().l2 == (launch == 0 ? std::vector<uint64_t>() : l2));
        CHECK(opened.value().config.parameters == config.parameters);
        CHECK(opened.value().program->kernel == "add_one");
        REQUIRE(!simt::launch(*opened.value().program, opened.value().config, found).fault);
        CHECK(word(found, large + 4096) == launch + 1);
    }
    // Of three pages that are not zero two changed between the launches: nothing else was written again.
    CHECK(std::filesystem::file_size(folder.path() / "pages") < 5 * 4096);
}

TEST_CASE("a snapshot that is missing or damaged is told in a sentence") {
    const TemporaryFolder folder;
    CHECK(runtime::open_snapshot(folder.path(), 0).error().message == "nothing was kept of launch 1");
    const auto module = ptx::parse(text, "module 1 of GPU 0");
    simt::Memory memory;
    const uint64_t address = memory.allocate(8192, "x");
    std::memset(memory.write(address, 8192), 1, 8192);
    {
        runtime::SnapshotWriter writer(folder.path());
        writer.take(0, module.value(), "add_one", config_of(address), memory);
    }
    REQUIRE(runtime::open_snapshot(folder.path(), 0).ok());
    std::ofstream(folder.path() / "pages", std::ios::binary) << "short";
    CHECK(runtime::open_snapshot(folder.path(), 0).error().message == "the snapshot is damaged");
    std::ofstream(folder.path() / "launch-0", std::ios::binary) << "nonsense";
    CHECK(runtime::open_snapshot(folder.path(), 0).error().message == "the snapshot is damaged");
}

TEST_CASE("a launch that launches kernels runs again from any cycle, with what they write") {
    const auto module = std::make_shared<const ptx::Module>(ptx::parse(nested, "module 1 of GPU 0").value());
    const auto kernel = ptx::decode(*module, "parent");
    REQUIRE(kernel.ok());
    simt::Memory memory;
    const uint64_t p = memory.allocate(8, "p");
    runtime::OpenedChildren children(module, memory, true);
    model::TimedOptions how;
    how.device_runtime = &children;
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = model::gpu_named("a100").value();
    run->program = kernel.value();
    run->config = config_of(p);
    run->config.device_runtime = children.again(memory);
    run->before = std::make_shared<simt::Memory>(memory);
    run->result = model::launch(run->gpu, *run->program, run->config, memory, how);
    REQUIRE(!run->result.fault);
    REQUIRE(word(memory, p + 4) == 12);
    CHECK(children.count() == 1);

    model::Replay replay(run);
    for (const int64_t cycle : {run->result.cycles, int64_t{0}, run->result.cycles / 2, run->result.cycles - 1}) {
        REQUIRE(replay.seek(cycle));
        if (cycle == 0) CHECK(word(replay.device_memory(), p) == 0);
        REQUIRE(replay.seek(run->result.cycles));
        CHECK(word(replay.device_memory(), p) == 6);
        CHECK(word(replay.device_memory(), p + 4) == 12);
    }
    const simt::WarpHistory history = simt::record_warp(*run->program, run->config, *run->before, 0, 0);
    CHECK(!history.fault);
    CHECK(history.steps.size() == run->result.warp_instructions);
}

}  // namespace runtime_snapshots_test
