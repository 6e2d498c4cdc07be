// What launches of a program begin with: the kernel's PTX, its arguments and all device memory, in a folder, so that
// another process (the app) can open a launch and run it again cycle by cycle with its real buffers. Memory is kept in
// pages, and a page that has not changed since the launch before is not written again.
//   module-N.ptx   the PTX of a module, once
//   pages          pages of all snapshots, one behind the other
//   launch-N       launch N of the report: CBOR
#pragma once
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "core/base/result.h"
#include "core/ptx/parse/module.h"
#include "core/simt/device_runtime.h"
#include "core/simt/history/checkpoint.h"
#include "core/simt/launch.h"

namespace lockstep::runtime {

class SnapshotWriter {
  public:
    // At most so many bytes of pages are written, and so many are compared with those before: what a program with large
    // arrays or many launches may cost. A launch beyond them has no snapshot.
    static constexpr uint64_t most_written = uint64_t{512} << 20, most_compared = uint64_t{8} << 30;

    explicit SnapshotWriter(std::filesystem::path folder);
    // `launch`: its number in the report; `l2`: what L2 holds (model::packed_from). Nothing is thrown: where the disk is
    // full there is no snapshot.
    void take(size_t launch, const ptx::Module& module, const std::string& kernel, const simt::LaunchConfig& config,
              const simt::Memory& memory, std::span<const uint64_t> l2 = {});

  private:
    void write(size_t launch, const ptx::Module& module, const std::string& kernel, const simt::LaunchConfig& config,
               const simt::MemoryCheckpoint& now, std::span<const uint64_t> l2);
    uint64_t place_of(const simt::Page& page, size_t bytes);

    std::filesystem::path folder_;
    std::ofstream pages_;
    uint64_t written_ = 0, compared_ = 0, of_l2_ = 0;  // of_l2: written beside the pages
    simt::PageCount count_ = std::make_shared<std::atomic<uint64_t>>();
    simt::MemoryCheckpoint last_;
    std::unordered_map<const simt::Page*, uint64_t> places_;  // of the pages of `last_`, in the file
    std::map<std::string, size_t> modules_;                   // by name: the number in its file's name
    bool full_ = false;
};

struct OpenedLaunch {
    std::shared_ptr<const ptx::Module> module;
    std::shared_ptr<const ptx::Program> program;
    simt::LaunchConfig config;
    simt::Memory memory;
    std::vector<uint64_t> l2;  // what L2 held, as take() was given it
};

// Kernels that an opened launch launches itself: they run for their values alone, in the order of their launches, where it
// waits for them or when its grid has ended.
class OpenedChildren final : public simt::DeviceRuntime {
  public:
    OpenedChildren(std::shared_ptr<const ptx::Module> module, simt::Memory& memory, bool independent)
        : module_(std::move(module)), memory_(memory), independent_(independent) {}
    int start(simt::DeviceWork work) override;
    bool wait() override;
    std::shared_ptr<simt::DeviceRuntime> again(simt::Memory& memory) const override;
    size_t count() const { return count_; }  // of kernels that have run

  private:
    void run(const simt::DeviceWork& work);

    std::shared_ptr<const ptx::Module> module_;
    simt::Memory& memory_;
    bool independent_, faulted_ = false;
    size_t count_ = 0;
    std::deque<simt::DeviceWork> waiting_;
};

bool has_snapshot(const std::filesystem::path& folder, size_t launch);
// A Diagnostic where there is none, or the folder was damaged.
Result<OpenedLaunch> open_snapshot(const std::filesystem::path& folder, size_t launch);

}  // namespace lockstep::runtime
