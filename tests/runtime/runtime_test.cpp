// The runtime without a program around it: a module of plain PTX, copies, launches, events and errors as CUDA has them.
#include "core/runtime/runtime.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "kernels/include/program/driver_types.h"
#include "tests/catch.h"

namespace runtime_runtime_test {

using namespace lockstep;

namespace {

using namespace runtime;

const char* const scale_ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 calls = 7;
.visible .entry scale(.param .u64 p, .param .f32 f, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [p];
    ld.param.f32 %f1, [f];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f2, [%rd3];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd3], %f3;
done:
    ret;
}
)";

struct Machine {
    Runtime runtime;
    int host_function = 0, host_variable = 0;
    struct {
        uint32_t magic = 0x466243b1, version = 1;
        const void* data = scale_ptx;
        const void* name = nullptr;
    } wrapper;
    Module* module = runtime.add_module(&wrapper);

    explicit Machine(const Settings& settings = {}) : runtime(settings) {
        runtime.add_kernel(module, &host_function, "scale");
        runtime.add_variable(module, &host_variable, "calls", 4, nullptr);
    }
    void launch(uint64_t pointer, float factor, uint32_t n, uint32_t threads = 128) {
        void* arguments[] = {&pointer, &factor, &n};
        runtime.launch(
            {.function = &host_function, .grid = {(n + 127) / 128, 1, 1}, .block = {threads, 1, 1}, .arguments = arguments});
    }
    int error_of(const std::function<void()>& work, std::string* message = nullptr) {
        try {
            work();
        } catch (const CallFailure& failure) {
            if (message) *message = failure.message;
            return failure.error;
        }
        return 0;
    }
};

uint64_t address(const void* host) {
    return reinterpret_cast<uintptr_t>(host);
}

TEST_CASE("a program's copies, launch and event times") {
    Machine m;
    std::vector<float> x(1000, 2.0f);
    const uint64_t d = m.runtime.allocate(4000, MemoryKind::device, "x");
    m.runtime.copy({.to = d, .from = address(x.data()), .bytes = 4000, .kind = cudaMemcpyHostToDevice}, 0, false);
    EventState* const begin = m.runtime.add_event(0);
    EventState* const end = m.runtime.add_event(0);
    m.runtime.record(*begin, 0);
    m.launch(d, 3, 1000);
    m.runtime.record(*end, 0);
    m.runtime.synchronize(model::SyncWith::device, 0, nullptr);
    REQUIRE(m.runtime.is_done(*begin));
    REQUIRE(m.runtime.is_done(*end));
    CHECK(*end->at_us > *begin->at_us);
    m.runtime.copy({.to = address(x.data()), .from = d, .bytes = 4000, .kind = cudaMemcpyDeviceToHost}, 0, false);
    CHECK(x == std::vector<float>(1000, 6.0f));
}

TEST_CASE("who polls an event sees it come about, of kernels that take no time too") {
    for (const int64_t timed_launches : {3, 0}) {
        Settings settings;
        settings.timed_launches = timed_launches;
        Machine m(settings);
        const uint64_t d = m.runtime.allocate(1 << 20, MemoryKind::device, "x"),
                       h = m.runtime.allocate(1 << 20, MemoryKind::pinned, "h");
        m.runtime.copy({.to = d, .from = h, .bytes = 1 << 20, .kind = cudaMemcpyHostToDevice}, 0, true);
        m.launch(d, 3, 1000);
        m.runtime.copy({.to = h, .from = d, .bytes = 1 << 20, .kind = cudaMemcpyDeviceToHost}, 0, true);
        EventState* const event = m.runtime.add_event(0);
        m.runtime.record(*event, 0);
        int polls = 0;
        for (; polls < 100'000 && !m.runtime.is_done(*event); ++polls) m.runtime.spend_call();
        INFO(timed_launches << " launches simulated");
        CHECK(polls > 0);
        CHECK(m.runtime.is_done(*event));
    }
}

TEST_CASE(
    "L2 keeps from launch to launch what it holds, or is empty where a program asks for that, and the report says so") {
    for (const bool warm : {true, false}) {
        const TemporaryFolder folder;
        Settings settings;
        settings.warm_l2 = warm;
        settings.report = (folder.path() / "report.json").string();
        Machine m(settings);
        const uint64_t d = m.runtime.allocate(1 << 16, MemoryKind::device, "x");
        for (int launch = 0; launch < 3; ++launch) m.launch(d, 3, 1 << 14);
        m.runtime.finish();
        const Report report = read_report(settings.report).value();
        CHECK(report.warm_l2 == warm);
        REQUIRE(report.launches.size() == 3);
        const int64_t first = report.launches[0].cycles, second = report.launches[1].cycles;
        CHECK((warm ? second < first : second == first));
        CHECK(report.launches[2].cycles == second);
        CHECK(words_of(report).find(warm ? "--l2 warm" : "--l2 cold") != std::string::npos);
    }
}

TEST_CASE("managed memory has one address on both sides") {
    Machine m;
    const uint64_t d = m.runtime.allocate(512, MemoryKind::managed, "x");
    auto* const x = reinterpret_cast<float*>(d);
    for (int k = 0; k < 128; ++k) x[k] = static_cast<float>(k);
    m.launch(d, 0.5f, 128);
    for (int k = 0; k < 128; ++k) CHECK(x[k] == static_cast<float>(k) / 2);
}

TEST_CASE("a variable begins with its initial value and is the kernels' own") {
    Machine m;
    uint32_t value = 0;
    const uint64_t variable = m.runtime.address_of(*m.runtime.variable_of(&m.host_variable));
    m.runtime.copy({.to = address(&value), .from = variable, .bytes = 4, .kind = cudaMemcpyDeviceToHost}, 0, false);
    CHECK(value == 7);
    const auto addresses = simt::Memory(m.runtime.memory());
    CHECK(addresses.find(variable)->name == "calls");
}

TEST_CASE("a copy that does not fit, goes the wrong way or comes too late is refused with its reason") {
    Machine m;
    std::vector<std::byte> host(64);
    const uint64_t d = m.runtime.allocate(32, MemoryKind::device, "d_out");
    std::string message;
    const auto copy = [&](uint64_t to, uint64_t from, uint64_t bytes, int kind) {
        return m.error_of([&] { m.runtime.copy({.to = to, .from = from, .bytes = bytes, .kind = kind}, 0, false); },
                          &message);
    };
    CHECK(copy(d, address(host.data()), 33, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(message.find("reach 1 past its end") != std::string::npos);
    CHECK(copy(d, address(host.data()), 16, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(message.find("the destination is device memory") != std::string::npos);
    CHECK(copy(address(host.data()), d, 16, cudaMemcpyDeviceToHost) == 0);
    m.runtime.release(d, false);
    CHECK(copy(address(host.data()), d, 16, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(message.find("after it was freed") != std::string::npos);
    CHECK(m.error_of([&] { m.runtime.release(d, false); }, &message) == cudaErrorInvalidValue);
    CHECK(message.find("was freed before") != std::string::npos);
}

TEST_CASE("a kernel's fault stays until the device is reset") {
    Machine m;
    const uint64_t d = m.runtime.allocate(400, MemoryKind::device, "x");
    m.launch(d, 1, 128);  // 112 bytes past the end
    const auto synchronize = [&] { m.runtime.synchronize(model::SyncWith::device, 0, nullptr); };
    CHECK(m.error_of(synchronize) == cudaErrorIllegalAddress);
    CHECK(m.error_of([&] { m.launch(d, 1, 1); }) == cudaErrorIllegalAddress);
}

TEST_CASE("a launch that no GPU takes is refused") {
    Machine m;
    const uint64_t d = m.runtime.allocate(400, MemoryKind::device, "x");
    std::string message;
    CHECK(m.error_of([&] { m.launch(d, 1, 100, 2048); }, &message) == cudaErrorInvalidValue);
    CHECK(message.find("scale<<<") == 0);
    CHECK(m.error_of([&] {
        void* none = nullptr;
        m.runtime.launch({.function = &none, .grid = {1, 1, 1}, .block = {1, 1, 1}, .arguments = &none});
    }) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("the report says the same after its way through JSON") {
    Report report;
    report.gpu = "v100";
    report.total_us = 12.5;
    report.launches.push_back({.kernel = "scale",
                               .grid = {8, 1, 1},
                               .block = {128, 1, 1},
                               .cycles = 1000,
                               .time_us = 0.6,
                               .timed_by = TimedBy::simulation,
                               .hot_file = "a.cu",
                               .hot_line = 7,
                               .hot_share = 0.5,
                               .bound = "dram"});
    report.copies.push_back({"host to device", 4000, 1, 2, 0, {"a.cu", 9}});
    report.leaks.push_back({"d_x", "device", 256, 4000, {"a.cu", 5}});
    report.calls.push_back({"cudaMalloc", 1, 2, 3, {"a.cu", 5}});
    report.launches[0].call = report.copies[0].call = 0;
    report.allocations.push_back({.name = "d_y",
                                  .kind = "managed",
                                  .freed = true,
                                  .freed_at = {"a.cu", 12},
                                  .call = 0,
                                  .freed_call = 1,
                                  .begin_us = 2,
                                  .end_us = 4});
    report.marks.push_back({"phase", 1, 3});
    report.errors.push_back({"cudaMemcpy", "cudaErrorInvalidValue", "too long", {"a.cu", 11}, false});
    simt::Fault fault;
    fault.kind = "memcheck";
    fault.message = "invalid read";
    fault.file = "a.cu";
    fault.line = 3;
    report.faults.push_back(fault);
    fault.kind = "synccheck";
    fault.advice = "Move it.";
    fault.warning = true;
    report.warnings.push_back(fault);
    const Report again = report_of(to_json(report));
    CHECK(to_json(again) == to_json(report));
    CHECK((again.warnings.at(0).warning && again.warnings.at(0).advice == "Move it." && !again.faults.at(0).warning));
    CHECK(words_of(again).find("warnings\n  a.cu:3: warning: synccheck: invalid read") != std::string::npos);
    CHECK(again.allocations.at(0).freed_at.line == 12);
    CHECK(again.marks.at(0).end_us == 3);
    CHECK(again.launches[0].call == 0);
    const std::string words = words_of(again);
    for (const char* part :
         {"scale", "a.cu:7", "d_x", "a.cu:5", "nobody looked at it", "invalid read", "kernels bound by DRAM: "})
        CHECK(words.find(part) != std::string::npos);
}

}  // namespace
}  // namespace runtime_runtime_test
