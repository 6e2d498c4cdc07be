// What a launch began with, written by one process and opened by another: the same kernel over the same bytes.
#include "core/runtime/report/snapshots.h"

#include <cstring>
#include <fstream>

#include "core/base/files.h"
#include "core/ptx/ptx.h"
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

}  // namespace runtime_snapshots_test
