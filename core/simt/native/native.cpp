// What is known of a program while it is translated, and the translation of one entry.
#include "core/simt/native/native.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/simt/native/translate.h"

namespace lockstep::simt {
namespace {

constexpr size_t most_bits = size_t{1} << 28;  // of all live sets
constexpr uint32_t least_instructions = 4;     // of a region
constexpr uint32_t most_of_an_entry = 4;       // translations for whole warps, and as many for parts; the last takes any
constexpr size_t most_translations = 96;       // of a program
constexpr uint64_t least_work = 500'000;       // warp instructions of a launch, as many as its text lets expect
constexpr uint32_t most_undone = 3;            // launches, then a program is left to the interpreter
constexpr int64_t farthest = 4096;             // from lane to lane

// Each lane reads and writes its own part of the registers.
bool lane_by_lane(ptx::Kind kind) {
    using ptx::Kind;
    switch (kind) {
        case Kind::lane_wise:
        case Kind::lane_wise_many:
        case Kind::special_register:
        case Kind::load:
        case Kind::store:
        case Kind::atomic:
        case Kind::branch:
        case Kind::branch_table:
        case Kind::exit:
        case Kind::fence:
        case Kind::nop:
            return true;
        default:
            return false;
    }
}

// It prints, asks for memory or launches, which cannot be undone; or other functions have registers of their own.
bool cannot_run(const ptx::Program& program) {
    if (program.functions.size() != 1 || !program.calls.empty() || program.instructions.empty()) return true;
    if (program.functions.front().lane_bytes.size() * 64 != program.register_bytes) return true;
    if (program.instructions.size() * (program.register_bytes / 64 + 1) > most_bits) return true;
    return std::any_of(program.instructions.begin(), program.instructions.end(), [](const ptx::DecodedInstruction& i) {
        return i.kind == ptx::Kind::system || i.kind == ptx::Kind::call;
    });
}

template <class Word>
Word word_at(const std::byte* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// The distance from lane to lane, among those of `mask`; nothing: there is no one.
template <class Register>
std::optional<int64_t> step_of(const std::byte* registers, uint32_t mask) {
    std::optional<int64_t> step;
    const auto lane = [&](uint32_t i) { return word_at<Register>(registers + i * sizeof(Register)); };
    for (uint32_t h = 0; h < 2; ++h) {
        uint32_t last = warp_size;
        for (uint32_t i = h * 16; i < h * 16 + 16; ++i) {
            if ((mask >> i & 1) == 0) continue;
            if (last != warp_size) {
                const auto far = static_cast<int64_t>(static_cast<std::make_signed_t<Register>>(lane(i) - lane(last)));
                const int64_t lanes = i - last;
                if (far % lanes != 0 || far / lanes > farthest || far / lanes < -farthest) return std::nullopt;
                if (step && *step != far / lanes) return std::nullopt;
                step = far / lanes;
            }
            last = i;
        }
    }
    return step.value_or(0);
}

// Registers of the region that are looked at as integers, and as nothing else.
std::set<int32_t> integers_of(const Native& native, const Plan& plan, const Region& region) {
    std::set<int32_t> integers, others;
    for (const RegionBlock& block : region.blocks)
        for (uint32_t pc = block.begin; pc < block.end; ++pc) {
            const ptx::DecodedInstruction& i = native.program.instructions[pc];
            if (const int32_t base = plan.steps[pc].address; ptx::is_register(base)) integers.insert(base);
            const auto operation = operation_of(i);
            if (!operation) continue;
            const bool moves_floats = i.type == ptx::Type::f32 || i.type == ptx::Type::f64;
            for (size_t k = 0; k < operation->operands.size(); ++k) {
                const char letter = operation->operands[k];
                if (!ptx::is_register(i.source[k]) || letter == 'p') continue;
                const bool is_integer = (letter == 'i' || letter == 'l') && !moves_floats;
                (is_integer ? integers : others).insert(i.source[k]);
            }
        }
    for (const int32_t reg : others) integers.erase(reg);
    return integers;
}

}  // namespace

Native::Native(const ptx::Program& of, NativeOptions with)
    : program(of),
      options(std::move(with)),
      liveness(of.instructions, of.lists, 0, static_cast<uint32_t>(of.instructions.size())),
      always_live(of.register_bytes / 64 + 1, false),
      entries(std::make_unique<NativeEntry[]>(of.instructions.size() + 1)) {
    for (const ptx::DecodedInstruction& i : program.instructions)
        if (!lane_by_lane(i.kind))
            ptx::each_use(program.lists, i,
                          [&](const ptx::RegisterUse& use) { always_live[static_cast<size_t>(use.reg) / 64] = true; });
    const bool meets = std::any_of(program.instructions.begin(), program.instructions.end(),
                                   [](const ptx::DecodedInstruction& i) { return i.kind == ptx::Kind::barrier; });
    for (const ptx::DecodedInstruction& i : program.instructions) {
        // What a branch decided is looked at when lanes are missing at a barrier (findings_barrier.cpp).
        if (meets && i.kind == ptx::Kind::branch && i.guard != ptx::no_operand)
            always_live[static_cast<size_t>(i.guard) / 64] = true;
        shuffles = shuffles || i.kind == ptx::Kind::shuffle;
    }
    if (!liveness.settled()) return;
    const size_t words = always_live.size() / 64 + 1;
    live_.assign(program.instructions.size(), std::vector<uint64_t>(words, 0));
    for (size_t b = 0; b < liveness.blocks().size(); ++b) {
        const ptx::BasicBlock& block = liveness.blocks()[b];
        ptx::Liveness::Set live = liveness.behind(b);
        for (uint32_t pc = block.end; pc-- > block.begin;) {
            liveness.take_written(pc, live, [](uint32_t) {});
            liveness.add_read(pc, live, [](uint32_t) {});
            for (size_t n = 0; n < liveness.registers().size(); ++n) {
                if ((live[n >> 6] >> (n & 63) & 1) == 0) continue;
                const size_t slot = static_cast<size_t>(liveness.registers()[n]) / 64;
                live_[pc][slot / 64] |= uint64_t{1} << (slot % 64);
            }
        }
    }
}

bool Native::is_live(uint32_t pc, int32_t reg) const {
    const size_t slot = static_cast<size_t>(reg) / 64;
    if (always_live[slot]) return true;
    return pc < live_.size() && (live_[pc][slot / 64] >> (slot % 64) & 1) != 0;
}

std::vector<int32_t> Native::live_in_front_of(uint32_t pc) const {
    std::vector<int32_t> found;
    for (const int32_t reg : liveness.registers())
        if (is_live(pc, reg)) found.push_back(reg);
    return found;
}

const Translation* Native::translate(const Plan& plan, const NativeCall& call, uint32_t pc) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;  // another thread translates
    NativeEntry& entry = entries[pc];
    entry.visits = 0;
    const auto mask = static_cast<uint32_t>(call.active);
    const bool whole = mask == full_mask;
    uint32_t have = 0;
    for (const Translation* t = entry.first; t; t = t->next) have += t->whole == whole ? 1 : 0;
    if (entry.closed || translations_.size() >= most_translations || have >= most_of_an_entry) return nullptr;
    const auto begin = std::chrono::steady_clock::now();
    if (translations_.empty()) variables_ = plan.variables;
    if (variables_ != plan.variables) return nullptr;
    const Region region = region_of(*this, plan, pc);
    if (region.instructions < least_instructions) {
        entry.closed = true;
        return nullptr;
    }
    std::map<int32_t, int64_t> ramps;
    if (have + 1 < most_of_an_entry)
        for (const int32_t reg : integers_of(*this, plan, region)) {
            if (!is_live(pc, reg)) continue;
            const uint8_t bytes = program.functions.front().lane_bytes[static_cast<size_t>(reg) / 64];
            if (bytes != 4 && bytes != 8) continue;
            const std::byte* const at = call.registers + reg;
            if (const auto step = bytes == 4 ? step_of<uint32_t>(at, mask) : step_of<uint64_t>(at, mask)) ramps[reg] = *step;
        }
    Translator translator(*this, plan, region, call, whole, std::move(ramps));
    const std::string text = translator.module();
    auto made = std::make_unique<Translation>();
    std::string problem;
    made->code = compile_native(text, problem);
    made->whole = whole;
    made->instructions = region.instructions;
    if (options.keep_text) made->text = made->code ? text : text + "; " + problem + "\n";
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    translations_.push_back(std::move(made));
    Translation* const one = translations_.back().get();
    if (!one->code) {
        entry.closed = true;
        if (problem == no_compiler)
            for (size_t at = 0; at <= program.instructions.size(); ++at) entries[at].closed = true;
        return nullptr;
    }
    one->next = entry.first;
    entry.first.store(one, std::memory_order_release);
    return one;
}

Native::Made Native::made() const {
    const std::scoped_lock lock(mutex_);
    Made sum{0, 0, seconds_};
    for (const auto& one : translations_) {
        sum.translations += one->code ? 1 : 0;
        sum.instructions += one->code ? one->instructions : 0;
    }
    return sum;
}

std::vector<std::string> Native::texts() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> all;
    for (const auto& one : translations_) all.push_back(one->text);
    return all;
}

bool Native::fits(const std::vector<uint64_t>& variables) const {
    const std::scoped_lock lock(mutex_);
    return translations_.empty() || variables_ == variables;
}

// An instruction of a loop is taken for sixteen.
static bool is_long(const Grid& grid) {
    const ptx::Program& program = *grid.program;
    uint64_t work = program.instructions.size();
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc)
        if (const uint32_t target = program.instructions[pc].target; target <= pc) work += 15 * uint64_t{pc + 1 - target};
    const uint64_t threads = grid.config->block.count();
    return grid.config->grid.count() * ((threads + warp_size - 1) / warp_size) * work >= least_work;
}

std::shared_ptr<Native> native_of(const Grid& grid, const std::vector<bool>* watched) {
    if (!is_native_built() || !is_long(grid) || cannot_run(*grid.program)) return nullptr;
    ptx::KeptBeside& beside = grid.program->beside;
    const std::scoped_lock lock(beside.mutex);
    std::shared_ptr<void>& kept = watched ? beside.translated_apart : beside.translated;
    if (const auto* const earlier = static_cast<const Native*>(kept.get()))
        if (!earlier->fits(grid.variables) || (watched && earlier->watched != *watched)) kept = nullptr;
    if (!kept) {
        const std::shared_ptr<Native> made = make_native(*grid.program);
        if (made && watched) made->watched = *watched;
        kept = made;
    }
    const auto native = std::static_pointer_cast<Native>(kept);
    return native && native->undone < most_undone ? native : nullptr;
}

std::shared_ptr<Native> make_native(const ptx::Program& program, NativeOptions options) {
    if (cannot_run(program)) return nullptr;
    auto made = std::make_shared<Native>(program, std::move(options));
    return made->liveness.settled() ? made : nullptr;
}

}  // namespace lockstep::simt
