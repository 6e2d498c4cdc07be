// Gradients of gradients of layers: what their rows' `differentiate` points to. Most write the layer again in plain ops and
// take its recorded gradient; convolutions are each other's.
#pragma once
#include "core/tensor/op.h"

namespace lockstep::tensor {

void differentiate_layer_norm(DifferentiateCall& call);
void differentiate_rms_norm(DifferentiateCall& call);
void differentiate_group_norm(DifferentiateCall& call);
void differentiate_batch_norm(DifferentiateCall& call);
void differentiate_attention(DifferentiateCall& call);
void differentiate_conv2d(DifferentiateCall& call);
void differentiate_conv_transpose2d(DifferentiateCall& call);
void differentiate_max_pool2d(DifferentiateCall& call);
void differentiate_avg_pool2d(DifferentiateCall& call);
void differentiate_embedding(DifferentiateCall& call);

}  // namespace lockstep::tensor
