// Runs one row's kernel on the modelled GPU and makes the row's figure of what the kernel noted. See validate.h.
#pragma once
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/model/launch/launch.h"
#include "core/validate/validate.h"

namespace lockstep::validate {

// Programs by file and kernel, decoded once.
class Programs {
  public:
    const ptx::Program& get(const std::string& folder, std::string_view file, std::string_view kernel);

  private:
    std::map<std::string, std::shared_ptr<const ptx::Program>> programs_;
};

// Puts the arguments one behind the other where the program's parameters lie; those that it does not have are left out.
struct Arguments {
    const ptx::Program* program;
    std::vector<std::byte> block;
    size_t next = 0;
    explicit Arguments(const ptx::Program& p) : program(&p), block(p.parameter_bytes) {}
    template <class T>
    void add(T value) {
        if (next >= program->parameters.size()) return;
        std::memcpy(block.data() + program->parameters[next++].offset, &value, sizeof value);
    }
};

// The row on four SMs (two where they do not divide) with their share of L2 and of DRAM, its work cut alike and half as
// long; a rung of the ladder on a twelfth of the GPU, as long as ever.
Case part_of(const Case& row);
model::GpuSpec gpu_of(const Case& row);

// The GPU at another clock of its SMs: bytes a second of DRAM and the host's times do not change with it, all else is in
// cycles.
model::GpuSpec at_clock(model::GpuSpec gpu, double mhz);

// What a micro-benchmark's launch gave: of its warps the first begin and the last end, on the SM's clock, and its time.
struct Noted {
    int64_t first_begin = 0, last_end = 0;
    double seconds = 0;
    double sectors = 0;  // a request, from the counters
};
Noted noted_by(std::span<const std::byte> clocks);  // pairs of 64 bits, one a warp; seconds and sectors are not there
uint64_t warps_of(const Case& row);
// Fills `at`, which lies at `address` on the device, with the row's ring of links.
void make_ring(const Case& row, std::byte* at, uint64_t address);
// The row's figure from a launch of row.n, and, where it takes the difference, from one of twice as many.
double figure_of(const Case& row, const model::GpuSpec& gpu, const Noted& once, const std::function<Noted()>& twice);

double measure(const Case& row, Programs& programs);        // in the row's unit
double measure_sgemm(const Case& row, Programs& programs);  // sgemm.cpp

// The row's micro-benchmark with n rounds; `clocks`: where its warps noted theirs.
model::TimedResult run_row(const Case& row, const model::GpuSpec& gpu, const ptx::Program& program, int32_t n,
                           simt::Memory& memory, uint64_t& clocks);
// Launches without a trace; throws Failure with the fault's text.
model::TimedResult run_kernel(const model::GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                              simt::Memory& memory);

}  // namespace lockstep::validate
