// Greedy colouring of the registers in the order in which the program names them. Two of them may not share a place where
// one is written while the other is live behind that instruction; and where an instruction might write before it has read
// everything, what it writes may not lie in the place of what it reads.
#include "core/ptx/analyse/packing.h"

#include <algorithm>
#include <bit>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"

namespace lockstep::ptx {
namespace {

constexpr size_t most_registers = 4096;

using Set = Liveness::Set;

void add(Set& set, uint32_t n) {
    set[n >> 6] |= uint64_t{1} << (n & 63);
}
bool has(const Set& set, uint32_t n) {
    return (set[n >> 6] >> (n & 63) & 1) != 0;
}
bool meet(const Set& a, const Set& b) {
    for (size_t w = 0; w < a.size(); ++w)
        if ((a[w] & b[w]) != 0) return true;
    return false;
}

// Whether old values of registers count, whatever is read later.
bool keeps_all(const DecodedInstruction& i) {
    switch (i.kind) {
        case Kind::system:  // it cannot be undone
        case Kind::trap:
        case Kind::call:
        case Kind::shuffle:
        case Kind::mbarrier:  // these may wait, or hold what others wait for
        case Kind::cluster:
            return true;
        case Kind::load:
            return as_access(i).strong || as_access(i).fetches_again;
        case Kind::atomic:
            return as_atomic(i).operation == AtomicOperation::cas || as_atomic(i).operation == AtomicOperation::exch;
        default:
            return false;
    }
}

// Each lane reads and writes its own part of the registers, at once.
bool lane_by_lane(Kind kind) {
    switch (kind) {
        case Kind::lane_wise:
        case Kind::lane_wise_many:
        case Kind::special_register:
        case Kind::load:
        case Kind::store:
        case Kind::atomic:
        case Kind::branch:
        case Kind::branch_table:
        case Kind::exit:
        case Kind::fence:
        case Kind::nop:
            return true;
        default:
            return false;
    }
}

struct Packer {
    const Program& program;
    const std::vector<uint8_t>& lane_bytes;
    Liveness liveness;
    std::vector<uint32_t> numbers;   // by slot of 64 bytes
    std::vector<Set> apart;          // by number: who may not share its place
    std::vector<bool> alone;         // by number: nobody may
    std::vector<uint32_t> place_of;  // by number
    std::vector<Packing::Place> places;

    explicit Packer(const Program& p)
        : program(p),
          lane_bytes(p.functions.front().lane_bytes),
          liveness(p.instructions, p.lists, 0, static_cast<uint32_t>(p.instructions.size())) {}

    size_t count() const { return liveness.registers().size(); }
    uint32_t number_of(int32_t reg) const { return numbers[static_cast<size_t>(reg) / 64]; }
    int32_t moved(int32_t operand) const {
        return is_register(operand) ? places[place_of[number_of(operand)]].offset : operand;
    }

    void keep_apart(const DecodedInstruction& i, const Set& behind) {
        std::vector<uint32_t> written, read;
        each_written(program.lists, i, [&](int32_t reg) { written.push_back(number_of(reg)); });
        each_read(program.lists, i, [&](int32_t reg) { read.push_back(number_of(reg)); });
        const bool at_once = i.kind == Kind::lane_wise && written.size() == 1;
        for (const uint32_t d : written) {
            for (size_t w = 0; w < behind.size(); ++w) apart[d][w] |= behind[w];
            for (const uint32_t other : written) add(apart[d], other);
            if (!at_once)
                for (const uint32_t source : read) add(apart[d], source);
        }
        if (lane_by_lane(i.kind)) return;
        for (const uint32_t n : written) alone[n] = true;
        for (const uint32_t n : read) alone[n] = true;
    }

    template <class Visit>
    void each_instruction(const Visit& visit) const {  // backwards, with what is live behind it and in front of it
        for (size_t b = 0; b < liveness.blocks().size(); ++b) {
            const BasicBlock& block = liveness.blocks()[b];
            Set live = liveness.behind(b);
            for (uint32_t pc = block.end; pc-- > block.begin;) {
                const Set behind = live;
                liveness.take_written(pc, live, [](uint32_t) {});
                liveness.add_read(pc, live, [](uint32_t) {});
                visit(pc, behind, live);
            }
        }
    }

    bool pack() {
        if (!liveness.settled() || count() == 0 || count() > most_registers) return false;
        numbers.assign(lane_bytes.size(), 0);
        for (uint32_t n = 0; n < count(); ++n) {
            const size_t slot = static_cast<size_t>(liveness.registers()[n]) / 64;
            if (slot >= numbers.size()) return false;
            numbers[slot] = n;
        }
        apart.assign(count(), Set(count() / 64 + 1, 0));
        alone.assign(count(), false);
        each_instruction([&](uint32_t pc, const Set& behind, const Set&) { keep_apart(program.instructions[pc], behind); });
        for (uint32_t n = 0; n < count(); ++n)
            for (uint32_t other = 0; other < n; ++other)
                if (has(apart[n], other) || has(apart[other], n)) add(apart[n], other), add(apart[other], n);
        std::vector<Set> members;  // by place
        place_of.resize(count());
        int32_t end = 0;
        for (uint32_t n = 0; n < count(); ++n) {
            const uint8_t bytes = lane_bytes[static_cast<size_t>(liveness.registers()[n]) / 64];
            apart[n][n >> 6] &= ~(uint64_t{1} << (n & 63));
            size_t place = alone[n] ? places.size() : 0;
            while (place < places.size() &&
                   (places[place].lane_bytes != bytes || members[place].empty() || meet(apart[n], members[place])))
                ++place;
            if (place == places.size()) {
                places.push_back({end, bytes});
                members.emplace_back(alone[n] ? Set() : Set(count() / 64 + 1, 0));
                end += std::max<int32_t>(64, 32 * bytes);
            }
            if (!alone[n]) add(members[place], n);
            place_of[n] = static_cast<uint32_t>(place);
        }
        return true;
    }

    void rewrite(Packing& packing) const {
        Program& packed = packing.program;
        for (size_t at = 0; at < packed.instructions.size(); ++at) {
            DecodedInstruction& i = packed.instructions[at];
            i.guard = moved(i.guard);
            i.address = moved(i.address);
            for (int32_t& operand : i.source) operand = moved(operand);
            for (int32_t& operand : i.destination) operand = moved(operand);
            for (size_t k = i.list, end = k + i.list_destinations + i.list_sources; k < end; ++k)
                packed.lists[k] = moved(program.lists[k]);
        }
        Function& kernel = packed.functions.front();
        const Packing::Place& last = places.back();
        packed.register_bytes = static_cast<uint32_t>(last.offset + std::max(64, 32 * last.lane_bytes));
        kernel.register_bytes = packed.register_bytes;
        kernel.lane_bytes.assign(packed.register_bytes / 64, 0);
        for (const Packing::Place& place : places)
            kernel.lane_bytes[static_cast<size_t>(place.offset) / 64] = place.lane_bytes;
        packed.registers.clear();
        packing.places = places;
        packing.words = places.size() / 64 + 1;
        packing.live.assign(packing.words * packed.instructions.size(), 0);
        each_instruction([&](uint32_t pc, const Set&, const Set& in_front) {
            for (size_t w = 0; w < in_front.size(); ++w)
                for (uint64_t left = in_front[w]; left != 0; left &= left - 1) {
                    const uint32_t place = place_of[64 * w + static_cast<size_t>(std::countr_zero(left))];
                    packing.live[pc * packing.words + place / 64] |= uint64_t{1} << (place & 63);
                }
        });
    }
};

}  // namespace

std::shared_ptr<const Packing> pack_registers(const Program& program) {
    if (program.functions.size() != 1 || !program.calls.empty() || program.instructions.empty()) return nullptr;
    if (program.functions.front().lane_bytes.size() * 64 != program.register_bytes) return nullptr;
    if (std::any_of(program.instructions.begin(), program.instructions.end(), keeps_all)) return nullptr;
    Packer packer(program);
    if (!packer.pack()) return nullptr;
    auto packing = std::make_shared<Packing>();
    packing->decoded = &program;
    packing->program = program;
    packer.rewrite(*packing);
    return packing;
}

}  // namespace lockstep::ptx
