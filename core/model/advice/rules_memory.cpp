// Rules about memory: what a warp's request touches, how often lanes meet, and what comes from where.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <regex>
#include <set>
#include <string>

#include "core/base/units.h"
#include "core/model/advice/facts.h"
#include "core/model/advice/wide_block.h"
#include "core/model/lowering/library_calls.h"
#include "core/model/memory/coalescer.h"
#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model::advice {
namespace {

using ptx::Access;

double ratio(uint64_t a, uint64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

bool is_data(const ptx::DecodedInstruction& in) {
    const Access access = ptx::facts_of(in).access;
    return access == Access::load || access == Access::store || access == Access::copy;
}

bool goes_to_global(const ptx::DecodedInstruction& in, const InstructionCounters& c) {
    return is_data(in) && c.requests > 0 && in.space != ptx::Space::local;
}

std::string_view verb(const Facts& facts, uint32_t pc) {
    return ptx::facts_of(facts.program.instructions[pc]).access == Access::store ? "stores" : "loads";
}

// "x[i * stride]": an index that is a product of two names, where records would have a number, "p[8 * i]".
bool multiplies_names(const std::string& line) {
    static const std::regex product("\\[[^\\]]*[A-Za-z_][A-Za-z0-9_.]* *\\* *[A-Za-z_]");
    return std::regex_search(line, product);
}

// Whether what each row of a narrow block asks for lies together, and the rows apart.
bool is_cut_by_rows(const Facts::Lanes& lanes, int64_t element) {
    return lanes.to_next_row && lanes.stride && (*lanes.stride == 0 || std::abs(*lanes.stride) == element) &&
           *lanes.to_next_row != *lanes.stride;
}

// The instructions of a line by what they do and how many sectors too many they touch: a mean of a load and a store, or of
// the two operands of a product, is nobody's number.
std::string kind_of(const Facts& facts, uint32_t pc) {
    const InstructionCounters& c = facts.result.instructions[pc];
    const double needed = static_cast<double>(std::max<uint64_t>({1, c.requests, c.used_bytes / sector_bytes}));
    const double times = std::max(1.0, static_cast<double>(c.sectors)) / needed;
    return fmt::format("{} {:.0f}", verb(facts, pc), std::round(2 * std::log2(times)));
}

struct Pattern {
    std::string words, change;
    std::string_view what_if = "coalesced";
};

// Whether the line's records of `apart` bytes are read, or written, almost whole: instructions of its kind with that stride
// go to their other parts.
bool takes_whole_records(const Facts& facts, const LineSum& line, const Facts::Lanes& lanes, int64_t apart) {
    std::set<int64_t> parts;
    int64_t bytes = 0;
    for (uint32_t pc = 0; pc < facts.result.instructions.size() && pc < facts.program.instructions.size(); ++pc) {
        if (!goes_to_global(facts.program.instructions[pc], facts.result.instructions[pc])) continue;
        if (verb(facts, pc) != verb(facts, line.pc)) continue;
        const Facts::Lanes other = facts.lanes_at(pc);
        const int64_t behind = static_cast<int64_t>(other.first) - static_cast<int64_t>(lanes.first);
        if (other.seen && other.stride == lanes.stride && std::abs(behind) < apart && parts.insert(behind).second)
            bytes += line.lane_bytes;
    }
    return 4 * bytes >= 3 * apart;
}

// How the lanes' addresses lie, and what would be right.
Pattern pattern_of(const Facts& facts, const LineSum& line) {
    const Facts::Lanes lanes = facts.lanes_of(line);
    const int64_t element = std::max<int64_t>(1, line.lane_bytes);
    const auto& stride = lanes.stride;
    if (is_cut_by_rows(lanes, element))
        return {
            fmt::format("blocks are {} threads wide, so a warp is several rows of {}, and each row goes to a place of its "
                        "own",
                        facts.run.config.block.x, facts.run.config.block.x),
            fmt::format("Let a block be 32 threads wide (blockDim.x) and less high, so that a warp is one row of it: {} x "
                        "{} instead of {} x {}.",
                        32, std::max<uint64_t>(1, facts.run.config.block.count() / 32), facts.run.config.block.x,
                        facts.run.config.block.y),
            wide_block(facts.run) ? "wide-block" : "coalesced"};
    if (!lanes.seen) return {"", "Let neighbouring threads (threadIdx.x) take neighbouring elements."};
    if (!stride)
        return {"neighbouring threads go to places that lie anywhere",
                "Sort or group the indices so that the threads of a warp go to neighbouring elements, or gather through "
                "shared memory."};
    const int64_t apart = std::abs(*stride);
    if (apart > element && apart < int64_t{line_bytes} && apart % element == 0 &&
        multiplies_names(facts.text_of_line(line.place)))
        return {fmt::format("neighbouring threads are {} bytes apart, {} elements: the index goes in strides", apart,
                            apart / element),
                "Let neighbouring threads (threadIdx.x) take neighbouring elements: a stride belongs between the elements "
                "that one thread takes in turn."};
    if (apart > element && apart < int64_t{line_bytes} && apart % element == 0 &&
        takes_whole_records(facts, line, lanes, apart))
        return {fmt::format("neighbouring threads are {} bytes apart: records, whose fields are taken one after the other",
                            apart),
                "Let a warp copy whole records into shared memory, each thread the next word, and take the fields from "
                "there, or keep each field in an array of its own (a structure of arrays)."};
    if (apart > element && apart < int64_t{line_bytes} && apart % element == 0)
        return {fmt::format("neighbouring threads are {} bytes apart, {} elements: records of which one field is wanted",
                            apart, apart / element),
                "Keep each field in an array of its own (a structure of arrays), or let a warp copy whole records into "
                "shared memory and take the fields from there."};
    if (apart >= int64_t{line_bytes})
        return {fmt::format("neighbouring threads are {} bytes apart{}: each goes through a row of its own", apart,
                            apart % element == 0 ? fmt::format(" ({} elements)", apart / element) : std::string()),
                "Let neighbouring threads (threadIdx.x) take neighbouring elements of a row, or load a tile into shared "
                "memory row by row and read it there by columns."};
    return {"the warp's request does not fill its sectors",
            "Let neighbouring threads take neighbouring elements, and begin at a multiple of 32 bytes."};
}

// The share of the launch in which memory is what it waits for.
double memory_share(const Facts& facts) {
    const double waits = facts.share(StallReason::long_scoreboard) + facts.share(StallReason::lg_throttle);
    return std::clamp(std::max(waits, 0.01 * facts.metric("memory_throughput")), 0.0, 1.0);
}

}  // namespace

void find_uncoalesced(const Facts& facts, Findings& findings) {
    const auto too_many = [](const LineSum& line) {
        return 2 * line.sum.sectors >= 3 * line.needed ? line.sum.sectors - line.needed : 0;
    };
    const auto lines = facts.lines(goes_to_global, too_many, [&](uint32_t pc) { return kind_of(facts, pc); });
    uint64_t sectors = 0;
    for (const LineSum& line : facts.lines(goes_to_global, [](const LineSum& line) { return line.sum.sectors; }))
        sectors += line.sum.sectors;
    // Lines whose lanes lie alike, and which touch as many sectors, are one finding, at the first of them.
    std::map<std::string, size_t> told;
    for (const LineSum& line : lines) {
        if (line.excess * 10 < sectors) break;
        const auto [pattern, change, what_if] = pattern_of(facts, line);
        const double gain = ratio(line.excess, sectors) * memory_share(facts);
        const std::string alike = fmt::format("{} {:.1f}", pattern, ratio(line.sum.sectors, line.sum.requests));
        if (const auto known = told.find(alike); known != told.end()) {
            Finding& first = findings[known->second];
            first.gain += gain;
            const auto has = [&](int32_t number) {
                return number == first.line ||
                       std::find(first.more_lines.begin(), first.more_lines.end(), number) != first.more_lines.end();
            };
            if (line.place.second > 0 && facts.file_of(line.place) == first.file && !has(line.place.second))
                first.more_lines.push_back(line.place.second);
            continue;
        }
        Finding finding = finding_at(facts, "uncoalesced", line.place);
        const double each = ratio(line.sum.sectors, line.sum.requests), used = ratio(line.sum.used_bytes, line.sum.sectors);
        finding.sentence = fmt::format(
            "A warp's {} touch {:.3g} sectors where {:.3g} would do, and of each sector's 32 bytes {:.3g} are used{}{}.",
            verb(facts, line.pc), each, ratio(line.needed, line.sum.requests), used, pattern.empty() ? "" : ": ", pattern);
        finding.evidence = fmt::format("sectors a request {:.3g}, normal {:.3g}; {:.0f} % of all sectors of global memory",
                                       each, ratio(line.needed, line.sum.requests), 100 * ratio(line.sum.sectors, sectors));
        finding.change = change;
        finding.what_if = what_if;
        finding.gain = gain;
        told[alike] = findings.size();
        findings.push_back(finding);
    }
}

void find_misaligned(const Facts& facts, Findings& findings) {
    const auto slightly_more = [](const LineSum& line) {
        const bool slightly = 20 * line.sum.sectors >= 23 * line.needed && 2 * line.sum.sectors < 3 * line.needed;
        return slightly ? line.sum.sectors - line.needed : 0;
    };
    const auto lines = facts.lines(goes_to_global, slightly_more, [&](uint32_t pc) { return kind_of(facts, pc); });
    for (const LineSum& line : lines) {
        if (line.excess * 20 < facts.all.sectors) return;
        const Facts::Lanes lanes = facts.lanes_of(line);
        const uint64_t first = lanes.first;
        if (!lanes.stride || *lanes.stride != int64_t{line.lane_bytes} || first % sector_bytes == 0) continue;
        Finding finding = finding_at(facts, "misaligned", line.place);
        finding.sentence = fmt::format(
            "A warp's {} begin {} bytes behind a sector's border, so each touches {:.3g} sectors "
            "where {:.3g} would do.",
            verb(facts, line.pc), first % sector_bytes, ratio(line.sum.sectors, line.sum.requests),
            ratio(line.needed, line.sum.requests));
        finding.evidence = fmt::format("sectors a request {:.3g}, normal {:.3g}", ratio(line.sum.sectors, line.sum.requests),
                                       ratio(line.needed, line.sum.requests));
        finding.change = "Pad the rows to a multiple of 32 bytes, or shift the index so that a warp begins at a border.";
        finding.what_if = "coalesced";
        finding.gain = ratio(line.excess, facts.all.sectors) * memory_share(facts);
        findings.push_back(finding);
        return;
    }
}

void find_bank_conflicts(const Facts& facts, Findings& findings) {
    const auto in_shared = [](const ptx::DecodedInstruction& in, const InstructionCounters& c) {
        return c.shared_requests > 0 && ptx::facts_of(in).access != Access::atomic;
    };
    const auto needed = [](const LineSum& line) {
        return std::max(line.sum.shared_requests, (line.sum.shared_bytes + line_bytes - 1) / line_bytes);
    };
    const auto lines = facts.lines(in_shared, [&](const LineSum& line) {
        return line.sum.shared_passes > needed(line) ? line.sum.shared_passes - needed(line) : 0;
    });
    const double cycles = std::max<double>(1, static_cast<double>(facts.result.totals.active_cycles));
    std::map<std::string, size_t> told;  // lines whose lanes meet alike are one finding, at the first of them
    for (const LineSum& line : lines) {
        if (line.excess * 10 < facts.all.shared_passes) break;
        Finding finding = finding_at(facts, "bank-conflicts", line.place);
        const double each = ratio(line.sum.shared_passes, line.sum.shared_requests),
                     normal = ratio(needed(line), line.sum.shared_requests);
        const auto stride = facts.lanes_of(line).stride;
        const bool whole = stride && *stride % bank_bytes == 0 && *stride / bank_bytes % 2 == 0;
        finding.sentence = fmt::format(
            "An access to shared memory takes {:.3g} passes over the banks where {:.3g} would do{}.", each, normal,
            whole ? fmt::format(": neighbouring threads are {} words apart, so they meet in {} of "
                                "the 32 banks",
                                std::abs(*stride) / bank_bytes, 32 / std::gcd<int64_t>(32, std::abs(*stride) / bank_bytes))
                  : std::string());
        finding.evidence = fmt::format("passes a request {:.3g}, normal {:.3g}; {} of {} passes are conflicts", each, normal,
                                       line.excess, facts.all.shared_passes);
        finding.change = whole ? "Pad each row by one element, as in tile[32][33], or swap the two indices."
                               : "Let the lanes of a warp go to different banks: pad the rows, or permute the index.";
        finding.what_if = "no-conflicts";
        finding.gain = std::min(0.95, static_cast<double>(line.excess) / cycles);
        if (const auto known = told.find(finding.sentence); known != told.end()) {
            findings[known->second].gain = std::min(0.95, findings[known->second].gain + finding.gain);
            if (line.place.second > 0 && line.place.first == lines.front().place.first)
                findings[known->second].more_lines.push_back(line.place.second);
            continue;
        }
        told[finding.sentence] = findings.size();
        findings.push_back(finding);
    }
}

namespace {

// How an instruction comes to its place in local memory: by an index that is known when it runs, or by an address alone.
enum class LocalBy : uint8_t { index, address };
LocalBy local_by(const ptx::Flow& flow, uint32_t pc) {
    const ptx::Program& program = flow.program;
    const ptx::DecodedInstruction& access = program.instructions[pc];
    if (!ptx::is_register(access.address)) return LocalBy::address;
    std::vector<std::pair<uint32_t, int32_t>> open = {{pc, access.address}};
    std::set<std::pair<uint32_t, int32_t>> seen;
    while (!open.empty() && seen.size() < 100) {
        const auto [at, reg] = open.back();
        open.pop_back();
        for (const uint32_t definition : ptx::definitions_of(flow, at, reg).pcs) {
            if (!seen.insert({definition, reg}).second) continue;
            const ptx::DecodedInstruction& i = program.instructions[definition];
            if (i.kind != ptx::Kind::lane_wise || !i.opcode) continue;
            const std::string_view name = i.opcode->name;
            const bool both = ptx::is_register(i.source[0]) && ptx::is_register(i.source[1]);
            if (name.starts_with("mad") || name == "shl" || name == "mul" || (both && name == "add" && definition != at))
                return LocalBy::index;
            if (name != "mov" && name != "cvta" && name != "cvt" && name != "add") continue;
            ptx::each_read(program.lists, i, [&](int32_t source) { open.push_back({definition, source}); });
        }
    }
    return LocalBy::address;
}

// What the kernel's values need beside what a thread may have: a compiler reorders, so a few more or less say nothing.
constexpr uint32_t few_registers = 16;
uint32_t registers_needed(const ptx::Program& program) {
    return program.functions.empty() ? 0 : program.functions.front().registers;
}
bool presses(const ptx::Program& program, const GpuSpec& gpu) {
    return registers_needed(program) > ptx::registers_on(program, gpu.compute.number) + few_registers;
}

}  // namespace

// PTX has no spills: they are made of it later. What the values need at a time says whether there will be some.
void find_spills(const Facts& facts, Findings& findings) {
    if (!presses(facts.program, facts.run.gpu)) return;
    Finding finding = finding_at(facts, "register-spills", {});
    const uint32_t needed = registers_needed(facts.program),
                   held = ptx::registers_on(facts.program, facts.run.gpu.compute.number);
    finding.sentence = fmt::format(
        "Register pressure: the kernel's values take {} registers at a time and a thread has {}, so the compiler keeps "
        "about "
        "{} of them in local memory; these spills are made after PTX, and the time here is without them.",
        needed, held, needed - held);
    finding.evidence = fmt::format("live registers {}, a thread may have {}", needed, held);
    finding.change =
        "Let a thread keep less at a time: unroll less, work on fewer elements a thread, or allow more registers "
        "(a smaller block, __launch_bounds__ with fewer blocks). --registers ptxas says how much is really spilled.";
    finding.gain_unknown = true;
    findings.push_back(finding);
}

void find_local_memory(const Facts& facts, Findings& findings) {
    const auto lines =
        facts.lines([](const ptx::DecodedInstruction& in,
                       const InstructionCounters& c) { return in.space == ptx::Space::local && c.requests > 0; },
                    [](const LineSum& line) { return line.sum.requests; });
    uint64_t requests = 0;
    for (const LineSum& line : lines) requests += line.sum.requests;
    if (lines.empty() || requests * 20 < facts.all.requests) return;
    Finding finding = finding_at(facts, "local-memory", lines.front().place);
    const ptx::Flow flow(facts.program);
    const bool indexed = std::any_of(lines.front().pcs.begin(), lines.front().pcs.end(),
                                     [&](uint32_t pc) { return local_by(flow, pc) == LocalBy::index; });
    finding.sentence = fmt::format(
        "{:.0f} % of the requests to memory are for local memory ({} bytes a thread), {}. {}",
        100 * ratio(requests, facts.all.requests), facts.program.local_bytes,
        indexed ? "for an array whose index is known only when the kernel runs: registers cannot be chosen by a number"
                : "for something whose address is taken, though no index chooses in it: what a function or printf gets a "
                  "pointer to cannot lie in registers",
        presses(facts.program, facts.run.gpu)
            ? "Spills come on top."
            : fmt::format("It is no register pressure: values take {} registers at a time.",
                          registers_needed(facts.program)));
    finding.evidence = fmt::format("local requests {}, normal 0", requests);
    finding.change =
        indexed ? "Make the indices constants (unroll the loop with #pragma unroll), make the array smaller, or keep "
                  "it in shared memory."
                : "Pass values instead of pointers, or let the function be inlined (__forceinline__).";
    finding.what_if = "no-local";
    finding.gain = ratio(requests, facts.all.requests) * memory_share(facts);
    findings.push_back(finding);
}

void find_uniform_loads(const Facts& facts, Findings& findings) {
    const auto lines = facts.lines(
        [](const ptx::DecodedInstruction& in, const InstructionCounters& c) {
            return goes_to_global(in, c) && ptx::facts_of(in).access == Access::load && c.bytes >= 24 * c.used_bytes;
        },
        [](const LineSum& line) { return line.sum.requests; });
    const double waits = facts.share(StallReason::long_scoreboard) + facts.share(StallReason::lg_throttle);
    if (lines.empty() || lines.front().excess * 3 < facts.all.requests || waits < 0.2) return;
    const LineSum& line = lines.front();
    Finding finding = finding_at(facts, "uniform-loads", line.place);
    finding.sentence = fmt::format(
        "All threads of a warp load one and the same element here: {:.0f} % of the requests to "
        "global memory.",
        100 * ratio(line.excess, facts.all.requests));
    finding.evidence =
        fmt::format("{:.3g} lanes ask for each byte; 1 is normal", ratio(line.sum.bytes, line.sum.used_bytes));
    finding.change =
        "Read-only tables that all threads walk together belong into __constant__ memory, or load a piece of "
        "them a thread each and pass it on through shared memory or __shfl_sync.";
    finding.gain = ratio(line.excess, facts.all.requests) * waits * 0.5;
    findings.push_back(finding);
}

void find_atomics(const Facts& facts, Findings& findings) {
    const auto lines =
        facts.lines([](const ptx::DecodedInstruction&, const InstructionCounters& c) { return c.atomic_lanes > 0; },
                    [](const LineSum& line) { return line.sum.atomic_lanes; });
    if (lines.empty()) return;
    const LineSum& line = lines.front();
    const uint64_t requests = std::max<uint64_t>(1, line.sum.requests + line.sum.shared_requests);
    const double lanes = ratio(line.sum.atomic_lanes, line.sum.atomic_words), queue = ratio(line.sum.atomic_queue, requests);
    const double share = ratio(requests, facts.all.requests + facts.all.shared_requests);
    if ((lanes < 2 && queue < 100) || share < 0.02) return;
    Finding finding = finding_at(facts, "atomics", line.place);
    finding.sentence =
        lanes >= 2
            ? fmt::format(
                  "The {:.3g} threads of a warp that do this atomic together meet at {:.3g} address{}, and "
                  "those that meet go one after the other.",
                  ratio(line.sum.atomic_lanes, requests), ratio(line.sum.atomic_words, requests),
                  ratio(line.sum.atomic_words, requests) < 1.005 ? "" : "es")
            : fmt::format("The atomics of many warps go to few addresses: one waits {:.0f} cycles for its turn.", queue);
    finding.evidence =
        fmt::format("lanes an address {:.3g}, normal 1; {:.0f} cycles in the queue at L2, normal 0", lanes, queue);
    finding.change =
        "Add up first: in registers, then in the warp (__shfl_down_sync, __reduce_add_sync), then in shared "
        "memory with a copy of the counters for each warp; then one atomic a block and address.";
    finding.what_if = "spread-atomics";
    finding.gain = std::min(0.9, std::max(1 - 1 / std::max(1.0, lanes), queue > 100 ? 0.5 : 0.0)) *
                   std::max(share, facts.share(StallReason::long_scoreboard));
    findings.push_back(finding);
}

namespace {

// A loop that tries until an exchange with constants (0 for 1) gives what it wants: a lock. Loops that compute the new value
// from the old one retry as well, but wait for nobody.
bool takes_lock(const ptx::Flow& flow, uint32_t pc) {
    const auto& code = flow.program.instructions;
    const ptx::DecodedInstruction& in = code[pc];
    if (in.kind != ptx::Kind::atomic || !ptx::is_register(in.destination[0])) return false;
    const auto constant = [&](int32_t operand) {
        if (!ptx::is_register(operand)) return operand != ptx::no_operand;
        const ptx::Definitions made = ptx::definitions_of(flow, pc, operand);
        return !made.from_entry && std::all_of(made.pcs.begin(), made.pcs.end(), [&](uint32_t at) {
            return code[at].opcode != nullptr && code[at].opcode->name == "mov" && !ptx::is_register(code[at].source[0]);
        });
    };
    const ptx::AtomicOperation operation = ptx::as_atomic(in).operation;
    if (operation == ptx::AtomicOperation::cas) return constant(in.source[0]) && constant(in.source[1]);
    return operation == ptx::AtomicOperation::exch && constant(in.source[0]);
}

// The basic blocks of the shortest loop around an instruction, by the way back to it; empty: it is in none.
std::vector<bool> loop_around(const ptx::Flow& flow, uint32_t pc) {
    const auto reach = [&](const auto& next_of) {
        std::vector<bool> seen(flow.blocks.size());
        std::vector<uint32_t> to_visit = {flow.block_of[pc]};
        while (!to_visit.empty()) {
            const uint32_t block = to_visit.back();
            to_visit.pop_back();
            for (const uint32_t next : next_of(block))
                if (!seen[next]) seen[next] = true, to_visit.push_back(next);
        }
        return seen;
    };
    std::vector<bool> ahead = reach([&](uint32_t block) { return flow.blocks[block].successors; });
    const std::vector<bool> behind = reach([&](uint32_t block) { return flow.predecessors[block]; });
    if (!ahead[flow.block_of[pc]]) return {};
    for (size_t block = 0; block < ahead.size(); ++block) ahead[block] = ahead[block] && behind[block];
    return ahead;
}

}  // namespace

void find_locks(const Facts& facts, Findings& findings) {
    const auto& code = facts.program.instructions;
    const auto is_atomic = [](const ptx::DecodedInstruction& in) { return in.kind == ptx::Kind::atomic; };
    if (std::none_of(code.begin(), code.end(), is_atomic) || facts.warp_cycles <= 0) return;
    const ptx::Flow flow(facts.program);
    for (uint32_t pc = 0; pc < code.size() && pc < facts.result.instructions.size(); ++pc) {
        if (pc >= flow.block_of.size() || !takes_lock(flow, pc)) continue;
        const std::vector<bool> loop = loop_around(flow, pc);
        if (loop.empty()) continue;
        uint64_t waited = 0;
        for (uint32_t at = 0; at < code.size() && at < facts.result.instructions.size() && at < flow.block_of.size(); ++at)
            if (loop[flow.block_of[at]])
                for (const uint64_t cycles : facts.result.instructions[at].stalls) waited += cycles;
        const double share = static_cast<double>(waited) / facts.warp_cycles;
        const uint64_t threads = facts.result.totals.blocks * facts.result.totals.threads_per_block;
        const uint64_t tries = facts.result.instructions[pc].executed;
        if (share < 0.3 || tries < 2 * threads) continue;
        Finding finding = finding_at(facts, "locks", {code[pc].file, code[pc].line});
        finding.sentence = fmt::format(
            "Threads wait for a lock that one of them holds at a time: warps are in the loop that tries to take it in "
            "{:.0f} % "
            "of their cycles.",
            100 * share);
        finding.evidence = fmt::format("{} tries by {} threads, normal one each", tries, threads);
        finding.change =
            "Do without it: an atomic on the value itself (atomicAdd), or add up first in registers, the warp and shared "
            "memory, and let one thread a block take it; or a lock for each bucket. More blocks only make the queue longer.";
        finding.gain = std::min(0.95, share);
        finding.at_most = true;
        findings.push_back(finding);
        return;
    }
}

void find_l2_thrash(const Facts& facts, Findings& findings) {
    if (facts.run.before == nullptr) return;
    const auto read = static_cast<double>(facts.result.totals.dram_read),
               there = static_cast<double>(facts.run.before->live_bytes());
    const double dram = 0.01 * facts.metric("dram_throughput");
    if (there <= 0 || read < 1.5 * there || dram < 0.3) return;
    Finding finding = finding_at(facts, "l2-thrash", {});
    finding.sentence = fmt::format(
        "DRAM is read {:.1f} times over: {:.3g} MB come from it, and all buffers together have "
        "{:.3g} MB; L2 ({:.3g} MB) has lost them before they are wanted again.",
        read / there, 1e-6 * read, 1e-6 * there, 1e-6 * facts.run.gpu.l2_bytes);
    finding.evidence = fmt::format("dram_read_bytes {:.0f}, normal at most {:.0f}", read, there);
    finding.change =
        "Work in tiles that fit: let blocks that run at the same time share their inputs, and use an element "
        "from shared memory or registers as often as it is needed once it is there.";
    finding.what_if = "l2-hits";
    finding.gain = dram * (1 - there / read);
    findings.push_back(finding);
}

void find_full_queues(const Facts& facts, Findings& findings) {
    const double global = facts.share(StallReason::lg_throttle), near = facts.share(StallReason::mio_throttle);
    if (std::max(global, near) < 0.15) return;
    const bool is_global = global >= near;
    Finding finding = finding_at(facts, "full-queues",
                                 facts.longest_wait(is_global ? StallReason::lg_throttle : StallReason::mio_throttle));
    finding.sentence = fmt::format(
        "The queue for instructions of {} is full in {:.0f} % of the warps' cycles: there are more of "
        "them than it can hand on.",
        is_global ? "global memory" : "shared memory and shuffles", 100 * std::max(global, near));
    finding.evidence = fmt::format("stall_{} {:.3g} %, normal below 15 %", is_global ? "lg_throttle" : "mio_throttle",
                                   100 * std::max(global, near));
    finding.change =
        "Move more with each instruction: float4 instead of float, several outputs a thread from one load, "
        "values kept in registers.";
    finding.gain = std::min(std::max(global, near), facts.room());
    findings.push_back(finding);
}

void find_constants(const Facts& facts, Findings& findings) {
    // Tables of a library function are not the caller's to move: find_functions tells of those.
    std::set<uint32_t> of_library;
    for (const LibraryCall& call : library_calls(facts.program)) of_library.insert(call.pcs.begin(), call.pcs.end());
    const auto apart = facts.lines(
        [&](const ptx::DecodedInstruction& in, const InstructionCounters& c) {
            const auto pc = static_cast<uint32_t>(&in - facts.program.instructions.data());
            return c.constant_addresses >= 2 * c.constant_requests && c.constant_requests > 0 && !of_library.contains(pc);
        },
        [](const LineSum& line) { return line.sum.constant_addresses - line.sum.constant_requests; });
    uint64_t requests = 0, addresses = 0;
    for (const LineSum& line : apart) {
        requests += line.sum.constant_requests;
        addresses += line.sum.constant_addresses;
    }
    const double cycles = std::max<double>(1, static_cast<double>(facts.result.totals.active_cycles));
    const double turns = static_cast<double>(addresses - requests) / cycles;
    if (turns >= 0.15) {  // a table that each block copies once takes less
        Finding finding = finding_at(facts, "constants", apart.front().place);
        for (const LineSum& line : apart)
            if (line.place.first == apart.front().place.first && line.place.second != finding.line)
                finding.more_lines.push_back(line.place.second);
        finding.sentence = fmt::format(
            "The threads of a warp read {:.3g} different constants with one load here, and the constant cache gives them "
            "out "
            "one after the other, an address a cycle.",
            ratio(addresses, requests));
        finding.evidence = fmt::format(
            "addresses a load of constants {:.3g}, normal 1; they take their turn in {:.0f} % of the "
            "cycles",
            ratio(addresses, requests), 100 * std::min(1.0, turns));
        finding.change =
            "A table whose index differs from thread to thread belongs to global memory (const float *__restrict__) or, if "
            "it "
            "is small, to shared memory, copied there once a block: __constant__ memory is for what all threads read "
            "together.";
        finding.what_if = "one-constant";
        finding.gain = std::min(0.95, turns);
        findings.push_back(finding);
        return;
    }
    const double waits = facts.share(StallReason::imc_miss);
    if (waits < 0.1) return;
    Finding finding = finding_at(facts, "constants", facts.longest_wait(StallReason::imc_miss));
    finding.sentence = fmt::format(
        "Warps wait for constants in {:.0f} % of their cycles: those that they name are not in the nearest constant cache, "
        "which has {} bytes.",
        100 * waits, with_commas(uint32_t{facts.run.gpu.constant_l1_bytes}));
    finding.evidence = fmt::format("stall_imc_miss {:.3g} %, normal below 10 %", 100 * waits);
    finding.change =
        "Walk through a large table in order and with all warps together, so that a line is used while it is there, or keep "
        "it in global or shared memory.";
    finding.gain = waits;
    findings.push_back(finding);
}

void find_fences(const Facts& facts, Findings& findings) {
    const double waits = facts.share(StallReason::membar);
    if (waits < 0.1) return;
    Finding finding = finding_at(facts, "fences", facts.longest_wait(StallReason::membar));
    finding.sentence = fmt::format("Warps wait at memory fences in {:.0f} % of their cycles.", 100 * waits);
    finding.evidence = fmt::format("stall_membar {:.3g} %, normal below 10 %", 100 * waits);
    finding.change =
        "Let one thread of a block do the fence, behind a __syncthreads(), and use __threadfence_block() where the "
        "reader is in the same block.";
    finding.gain = waits;
    findings.push_back(finding);
}

}  // namespace lockstep::model::advice
