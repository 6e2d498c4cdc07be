#include "app/start.h"

#include "app/cli/cli.h"
#include "app/cli/lesson/grade_task.h"
#include "app/gui/app.h"
#include "app/gui/window/bench.h"
#include "app/silicon/silicon.h"
#include "core/device/compile/compilers.h"
#include "core/system/system.h"

namespace lockstep {

int start(int argc, char** argv) {
    system::prepare_process();
    const system::ChildTask memory_task{.name = gui::memory_task_name, .answer = gui::memory_of_app};
    const system::ChildTask tasks[] = {device::nvrtc_task, device::measuring_task, cli::grade_task, memory_task};
    system::serve_task(argc, argv, tasks);
    cli::Hooks hooks;
    hooks.app = gui::run_app;
    hooks.app_bench = [](std::string_view name) {
        std::vector<cli::BenchRow> rows;
        for (const auto& rate : gui::bench_app(name)) rows.push_back({rate.name, rate.value, rate.unit, rate.config});
        for (const auto& rate : gui::bench_manners(name)) rows.push_back({rate.name, rate.value, rate.unit, rate.config});
        return rows;
    };
    return cli::run_command_line(argc, argv, hooks);
}

}  // namespace lockstep
