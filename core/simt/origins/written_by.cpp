#include "core/simt/origins/written_by.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>
#include <sstream>
#include <unordered_map>

#include "core/ptx/analyse/dataflow.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/source_text.h"
#include "core/simt/memory/access.h"
#include "core/simt/origins/observe.h"
#include "core/simt/origins/operation_text.h"

namespace lockstep::simt {

namespace {

Fault place_in(const Warp& warp, uint32_t pc, uint32_t lane) {
    return *make_fault(warp, pc, lane, {}, {});
}

ReadOperand reader(const Warp& warp, uint32_t lane) {
    return [&warp, lane](int32_t reg, uint32_t bytes) {
        uint64_t bits = 0;
        std::memcpy(&bits, operand(warp, reg) + size_t{lane} * bytes, std::min<uint32_t>(bytes, 8));
        return bits;
    };
}

// Calls take(lane, address, bytes) for what an event wrote to global memory; bulk copies by their sectors.
template <class Take>
void each_written_place(const WarpEvent& event, Take&& take) {
    constexpr uint32_t sector = 32;
    if (event.kind != WarpEvent::Kind::memory || event.space != ptx::Space::global) return;
    if (!event.is_store && !event.is_atomic) return;
    if (event.sectors) {
        const auto lane = static_cast<uint32_t>(event.executed ? __builtin_ctz(event.executed) : 0);
        for (const uint64_t address : *event.sectors) take(lane, address, sector);
        return;
    }
    if (!event.addresses) return;
    for (uint32_t rest = event.executed; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        take(lane, event.addresses[lane], uint32_t{event.bytes});
    }
}

// The value that a store takes to `address`, as the operation that made it, if the registers still tell.
std::string how_stored(const Warp& warp, const WarpEvent& event, uint32_t lane, uint64_t address) {
    const ptx::Program& program = *warp.block->grid->program;
    const ptx::DecodedInstruction& i = *event.instruction;
    if (i.kind == ptx::Kind::atomic) return "an atomic";
    if (i.kind != ptx::Kind::store || !event.addresses) return {};
    const size_t size = ptx::size_of(i.type);
    const size_t element = size ? (address - event.addresses[lane]) / size : 0;
    if (element >= i.vector) return {};
    const int32_t source = ptx::elements_taken(program.lists, i)[element];
    if (!ptx::is_register(source)) return "a constant";
    const ptx::Flow flow(program);
    const ptx::Definitions definitions = ptx::definitions_of(flow, event.pc, source);
    if (definitions.from_entry || definitions.pcs.size() != 1) return {};
    const uint32_t pc = definitions.pcs.front();
    const ptx::DecodedInstruction& made = program.instructions[pc];
    if (made.kind != ptx::Kind::lane_wise || made.lanes == nullptr || ptx::is_conditional(made)) return {};
    for (const int32_t reg : made.source)
        if (reg == made.destination[0]) return {};
    // Believed only where the operands, as they stand now, give the value.
    alignas(64) std::byte again[warp_size * 16] = {};
    const auto at = [&](int32_t reg) { return reg == ptx::no_operand ? nullptr : operand(warp, reg); };
    made.lanes(again, at(made.source[0]), at(made.source[1]), at(made.source[2]));
    const size_t bytes = ptx::size_of(made.destination_type);
    if (bytes == 0 || bytes > 8) return {};
    if (std::memcmp(again + lane * bytes, operand(warp, source) + lane * bytes, bytes) != 0) return {};
    return operation_text(program, pc, reader(warp, lane));
}

// In which block each range changed last, by what stands there when blocks end.
class Changes : public Observer {
  public:
    static constexpr uint32_t nobody = UINT32_MAX;
    Changes(const Memory& memory, std::span<const MemoryRange> ranges) : memory_(memory), ranges_(ranges) {
        for (const MemoryRange& range : ranges) held_.push_back(bytes_at(range));
        in_block.resize(ranges.size(), nobody);
    }
    bool wants(const Block&) const override { return false; }
    void ended(const Block& block) override {
        for (size_t k = 0; k < ranges_.size(); ++k) {
            std::vector<std::byte> now = bytes_at(ranges_[k]);
            if (now == held_[k]) continue;
            held_[k] = std::move(now);
            in_block[k] = block.linear;
        }
    }
    std::vector<uint32_t> in_block;

  private:
    std::vector<std::byte> bytes_at(const MemoryRange& range) const {
        const std::byte* const at = memory_.read(range.address, range.bytes);
        return at ? std::vector<std::byte>(at, at + range.bytes) : std::vector<std::byte>();
    }
    const Memory& memory_;
    std::span<const MemoryRange> ranges_;
    std::vector<std::vector<std::byte>> held_;
};

// The writes to one range, of all blocks or of one.
class Writer : public Observer {
  public:
    Writer(const MemoryRange& range, uint32_t block) : range_(range), block_(block) {}
    bool wants(const Block& block) const override { return block_ == Changes::nobody || block.linear == block_; }
    bool done() const override { return over_; }
    void ended(const Block& block) override { over_ = block.linear == block_; }
    void after(const Warp& warp, const WarpEvent& event) override {
        each_written_place(event, [&](uint32_t lane, uint64_t address, uint32_t bytes) {
            if (address >= range_.address + range_.bytes || address + bytes <= range_.address) return;
            ++writes_;
            last = {true, place_in(warp, event.pc, lane), {}};
            if (writes_ <= most_described) last.how = how_stored(warp, event, lane, std::max(address, range_.address));
        });
    }
    Written last;

  private:
    static constexpr uint64_t most_described = 50;  // each takes as long as thousands of instructions
    MemoryRange range_;
    uint32_t block_;
    uint64_t writes_ = 0;
    bool over_ = false;
};

class Bytes : public Observer {
  public:
    explicit Bytes(std::span<const MemoryRange> ranges) : ranges_(ranges) {
        for (const MemoryRange& range : ranges) {
            first_.push_back(written.size());
            written.resize(written.size() + range.bytes, false);
        }
    }
    void after(const Warp&, const WarpEvent& event) override {
        each_written_place(event, [&](uint32_t, uint64_t address, uint32_t bytes) {
            for (size_t k = 0; k < ranges_.size(); ++k)
                for (uint64_t at = address; at < address + bytes; ++at)
                    if (at - ranges_[k].address < ranges_[k].bytes) written[first_[k] + (at - ranges_[k].address)] = true;
        });
    }
    std::vector<bool> written;

  private:
    std::span<const MemoryRange> ranges_;
    std::vector<size_t> first_;
};

bool run_on(Memory& memory, const ptx::Program& program, const LaunchConfig& config, const LaunchOptions& options,
            Observer& observer) {
    const LaunchResult result = launch_observed(program, config, memory, options, observer);
    return !result.fault && !result.stopped;
}
bool run_again(const ptx::Program& program, const LaunchConfig& config, const Memory& before, const LaunchOptions& options,
               Observer& observer) {
    Memory memory(before);
    return run_on(memory, program, config, options, observer);
}

// In which block each address first came to hold a NaN or an infinity.
class FirstBlocks : public Observer {
  public:
    FirstBlocks(const Memory& memory, std::span<const uint64_t> addresses, ptx::Type type)
        : memory_(memory), addresses_(addresses), type_(type), bytes_(ptx::size_of(type)) {
        in_block.resize(addresses.size(), Changes::nobody);
        for (size_t k = 0; k < addresses.size(); ++k) left_.push_back(k);
    }
    bool wants(const Block&) const override { return false; }
    bool done() const override { return left_.empty(); }
    void ended(const Block& block) override {
        std::erase_if(left_, [&](size_t k) {
            const std::byte* const at = memory_.read(addresses_[k], bytes_);
            uint64_t bits = 0;
            if (at) std::memcpy(&bits, at, bytes_);
            if (!at || !holds_nonfinite(bits, type_)) return false;
            in_block[k] = block.linear;
            return true;
        });
    }
    std::vector<uint32_t> in_block;

  private:
    const Memory& memory_;
    std::span<const uint64_t> addresses_;
    ptx::Type type_;
    size_t bytes_;
    std::vector<size_t> left_;
};

// Follows NaNs and infinities through a block's registers and memory: each has a maker.
class Makers : public Observer {
  public:
    Makers(const ptx::Program& program, const Memory& begin, uint32_t block)
        : program_(program), begin_(begin), block_(block), flow_(program.instructions.size()) {
        for (uint32_t pc = 0; pc < flow_.size(); ++pc) {
            const ptx::DecodedInstruction& i = program.instructions[pc];
            ptx::each_written(program.lists, i, [&](int32_t reg) {
                flow_[pc].overwrites = flow_[pc].overwrites || ptx::reads(program, i, reg);
            });
        }
    }
    bool wants(const Block& block) const override { return block.linear == block_; }
    bool done() const override { return over_; }
    void ended(const Block& block) override { over_ = over_ || block.linear == block_; }
    void before(const Warp& warp) override;
    void after(const Warp& warp, const WarpEvent& event) override;
    // What stands at an address of global memory in the end.
    NonFinite at(uint64_t address) const {
        const auto found = memory_.find(address);
        return found == memory_.end() ? NonFinite{} : makers_[found->second];
    }
    bool gave_up() const { return gave_up_; }

  private:
    static constexpr size_t most_kept = 1 << 22;
    struct OfInstruction {
        bool overwrites = false;  // one of its own operands
    };
    using Maker = uint32_t;
    struct OfWarp {
        std::unordered_map<uint64_t, Maker> lanes;  // by register and lane
    };
    static uint64_t key(int32_t reg, uint32_t lane) { return uint64_t(static_cast<uint32_t>(reg)) * warp_size + lane; }
    static uint64_t number(const Warp& warp) { return uint64_t{warp.block->linear} << 8 | warp.index; }
    // Shared memory of each block, and local memory, beside global memory.
    static uint64_t place(const Warp& warp, ptx::Space space, uint64_t address) {
        return space == ptx::Space::shared ? uint64_t{1} << 63 | uint64_t{warp.block->linear} << 28 | (address & 0xfffffff)
                                           : address;
    }

    uint64_t bits_of(const Warp& warp, int32_t reg, uint32_t lane, size_t bytes) const {
        return reader(warp, lane)(reg, static_cast<uint32_t>(bytes));
    }
    uint64_t bits_before(const Warp& warp, int32_t reg, uint32_t lane, uint32_t bytes) const {
        for (const auto& [kept, lines] : kept_)
            if (kept == reg) {
                uint64_t bits = 0;
                std::memcpy(&bits, lines.data() + size_t{lane} * bytes, std::min<uint32_t>(bytes, 8));
                return bits;
            }
        return bits_of(warp, reg, lane, bytes);
    }
    const Maker* maker_of_sources(const Warp& warp, OfWarp& of, const ptx::DecodedInstruction& i, uint32_t lane) const;
    Maker make(const Warp& warp, uint32_t pc, uint32_t lane, NonFinite::From from);
    bool takes_logarithm(uint32_t pc);  // by the CUDA text of its line, where that is at hand
    Maker make_read(const Warp& warp, const WarpEvent& event, uint32_t lane, uint64_t address);
    void loaded(const Warp& warp, const WarpEvent& event, OfWarp& of);
    void stored(const Warp& warp, const WarpEvent& event, OfWarp& of);
    void added(const Warp& warp, const WarpEvent& event, OfWarp& of);
    void computed(const Warp& warp, const WarpEvent& event, OfWarp& of);

    const ptx::Program& program_;
    SourceText source_;
    std::map<std::pair<int32_t, int32_t>, bool> logarithms_;  // by file and line
    const Memory& begin_;
    uint32_t block_;
    bool over_ = false;
    std::vector<OfInstruction> flow_;
    std::unordered_map<uint64_t, OfWarp> warps_;
    std::unordered_map<uint64_t, Maker> memory_;
    std::vector<NonFinite> makers_;
    std::vector<std::pair<int32_t, std::vector<std::byte>>> kept_;  // operands that the next instruction overwrites
    bool gave_up_ = false;
};

void Makers::before(const Warp& warp) {
    kept_.clear();
    const uint32_t pc = warp.pc();
    if (gave_up_ || pc >= flow_.size() || !flow_[pc].overwrites) return;
    const ptx::DecodedInstruction& i = program_.instructions[pc];
    const size_t bytes = std::max<size_t>(4, ptx::size_of(i.type)) * warp_size;
    for (const int32_t reg : i.source)
        if (ptx::is_register(reg) && i.kind == ptx::Kind::lane_wise) {
            const std::byte* const from = operand(warp, reg);
            kept_.emplace_back(reg, std::vector<std::byte>(from, from + bytes));
        }
}

const Makers::Maker* Makers::maker_of_sources(const Warp&, OfWarp& of, const ptx::DecodedInstruction& i,
                                              uint32_t lane) const {
    const Maker* found = nullptr;
    const auto look = [&](int32_t reg, uint32_t in_lane) {
        if (found || !ptx::is_register(reg)) return;
        const auto known = of.lanes.find(key(reg, in_lane));
        if (known != of.lanes.end()) found = &known->second;
    };
    ptx::each_read(program_.lists, i, [&](int32_t reg) { look(reg, lane); });
    if (i.kind == ptx::Kind::shuffle || i.kind == ptx::Kind::matrix)  // from other lanes
        ptx::each_read(program_.lists, i, [&](int32_t reg) {
            for (uint32_t other = 0; other < warp_size; ++other) look(reg, other);
        });
    return found;
}

Makers::Maker Makers::make(const Warp& warp, uint32_t pc, uint32_t lane, NonFinite::From from) {
    if (makers_.size() >= most_kept) {
        gave_up_ = true;
        return 0;
    }
    NonFinite made{from, {}, {}, {}, 0, 0};
    // The code of a logarithm picks its answer for 0 and for negative numbers from constants.
    if (from == NonFinite::From::constant && takes_logarithm(pc)) {
        made.from = NonFinite::From::made;
        made.by = place_in(warp, pc, lane);
        made.how = "the logarithm of a number that is not above 0";
        made.advice = "Keep its argument above 0, as in logf(fmaxf(x, 1e-30f)).";
    }
    if (from == NonFinite::From::made) {
        made.by = place_in(warp, pc, lane);
        const ReadOperand read = [&](int32_t reg, uint32_t bytes) { return bits_before(warp, reg, lane, bytes); };
        made.how = operation_text(program_, pc, read);
        made.advice = advice_for_nonfinite(program_, pc, read);
    }
    makers_.push_back(std::move(made));
    return static_cast<Maker>(makers_.size() - 1);
}

bool Makers::takes_logarithm(uint32_t pc) {
    const ptx::DecodedInstruction& i = program_.instructions[pc];
    if (i.line <= 0) return false;
    const auto [known, fresh] = logarithms_.try_emplace({i.file, i.line}, false);
    if (!fresh) return known->second;
    std::istringstream in(source_.text_of(program_, i.file));
    std::string line;
    for (int32_t number = 0; number < i.line; ++number)
        if (!std::getline(in, line)) return false;
    static const std::regex call("(^|[^A-Za-z0-9_])(__)?log(2|10|1p)?f? *\\(");
    return known->second = std::regex_search(line, call);
}

// From memory that the block has not written: it was there when the launch began, or another block made it.
Makers::Maker Makers::make_read(const Warp& warp, const WarpEvent& event, uint32_t lane, uint64_t address) {
    if (event.space != ptx::Space::global && event.space != ptx::Space::constant)
        return make(warp, event.pc, lane, NonFinite::From::unknown);
    const ptx::Type type = event.instruction->type;
    const size_t size = ptx::size_of(type);
    uint64_t bits = 0;
    if (const std::byte* const at = begin_.read(address, size)) std::memcpy(&bits, at, std::min<size_t>(size, 8));
    if (holds_nonfinite(bits, type)) return make(warp, event.pc, lane, NonFinite::From::memory);
    const Maker maker = make(warp, event.pc, lane, NonFinite::From::unknown);
    if (maker < makers_.size()) makers_[maker].read = address;
    return maker;
}

void Makers::loaded(const Warp& warp, const WarpEvent& event, OfWarp& of) {
    const ptx::DecodedInstruction& i = *event.instruction;
    const int32_t* const to = ptx::elements_given(program_.lists, i);
    const size_t size = ptx::size_of(i.type), register_size = ptx::size_of(i.destination_type);
    for (uint32_t rest = event.executed; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        for (uint32_t e = 0; e < i.vector; ++e) {
            if (!ptx::is_register(to[e])) continue;
            of.lanes.erase(key(to[e], lane));
            if (!event.addresses || event.space == ptx::Space::param) continue;
            const auto known = memory_.find(place(warp, event.space, event.addresses[lane] + e * size));
            if (known != memory_.end()) {
                of.lanes[key(to[e], lane)] = known->second;
            } else if (is_float(i.type) && holds_nonfinite(bits_of(warp, to[e], lane, register_size), i.type)) {
                of.lanes[key(to[e], lane)] = make_read(warp, event, lane, event.addresses[lane] + e * size);
            }
        }
    }
}

void Makers::stored(const Warp& warp, const WarpEvent& event, OfWarp& of) {
    const ptx::DecodedInstruction& i = *event.instruction;
    const int32_t* const from = ptx::elements_taken(program_.lists, i);
    const size_t size = ptx::size_of(i.type);
    for (uint32_t rest = event.executed; rest && event.addresses; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        for (uint32_t e = 0; e < i.vector; ++e) {
            const uint64_t where = place(warp, event.space, event.addresses[lane] + e * size);
            const auto known = ptx::is_register(from[e]) ? of.lanes.find(key(from[e], lane)) : of.lanes.end();
            if (known != of.lanes.end())
                memory_[where] = known->second;
            else if (!ptx::is_register(from[e]) && from[e] != ptx::no_operand && is_float(i.type) &&
                     holds_nonfinite(bits_of(warp, from[e], lane, size), i.type))
                memory_[where] = make(warp, event.pc, lane, NonFinite::From::constant);
            else if (!memory_.empty())
                memory_.erase(where);
        }
    }
    if (memory_.size() > most_kept) gave_up_ = true;
}

// Atomics: a sum stays what it is once it is infinite.
void Makers::added(const Warp& warp, const WarpEvent& event, OfWarp& of) {
    const ptx::DecodedInstruction& i = *event.instruction;
    const size_t size = ptx::size_of(i.type);
    for (uint32_t rest = event.executed; rest && event.addresses; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        const uint64_t address = event.addresses[lane], where = place(warp, event.space, address);
        const std::byte* at = nullptr;
        if (event.space == ptx::Space::global) at = warp.block->grid->memory->read(address, size);
        if (event.space == ptx::Space::shared && address + size <= warp.block->shared.size())
            at = warp.block->shared.data() + address;
        uint64_t bits = 0;
        if (at) std::memcpy(&bits, at, std::min<size_t>(size, 8));
        const auto known = memory_.find(where);
        const bool infinite = at && is_float(i.type) && holds_nonfinite(bits, i.type);
        if (ptx::is_register(i.destination[0])) {
            of.lanes.erase(key(i.destination[0], lane));
            if (known != memory_.end()) of.lanes[key(i.destination[0], lane)] = known->second;
        }
        if (!infinite) {
            if (known != memory_.end()) memory_.erase(known);
        } else if (known == memory_.end()) {
            const Maker* const of_source = maker_of_sources(warp, of, i, lane);
            memory_[where] = of_source ? *of_source : make(warp, event.pc, lane, NonFinite::From::made);
        }
    }
}

void Makers::computed(const Warp& warp, const WarpEvent& event, OfWarp& of) {
    const ptx::DecodedInstruction& i = *event.instruction;
    const bool floats = is_float(i.destination_type) && i.kind != ptx::Kind::special_register;
    if (!floats && of.lanes.empty() && i.source[0] >= 0) return;
    const size_t size = ptx::size_of(i.destination_type);
    if (size == 0 || size > 8) return;
    ptx::each_written(program_.lists, i, [&](int32_t reg) {
        if (i.second_type != ptx::Type::none && reg == i.destination[1]) return;
        for (uint32_t rest = event.executed; rest; rest &= rest - 1) {
            const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
            const uint64_t bits = bits_of(warp, reg, lane, size);
            const bool moves =
                !floats && size == 4 && (holds_nonfinite(bits, ptx::Type::f32) || holds_nonfinite(bits, ptx::Type::f16x2));
            const bool moves_wide = !floats && size == 8 && holds_nonfinite(bits, ptx::Type::f64);
            const bool moves_half = !floats && size == 2 && holds_nonfinite(bits, ptx::Type::f16);
            const bool nonfinite = floats ? holds_nonfinite(bits, i.destination_type) : moves || moves_wide || moves_half;
            if (!nonfinite) {
                if (!of.lanes.empty()) of.lanes.erase(key(reg, lane));
                continue;
            }
            if (const Maker* const known = maker_of_sources(warp, of, i, lane)) {
                of.lanes[key(reg, lane)] = *known;
            } else if (floats) {
                bool from_constant = false, from_nonfinite = false;
                for (const int32_t source : i.source) {
                    if (source == ptx::no_operand || !is_float(i.type)) continue;
                    const bool odd = holds_nonfinite(
                        bits_before(warp, source, lane, static_cast<uint32_t>(ptx::size_of(i.type))), i.type);
                    from_constant = from_constant || (odd && source < 0);
                    from_nonfinite = from_nonfinite || odd;
                }
                of.lanes[key(reg, lane)] = make(warp, event.pc, lane,
                                                from_constant    ? NonFinite::From::constant
                                                : from_nonfinite ? NonFinite::From::unknown
                                                                 : NonFinite::From::made);
            } else if (i.kind == ptx::Kind::lane_wise && i.source[0] < 0 && moves) {
                of.lanes[key(reg, lane)] = make(warp, event.pc, lane, NonFinite::From::constant);
            } else {
                of.lanes.erase(key(reg, lane));
            }
        }
    });
}

void Makers::after(const Warp& warp, const WarpEvent& event) {
    if (gave_up_ || !event.instruction || event.executed == 0) return;
    OfWarp& of = warps_[number(warp)];
    switch (event.instruction->kind) {
        case ptx::Kind::load:
            return loaded(warp, event, of);
        case ptx::Kind::store:
            return stored(warp, event, of);
        case ptx::Kind::atomic:
            return added(warp, event, of);
        case ptx::Kind::exit:
            if (warp.done) warps_.erase(number(warp));
            return;
        default:
            computed(warp, event, of);
    }
}

}  // namespace

std::vector<Written> last_writers(const ptx::Program& program, const LaunchConfig& config, const Memory& before,
                                  const LaunchOptions& options, std::span<const MemoryRange> ranges) {
    Memory memory(before);
    Changes changes(memory, ranges);
    if (!run_on(memory, program, config, options, changes)) return {};
    std::vector<Written> found;
    for (size_t k = 0; k < ranges.size(); ++k) {
        Writer writer(ranges[k], changes.in_block[k]);
        if (!run_again(program, config, before, options, writer)) return {};
        found.push_back(std::move(writer.last));
        if (found.back().written || changes.in_block[k] == Changes::nobody) continue;
        Writer any(ranges[k], Changes::nobody);  // another block wrote it while this one ran
        if (!run_again(program, config, before, options, any)) return {};
        found.back() = std::move(any.last);
    }
    return found;
}

std::vector<bool> written_bytes(const ptx::Program& program, const LaunchConfig& config, const Memory& before,
                                const LaunchOptions& options, std::span<const MemoryRange> ranges) {
    Bytes bytes(ranges);
    if (!run_again(program, config, before, options, bytes)) return {};
    return std::move(bytes.written);
}

std::optional<NonFinite> first_nonfinite(const ptx::Program& program, const LaunchConfig& config, const Memory& before,
                                         const LaunchOptions& options, std::span<const uint64_t> addresses, ptx::Type type) {
    constexpr int most_blocks = 4;  // that are looked at closely
    Memory memory(before);
    FirstBlocks first(memory, addresses, type);
    if (!run_on(memory, program, config, options, first)) return std::nullopt;
    std::vector<bool> seen(addresses.size(), false);
    int blocks = 0;
    for (size_t k = 0; k < addresses.size() && blocks < most_blocks; ++k) {
        const uint32_t block = first.in_block[k];
        if (seen[k] || block == Changes::nobody) continue;
        ++blocks;
        Makers makers(program, before, block);
        if (!run_again(program, config, before, options, makers) || makers.gave_up()) return std::nullopt;
        std::optional<uint64_t> of_another;
        size_t asked = k;
        for (size_t other = k; other < addresses.size(); ++other) {
            if (first.in_block[other] != block) continue;
            seen[other] = true;
            NonFinite made = makers.at(addresses[other]);
            made.element = other;
            if (made.from == NonFinite::From::made) return made;
            if (!of_another && made.read != 0) of_another = made.read, asked = other;
        }
        if (!of_another) continue;  // what another block made of this launch: once more, there
        const uint64_t there[] = {*of_another};
        if (std::find(addresses.begin(), addresses.end(), *of_another) != addresses.end() || addresses.size() == 1) continue;
        if (auto made = first_nonfinite(program, config, before, options, there, type)) {
            made->element = asked;
            return made;
        }
    }
    return std::nullopt;
}

}  // namespace lockstep::simt
