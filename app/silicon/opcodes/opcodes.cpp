// The part opcodes: every operation on the GPU and on our machine, bit by bit. Cases whose spellings the GPU's compiler does
// not take are tried one by one, and what it refuses is counted.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "app/silicon/measure/parts.h"
#include "app/silicon/opcodes/opcode_cases.h"
#include "core/device/cuda/cuda.h"
#include "core/ptx/opcodes/opcode_text.h"
#include "core/ptx/ptx.h"

namespace lockstep::device {
namespace {

using ptx::Type;
constexpr size_t most_opcode_steps = 48;  // of a kernel
constexpr uint32_t opcode_block = 128;

// Pieces that are compared by themselves: the type and how many of them a register holds.
struct OpcodePieces {
    int bits = 32, fraction = 0, count = 1;  // fraction 0: no float
};
OpcodePieces pieces_of(Type t) {
    switch (t) {
        case Type::f16:
            return {16, 10, 1};
        case Type::bf16:
            return {16, 7, 1};
        case Type::f16x2:
            return {16, 10, 2};
        case Type::bf16x2:
            return {16, 7, 2};
        case Type::f32:
        case Type::tf32:
            return {32, 23, 1};
        case Type::f64:
            return {64, 52, 1};
        default:
            return {64, 0, 1};
    }
}

// result: the outputs, and behind them what the surfaces hold, eight bytes a number.
void run_opcodes(Device& device, const GeneratedKernel& kernel, const OpcodeKernel& opcodes, uint32_t threads,
                 std::vector<uint64_t>& result) {
    const size_t row = size_t{threads} * 8;
    const OpcodeTextures objects = opcodes.has_textures ? opcode_textures(threads) : OpcodeTextures{};
    const Pointer in = device.allocate(std::max<size_t>(1, opcodes.inputs.size()) * row, "operands");
    const Pointer out = device.allocate(opcodes.outputs.size() * row + size_t{threads} * 32, "results");
    const Pointer texels = device.allocate(std::max<size_t>(1, objects.texels.size()), "texels");
    std::vector<int64_t> handles;
    const auto release_textures = [&] {
        while (!handles.empty()) {
            const int64_t last = handles.back();
            handles.pop_back();
            device.release_texture(last);
        }
    };
    const auto finish = [&] {
        release_textures();
        for (const Pointer pointer : {in, out, texels}) device.release(pointer);
    };
    try {
        for (size_t i = 0; i < opcodes.inputs.size(); ++i)
            device.copy_in({in.address + i * row}, opcodes.inputs[i].data(), row);
        device.copy_in(texels, objects.texels.data(), objects.texels.size());
        const std::array<TensorTile, 4> tiles = opcode_tiles(out.address + opcodes.outputs.size() * row, threads);
        LaunchRequest request{.kernel = kernel.name,
                              .grid = {threads / opcode_block},
                              .block = {opcode_block},
                              .arguments = {in, out},
                              .generated = &kernel};
        for (simt::Texture texture : objects.textures) {
            texture.address += texels.address;
            handles.push_back(device.create_texture(texture));
            request.arguments.emplace_back(handles.back());
        }
        if (!opcodes.has_textures && kernel.program->parameters.size() > 2)
            for (const TensorTile& tile : tiles) request.arguments.emplace_back(&tile);
        device.launch(request);
        release_textures();
        const size_t outputs = opcodes.outputs.size() * threads;
        result.resize(outputs + objects.texels.size() / 8);
        device.copy_out(result.data(), out, outputs * 8);
        device.copy_out(result.data() + outputs, texels, objects.texels.size());
    } catch (...) {
        try {
            finish();
        } catch (const Failure&) {  // a device that failed keeps its memory
        }
        throw;
    }
    finish();
}

void count_differences(SiliconCheck& check, const std::vector<OpcodeStep>& steps, const OpcodeKernel& kernel,
                       uint32_t threads, const std::vector<uint64_t>& gpu, const std::vector<uint64_t>& ours) {
    for (size_t o = 0; o < kernel.outputs.size(); ++o) {
        const auto& [step, type] = kernel.outputs[o];
        for (size_t t = 0; t < threads; ++t) {
            const uint64_t a = gpu[o * threads + t], b = ours[o * threads + t];
            const bool differs = count_pieces(check, type, a, b);
            if (!differs || !check.note.empty()) continue;
            check.note =
                fmt::format("{}: thread {}: {:#x} on the GPU, {:#x} here", steps[step].text, t, a, b).substr(0, 300);
        }
    }
    for (size_t i = kernel.outputs.size() * threads; i < gpu.size(); ++i) {  // of surfaces
        if (!count_pieces(check, Type::b64, gpu[i], ours[i]) || !check.note.empty()) continue;
        check.note = fmt::format("{}, ...: {:#x} on the GPU in byte {} of the texels, {:#x} here", steps[0].text, gpu[i],
                                 8 * (i - kernel.outputs.size() * threads), ours[i])
                         .substr(0, 300);
    }
}

// The steps whose lines the compiler complains about: "ptxas application ptx input, line 34; error : ...".
std::vector<size_t> steps_named(const std::string& log, const OpcodeKernel& kernel) {
    std::vector<size_t> steps;
    constexpr std::string_view word = ", line ";
    for (size_t at = log.find(word); at != std::string::npos; at = log.find(word, at + 1)) {
        const size_t line = std::strtoul(log.c_str() + at + word.size(), nullptr, 10);
        const auto behind = std::upper_bound(kernel.lines.begin(), kernel.lines.end(), line);
        if (behind == kernel.lines.begin()) continue;  // none of ours
        const auto step = static_cast<size_t>(behind - kernel.lines.begin() - 1);
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
    }
    return steps;
}

}  // namespace

// How many encodings lie between two floats; of zeros of either sign none.
static size_t bucket_of(uint64_t a, uint64_t b, const OpcodePieces& pieces) {
    const uint64_t sign = uint64_t{1} << (pieces.bits - 1), magnitude = sign - 1;
    const uint64_t infinity = magnitude >> pieces.fraction << pieces.fraction;
    const bool a_nan = (a & magnitude) > infinity, b_nan = (b & magnitude) > infinity;
    if (a_nan || b_nan) return a_nan && b_nan ? 0 : SiliconCheck::buckets - 1;
    const auto place = [&](uint64_t x) {
        const auto steps = static_cast<double>(x & magnitude);
        return x & sign ? -steps : steps;
    };
    const double apart = std::abs(place(a) - place(b));
    return apart == 0 ? 0 : apart <= 1 ? 1 : apart <= 2 ? 2 : apart <= 4 ? 3 : apart <= 8 ? 4 : apart <= 16 ? 5 : 6;
}

bool count_pieces(SiliconCheck& check, Type type, uint64_t a, uint64_t b) {
    const OpcodePieces pieces = pieces_of(type);
    bool differs = false;
    for (int i = 0; i < pieces.count; ++i) {
        const uint64_t mask = pieces.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << pieces.bits) - 1;
        const uint64_t x = a >> (i * 16) & mask, y = b >> (i * 16) & mask;
        ++check.compared;
        check.different += x != y;
        differs = differs || x != y;
        if (pieces.fraction != 0) ++check.apart[bucket_of(x, y, pieces)];
    }
    return differs;
}

void measure_opcodes(SiliconRun& run) {
    auto* const cuda = dynamic_cast<Cuda*>(&run.device);
    const int capability = cuda ? 10 * cuda->attribute(75) + cuda->attribute(76) : 90;
    const std::string target = fmt::format("sm_{}", std::clamp(capability, 70, 90));
    const uint32_t threads = run.options.quick ? 256 : 4096;
    const std::unique_ptr<Device> ours = open_device("sim:h200", {.functional = true}).value();
    size_t number = 0;
    for (const OpcodeCase& opcode_case : opcode_cases(run.options.quick)) {
        ++number;
        run.row(opcode_case.name, [&] {
            SiliconCheck check{.name = opcode_case.name};
            const auto refuse = [&](const std::string& why) {
                ++check.refused;
                if (check.note.empty()) check.note = why.substr(0, 300);
            };
            size_t kernels = 0;
            const std::function<void(const std::vector<OpcodeStep>&)> compare = [&](const std::vector<OpcodeStep>& steps) {
                const std::string name = fmt::format("operation_{}_{}", number, kernels++);
                const OpcodeKernel kernel = opcode_kernel(
                    name, steps, threads, opcode_case.target.empty() ? target : opcode_case.target, opcode_case.cluster);
                GeneratedKernel generated{.name = name, .program = {}, .native = {}, .source = {}};
                try {
                    generated.program = ptx::decode(ptx::parse(kernel.ptx, opcode_case.name).value(), name).value();
                    if (cuda) cuda->compile(generated);
                } catch (const Failure& failure) {
                    if (failure.status == ExitStatus::missing) throw;  // the driver, not its compiler
                    if (steps.size() == 1) return refuse(steps[0].text + ": " + failure.diagnostic.message);
                    const std::vector<size_t> named = steps_named(failure.diagnostic.message, kernel);
                    std::vector<OpcodeStep> taken;
                    for (size_t i = 0; i < steps.size(); ++i)
                        if (std::find(named.begin(), named.end(), i) == named.end())
                            taken.push_back(steps[i]);
                        else
                            refuse(steps[i].text + ": " + failure.diagnostic.message);
                    if (named.empty())
                        for (const OpcodeStep& step : steps) compare({step});
                    else if (!taken.empty())
                        compare(taken);
                    return;
                }
                std::vector<uint64_t> here, there;
                run_opcodes(run.device, generated, kernel, threads, there);
                run_opcodes(*ours, generated, kernel, threads, here);
                count_differences(check, steps, kernel, threads, there, here);
            };
            for (size_t at = 0; at < opcode_case.steps.size(); at += most_opcode_steps)
                compare({opcode_case.steps.begin() + static_cast<ptrdiff_t>(at),
                         opcode_case.steps.begin() +
                             static_cast<ptrdiff_t>(std::min(at + most_opcode_steps, opcode_case.steps.size()))});
            for (char& c : check.note)
                if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
            run.add(std::move(check));
        });
    }
}

}  // namespace lockstep::device
