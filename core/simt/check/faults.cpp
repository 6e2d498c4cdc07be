// What a fault says: which access went wrong, how far from what, in one sentence.
#include "core/simt/check/faults.h"

#include <algorithm>
#include <cstdio>

#include "core/base/units.h"
#include "core/ptx/decode/views.h"
#include "core/simt/memory/system.h"
#include "core/simt/origins/provenance.h"

namespace lockstep::simt {

std::string hex(uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}
std::string bytes_text(uint64_t n) {
    return (n < 10'000'000 ? std::to_string(n) : with_commas(n)) + (n == 1 ? " byte" : " bytes");
}
std::string triple(const Dim3& d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

namespace {

constexpr uint64_t null_page = 64 * 1024;            // addresses below came from a null pointer plus an index
constexpr uint64_t near_enough = uint64_t{1} << 40;  // beyond it the nearest allocation explains nothing

std::string global_reason(const Memory& memory, uint64_t address, uint32_t bytes) {
    if (address == 0) return " through a null pointer";
    if (address < null_page) return ", " + bytes_text(address) + " from a null pointer";
    const Allocation* a = memory.nearest(address);
    if (!a) return " at " + hex(address) + ", where nothing is allocated";
    const std::string name = "'" + a->name + "' (" + bytes_text(a->bytes) + ")";
    if (address < a->address) {
        const uint64_t gap = a->address - address;
        if (gap > near_enough) return " at " + hex(address) + ", far from every allocation";
        return ", " + bytes_text(gap) + " before the start of " + name;
    }
    if (a->freed && address - a->address < a->bytes) return " in " + name + ", which was freed";
    const uint64_t past = address + bytes - (a->address + a->bytes);
    if (past > near_enough) return " at " + hex(address) + ", far from every allocation";
    return " that reaches " + bytes_text(past) + " past the end of " + name + (a->freed ? ", which was freed" : "");
}

std::string offset_reason(const std::string& of, uint64_t size, uint64_t address, uint32_t bytes) {
    const std::string name = of + " (" + bytes_text(size) + ")";
    const auto before = static_cast<int64_t>(address);
    const auto before32 = static_cast<int32_t>(static_cast<uint32_t>(address));
    if (before < 0) return ", " + bytes_text(uint64_t{0} - address) + " before the start of " + name;
    if (address >> 32 == 0 && before32 < 0) {
        return ", " + bytes_text(uint64_t{0x100000000} - address) + " before the start of " + name;
    }
    return " that reaches " + bytes_text(address + bytes - size) + " past the end of " + name;
}

}  // namespace

Dim3 thread_index(const Warp& warp, uint32_t lane) {
    const Dim3 extent = warp.block->grid->config->block;
    const uint32_t thread = warp.index * warp_size + lane;
    return {thread % extent.x, thread / extent.x % extent.y, thread / extent.x / extent.y};
}

std::string place_of(const ptx::Program& program, uint32_t pc) {
    if (pc >= program.instructions.size()) return "the end of the kernel";
    const auto& i = program.instructions[pc];
    if (i.line <= 0) return "line " + std::to_string(i.ptx_line) + " of the PTX";
    return "line " + std::to_string(i.line);
}

Fault* make_fault(const Warp& warp, uint32_t pc, uint32_t lane, std::string kind, std::string message, uint64_t address) {
    thread_local Fault fault;
    const ptx::Program& program = *warp.block->grid->program;
    fault = Fault{};
    fault.kind = std::move(kind);
    fault.message = std::move(message);
    fault.kernel = program.shown_name();
    fault.pc = pc;
    fault.block = warp.block->index;
    fault.thread = thread_index(warp, lane);
    fault.address = address;
    if (const Allocation* const a = fault.kind == "memcheck" ? warp.block->grid->memory->find(address) : nullptr) {
        fault.allocation = readable_variable(a->name);
        fault.offset = address - a->address;
    }
    locate_fault(program, pc, fault.file, fault.line, fault.ptx_line);
    return &fault;
}

void locate_fault(const ptx::Program& program, uint32_t pc, std::string& file, int32_t& line, int32_t& ptx_line) {
    if (pc < program.instructions.size()) {
        const auto& i = program.instructions[pc];
        line = i.line;
        ptx_line = i.ptx_line;
        const auto number = static_cast<size_t>(i.file);
        file = number < program.files.size() && !program.files[number].empty() ? program.files[number] : program.source_file;
    }
    if (line <= 0) file = program.ptx_file;
}

std::string readable_variable(const std::string& name) {
    // _ZZ function E length name [ _ number ]: a variable of a function; _ZN { length name } E and _ZL length name: of a
    // namespace or a file.
    if (name.compare(0, 2, "_Z") != 0) return name;
    for (size_t begin = name.size(); begin-- > 2;) {
        size_t digits = begin, length = 0;
        while (digits < name.size() && digits < begin + 4 && name[digits] >= '0' && name[digits] <= '9')
            length = length * 10 + static_cast<size_t>(name[digits++] - '0');
        if (digits == begin || (name[begin - 1] >= '0' && name[begin - 1] <= '9')) continue;
        if (length == 0 || length > name.size() - digits || (name[digits] >= '0' && name[digits] <= '9')) continue;
        const std::string rest = name.substr(digits + length);
        if (rest.empty() || rest == "E" || rest[0] == '_') return name.substr(digits, length);
    }
    return name;
}

std::string shared_variable_at(const Block& block, uint64_t& offset) {
    const auto& variables = block.grid->program->shared_variables;
    const uint64_t at = offset % ptx::window_bytes;
    for (auto v = variables.rbegin(); v != variables.rend(); ++v) {
        if (at < v->offset || (v->bytes && at - v->offset >= v->bytes)) continue;
        offset = at - v->offset;
        return readable_variable(v->name);
    }
    return {};
}

namespace {

// ", behind 'tile'": of an access that lies not too far past the last variable, or before the first one.
std::string nearest_shared(const ptx::Program& program, uint64_t address, uint64_t size) {
    constexpr uint64_t far = 1 << 20;
    const auto& variables = program.shared_variables;
    if (variables.empty()) return {};
    if (address < size + far) return ", behind '" + readable_variable(variables.back().name) + "'";
    const auto before = static_cast<uint32_t>(-address);
    return before <= far ? ", in front of '" + readable_variable(variables.front().name) + "'" : std::string();
}

}  // namespace

Fault* access_fault(const Warp& warp, uint32_t pc, uint32_t lane, ptx::Space space, uint64_t address, uint32_t bytes,
                    bool is_store, bool is_atomic) {
    const Block& block = *warp.block;
    const Grid& grid = *block.grid;
    const std::string what = std::string(ptx::name_of(space)) +
                             (is_atomic  ? " atomic"
                              : is_store ? " write"
                                         : " read") +
                             " of " + bytes_text(bytes);
    Provenance from = provenance_of(warp, pc, lane, {space, address, bytes, is_store});
    std::string reason = from.reason;
    if (reason.empty()) switch (space) {
            case ptx::Space::shared: {
                const uint64_t above = address / ptx::window_bytes;  // the rank + 1 of another block of the cluster
                const bool other = above > 0 && above <= cluster_size(grid);
                reason = offset_reason(other ? "the shared memory of block " + std::to_string(above - 1) + " of the cluster"
                                             : "the block's shared memory",
                                       block.shared.size(), other ? address % ptx::window_bytes : address, bytes);
                if (!other) reason += nearest_shared(*grid.program, address, block.shared.size());
                break;
            }
            case ptx::Space::local:
                reason = offset_reason("the thread's local memory", warp.local_end, address, bytes);
                break;
            case ptx::Space::param:
                reason = is_store ? ", parameters cannot be written"
                                  : offset_reason("the parameters", grid.config->parameters.size(), address, bytes);
                break;
            default:
                reason = global_reason(*grid.memory, address, bytes);
        }
    Fault* const fault = make_fault(warp, pc, lane, "memcheck", "invalid " + what + reason, address);
    fault->advice = std::move(from.advice);
    if (!from.allocation.empty()) {
        fault->allocation = std::move(from.allocation);
        fault->offset = from.offset;
    }
    return fault;
}

Fault* trap_fault(Warp& warp, uint32_t pc, uint32_t mask) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(mask));
    const auto& program = *warp.block->grid->program;
    if (pc < program.instructions.size() && ptx::is_failed_assert(program.instructions[pc]))
        return make_fault(warp, pc, lane, "assert", assert_text(warp, pc, lane));
    const Grid& grid = *warp.block->grid;
    const uint64_t blocks = grid.config->grid.count();
    std::string why = "the kernel stopped itself with a trap instruction";
    for (const auto& i : program.instructions)  // grid.sync() traps without a workspace
        if (blocks > grid.blocks_at_once && ptx::reads_special(i, ptx::SpecialRegister::envreg2)) {
            why += "; grid.sync() does so where not all blocks of the launch run at once: it has " + std::to_string(blocks) +
                   ", and " + std::to_string(grid.blocks_at_once) +
                   " do; launch no more than those, and let each do its share of the work in a loop";
            break;
        }
    return make_fault(warp, pc, lane, "trap", why);
}

namespace {
// What is said of CUDA C++, as Numba has it in Python.
std::string in_python(std::string text) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {{"__syncthreads()", "cuda.syncthreads()"},
                                                                       {"__syncwarp()", "cuda.syncwarp()"},
                                                                       {"__threadfence()", "cuda.threadfence()"},
                                                                       {"atomicAdd", "cuda.atomic.add"}};
    for (const auto& [word, python] : words)
        for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + python.size()))
            text.replace(at, word.size(), python);
    return text;
}
}  // namespace

std::string render(const Fault& asked) {
    Fault fault = asked;
    if (fault.file.ends_with(".py")) fault.message = in_python(fault.message), fault.advice = in_python(fault.advice);
    std::string text;
    const int32_t line = fault.line > 0 ? fault.line : fault.ptx_line;
    if (!fault.file.empty()) text = fault.file + (line > 0 ? ":" + std::to_string(line) : "") + ": ";
    text += (fault.warning ? "warning: " : "") + fault.kind + ": " + fault.message + " (kernel " + fault.kernel;
    const std::string end = fault.advice.empty() ? ")" : ")\n  " + fault.advice;
    if (line <= 0) return text + end;  // of the launch, before any thread ran
    text += ", block " + triple(fault.block) + ", thread " + triple(fault.thread);
    if (fault.address) text += ", address " + hex(fault.address);
    const std::string held = "'" + fault.allocation + "'";
    if (fault.kind == "memcheck" && !fault.allocation.empty() && fault.message.find(held) == std::string::npos)
        text += ", " + held + " +" + std::to_string(fault.offset);
    return text + end;
}

}  // namespace lockstep::simt
