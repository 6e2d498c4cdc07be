// The modelled GPU as a device: its timeline, streams and events, what it keeps of a launch, and its sentences.
#include <chrono>
#include <cstring>
#include <thread>

#include "core/base/rng.h"
#include "core/device/device.h"
#include "core/device/kernels/kernel_cases.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/launch/launch.h"
#include "tests/catch.h"

namespace device_sim_test {

using namespace lockstep;
using namespace lockstep::device;
using namespace lockstep::device::kernel_cases;
using Catch::Matchers::Contains;

namespace {
std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return "nothing was thrown";
}

struct Fixture {
    std::unique_ptr<Device> device;
    std::vector<LaunchEvent> events;
    Pointer x, y;
    explicit Fixture(const DeviceOptions& options, const std::string& name = "sim:v100")
        : device(open_device(name, options).value()) {
        device->on_launch = [this](const LaunchEvent& event) { events.push_back(event); };
        x = device->allocate(4096, "x");
        y = device->allocate(4096, "y");
    }
    void relu(Stream stream = 0, int n = 1024) {
        device->launch(
            {.kernel = "relu_f32", .grid = {4}, .block = {256}, .arguments = {x, y, n}, .stream = stream, .label = "relu"});
    }
};
}  // namespace

TEST_CASE("a timed launch and a functional one leave the same bits, on every kernel") {
    const auto timed = open_device("sim:v100"), functional = open_device("sim:v100", {.functional = true});
    for (const KernelRow& row : kernels()) {
        INFO(row.name);
        const KernelCase kernel_case = case_of(row, {33, 37, 19}, 3);
        const auto a = run_case(*timed.value(), kernel_case), b = run_case(*functional.value(), kernel_case);
        for (size_t i = 0; i < a.size(); ++i) CHECK(difference(a[i], b[i]) == 0.0);
    }
}

TEST_CASE("the host enqueues one kernel after another, and a kernel waits for the one before and for its launch latency") {
    const model::GpuSpec gpu = model::gpu_named("v100").value();
    Fixture it({});
    for (int i = 0; i < 3; ++i) it.relu();
    REQUIRE(it.events.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
        const LaunchEvent& event = it.events[i];
        CHECK(event.index == i);
        CHECK(event.enqueue_end_us - event.enqueue_begin_us == Approx(gpu.launch_us.value));
        CHECK(event.begin_us >= event.enqueue_end_us + gpu.launch_latency_us - 1e-9);
        CHECK(event.cycles > 0);
        CHECK(event.end_us - event.begin_us == Approx(static_cast<double>(event.cycles) / gpu.boost_mhz));
        CHECK(event.warp_instructions > 0);
        CHECK(event.run == nullptr);
        if (i > 0) {
            CHECK(event.enqueue_begin_us == Approx(it.events[i - 1].enqueue_end_us));
            CHECK(event.begin_us >= it.events[i - 1].end_us);
        }
    }
    it.device->synchronize();
    it.relu();
    CHECK(it.events[3].enqueue_begin_us >= it.events[2].end_us);
}

TEST_CASE("a copy takes a call, its latency and its bytes at the speed of pageable memory, and the host waits for it") {
    const model::GpuSpec gpu = model::gpu_named("v100").value();
    Fixture it({.functional = true});
    const std::vector<float> values(1024, 1.0f);
    it.device->copy_in(it.x, values.data(), 4096);
    it.relu();
    CHECK(it.events[0].enqueue_begin_us ==
          Approx(gpu.launch_us + gpu.copy_latency_us + 4096.0 / (gpu.pageable_gb_per_second * 1e3)));
}

TEST_CASE("every copy is told, with its buffer and its times") {
    Fixture it({.functional = true});
    std::vector<CopyEvent> copies;
    it.device->on_copy = [&](const CopyEvent& event) { copies.push_back(event); };
    std::vector<float> values(256, 1.0f);
    it.device->copy_in(it.x, values.data(), 1024);
    it.device->copy_out(values.data(), it.y, 512, 3);
    REQUIRE(copies.size() == 2);
    CHECK(copies[0].name == "x");
    CHECK(copies[0].to_device);
    CHECK(copies[1].name == "y");
    CHECK(!copies[1].to_device);
    CHECK(copies[1].bytes == 512);
    CHECK(copies[1].stream == 3);
    CHECK(copies[1].begin_us >= copies[0].end_us);
}

TEST_CASE("small kernels of two streams run at the same time, of one stream one after the other") {
    for (const bool two : {true, false}) {
        Fixture it({});
        for (const Stream stream : {1u, two ? 2u : 1u})
            it.device->launch({.kernel = "strided_gather_f32",
                               .grid = {1},
                               .block = {256},
                               .arguments = {it.x, it.y, 1024, 8, 200},
                               .stream = stream});
        const LaunchEvent &a = it.events[0], &b = it.events[1];
        CHECK(a.end_us - a.begin_us > 10);  // long enough for the second to be there in time
        CHECK(b.end_us - b.begin_us == Approx(static_cast<double>(b.cycles) / 1530));
        if (two)
            CHECK(b.begin_us == Approx(b.enqueue_end_us + 3.0));  // the launch latency, nothing else
        else
            CHECK(b.begin_us == Approx(a.end_us + model::gpu_named("v100").value().launch_gap_us));
    }
}

TEST_CASE("ten thousand launches without a pause are placed in no time") {
    Fixture it({.functional = true});
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 10'000; ++i) it.relu(0, 1);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    CHECK(it.events.size() == 10'000);
    if (seconds > 4) WARN("took " << seconds << " s");
}

TEST_CASE("an event orders streams: what follows its wait begins after what came before its record") {
    Fixture it({});
    it.relu(1);
    const Event event = it.device->record(1);
    it.device->wait(2, event);
    it.relu(2);
    CHECK(it.events[1].begin_us >= it.events[0].end_us);
    CHECK_THAT(message_of([&] { it.device->wait(2, event + 1); }), Contains("never recorded"));
}

TEST_CASE("a kept run has the trace, the source and device memory as the launch found it") {
    Fixture it({.keep_runs = true});
    const std::vector<float> values(1024, -3.0f);
    it.device->copy_in(it.y, values.data(), 4096);
    it.relu();
    const auto& run = it.events.at(0).run;
    REQUIRE(run);
    CHECK(run->program->kernel == "relu_f32");
    CHECK_THAT(run->source, Contains("__device__ void relu("));
    CHECK(!run->result.trace.issues.empty());
    CHECK(run->result.cycles == it.events[0].cycles);
    float before = 0, after = 1;
    std::memcpy(&before, run->before->read(it.y.address, 4), 4);
    it.device->copy_out(&after, it.y, 4);
    CHECK(before == -3.0f);
    CHECK(after == 0.0f);
}

TEST_CASE("the simulated timeline is the same every time") {
    Fixture first({}), second({});
    for (Fixture* it : {&first, &second})
        for (int i = 0; i < 2; ++i) it->relu();
    for (size_t i = 0; i < 2; ++i) CHECK(first.events[i].end_us == second.events[i].end_us);
}

TEST_CASE("a kernel that leaves its buffer is a failure with the fault's words and status") {
    for (const bool functional : {true, false}) {
        Fixture it({.functional = functional});
        try {
            it.device->launch({.kernel = "relu_f32", .grid = {5}, .block = {256}, .arguments = {it.x, it.y, 1025}});
            FAIL_CHECK("nothing was thrown");
        } catch (const Failure& failure) {
            CHECK(failure.status == ExitStatus::faulted);
            CHECK_THAT(failure.diagnostic.message, Contains("relu.cu:11") && Contains("invalid global read of 4 bytes") &&
                                                       Contains("'x'") && Contains("block (4,0,0)"));
        }
        CHECK(it.events.empty());
    }
}

TEST_CASE("the modelled GPU says in one sentence what is wrong with a request") {
    Fixture it({.functional = true});
    const auto launch = [&](std::vector<Argument> arguments, simt::Dim3 block = {256}) {
        return message_of(
            [&] { it.device->launch({.kernel = "relu_f32", .block = block, .arguments = std::move(arguments)}); });
    };
    CHECK(launch({it.x, it.y}) == "kernel relu_f32 takes 3 arguments, but 2 were given");
    CHECK(launch({it.x, it.y, 4.0f}) == "argument 3 of relu_f32 is an i32, but an f32 was given");
    CHECK(launch({it.x, 4, 4}) == "argument 2 of relu_f32 is a pointer, but an i32 was given");
    CHECK_THAT(launch({it.x, it.y, 4}, {2000}), Contains("2000 threads"));
    CHECK_THAT(launch({it.x, it.y, 4}, {0}), Contains("0"));
    char bytes[8192] = {};
    CHECK_THAT(message_of([&] { it.device->copy_in(it.x, bytes, 8192); }), Contains("past the end of 'x' (4096 bytes)"));
    CHECK_THAT(message_of([&] { it.device->copy_out(bytes, Pointer{16}, 4); }), Contains("in no buffer"));
    CHECK_THAT(message_of([&] { it.device->release({it.x.address + 4}); }), Contains("first byte"));
    CHECK_THAT(message_of([&] { open_device("sim:v10").value(); }), Contains("v100"));
    CHECK_THAT(message_of([&] { open_device("hots").value(); }), Contains("did you mean 'host'?"));
    CHECK_THAT(message_of([&] { open_device("host", {.threads = 0}).value(); }), Contains("threads"));
}

TEST_CASE("a stop request ends a launch with a failure that says cancelled") {
    for (const char* name : {"host", "sim:v100"}) {
        std::stop_source stop;
        Fixture it({.stop = stop.get_token()}, name);
        stop.request_stop();
        CHECK(message_of([&] { it.relu(); }) == "cancelled");
    }
}

TEST_CASE("a launch in flight ends soon after a stop request") {
    for (const bool functional : {true, false}) {
        std::stop_source stop;
        const auto device = open_device("sim:v100", {.functional = functional, .stop = stop.get_token()}).value();
        const int n = 1024;
        const Pointer a = device->allocate(4 << 20, "a"), b = device->allocate(4 << 20, "b"),
                      c = device->allocate(4 << 20, "c");
        std::jthread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            stop.request_stop();
        });
        const auto start = std::chrono::steady_clock::now();
        CHECK(message_of([&] {
                  device->launch(
                      {.kernel = "matmul_naive_f32", .grid = {64, 64}, .block = {16, 16}, .arguments = {a, b, c, n, n, n}});
              }) == "cancelled");
        CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 2.0);
    }
}

TEST_CASE("the list of devices has the host and every modelled GPU, each of which opens") {
    const auto listings = list_devices();
    CHECK(listings.size() >= model::gpus().size() + 2);  // and every real GPU, or the one line that says what is missing
    for (const DeviceListing& listing : listings) {
        INFO(listing.name);
        if (listing.available) CHECK(open_device(listing.name).value()->description() == listing.description);
    }
}

}  // namespace device_sim_test
