// Running a kernel of tests/programs: buffers by value, launches in any order of warps or timed, with the checkers on.
#pragma once
#include <cstring>
#include <map>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/device/arguments.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace lockstep::test {

struct How {  // a program runs
    std::string name;
    simt::WarpOrder order = simt::WarpOrder::round_robin;
    bool timed = false;
};

// One module, loaded: its kernels share device memory, so its variables live from launch to launch.
class Machine {
  public:
    Machine(const ptx::Module& module, const How& how) : module_(module), how_(how) {}

    template <class T>
    device::Pointer put(const std::vector<T>& values) {
        const device::Pointer p{memory_.allocate(std::max<size_t>(1, values.size() * sizeof(T)), "buffer")};
        if (!values.empty())
            std::memcpy(memory_.write(p.address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
        return p;
    }
    template <class T>
    std::vector<T> get(device::Pointer p, size_t count) {
        std::vector<T> values(count);
        if (count) std::memcpy(values.data(), memory_.read(p.address, count * sizeof(T)), count * sizeof(T));
        return values;
    }
    template <class T>
    void set_variable(const std::string& kernel, const std::string& name, const std::vector<T>& values) {
        const auto program = program_of(kernel);
        const std::vector<uint64_t> addresses = simt::place_variables(*program, memory_);
        for (size_t i = 0; i < addresses.size(); ++i)
            if (program->variables[i].name == name)
                return void(std::memcpy(memory_.write(addresses[i], values.size() * sizeof(T)), values.data(),
                                        values.size() * sizeof(T)));
        FAIL("no variable " << name);
    }

    void run(const std::string& kernel, simt::Dim3 grid, simt::Dim3 block, uint32_t shared,
             const std::vector<device::Argument>& arguments) {
        const auto program = program_of(kernel);
        const simt::LaunchConfig config{grid, block, shared, device::pack(*program, arguments)};
        const model::GpuSpec gpu = model::gpu_named("v100").value();
        if (const auto problem = simt::check_launch(*program, config, model::limits_of(gpu))) FAIL(problem->message);
        simt::LaunchResult result;
        if (how_.timed) {
            model::TimedOptions options;
            options.trace = false;
            options.racecheck = options.initcheck = true;
            result = model::launch(gpu, *program, config, memory_, options);
        } else {
            simt::LaunchOptions options = model::functional_options(gpu, *program, config);
            options.order = how_.order;
            options.seed = 7;
            options.racecheck = options.initcheck = true;
            result = simt::launch(*program, config, memory_, options);
        }
        if (result.fault) FAIL(kernel << ": " << simt::render(*result.fault));
        for (const simt::Fault& report : result.reports) FAIL_CHECK(kernel << " is clean, but: " << simt::render(report));
        for (const simt::Fault& warning : result.warnings) FAIL_CHECK(kernel << " is clean, but: " << simt::render(warning));
    }

  private:
    std::shared_ptr<const ptx::Program> program_of(const std::string& kernel) {
        auto& program = programs_[kernel];
        if (!program) program = ptx::decode(module_, kernel).value();
        return program;
    }
    const ptx::Module& module_;
    How how_;
    simt::Memory memory_;
    std::map<std::string, std::shared_ptr<const ptx::Program>> programs_;
};

template <class T>
std::vector<T> random_values(size_t count, uint64_t seed, double low, double high) {
    Rng rng(seed);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(rng.uniform(low, high));
    return values;
}

// Every value within `relative` of the expected one, measured against the largest expected value; NaN is never within.
template <class T, class E>
void check_close(const std::vector<T>& got, const std::vector<E>& expected, double relative) {
    REQUIRE(got.size() == expected.size());
    double largest = 0, worst = 0;
    size_t at = 0;
    for (const E e : expected) largest = std::max(largest, std::abs(static_cast<double>(e)));
    for (size_t i = 0; i < got.size(); ++i) {
        const double apart = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
        if (!(apart <= worst)) worst = apart, at = i;
    }
    INFO("at " << at << ": " << got[at] << ", expected " << expected[at]);
    CHECK(worst <= relative * largest);
}

}  // namespace lockstep::test
