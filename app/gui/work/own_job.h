// What the worker's jobs of the learner's own begin and end with alike, be it a kernel, a host program or a tensor program.
#pragma once
#include <chrono>
#include <memory>

#include "app/gui/desk/kernel_document.h"
#include "app/gui/work/watchdog.h"

namespace lockstep::gui {

inline double since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Of the job's text, before it is read.
inline std::shared_ptr<CompiledKernel> begun(const KernelJob& job) {
    auto made = std::make_shared<CompiledKernel>();
    made->version = job.version;
    made->source = job.text;
    return made;
}

// Of a program's run, before it runs.
inline std::shared_ptr<KernelResult> begun_run(const KernelJob& job) {
    auto result = std::make_shared<KernelResult>();
    result->version = job.version;
    result->edited_at = job.edited_at;
    result->settings = job.launch;
    result->gpu = job.launch.gpu;
    result->kernel = job.name;
    return result;
}

// Of a program's run that was stopped: a newer job waits, or it took long and nobody had asked for it by hand.
inline Diagnostic cut_short(KernelResult& result, const Watchdog& watchdog) {
    result.cancelled = !watchdog.barked();
    return {watchdog.barked() ? "given up after a second: Run waits for it as long as it takes" : "cancelled"};
}

}  // namespace lockstep::gui
