// What a bundled kernel does, read off its checked-in PTX: which buffers it reads and writes, and where. No table says which
// kernels can be fused: a kernel whose thread number is its element's number, and that meets its neighbours nowhere (no
// barrier, no shuffle, no shared memory), is "pointwise"; one that finds an address as buffer + index * size and stores
// there once has an index that other ops can go on from. accesses.cpp asks less, of any kernel: which pointers are read and
// written.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::graph {

struct PtxLine {
    std::string text;     // one statement or label, without .loc, comments and white space around it
    int source_line = 0;  // of the kernel's CUDA file
};

// A load from or a store to device memory.
struct MemoryUse {
    size_t line = 0;     // of KernelText::lines
    int parameter = -1;  // the pointer that the address was made from; -1: none or several
    bool store = false;
    int bytes = 0;        // an element's
    int width = 0;        // of the register: a load of few bytes may fill a wider one with zeros
    std::string index;    // the register i where the address is parameter + i * bytes; "" where it is not of that form
    std::string value;    // the register that is loaded or stored; "" for vectors, atomics and constants
    std::string address;  // "%rd52+128"
};

// Where a kernel's threads find what they use of a buffer: nowhere, at their own number, at their block's number, all at
// the same places (an optimiser's settings), or at places that only the kernel knows.
enum class Reach : uint8_t { none, element, block, fixed, anywhere };

struct ParameterUse {
    Reach reads = Reach::none, writes = Reach::none;
    int bytes = 0;               // of an element; -1: it differs
    bool always_stored = false;  // every thread stores its element, once
    bool touched() const { return reads != Reach::none || writes != Reach::none; }
};

struct KernelText {
    std::string name;                     // "gelu_f32"
    std::string file;                     // "unary.cu"
    std::vector<std::string> parameters;  // their types: ".u64"
    std::vector<std::string> registers;   // ".reg .f32 %f<31>;" as "f32 %f 31"
    std::vector<std::string> shared;      // declarations of shared memory, whole
    std::vector<PtxLine> lines;           // the body behind the declarations
    std::vector<MemoryUse> accesses;
    std::vector<ParameterUse> uses;  // one a parameter
    std::string end_label;           // the last label, behind which stands nothing but ret; "" where there is none

    bool pointwise = false;
    std::string why_not;        // of a kernel that is not pointwise: a clause, "its threads meet at a barrier"
    std::string thread;         // pointwise: the register that holds blockIdx.x * blockDim.x + threadIdx.x
    std::vector<int> bound;     // pointwise: the parameters whose product is the number of elements
    std::vector<bool> omitted;  // pointwise, by line: makes the thread's number or guards it, or loads a parameter

    bool by_position = false;      // pointwise: an element's value depends on its number, not only on the operands' elements
    bool reads_grid_size = false;  // %nctaid: how many blocks there are
    bool self_contained = false;   // no calls and nothing declared outside of the kernel: its body can stand elsewhere
    std::string where() const;     // "kernels/unary.cu:64"
};

// Of a bundled kernel by its name; read once a process. Throws Failure for an unknown name.
const KernelText& kernel_text(std::string_view name);
// The same of any PTX text that nvcc wrote.
KernelText read_kernel(const std::string& ptx, const std::string& name, const std::string& file);

// The text with every register %x<n> and label of the kernel renamed: "%f3" -> "%a_f3", "$L__BB0_2" -> "$a_2".
std::string renamed(const KernelText& kernel, std::string_view text, std::string_view prefix);

// Words of a statement: "@%p1 bra L" is guard "@%p1", opcode "bra", operands {"L"}.
struct Statement {
    std::string guard, opcode;
    std::vector<std::string> operands;  // "[%rd1+4]" stays one
};
Statement parse_statement(std::string_view text);

}  // namespace lockstep::graph
