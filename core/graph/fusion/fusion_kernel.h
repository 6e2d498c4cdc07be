// One kernel out of several. Its PTX is that of the bundled kernels, op behind op: the same instructions in the same order,
// so the same bits; only where an op would load what an op before it has stored does the value stay in a register. The host
// runs the ops' native twins over a tile of elements at a time, small enough that what passes between them stays in the L1
// cache: the same functions, so the same bits again.
//
//   chain     ops over the same elements: thread i does element i of every op
//   epilogue  a chain whose first op is none, but stores each element of its result once (a product of matrices, a softmax,
//             a norm, a sum): at every such store the thread goes on with the element that it has made
//   prologue  a chain whose last op is none, but loads each element of one operand once (a sum, a mean): at every such load
//             the thread makes the element by the ops before it, instead of reading it
//   together  launches of one kernel that need nothing of each other: a block finds the launch it belongs to by its number
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/device/kernels/kernel_library.h"
#include "core/graph/fusion/fusion_reading.h"

namespace lockstep::graph {

struct FusedSlot {            // something that ops are given: a buffer or a number
    ptx::Variable parameter;  // as the first op that takes it declares it
    std::string name;         // of a buffer, for people
    bool buffer = false;
    bool kept = true;  // false: stays in registers (on the host: in a tile), and is no parameter of the kernel
    int bytes = 0;     // of an element
};

struct FusedOp {
    const KernelReading* reading = nullptr;
    const device::KernelRow* row = nullptr;
    std::vector<int> slots;  // one a parameter of the kernel
    std::string label;       // "fc1 add"
};

struct Chain {
    std::vector<FusedOp> ops;
    std::vector<FusedSlot> slots;
    bool epilogue = false;  // the first op is no pointwise one: the others go on from its stores
    int result = -1;        // epilogue: the parameter of the first op that it stores its result through
    int entry = -1;         // of a prologue: the parameter of the last op that the ops before it make; -1: no prologue
    int stand_in = -1;      // epilogue whose result is not kept: the slot whose memory the host lends it; -1: none
};

// How the host cuts an op's launch into tiles: every tile begins at a multiple of `unit` elements.
struct Cut {
    enum class Kind : uint8_t { none, elements, rows, strided, counted } kind = Kind::none;
    int64_t unit = 1;
};
// Of an op with these arguments (scalars as they are; pointers are not looked at). none: it runs whole or not at all.
Cut cut_of(const KernelReading& reading, const device::KernelRow& row, std::span<const device::Argument> arguments);
// Elements of a launch with these arguments: the product of the bounding parameters.
int64_t elements_of(const KernelReading& reading, std::span<const device::Argument> arguments);

struct Passage {         // all elements of one operand, which pass between a kernel and the ops behind or before it
    int parameter = -1;  // -1: there is none
    int64_t count = 0;
    int64_t row = 1;  // the host's twins make whole rows of so many elements
};
// The result of a kernel whose row says that it stores each element once, wherever.
Passage stored_once(const KernelReading& reading, const device::KernelRow& row, std::span<const device::Argument> arguments);
// The operand of a kernel whose row says that it loads each element once, by whichever thread.
Passage loaded_once(const KernelReading& reading, const device::KernelRow& row, std::span<const device::Argument> arguments);

std::shared_ptr<const device::GeneratedKernel> generate_chain(const Chain& chain);

struct TogetherPart {
    std::vector<int> slots;  // one a parameter of the kernel
    uint32_t blocks = 1;
    std::string label;
};
struct Together {
    const KernelReading* reading = nullptr;
    const device::KernelRow* row = nullptr;
    std::vector<TogetherPart> parts;
    std::vector<FusedSlot> slots;
};
std::shared_ptr<const device::GeneratedKernel> generate_together(const Together& together);

}  // namespace lockstep::graph
