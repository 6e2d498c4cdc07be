// The one binary: the command line in front, the app behind it (or its twin where the app was not built).
#include <csignal>

#include "app/cli/cli.h"
#include "app/gui/app.h"
#include "app/gui/bench.h"
#include "core/device/child_process.h"

int main(int argc, char** argv) {
    lockstep::device::serve_task(argc, argv);
#ifdef SIGXFSZ
    std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond the limit is a full disk: the write fails, and says so
#endif
    lockstep::cli::Hooks hooks;
    hooks.app = lockstep::gui::run_app;
    hooks.app_bench = [](std::string_view name) {
        std::vector<lockstep::cli::BenchRow> rows;
        for (const auto& rate : lockstep::gui::bench_app(name))
            rows.push_back({rate.name, rate.value, rate.unit, rate.config});
        return rows;
    };
    return lockstep::cli::run_command_line(argc, argv, hooks);
}
