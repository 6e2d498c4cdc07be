// The measured launches on the modelled GPUs, for the view `measured`. What this program ran before, here or as `lockstep
// validate silicon`, is in a file of the user's cache; the rest takes a minute or two and is run when asked for.
#include <fmt/format.h>

#include <thread>

#include "app/gui/worker.h"
#include "core/device/measured.h"
#include "core/device/silicon_compare.h"

namespace lockstep::gui {

void Session::Worker::run_measured(bool all) {
    const device::MeasuredStore store = device::read_measured(device::measured_folder());
    device::SiliconCache cache(device::silicon_cache_file());
    device::CompareOptions wanted;
    wanted.cache = &cache;
    wanted.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    wanted.stop = job_token();
    const auto compare = [&](bool run) {
        wanted.kept_only = !run;
        auto reports = std::make_shared<std::vector<device::SiliconReport>>();
        for (const device::MeasuredGpu& it : store.gpus)
            if (!it.model.empty()) reports->push_back(device::compare_silicon(it.file, it.model, wanted));
        draft.silicon = std::move(reports);
        busy("");
    };
    busy("looking up what the model gives for the measured kernels");
    compare(false);
    if (!all) return;
    busy("running the measured kernels on the model", 0);
    // Called on other threads, one at a time, while this one waits for them.
    wanted.finished = [&](std::string_view name, size_t done, size_t of) {
        busy(fmt::format("running the measured kernels on the model: {} of {}, {}", done, of, name),
             static_cast<double>(done) / static_cast<double>(of));
    };
    try {
        compare(true);
    } catch (const Failure&) {
        wanted.finished = nullptr;
        compare(false);  // what got ready
        throw;
    }
}

}  // namespace lockstep::gui
