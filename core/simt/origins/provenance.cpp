// From a wrong address to its cause. The address is a pointer and bytes behind it; what those were made of is a tree of
// instructions (value_tree.h), which also shows whether a step on the way did not fit 32 bits.
#include "core/simt/origins/provenance.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <numeric>

#include "core/base/units.h"
#include "core/simt/check/faults.h"
#include "core/simt/origins/strayed.h"
#include "core/simt/origins/thread_index.h"
#include "core/simt/origins/value_tree.h"

namespace lockstep::simt {

namespace {

using ptx::Space;
using Is = ValueNode::Is;

constexpr size_t longest_expression = 90;

std::string in_quotes(const std::string& name) {
    return "'" + name + "'";
}
std::string commas(int64_t value) {
    return with_commas(value);
}

struct Pointed {  // what a wrong access was meant for
    std::string name;
    uint64_t begin = 0, bytes = 0;  // of the allocation, or of the shared variable as an offset
    uint64_t value = 0;             // of the pointer
    bool shared = false;            // a variable in shared memory: each block has its own
};

// The elements as the kernel counts them.
struct Elements {
    int64_t size = 0;                 // bytes of one
    int64_t index = 0, member = 0;    // of the access; bytes into the element
    int64_t count = 0;                // behind the pointer
    const ValueNode* node = nullptr;  // of the index, where it is one value
    int64_t shift = 0;                // elements added to it
};

Elements elements_of(const AddressSum& sum, const Pointed& to, const WrongAccess& access) {
    Elements e;
    for (const AddressSum::Term& term : sum.terms) e.size = std::gcd(e.size, term.scale);
    const bool tells = e.size > 0 && e.size <= (1 << 20) && (e.size > 1 || access.bytes == 1);
    if (!tells) e.size = access.bytes;
    const auto behind = static_cast<int64_t>(access.address - to.value);
    e.index = behind / e.size - (behind % e.size < 0 ? 1 : 0);
    e.member = behind - e.index * e.size;
    e.count = static_cast<int64_t>(to.begin + to.bytes - to.value) / e.size;
    if (tells && sum.terms.size() == 1 && sum.terms[0].scale == e.size) {
        e.node = &sum.terms[0].node;
        e.shift = (sum.bytes - (sum.bytes % e.size + e.size) % e.size) / e.size;
    }
    return e;
}

// "blockIdx.x * blockDim.x + threadIdx.x + 1"; "" where it would say no more than the number.
std::string index_text(const ValueTrees& trees, const Elements& e) {
    if (!e.node) return {};
    const ValueNode* inner = e.node;
    while (inner->is == Is::widened) inner = &inner->of[0];
    if (inner->is == Is::value || inner->is == Is::number || (inner->is == Is::loaded && inner->name.empty())) return {};
    std::string text = trees.text_of(*e.node);
    if (e.shift > 0) text += " + " + std::to_string(e.shift);
    if (e.shift < 0) text += " - " + std::to_string(-e.shift);
    const bool names = std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
    return names && text.size() <= longest_expression ? text : std::string();  // "1024 * 8" says less than the number
}

bool holds_loaded(const ValueNode& node, std::string& from) {
    if (node.is == Is::loaded) {
        from = node.name;
        return true;
    }
    return std::any_of(node.of.begin(), node.of.end(), [&](const ValueNode& below) { return holds_loaded(below, from); });
}

// The operation below that divides by zero, or null.
const ValueNode* zero_division(const ValueNode& node) {
    if ((node.is == Is::divide || node.is == Is::remainder) && node.of[1].bits == 0) return &node;
    for (const ValueNode& below : node.of)
        if (const ValueNode* const found = zero_division(below)) return found;
    return nullptr;
}

std::string element_text(const Pointed& to, const Elements& e, const WrongAccess& access) {
    const std::string elements = commas(e.count) + (e.count == 1 ? " element" : " elements");
    const bool unnamed = to.name.find(' ') != std::string::npos;  // "argument 2"
    const std::string name =
        (unnamed ? "element " + commas(e.index) : to.name + "[" + std::to_string(e.index) + "]") + " of " + elements;
    if (e.member == 0 && static_cast<int64_t>(access.bytes) == e.size) return name;
    const std::string sized = name + " of " + bytes_text(static_cast<uint64_t>(e.size));
    return e.member == 0 ? sized : "byte " + std::to_string(e.member) + " of " + sized;
}

std::string distance_text(const Pointed& to, const WrongAccess& access) {
    const std::string name = in_quotes(to.name) + " (" + bytes_text(to.bytes) + ")";
    const auto before = static_cast<int64_t>(to.begin - access.address);
    if (before > 0) return ", " + bytes_text(static_cast<uint64_t>(before)) + " before the start of " + name;
    const uint64_t end = to.begin + to.bytes, past = access.address + access.bytes - end;
    if (access.address >= end + access.bytes) return ", " + bytes_text(access.address - end) + " past the end of " + name;
    return " that reaches " + bytes_text(past) + " past the end of " + name;
}

// ": (r0 + blockIdx.y) * cols at line 4 is 30,000 * 100,000 = 3,000,000,000, more than an int holds, and became
// -1,294,967,296", with what mends it.
std::string wrapped_text(const ValueTrees& trees, const Wrapped& wrapped, std::string& advice) {
    ValueNode shown = *wrapped.node;
    Wrapped::Wide exact = wrapped.exact;
    const auto value = [&](const ValueNode& node) {
        return wrapped.as_unsigned && node.is != Is::number ? Wrapped::Wide{node.bits} : Wrapped::Wide{node.as_signed()};
    };
    if (shown.is == Is::multiply_add) {
        const Wrapped::Wide product = value(shown.of[0]) * value(shown.of[1]);
        const Wrapped::Wide most = wrapped.as_unsigned ? Wrapped::Wide{UINT32_MAX} : Wrapped::Wide{INT32_MAX};
        if (product > most || product < (wrapped.as_unsigned ? Wrapped::Wide{0} : Wrapped::Wide{INT32_MIN})) {
            shown.is = Is::multiply;
            shown.bits = static_cast<uint32_t>(product);
            shown.of.pop_back();
            exact = product;
        }
    }
    const char* const sign = shown.is == Is::multiply || shown.is == Is::multiply_add ? " * "
                             : shown.is == Is::subtract                               ? " - "
                             : shown.is == Is::shift_left                             ? " << "
                                                                                      : " + ";
    std::string numbers = text_of_wide(value(shown.of[0])) + sign + text_of_wide(value(shown.of[1]));
    if (shown.is == Is::multiply_add) numbers += " + " + text_of_wide(value(shown.of[2]));
    if (shown.is == Is::add && value(shown.of[1]) < 0)
        numbers = text_of_wide(value(shown.of[0])) + " - " + text_of_wide(-value(shown.of[1]));
    std::string expression = trees.text_of(shown);
    if (expression.size() > longest_expression) expression = "a value of its index";
    const std::string where = " at " + place_of(trees.program(), shown.pc);
    if (wrapped.as_unsigned && exact < 0) {
        advice = "Guard it so that nothing is taken from an unsigned number that is too small, or make it an int.";
        return ": " + expression + where + " is " + numbers + ", which is below zero, and as an unsigned int it became " +
               commas(static_cast<int64_t>(shown.bits));
    }
    const std::string first = trees.text_of(shown.of[0]);
    const bool plain = first.find(' ') == std::string::npos;
    advice = "Compute it in 64 bits: write (size_t)" + (plain ? first : "(" + first + ")") +
             (first.size() > longest_expression ? " in front of its first operand."
                                                : " there, or make the variables size_t "
                                                  "or long long.");
    const auto became = wrapped.as_unsigned ? static_cast<int64_t>(shown.bits) : shown.as_signed();
    return ": " + expression + where + " is " + numbers + " = " + text_of_wide(exact) + ", more than an " +
           (wrapped.as_unsigned ? "unsigned int" : "int") + " holds, and became " + commas(became);
}

// "n" where a number that the launch was given says how many elements there are, else the number.
std::string count_text(const ValueTrees& trees, int64_t count) {
    const ptx::Program& program = trees.program();
    const LaunchConfig& config = *trees.warp().block->grid->config;
    for (size_t k = 0; trees.knows_names() && k < program.parameters.size(); ++k) {
        const ptx::Parameter& p = program.parameters[k];
        int32_t value = 0;
        if (p.bytes != sizeof value || p.offset + p.bytes > config.parameters.size()) continue;
        std::memcpy(&value, config.parameters.data() + p.offset, sizeof value);
        if (value == count && p.type != ptx::Type::f32) return trees.parameter_text(static_cast<int32_t>(k), 0);
    }
    return std::to_string(count);
}

bool has_word(const std::string& text, const std::string& word) {
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
    for (size_t at = text.find(word); at != text.npos && !word.empty(); at = text.find(word, at + 1)) {
        const size_t end = at + word.size();
        if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
    }
    return false;
}

std::string advice_for_index(const ValueTrees& trees, uint32_t pc, const Pointed& to, const Elements& e) {
    if (const ValueNode* const division = e.node ? zero_division(*e.node) : nullptr)
        return "Test the divisor at " + place_of(trees.program(), division->pc) + ": " + trees.text_of(*division) +
               " divides by zero, which gives all bits set.";
    if (e.index < 0) {
        std::string from;
        if (e.node && holds_loaded(*e.node, from))
            return "Look at what " + in_quotes(from.empty() ? "that memory" : from) + " holds.";
        const std::string text = index_text(trees, e);
        return text.empty() ? "Let only threads come here whose index is not below 0."
                            : "Let only threads come here for which " + text + " >= 0 holds.";
    }
    const LaunchConfig& config = *trees.warp().block->grid->config;
    const auto blocks = static_cast<int64_t>(config.grid.count()), threads = static_cast<int64_t>(config.block.count());
    if (e.count <= 0) return {};
    if (!e.node) {
        const auto sides = [](const Dim3& g, const Dim3& b) {
            return std::to_string(uint64_t{g.x} * b.x) +
                   (g.y * b.y > 1 || g.z * b.z > 1 ? " x " + std::to_string(uint64_t{g.y} * b.y) : "") +
                   (g.z * b.z > 1 ? " x " + std::to_string(uint64_t{g.z} * b.z) : "");
        };
        return "The launch has " + sides(config.grid, config.block) +
               " threads: look whether those of the last blocks are kept from what is not there, and where loops end.";
    }
    std::string from;
    if (holds_loaded(*e.node, from))
        return "The index was read from " + (from.empty() ? "memory" : in_quotes(from)) + ": only 0 to " +
               commas(e.count - 1) + " are good there.";
    if (const std::string swapped = e.node ? advice_for_swapped(trees, pc, *e.node, e.count) : std::string();
        !swapped.empty())
        return swapped;
    const int64_t value = e.index - e.shift;
    const std::string text = index_text(trees, e);
    std::string count = count_text(trees, e.count);
    if (has_word(text, count)) count = std::to_string(e.count);  // "i + n < n" holds for nobody
    const std::string condition = "if (" + (text.empty() ? "i" : text) + " < " + count + ")";
    if (const auto guard = guard_of(trees, *e.node, pc, value)) {
        const int64_t limit = guard->limit.as_signed();
        std::string name = trees.text_of(guard->limit);
        const std::string is = name == std::to_string(limit) ? name : name + " (" + commas(limit) + ")";
        const std::string at = "The comparison with " + is + " at " + place_of(trees.program(), guard->pc);
        if (limit == value && e.shift == 0)
            return at + " lets an index of " + commas(limit) + " through: write < instead of <=.";
        if (limit > e.count)
            return at + " lets too many through: " + in_quotes(to.name) + " has " + commas(e.count) + " elements.";
        return at + " is not enough: " + condition + " would be.";
    }
    if (to.shared && threads > e.count && text.find("threadIdx") != std::string::npos)
        return "The block has " + commas(threads) + " threads, and " + in_quotes(to.name) + " has room for " +
               commas(e.count) + " elements: make it as large as the block, or launch blocks of at most " + commas(e.count) +
               " threads.";
    return (!to.shared && blocks * threads > e.count
                ? "The launch has " + commas(blocks * threads) + " threads: guard the access with "
                : "Guard the access with ") +
           condition + ".";
}

// Where an index that is near the top of an unsigned int was counted down to below zero: "i - 1" in a loop, of which the
// value before is gone. {}: it was not.
std::optional<uint32_t> counted_below_zero(const ValueTrees& trees, const ValueNode& node) {
    constexpr uint64_t just_below = UINT32_MAX - 4096;
    if (node.is == Is::value && node.bytes == 4 && node.bits >= just_below && ptx::is_register(node.reg))
        for (uint32_t pc = 0; pc < trees.program().instructions.size(); ++pc) {
            const ptx::DecodedInstruction& i = trees.program().instructions[pc];
            const bool adds = i.opcode != nullptr && (i.opcode->name == "add" || i.opcode->name == "sub");
            if (!adds || i.destination[0] != node.reg || i.source[0] != node.reg || ptx::is_register(i.source[1])) continue;
            const auto step = static_cast<int32_t>(trees.bits_of(i.source[1], 4));
            if ((i.opcode->name == "add" ? step : -step) < 0) return pc;
        }
    for (const ValueNode& below : node.of)
        if (const auto found = counted_below_zero(trees, below)) return found;
    return {};
}

// What the bytes behind the pointer say, for global and shared memory alike.
void explain_index(const ValueTrees& trees, uint32_t pc, const AddressSum& sum, const Pointed& to, const WrongAccess& access,
                   Provenance& told) {
    for (const AddressSum::Term& term : sum.terms)
        if (const auto wrapped = find_wrapped(term.node, term.as_unsigned)) {
            told.reason += wrapped_text(trees, *wrapped, told.advice);
            return;
        }
    const Elements e = elements_of(sum, to, access);
    if (e.count <= 0 && to.bytes > 0) return;
    told.reason += ": " + element_text(to, e, access);
    if (const auto down = e.node ? counted_below_zero(trees, *e.node) : std::nullopt; down && e.index >= e.count) {
        told.reason += ", whose index was counted down below zero at " + place_of(trees.program(), *down) +
                       ", and as an unsigned int became " + commas(e.index);
        told.advice =
            "An unsigned number is never below zero, so a condition such as i >= 0 always holds: make the index an int, or "
            "count with while (i-- > 0).";
        return;
    }
    const std::string text = index_text(trees, e);
    if (!text.empty()) told.reason += ", whose index is " + text;
    told.advice = advice_for_index(trees, pc, to, e);
    if (text.empty() || e.node->of.empty()) return;
    const Strayed step = strayed_of(trees, *e.node, e.index, e.count);
    if (!step.words.empty()) told.reason += ", where " + step.words;
    if (e.index < 0 && !step.argument.empty())
        told.advice = "Look at what the launch passes for " + in_quotes(step.argument) +
                      ", or let only threads come here for "
                      "which " +
                      text + " >= 0 holds.";
}

// The operand of `pc` that an access of this space goes through.
std::optional<ptx::MemoryOperand> operand_of(const ptx::Program& program, uint32_t pc, Space space, bool is_store) {
    std::optional<ptx::MemoryOperand> found;
    for (const ptx::MemoryOperand& operand : ptx::memory_of(program, program.instructions[pc])) {
        if (operand.space != space && operand.space != Space::generic &&
            !(space == Space::global && operand.space == Space::constant))
            continue;
        if (!found || (is_store ? operand.writes : operand.reads)) found = operand;
    }
    return found;
}

AddressSum sum_of_operand(const ValueTrees& trees, const ptx::MemoryOperand& operand) {
    AddressSum sum;
    if (ptx::is_register(operand.base)) sum = sum_of(trees.of(operand.base, operand.base_bytes));
    sum.bytes += operand.offset;
    return sum;
}

// A pointer in 8 bytes of memory: "'rows'", the node that reads it.
const ValueNode* loaded_pointer(const ValueNode& node) {
    if (node.is == Is::loaded && node.bytes == 8) return &node;
    if (node.is != Is::add && node.is != Is::subtract && node.is != Is::multiply_add) return nullptr;
    for (const ValueNode& below : node.of)
        if (const ValueNode* const found = loaded_pointer(below)) return found;
    return nullptr;
}

struct Pointer {
    std::string name, called;  // "a"; "'a'", "argument 1", "the pointer in 'rows'"
    uint64_t value = 0;
    bool of_variable = false;  // the pointer stands in, or is, a variable of the module
    bool known = false;
};

Pointer pointer_of(const ValueTrees& trees, uint32_t pc, const ptx::MemoryOperand& operand) {
    Pointer pointer;
    const Grid& grid = *trees.warp().block->grid;
    if (const auto origin = trees.pointer_of(pc, operand)) {
        pointer.known = true;
        if (origin->from == ptx::Origin::From::variable) {
            pointer.of_variable = true;
            pointer.name = readable_variable(trees.program().variables[static_cast<size_t>(origin->index)].name);
            pointer.value = grid.variables[static_cast<size_t>(origin->index)];
        } else {
            const ptx::Parameter& p = trees.program().parameters[static_cast<size_t>(origin->index)];
            const size_t at = size_t{p.offset} + origin->at;
            if (at + 8 > grid.config->parameters.size()) return {};
            std::memcpy(&pointer.value, grid.config->parameters.data() + at, 8);
            pointer.name = trees.parameter_text(origin->index, origin->at);
        }
        pointer.called = trees.knows_names() || pointer.of_variable ? in_quotes(pointer.name) : pointer.name;
        return pointer;
    }
    if (!ptx::is_register(operand.base)) return pointer;
    const ValueNode base = trees.of(operand.base, operand.base_bytes);
    if (const ValueNode* const loaded = loaded_pointer(base)) {
        pointer.known = true;
        pointer.value = loaded->bits;
        pointer.name = loaded->name;
        pointer.called = loaded->name.empty() ? "a pointer that was read from memory"
                                              : "the pointer that was read from " + in_quotes(loaded->name);
        const auto& variables = trees.program().variables;
        pointer.of_variable = std::any_of(variables.begin(), variables.end(), [&](const ptx::GlobalVariable& v) {
            return readable_variable(v.name) == loaded->name;
        });
    }
    return pointer;
}

Provenance explain_global(const ValueTrees& trees, uint32_t pc, const WrongAccess& access) {
    Provenance told;
    const Memory& memory = *trees.warp().block->grid->memory;
    const auto operand = operand_of(trees.program(), pc, Space::global, access.is_store);
    if (!operand) return told;
    const Pointer pointer = pointer_of(trees, pc, *operand);
    if (!pointer.known) return told;
    const AddressSum sum = sum_of_operand(trees, *operand);
    if (pointer.value == 0) {
        told.reason = access.address == 0 ? " through a null pointer" : ", " + hex(access.address) + " from a null pointer";
        if (access.address > 0 && access.address < 65536)
            told.reason = ", " + bytes_text(access.address) + " from a null pointer";
        if (access.address != 0 && access.address >= 65536)
            told.reason = " at " + hex(access.address) + ", through a null pointer and an index";
        told.reason += ": " + pointer.called + " is null";
        told.advice = pointer.of_variable
                          ? "Nothing set it before the launch: --symbol does so here, cudaMemcpyToSymbol in a program."
                          : "Give the kernel memory there, and look whether the call that allocated it succeeded.";
        return told;
    }
    const Allocation* home = memory.find(pointer.value);
    if (!home) {
        const Allocation* const near = memory.nearest(pointer.value);
        if (near && near->freed && pointer.value - near->address < near->bytes) home = near;
        if (near && pointer.value == near->address + near->bytes) home = near;  // the end of an array
    }
    if (!home) {
        const Allocation* const near = memory.nearest(access.address);
        if (near && access.address - near->address < near->bytes) return told;
        told.reason = " at " + hex(access.address) + ", where nothing is allocated: " + pointer.called + " is " +
                      hex(pointer.value) + ", which is no address in the memory of the device";
        told.advice =
            "Most likely it is a pointer of the host, from malloc, new or an array: pass what cudaMalloc gave, and "
            "copy the values there.";
        return told;
    }
    Pointed to{readable_variable(home->name), home->address, home->bytes, pointer.value};
    told.allocation = to.name;
    told.offset = access.address - home->address;
    if (home->freed) {
        told.reason = (access.address - home->address < home->bytes
                           ? " in " + in_quotes(to.name) + " (" + bytes_text(home->bytes) + ")"
                           : distance_text(to, access)) +
                      ", which was freed";
        told.advice = "Free it only when the last kernel that uses it has ended, and do not keep the pointer.";
        return told;
    }
    told.reason = distance_text(to, access);
    if (trees.knows_names() && !pointer.name.empty() && pointer.name != to.name && pointer.called.starts_with("'"))
        told.reason += ", through " + pointer.called;
    if (const Allocation* const there = memory.find(access.address); there && there != home)
        told.reason += ", which is where '" + readable_variable(there->name) + "' lies";
    if (trees.knows_names() && pointer.called.starts_with("'")) to.name = pointer.name;
    explain_index(trees, pc, sum, to, access, told);
    return told;
}

// An extern __shared__ array that the launch made too small.
void advise_more_shared(const AddressSum& sum, const Pointed& to, const WrongAccess& access, const Block& block,
                        Provenance& told) {
    constexpr int64_t most_of_any_gpu = 232'448;  // bytes a block, see gpus.cpp
    const LaunchConfig& config = *block.grid->config;
    int64_t last = sum.bytes - static_cast<int64_t>(to.begin);  // byte behind the variable's first
    for (const AddressSum::Term& term : sum.terms) last += term.scale * most_in_block(term.node, config.block);
    last = std::max(last, static_cast<int64_t>(access.address - to.begin));
    const int64_t wanted = config.dynamic_shared + last + access.bytes - static_cast<int64_t>(to.bytes);
    if (wanted > most_of_any_gpu) return;
    const std::string bytes = std::to_string(wanted);
    told.advice = in_quotes(to.name) + " is extern __shared__, and the launch gives it " + bytes_text(to.bytes) +
                  ": --shared " + bytes + " has room for the threads of a block here, and " + bytes +
                  " as the third number between <<< and >>> in a program.";
}

Provenance explain_shared(const ValueTrees& trees, uint32_t pc, const WrongAccess& access) {
    Provenance told;
    const Block& block = *trees.warp().block;
    const auto operand = operand_of(trees.program(), pc, Space::shared, access.is_store);
    if (!operand || cluster_size(*block.grid) > 1) return told;
    const AddressSum sum = sum_of_operand(trees, *operand);
    const ptx::SharedVariable* variable = nullptr;
    const std::string text = ptx::text_of(trees.program(), pc);
    for (const ptx::SharedVariable& v : trees.program().shared_variables)
        if (readable_variable(v.name) == sum.variable || text.find("[" + v.name) != std::string::npos) variable = &v;
    if (!variable) return told;
    const uint64_t room = block.shared.size() - std::min<uint64_t>(block.shared.size(), variable->offset);
    Pointed to{readable_variable(variable->name), variable->offset, variable->bytes ? variable->bytes : room,
               variable->offset, true};
    WrongAccess seen = access;  // offsets of 32 bits wrap below 0
    if (seen.address > UINT32_MAX / 2 && seen.address <= UINT32_MAX) seen.address |= ~uint64_t{UINT32_MAX};
    told.allocation = to.name;
    told.offset = seen.address - to.begin;
    told.reason = distance_text(to, seen);
    for (const ptx::SharedVariable& v : trees.program().shared_variables)
        if (&v != variable && v.bytes != 0 && access.address >= v.offset && access.address < v.offset + v.bytes)
            told.reason += ", which is where " + in_quotes(readable_variable(v.name)) + " lies";
    if (to.bytes == 0) {
        told.reason += ", which has no bytes in this launch";
        told.advice =
            "It is extern __shared__: the launch has to say how many bytes it has, by --shared here and as the "
            "third number between <<< and >>> in a program.";
        return told;
    }
    explain_index(trees, pc, sum, to, seen, told);
    if (variable->bytes == 0 && !sum.terms.empty() && seen.address >= to.begin + to.bytes - access.bytes + 1)
        advise_more_shared(sum, to, seen, block, told);
    return told;
}

}  // namespace

Provenance provenance_of(const Warp& warp, uint32_t pc, uint32_t lane, const WrongAccess& access) {
    if (pc >= warp.block->grid->program->instructions.size() || warp.registers == nullptr) return {};
    if (access.space != Space::global && access.space != Space::shared) return {};
    const ValueTrees trees(warp, pc, lane);
    return access.space == Space::global ? explain_global(trees, pc, access) : explain_shared(trees, pc, access);
}

Provenance provenance_of_misaligned(const Warp& warp, uint32_t pc, uint32_t lane, const WrongAccess& access) {
    Provenance told;
    if (access.space != Space::global && access.space != Space::shared) return told;
    const uint64_t lies = access.address & (uint64_t{0} - access.address);  // the largest power of two that divides it
    const ValueTrees trees(warp, pc, lane);
    if (access.space == Space::global) {
        const auto operand = operand_of(trees.program(), pc, Space::global, access.is_store);
        const Pointer pointer = operand ? pointer_of(trees, pc, *operand) : Pointer{};
        if (pointer.known && pointer.value != 0) {
            const auto behind = static_cast<int64_t>(access.address - pointer.value);
            const std::string bytes = bytes_text(static_cast<uint64_t>(behind < 0 ? -behind : behind));
            told.reason = pointer.value % access.bytes != 0
                              ? ": " + pointer.called + " itself is none, it was moved before the launch or cast"
                              : ": it is " + bytes + (behind < 0 ? " before " : " behind ") + pointer.called;
        }
    }
    const std::string type = access.bytes == 16 ? " such as float4" : access.bytes == 8 ? " such as float2" : "";
    told.advice = "A type of " + bytes_text(access.bytes) + type +
                  " has to lie at a multiple of its size: let the index before " + "the cast be one, or read pieces of " +
                  bytes_text(lies) + ".";
    return told;
}

}  // namespace lockstep::simt
