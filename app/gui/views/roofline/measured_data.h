// Measured beside simulated: what the stored measurements of real GPUs (app/silicon/measured.h) say of what is on show.
// Nothing is found, and nothing shown, where no file has the same launch on the same GPU.
#pragma once
#include <optional>
#include <string>

#include "app/gui/session.h"
#include "app/gui/widgets/draw.h"
#include "app/silicon/measured.h"

namespace lockstep::gui {

std::optional<device::MeasuredKernel> measured_of(const Session& session, const model::KernelRun& run);

// "the model is 8 % faster", "the model is x2.4 as slow"; "" where either is none.
std::string beside(double simulated_us, double measured_us);
// "12.3 µs measured on NVIDIA H200, driver 13.0, 2026-11-22; the model is 8 % faster"
std::string measured_sentence(const device::MeasuredKernel& measured, double simulated_us);
// The same on one line, with the badge; `right`: where it is cut.
void draw_measured(Ui& ui, float x, float baseline, float right, const device::MeasuredKernel& measured,
                   double simulated_us);
// Of a training step of this model and batch, one mode after the other; "" none.
std::string measured_step_sentence(const Session& session, const nn::StepRecord& step);

}  // namespace lockstep::gui
