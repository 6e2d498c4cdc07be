// Every learned buffer lies in a stretch of addresses of its own, so that an address says whose it is, however far outside.
#include "core/scene/arguments/learned_extents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/diagnostic.h"
#include "core/base/sizes.h"
#include "core/simt/origins/observe.h"
#include "core/system/system.h"

namespace lockstep::scene {
namespace {

constexpr uint64_t first_stretch = 0x7f10'0000'0000ull, stretch = uint64_t{1} << 36;  // 64 GiB of addresses a buffer
constexpr uint64_t begins_inside = stretch / 2;  // where a buffer begins: what lies in front of it is its stretch, too
constexpr size_t most_filled = size_t{1} << 20;  // elements that are filled as the argument says; zeros behind them

struct LearnedBuffer {
    size_t argument = 0;  // and parameter
    uint64_t address = 0, bytes = 0;
    uint64_t touched = 0;  // bytes from the beginning
    bool read = false, written = false;
};

uint64_t count_of(const KernelArgument& argument) {
    uint64_t count = 1;
    for (const int64_t extent : argument.shape) count *= static_cast<uint64_t>(std::max<int64_t>(0, extent));
    return count;
}

bool is_learned(const KernelArgument& argument) {
    using Fill = KernelArgument::Fill;
    return argument.is_buffer() && !argument.texture && argument.box.empty() && argument.offset == 0 &&
           argument.fill != Fill::values && argument.fill != Fill::file && !argument.shape.empty();
}

LearnedBuffer* buffer_at(std::vector<LearnedBuffer>& buffers, uint64_t address) {
    if (address < first_stretch || buffers.empty()) return nullptr;
    const uint64_t number = (address - first_stretch) / stretch;
    return number < buffers.size() ? &buffers[number] : nullptr;
}

class TouchObserver final : public simt::Observer {
  public:
    TouchObserver(std::vector<LearnedBuffer>& buffers, double until) : buffers_(buffers), until_(until) {}

    void after(const simt::Warp&, const simt::WarpEvent& event) override {
        if ((++events_ & 0xfff) == 0) late_ = system::thread_seconds() > until_;
        if (event.kind != simt::WarpEvent::Kind::memory || event.space != ptx::Space::global || event.addresses == nullptr)
            return;
        for (int lane = 0; lane < 32; ++lane) {
            if ((event.executed >> lane & 1) == 0) continue;
            LearnedBuffer* const buffer = buffer_at(buffers_, event.addresses[lane]);
            if (buffer == nullptr || event.addresses[lane] < buffer->address) continue;
            buffer->touched = std::max(buffer->touched, event.addresses[lane] + event.bytes - buffer->address);
            buffer->written = buffer->written || event.is_store || event.is_atomic;
            buffer->read = buffer->read || !event.is_store || event.is_atomic;
        }
    }
    bool done() const override { return late_; }
    bool late() const { return late_; }

  private:
    std::vector<LearnedBuffer>& buffers_;
    double until_;
    uint64_t events_ = 0;
    bool late_ = false;
};

// The memory that the launch begins with: first what is not learned, then every learned buffer in its stretch.
std::optional<std::string> place(const ptx::Program& program, const std::vector<KernelArgument>& arguments,
                                 const std::string& source, std::vector<LearnedBuffer>& buffers,
                                 std::vector<std::string>& names, simt::Memory& memory, simt::LaunchConfig& config) {
    const auto bound = bind_arguments(program, arguments, memory, config, 1, {}, source);
    if (!bound) return bound.error().message;
    for (size_t i = 0; i < names.size() && i < bound.value().arguments.size(); ++i)
        if (!bound.value().arguments[i].name.empty()) names[i] = bound.value().arguments[i].name;
    for (size_t k = 0; k < buffers.size(); ++k) {
        LearnedBuffer& buffer = buffers[k];
        KernelArgument filled = arguments[buffer.argument];
        const size_t size = size_of(filled.type);
        filled.shape = {static_cast<int64_t>(std::min<uint64_t>(buffer.bytes / size, most_filled))};
        const auto values = initial_contents(filled, 1 + k);
        if (!values) return values.error().message;
        memory.begin_at(first_stretch + k * stretch + begins_inside);
        buffer.address = memory.allocate(buffer.bytes, "learned " + std::to_string(buffer.argument + 1));
        buffer.touched = 0;
        buffer.read = buffer.written = false;
        if (std::byte* const to = memory.write(buffer.address, buffer.bytes))
            std::memcpy(to, values.value().bytes.data(), std::min<size_t>(values.value().bytes.size(), buffer.bytes));
        const ptx::Parameter& parameter = program.parameters[buffer.argument];
        if (parameter.bytes != 8 || parameter.offset + 8 > config.parameters.size())
            return fmt::format("parameter {} is no pointer", buffer.argument + 1);
        std::memcpy(config.parameters.data() + parameter.offset, &buffer.address, 8);
    }
    return std::nullopt;
}

// Makes room for the access that faulted. A sentence where that cannot be done.
std::optional<std::string> grow(std::vector<LearnedBuffer>& buffers, const simt::Fault& fault,
                                const std::vector<std::string>& names, uint64_t most) {
    LearnedBuffer* const buffer = fault.kind == "memcheck" ? buffer_at(buffers, fault.address) : nullptr;
    if (buffer == nullptr) return "the first run was stopped: " + fault.message;
    const std::string& name = names[buffer->argument];
    if (fault.address < buffer->address)
        return fmt::format("the first run accesses '{}' {} in front of its beginning", name,
                           size_text(buffer->address - fault.address));
    const uint64_t needed = fault.address - buffer->address + 16;
    if (needed > most)
        return fmt::format("the first run reaches {} into '{}', more than the {} that are tried", size_text(needed), name,
                           size_text(most));
    uint64_t bytes = std::max<uint64_t>(buffer->bytes, 256);
    while (bytes < needed) bytes *= 2;
    buffer->bytes = std::min(std::max(bytes, buffer->bytes * 2), std::max(most, needed));
    return std::nullopt;
}

}  // namespace

LearnedExtents learn_extents(const ptx::Program& program, const simt::LaunchConfig& config,
                             const std::vector<KernelArgument>& arguments, const simt::LaunchOptions& options,
                             const std::string& source, const LearnLimits& limits, const std::stop_token& stop) {
    LearnedExtents learned;
    learned.arguments.resize(arguments.size());
    std::vector<LearnedBuffer> buffers;
    std::vector<std::string> names;
    const double begin = system::thread_seconds();
    for (size_t i = 0; i < arguments.size() && i < program.parameters.size(); ++i) {
        names.push_back(program.parameters[i].name);
        if (!is_learned(arguments[i])) continue;
        learned.arguments[i].asked = count_of(arguments[i]);
        buffers.push_back({i, 0, std::max<uint64_t>(learned.arguments[i].asked, 1) * size_of(arguments[i].type)});
    }
    if (buffers.empty()) {
        learned.stopped = "no buffer of it is generated";
        return learned;
    }
    uint64_t instructions = 0;
    for (;;) {
        ++learned.runs;
        simt::LaunchConfig launch = config;
        simt::Memory memory(limits.bytes * (buffers.size() + 1));
        try {
            if (const auto problem = place(program, arguments, source, buffers, names, memory, launch))
                learned.stopped = *problem;
        } catch (const Failure& failure) {
            learned.stopped = failure.diagnostic.message;
        }
        if (!learned.stopped.empty()) break;
        simt::LaunchOptions how = options;
        how.max_instructions = limits.instructions - std::min(limits.instructions - 1, instructions);
        how.stop = stop;
        how.racecheck = how.initcheck = how.synccheck = false;
        how.print = nullptr;
        TouchObserver observer(buffers, begin + limits.seconds);
        const simt::LaunchResult result = simt::launch_observed(program, launch, memory, how, observer);
        instructions += result.warp_instructions;
        if (result.stopped || stop.stop_requested())
            learned.stopped = "the first run was cancelled";
        else if (observer.late() || (result.fault && result.fault->kind == "runaway"))
            learned.stopped = fmt::format("the first run takes longer than {:g} s", limits.seconds);
        else if (!result.fault)
            break;
        else if (const auto problem = grow(buffers, *result.fault, names, limits.bytes))
            learned.stopped = *problem;
        if (!learned.stopped.empty()) break;
    }
    learned.seconds = system::thread_seconds() - begin;
    for (const LearnedBuffer& buffer : buffers) {
        LearnedExtent& extent = learned.arguments[buffer.argument];
        const uint64_t size = size_of(arguments[buffer.argument].type);
        extent.learned = learned.stopped.empty();
        extent.elements = (buffer.touched + size - 1) / size;
        extent.read = buffer.read;
        extent.written = buffer.written;
    }
    return learned;
}

std::string with_elements(const std::string& argument, uint64_t elements) {
    const size_t open = argument.find('['), close = argument.find(']', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || close == std::string::npos) return argument;
    const std::string all = argument.substr(open + 1, close - open - 1);
    const size_t end = all.find_first_not_of("0123456789, ");
    std::string extents = all.substr(0, end), fill = end == std::string::npos ? "" : " " + all.substr(end);
    uint64_t row = 1;  // elements of all extents but the slowest
    for (size_t at = extents.find(','); at != std::string::npos; at = extents.find(',', at + 1))
        row *= std::strtoull(extents.c_str() + at + 1, nullptr, 10);
    std::string sized = std::to_string(elements);
    if (const size_t comma = extents.find(','); comma != std::string::npos && row > 0 && elements % row == 0) {
        std::string rest = extents.substr(comma);
        while (!rest.empty() && rest.back() == ' ') rest.pop_back();
        sized = std::to_string(elements / row) + rest;
    }
    return argument.substr(0, open + 1) + sized + fill + argument.substr(close);
}

}  // namespace lockstep::scene
