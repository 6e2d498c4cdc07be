// The learner's own host program: its text is read, it runs on the modelled GPU with real data, and its timeline is
// published. What nothing keeps in order becomes a warning.
#include <chrono>

#include "app/gui/desk/work_file.h"
#include "app/gui/work/own_job.h"
#include "app/gui/work/worker.h"
#include "core/base/diagnostic.h"
#include "core/model/gpus/gpu_file.h"
#include "core/scene/host/host_program.h"

namespace lockstep::gui {

namespace {

// Where its kernels are: beside the file; of an exercise's copy, in the lesson's folder.
std::filesystem::path kernels_of(const std::filesystem::path& file, const scene::HostText& text,
                                 const lessons::Lesson* lesson) {
    std::filesystem::path folder = file.parent_path();
    std::error_code error;
    for (const std::string& kernels : text.kernel_files)
        if (lesson != nullptr && !std::filesystem::exists(folder / kernels, error)) return lesson->folder;
    return folder;
}

}  // namespace

void Session::Worker::own_host(const KernelJob& wanted) {
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin = Clock::now();
    busy("reading " + wanted.name);
    const auto made = begun(wanted);
    auto text = scene::parse_host(wanted.text, wanted.name);
    made->ok = text.ok();
    if (!text.ok()) made->messages.push_back(text.error());
    made->seconds = since(begin);
    draft.own.compiled = made;
    if (made->ok) draft.own.runnable = made;
    busy("");
    if (!wanted.run || !made->ok) return;

    const auto result = begun_run(wanted);
    const auto refuse = [&](Diagnostic why) {
        result->refused = std::move(why);
        draft.own.result = result;
        busy("");
    };
    const auto spec = model::gpu_named(result->gpu);
    if (!spec.ok()) return refuse(spec.error());
    busy("running " + wanted.name + " on the modelled " + upper(model::short_name(result->gpu)), 0);
    std::stop_source source;
    const Watchdog watchdog(wanted.on_change && options.paced ? most_unasked_seconds : 0, source);
    const std::stop_callback newer(job_token(), [&] { source.request_stop(); });
    scene::HostRunOptions how;
    how.stop = source.get_token();
    how.progress = [this](double share) { busy(draft.busy, share); };
    begin = Clock::now();
    auto run = scene::run_host(text.value(), spec.value(), kernels_of(wanted.path, text.value(), lesson.get()), how);
    result->seconds = since(begin);
    if (source.stop_requested()) return refuse(cut_short(*result, watchdog));
    if (!run.ok()) return refuse(run.error());
    if (!run.value()->hazards.empty()) {
        auto warned = std::make_shared<CompiledKernel>(*made);
        for (const std::string& hazard : run.value()->hazards)
            warned->messages.push_back(Diagnostic{hazard, {}, {}, Severity::warning});
        draft.own.compiled = draft.own.runnable = warned;
    }
    if (run.value()->fault) result->refused = Diagnostic{simt::render(*run.value()->fault)};
    draft.own.result = result;
    draft.host = run.value();
    draft.training.step.reset();
    forget_fault();
    const Focus nowhere;
    show_host(*draft.host, nowhere);
    forget_fault();  // a fault is a row of the report list
    busy("");
}

}  // namespace lockstep::gui
