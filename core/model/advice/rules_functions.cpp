// The rule about the long functions of the math library: sinf, powf and their like, which have short versions.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/model/advice/facts.h"
#include "core/model/lowering/library_calls.h"

namespace lockstep::model::advice {
namespace {

// The calls of one family in one line, added up.
struct CallsOfLine {
    const LibraryFamily* family = nullptr;
    Place place;
    uint64_t calls = 0, slots = 0, waited = 0;  // warps that called; issue slots; warp-cycles
    uint64_t long_way = 0;                      // warp instructions on an array in local memory: of very large angles
};

std::vector<CallsOfLine> calls_by_line(const Facts& facts) {
    std::map<std::pair<const LibraryFamily*, Place>, CallsOfLine> table;
    for (const LibraryCall& call : library_calls(facts.program)) {
        CallsOfLine& line = table[{call.family, {call.file, call.line}}];
        line.family = call.family;
        line.place = {call.file, call.line};
        if (call.carrier < facts.result.instructions.size()) line.calls += facts.result.instructions[call.carrier].issues;
        for (const uint32_t pc : call.pcs) {
            if (pc >= facts.result.instructions.size()) continue;
            const InstructionCounters& counters = facts.result.instructions[pc];
            line.slots += counters.issues * facts.slots_of(pc);
            for (const uint64_t cycles : counters.stalls) line.waited += cycles;
            if (facts.program.instructions[pc].space == ptx::Space::local) line.long_way += counters.issues;
        }
    }
    std::vector<CallsOfLine> lines;
    for (auto& [key, line] : table)
        if (line.calls > 0) lines.push_back(line);
    std::stable_sort(lines.begin(), lines.end(),
                     [](const CallsOfLine& a, const CallsOfLine& b) { return a.waited > b.waited; });
    return lines;
}

// Which of the family's names a line of source has in front of a parenthesis, in the order of the line.
std::vector<const LibraryFamily::Name*> names_in(const std::string& line, const LibraryFamily& family) {
    std::vector<const LibraryFamily::Name*> found;
    for (size_t at = line.find('('); at != std::string::npos; at = line.find('(', at + 1)) {
        size_t begin = at;
        while (begin > 0 && is_name(line[begin - 1])) --begin;
        const std::string_view name = std::string_view(line).substr(begin, at - begin);
        for (const LibraryFamily::Name& each : family.names)
            if (each.accurate == name && std::find(found.begin(), found.end(), &each) == found.end()) found.push_back(&each);
    }
    return found;
}

struct Words {
    std::string called, fast;  // "sinf() and cosf()", "__sinf() and __cosf()"
    bool many = false;
};
Words words_of(const Facts& facts, const CallsOfLine& line) {
    const std::string file = facts.file_of(line.place);
    const bool python = file.size() > 3 && file.ends_with(".py");
    Words words;
    std::string called, fast;
    const auto names = names_in(facts.text_of_line(line.place), *line.family);
    for (size_t k = 0; k < names.size(); ++k) {
        const std::string_view between = k == 0 ? "" : k + 1 == names.size() ? " and " : ", ";
        std::string device(names[k]->fast.substr(2));  // libdevice.fast_sinf, as Numba and Triton call it
        words.called += fmt::format("{}{}()", between, names[k]->accurate);
        words.fast +=
            python ? fmt::format("{}libdevice.fast_{}()", between, device) : fmt::format("{}{}()", between, names[k]->fast);
    }
    words.many = names.size() > 1;
    if (names.empty()) {
        words.called = fmt::format("A {} of the math library", line.family->words);
        words.fast = "the short version (two underscores in front of the name)";
    }
    return words;
}

}  // namespace

void find_functions(const Facts& facts, Findings& findings) {
    const std::vector<CallsOfLine> lines = calls_by_line(facts);
    uint64_t slots = 0, calls = 0;
    double waited = 0;
    for (const CallsOfLine& line : lines) {
        slots += line.slots;
        calls += line.calls;
        waited += static_cast<double>(line.waited);
    }
    if (facts.warp_cycles <= 0 || waited < 0.4 * facts.warp_cycles || 5 * slots < facts.slots) return;
    const LaunchTotals& totals = facts.result.totals;
    if (calls < 2 * totals.blocks * ((totals.threads_per_block + 31) / 32)) return;  // one a thread is no matter
    std::set<const LibraryFamily*> told;
    for (const CallsOfLine& line : lines) {
        if (!told.insert(line.family).second) continue;
        CallsOfLine all = line;
        Finding finding = finding_at(facts, "long-functions", line.place);
        for (const CallsOfLine& other : lines) {
            if (&other == &line || other.family != line.family) continue;
            all.calls += other.calls, all.slots += other.slots, all.waited += other.waited, all.long_way += other.long_way;
            if (other.place.first == line.place.first) finding.more_lines.push_back(other.place.second);
        }
        const Words words = words_of(facts, line);
        const double each = part(all.slots, all.calls), share = static_cast<double>(all.waited) / facts.warp_cycles;
        finding.sentence = fmt::format(
            "{} {} no instruction of the GPU but some {:.0f} of them a call, and take{} {:.0f} % of the "
            "warps' cycles.{}",
            words.called, words.many ? "are" : "is", each, words.many ? "" : "s", 100 * share,
            all.long_way > 0 ? " Angles beyond 105,615 go a longer way, by an array in local memory." : "");
        finding.evidence = fmt::format("{} of {} issue slots, {:.3g} a call; {} of {}", all.slots, facts.slots, each,
                                       line.family->slots, words.fast);
        finding.change = fmt::format("Where its error is allowed, call {}, which {}{}.", words.fast, line.family->precision,
                                     all.long_way > 0 ? "; bring large angles near zero first" : "");
        finding.what_if = "short-functions";
        const double special = 32.0 / std::max(1.0, double(facts.run.gpu.sfu_lanes)) * line.family->special;
        const double rest = std::min(1.0, std::max<double>(line.family->slots, special) / std::max(1.0, each));
        finding.gain = std::min(facts.room_beside_memory(), share * (1 - rest));
        findings.push_back(finding);
    }
}

}  // namespace lockstep::model::advice
