// Training: steps run untimed; the step on show runs again on the timed model once nothing else is to do.
#include <algorithm>

#include "app/gui/worker.h"
#include "core/base/diagnostic.h"
#include "core/model/gpu_spec.h"

namespace lockstep::gui {

namespace {

constexpr int64_t evaluate_every = 4;

// The longest kernel of the backward pass is the one to look into, until somebody picks another.
size_t most_telling(const std::vector<device::LaunchEvent>& launches) {
    size_t best = 0;
    for (size_t i = 1; i < launches.size(); ++i) {
        const bool backward = launches[i].phase == "backward", was = launches[best].phase == "backward";
        if (backward != was ? backward : launches[i].cycles > launches[best].cycles) best = i;
    }
    return best;
}

}  // namespace

void Session::Worker::open_training() {
    busy("drawing digits");
    training = std::make_unique<TrainingRun>(gpu, thread.get_stop_token());
    training->curve().total_steps = std::max<int64_t>(options.training_steps, 100);
    draft.kernel.reset();
    forget_warp();
    wants_timing = true;
}

void Session::Worker::train(int64_t steps) {
    own = false;
    if (!training && !lesson && steps != 0) open_training();
    steps_to_run = training ? steps : 0;
    wants_timing = training != nullptr;
    if (training) training->curve().running = true;
}

void Session::Worker::pause() {
    steps_to_run = 0;
    if (!training) return;
    training->curve().running = false;
    training->curve().name = "lr 0.5";
    show_curves();
}

void Session::Worker::show_step(int64_t step) {
    if (!training) return;
    own = false;
    steps_to_run = 0;
    draft.step = training->at(step);
    wants_timing = true;
}

void Session::Worker::show_curves() {
    draft.curves = {training->curve()};
    if (compared) draft.curves.push_back(*compared);
}

void Session::Worker::train_one() {
    if (!training) {
        steps_to_run = 0;
        return;
    }
    const bool running = steps_to_run != 1;
    last_step = std::chrono::steady_clock::now();
    draft.step = training->advance();
    if (steps_to_run > 0) --steps_to_run;
    if ((training->next_step() - 1) % evaluate_every == 0 || steps_to_run == 0) training->evaluate();
    training->curve().name = running ? "lr 0.5, running" : "lr 0.5";
    training->curve().running = running;
    draft.first_step = training->first();
    if (training->next_step() == 3) compared = training->comparison();
    show_curves();
    wants_timing = true;
    busy("step " + std::to_string(draft.step->step) + " on the modelled " + upper(gpu),
         options.training_steps > 0 && steps_to_run > 0
             ? 1 - static_cast<double>(steps_to_run) / static_cast<double>(options.training_steps)
             : -1);
}

void Session::Worker::time_shown() {
    wants_timing = false;
    if (!training || !draft.step) return;
    const size_t all = draft.step->launches.size();
    const std::string count = " of " + std::to_string(all);
    busy("timing kernel 1" + count, 0);
    draft.step = training->timed(draft.step->step, job_token(), [&](size_t launches) {
        serve_light();
        if (launches < all)
            busy("timing kernel " + std::to_string(launches + 1) + count,
                 static_cast<double>(launches) / static_cast<double>(all));
    });
    if (!lesson && !own) {
        if (shown_kernel >= 0 && shown_kernel < static_cast<int64_t>(all))
            open_kernel(shown_kernel);
        else if (all > 0)
            open_kernel(static_cast<int64_t>(most_telling(draft.step->launches)), true);
    }
    busy("");
}

void Session::Worker::set_gpu(const std::string& name) {
    const auto found = model::gpu_named(name);
    if (!found.ok()) throw Failure(found.error());
    if (lesson) {
        lesson_gpu = name;
        scene_results.clear();
        return show_lesson_step(lesson_step);
    }
    gpu = name;
    if (!training) return;
    busy("building a " + upper(name));
    training->set_gpu(name);
    if (draft.step) draft.step = training->at(draft.step->step);
    wants_timing = true;
}

void Session::Worker::reload() {
    if (lesson) {
        scene_results.clear();
        return show_lesson_step(lesson_step);
    }
    open_training();
    draft.curves.clear();
    steps_to_run = 41;
}

}  // namespace lockstep::gui
