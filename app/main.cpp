// The one binary: the command line in front, the app behind it (or its twin where the app was not built).
#include <csignal>
#if __has_include(<unistd.h>)
#include <fcntl.h>
#include <unistd.h>
#endif

#include "app/cli/cli.h"
#include "app/gui/app.h"
#include "app/gui/window/bench.h"
#include "core/device/compile/child_process.h"

namespace {

// A closed stdin, stdout or stderr would give its number to the next file that opens, and messages would be written into
// that. Stdout can be read only: what is written there fails as before, and says so.
void occupy_standard_files() {
#if __has_include(<unistd.h>)
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", file == STDERR_FILENO ? O_WRONLY : O_RDONLY) != file) return;
#endif
}

}  // namespace

int main(int argc, char** argv) {
    occupy_standard_files();
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
