// The learner's own tensor program: its text is read, it runs on the modelled GPU or the host, and its last step is
// published: graph, values, gradients and kernels. What is wrong, and the first value that is no finite number, becomes a
// message with its line; the program that ran last stays on show.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/gui/views/tape_data.h"
#include "app/gui/watchdog.h"
#include "app/gui/worker.h"
#include "core/base/diagnostic.h"
#include "core/nn/follow.h"
#include "lessons/player/tape_program.h"

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

}  // namespace

void Session::Worker::own_tape(const KernelJob& wanted) {
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    const Clock::time_point begin = Clock::now();
    wants_timing = false;
    auto made = std::make_shared<CompiledKernel>();
    made->version = wanted.version;
    made->source = wanted.text;
    const auto say = [&] {
        made->seconds = since(begin);
        draft.compiled = made;
        if (made->ok) draft.runnable = made;
        busy("");
    };
    const auto program = lessons::parse_tape(wanted.text, wanted.name);
    made->ok = program.ok();
    if (!program.ok()) {
        made->messages.push_back(in_text(program.error(), wanted.text));
        return say();
    }
    if (!wanted.run) return say();

    auto result = std::make_shared<KernelResult>();
    result->version = wanted.version;
    result->edited_at = wanted.edited_at;
    result->settings = wanted.launch;
    result->gpu = wanted.launch.gpu;
    result->kernel = wanted.name;
    result->timed = wanted.launch.timed;
    const std::string device = wanted.launch.timed ? "sim:" + wanted.launch.gpu : "host";
    busy("running " + wanted.name + (result->timed ? " on the modelled " + upper(result->gpu) : " on the host"));
    std::stop_source source;
    const Watchdog watchdog(wanted.on_change && options.paced ? most_unasked_seconds : 0, source);
    const std::stop_callback newer(job_token(), [&] { source.request_stop(); });
    lessons::TapeRunOptions how;
    how.device = device;
    how.keep_runs = how.watch = true;
    how.stop = source.get_token();
    how.progress = [this](double) { serve_light(); };
    std::shared_ptr<const lessons::TapeRun> ran;
    try {
        const auto run = lessons::run_tape(program.value(), how);
        if (!run.ok() && !source.stop_requested()) {
            made->ok = false;
            made->messages.push_back(in_text(run.error(), wanted.text));
            return say();
        }
        if (run.ok()) ran = run.value();
    } catch (const Failure& failure) {
        if (!source.stop_requested()) {
            made->ok = false;
            made->messages.push_back(failure.diagnostic);
            return say();
        }
    }
    result->seconds = since(begin);
    if (!ran) {
        result->cancelled = !watchdog.barked();
        result->refused =
            Diagnostic{watchdog.barked() ? "given up after a second: Run waits for it as long as it takes" : "cancelled"};
        draft.own_result = result;
        return say();
    }
    for (size_t i = 0, check = 0; i < ran->text.statements.size(); ++i) {
        const lessons::TapeStatement& one = ran->text.statements[i];
        if (one.kind != lessons::TapeStatement::Kind::gradcheck || check >= ran->checks.size()) continue;
        if (const tensor::GradcheckResult& found = ran->checks[check++]; !found.ok())
            made->messages.push_back({"gradcheck: " + found.text(), {wanted.name, one.line, 0}});
    }
    if (ran->anomaly) made->messages.push_back({lessons::anomaly_text(*ran), {wanted.name, ran->anomaly_line, 0}});
    const bool other = !tape_run || tape_run->text.file != ran->text.file;
    tape_run = ran;
    draft.own_result = result;
    draft.host.reset();
    draft.problem.reset();
    show_tape(other);
    say();
}

void Session::Worker::show_tape(bool other) {
    own = true;
    draft.tape = tape_run;
    auto followed = std::make_shared<nn::StepRecord>(*tape_run->step);
    if (!followed->followed && !followed->nodes.empty() && !tape_run->anomaly)
        followed->followed = std::make_shared<const nn::Followed>(nn::follow(*tape_run->step));
    draft.step = draft.first_step = std::move(followed);
    draft.curves.clear();
    Curve& curve = draft.curves.emplace_back();
    curve.name = tape_run->text.steps > 1 ? "loss" : "one step";
    curve.loss = tape_run->loss;
    curve.total_steps = tape_run->text.steps;
    // A program that is edited stays where it was; another one stands at its end, with all that it found.
    const auto launches = static_cast<int64_t>(draft.step->launches.size());
    const int64_t launch = other || shown_kernel < 0 ? launches - 1 : std::min(shown_kernel, launches - 1);
    if (other) shown_kernel = -1;
    open_kernel(launch, true);
    own = true;
    publish();
}

}  // namespace lockstep::gui
