// The part training of app/silicon/silicon.h: steps of MLP, LeNet-5, GPT and Llama on the device, op by op, as CUDA graphs
// and fused, and the same steps on the host.
#pragma once
#include "app/silicon/silicon.h"

namespace lockstep::nn {

void measure_training(device::SiliconRun& run);  // rows "mlp eager", "mlp graph", "mlp fused", ...

}  // namespace lockstep::nn
