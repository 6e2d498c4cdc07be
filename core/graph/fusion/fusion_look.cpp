// What is known of a launch before anything is decided: the bytes that it touches, whether thread i touches element i alone,
// and whether others can go on from its result or go before it. Read off its kernel's PTX (fusion_reading.h).
#include <algorithm>

#include "core/graph/fusion/fusion_kernel.h"
#include "core/graph/fusion/fusion_units.h"

namespace lockstep::graph {

Looked look_at(const Graph& graph, const Launch& launch) {
    const auto bytes_of = [&](const Operand& operand) { return graph.buffers[static_cast<size_t>(operand.buffer)].bytes; };
    Looked looked;
    if (launch.generated) {
        looked.why_not = "it is generated already";
        for (const Operand& operand : launch.operands)
            if (operand.kind == Operand::Kind::buffer)
                looked.touches.push_back(
                    {operand.buffer, operand.offset, bytes_of(operand), operand.access.reads, operand.access.writes});
        return looked;
    }
    looked.row = &device::kernel_named(launch.kernel);
    const device::Fusing& fusing = looked.row->kernel->fusing;
    // What joins a chain is a kernel's form with one thread an element, where it has one of its own.
    const bool other_form = !fusing.one_an_element.empty();
    const KernelReading& reading =
        reading_of(other_form ? device::typed_kernel(fusing.one_an_element, launch.type) : launch.kernel);
    looked.reading = &reading;
    looked.grid = launch.grid;
    looked.block = launch.block;
    for (const Operand& operand : launch.operands)
        looked.numbers.push_back(operand.kind == Operand::Kind::buffer ? device::Argument(device::Pointer{})
                                                                       : operand.value);
    const bool whole = reading.uses.size() == launch.operands.size();
    if (whole && reading.pointwise) {
        const int64_t count = elements_of(reading, looked.numbers);
        const bool one_row = launch.grid.y == 1 && launch.grid.z == 1 && launch.block.y == 1 && launch.block.z == 1;
        if (!one_row || count < 1)
            looked.why_not = "its launch has another shape than one thread an element";
        else if (cut_of(reading, *looked.row, looked.numbers).kind == Cut::Kind::none)
            looked.why_not = "what an element needs depends on its place";
        else
            looked.count = count;
        if (other_form && looked.count > 0)
            looked.grid = {static_cast<uint32_t>((count + 255) / 256), 1, 1}, looked.block = {256, 1, 1};
    } else {
        looked.why_not = reading.why_not;
    }
    const Passage product = whole ? stored_once(reading, *looked.row, looked.numbers) : Passage{};
    if (product.parameter >= 0) looked.product = product.count, looked.result = product.parameter;
    const Passage entry = whole ? loaded_once(reading, *looked.row, looked.numbers) : Passage{};
    if (entry.parameter >= 0) looked.loaded = entry.parameter, looked.loaded_count = entry.count;
    for (size_t p = 0; p < launch.operands.size(); ++p) {
        const Operand& operand = launch.operands[p];
        if (operand.kind != Operand::Kind::buffer) continue;
        Touch touch{operand.buffer, operand.offset, bytes_of(operand), operand.access.reads, operand.access.writes};
        if (whole) {
            const ParameterUse& use = reading.uses[p];
            const Reach reach = use.reach();
            // What either of the two readings of the PTX sees counts.
            touch.reads = touch.reads || use.reads != Reach::none;
            touch.writes = touch.writes || use.writes != Reach::none;
            touch.bytes = use.bytes;
            const bool product_store = product.parameter == static_cast<int>(p);
            if (use.bytes > 0 && reach == Reach::block && !product_store) {
                touch.end = std::min(touch.end, touch.begin + int64_t{launch.grid.x} * use.bytes);
            } else if (use.bytes > 0 && (product_store || (reach == Reach::element && looked.count >= 0))) {
                touch.end = std::min(touch.end, touch.begin + (product_store ? product.count : looked.count) * use.bytes);
                touch.element = true;
                touch.always = product_store || use.always_stored;
            }
        }
        looked.touches.push_back(touch);
    }
    return looked;
}

}  // namespace lockstep::graph
