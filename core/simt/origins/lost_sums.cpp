#include "core/simt/origins/lost_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <unordered_map>

#include "core/ptx/analyse/dataflow.h"
#include "core/simt/check/faults.h"
#include "core/simt/memory/access.h"
#include "core/simt/origins/observe.h"

namespace lockstep::simt {

namespace {

constexpr uint64_t most_for_sums = 5'000'000;  // warp instructions
constexpr size_t most_elements = 1 << 16, most_sets = 1 << 16, shown_elements = 3;

using SetId = uint32_t;  // of elements; 0: none
using LaneSets = std::array<SetId, warp_size>;

struct LoadedElement {
    uint64_t address = 0;
    uint32_t bytes = 0;
};

struct PartialSum {  // a word of shared memory, as it was written last
    SetId set = 0;
    bool read = false;
    uint32_t pc = 0, warp = 0, lane = 0;
};

class SumsWatch : public Observer {
  public:
    explicit SumsWatch(const ptx::Program& program) : program_(program), sets_(1) {}

    bool wants(const Block& block) const override { return block.linear == 0; }
    bool done() const override { return ended_ || given_up_; }
    void after(const Warp& warp, const WarpEvent& event) override {
        if (given_up_ || event.pc >= program_.instructions.size()) return;
        const ptx::DecodedInstruction& i = program_.instructions[event.pc];
        using ptx::Kind;
        given_up_ =
            !warp.frames.empty() || i.kind == Kind::call || loaded_.size() > most_elements || sets_.size() > most_sets;
        if (given_up_) return;
        auto& registers = registers_[warp.index];
        LaneSets values{};
        ptx::each_use(program_.lists, i, [&](const ptx::RegisterUse& use) {
            if (use.role == ptx::Role::destination) return;
            const auto found_at = registers.find(use.reg);
            if (found_at == registers.end()) return;
            for (uint32_t lane = 0; lane < warp_size; ++lane) {
                const SetId set = found_at->second[lane];
                if (use.role == ptx::Role::source)
                    values[lane] = joined(values[lane], set);
                else
                    use_up(set);
            }
        });
        const bool in_shared = event.kind == WarpEvent::Kind::memory && event.space == ptx::Space::shared;
        const bool one_word = in_shared && event.bytes % 4 == 0 && i.vector == 1 && event.addresses;
        if (i.kind == Kind::load && one_word && !event.is_atomic) return load_shared(event, i, registers);
        if (i.kind == Kind::store && one_word) return store_shared(warp, event, values);
        if (i.kind == Kind::load && event.kind == WarpEvent::Kind::memory && event.space == ptx::Space::global)
            return load_global(event, i, registers);
        const bool made = i.kind == Kind::lane_wise || i.kind == Kind::lane_wise_many;
        if (!made) {
            for (const SetId set : values) use_up(set);
            values = {};
        }
        if (in_shared) use_up_words(event);
        ptx::each_written(program_.lists, i, [&](int32_t reg) { write(registers, reg, event.executed, values); });
    }
    void ended(const Block& block) override {
        if (block.linear != 0) return;
        ended_ = true;
        if (!given_up_) tell(block);
    }
    std::vector<Fault> found;

  private:
    SetId joined(SetId a, SetId b) {
        if (a == b || b == 0) return a;
        if (a == 0) return b;
        const auto [known, fresh] = unions_.try_emplace({std::min(a, b), std::max(a, b)}, 0);
        if (!fresh) return known->second;
        std::vector<uint32_t> all;
        std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(), std::back_inserter(all));
        return known->second = number_of(std::move(all));
    }
    SetId number_of(std::vector<uint32_t> set) {
        const auto [known, fresh] = numbers_.try_emplace(std::move(set), static_cast<SetId>(sets_.size()));
        if (fresh) sets_.push_back(known->first);
        return known->second;
    }
    void use_up(SetId set) {
        if (set == 0 || (set < used_sets_.size() && used_sets_[set])) return;
        if (set >= used_sets_.size()) used_sets_.resize(sets_.size());
        used_sets_[set] = true;
        used_.resize(loaded_.size());
        for (const uint32_t element : sets_[set]) used_[element] = true;
    }
    using Registers = std::unordered_map<int32_t, LaneSets>;
    static void write(Registers& registers, int32_t reg, uint32_t lanes, const LaneSets& values) {
        LaneSets& to = registers[reg];
        for (; lanes; lanes &= lanes - 1) {
            const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
            to[lane] = values[lane];
        }
    }
    template <class Each>
    static void each_lane(uint32_t lanes, Each each) {
        for (; lanes; lanes &= lanes - 1) each(static_cast<uint32_t>(__builtin_ctz(lanes)));
    }
    void load_shared(const WarpEvent& event, const ptx::DecodedInstruction& i, Registers& registers) {
        LaneSets values{};
        each_lane(event.executed, [&](uint32_t lane) {
            for (uint64_t word = event.addresses[lane] / 4; word < (event.addresses[lane] + event.bytes) / 4; ++word)
                if (const auto at = words_.find(word); at != words_.end()) {
                    at->second.read = true;
                    values[lane] = joined(values[lane], at->second.set);
                }
        });
        ptx::each_written(program_.lists, i, [&](int32_t reg) { write(registers, reg, event.executed, values); });
    }
    void store_shared(const Warp& warp, const WarpEvent& event, const LaneSets& values) {
        each_lane(event.executed, [&](uint32_t lane) {
            for (uint64_t word = event.addresses[lane] / 4; word < (event.addresses[lane] + event.bytes) / 4; ++word)
                words_[word] = {values[lane], false, event.pc, warp.index, lane};
        });
    }
    // Atomics, vectors, copies: what lies there counts as used.
    void use_up_words(const WarpEvent& event) {
        if (!event.addresses) {
            given_up_ = true;
            return;
        }
        each_lane(event.executed, [&](uint32_t lane) {
            for (uint64_t word = event.addresses[lane] / 4; word <= (event.addresses[lane] + event.bytes) / 4; ++word)
                if (const auto at = words_.find(word); at != words_.end()) at->second.read = true, use_up(at->second.set);
        });
    }
    void load_global(const WarpEvent& event, const ptx::DecodedInstruction& i, Registers& registers) {
        const uint32_t bytes = event.bytes / std::max<uint32_t>(1, i.vector);
        uint32_t nth = 0;
        ptx::each_written(program_.lists, i, [&](int32_t reg) {
            LaneSets values{};
            each_lane(event.executed, [&](uint32_t lane) {
                const uint64_t address = event.addresses[lane] + uint64_t{nth} * bytes;
                const auto [known, fresh] = element_at_.try_emplace(address, static_cast<uint32_t>(loaded_.size()));
                if (fresh) loaded_.push_back({address, bytes});
                values[lane] = number_of({known->second});
            });
            write(registers, reg, event.executed, values);
            ++nth;
        });
    }

    std::string element_text(const Grid& grid, const LoadedElement& element) const {
        const Allocation* const a = grid.memory->find(element.address);
        if (!a || element.bytes == 0) return hex(element.address);
        return readable_variable(a->name) + "[" + std::to_string((element.address - a->address) / element.bytes) + "]";
    }
    void tell(const Block& block) {
        used_.resize(loaded_.size());
        if (std::none_of(used_.begin(), used_.end(), [](bool used) { return used; })) return;
        std::vector<bool> lost(loaded_.size(), false);
        const PartialSum* first = nullptr;
        uint64_t first_word = 0;
        for (const auto& [word, sum] : words_) {
            if (sum.read || sets_[sum.set].size() < 2) continue;
            bool any = false;
            for (const uint32_t element : sets_[sum.set])
                if (!used_[element]) lost[element] = any = true;
            if (any && (!first || word < first_word)) first = &sum, first_word = word;
        }
        if (!first) return;
        std::vector<LoadedElement> elements;
        for (size_t k = 0; k < lost.size(); ++k)
            if (lost[k]) elements.push_back(loaded_[k]);
        std::sort(elements.begin(), elements.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
        const Grid& grid = *block.grid;
        const Warp& warp = block.warps[first->warp];
        std::string names;
        for (size_t k = 0; k < std::min(elements.size(), shown_elements); ++k)
            names += (k ? ", " : "") + element_text(grid, elements[k]);
        if (elements.size() > shown_elements) names += " ...";
        const uint64_t threads = grid.config->block.count();
        uint64_t offset = first_word * 4;
        const std::string variable = shared_variable_at(block, offset);
        Fault fault = *make_fault(warp, first->pc, first->lane, "outputs", {});
        fault.warning = true;
        fault.message = std::to_string(elements.size()) + " of the " + std::to_string(loaded_.size()) +
                        " elements that block 0 loads are in no result (" + names + "): they are in a sum in " +
                        (variable.empty() ? "shared memory" : "'" + variable + "' +" + std::to_string(offset)) +
                        ", written at " + place_of(program_, first->pc) + ", which nobody reads; a block has " +
                        std::to_string(threads) + " threads, and halving an odd number of sums leaves the last one out";
        fault.advice = "Take a block of a power of two, " + std::to_string(std::bit_ceil(threads)) +
                       " for instance, with 0 for the threads beyond the data; or round up: with half = (n + 1) / 2 add "
                       "element t + half where it is below n.";
        found.push_back(std::move(fault));
    }

    const ptx::Program& program_;
    std::vector<std::vector<uint32_t>> sets_;
    std::map<std::vector<uint32_t>, SetId> numbers_;
    std::map<std::pair<SetId, SetId>, SetId> unions_;
    std::vector<LoadedElement> loaded_;
    std::unordered_map<uint64_t, uint32_t> element_at_;  // by address
    std::vector<bool> used_, used_sets_;
    std::unordered_map<uint32_t, Registers> registers_;  // by warp
    std::unordered_map<uint64_t, PartialSum> words_;
    bool ended_ = false, given_up_ = false;
};

}  // namespace

std::vector<Fault> lost_sums(const ptx::Program& program, const LaunchConfig& config, const Memory& before,
                             const LaunchOptions& options, uint64_t warp_instructions) {
    const auto& code = program.instructions;
    const bool has_barrier =
        std::any_of(code.begin(), code.end(), [](const auto& i) { return i.kind == ptx::Kind::barrier; });
    if (!has_barrier || program.shared_variables.empty() || std::has_single_bit(config.block.count()) ||
        warp_instructions > most_for_sums || program.functions.size() > 1)
        return {};
    SumsWatch watch(program);
    Memory memory(before);
    launch_observed(program, config, memory, options, watch);
    return std::move(watch.found);
}

}  // namespace lockstep::simt
