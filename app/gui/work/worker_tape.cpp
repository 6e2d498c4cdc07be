// The learner's own tensor program: its text is read, it runs on the modelled GPU or the host, and its last step is
// published: graph, values, gradients and kernels. What is wrong, and the first value that is no finite number, becomes a
// message with its line, and the step in which that value arose is the one published; the program that ran last stays on
// show.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/gui/views/training/tape_data.h"
#include "app/gui/work/own_job.h"
#include "app/gui/work/worker.h"
#include "core/base/diagnostic.h"
#include "core/nn/train/follow.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {

namespace {

// A message about a piece of a line counts its column from that piece.
Diagnostic in_text(Diagnostic message, const std::string& text) {
    std::string piece = message.source_line;
    const std::string line = line_of(text, message.where.line);
    if (const size_t first = piece.find_first_not_of(" \t"); first != std::string::npos) {
        if (const size_t at = line.find(piece); at != std::string::npos && message.where.column > 0)
            message.where.column += static_cast<int>(at);
    }
    message.source_line = line;
    return message;
}

// The last launch of the node in which the first value arose that is no finite number; -1: unknown.
int64_t launch_of_anomaly(const nn::StepRecord& step, const tensor::Anomaly& anomaly) {
    for (const nn::GraphNode& node : step.nodes) {
        const std::vector<int>& launches = anomaly.backward ? node.backward_launches : node.forward_launches;
        if (node.name == anomaly.name && !launches.empty()) return *std::max_element(launches.begin(), launches.end());
    }
    return -1;
}

// In every tensor of the shape in which that value arose the element at its place; in the others as it was. The products on
// the edges are those of other elements: they are left out.
std::shared_ptr<const nn::Followed> followed_anomaly(const nn::StepRecord& step, const tensor::Anomaly& anomaly) {
    auto found = std::make_shared<nn::Followed>();
    if (step.followed) *found = *step.followed;
    found->edges.clear();
    found->element.resize(step.nodes.size(), -1);
    const auto fits = [&](const std::vector<int64_t>& shape) {
        if (shape.size() != anomaly.at.size()) return false;
        for (size_t i = 0; i < shape.size(); ++i)
            if (anomaly.at[i] < 0 || anomaly.at[i] >= shape[i]) return false;
        return true;
    };
    const std::vector<int64_t>* shape = nullptr;
    for (const nn::GraphNode& node : step.nodes) {
        if (node.name != anomaly.name) continue;
        if (!anomaly.backward) shape = &node.shape;
        for (const int input : node.inputs)  // what backward hands on has an input's shape
            if (const nn::GraphNode& one = step.nodes[static_cast<size_t>(input)];
                anomaly.backward && !shape && one.requires_grad && fits(one.shape))
                shape = &one.shape;
    }
    if (!shape || !fits(*shape)) return step.followed;
    int64_t element = 0;
    for (size_t i = 0; i < shape->size(); ++i) element = element * (*shape)[i] + anomaly.at[i];
    for (const nn::GraphNode& node : step.nodes)
        if (node.shape == *shape) found->element[static_cast<size_t>(node.id)] = element;
    return found;
}

}  // namespace

void Session::Worker::own_tape(const KernelJob& wanted) {
    const auto begin = std::chrono::steady_clock::now();
    wants_timing = false;
    const auto made = begun(wanted);
    const auto say = [&] {
        made->seconds = since(begin);
        draft.own.compiled = made;
        if (made->ok) draft.own.runnable = made;
        busy("");
    };
    const auto program = scene::parse_tape(wanted.text, wanted.name);
    made->ok = program.ok();
    if (!program.ok()) {
        made->messages.push_back(in_text(program.error(), wanted.text));
        return say();
    }
    if (!wanted.run) return say();

    const auto result = begun_run(wanted);
    result->timed = wanted.launch.timed;
    const std::string device = wanted.launch.timed ? "sim:" + wanted.launch.gpu : "host";
    busy("running " + wanted.name + (result->timed ? " on the modelled " + upper(result->gpu) : " on the host"));
    std::stop_source source;
    const Watchdog watchdog(wanted.on_change && options.paced ? most_unasked_seconds : 0, source);
    const std::stop_callback newer(job_token(), [&] { source.request_stop(); });
    scene::TapeRunOptions how;
    how.device = device;
    how.keep_runs = how.watch = true;
    how.stop = source.get_token();
    how.progress = [this](double) { serve_light(); };
    std::shared_ptr<const scene::TapeRun> ran;
    try {
        const auto run = scene::run_tape(program.value(), how);
        if (!run.ok() && !source.stop_requested()) {
            made->ok = false;
            made->messages.push_back(in_text(run.error(), wanted.text));
            return say();
        }
        if (run.ok()) ran = run.value();
        // Only the last step is kept whole, and there every value may be lost: the step in which the first one was is run
        // again, as the last one.
        if (ran && ran->anomaly && ran->anomaly_step + 1 < ran->text.steps) {
            scene::TapeText until = ran->text;
            until.steps = ran->anomaly_step + 1;
            const auto again = scene::run_tape(until, how);
            if (again.ok() && again.value()->anomaly) {
                auto shown = std::make_shared<scene::TapeRun>(*ran);
                shown->step = again.value()->step;
                shown->line_of_node = again.value()->line_of_node;
                ran = shown;
            }
        }
    } catch (const Failure& failure) {
        if (!source.stop_requested()) {
            made->ok = false;
            made->messages.push_back(failure.diagnostic);
            return say();
        }
    }
    result->seconds = since(begin);
    if (!ran) {
        result->refused = cut_short(*result, watchdog);
        draft.own.result = result;
        return say();
    }
    for (size_t i = 0, check = 0; i < ran->text.statements.size(); ++i) {
        const scene::TapeStatement& one = ran->text.statements[i];
        if (one.kind != scene::TapeStatement::Kind::gradcheck || check >= ran->checks.size()) continue;
        if (const tensor::GradcheckResult& found = ran->checks[check++]; !found.ok())
            made->messages.push_back({"gradcheck: " + found.text(), {wanted.name, one.line, 0}});
    }
    if (ran->anomaly) made->messages.push_back({scene::anomaly_text(*ran), {wanted.name, ran->anomaly_line, 0}});
    try {  // on the host: only values matter there
        scene::TapeRunOptions again = how;
        again.device = "host";
        again.keep_runs = false;
        for (const scene::TapeCause& found : scene::causes_of(*ran, again))
            made->messages.push_back({found.cause.text + (found.cause.advice.empty() ? "" : " " + found.cause.advice),
                                      {wanted.name, found.line, 0},
                                      {},
                                      Severity::warning});
    } catch (const Cancelled&) {  // a newer text is waiting; what ran is shown all the same
    }
    const bool other = !tape_run || tape_run->text.file != ran->text.file;
    tape_run = ran;
    draft.own.result = result;
    draft.host.reset();
    forget_fault();
    show_tape(other);
    say();
}

void Session::Worker::show_tape(bool other) {
    bring(Source::own);
    draft.tape = tape_run;
    auto followed = std::make_shared<nn::StepRecord>(*tape_run->step);
    if (!followed->followed && !followed->nodes.empty() && !tape_run->anomaly)
        followed->followed = std::make_shared<const nn::Followed>(nn::follow(*tape_run->step));
    if (tape_run->anomaly) followed->followed = followed_anomaly(*followed, *tape_run->anomaly);
    draft.training.step = draft.training.first_step = std::move(followed);
    draft.training.curves.clear();
    Curve& curve = draft.training.curves.emplace_back();
    curve.name = tape_run->text.steps > 1 ? "loss" : "one step";
    curve.loss = tape_run->loss;
    curve.total_steps = tape_run->text.steps;
    // A program that is edited stays where it was; another one stands at its end, with all that it found, or where its first
    // value arose that is no finite number.
    const auto launches = static_cast<int64_t>(draft.training.step->launches.size());
    const int64_t lost = tape_run->anomaly ? launch_of_anomaly(*draft.training.step, *tape_run->anomaly) : -1;
    const int64_t end = lost >= 0 ? lost : launches - 1;
    const int64_t launch = other || shown_kernel < 0 ? end : std::min(shown_kernel, launches - 1);
    if (other) shown_kernel = -1;
    open_kernel(launch, true);
    publish();
}

}  // namespace lockstep::gui
