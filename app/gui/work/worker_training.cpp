// Training: steps run untimed; the step on show runs again on the timed model once nothing else is to do.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/work/worker.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/model/gpus/gpu_file.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/nn/data/text.h"
#include "core/nn/models/models.h"

namespace lockstep::gui {

namespace {

// The longest kernel of the backward pass is the one to look into, until somebody picks another.
size_t most_telling(const std::vector<device::LaunchEvent>& launches) {
    size_t best = 0;
    for (size_t i = 1; i < launches.size(); ++i) {
        const bool backward = launches[i].phase == "backward", was = launches[best].phase == "backward";
        if (backward != was ? backward : launches[i].cycles > launches[best].cycles) best = i;
    }
    return best;
}

constexpr int64_t worth_a_look = 2000;  // cycles
constexpr auto between_whole = std::chrono::milliseconds(3000);
constexpr int64_t between_texts = 100;  // steps, of what a language model writes while it runs

}  // namespace

// Stops with the worker, and when a step is cancelled; made anew after that.
std::stop_token Session::Worker::step_token() {
    const std::lock_guard lock(mutex);
    if (stepping.stop_requested()) stepping = std::stop_source();
    return stepping.get_token();
}

void Session::Worker::renew_stopped() {
    bool stopped = false;
    {
        const std::lock_guard lock(mutex);
        stopped = stepping.stop_requested();
    }
    if (stopped && training) training->reopen(step_token());
}

void Session::Worker::open_training() {
    bring(Source::training);
    draft.tape.reset();
    busy(setup.model == "mlp" ? std::string("drawing digits") : "building " + setup.model);
    training = std::make_unique<TrainingRun>(setup, gpu, step_token());
    training->curve().total_steps = std::max<int64_t>(options.training_steps, 100);
    draft.kernel.run.reset();
    draft.training.setup = setup;
    draft.training.gpu = gpu;
    draft.training.open = true;
    draft.training.written.clear();
    draft.training.symbols.reset();
    if (const std::string data(nn::model_named(setup.model).data); data == "stories")
        draft.training.symbols = std::make_shared<const std::vector<std::string>>(nn::open_text(data, 1).vocabulary.symbols);
    forget_warp();
    wants_timing = true;
}

void Session::Worker::change_setup(const TrainingSetup& wanted) {
    nn::model_named(wanted.model);
    bring(Source::training);
    // The run before stays as a curve where it can be compared: up to three of the same model.
    if (wanted.model != setup.model) compared.clear();
    if (training && wanted.model == setup.model && training->curve().loss.size() > 1) {
        Curve before = training->curve();
        before.name = run_name(false);
        before.running = false;
        std::erase_if(compared, [&](const Curve& curve) { return curve.name == before.name; });
        if (compared.size() == 3) compared.pop_back();
        const auto taken = [&](int colour) {  // the others keep theirs
            return std::any_of(compared.begin(), compared.end(), [&](const Curve& one) { return one.colour == colour; });
        };
        before.colour = 0;
        while (taken(before.colour)) ++before.colour;
        compared.insert(compared.begin(), std::move(before));
    }
    setup = wanted;
    draft.training.step.reset();
    draft.training.beside.clear();
    draft.training.first_step.reset();
    draft.training.on_ranks.reset();
    training.reset();
    draft.training.open = false;
    steps_to_run = 0;
    open_training();
    show_curves();
    steps_to_run = 1;
}

void Session::Worker::train(int64_t steps) {
    if (!training && steps == 0) return;
    bring(Source::training);
    if (!training) open_training();
    steps_to_run = training ? steps : 0;
    wants_timing = training != nullptr;
    if (training) training->curve().running = true;
}

std::string Session::Worker::run_name(bool running) const {
    return text_of(training->setup()) + (running ? ", running" : "");
}

void Session::Worker::pause() {
    const bool ran = steps_to_run != 0;
    steps_to_run = 0;
    if (!training) return;
    training->curve().running = false;
    training->curve().name = run_name(false);
    const int64_t newest = training->next_step() - 1;
    if (ran && draft.training.step && draft.training.step->step != newest) {
        // Of a large model the newest step was not recorded. To compute it again from a checkpoint can take as long as fifty
        // steps: one more is recorded instead, and shown.
        steps_to_run = 1;
    } else if (ran) {
        write_text();
        training->diagnose();
    }
    show_curves();
}

void Session::Worker::show_step(int64_t step) {
    if (!training) return;
    bring(Source::training);
    steps_to_run = 0;
    renew_stopped();
    step = std::min(step, std::max<int64_t>(0, training->next_step() - 1));
    draft.training.step = training->at(
        step, [&](double share) { busy("computing step " + with_commas(step) + " of " + setup.model + " again", share); });
    if (draft.tape) {  // the learner's program was on show
        draft.tape.reset();
        draft.training.first_step = training->first();
        show_curves();
    }
    wants_timing = true;
}

void Session::Worker::show_curves() {
    draft.training.curves = {training->curve()};
    draft.training.curves.insert(draft.training.curves.end(), compared.begin(), compared.end());
}

// What a language model writes now; the first text and the newest seven are kept.
void Session::Worker::write_text() {
    const int64_t step = training->next_step() - 1;
    if (step < 0 || (!draft.training.written.empty() && draft.training.written.back().step == step)) return;
    const std::string text = training->write(160);
    if (text.empty()) return;
    draft.training.written.push_back({step, text});
    if (draft.training.written.size() > 8) draft.training.written.erase(draft.training.written.begin() + 1);
}

void Session::Worker::train_one() {
    if (!training) {
        steps_to_run = 0;
        return;
    }
    const bool running = steps_to_run != 1;
    last_step = std::chrono::steady_clock::now();
    renew_stopped();
    const bool hurries = options.steps_later > 0 && training->next_step() == 0;  // the machine waits for its first kernel
    try {
        // A large model's values are copied now and then while it runs, and at its end.
        const bool whole =
            steps_to_run == 1 || !draft.training.step || std::chrono::steady_clock::now() - last_whole >= between_whole;
        if (const StepPointer step = training->advance(whole, !hurries)) {
            draft.training.step = step;  // in a hurry it is followed once it is timed
            last_whole = std::chrono::steady_clock::now();
        }
        draft.tape.reset();
    } catch (const Failure&) {
        steps_to_run = 0;
        wants_timing = false;
        renew_stopped();
        throw;
    }
    if (steps_to_run > 0) --steps_to_run;
    const int64_t step = training->next_step() - 1;
    if (!hurries && (training->evaluates(step) || steps_to_run == 0)) {
        training->evaluate();
        if (steps_to_run == 0 || step % between_texts == 0) write_text();
        if (steps_to_run == 0) training->diagnose();
    }
    training->curve().name = run_name(running);
    training->curve().running = running;
    draft.training.first_step = training->first();
    if (training->next_step() == 3 && setup == TrainingSetup{} && compared.empty())
        compared.push_back(training->comparison());
    show_curves();
    wants_timing = true;
    busy("training step " + with_commas(step) +
             (setup.on_gpu ? " on the modelled " + upper(model::short_name(gpu)) : " on the host"),
         options.training_steps > 0 && steps_to_run > 0
             ? 1 - static_cast<double>(steps_to_run) / static_cast<double>(options.training_steps)
             : -1);
}

// The first kernel that is timed and takes a while, as long as the others still are: the app has opened on the machine. Then
// the most telling one follows.
void Session::Worker::show_early(const device::LaunchEvent& launch, size_t number, size_t of) {
    {
        const std::lock_guard lock(mutex);
        results.launch = static_cast<int32_t>(number) - 1;
    }
    show_kernel(launch.run, fmt::format("{} (kernel {} of {})", launch.label, number, of));
}

void Session::Worker::time_shown() {
    wants_timing = false;
    if (draft.source != Source::training || !training || !draft.training.step || draft.tape) return;
    renew_stopped();
    const size_t all = draft.training.step->launches.size();
    const std::string count = " of " + std::to_string(all);
    busy(setup.on_gpu ? "timing kernel 1" + count : "following the graph", setup.on_gpu ? 0 : -1);
    draft.training.step =
        training->looked_at(draft.training.step->step, job_token(), [&](size_t launches, const device::LaunchEvent& launch) {
            serve_light();
            if (options.steps_later > 0 && !draft.kernel.run && launch.run && launch.cycles >= worth_a_look)
                show_early(launch, launches, all);
            if (launches < all)
                busy("timing kernel " + std::to_string(launches + 1) + count,
                     static_cast<double>(launches) / static_cast<double>(all));
        });
    if (setup.ranks > 1) {
        busy("the same step on " + std::to_string(setup.ranks) + " ranks");
        draft.training.on_ranks = training->on_ranks(draft.training.step->step, job_token());
    }
    if (setup.on_gpu) {
        if (shown_kernel >= 0 && shown_kernel < static_cast<int64_t>(all))
            open_kernel(shown_kernel);
        else if (all > 0)
            open_kernel(static_cast<int64_t>(most_telling(draft.training.step->launches)), true);
    }
    busy("");
}

void Session::Worker::set_gpu(const std::string& name) {
    const auto found = model::gpu_named(name);
    if (!found.ok()) throw Failure(found.error());
    if (lesson && draft.source != Source::training) {
        lesson_gpu = name;
        scene_results.clear();
        return show_lesson_step(lesson_step);
    }
    gpu = draft.training.gpu = name;
    {
        const std::lock_guard lock(mutex);
        results.gpu = name;
    }
    if (!training || draft.source != Source::training) return;
    busy("building a " + upper(name));
    training->set_gpu(name);
    if (draft.training.step && !draft.tape) draft.training.step = training->at(draft.training.step->step);
    wants_timing = true;
}

void Session::Worker::reload() {
    if (lesson && draft.source == Source::lesson) {
        scene_results.clear();
        return show_lesson_step(lesson_step);
    }
    open_training();
    draft.training.curves.clear();
    steps_to_run = setup == TrainingSetup{} ? 41 : 1;
}

}  // namespace lockstep::gui
