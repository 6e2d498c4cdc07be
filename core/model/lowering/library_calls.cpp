#include "core/model/lowering/library_calls.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/ptx/opcodes/facts.h"

namespace lockstep::model {
namespace {

using ptx::DecodedInstruction;
using ptx::Kind;
using ptx::Space;

constexpr LibraryFamily::Name circle_names[] = {{"sinf", "__sinf"},       {"cosf", "__cosf"},     {"tanf", "__tanf"},
                                                {"sincosf", "__sincosf"}, {"sin", "__sinf"},      {"cos", "__cosf"},
                                                {"tan", "__tanf"},        {"sincos", "__sincosf"}};
constexpr LibraryFamily::Name power_names[] = {{"powf", "__powf"}, {"pow", "__powf"}};
constexpr LibraryFamily::Name logarithm_names[] = {{"logf", "__logf"}, {"log2f", "__log2f"}, {"log10f", "__log10f"},
                                                   {"log", "__logf"},  {"log2", "__log2f"},  {"log10", "__log10f"}};

// Slots: those of sin.approx, lg2.approx and ex2.approx with the multiplications beside them (lowering_sequence.cpp). The
// precisions are those of the CUDA C++ Programming Guide, intrinsic functions (recalled).
constexpr LibraryFamily circle = {"sine, cosine or tangent", circle_names, 2, 1,
                                  "is good to about 2^-21 between -pi and pi, and less so beyond"};
constexpr LibraryFamily power = {"power", power_names, 9, 2,
                                 "is exp2(y * log2(x)) of the special function units, whose error grows with y"};
constexpr LibraryFamily logarithm = {"logarithm", logarithm_names, 5, 1,
                                     "is good to about 2^-21 between 0.5 and 2, and to 3 units in the last place beyond"};

// What stands in the text of its instructions: the constant with which it begins, the one of an instruction that is executed
// whichever way a call takes, one that no other function has, and all others by which its instructions are known.
struct Signature {
    const LibraryFamily* family;
    std::string_view begins, carries, only;
    std::span<const std::string_view> all;
};
constexpr std::string_view circle_device[] = {
    "0f3F22F983", "0fBFC90FDA", "0fB3A22168", "0fA7C234C5", "0f47CE4780", "0f7F800000", "0fB94D4153", "0fBAB607ED",
    "0f37CBAC00", "0f3C0885E4", "0f3D2AAABB", "0fBE2AAAA8", "0fBEFFFFFF", "0fBF800000", "0f3EAAAA88", "0f3A00B43C"};
constexpr std::string_view circle_own[] = {"0f47CE4780", "0f7FC00000", "0f3F22F983", "0fBFC90FDB", "0f333BBD2E",
                                           "0f26F72CED", "0fB94D63CF", "0f3C088613", "0fBE2AAAA9", "0f37CDEB6F",
                                           "0fBAB60968", "0f3D2AAAAA", "0fBF000000"};
constexpr std::string_view power_device[] = {
    "0f4B800000",  "0fC1C00000", "-1060439283", "0f34000000", "0f3B52E7DB", "0f3A2C32E4", "0f3C93BB73", "0f3DF6384F",
    "0f3FB8AA3B",  "0f32A55E34", "0f3AAF85ED",  "0f391FCB8E", "0f3C1D9856", "0f3D6357BB", "0f3E75FDEC", "0f3F317218",
    "-2097152000", "2130706432", "0f43180000",  "0f7F800000", "2139095040", "0f7FFFFFFF"};
constexpr std::string_view power_own[] = {"0f3E124925", "0f3E2AAAAB", "0f3E4CCCCD", "0f3EAAAAAB", "0f3805FDF4",
                                          "0f3F317000", "0f42B8AA3B", "0fBC310000", "0fB7E42FEF", "0f3D2AAAAB",
                                          "0f42B17218", "0fB482E308", "0f7F800000", "0fC2CE8ED0", "1266679807",
                                          "2143289344", "2139095040", "1065353216"};
constexpr std::string_view natural_device[] = {"0f4B000000", "0fC1B80000", "-1059760811", "0f34000000", "0f3E1039F6",
                                               "0fBE055027", "0fBDF8CDCC", "0f3E0F2955",  "0fBE2AD8B9", "0f3E4CED0B",
                                               "0fBE7FFF22", "0f3EAAAA78", "0f3F317218",  "2139095040", "0f7F800000",
                                               "0f3EDE5BD9", "0fFF800000"};
constexpr std::string_view binary_device[] = {"0f4B000000", "0fC1B80000", "-1060439283", "0f34000000", "0fBE2C7F30",
                                              "0f3DC6B27F", "0f3E2FCF2A", "0fBE374E43",  "0f3E520BF4", "0fBE763C8B",
                                              "0f3E93BF99", "0fBEB8AA49", "0f3EF6384A",  "0fBF38AA3B", "0f3FB8AA3B",
                                              "2139095040", "0f7F800000", "0fFF800000"};
constexpr Signature signatures[] = {
    {&circle, "0f3F22F983", "0f3F22F983", "0fB3A22168", circle_device},
    {&circle, "0f47CE4780", "0f47CE4780", "0f333BBD2E", circle_own},
    {&power, "0f4B800000", "0f4B800000", "0f43180000", power_device},
    {&power, "0f3E124925", "0f42B8AA3B", "0f3805FDF4", power_own},
    {&logarithm, "0f4B000000", "0f4B000000", "0f3E1039F6", natural_device},
    {&logarithm, "0f4B000000", "0f4B000000", "0fBE2C7F30", binary_device},
};

std::string_view text_at(const ptx::Program& program, uint32_t pc) {
    if (pc >= program.texts.size()) return {};
    return std::string_view(program.ptx).substr(program.texts[pc].begin, program.texts[pc].length);
}

// Whether an instruction can be one of a function that has no effect but its result.
bool may_belong(const DecodedInstruction& in, bool has_table) {
    switch (in.kind) {
        case Kind::lane_wise:
        case Kind::lane_wise_many:  // divisions and roots that are sequences are the caller's
            return ptx::facts_of(in).sequences.empty() || in.approximate;
        case Kind::special_register:
        case Kind::branch:
            return true;
        case Kind::load:  // libdevice keeps the digits of 2 / pi in global memory, whole numbers
            return in.space == Space::local || in.space == Space::constant ||
                   (has_table && in.space == Space::global && in.type == ptx::Type::u32);
        case Kind::store:
            return in.space == Space::local;
        default:
            return false;
    }
}

struct Known {
    uint32_t at;  // a place in the line's list of instructions
    bool begins, carries;
};

// The calls of one function in the instructions of a line.
void find_calls(const ptx::Program& program, const std::vector<uint32_t>& line, const Signature& signature,
                std::vector<LibraryCall>& calls) {
    std::vector<Known> known;
    bool is_there = false, has_table = false;
    for (uint32_t at = 0; at < line.size(); ++at) {
        const std::string_view text = text_at(program, line[at]);
        const auto has = [&](std::string_view constant) { return text.find(constant) != std::string_view::npos; };
        is_there = is_there || has(signature.only);
        has_table = has_table || has("__cudart_i2opi_f");
        if (std::any_of(signature.all.begin(), signature.all.end(), has))
            known.push_back({at, has(signature.begins), has(signature.carries)});
    }
    if (!is_there) return;
    for (size_t k = 0; k < known.size();) {
        size_t end = k;  // the instructions in front of the first begin belong to the first call
        while (end < known.size() && !known[end].begins) ++end;
        if (end < known.size()) ++end;
        while (end < known.size() && !known[end].begins) ++end;
        LibraryCall call;
        call.family = signature.family;
        call.file = program.instructions[line.front()].file;
        call.line = program.instructions[line.front()].line;
        bool carried = false;
        for (size_t each = k; each < end && !carried; ++each)
            if (known[each].carries) call.carrier = line[known[each].at], carried = true;
        for (uint32_t at = known[k].at; at <= known[end - 1].at; ++at)
            if (may_belong(program.instructions[line[at]], has_table)) call.pcs.push_back(line[at]);
        if (carried) calls.push_back(std::move(call));
        k = end;
    }
}

}  // namespace

std::vector<LibraryCall> library_calls(const ptx::Program& program) {
    std::vector<const Signature*> here;  // most programs have none, which is seen at once
    for (const Signature& signature : signatures)
        if (program.ptx.find(signature.only) != std::string::npos) here.push_back(&signature);
    if (here.empty()) return {};
    std::map<std::pair<int32_t, int32_t>, std::vector<uint32_t>> lines;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc)
        lines[{program.instructions[pc].file, program.instructions[pc].line}].push_back(pc);
    std::vector<LibraryCall> calls;
    for (const auto& [place, line] : lines)
        for (const Signature* const signature : here) find_calls(program, line, *signature, calls);
    std::stable_sort(calls.begin(), calls.end(),
                     [](const LibraryCall& a, const LibraryCall& b) { return a.carrier < b.carrier; });
    return calls;
}

}  // namespace lockstep::model
