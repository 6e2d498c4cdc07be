// The cuda device over a driver whose GPU is the modelled one (tests/driver): every bundled kernel gives what the modelled
// GPU gives, bit by bit; times are measured and in order; what goes wrong says what and where.
#include "core/device/cuda/cuda.h"

#include <cstdlib>
#include <thread>

#include "core/device/devices.h"
#include "core/device/kernels/kernel_cases.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace device_cuda_test {

using namespace lockstep;
using namespace lockstep::device;
using namespace lockstep::device::kernel_cases;
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

TEST_CASE("launches as a graph give what they give one by one, also with other arguments the next time") {
    const auto cuda = open_cuda(), plain = open_cuda();
    const std::vector<float> x = {1, -2, 3, -4};
    const auto run = [&](Device& device, float factor, float add, bool as_graph) {
        std::vector<Pointer> buffers;
        for (int i = 0; i < 3; ++i) buffers.push_back(device.allocate(16, "x"));
        device.copy_in(buffers[0], x.data(), 16);
        const auto request = [&](std::string_view kernel, std::vector<Argument> arguments) {
            return LaunchRequest{.kernel = kernel, .grid = {1}, .block = {256}, .arguments = std::move(arguments)};
        };
        // Each reads what the one before wrote.
        const std::vector<LaunchRequest> requests = {request("scale_add_f32", {buffers[0], buffers[1], 4, factor, add}),
                                                     request("relu_f32", {buffers[1], buffers[2], 4}),
                                                     request("vector_add_f32", {buffers[1], buffers[2], buffers[0], 4})};
        if (as_graph)
            device.launch_graph(requests);
        else
            for (const LaunchRequest& it : requests) device.launch(it);
        std::vector<float> result(4);
        device.copy_out(result.data(), buffers[0], 16);
        for (const Pointer buffer : buffers) device.release(buffer);
        return result;
    };
    CHECK(run(*cuda, 2, 0.5f, true) == std::vector<float>{5, -3.5f, 13, -7.5f});
    for (int i = 0; i < 3; ++i)
        CHECK(run(*cuda, static_cast<float>(i), 1, true) == run(*plain, static_cast<float>(i), 1, false));
    std::vector<std::string> heard;
    cuda->on_launch = [&](const LaunchEvent& event) { heard.push_back(event.kernel); };
    run(*cuda, 2, 0.5f, true);
    CHECK(heard == std::vector<std::string>{"scale_add_f32", "relu_f32", "vector_add_f32"});
}

TEST_CASE("PTX newer than the driver's own version is given to it as the newest that it knows") {
    const std::string text = "// kernel\n.version 9.0\n.target sm_75\n";
    CHECK(ptx_for_driver(text, 13000) == text);
    CHECK(ptx_for_driver(text, 13010) == text);
    CHECK(ptx_for_driver(text, 12080) == "// kernel\n.version 8.7\n.target sm_75\n");
    CHECK(ptx_for_driver(text, 12040) == "// kernel\n.version 8.4\n.target sm_75\n");
    CHECK(ptx_for_driver(text, 11080) == "// kernel\n.version 7.8\n.target sm_75\n");
    CHECK(ptx_for_driver("no version", 12080) == "no version");
    CHECK(ptx_for_driver(".version x\n", 12080) == ".version x\n");
}

TEST_CASE("a kernel's module holds no other kernel, unless they may share a variable") {
    const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n",
                      one = "\n\t// .globl one\n.visible .entry one(\n\t.param .u64 p\n)\n{\n\tret;\n\n}\n",
                      two = "\n.visible .entry two()\n{\n\tret;\n}\n", tail = "\t.file 1 \"x.cu\"\n";
    CHECK(ptx_of_kernel(head + one + two + tail, "two") == head + "\n\t// .globl one\n" + two + tail);
    CHECK(ptx_of_kernel(head + one + two + tail, "one") == head + one + "\n" + tail);
    CHECK(ptx_of_kernel(head + one + two + tail, "on") == head + one + two + tail);
    const std::string shared = head + ".visible .global .align 4 .u32 counter;\n" + one + two;
    CHECK(ptx_of_kernel(shared, "one") == shared);
}

TEST_CASE("a texture of the cuda device is its texels, a surface's come back, and what neither can be is said") {
    const char* const text = R"(.version 9.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 texture, .param .u64 surface, .param .u64 out) {
    .reg .b64 %t, %s, %o, %w;
    .reg .b32 %x, %r<5>;
    ld.param.u64 %t, [texture];
    ld.param.u64 %s, [surface];
    ld.param.u64 %o, [out];
    mov.u32 %x, %tid.x;
    tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%t, {%x, 1}];
    mul.wide.u32 %w, %x, 4;
    add.u64 %o, %o, %w;
    st.global.u32 [%o], %r1;
    add.u32 %r1, %r1, 100;
    shl.b32 %x, %x, 2;
    sust.b.2d.b32.trap [%s, {%x, 1}], %r1;
    ret;
}
)";
    const GeneratedKernel kernel{"k", ptx::decode(ptx::parse(text, "k.ptx").value(), "k").value(), {}, {}};
    const std::vector<uint32_t> texels = {1, 2, 3, 4, 5, 6, 7, 8};
    const auto cuda = open_cuda();
    const auto sim = open_device("sim:v100").value();
    for (Device* const device : {cuda.get(), sim.get()}) {
        const Pointer from = device->allocate(32, "texels"), to = device->allocate(32, "pixels"),
                      out = device->allocate(16, "out");
        device->copy_in(from, texels.data(), 32);
        device->copy_in(to, texels.data(), 32);
        simt::Texture texture{
            .name = "t", .address = from.address, .element = simt::Texture::Element::u32, .width = 4, .height = 2};
        const int64_t read = device->create_texture(texture);
        texture.address = to.address, texture.surface = true;
        const int64_t written = device->create_texture(texture);
        device->launch({.kernel = "k", .grid = {1}, .block = {4}, .arguments = {read, written, out}, .generated = &kernel});
        device->release_texture(written);
        device->release_texture(read);
        std::vector<uint32_t> got(4), pixels(8);
        device->copy_out(got.data(), out, 16);
        device->copy_out(pixels.data(), to, 32);
        CHECK(got == std::vector<uint32_t>{5, 6, 7, 8});
        CHECK(pixels == std::vector<uint32_t>{1, 2, 3, 4, 105, 106, 107, 108});
        CHECK_THAT(message_of([&] {
                       texture.width = 400;
                       device->create_texture(texture);
                   }),
                   Contains("past the end of 'pixels'") || Contains("inside one live allocation") || Contains("buffer"));
    }
    CHECK_THAT(message_of([&] { cuda->release_texture(12345); }), Contains("0x3039 is no texture on cuda:0"));
    CHECK_THAT(message_of([&] { cuda->create_texture({.name = "levels", .levels = 2}); }),
               Contains("the texture 'levels' has mip levels, which cuda:0 is not given"));
    CHECK_THAT(message_of([] { make_host({})->create_texture({}); }), Contains("host has no textures"));
}

TEST_CASE("any thread may use the cuda device") {
    const auto cuda = open_cuda();
    std::vector<float> result(4);
    std::thread([&] {
        const Pointer x = cuda->allocate(16, "x"), y = cuda->allocate(16, "y");
        const std::vector<float> values = {1, -2, 3, -4};
        cuda->copy_in(x, values.data(), 16);
        cuda->launch({.kernel = "relu_f32", .grid = {1}, .block = {256}, .arguments = {x, y, 4}});
        cuda->synchronize();
        cuda->copy_out(result.data(), y, 16);
    }).join();
    CHECK(result == std::vector<float>{1, 0, 3, 0});
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

}  // namespace device_cuda_test
