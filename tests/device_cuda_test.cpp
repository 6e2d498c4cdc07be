// The cuda device over a driver whose GPU is the modelled one (tests/driver): every bundled kernel gives what the modelled
// GPU gives, bit by bit; times are measured and in order; what goes wrong says what and where.
#include <cstdlib>

#include "core/device/devices.h"
#include "core/device/kernel_library.h"
#include "tests/catch.h"
#include "tests/device_cases.h"

using namespace lockstep;
using namespace lockstep::device;
using Catch::Contains;

namespace {
std::unique_ptr<Device> open_cuda() {
    setenv("LOCKSTEP_LIBCUDA", LOCKSTEP_MODELLED_DRIVER, 1);
    return open_device("cuda:0").value();
}
template <class F>
std::string message_of(const F& f) {
    try {
        f();
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return "nothing was refused";
}
}  // namespace

TEST_CASE("every bundled kernel gives the same bits through the driver as on the modelled GPU") {
    const auto cuda = open_cuda();
    const auto sim = open_device("sim:v100", {.functional = true}).value();
    for (const KernelRow& row : kernels()) {
        const KernelCase it = case_of(row, {17, 33, 19}, 5);
        const auto expected = run_case(*sim, it), got = run_case(*cuda, it);
        for (size_t i = 0; i < expected.size(); ++i) {
            INFO(row.name);
            CHECK(difference(expected[i], got[i]) == 0.0);
        }
    }
}

TEST_CASE("a launch on the cuda device is measured: its times are in order and follow one another") {
    const auto cuda = open_cuda();
    CHECK(cuda->provenance() == "measured");
    CHECK_THAT(cuda->description(), Contains("Modelled GPU, 80 SMs at 1530 MHz, compute capability 7.0"));
    std::vector<LaunchEvent> events;
    cuda->on_launch = [&](const LaunchEvent& event) { events.push_back(event); };
    const KernelCase it = case_of(kernel_named("relu_f32"), {64, 64, 1}, 1);
    for (int i = 0; i < 3; ++i) run_case(*cuda, it);
    REQUIRE(events.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
        CHECK(events[i].index == i);
        CHECK(events[i].enqueue_begin_us <= events[i].enqueue_end_us);
        CHECK(events[i].begin_us < events[i].end_us);
        if (i) CHECK(events[i - 1].end_us <= events[i].begin_us);
    }
}

TEST_CASE("streams and events of the cuda device work, and unknown ones are refused") {
    const auto cuda = open_cuda();
    const Event done = cuda->record(3);
    cuda->wait(4, done);
    cuda->synchronize();
    CHECK_THAT(message_of([&] { cuda->wait(0, 99); }), Contains("event 99, which was never recorded"));
}

TEST_CASE("what the driver refuses is said in one sentence") {
    const auto cuda = open_cuda();
    CHECK_THAT(message_of([&] { cuda->allocate(size_t{1} << 40, "W1"); }),
               Contains("cuda:0: 1099511627776 bytes for 'W1' failed: out of memory"));
    const Pointer p = cuda->allocate(16, "x");
    float value = 0;
    CHECK_THAT(message_of([&] { cuda->copy_in({p.address + 8}, &value, 16); }), Contains("not inside one buffer"));
    cuda->release(p);
    CHECK_THAT(message_of([&] { cuda->release(p); }), Contains("no buffer's first byte"));
    CHECK_THAT(message_of([] { open_device("cuda:7").value(); }), Contains("there is no cuda:7: the driver finds 1 GPU"));
    CHECK_THAT(message_of([] { open_device("cuda:x").value(); }), Contains("cuda devices are cuda:0, cuda:1"));
}
