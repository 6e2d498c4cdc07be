// The part checks: every kernel of the library on the GPU and on our machine, from the same PTX and the same buffers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/silicon/measure/parts.h"
#include "core/device/kernels/kernel_cases.h"

namespace lockstep::device {
namespace {

ptx::Type checked_type(DType type) {
    switch (type) {
        case DType::f64:
            return ptx::Type::f64;
        case DType::f32:
            return ptx::Type::f32;
        case DType::f16:
            return ptx::Type::f16;
        case DType::bf16:
            return ptx::Type::bf16;
        default:
            return ptx::Type::b64;
    }
}

uint64_t checked_element(const std::vector<std::byte>& bytes, size_t size, size_t index) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + index * size, size);
    return bits;
}

}  // namespace

void measure_checks(SiliconRun& run) {
    using kernel_cases::Shape;
    const std::vector<Shape> shapes =
        run.options.quick ? std::vector<Shape>{{3, 5, 7}} : std::vector<Shape>{{3, 5, 7}, {17, 33, 19}, {64, 10, 128}};
    const std::unique_ptr<Device> ours = open_device("sim:h200", {.functional = true}).value();
    for (const KernelRow& row : kernels()) {
        if (run.options.quick && row.type != DType::f32) continue;
        run.row(std::string(row.name), [&] {
            SiliconCheck check{.name = std::string(row.name)};
            for (size_t i = 0; i < shapes.size(); ++i) {
                const auto it = kernel_cases::case_of(row, shapes[i], i + 1);
                const auto there = kernel_cases::run_bytes(run.device, it), here = kernel_cases::run_bytes(*ours, it);
                for (size_t b = 0; b < there.size(); ++b) {
                    const DType type = it.buffers[b].type;
                    const size_t size = size_of(type);
                    for (size_t e = 0; e < there[b].size() / size; ++e) {
                        const uint64_t x = checked_element(there[b], size, e), y = checked_element(here[b], size, e);
                        if (!count_pieces(check, checked_type(type), x, y) || !check.note.empty()) continue;
                        check.note = fmt::format("{}x{}x{}: buffer {} element {}: {:#x} on the GPU, {:#x} here", shapes[i].m,
                                                 shapes[i].n, shapes[i].k, b, e, x, y);
                    }
                    const double apart = kernel_cases::difference(kernel_cases::values_of(here[b], type),
                                                                  kernel_cases::values_of(there[b], type));
                    check.largest = std::max(check.largest, std::isfinite(apart) ? apart : 1e300);
                }
            }
            run.add(std::move(check));
        });
    }
}

}  // namespace lockstep::device
