// What the host runs for a fused kernel (fusion_kernel.h): the ops' native twins, tile by tile.
#pragma once
#include <functional>
#include <span>

#include "core/device/device.h"

namespace lockstep::graph {

struct Chain;
struct Together;
using NativeKernel = std::function<void(std::span<const device::Argument>, device::ThreadPool&)>;

NativeKernel native_chain(const Chain& chain);
NativeKernel native_together(const Together& together);

}  // namespace lockstep::graph
