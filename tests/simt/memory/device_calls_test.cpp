// Calls of CUDA's runtime on the device: what a kernel that launches another hands over, and what it is told.
#include "core/ptx/ptx.h"
#include "core/simt/device_runtime.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_device_calls_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

struct Recorder final : DeviceRuntime {
    int start(DeviceWork next) override {
        if (refuse) return refuse;
        work.push_back(std::move(next));
        return 0;
    }
    bool wait() override {
        waited = work.size();
        return !fault;
    }
    std::vector<DeviceWork> work;
    size_t waited = 0;
    int refuse = 0;
    bool fault = false;
};

// As nvcc writes child<<<dim3(2, 3), 32, 64, stream>>>(7, -1); the names are those of CUDA 12 and later, or of before.
std::string parent(const std::string& prefix, const std::string& behind) {
    return ".version 8.0\n.target sm_80\n.address_size 64\n"
           ".extern .func (.param .b64 r) " +
           prefix +
           "GetParameterBufferV2 (.param .b64 a, .param .align 4 .b8 b[12], "
           ".param .align 4 .b8 c[12], .param .b32 d);\n"
           ".extern .func (.param .b32 r) " +
           prefix +
           "LaunchDeviceV2 (.param .b64 a, .param .b64 b);\n"
           ".extern .func (.param .b32 r) " +
           prefix +
           "GetLastError ();\n"
           ".extern .func (.param .b32 r) cudaDeviceSynchronize ();\n"
           ".extern .func (.param .b32 r) cudaStreamCreateWithFlags (.param .b64 a, .param .b32 b);\n"
           ".extern .func (.param .b32 r) cudaMemsetAsync (.param .b64 a, .param .b32 b, .param .b64 c, .param .b64 d);\n"
           ".func helper () { ret; }\n"
           ".visible .entry child(.param .u64 a, .param .u32 b) { ret; }\n"
           ".global .align 8 .u64 table = child;\n"
           ".visible .entry k(.param .u64 k_0) {\n.local .align 8 .b8 own[16];\n.reg .pred %p<4>; .reg .b32 %r<9>; "
           ".reg .b64 %rd<9>;\nld.param.u64 %rd0, [k_0];\nmov.u64 %rd1, child;\n"
           "{ .param .b64 p0; .param .align 4 .b8 p1[12]; .param .align 4 .b8 p2[12]; .param .b32 p3; .param .b64 r;\n"
           "st.param.b64 [p0], %rd1;\n"
           "st.param.b32 [p1], 2; st.param.b32 [p1+4], 3; st.param.b32 [p1+8], 1;\n"
           "st.param.b32 [p2], 32; st.param.b32 [p2+4], 1; st.param.b32 [p2+8], 1;\nst.param.b32 [p3], 64;\n"
           "call.uni (r), " +
           prefix +
           "GetParameterBufferV2, (p0, p1, p2, p3);\nld.param.b64 %rd2, [r]; }\n"
           "mov.u64 %rd3, 7;\nst.u64 [%rd2], %rd3;\nmov.u32 %r1, -1;\nst.u32 [%rd2+8], %r1;\n"
           "{ .param .b64 p0; .param .b64 p1; .param .b32 r;\nst.param.b64 [p0], %rd2; st.param.b64 [p1], 3;\n"
           "call.uni (r), " +
           prefix +
           "LaunchDeviceV2, (p0, p1);\nld.param.b32 %r2, [r]; }\n"
           "st.global.u32 [%rd0], %r2;\n" +
           behind + "ret;\n}\n";
}

struct Outcome {
    std::optional<Fault> fault;
    std::vector<uint32_t> words;
    std::shared_ptr<const ptx::Program> program;
};

Outcome run_parent(const std::string& text, DeviceRuntime* runtime, Memory& memory) {
    const auto module = ptx::parse(text, "parent.ptx");
    INFO(text);
    INFO((module ? std::string() : render(module.error())));
    REQUIRE(module);
    const auto program = ptx::decode(module.value(), "k");
    INFO((program ? std::string() : render(program.error())));
    REQUIRE(program);
    const uint64_t out = memory.allocate(32, "out");
    LaunchOptions options;
    options.device_runtime = runtime;
    LaunchResult result = launch(*program.value(), config_of({1}, {1}, {out}), memory, options);
    return {std::move(result.fault), read_back<uint32_t>(memory, out, 8), program.value()};
}

const std::string wait =
    "{ .param .b32 r; call.uni (r), cudaDeviceSynchronize, (); ld.param.b32 %r3, [r]; }\n"
    "st.global.u32 [%rd0+4], %r3;\n";

}  // namespace

TEST_CASE("a launch from a kernel has its kernel, shape, stream and arguments, by the names of every CUDA") {
    for (const std::string prefix : {"cuda", "__cudaCDP2"}) {
        Memory memory;
        Recorder recorder;
        const Outcome outcome = run_parent(parent(prefix, ""), &recorder, memory);
        REQUIRE(!outcome.fault);
        CHECK(outcome.words[0] == 0);
        REQUIRE(recorder.work.size() == 1);
        const DeviceWork& work = recorder.work[0];
        CHECK(work.kind == DeviceWork::Kind::kernel);
        CHECK(work.kernel == ptx::address_of_function(7));  // behind seven functions
        CHECK(work.grid == Dim3{2, 3, 1});
        CHECK(work.block == Dim3{32, 1, 1});
        CHECK(work.shared == 64);
        CHECK(work.stream == 3);
        REQUIRE(work.arguments.size() >= 12);
        uint64_t first = 0;
        int32_t second = 0;
        std::memcpy(&first, work.arguments.data(), 8);
        std::memcpy(&second, work.arguments.data() + 8, 4);
        CHECK(first == 7);
        CHECK(second == -1);
        CHECK(recorder.prepared.empty());
        CHECK(memory.live_bytes() == 32 + 8);  // the arguments' memory is given back
        uint64_t initial = 0;
        std::memcpy(&initial, outcome.program->variables.at(0).initial.data(), 8);
        CHECK(initial == work.kernel);  // the kernel's address as a variable's initial value
    }
}

TEST_CASE("a launch that is refused is the kernel's last error until it has been asked for") {
    Memory memory;
    Recorder recorder;
    recorder.refuse = 9;
    const std::string ask = "{ .param .b32 r; call.uni (r), cudaGetLastError, (); ld.param.b32 %r4, [r]; }\n";
    const Outcome outcome = run_parent(
        parent("cuda", ask + "st.global.u32 [%rd0+4], %r4;\n" + ask + "st.global.u32 [%rd0+8], %r4;\n"), &recorder, memory);
    REQUIRE(!outcome.fault);
    CHECK(outcome.words[0] == 9);
    CHECK(outcome.words[1] == 9);
    CHECK(outcome.words[2] == 0);
}

TEST_CASE("a kernel waits for what it launched, and a fault there is its own") {
    Memory memory;
    Recorder recorder;
    CHECK(!run_parent(parent("cuda", wait), &recorder, memory).fault);
    CHECK(recorder.waited == 1);
    recorder.fault = true;
    const Outcome outcome = run_parent(parent("cuda", wait), &recorder, memory);
    REQUIRE(outcome.fault);
    CHECK(outcome.fault->message == "a kernel that this one launched ended in a fault");
}

TEST_CASE("streams get handles, in memory of any space, and fills are handed over if their bytes are there") {
    Memory memory;
    Recorder recorder;
    const std::string calls =
        "mov.u64 %rd4, own;\ncvta.local.u64 %rd5, %rd4;\n"
        "{ .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %rd5; st.param.b32 [b], 1;\n"
        "call.uni (r), cudaStreamCreateWithFlags, (a, b); ld.param.b32 %r3, [r]; }\n"
        "ld.local.u64 %rd6, [own];\nsetp.ne.u64 %p1, %rd6, 0;\nselp.u32 %r4, 1, 0, %p1;\nst.global.u32 [%rd0+4], %r4;\n"
        "{ .param .b64 a; .param .b32 b; .param .b64 c; .param .b64 d; .param .b32 r; st.param.b64 [a], %rd0;\n"
        "st.param.b32 [b], 5; st.param.b64 [c], 16; st.param.b64 [d], %rd6;\n"
        "call.uni (r), cudaMemsetAsync, (a, b, c, d); ld.param.b32 %r5, [r]; }\nst.global.u32 [%rd0+8], %r5;\n"
        "{ .param .b64 a; .param .b32 b; .param .b64 c; .param .b64 d; .param .b32 r; st.param.b64 [a], %rd0;\n"
        "st.param.b32 [b], 5; st.param.b64 [c], 1600; st.param.b64 [d], %rd6;\n"
        "call.uni (r), cudaMemsetAsync, (a, b, c, d); ld.param.b32 %r6, [r]; }\nst.global.u32 [%rd0+12], %r6;\n";
    const Outcome outcome = run_parent(parent("cuda", calls), &recorder, memory);
    REQUIRE(!outcome.fault);
    CHECK(outcome.words[1] == 1);
    CHECK(outcome.words[2] == 0);
    CHECK(outcome.words[3] == 1);  // cudaErrorInvalidValue
    REQUIRE(recorder.work.size() == 2);
    CHECK(recorder.work[1].kind == DeviceWork::Kind::fill);
    CHECK(recorder.work[1].bytes == 16);
    CHECK(recorder.work[1].value == 5);
}

TEST_CASE("a kernel alone that launches another is told that this takes a program") {
    Memory memory;
    const Outcome outcome = run_parent(parent("cuda", ""), nullptr, memory);
    REQUIRE(outcome.fault);
    CHECK(outcome.fault->kind == "call");
    CHECK(outcome.fault->message.find("only a whole program has") != std::string::npos);
}

}  // namespace simt_device_calls_test
