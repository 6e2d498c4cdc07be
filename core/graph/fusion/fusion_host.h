// What the host runs for a fused kernel (fusion_kernel.h): the ops' native twins over tiles of some 4,096 elements, from
// each part of a product or convolution as soon as it is made, in the memory that the chain writes in the end. An op of much
// arithmetic that reads more than the product stays apart (FusionOptions::on_host), and so does what follows a norm or
// changes what it reads: they would gain nothing here. Products take three quarters of a step on the host and the rest stays
// in the last cache, so time falls by about one in a hundred from mode `graph` to mode `fused`.
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
