// Which devices there are, by name.
#include "core/device/devices.h"

#include <fmt/format.h>

#include "core/base/nearest.h"
#include "core/model/gpus/gpu_spec.h"

namespace lockstep::device {

int64_t Device::create_texture(const simt::Texture&) {
    throw Failure(name() + " has no textures: they are for 'sim:GPU' and 'cuda'");
}
void Device::release_texture(int64_t) {}

Result<std::unique_ptr<Device>> open_device(const std::string& name, const DeviceOptions& options) {
    if (options.threads < 1 || options.threads > 1024)
        return Diagnostic{
            fmt::format("{} threads are impossible, at least 1 and at most 1024 can be asked for", options.threads)};
    if (name == "host") return make_host(options);
    if (name == "meta") return make_meta(options);
    if (name.starts_with("sim:")) {
        auto gpu = model::gpu_named(std::string_view(name).substr(4));
        if (!gpu) return gpu.error();
        return make_sim(gpu.value(), name, options);
    }
    if (name.starts_with("cuda:")) return make_cuda(name.substr(5), options);
    std::vector<std::string> known = {"host", "meta"};
    for (const model::GpuSpec& gpu : model::gpus()) known.push_back("sim:" + std::string(gpu.name));
    known.push_back("cuda:0");
    const std::string hint = did_you_mean(name, known, "");
    return Diagnostic{fmt::format("unknown device '{}'{}; known: {}", name, hint, fmt::join(known, ", "))};
}

std::vector<DeviceListing> list_devices() {
    std::vector<DeviceListing> listings = {{"host", make_host({})->description(), true},
                                           {"meta", make_meta({})->description(), true}};
    for (const model::GpuSpec& gpu : model::gpus()) {
        const std::string name = "sim:" + std::string(gpu.name);
        listings.push_back({name, make_sim(gpu, name, {})->description(), true});
    }
    for (DeviceListing& gpu : list_cuda()) listings.push_back(std::move(gpu));
    return listings;
}

}  // namespace lockstep::device
