// What the rules read of a launch, worked out once. Internal to core/model/advice.
#pragma once
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/advice/persistent.h"
#include "core/model/advice/verdict.h"
#include "core/simt/history/history.h"
#include "core/trace/stall_reason.h"

namespace lockstep::model::advice {

using Place = std::pair<int32_t, int32_t>;  // file, line

// The instructions of one line of some kind, added up.
struct LineSum {
    Place place;
    uint32_t pc = 0;  // the one with most sectors, passes or issues
    std::vector<uint32_t> pcs;
    uint32_t lane_bytes = 0;
    InstructionCounters sum;
    uint64_t slots = 0;   // issue slots
    uint64_t needed = 0;  // sectors: as many as the bytes of its instructions fill, and one a request
    uint64_t excess = 0;
};

class Facts {
  public:
    explicit Facts(const KernelRun& run);

    const KernelRun& run;
    const ptx::Program& program;
    const TimedResult& result;
    InstructionCounters all;
    std::optional<PersistentLoop> persistent;
    uint64_t slots = 0;      // issue slots of all instructions
    double warp_cycles = 0;  // of all resident warps

    double metric(std::string_view name) const;
    double share(StallReason reason) const;        // of all warps' cycles
    Place longest_wait(StallReason reason) const;  // the line whose instructions waited longest for it; {}: none did
    // 0..1: the busiest of issue slots, pipes, L1, L2 and DRAM.
    double busiest() const;
    // What can be saved at most by better use of the time: the busiest of them has its work to do whatever else changes.
    double room() const { return std::clamp(1 - busiest() / 0.95, 0.0, 1.0); }
    // The same where only what is computed gets less: memory has its work to do.
    double room_beside_memory() const { return std::clamp(1 - 0.01 * metric("memory_throughput") / 0.95, 0.0, 1.0); }

    // The lines that have instructions for which wanted() holds, by `measure`, the largest first.
    template <class Wanted, class Measure>
    std::vector<LineSum> lines(const Wanted& wanted, const Measure& measure) const {
        return lines(wanted, measure, [](uint32_t) { return std::string(); });
    }
    // The same with the instructions of a line apart whose kind_of(pc) differs.
    template <class Wanted, class Measure, class KindOf>
    std::vector<LineSum> lines(const Wanted& wanted, const Measure& measure, const KindOf& kind_of) const {
        std::map<std::pair<Place, std::string>, LineSum> table;
        for (uint32_t pc = 0; pc < program.instructions.size() && pc < result.instructions.size(); ++pc) {
            const ptx::DecodedInstruction& in = program.instructions[pc];
            const InstructionCounters& counters = result.instructions[pc];
            if (!wanted(in, counters)) continue;
            LineSum& line = table[{{in.file, in.line}, kind_of(pc)}];
            line.place = {in.file, in.line};
            add(line, pc, in, counters);
        }
        std::vector<LineSum> all_lines;
        for (auto& [place, line] : table) {
            line.excess = measure(line);
            if (line.excess > 0) all_lines.push_back(line);
        }
        std::stable_sort(all_lines.begin(), all_lines.end(),
                         [](const auto& a, const auto& b) { return a.excess > b.excess; });
        return all_lines;
    }

    uint32_t slots_of(uint32_t pc) const;
    std::string file_of(const Place& place) const;
    std::string at(const Place& place) const;            // "mm.cu:12", "" where the line is not known
    std::string text_of_line(const Place& place) const;  // of the source; "" unknown
    // How the lanes' addresses lie at the first access of the first warp; `seen`: it came there.
    struct Lanes {
        bool seen = false;
        std::optional<int64_t> stride;  // bytes between neighbours, where one distance holds for most of them
        uint64_t first = 0;             // address
        // Of a block that is less than a warp wide: bytes from the last thread of a row to the first of the next one.
        std::optional<int64_t> to_next_row;
    };
    Lanes lanes_at(uint32_t pc) const;
    Lanes lanes_of(const LineSum& line) const;  // of the line's instruction with most to do, else of another one like it

  private:
    void add(LineSum& line, uint32_t pc, const ptx::DecodedInstruction& in, const InstructionCounters& counters) const;
    const simt::WarpHistory& first_warp() const;
    mutable std::shared_ptr<simt::WarpHistory> history_;
};

inline double part(uint64_t a, uint64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}
// Whether a character is one of a name in C++ or Python.
inline bool is_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

using Findings = std::vector<Finding>;

struct Rule {
    RuleRow row;
    void (*find)(const Facts&, Findings&) = nullptr;
};
std::span<const Rule> rules();

// A finding at a line, its place filled in.
Finding finding_at(const Facts& facts, std::string_view rule, const Place& place);

// The rules, in the file of what they are about.
void find_small_grid(const Facts&, Findings&);
void find_uneven_wave(const Facts&, Findings&);
void find_tail(const Facts&, Findings&);
void find_imbalance(const Facts&, Findings&);
void find_persistent(const Facts&, Findings&);
void find_occupancy(const Facts&, Findings&);
void find_small_blocks(const Facts&, Findings&);
void find_partial_warps(const Facts&, Findings&);
void find_latency(const Facts&, Findings&);
void find_uncoalesced(const Facts&, Findings&);
void find_misaligned(const Facts&, Findings&);
void find_bank_conflicts(const Facts&, Findings&);
void find_local_memory(const Facts&, Findings&);
void find_spills(const Facts&, Findings&);
void find_uniform_loads(const Facts&, Findings&);
void find_atomics(const Facts&, Findings&);
void find_l2_thrash(const Facts&, Findings&);
void find_full_queues(const Facts&, Findings&);
void find_constants(const Facts&, Findings&);
void find_fences(const Facts&, Findings&);
void find_locks(const Facts&, Findings&);
void find_divergence(const Facts&, Findings&);
void find_barriers(const Facts&, Findings&);
void find_fp64(const Facts&, Findings&);
void find_division(const Facts&, Findings&);
void find_special(const Facts&, Findings&);
void find_functions(const Facts&, Findings&);
void find_code(const Facts&, Findings&);
void find_idle_tensor_cores(const Facts&, Findings&);

}  // namespace lockstep::model::advice
