// The measured launches on the modelled GPUs, for the view `measured`. What this program ran before, here or as `lockstep
// validate silicon`, is in a file of the user's cache; the rest takes a minute or two and is run when asked for.
#include <fmt/format.h>

#include <thread>

#include "app/gui/work/worker.h"
#include "app/silicon/compare/compare.h"
#include "app/silicon/measured.h"
#include "core/base/cores.h"

namespace lockstep::gui {

void Session::Worker::run_measured(bool run, const std::string& beginning) {
    const device::MeasuredStore store = device::read_measured(device::measured_folder());
    device::SiliconCache cache(device::silicon_cache_file());
    const auto show_known = [&] {
        auto reports = std::make_shared<std::vector<device::SiliconReport>>();
        for (const device::MeasuredGpu& gpu : store.gpus)
            if (!gpu.model.empty())
                reports->push_back(device::compare_silicon(gpu.file, gpu.model, {.cache = &cache, .kept_only = true}));
        draft.silicon = std::move(reports);
        busy("");
    };
    busy("looking up what the model gives for the measured kernels");
    show_known();
    if (!run) return;
    busy("running the measured kernels on the model", 0);
    device::CompareOptions wanted;
    wanted.cache = &cache;
    wanted.threads = static_cast<int>(cores());
    wanted.stop = job_token();
    // Called on other threads, one at a time, while this one waits for them.
    wanted.finished = [&](std::string_view name, size_t done, size_t of) {
        busy(fmt::format("running the measured kernels on the model: {} of {}, {}", done, of, name),
             static_cast<double>(done) / static_cast<double>(of));
    };
    try {
        for (const device::MeasuredGpu& measured_gpu : store.gpus) {
            device::SiliconFile asked = measured_gpu.file;
            for (device::SiliconPart& part : asked.parts)
                std::erase_if(part.kernels, [&](const auto& kernel) { return !kernel.name.starts_with(beginning); });
            if (!measured_gpu.model.empty()) device::compare_silicon(asked, measured_gpu.model, wanted);
        }
    } catch (const Failure&) {
        show_known();  // what got ready
        throw;
    }
    show_known();
}

}  // namespace lockstep::gui
