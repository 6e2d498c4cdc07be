// The parts launch and copies: what a launch, a graph's node, an event and a copy cost on `cuda`. Times between events are
// of work that was in the queue before the GPU came to it; times of the host are by the steady clock. Medians of many.
#include <fmt/format.h>

#include <chrono>

#include "app/silicon/measure/parts.h"
#include "core/device/cuda/cuda.h"

namespace lockstep::device {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Handle = CudaDriver::Handle;

double host_us(const std::function<void()>& work) {
    const auto begin = SteadyClock::now();
    work();
    return std::chrono::duration<double, std::micro>(SteadyClock::now() - begin).count();
}
template <class Once>
double median_time(int repeats, Once once) {
    std::vector<double> times;
    once();
    for (int i = 0; i < repeats; ++i) times.push_back(once());
    return median_of(std::move(times));
}

// Memory of the host that copies to and from the GPU need not go through a buffer for.
class PinnedMemory {
  public:
    PinnedMemory(Cuda& cuda, size_t bytes) : cuda_(cuda) {
        cuda_.check(cuda_.driver().pin(&memory_, bytes, 0), fmt::format("{} bytes of pinned memory", bytes));
    }
    ~PinnedMemory() { cuda_.driver().unpin(memory_); }
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    void* get() const { return memory_; }

  private:
    Cuda& cuda_;
    void* memory_ = nullptr;
};
class DeviceMemory {
  public:
    DeviceMemory(Cuda& cuda, size_t bytes) : cuda_(cuda), pointer_(cuda.allocate(bytes, "copied")) {}
    ~DeviceMemory() {
        try {
            cuda_.release(pointer_);
        } catch (const Failure&) {  // a device that failed keeps its memory
        }
    }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    uint64_t address() const { return pointer_.address; }
    Pointer pointer() const { return pointer_; }

  private:
    Cuda& cuda_;
    Pointer pointer_;
};

// Streams 1 and 2 begin together and the end waits for both.
class TwoStreams {
  public:
    const Handle first, second;

    explicit TwoStreams(Cuda& cuda) : first(cuda.handle_of(1)), second(cuda.handle_of(2)), cuda_(cuda) {
        for (Handle* event : {&begin_, &done_, &end_}) cuda_.check(cuda_.driver().create_event(event, 0), "an event");
    }
    ~TwoStreams() {
        for (Handle event : {begin_, done_, end_})
            if (event) cuda_.driver().destroy_event(event);
    }
    TwoStreams(const TwoStreams&) = delete;
    TwoStreams& operator=(const TwoStreams&) = delete;

    // `filler` keeps the first stream busy while the rest is put into the queues.
    double run(const CudaLaunch& filler, const std::function<void(Handle)>& a, const std::function<void(Handle)>& b) {
        const CudaDriver& driver = cuda_.driver();
        cuda_.enqueue(filler, first);
        cuda_.check(driver.record_event(begin_, first), "an event");
        cuda_.check(driver.stream_waits(second, begin_, 0), "waiting for an event");
        if (a) a(first);
        if (b) b(second);
        cuda_.check(driver.record_event(done_, second), "an event");
        cuda_.check(driver.stream_waits(first, done_, 0), "waiting for an event");
        cuda_.check(driver.record_event(end_, first), "an event");
        cuda_.check(driver.wait_event(end_), "two streams");
        float milliseconds = 0;
        cuda_.check(driver.elapsed(&milliseconds, begin_, end_), "a measurement");
        return 1e3 * static_cast<double>(milliseconds);
    }

  private:
    Cuda& cuda_;
    Handle begin_ = nullptr, done_ = nullptr, end_ = nullptr;
};

}  // namespace

PackRow empty_row() {
    return {.name = "empty",
            .file = "",
            .kernel = "relu_f32",
            .grid = {1},
            .block = {32},
            .arguments = {{PackArgument::Kind::reals, DType::f32, 32},
                          {PackArgument::Kind::reals, DType::f32, 32},
                          {PackArgument::Kind::whole, DType::i32, 0}}};
}

void measure_launches(SiliconRun& run) {
    auto& cuda = dynamic_cast<Cuda&>(run.device);
    const CudaDriver& driver = cuda.driver();
    const int repeats = run.options.quick ? 3 : 41, many = run.options.quick ? 10 : 200;
    const PackLaunch empty(cuda, empty_row()), spin(cuda, clock_row(run.options.clock_rounds / 2));
    const CudaLaunch nothing = cuda.prepare(empty.request()), filler = cuda.prepare(spin.request());
    const std::vector<LaunchRequest> list(static_cast<size_t>(many), empty.request());
    const auto figure = [&](std::string_view name, const std::function<double()>& once, double share = 1) {
        const std::string row(name);
        run.row(row, [&] { run.add(SiliconFigure{row, median_time(repeats, once) / share, "us"}); });
    };
    const auto waited = [&](const std::function<void()>& work) {
        cuda.synchronize();
        return host_us(work);
    };
    figure("two events with nothing between", [&] { return cuda.between_events_us(&filler, [](Handle) {}); });
    figure(empty_kernel_figure,
           [&] { return cuda.between_events_us(&filler, [&](Handle stream) { cuda.enqueue(nothing, stream); }); });
    figure(
        fmt::format("such a kernel, of {} in a row between two events", many),
        [&] {
            return cuda.between_events_us(&filler, [&](Handle stream) {
                for (int i = 0; i < many; ++i) cuda.enqueue(nothing, stream);
            });
        },
        many);
    figure("a launch and waiting for it, on the host's clock", [&] {
        return waited([&] {
            cuda.enqueue(nothing, nullptr);
            cuda.synchronize();
        });
    });
    figure(
        fmt::format("the host's call of a launch, of {} in a row", many),
        [&] {
            return waited([&] {
                for (int i = 0; i < many; ++i) cuda.enqueue(nothing, nullptr);
            });
        },
        many);
    figure("the host's call of recording an event", [&] {
        Handle event = nullptr;
        cuda.check(driver.create_event(&event, 0), "an event");
        const double time = waited([&] { driver.record_event(event, nullptr); });
        driver.destroy_event(event);
        return time;
    });
    if (!driver.has_graphs()) return;
    const auto graph = [&] { cuda.launch_graph(list); };
    run.row(fmt::format("making a graph of {} launches and launching it the first time", many), [&] {
        const double time = waited([&] {
            graph();
            cuda.synchronize();
        });
        run.add(
            SiliconFigure{fmt::format("making a graph of {} launches and launching it the first time", many), time, "us"});
    });
    figure(
        fmt::format("a launch in a graph of {}, between two events", many),
        [&] { return cuda.between_events_us(&filler, [&](Handle) { graph(); }); }, many);
    figure(fmt::format("the host's call of a graph of {} launches", many), [&] { return waited(graph); });
    figure(fmt::format("a graph of {} launches and waiting for it, on the host's clock", many), [&] {
        return waited([&] {
            graph();
            cuda.synchronize();
        });
    });
}

void measure_copies(SiliconRun& run) {
    auto& cuda = dynamic_cast<Cuda&>(run.device);
    const CudaDriver& driver = cuda.driver();
    const int repeats = run.options.quick ? 3 : 11;
    const std::vector<size_t> sizes = run.options.quick ? std::vector<size_t>{4096, 65536}
                                                        : std::vector<size_t>{4096, 65536, 1 << 20, 16 << 20, 256 << 20};
    const PackLaunch spin(cuda, clock_row(run.options.clock_rounds / 16));
    const CudaLaunch filler = cuda.prepare(spin.request());
    for (const size_t bytes : sizes) {
        const auto figure = [&](std::string_view what, const std::function<double()>& once) {
            const std::string name = fmt::format("{}, {} bytes", what, bytes);
            run.row(name, [&] { run.add(SiliconFigure{name, median_time(repeats, once), "us"}); });
        };
        const DeviceMemory there(cuda, bytes), other(cuda, bytes);
        const PinnedMemory pinned(cuda, bytes);
        std::vector<std::byte> pageable(bytes, std::byte{1});
        std::fill_n(static_cast<std::byte*>(pinned.get()), bytes, std::byte{2});
        figure("host to device, pinned", [&] {
            return cuda.between_events_us(&filler, [&](Handle stream) {
                cuda.check(driver.copy_in(there.address(), pinned.get(), bytes, stream), "a copy to the GPU");
            });
        });
        figure("device to host, pinned", [&] {
            return cuda.between_events_us(&filler, [&](Handle stream) {
                cuda.check(driver.copy_out(pinned.get(), there.address(), bytes, stream), "a copy from the GPU");
            });
        });
        figure("device to device", [&] {
            return cuda.between_events_us(&filler, [&](Handle stream) {
                cuda.check(driver.copy_within(other.address(), there.address(), bytes, stream), "a copy on the GPU");
            });
        });
        figure("host to device, pageable, on the host's clock",
               [&] { return host_us([&] { cuda.copy_in(there.pointer(), pageable.data(), bytes, 0); }); });
        figure("device to host, pageable, on the host's clock",
               [&] { return host_us([&] { cuda.copy_out(pageable.data(), there.pointer(), bytes, 0); }); });
    }

    // Streams with overlap: a kernel of one warp beside copies, copies of both directions, two kernels; each alone, then
    // both.
    const size_t bytes = run.options.quick ? 65536 : 32 << 20;
    const DeviceMemory one(cuda, bytes), two(cuda, bytes);
    const PinnedMemory up(cuda, bytes), down(cuda, bytes);
    const PackLaunch long_one(cuda, clock_row(run.options.clock_rounds / 4)),
        long_two(cuda, clock_row(run.options.clock_rounds / 4));
    const CudaLaunch kernel = cuda.prepare(long_one.request()), other_kernel = cuda.prepare(long_two.request());
    TwoStreams streams(cuda);
    const std::function<void(Handle)> work[] = {
        [&](Handle stream) { cuda.enqueue(kernel, stream); }, [&](Handle stream) { cuda.enqueue(other_kernel, stream); },
        [&](Handle stream) { cuda.check(driver.copy_in(one.address(), up.get(), bytes, stream), "a copy to the GPU"); },
        [&](Handle stream) {
            cuda.check(driver.copy_out(down.get(), two.address(), bytes, stream), "a copy from the GPU");
        }};
    const std::string names[] = {"a kernel of one warp", "another kernel of one warp",
                                 fmt::format("a copy of {} bytes to the device", bytes),
                                 fmt::format("a copy of {} bytes from the device", bytes)};
    const auto figure = [&](const std::string& name, const std::function<void(Handle)>& a,
                            const std::function<void(Handle)>& b) {
        run.row(name, [&] {
            run.add(SiliconFigure{name, median_time(repeats, [&] { return streams.run(filler, a, b); }), "us"});
        });
    };
    for (size_t i = 0; i < 4; ++i) figure(names[i] + ", alone", work[i], nullptr);
    for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {0, 3}, {2, 3}}) {
        figure(fmt::format("{} beside {}, on two streams", names[a], names[b]), work[a], work[b]);
        figure(
            fmt::format("{} behind {}, on one stream", names[b], names[a]),
            [&, first = a, then = b](Handle stream) { work[first](stream), work[then](stream); }, nullptr);
    }
}

}  // namespace lockstep::device
