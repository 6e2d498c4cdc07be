// The makers of devices, for devices.cpp (the list) and tests.
#pragma once
#include <memory>

#include "core/device/device.h"

namespace lockstep::model {
struct GpuSpec;
}

namespace lockstep::device {

std::unique_ptr<Device> make_host(const DeviceOptions& options);
std::unique_ptr<Device> make_meta(const DeviceOptions& options);
std::unique_ptr<Device> make_sim(const model::GpuSpec& gpu, const std::string& name, const DeviceOptions& options);
Result<std::unique_ptr<Device>> make_cuda(const std::string& ordinal, const DeviceOptions& options);  // "0"

std::vector<DeviceListing> list_cuda();  // every GPU of the driver, or one line that says what is missing

}  // namespace lockstep::device
