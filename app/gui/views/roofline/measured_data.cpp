#include "app/gui/views/roofline/measured_data.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::gui {

constexpr double far_off = 1.5;  // times

std::optional<device::MeasuredKernel> measured_of(const Session& session, const model::KernelRun& run) {
    if (session.measured->gpus.empty() || run.result.fault || run.result.stopped) return std::nullopt;
    return session.measured->find(run);
}

std::string beside(double simulated_us, double measured_us) {
    if (!(simulated_us > 0) || !(measured_us > 0)) return {};
    const double ratio = simulated_us / measured_us;
    if (std::abs(ratio - 1) < 0.005) return "the model agrees";
    if (ratio > 2 || ratio < 0.5)
        return fmt::format("the model is x{:.2g} as {}", ratio > 1 ? ratio : 1 / ratio, ratio > 1 ? "slow" : "fast");
    // In percent of the measured time.
    return fmt::format("the model is {:.0f} % {}", 100 * std::abs(ratio - 1), ratio > 1 ? "slower" : "faster");
}

std::string measured_sentence(const device::MeasuredKernel& measured, double simulated_us) {
    const std::string words = beside(simulated_us, measured.time_us);
    const double ratio = simulated_us / measured.time_us;
    // Far off, the two may not do the same work: the driver's compiler leaves out what comes to the same.
    const bool far = !words.empty() && (ratio > far_off || ratio < 1 / far_off);
    return fmt::format("{} {}{}{}{}", time_text(measured.time_us), measured.gpu->badge(), words.empty() ? "" : "; ", words,
                       far ? ": it runs the PTX as it stands, the GPU what its driver compiled from it" : "");
}

void draw_measured(Ui& ui, float x, float baseline, float right, const device::MeasuredKernel& measured,
                   double simulated_us) {
    const bool real = measured.gpu->real();
    if (real) x += ui.badge(x, baseline, Provenance::measured) + 8;
    std::string sentence = measured_sentence(measured, simulated_us);
    constexpr std::string_view said = " measured on ";  // by the badge
    if (const size_t at = sentence.find(said); real && at != std::string::npos) sentence.replace(at, said.size(), " on ");
    ui.text(x, baseline, sentence, {.size = 13, .color = ui.theme->ink2, .width = right - x});
    if (ui.hovered({x, baseline - 14, right - x, 20})) ui.tooltip(sentence);
}

std::string measured_step_sentence(const Session& session, const nn::StepRecord& step) {
    if (session.measured->gpus.empty() || !step.device.starts_with("sim:")) return {};
    const std::string gpu = step.device.substr(4);
    const auto found = session.measured->trainings(step.model, step.batch, gpu);
    if (found.empty()) return {};
    std::string text;
    for (const device::SiliconTraining* it : found)
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : ", ", it->name.substr(step.model.size() + 1), time_text(it->time_us));
    return fmt::format("The whole step {}: {}.", session.measured->of_model(gpu)->badge(), text);
}

}  // namespace lockstep::gui
