// The worker's loop: one request or one piece of running work at a time, a publication after each.
#include "app/gui/work/worker.h"

#include <algorithm>

#include "core/base/diagnostic.h"

namespace lockstep::gui {

namespace {

constexpr auto frame_of_training = std::chrono::milliseconds(90);  // a run that a person can follow: 11 steps a second

bool is_light(Request::Kind kind) {
    return kind == Request::Kind::focus_warp || kind == Request::Kind::lanes_at || kind == Request::Kind::fetch_stretch ||
           kind == Request::Kind::trace_sm || kind == Request::Kind::dismiss || kind == Request::Kind::tell ||
           kind == Request::Kind::cluster;
}

}  // namespace

bool interrupts(Request::Kind kind) {
    using Kind = Request::Kind;
    return kind == Kind::train || kind == Kind::show_step || kind == Kind::set_gpu || kind == Kind::reload ||
           kind == Kind::open_lesson || kind == Kind::lesson_step || kind == Kind::own_kernel || kind == Kind::cancel_own ||
           kind == Kind::resident || kind == Kind::carve_out || kind == Kind::setup;
}

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

bool Session::Worker::superseded() const {
    return closing || std::any_of(queue.begin(), queue.end(), [](const Request& r) { return interrupts(r.kind); });
}

void Session::Worker::run(const std::stop_token& stop) {
    gpu = options.gpu;
    setup = options.setup;
    guarded([&] {
        if (options.cluster && options.lesson.empty())
            show_cluster(nullptr);
        else if (options.own_kernel && options.lesson.empty())
            busy("");
        else if (options.lesson.empty())
            open_training();
        else
            open_lesson(options.lesson, options.lesson_step);
    });
    if (options.lesson.empty() && training) steps_to_run = options.training_steps;
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
                wake.wait(lock, stop, something);
            } else if (queue.empty() && steps_to_run != 0 && options.paced) {
                wake.wait_until(lock, stop, last_step + frame_of_training, something);
            }
            if (stop.stop_requested()) break;
            working = true;
            if (!queue.empty()) {
                request = std::move(queue.front());
                queue.pop_front();
                if (interrupts(request->kind)) job = std::stop_source();
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
        if (request) publish();
    }
    const std::lock_guard lock(mutex);
    working = false;
    settled.notify_all();
}

void Session::Worker::serve(const Request& request) {
    using Kind = Request::Kind;
    switch (request.kind) {
        case Kind::open_kernel:
            return open_kernel(request.index);
        case Kind::train:
            return train(request.index);
        case Kind::pause:
            return pause();
        case Kind::show_step:
            return show_step(request.index);
        case Kind::focus_warp:
            return focus_warp(request.index);
        case Kind::lanes_at:
            return lanes_at(request.index, request.cycle);
        case Kind::fetch_stretch:
            return fetch_stretch(request.index);
        case Kind::trace_sm:
            return trace_sm(request.index, request.cycle);
        case Kind::lesson_step:
            if (lesson) show_lesson_step(static_cast<int>(request.index));
            return;
        case Kind::lock_prediction:
            return lock_prediction(request.index);
        case Kind::check_exercise:
            return check_exercise();
        case Kind::set_gpu:
            return set_gpu(request.text);
        case Kind::reload:
            return reload();
        case Kind::open_lesson:
            if (!request.text.empty()) return open_lesson(request.text, static_cast<int>(request.index));
            close_lesson();
            open_training();
            steps_to_run = 41;
            return;
        case Kind::dismiss:
            draft.problem.reset();
            return;
        case Kind::own_kernel:
            if (request.job) own_kernel(*request.job);
            return;
        case Kind::show_own:
            return show_own();
        case Kind::cancel_own:
            if (training) pause();
            return;  // its coming stopped what was under way
        case Kind::setup:
            if (request.setup) change_setup(*request.setup);
            return;
        case Kind::resident:
            return run_resident(request.index);
        case Kind::carve_out:
            return run_carved(request.index);
        case Kind::measured:
            return run_measured(request.index != 0, request.text);
        case Kind::cluster:
            return show_cluster(request.cluster);
        case Kind::tell:
            draft.problem = Diagnostic{request.text, {}, {}, Severity::warning};
            return;
    }
}

void Session::Worker::serve_light() {
    for (;;) {
        Request request;
        {
            const std::lock_guard lock(mutex);
            const auto found = std::find_if(queue.begin(), queue.end(), [](const Request& r) { return is_light(r.kind); });
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
