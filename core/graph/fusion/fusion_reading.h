// What a bundled kernel does, read off its checked-in PTX: which buffers it reads and writes, and where. No table says which
// kernels can be fused: a kernel whose thread number is its element's number, and that meets its neighbours nowhere (nothing
// but arithmetic, branches, loads and stores), is "pointwise"; one that finds an address as buffer + index * size and stores
// there once has an index that other ops can go on from. accesses.cpp asks less, of any kernel: which pointers are read and
// written.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ptx/parse/module.h"

namespace lockstep::graph {

// An access to device memory. Registers are names of the kernel's PTX.
struct MemoryUse {
    size_t statement = 0;  // of the entry
    int parameter = -1;    // the pointer that the address was made from; -1: none or several
    bool store = false;
    bool writes = false;  // a store, an atomic, or something that is known less
    int bytes = 0;        // an element's
    int width = 0;        // of the register: a load of few bytes may fill a wider one with zeros
    std::string_view index =
        {};  // the register i where the address is parameter + i * bytes; "" where it is of another form
    std::string_view value = {};  // the register that is loaded or stored; "" for vectors, atomics, constants, .volatile
};

// Where a kernel's threads find what they use of a buffer: nowhere, at their own number, at their block's number, at their
// number modulo a parameter, all at the same places (an optimiser's settings), or at places that only the kernel knows.
enum class Reach : uint8_t { none, element, block, column, fixed, anywhere };

struct ParameterUse {
    Reach reads = Reach::none, writes = Reach::none;
    int bytes = 0;               // of an element; -1: it differs
    bool always_stored = false;  // every thread stores its element, once
    // Both as one: the same where they are, or where only one of the two happens.
    Reach reach() const {
        return reads == Reach::none ? writes : writes == Reach::none || reads == writes ? reads : Reach::anywhere;
    }
};

struct KernelReading {
    enum class Name : uint8_t { register_, label, parameter, shared, special, other };

    std::shared_ptr<const ptx::Module> module;
    const ptx::Entry* entry = nullptr;                    // of the module; null: its PTX cannot be read
    std::string file;                                     // "unary.cu"
    std::unordered_map<std::string_view, Name> names;     // all that its statements use
    std::unordered_map<std::string_view, int> parameter;  // by name: its number
    std::vector<const ptx::Variable*> shared;             // its own, and those that it shares with others of the module
    std::vector<ptx::Kind> kinds;                         // one a statement
    std::vector<MemoryUse> accesses;
    std::vector<ParameterUse> uses;  // one a parameter

    bool pointwise = false;
    std::string why_not;        // of a kernel that is not pointwise: a clause, "its threads share memory"
    std::string_view thread;    // pointwise: the register that holds blockIdx.x * blockDim.x + threadIdx.x
    std::vector<int> bound;     // pointwise: the parameters whose product is the number of elements
    std::vector<bool> omitted;  // pointwise, by statement: makes the thread's number or guards it, or loads a parameter

    bool by_position = false;  // pointwise: an element's value depends on its number, not only on the operands' elements
    int columns = -1;          // pointwise: one of two bounds; elements that are equal modulo it find the same in a column
    bool reads_grid_size = false;    // %nctaid: how many blocks there are
    bool special_functions = false;  // it computes a quotient, a root, an exponential, a logarithm, a sine or a tangent
    bool self_contained = false;     // no calls and nothing declared outside of the kernel: its body can stand elsewhere

    std::string where() const;                           // "kernels/unary.cu:64"
    const MemoryUse* access_at(size_t statement) const;  // null: there is none
};

// Of a bundled kernel by its name; read once a process. Throws Failure for an unknown name.
const KernelReading& reading_of(std::string_view kernel);
// The same of any entry of a module that nvcc wrote.
KernelReading read_kernel(std::shared_ptr<const ptx::Module> module, std::string_view kernel, std::string file);

}  // namespace lockstep::graph
