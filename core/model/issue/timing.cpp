// Units and latencies of single machine instructions come from the GPU's row; which unit and which way an instruction takes,
// and what those cost that stand for a whole sequence on silicon, from its row of the opcode table
// (core/ptx/opcodes/facts.h).
#include "core/model/issue/timing.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <unordered_map>

#include "core/base/diagnostic.h"
#include "core/model/issue/operand_reads.h"
#include "core/model/lowering/library_calls.h"
#include "core/model/lowering/lowering.h"
#include "core/model/metrics/operations.h"
#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model {
namespace {

using ptx::Does;
using ptx::Kind;
using ptx::Space;
using ptx::Type;
using ptx::Unit;

enum class Class : uint8_t { int32, int64, f32, f64 };
Class class_of(Type type) {
    switch (type) {
        case Type::f64:
            return Class::f64;
        case Type::f32:
        case Type::f16:
        case Type::f16x2:
        case Type::bf16:
        case Type::bf16x2:
            return Class::f32;
        case Type::b64:
        case Type::u64:
        case Type::s64:
            return Class::int64;
        default:
            return Class::int32;
    }
}

uint32_t interval_of(double lanes) {  // without lanes the launch is refused (refusals.h)
    if (lanes <= 0) return 1;
    return static_cast<uint32_t>(std::max(1.0, std::ceil(32.0 / lanes)));
}

// A product takes the tensor core for as long as its multiply-adds need at the vendor's peak for f16 (A100: m16n8k16 8
// cycles, H100: a warp's part of wgmma m64n256k16 128), and its result comes `behind` cycles later (A100: about 25 cycles in
// all for m16n8k16, published micro-benchmarks). A GPU without tensor cores would do it on its FP32 lanes: an estimate.
void time_matrix(const GpuSpec& gpu, const ptx::DecodedInstruction& in, Timing& t) {
    constexpr uint32_t behind = 17;
    const bool group = in.kind == Kind::matrix_group;  // each of its 4 warps does a quarter
    const auto products = static_cast<double>(multiply_adds(in));
    const double a_cycle = gpu.fp16_tensor_tflops > 0
                               ? gpu.fp16_tensor_tflops * 1e6 / (2 * gpu.boost_mhz * double(gpu.sms) * double(gpu.sub_cores))
                               : double(gpu.fp32_lanes);
    double speed = gpu.fp16_tensor_tflops > 0 ? tensor_speed(gpu, in.type) : 1;
    if (!group && in.type != Type::f64) speed *= gpu.mma_sync_share;
    t.interval = static_cast<uint32_t>(std::max(1.0, std::round(products / (a_cycle * speed))));
    // Products of a warpgroup that follow one another add to the same registers without a wait.
    t.latency = t.interval + (group ? 0 : behind);
}

// An instruction as the PTX has it: "@%p1 ld.global.cg.f32 %f1, [%rd1]"; empty where there is no text.
std::string_view text_at(const ptx::Program& program, uint32_t pc) {
    if (pc >= program.texts.size()) return {};
    return std::string_view(program.ptx).substr(program.texts[pc].begin, program.texts[pc].length);
}

// Whether half of the FP32 lanes do integer products too: FMAHeavy.
bool has_heavy_half(const GpuSpec& gpu) {
    return gpu.fp32_lanes >= 2 * gpu.int_lanes && gpu.issue_width == 1;
}

void time_math(const GpuSpec& gpu, const ptx::Program& program, uint32_t pc, const Lowered& lowered,
               const TimingOptions& options, Timing& t) {
    const ptx::DecodedInstruction& in = program.instructions[pc];
    const ptx::Facts& facts = ptx::facts_of(in);
    const Class type = class_of(in.type);
    const Unit unit = static_cast<Unit>(t.pipe);
    const bool integer = type == Class::int32 || type == Class::int64;
    switch (unit) {
        case Unit::tensor:
            time_matrix(gpu, in, t);
            break;
        case Unit::fma:
            t.interval = interval_of(gpu.fp32_lanes);
            t.latency = integer ? gpu.imad_latency : gpu.fp32_latency;
            if (in.type == Type::f16 && in.destination_type == Type::f32) {
                // HADD2.F32: 64 a cycle and SM, on FMAHeavy where there is one (published of GB300, a row of CVT rates).
                t.interval = interval_of(std::min<double>(gpu.fp16x2_lanes, gpu.int_lanes));
                t.latency = gpu.fp16_latency;
                if (has_heavy_half(gpu)) t.pipe = static_cast<uint8_t>(heavy_pipe);
            }
            break;
        case Unit::fp64:
            t.interval = interval_of(gpu.fp64_lanes);
            t.latency = gpu.fp64_latency;
            break;
        case Unit::xu:
            t.interval = interval_of(gpu.sfu_lanes);
            t.latency = gpu.sfu_latency;
            t.result_wait = StallReason::short_scoreboard;
            break;
        default:
            t.interval = interval_of(gpu.int_lanes);
            t.latency = gpu.int_latency;
            break;
    }
    if (integer && (facts.does == Does::product || facts.does == Does::multiply_add || lowered.wide_add)) {
        t.latency = gpu.imad_latency;
        t.interval = interval_of(gpu.int_lanes);
        t.pipe = gpu.imad_shares_fp32 != 1 ? static_cast<uint8_t>(Unit::alu)
                 : has_heavy_half(gpu)     ? static_cast<uint8_t>(heavy_pipe)
                                           : static_cast<uint8_t>(Unit::fma);
    }
    if (in.type == Type::f16x2 || in.type == Type::bf16x2) {
        t.interval = interval_of(gpu.fp16x2_lanes);
        t.latency = gpu.fp16_latency;
    }
    if (lowered.instructions > 1) {  // one behind the other, with a carry between them
        t.latency += (lowered.instructions - 1) * gpu.int_latency;
        t.interval *= lowered.instructions;
    }
    const bool doubles = type == Class::f64 || in.destination_type == Type::f64;
    const uint32_t fp64_interval = interval_of(gpu.fp64_lanes);
    for (const ptx::Sequence& steps : facts.sequences) {
        if (steps.bytes != (type == Class::int64 || type == Class::f64 ? 8 : 4)) continue;
        if (steps.approximate != in.approximate || !options.sequences || (type == Class::f64 && unit == Unit::xu)) continue;
        t.latency = steps.latency * gpu.fp32_latency / 4;
        t.interval = steps.interval * (type == Class::f64 ? fp64_interval : 2 * interval_of(gpu.fp32_lanes)) / 4;
        t.latency = std::max(t.latency, t.interval);
    }
    if (doubles && facts.doubles == ptx::Doubles::on_fp64) {
        t.pipe = static_cast<uint8_t>(Unit::fp64);
        t.interval = fp64_interval;
        t.latency = gpu.fp64_latency;
    }
    // Conversions to and from 64 bits, and sums over a warp: CUDA C++ Programming Guide, arithmetic throughput (recalled).
    if (doubles && facts.doubles == ptx::Doubles::at_fp64_rate) t.interval = std::max(t.interval, fp64_interval);
    if (facts.results != 0) t.interval = interval_of(double(facts.results) / gpu.sub_cores);
    if (gpu.int_shares_fp32 == 1 && (unit == Unit::alu || unit == Unit::uniform)) t.pipe = static_cast<uint8_t>(Unit::fma);
    t.interval = std::max(1u, t.interval);
    t.latency = std::max(1u, t.latency);
}

bool is_half(Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
}

// The unit of an instruction: that of its opcode, but for conversions that are none of I2F, F2I, F2F and FRND in the machine
// code. ptxas of CUDA 13 makes of them HADD2.F32 (a half as a float), F2FP (a float as a half, from sm_80 on; bytes from
// sm_89 on), I2FP (an integer as a float, from sm_86 on), FADD (.sat and .ftz alone), and a shift of a bf16; ptxas waits for
// these by counting cycles, as for all of the ordinary lanes, and for I2F and its like by a scoreboard.
Unit unit_of(const GpuSpec& gpu, const ptx::DecodedInstruction& in, std::string_view text) {
    if (in.opcode == nullptr) return Unit::alu;
    // rcp and rsqrt.approx.ftz.f64 are MUFU.RCP64H and MUFU.RSQ64H, of the upper word alone.
    if (in.type == Type::f64 && in.approximate && text.find(".ftz") != std::string_view::npos &&
        (in.opcode->name == "rcp" || in.opcode->name == "rsqrt"))
        return Unit::xu;
    const uint32_t compute = gpu.compute.number;
    if (in.opcode->name != "cvt" || in.opcode->unit != Unit::xu || gpu.folds_ptx == 0 || compute < 70)
        return in.opcode->unit;
    const Type to = in.destination_type, from = in.type;
    const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    if (to == Type::f32 && from == Type::f16) return Unit::fma;
    if (to == Type::f32 && from == Type::f32 && !has("cvt.r")) return Unit::fma;
    if (compute < 80) return in.opcode->unit;
    if ((to == Type::f32 && from == Type::bf16) || (is_half(to) && from == Type::f32)) return Unit::alu;
    if (compute < 86) return in.opcode->unit;
    const bool whole = from == Type::s32 || from == Type::u32 || from == Type::u16 || from == Type::u8;
    if (to == Type::f32 && whole && (has("cvt.rn.") || has("cvt.rz."))) return Unit::alu;
    if (compute >= 89 && (has("e4m3x2") || has("e5m2x2"))) return Unit::alu;
    return in.opcode->unit;
}

// Between float and double, which are two names of one type where FP64 is as FP32.
bool converts_doubles(const ptx::DecodedInstruction& in) {
    const bool doubles = in.type == Type::f64 || in.destination_type == Type::f64,
               floats = in.type == Type::f32 || in.destination_type == Type::f32;
    return doubles && floats && in.opcode != nullptr && in.opcode->name == "cvt";
}

}  // namespace

double tensor_speed(const GpuSpec& gpu, Type type) {
    switch (type) {
        case Type::f64:  // A100: 19.5 of 312 TFLOP/s; boards for graphics multiply on their few FP64 lanes
            return gpu.compute.number == 80 || gpu.compute.number == 90 || gpu.fp16_tensor_tflops <= 0
                       ? 1.0 / 16
                       : gpu.fp64_tflops / gpu.fp16_tensor_tflops;
        case Type::tf32:
            return 1.0 / 2;
        case Type::e4m3:
        case Type::e5m2:
        case Type::s8:
        case Type::u8:
            return 2;
        case Type::s4:
        case Type::u4:
            return 4;
        case Type::b1:
            return 16;
        default:
            return 1;
    }
}

namespace {
// As the machine code of nvcc 13 shows: counters and flags that all threads share are updated once a warp.
AtomicWay way_of(const GpuSpec& gpu, const ptx::DecodedInstruction& in, const Lowered& lowered) {
    using ptx::AtomicOperation;
    const AtomicOperation operation = ptx::as_atomic(in).operation;
    const bool floating = in.type == Type::f32 || in.type == Type::f64;
    if (floating && in.space == Space::shared && operation == AtomicOperation::add) return AtomicWay::by_loop;
    if (operation == AtomicOperation::add && in.space != Space::shared) {
        if (in.type == Type::f16 || in.type == Type::bf16) return AtomicWay::of_halves;
        if (in.type == Type::f16x2 || in.type == Type::bf16x2) return AtomicWay::of_half_pairs;
    }
    const bool sums = operation == AtomicOperation::add || operation == AtomicOperation::min ||
                      operation == AtomicOperation::max || operation == AtomicOperation::and_ ||
                      operation == AtomicOperation::or_ || operation == AtomicOperation::xor_;
    const bool words = in.type == Type::u32 || in.type == Type::s32 || in.type == Type::b32;
    if (gpu.folds_ptx == 0 || !lowered.one_address || !sums || !words || in.vector != 1) return AtomicWay::lane_by_lane;
    const bool counted = lowered.one_operand && operation == AtomicOperation::add;
    return counted || gpu.compute.number >= 80 ? AtomicWay::of_the_warp : AtomicWay::lane_by_lane;
}

// Whether its machine code has a fence of the GPU's scope in front: atom.add.release.gpu, as cooperative groups have it.
bool releases(const ptx::Program& program, uint32_t pc) {
    const ptx::DecodedInstruction& in = program.instructions[pc];
    if ((in.kind != Kind::atomic && in.kind != Kind::store) || in.space == Space::shared) return false;
    std::string_view text = text_at(program, pc);
    if (text.starts_with('@')) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
    const std::string_view spelled = text.substr(0, text.find_first_of(" \t"));
    const bool ordered =
        spelled.find(".release") != std::string_view::npos || spelled.find(".acq_rel") != std::string_view::npos;
    return ordered && spelled.find(".cta") == std::string_view::npos;
}

// Whether its machine code empties the SM's L1 behind it: loads and atomics that acquire at the GPU's scope or the system's,
// and fences that do not release alone (the machine code of nvcc 13 for sm_80 and sm_90).
bool acquires(const ptx::Program& program, uint32_t pc) {
    const ptx::DecodedInstruction& in = program.instructions[pc];
    if (in.space == Space::shared || in.space == Space::local) return false;
    std::string_view text = text_at(program, pc);
    if (text.starts_with('@')) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
    const std::string_view spelled = text.substr(0, text.find_first_of(" \t;"));
    const auto has = [&](std::string_view word) { return spelled.find(word) != std::string_view::npos; };
    if (has(".cta") || has(".cluster")) return false;
    if (ptx::facts_of(in).route == Route::fence)
        return spelled.starts_with("membar.") || spelled.starts_with("fence.sc") || spelled.starts_with("fence.acq_rel");
    return has(".acquire") || has(".acq_rel");
}

// Whether SMs do it in the order of cycles.
bool is_shared_by_sms(const ptx::DecodedInstruction& in, bool clusters) {
    switch (ptx::facts_of(in).seen) {
        case ptx::Seen::by_block:
            return false;
        case ptx::Seen::by_cluster:
            return clusters;
        case ptx::Seen::by_space:
            return clusters || (in.space != Space::shared && in.space != Space::param);
        case ptx::Seen::by_all:
            return true;
    }
    return true;
}

// Shared memory has a queue of its own, which mbarriers and shuffles take too.
void find_queue(bool near, Timing& t) {
    t.pipe = static_cast<uint8_t>(near ? mio_queue : lg_queue);
    t.throttle = near ? StallReason::mio_throttle : StallReason::lg_throttle;
    t.result_wait = near ? StallReason::short_scoreboard : StallReason::long_scoreboard;
}

// Where it goes: the pipe or queue that it takes and for how long, and the names of the waits for room and for its result.
void find_route(const GpuSpec& gpu, const ptx::Program& program, uint32_t pc, const Lowered& lowered,
                const TimingOptions& options, Timing& t) {
    const ptx::DecodedInstruction& in = program.instructions[pc];
    t.route = ptx::facts_of(in).route;
    if (in.kind == Kind::load || in.kind == Kind::store || in.kind == Kind::async_copy)
        t.cache = cache_use_of(spelling_in(text_at(program, pc), in.opcode == nullptr ? "" : in.opcode->name));
    switch (t.route) {
        case Route::math:
            if (t.pipe == mio_queue) t.pipe = static_cast<uint8_t>(Unit::alu);
            time_math(gpu, program, pc, lowered, options, t);
            break;
        case Route::memory:
            if (in.space != Space::param && in.space != Space::constant) return find_queue(in.space == Space::shared, t);
            t.route = Route::constant;
            t.pipe = static_cast<uint8_t>(Unit::uniform);
            t.latency = gpu.constant_latency;
            if (in.address != ptx::no_operand && gpu.constant_load_latency > gpu.constant_latency) {
                t.latency = gpu.constant_load_latency;
                t.result_wait = StallReason::short_scoreboard;
            }
            break;
        case Route::mbarrier:
            t.route = Route::memory;
            return find_queue(true, t);
        case Route::shuffle:
            return find_queue(true, t);
        default:
            t.pipe = static_cast<uint8_t>(Unit::cbu);
            if (in.kind == Kind::fence && text_at(program, pc).find(".cta") == std::string_view::npos &&
                text_at(program, pc).find("::cta") == std::string_view::npos)
                t.latency = std::max(1u, gpu.fence_latency.value);
            break;
    }
}

using Numbers = std::unordered_map<int32_t, uint32_t>;  // of registers, dense, by their place in the register file

// Which registers it waits for and writes; a load that another brings along waits for that one's result.
void find_registers(const ptx::Program& program, uint32_t pc, const Lowered& lowered, Numbers& numbers, Timing& t) {
    const ptx::DecodedInstruction& in = program.instructions[pc];
    const auto number_of = [&](int32_t offset) {
        const uint32_t number = numbers.try_emplace(offset, static_cast<uint32_t>(numbers.size())).first->second;
        t.filter |= uint64_t{1} << number % 64;
        return number;
    };
    const bool merged = lowered.merged_with != UINT32_MAX;
    if (merged) t.reads[t.registers_read++] = number_of(program.instructions[lowered.merged_with].destination[0]);
    if (lowered.under != ptx::no_operand) t.reads[t.registers_read++] = number_of(lowered.under);
    t.list_written = in.list_destinations;
    ptx::each_use(program.lists, in, [&](const ptx::RegisterUse& use) {
        if (use.listed)
            t.list.push_back(number_of(use.reg));
        else if (use.role == ptx::Role::destination)
            t.writes[t.registers_written++] = number_of(use.reg);
        else if (!merged)
            t.reads[t.registers_read++] = number_of(use.reg);
    });
}

}  // namespace

namespace {
// All of a library function's instructions are folded into one, which costs what the intrinsic does.
void shorten_functions(const GpuSpec& gpu, const ptx::Program& program, std::vector<Timing>& table) {
    std::vector<uint32_t> saved(table.size() + 1);  // slots, by the instruction that took them
    for (const LibraryCall& call : library_calls(program)) {
        for (const uint32_t pc : call.pcs) {
            Timing& t = table[pc];
            if (pc == call.carrier) continue;
            if (!t.folded) saved[pc] = 1u + t.more_slots;
            t.folded = true;
            t.more_slots = 0;
        }
        Timing& carrier = table[call.carrier];
        const uint32_t before = 1u + carrier.more_slots;
        carrier.folded = false;
        carrier.route = Route::math;
        carrier.pipe = static_cast<uint8_t>(Unit::xu);
        carrier.interval = call.family->special * std::max(1u, interval_of(gpu.sfu_lanes));
        carrier.latency =
            call.family->special * gpu.sfu_latency + (call.family->slots - call.family->special) * gpu.fp32_latency;
        carrier.result_wait = StallReason::short_scoreboard;
        carrier.throttle = StallReason::math_pipe_throttle;
        carrier.more_slots = static_cast<uint8_t>(call.family->slots - 1);
        saved[call.carrier] = before > call.family->slots ? before - call.family->slots : 0;
    }
    for (uint32_t pc = 0, less = 0; pc < table.size(); ++pc) {
        table[pc].slots -= std::min(less, table[pc].slots);
        less += saved[pc];
    }
}
}  // namespace

std::vector<Timing> make_timing(const GpuSpec& gpu, const ptx::Program& program, const TimingOptions& options) {
    const std::vector<Lowered> lowered = lower(program, options.lowering, gpu.compute.number);
    std::vector<Timing> table(std::max<size_t>(1, program.instructions.size()));
    table[0].route = Route::exit;
    Numbers numbers;
    const std::vector<uint8_t> reads = operand_cycles(gpu, program, lowered);
    uint32_t slots = 0;
    assert(lowered.size() >= program.instructions.size() && reads.size() >= program.instructions.size());
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& in = program.instructions[pc];
        const Lowered& made = lowered[pc];
        Timing& t = table[pc];
        t = Timing{};
        t.pipe = static_cast<uint8_t>(unit_of(gpu, in, text_at(program, pc)));
        t.lane_bytes = made.wide_bytes != 0 ? made.wide_bytes : static_cast<uint32_t>(ptx::size_of(in.type)) * in.vector;
        t.shared_by_sms = is_shared_by_sms(in, options.clusters);
        t.stores = in.kind == Kind::store;
        find_route(gpu, program, pc, made, options, t);
        t.predicated = made.predicated;
        if (made.predicated != Predicated::no) t.route = Route::math;
        t.slots = slots;
        slots += made.slots;
        if (options.lowering && options.sequences && made.slots > made.instructions)
            t.more_slots = static_cast<uint8_t>(made.slots - 1);
        find_registers(program, pc, made, numbers, t);
        t.folded = made.instructions == 0 || (!options.doubles && converts_doubles(in));
        assert(t.registers_read <= std::size(t.reads) && t.registers_written <= std::size(t.writes));
        if (!t.folded && t.route == Route::math && reads[pc] > t.interval) {  // the register file binds, not the lanes
            t.interval = reads[pc];
            t.throttle = StallReason::dispatch_stall;
        }
        t.wide_bytes = made.wide_bytes;
        t.sets_mark = made.sets_mark;
        t.from_mark = made.from_mark;
        t.rounds = made.rounds;
        t.loop = made.loop;
        if (in.kind == Kind::atomic) t.atomic = way_of(gpu, in, made);
        if (releases(program, pc)) t.fence = gpu.fence_latency;
        t.acquires = gpu.folds_ptx != 0 && acquires(program, pc);
    }
    if (options.short_functions) shorten_functions(gpu, program, table);
    return table;
}

}  // namespace lockstep::model
