// What dataflow.h says of an instruction against what running it really does: instructions of all checked-in PTX run on
// random registers. Nothing may change that it is not said to write, and nothing that it is not said to read may matter.
#include <filesystem>
#include <map>
#include <set>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/ptx/analyse/dataflow.h"
#include "tests/catch.h"
#include "tests/simt/text.h"

namespace simt_effects_test {

using namespace lockstep;
using namespace lockstep::simt;
using ptx::Kind;
using ptx::Space;

namespace {

constexpr uint64_t buffer_bytes = 1 << 16;
constexpr size_t instances = 3;  // of a spelling

using Bytes = std::vector<std::byte>;

struct State {
    Bytes registers, buffer, shared;
    bool operator==(const State&) const = default;
};

struct Run {
    const ptx::Program& program;
    uint32_t pc;
    Rng& rng;

    Bytes random(size_t count) {
        Bytes bytes(count);
        for (size_t k = 0; k + 8 <= count; k += 8) {
            const uint64_t word = rng.next();
            std::memcpy(bytes.data() + k, &word, 8);
        }
        return bytes;
    }
    size_t bytes_of(int32_t reg) const {  // in the register file
        const size_t lane = program.functions[0].lane_bytes[static_cast<size_t>(reg) / 64];
        return lane == 0 ? 4 : lane * 32;
    }

    // Lets the address in `base` lie in memory that is there.
    void aim(Bytes& registers, const ptx::MemoryOperand& access, uint64_t buffer) {
        if (access.base == ptx::no_operand) return;
        for (uint64_t lane = 0; lane < 32; ++lane) {
            const bool global = access.space == Space::global || access.space == Space::generic;
            const uint64_t place = access.variable >= 0 ? 0 : lane * 64 + (global ? buffer + buffer_bytes / 2 : 0);
            const uint64_t address = place - (access.variable >= 0 ? 0 : static_cast<uint64_t>(access.offset));
            std::memcpy(registers.data() + access.base + lane * access.base_bytes, &address, access.base_bytes);
        }
    }

    // Runs the instruction on these registers; false: it faulted.
    bool step_on(const Bytes& registers, const Memory& before, uint64_t buffer, const Bytes& shared,
                 const LaunchConfig& config, State& after) {
        Memory memory = before;
        Grid grid = make_grid(program, config, memory);
        Block block = make_block(grid, 0);
        Warp& warp = block.warps[0];
        std::memcpy(warp.registers, registers.data(), registers.size());
        std::memcpy(block.shared.data(), shared.data(), std::min(shared.size(), block.shared.size()));
        warp.stack.back().pc = pc;
        if (step(warp).kind == WarpEvent::Kind::fault) return false;
        after.registers.assign(warp.registers, warp.registers + registers.size());
        after.buffer.resize(buffer_bytes);
        std::memcpy(after.buffer.data(), memory.read(buffer, buffer_bytes), buffer_bytes);
        after.shared = block.shared;
        return true;
    }

    bool check() {
        const ptx::DecodedInstruction& i = program.instructions[pc];
        std::set<int32_t> read, written;
        ptx::each_read(program.lists, i, [&](int32_t reg) { read.insert(reg); });
        ptx::each_written(program.lists, i, [&](int32_t reg) { written.insert(reg); });
        Memory memory;
        const uint64_t buffer = memory.allocate(buffer_bytes, "buffer");
        std::memcpy(memory.write(buffer, buffer_bytes), random(buffer_bytes).data(), buffer_bytes);
        LaunchConfig config{{1, 1, 1}, {32, 1, 1}, 1 << 14, random(program.parameter_bytes)};
        const Bytes shared = random(1 << 14);
        Bytes first = random(program.register_bytes);
        for (const ptx::MemoryOperand& access : ptx::memory_of(program, i)) aim(first, access, buffer);
        State after, again;
        if (!step_on(first, memory, buffer, shared, config, after)) return false;

        Bytes outside_before = first, outside_after = after.registers;
        for (const int32_t reg : written) {
            std::fill_n(outside_before.begin() + reg, bytes_of(reg), std::byte{});
            std::fill_n(outside_after.begin() + reg, bytes_of(reg), std::byte{});
        }
        CHECK(outside_before == outside_after);

        // Everything else becomes something else, also what is written: unless lanes may keep that.
        Bytes second = random(program.register_bytes);
        std::set<int32_t> same = read;
        if (ptx::is_conditional(i)) same.insert(written.begin(), written.end());
        for (const int32_t reg : same) std::copy_n(first.begin() + reg, bytes_of(reg), second.begin() + reg);
        REQUIRE(step_on(second, memory, buffer, shared, config, again));
        for (const int32_t reg : written)
            CHECK(std::equal(after.registers.begin() + reg,
                             after.registers.begin() + reg + static_cast<std::ptrdiff_t>(bytes_of(reg)),
                             again.registers.begin() + reg));
        CHECK(after.buffer == again.buffer);
        CHECK(after.shared == again.shared);
        return true;
    }
};

bool runs_alone(Kind kind) {
    switch (kind) {
        case Kind::lane_wise:
        case Kind::lane_wise_many:
        case Kind::special_register:
        case Kind::load:
        case Kind::store:
        case Kind::atomic:
        case Kind::shuffle:
        case Kind::vote:
        case Kind::fence:
        case Kind::nop:
        case Kind::matrix:
        case Kind::matrix_load:
        case Kind::matrix_store:
        case Kind::async_copy:
        case Kind::async_wait:
        case Kind::mbarrier:
            return true;
        default:
            return false;
    }
}

// "@ ld.global.f32": what two instructions have alike that are one spelling.
std::string spelling_of(const ptx::Program& program, uint32_t pc) {
    std::string text = ptx::text_of(program, pc);
    const bool guarded = text.starts_with("@");
    if (guarded) text = text.substr(text.find(' ') + 1);
    return (guarded ? "@ " : "") + text.substr(0, text.find(' '));
}

}  // namespace

TEST_CASE("an instruction of any checked-in kernel changes what it is said to write, from what it is said to read") {
    Rng rng(20);
    std::map<std::string, size_t> ran;
    std::map<Kind, size_t> kinds;
    for (const char* folder : {"/kernels", "/lessons"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(LOCKSTEP_SOURCE_DIR + std::string(folder))) {
            if (entry.path().extension() != ".ptx") continue;
            const auto module = ptx::parse(read_file(entry.path().string()).value(), entry.path().string());
            REQUIRE(module.ok());
            for (const std::string& kernel : ptx::entries(module.value())) {
                const auto program = ptx::decode(module.value(), kernel);
                REQUIRE(program.ok());
                const ptx::Program& p = *program.value();
                for (uint32_t pc = 0; pc < p.functions[0].end; ++pc) {
                    if (!runs_alone(p.instructions[pc].kind) || p.texts[pc].length == 0) continue;
                    size_t& count = ran[spelling_of(p, pc)];
                    if (count >= instances) continue;
                    INFO(entry.path().string() << " " << kernel << ": " << ptx::text_of(p, pc));
                    if (!Run{p, pc, rng}.check()) continue;
                    ++count;
                    ++kinds[p.instructions[pc].kind];
                }
            }
        }
    size_t spellings = 0;
    for (const auto& [spelling, count] : ran) spellings += count != 0 ? 1 : 0;
    CHECK(spellings > 250);
    for (const Kind kind : {Kind::lane_wise, Kind::lane_wise_many, Kind::special_register, Kind::load, Kind::store,
                            Kind::atomic, Kind::shuffle, Kind::vote, Kind::matrix, Kind::matrix_load, Kind::async_copy})
        CHECK(kinds[kind] > 0);
}

}  // namespace simt_effects_test
