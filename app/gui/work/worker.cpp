// The worker's loop: one request or one piece of running work at a time, a publication after each.
#include "app/gui/work/worker.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/diagnostic.h"
#include "core/system/desktop.h"

namespace lockstep::gui {

namespace {

// "saved as ...", for long enough to copy its path; what went wrong stays until it is dismissed.
constexpr auto note_stands = std::chrono::seconds(20);
constexpr auto frame_of_training = std::chrono::milliseconds(90);  // a run that a person can follow: 11 steps a second

template <typename... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return text;
}

Session::Worker::Worker(SessionOptions chosen) : options(std::move(chosen)) {
    draft.busy = options.start ? "starting" : "";
    newest = std::make_shared<const Snapshot>(draft);
    if (options.start) thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Session::Worker::~Worker() {
    thread.request_stop();
    checker.request_stop();
    {
        const std::lock_guard lock(mutex);
        closing = true;
        job.request_stop();
        stepping.request_stop();
        looking.request_stop();
    }
    wake.notify_all();
}

void Session::Worker::publish() {
    ++draft.version;
    auto copy = std::make_shared<const Snapshot>(draft);
    {
        const std::lock_guard lock(mutex);
        std::swap(newest, copy);
    }
    const std::lock_guard lock(notifying);
    if (on_publish) on_publish();
}

void Session::Worker::clear_shown() {
    const TrainingState& training_now = draft.training;
    Shelf empty;
    empty.training.setup = training_now.setup;
    empty.training.open = training_now.open;
    empty.training.gpu = training_now.gpu;
    draft.kernel = {};
    draft.training = std::move(empty.training);
    draft.host.reset();
    draft.tape.reset();
    draft.whose.clear();
    judged.reset();
    shown_kernel = -1;
    forget_fault();
}

void Session::Worker::bring(Source wanted) {
    if (draft.source == wanted) return;
    if (draft.source == Source::training && training && training->curve().running) {
        training->curve().running = false;
        training->curve().name = run_name(false);
        if (!draft.training.curves.empty()) show_curves();
    }
    if (draft.source == Source::training && training) draft.trained = std::make_shared<const TrainingState>(draft.training);
    Shelf& left = shelves[draft.source];
    left = {std::move(draft.kernel),
            std::move(draft.training),
            std::move(draft.host),
            std::move(draft.tape),
            std::move(judged),
            std::nullopt,
            draft.whose,
            shown_kernel};
    if (draft.problem && draft.problem->severity != Severity::warning) left.problem = std::exchange(draft.problem, {});
    if (draft.source == Source::none) shelves.erase(draft.source);
    steps_to_run = 0;
    wants_timing = false;
    draft.source = wanted;
    Shelf found = std::move(shelves[wanted]);
    shelves.erase(wanted);
    draft.kernel = std::move(found.kernel);
    draft.training = std::move(found.training);
    draft.host = std::move(found.host);
    draft.tape = std::move(found.tape);
    draft.whose = std::move(found.whose);
    judged = std::move(found.judged);
    shown_kernel = found.shown_kernel;
    if (!draft.problem) draft.problem = std::move(found.problem);
    if (wanted == Source::training) draft.trained.reset();
    draft.training.setup = setup;
    draft.training.gpu = gpu;
    draft.training.open = training != nullptr;
}

void Session::Worker::serve_bring(Source wanted) {
    if (wanted == Source::lesson && !lesson) return;
    if (draft.source == wanted && wanted == Source::training && training) return;
    bring(wanted);
    if (wanted == Source::own) return show_own();

    const bool empty = !draft.kernel.run && !draft.training.step && !draft.host;
    if (wanted == Source::lesson && empty) show_lesson_step(lesson_step);
    if (wanted != Source::training) return;
    if (!training) {
        open_training();
        steps_to_run = setup == TrainingSetup{} ? 42 : 1;
    } else if (training->set_gpu(gpu); !draft.training.step) {
        steps_to_run = std::max<int64_t>(1, steps_to_run);
    } else {  // it may have been stopped for another one, or be on another GPU now
        if (!draft.training.step->launches.empty()) draft.training.step = training->at(draft.training.step->step);
        wants_timing = true;
    }
}

void Session::Worker::busy(std::string text, double progress) {
    draft.busy = std::move(text);
    draft.progress = progress;
    publish();
}

void Session::Worker::guarded(const std::function<void()>& work) {
    try {
        work();
    } catch (const Cancelled&) {  // whoever asked for it knows
    } catch (const Failure& failure) {
        draft.problem = failure.diagnostic;
    } catch (const std::bad_alloc&) {
        draft.problem = Diagnostic{"not enough memory for that"};
    } catch (const std::exception& error) {
        draft.problem = Diagnostic{error.what()};
    }
}

std::stop_token Session::Worker::job_token() {
    const std::lock_guard lock(mutex);
    return job.get_token();
}

bool Session::Worker::note_is_up() const {
    return draft.problem && draft.problem->severity == Severity::note;
}

void Session::Worker::forget_note() {
    if (!note_is_up()) return;
    draft.problem.reset();
    publish();
}

bool Session::Worker::superseded() const {
    return closing || std::any_of(queue.begin(), queue.end(), [](const Request& r) { return manner_of(r).interrupts; });
}

void Session::Worker::run(const std::stop_token& stop) {
    gpu = options.gpu;
    setup = options.setup;
    guarded([&] {
        if (options.cluster && options.lesson.empty())
            show_cluster(nullptr);
        else if (const auto puzzles = lessons::puzzle_files(); options.build && options.lesson.empty() && !puzzles.empty())
            open_build(
                {.puzzle =
                     puzzles[std::clamp<size_t>(static_cast<size_t>(options.puzzle), 1, puzzles.size()) - 1].string()});
        else if (options.own_kernel && options.lesson.empty())
            bring(Source::own), busy("");
        else if (options.lesson.empty())
            open_training();
        else
            open_lesson(options.lesson, options.lesson_step);
    });
    if (options.lesson.empty() && training) steps_to_run = options.training_steps;
    bool worked = true;  // since memory was given back
    while (!stop.stop_requested()) {
        std::optional<Request> request;
        {
            std::unique_lock lock(mutex);
            const auto something = [&] { return !queue.empty(); };
            if (queue.empty() && steps_to_run == 0 && !wants_timing) {
                if (!draft.busy.empty()) {
                    lock.unlock();
                    busy("");
                    lock.lock();
                }
                if (queue.empty()) {
                    working = false;
                    settled.notify_all();
                }
                constexpr auto quiet = std::chrono::milliseconds(400);
                if (std::exchange(worked, false) && !wake.wait_for(lock, stop, quiet, something)) {
                    lock.unlock();
                    system::give_small_pieces_back();
                    lock.lock();
                }
                if (note_is_up() && !wake.wait_until(lock, stop, note_since + note_stands, something) &&
                    !stop.stop_requested()) {
                    lock.unlock();
                    forget_note();
                    lock.lock();
                }
                wake.wait(lock, stop, something);
            } else if (queue.empty() && steps_to_run != 0 && options.paced) {
                wake.wait_until(lock, stop, last_step + frame_of_training, something);
            }
            if (stop.stop_requested()) break;
            working = worked = true;
            if (note_is_up() && std::chrono::steady_clock::now() >= note_since + note_stands) draft.problem.reset();
            if (!queue.empty()) {
                request = std::move(queue.front());
                queue.pop_front();
                if (manner_of(*request).interrupts) job = std::stop_source();
                looking = std::stop_source();
                if (superseded()) {  // it came before this one was taken
                    job.request_stop();
                    looking.request_stop();
                }
            }
        }
        guarded([&] {
            if (request)
                serve(*request);
            else if (steps_to_run != 0)
                train_one();
            else if (wants_timing)
                time_shown();
        });
        if (request) guarded([&] { keep_judged(); });
        if (request) publish();
    }
    const std::lock_guard lock(mutex);
    working = false;
    settled.notify_all();
}

void Session::Worker::serve(const Request& request) {
    std::visit(
        Overloaded{
            [&](const ask::OpenKernel& wish) { open_kernel(wish.launch); },
            [&](const ask::Train& wish) { train(wish.steps); },
            [&](const ask::Pause&) { pause(); },
            [&](const ask::ShowStep& wish) { show_step(wish.step); },
            [&](const ask::FocusWarp& wish) { focus_warp(wish.track); },
            [&](const ask::LanesAt& wish) { lanes_at(wish.step, wish.cycle); },
            [&](const ask::FetchStretch& wish) { fetch_stretch(wish.cycle); },
            [&](const ask::TraceSm& wish) { trace_sm(wish.sm, wish.cycle); },
            [&](const ask::ShowLessonStep& wish) {
                if (lesson) show_lesson_step(wish.step);
            },
            [&](const ask::LockPrediction& wish) { lock_prediction(wish.prediction, wish.step); },
            [&](const ask::WorkOutEnding&) { work_out_ending(); },
            [&](const ask::CheckExercise& wish) { check_exercise(wish); },
            [&](const ask::CancelCheck&) {
                next_check.reset();
                checker.request_stop();
            },
            [&](const ask::TakeCheck& ended) { take_check(ended.found); },
            [&](const ask::SetGpu& wish) { set_gpu(wish.name); },
            [&](const ask::Reload&) { reload(); },
            [&](const ask::OpenLesson& wish) { open_lesson(wish.id, wish.step); },
            [&](const ask::CloseLesson&) {
                close_lesson();
                serve_bring(Source::training);
            },
            [&](const ask::Dismiss&) { draft.problem.reset(); },
            [&](const ask::Tell& wish) {
                draft.problem = Diagnostic{wish.sentence, {wish.file}, {}, wish.good ? Severity::note : Severity::warning};
                note_since = std::chrono::steady_clock::now();
            },
            [&](const ask::RunOwn& wish) { own_kernel(*wish.job); },
            [&](const ask::OpenLaunch& wish) { open_launch(wish.launch); },
            [&](const ask::Bring& wish) { serve_bring(wish.source); },
            [&](const ask::Cancel&) {  // its coming stopped what was under way
                if (training) pause();
            },
            [&](const ask::LimitBlocks& wish) { run_resident(wish.most); },
            [&](const ask::SimulateGains&) { simulate_gains(); },
            [&](const ask::TryWhatIf& wish) { try_what_if(wish.name); },
            [&](const ask::CarveOut& wish) { run_carved(wish.bytes); },
            [&](const ask::SetUpTraining& wish) { change_setup(*wish.setup); },
            [&](const ask::OpenBuild& wish) { open_build(wish); },
            [&](const ask::OpenDesign& wish) { open_design(wish.number, static_cast<uint32_t>(wish.sm)); },
            [&](const ask::RunReal&) { run_real(); },
            [&](const ask::RunDesign& wish) { run_wish(*wish.wish); },
            [&](const ask::RunCluster& wish) { show_cluster(wish.setup); },
            [&](const ask::CompareMeasured& wish) { run_measured(wish.run, wish.beginning); }},
        request);
}

void Session::Worker::serve_light() {
    for (;;) {
        Request request;
        {
            const std::lock_guard lock(mutex);
            if (closing || job.stop_requested()) return;  // what waits is served behind this work, which ends now
            const auto found = std::find_if(queue.begin(), queue.end(), [](const Request& r) { return manner_of(r).light; });
            if (found == queue.end()) return;
            request = std::move(*found);
            queue.erase(found);
            looking = std::stop_source();
            if (superseded()) looking.request_stop();
        }
        guarded([&] { serve(request); });
    }
}

}  // namespace lockstep::gui
