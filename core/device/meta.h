// `meta`: a device without data, for planning. What a step would take is in use(): bytes now and at most, launches, copies.
#pragma once
#include <map>
#include <string>

#include "core/device/device.h"

namespace lockstep::device {

struct MetaUse {
    uint64_t bytes = 0, peak_bytes = 0;  // of buffers
    uint64_t allocations = 0, launches = 0, copied_in = 0;
};

class Meta final : public Device {
  public:
    explicit Meta(const DeviceOptions& options) : options_(options) {}

    std::string name() const override { return "meta"; }
    std::string description() const override {
        return "no data: shapes, launches, operations and bytes of a step, for models of any size";
    }
    std::string_view provenance() const override { return "derived"; }

    int64_t most_elements() const override { return int64_t{1} << 50; }

    Pointer allocate(size_t bytes, std::string_view name) override;
    void release(Pointer pointer) override;
    void copy_in(Pointer to, const void* from, size_t bytes, Stream stream) override;
    void copy_out(void* to, Pointer from, size_t bytes, Stream stream) override;  // throws Failure
    void launch(const LaunchRequest& request) override;
    Event record(Stream stream) override;
    void wait(Stream stream, Event event) override;
    void synchronize() override {}

    const MetaUse& use() const { return use_; }

  private:
    struct Buffer {
        size_t bytes = 0;
        std::string name;
    };
    const Buffer& inside(Pointer pointer, size_t bytes) const;

    DeviceOptions options_;
    std::map<uint64_t, Buffer> buffers_;
    uint64_t next_ = 256;
    MetaUse use_;
    Event events_ = 0;
};

}  // namespace lockstep::device
