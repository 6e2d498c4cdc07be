// Rules about what is computed: lanes that do not take part, slow units, and units that stand idle.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "core/model/advice/facts.h"
#include "core/model/issue/timing.h"
#include "core/model/metrics/roofline.h"

namespace lockstep::model::advice {
namespace {

bool is_f64(const ptx::DecodedInstruction& in) {
    return in.type == ptx::Type::f64 && (in.opcode == nullptr || in.opcode->unit != ptx::Unit::lsu);
}

// Adds what is not there yet.
void add_word(std::vector<std::string>& words, const std::string& word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

// Adds the literals of type double in a line of C++: digits with a point or an exponent, and no f behind them.
void add_double_literals(const std::string& line, std::vector<std::string>& literals) {
    for (size_t i = 0; i < line.size(); ++i) {
        if (line.compare(i, 2, "//") == 0) return;
        const bool begins = std::isdigit(static_cast<unsigned char>(line[i])) ||
                            (line[i] == '.' && i + 1 < line.size() && std::isdigit(static_cast<unsigned char>(line[i + 1])));
        if (!begins) continue;
        if (i > 0 && is_name(line[i - 1])) {
            while (i < line.size() && is_name(line[i])) ++i;
            continue;
        }
        size_t end = i;
        bool real = false;
        const bool hexadecimal = line.compare(i, 2, "0x") == 0 || line.compare(i, 2, "0X") == 0;
        for (; end < line.size(); ++end) {
            const char c = line[end];
            const bool exponent = !hexadecimal && (c == 'e' || c == 'E');
            if (c == '.' || exponent) real = true;
            if (exponent && end + 1 < line.size() && (line[end + 1] == '+' || line[end + 1] == '-')) ++end;
            if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '\'') break;
        }
        const std::string word = line.substr(i, end - i);
        const bool is_float = !word.empty() && (word.back() == 'f' || word.back() == 'F') && !hexadecimal;
        if (real && !is_float) add_word(literals, word);
        i = end;
    }
}

// Adds the functions of <math.h> that compute in double where a float version has another name.
void add_double_functions(const std::string& line, std::vector<std::string>& functions) {
    constexpr std::string_view names[] = {"sin",   "cos",  "tan",  "asin",  "acos",  "atan",  "atan2", "sinh",
                                          "cosh",  "tanh", "exp",  "exp2",  "expm1", "log",   "log2",  "log10",
                                          "log1p", "pow",  "sqrt", "rsqrt", "cbrt",  "hypot", "erf",   "fabs",
                                          "fmin",  "fmax", "fmod", "fma",   "floor", "ceil",  "round"};
    const std::string code = line.substr(0, line.find("//"));
    for (size_t at = code.find('('); at != std::string::npos; at = code.find('(', at + 1)) {
        size_t begin = at;
        while (begin > 0 && is_name(code[begin - 1])) --begin;
        const std::string name = code.substr(begin, at - begin);
        if (std::find(std::begin(names), std::end(names), name) != std::end(names)) add_word(functions, name);
    }
}

// "a, b and c", each with `behind` behind it; of many the first six.
std::string listed(const std::vector<std::string>& words, std::string_view behind) {
    constexpr size_t most = 6;
    const size_t count = words.size() > most ? most : words.size();
    std::string text;
    for (size_t k = 0; k < count; ++k) {
        const bool last = k + 1 == count && count == words.size();
        text += (k == 0 ? "" : last ? " and " : ", ") + words[k] + std::string(behind);
    }
    return count == words.size() ? text : text + fmt::format(" and {} more", words.size() - count);
}

// What makes doubles in the lines that compute in FP64.
struct Doubles {
    std::vector<std::string> literals, functions;
};

std::string cause_of(const Doubles& doubles) {
    const auto& [literals, functions] = doubles;
    std::string cause;
    if (literals.size() == 1)
        cause = fmt::format(" The literal {} is a double, and makes a double of what it meets.", literals[0]);
    else if (!literals.empty())
        cause = fmt::format(" The literals {} are doubles, and make doubles of what they meet.", listed(literals, ""));
    if (!functions.empty())
        cause +=
            fmt::format(" {} of a double compute{} in double.", listed(functions, "()"), functions.size() == 1 ? "s" : "");
    return cause;
}

std::string change_of(const Doubles& doubles) {
    std::string change;
    if (!doubles.literals.empty()) change = "Write " + listed(doubles.literals, "f");
    if (!doubles.functions.empty()) change += (change.empty() ? "Use " : ", and use ") + listed(doubles.functions, "f()");
    return change.empty() ? "Where single precision is enough, compute in float."
                          : change + ", if single precision is enough.";
}

bool is_division(const ptx::DecodedInstruction& in) {
    return in.opcode != nullptr && (in.opcode->name == "div" || in.opcode->name == "rem");
}
bool is_integer(ptx::Type type) {
    return type == ptx::Type::s32 || type == ptx::Type::u32 || type == ptx::Type::s64 || type == ptx::Type::u64 ||
           type == ptx::Type::s16 || type == ptx::Type::u16;
}

// Conversions between float and double: a double beside a float is what makes them.
bool is_double_conversion(const ptx::DecodedInstruction& in) {
    if (in.opcode == nullptr || in.opcode->name != "cvt") return false;
    const auto is = [&](ptx::Type type) { return in.type == type || in.destination_type == type; };
    return is(ptx::Type::f64) && (is(ptx::Type::f32) || is(ptx::Type::f16) || is(ptx::Type::bf16));
}

// Whether an instruction takes the special function units on this GPU.
bool is_special(const Facts& facts, uint32_t pc) {
    if (facts.result.timing == nullptr || pc >= facts.result.timing->size()) return false;
    const Timing& timing = (*facts.result.timing)[pc];
    return !timing.folded && timing.route == ptx::Route::math && timing.pipe == static_cast<uint8_t>(ptx::Unit::xu);
}

// Of the time that the special function units are taken, the shares of what takes them: 1 together.
struct SpecialUse {
    double divisions = 0, doubles = 0, conversions = 0, functions = 0;
};
SpecialUse special_use(const Facts& facts) {
    SpecialUse use;
    double all = 0;
    for (uint32_t pc = 0; pc < facts.result.instructions.size() && pc < facts.program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& in = facts.program.instructions[pc];
        if (in.opcode == nullptr || !is_special(facts, pc)) continue;
        const double taken = static_cast<double>(facts.result.instructions[pc].issues) * (*facts.result.timing)[pc].interval;
        all += taken;
        (is_division(in)            ? use.divisions
         : is_double_conversion(in) ? use.doubles
         : in.opcode->name == "cvt" ? use.conversions
                                    : use.functions) += taken;
    }
    if (all > 0)
        for (double* const share : {&use.divisions, &use.doubles, &use.conversions, &use.functions}) *share /= all;
    return use;
}

}  // namespace

void find_divergence(const Facts& facts, Findings& findings) {
    const double lanes = facts.metric("lanes_per_issue"), lost = 1 - lanes / 32;
    const auto lines =
        facts.lines([](const ptx::DecodedInstruction&, const InstructionCounters& c) { return c.divergent_branches > 0; },
                    [](const LineSum& line) { return line.sum.divergent_branches; });
    if (lost < 0.2 || lines.empty()) return;
    // One branch in front of two long ways splits its warp once, and its loops' branches, which do not, are many.
    const bool at_one = lost >= 0.35 && std::any_of(lines.front().pcs.begin(), lines.front().pcs.end(), [&](uint32_t pc) {
                            const InstructionCounters& c = facts.result.instructions[pc];
                            return 2 * c.divergent_branches >= c.branches;
                        });
    if (!at_one && facts.metric("divergent_branches") < 0.05 * facts.metric("branches")) return;
    const LineSum& line = lines.front();
    Finding finding = finding_at(facts, "divergence", line.place);
    finding.sentence = fmt::format(
        "The branch here splits its warp {} of {} times, and the two sides run one after the other: on "
        "average {:.3g} of 32 lanes take part in an instruction.",
        line.sum.divergent_branches, line.sum.branches, lanes);
    finding.evidence = fmt::format("lanes_per_issue {:.3g}, normal 32", lanes);
    finding.change =
        "Let whole warps go one way: choose by threadIdx.x / 32 instead of threadIdx.x % 2, sort the work by kind, "
        "or compute both sides and select.";
    finding.gain = lost * std::max(0.3, facts.busiest());
    findings.push_back(finding);
}

void find_barriers(const Facts& facts, Findings& findings) {
    const double waits = facts.share(StallReason::barrier);
    if (waits < 0.2) return;
    std::map<Place, uint64_t> waited;  // by the barrier in front of the instruction that waits
    for (uint32_t pc = 1; pc < facts.result.instructions.size() && pc < facts.program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& barrier = facts.program.instructions[pc - 1];
        const uint64_t cycles = facts.result.instructions[pc].stalls[static_cast<size_t>(StallReason::barrier)];
        if (barrier.kind == ptx::Kind::barrier && cycles > 0) waited[{barrier.file, barrier.line}] += cycles;
    }
    const auto most =
        std::max_element(waited.begin(), waited.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    Finding finding = finding_at(facts, "barriers", most == waited.end() ? Place{} : most->first);
    finding.sentence =
        fmt::format("Warps wait at barriers for the others of their block in {:.0f} % of their cycles.", 100 * waits);
    finding.evidence = fmt::format("stall_barrier {:.3g} %, normal below 20 %", 100 * waits);
    finding.change =
        "Fewer barriers (do more between two of them), work that is even among the warps, smaller blocks so that "
        "another block runs meanwhile, or __syncwarp() and shuffles where one warp is enough.";
    finding.gain = waits * (1 - facts.busiest());
    findings.push_back(finding);
}

void find_fp64(const Facts& facts, Findings& findings) {
    const GpuSpec& gpu = facts.run.gpu;
    const double lanes = 0.01 * facts.metric("pipe_fp64"),
                 converts = 0.01 * facts.metric("pipe_xu") * special_use(facts).doubles, busy = std::max(lanes, converts);
    const auto lines =
        facts.lines([](const ptx::DecodedInstruction& in,
                       const InstructionCounters& c) { return (is_f64(in) || is_double_conversion(in)) && c.issues > 0; },
                    [](const LineSum& line) { return line.sum.issues; });
    if (lines.empty() || busy < 0.2) return;
    Place leader = lines.front().place;
    std::vector<Place> with_doubles;
    Doubles doubles;
    for (const LineSum& each : lines) {
        Doubles own;
        add_double_literals(facts.text_of_line(each.place), own.literals);
        add_double_functions(facts.text_of_line(each.place), own.functions);
        if (own.literals.empty() && own.functions.empty()) continue;
        // It stands at the line with a literal that does most, and names the others.
        if (doubles.literals.empty() && !own.literals.empty()) leader = each.place;
        for (const std::string& word : own.literals) add_word(doubles.literals, word);
        for (const std::string& word : own.functions) add_word(doubles.functions, word);
        with_doubles.push_back(each.place);
    }
    Finding finding = finding_at(facts, "fp64", leader);
    for (const Place& place : with_doubles)
        if (place.first == leader.first && place.second != leader.second) finding.more_lines.push_back(place.second);
    const std::string arithmetic = fmt::format(
        "FP64 arithmetic takes its pipe {:.0f} % of the time, and {} has {:.3g} FP64 lanes for {:.3g} FP32 lanes",
        100 * lanes, gpu.title, gpu.sub_cores * double(gpu.fp64_lanes), gpu.sub_cores * double(gpu.fp32_lanes));
    const std::string conversions =
        fmt::format("conversions from float to double and back take the special function units {:.0f} %", 100 * converts);
    finding.sentence =
        (converts < 0.1 ? arithmetic + "."
         : converts > lanes
             ? "C" + conversions.substr(1) + fmt::format(" of the time, and FP64 arithmetic its pipe {:.0f} %.", 100 * lanes)
             : arithmetic + "; " + conversions + " of it.") +
        cause_of(doubles);
    finding.evidence = fmt::format("pipe_fp64 {:.3g} %{}, normal 0 where double precision is not wanted", 100 * lanes,
                                   converts < 0.1 ? "" : fmt::format(", pipe_xu {:.3g} %", facts.metric("pipe_xu")));
    finding.change = change_of(doubles);
    finding.what_if = "fp32";
    finding.gain =
        std::min(facts.room_beside_memory(),
                 std::max(lanes * (1 - std::min(1.0, double(gpu.fp64_lanes) / double(gpu.fp32_lanes))), converts));
    findings.push_back(finding);
}

void find_division(const Facts& facts, Findings& findings) {
    for (const bool integer : {true, false}) {
        const auto lines = facts.lines(
            [&](const ptx::DecodedInstruction& in, const InstructionCounters& c) {
                return is_division(in) && c.issues > 0 && is_integer(in.type) == integer && in.type != ptx::Type::f64 &&
                       !in.approximate;
            },
            [](const LineSum& line) { return line.slots; });
        uint64_t slots = 0;
        for (const LineSum& line : lines) slots += line.slots;
        if (lines.empty() || part(slots, facts.slots) < 0.15) continue;
        Finding finding = finding_at(facts, integer ? "integer-division" : "division", lines.front().place);
        finding.sentence = fmt::format(
            "{} take {:.0f} % of the issue slots: a GPU has no instruction for them, and each stands "
            "for some {:.0f}.",
            integer ? "Integer divisions and remainders" : "Exact divisions", 100 * part(slots, facts.slots),
            part(lines.front().slots, lines.front().sum.issues));
        finding.evidence = fmt::format("{} of {} issue slots; normal below 15 %", slots, facts.slots);
        finding.change =
            integer ? "Divide by a constant or a power of two (a shift), carry index and remainder along in the loop, "
                      "or launch a 2-D grid that has both at hand."
                    : "Multiply by the reciprocal, worked out once, or use __fdividef where its error is allowed.";
        finding.what_if = "short-division";
        finding.gain = std::min(facts.room_beside_memory(), part(slots, facts.slots) * std::max(0.3, facts.busiest()));
        findings.push_back(finding);
    }
}

// By what most of them are between: numbers of two widths, as in __half2float, or integers and numbers.
const char* words_of_conversions(const Facts& facts) {
    uint64_t widths = 0, others = 0;
    for (uint32_t pc = 0; pc < facts.result.instructions.size() && pc < facts.program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& in = facts.program.instructions[pc];
        if (in.opcode == nullptr || in.opcode->name != "cvt" || is_double_conversion(in) || !is_special(facts, pc)) continue;
        const bool widens = !is_integer(in.type) && !is_integer(in.destination_type);
        (widens ? widths : others) += facts.result.instructions[pc].issues;
    }
    return widths > others ? "Conversions between half and single precision"
                           : "Conversions between integers and floating-point numbers";
}

// Divisions and conversions to double take these units too, and have findings of their own.
void find_special(const Facts& facts, Findings& findings) {
    const SpecialUse use = special_use(facts);
    const bool converts = use.conversions > use.functions;
    const double all = 0.01 * facts.metric("pipe_xu"), busy = all * (use.conversions + use.functions);
    if (busy < 0.4) return;
    const auto lines = facts.lines(
        [&](const ptx::DecodedInstruction& in, const InstructionCounters& c) {
            const auto pc = static_cast<uint32_t>(&in - facts.program.instructions.data());
            return in.opcode != nullptr && c.issues > 0 && is_special(facts, pc) && !is_division(in) &&
                   !is_double_conversion(in) && (in.opcode->name == "cvt") == converts;
        },
        [](const LineSum& line) { return line.sum.issues; });
    Finding finding =
        finding_at(facts, converts ? "conversions" : "special-functions", lines.empty() ? Place{} : lines.front().place);
    finding.sentence = fmt::format(
        "{} keep the special function units busy {:.0f} % of the time: they have {:.3g} lanes for {:.3g} "
        "FP32 lanes.",
        converts ? words_of_conversions(facts) : "Special functions (exp, log, sin, reciprocals, roots)", 100 * busy,
        facts.run.gpu.sub_cores * double(facts.run.gpu.sfu_lanes),
        facts.run.gpu.sub_cores * double(facts.run.gpu.fp32_lanes));
    finding.evidence = fmt::format("pipe_xu {:.3g} %, normal below 40 %", 100 * all);
    finding.change =
        converts ? "Convert once, outside of the loop, and keep the value in the type that is needed."
                 : "Take them out of the inner loop (tables, recurrences, exp2f with a factor folded in), or share a "
                   "value among threads.";
    finding.what_if = "fast-math";
    finding.gain = std::min(facts.room_beside_memory(),
                            busy * (1 - std::min(1.0, double(facts.run.gpu.sfu_lanes) / double(facts.run.gpu.fp32_lanes))));
    findings.push_back(finding);
}

void find_code(const Facts& facts, Findings& findings) {
    const double waits = facts.share(StallReason::no_instruction);
    if (waits < 0.15 || facts.result.cycles < 6000) return;  // a short launch always waits for its first instructions
    Finding finding = finding_at(facts, "instruction-cache", facts.longest_wait(StallReason::no_instruction));
    // What no scheduler runs twice cannot be in a cache, whatever that holds.
    uint64_t once = 0, all = 0;
    for (const InstructionCounters& c : facts.result.instructions) {
        const uint64_t waited = c.stalls[static_cast<size_t>(StallReason::no_instruction)];
        all += waited;
        if (c.issues <= uint64_t{facts.run.gpu.sms} * facts.run.gpu.sub_cores) once += waited;
    }
    const bool first_time = 2 * once > all;
    finding.sentence = fmt::format(
        "Warps wait for their next instruction in {:.0f} % of their cycles: {}.", 100 * waits,
        first_time ? "most of the code runs once, and comes from L2 more slowly than a warp alone goes through it"
                   : "the code that runs does not fit the nearest instruction caches");
    finding.evidence = fmt::format("stall_no_instruction {:.3g} %, normal below 15 %; {} PTX instructions", 100 * waits,
                                   facts.program.instructions.size());
    finding.change =
        first_time ? "Unroll less (#pragma unroll 4): what a loop runs again is in the cache. More warps on a scheduler go "
                     "through the same code in one another's waits."
                   : "Unroll less (#pragma unroll 4), and let all warps of a block run the same code at the same time.";
    finding.what_if = "fetched";
    finding.gain = waits * (1 - facts.busiest());
    findings.push_back(finding);
}

namespace {
// Multiply-adds both of whose factors were read from shared memory, as a product of tiles has them, and those of them whose
// factors were halves. PTX has a register for each value, so the last one written in the text is the one that is meant.
struct TileProducts {
    uint64_t issues = 0, of_halves = 0;
    Place place;
};
TileProducts tile_products(const Facts& facts) {
    enum From : uint8_t { elsewhere, shared, shared_half };
    std::map<int32_t, From> from;
    TileProducts found;
    uint64_t most = 0;
    for (uint32_t pc = 0; pc < facts.result.instructions.size() && pc < facts.program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& in = facts.program.instructions[pc];
        const auto of = [&](int32_t reg) {
            const auto known = from.find(reg);
            return known == from.end() ? elsewhere : known->second;
        };
        const bool loads = ptx::facts_of(in).access == ptx::Access::load && in.space == ptx::Space::shared;
        const bool passes = in.opcode != nullptr && (in.opcode->name == "mov" || in.opcode->name == "cvt");
        const auto is_half = [](ptx::Type type) { return type == ptx::Type::f16 || type == ptx::Type::bf16; };
        const bool halves = is_half(in.type) || is_half(in.destination_type);
        if (ptx::facts_of(in).counts == ptx::Counts::multiply_add && in.source[0] != in.source[1]) {
            const From a = of(in.source[0]), b = of(in.source[1]);
            if (const uint64_t issues = facts.result.instructions[pc].issues; a != elsewhere && b != elsewhere) {
                found.issues += issues;
                if (halves || (a == shared_half && b == shared_half)) found.of_halves += issues;
                if (issues > most) most = issues, found.place = {in.file, in.line};
            }
        }
        From made = loads ? shared : passes ? of(in.source[0]) : elsewhere;
        if (made != elsewhere && in.opcode != nullptr && in.opcode->name == "cvt") made = halves ? shared_half : elsewhere;
        for (const int32_t reg : in.destination)
            if (reg != ptx::no_operand) from[reg] = made;
    }
    return found;
}
}  // namespace

// A product in FP32 or FP16 on the ordinary lanes: multiply-adds are much of all that is issued, and what they take comes
// from shared memory or is used several times a load.
void find_idle_tensor_cores(const Facts& facts, Findings& findings) {
    const GpuSpec& gpu = facts.run.gpu;
    if (gpu.fp16_tensor_tflops <= 0 || facts.metric("pipe_tensor") > 0) return;
    const double singles = facts.metric("ffma"), halves = facts.metric("hfma");
    const double multiply_adds = std::max(singles, halves);
    const double all = static_cast<double>(facts.all.executed);
    const TileProducts products = tile_products(facts);
    const bool from_halves = halves <= singles && 2 * products.of_halves > products.issues;
    const bool half = halves > singles || from_halves;
    if (!half && gpu.tf32_tensor_tflops <= 0) return;
    const double loads = static_cast<double>(facts.all.shared_requests + facts.all.requests) * 32;
    const bool many = multiply_adds >= 0.3 * all && facts.metric("pipe_fma") >= 30 && multiply_adds >= loads;
    // The simple product of tiles: two loads from shared memory a multiply-add, of what was loaded once for many threads.
    const bool of_tiles = 10 * products.issues >= facts.slots && facts.all.shared_requests >= 4 * facts.all.requests;
    if (all <= 0 || loads <= 0 || !(many || of_tiles)) return;
    const double now = half && !from_halves ? double(gpu.fp16_tflops) : double(gpu.fp32_tflops),
                 then = half ? double(gpu.fp16_tensor_tflops) : double(gpu.tf32_tensor_tflops);
    if (now <= 0 || then <= now) return;
    const auto lines = facts.lines(
        [&](const ptx::DecodedInstruction& in, const InstructionCounters& c) {
            return c.issues > 0 && ptx::facts_of(in).counts == ptx::Counts::multiply_add;
        },
        [](const LineSum& line) { return line.sum.issues; });
    const Place place = !many && products.issues > 0 ? products.place : lines.empty() ? Place{} : lines.front().place;
    Finding finding = finding_at(facts, "idle-tensor-cores", place);
    finding.sentence = fmt::format(
        "This looks like a product of matrices in {}, and the tensor cores, which do {:.3g} TFLOP/s to the "
        "{:.3g} of the lanes, stand idle.",
        half ? "FP16" : "FP32", then, now);
    finding.evidence = fmt::format("pipe_tensor 0 %, pipe_fma {:.3g} %", facts.metric("pipe_fma"));
    finding.change =
        half ? "Use the tensor cores: nvcuda::wmma, mma.sync or a library."
             : "Use the tensor cores with TF32, whose products keep 10 bits behind the point, where that is enough: "
               "nvcuda::wmma, mma.sync or a library.";
    finding.gain = (1 - now / then) * std::clamp(0.01 * facts.metric("pipe_fma"), 0.0, 1.0);
    findings.push_back(finding);
}

}  // namespace lockstep::model::advice
