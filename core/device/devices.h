// The makers of devices, for devices.cpp (the list) and tests.
#pragma once
#include <memory>

#include "core/device/device.h"

namespace lockstep::device {

std::unique_ptr<Device> make_host(const DeviceOptions& options);
std::unique_ptr<Device> make_sim(const model::GpuSpec& gpu, const std::string& name, const DeviceOptions& options);

}  // namespace lockstep::device
