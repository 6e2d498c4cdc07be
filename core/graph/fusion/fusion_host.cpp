// Fused kernels on the host. A launch is cut into tiles of about 4,096 elements; for each tile the ops' twins run one behind
// the other. What a chain does not keep lies in a tile of its own, which stays in the L1 cache. Where a product or a
// convolution comes first, the others go on from each part of its result as soon as it is made (ThreadPool::Listener). One
// op alone has nothing to keep: larger tiles suit the host's prefetchers. Nothing is allocated once a thread has seen the
// largest.
#include "core/graph/fusion/fusion_host.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>

#include "core/base/diagnostic.h"
#include "core/device/kernels/thread_pool.h"
#include "core/graph/fusion/fusion_kernel.h"

namespace lockstep::graph {

namespace {
using device::Argument;
using device::Pointer;
constexpr int64_t tile_elements = 4096, lone_tile_elements = 32768;
constexpr int64_t largest_unit = 1 << 16;
constexpr size_t most_slots = 512, most_parameters = 40;
using SlotArguments = std::array<Argument, most_slots>;

int64_t integer(const Argument& argument) {
    const auto* value = std::get_if<int32_t>(&argument);
    return value ? *value : 0;
}

// The first axis that is longer than 1 of the six extents that begin at `first`; 5 where none is.
size_t outer_axis(std::span<const Argument> arguments, int first) {
    size_t axis = 0;
    while (axis < 5 && integer(arguments[size_t(first) + axis]) == 1) ++axis;
    return axis;
}

Argument moved(const Argument& pointer, int64_t bytes) {
    return Pointer{std::get<Pointer>(pointer).address + static_cast<uint64_t>(bytes)};
}

// The arguments of one op for the elements begin .. begin + count - 1.
void cut_arguments(const FusedOp& op, const Cut& cut, int64_t begin, int64_t count, const std::vector<FusedSlot>& slots,
                   std::span<Argument> arguments) {
    const KernelReading& reading = *op.reading;
    const device::Fusing& fusing = op.row->kernel->fusing;
    for (size_t p = 0; p < op.slots.size(); ++p) {
        const ParameterUse& use = reading.uses[p];
        const bool element = use.reads == Reach::element || use.writes == Reach::element;
        if (element && slots[size_t(op.slots[p])].kept) arguments[p] = moved(arguments[p], begin * use.bytes);
    }
    const auto outer = static_cast<int32_t>(count / cut.unit);
    if (cut.kind == Cut::Kind::rows) {
        for (const int bound : reading.bound)
            if (bound != reading.columns) arguments[size_t(bound)] = outer;
        return;
    }
    arguments[size_t(reading.bound[0])] = static_cast<int32_t>(count);
    if (cut.kind == Cut::Kind::counted) {
        Argument& counter = arguments[size_t(fusing.counter)];
        counter = std::get<int64_t>(counter) + begin / cut.unit;
    } else if (cut.kind == Cut::Kind::strided) {
        const size_t axis = outer_axis(arguments, fusing.walk);
        for (const auto& [pointer, stride] : fusing.strides)
            if (stride > 0)
                arguments[size_t(pointer)] =
                    moved(arguments[size_t(pointer)], begin / cut.unit * integer(arguments[size_t(stride) + axis]) *
                                                          reading.uses[size_t(pointer)].bytes);
        arguments[size_t(fusing.walk) + axis] = outer;
    }
}

struct HostChain {
    Chain chain;
    int own = -1;                  // of a prologue: the slot of the entry, which the host makes whole before the last op
    std::vector<FusedSlot> slots;  // of the chain, that one kept

    explicit HostChain(const Chain& of) : chain(of), slots(of.slots) {
        if (chain.entry < 0) return;
        own = chain.ops.back().slots[size_t(chain.entry)];
        slots[size_t(own)].kept = true;
    }

    Pointer own_memory(int64_t count, int slot) const {
        static thread_local std::vector<std::byte> memory;
        const auto bytes = size_t(count * chain.slots[size_t(slot)].bytes) + 64;
        if (memory.size() < bytes) memory.resize(bytes);
        return Pointer{(reinterpret_cast<uint64_t>(memory.data()) + 63) / 64 * 64};
    }

    // Whether no op behind the first reads `slot` once another before it has written `other`, whose elements are as large:
    // an op reads an element before it writes that one.
    bool read_before_written(int slot, int other) const {
        bool written = chain.slots[size_t(slot)].bytes != chain.slots[size_t(other)].bytes;
        for (size_t i = 1; i < chain.ops.size(); ++i) {
            const FusedOp& op = chain.ops[i];
            bool reads = false, writes = false;
            for (size_t p = 0; p < op.slots.size(); ++p) {
                reads = reads || op.slots[p] == slot;
                writes = writes || (op.slots[p] == other && op.reading->uses[p].writes != Reach::none);
            }
            if (reads && written) return false;
            written = written || writes;
        }
        return true;
    }

    // One launch: its slots, how its ops are cut, and the tiles that are run of it, by whichever thread.
    struct Run final : device::ThreadPool::Listener {
        const HostChain& host;
        SlotArguments whole;
        std::array<Cut, 64> cuts;
        size_t from = 0, tiled = 0;  // ops that run tile by tile
        int lent = -1;               // the slot of a result that is not kept, and the memory that it goes through
        bool in_place = false;       // nobody reads it once that memory is written again
        Argument lender;
        int64_t count = 0, unit = 1, tile = 0;
        std::atomic<int64_t> heard = 0;  // elements that were gone on from as soon as they were made

        explicit Run(const HostChain& of) : host(of) {}  // the slots' array stays as it is: few of them are used

        // A result that is not kept is made where the chain's own will be, where that can be: memory that is not in the
        // cache yet is then written beside the product's arithmetic, not after it. Else this thread's own memory, which
        // stays in its cache, is enough for a part.
        bool lends_parts() const { return lent >= 0 && !(in_place && host.chain.stand_in >= 0); }
        void* place(int64_t, int64_t elements) override {
            return lends_parts() ? part_memory(elements * host.chain.slots[size_t(lent)].bytes) : nullptr;
        }
        void made(int64_t first, int64_t elements) override {
            const int64_t bytes = lent >= 0 ? host.chain.slots[size_t(lent)].bytes : 0;
            std::byte* const part = lends_parts() ? part_memory(elements * bytes) : nullptr;
            for (int64_t begin = first; begin < first + elements; begin += tile)
                run_tile(begin, std::min(tile, first + elements - begin),
                         part != nullptr ? part + (begin - first) * bytes : nullptr);
            heard.fetch_add(elements, std::memory_order_relaxed);
        }
        static std::byte* part_memory(int64_t bytes) {
            static thread_local std::vector<std::byte> memory;
            if (memory.size() < size_t(bytes) + 64) memory.resize(size_t(bytes) + 64);
            return memory.data() + (64 - reinterpret_cast<uint64_t>(memory.data()) % 64) % 64;
        }

        // `result`: the first op's elements of this tile, where they are not in the whole result.
        void run_tile(int64_t begin, int64_t length, std::byte* result = nullptr) const {
            // A tile's twins have this thread alone: the pool's others have tiles of their own.
            static thread_local device::ThreadPool alone(1);
            static thread_local std::vector<std::byte> memory;
            const Chain& all = host.chain;
            const auto& places = host.slots;
            static thread_local SlotArguments here;
            std::copy_n(whole.begin(), places.size(), here.begin());
            size_t bytes = 64;
            for (const FusedSlot& slot : places)
                if (!slot.kept) bytes += (size_t(tile * slot.bytes) + 63) / 64 * 64;
            if (memory.size() < bytes) memory.resize(bytes);
            auto at = (reinterpret_cast<uint64_t>(memory.data()) + 63) / 64 * 64;
            for (size_t slot = 0; slot < places.size(); ++slot) {
                if (places[slot].kept) continue;
                here[slot] = Pointer{at};
                at += (size_t(tile * all.slots[slot].bytes) + 63) / 64 * 64;
            }
            if (result != nullptr) {
                here[size_t(lent)] = Pointer{reinterpret_cast<uint64_t>(result)};
            } else if (lent >= 0 && in_place) {
                here[size_t(lent)] = moved(lender, begin * all.slots[size_t(lent)].bytes);
            } else if (lent >= 0) {
                const auto size = all.slots[size_t(lent)].bytes;
                const auto& source = std::get<Pointer>(lender);
                std::memcpy(reinterpret_cast<void*>(std::get<Pointer>(here[size_t(lent)]).address),
                            reinterpret_cast<const std::byte*>(source.address) + begin * size, size_t(length * size));
            }
            std::array<Argument, most_parameters> mine;
            for (size_t i = from; i < tiled; ++i) {
                const auto its = gather(all.ops[i], here, mine);
                cut_arguments(all.ops[i], cuts[i], begin, length, places, its);
                all.ops[i].row->run(its, alone);
            }
        }
    };

    static std::span<Argument> gather(const FusedOp& op, const SlotArguments& from, std::span<Argument> into) {
        for (size_t p = 0; p < op.slots.size(); ++p) into[p] = from[size_t(op.slots[p])];
        return into.first(op.slots.size());
    }

    void run(std::span<const Argument> given, device::ThreadPool& pool) const {
        Run it(*this);
        for (size_t slot = 0, next = 0; slot < chain.slots.size(); ++slot)
            it.whole[slot] = chain.slots[slot].kept ? given[next++] : Argument(Pointer{0});
        std::array<Argument, most_parameters> arguments;
        it.from = chain.epilogue ? 1 : 0;
        it.tiled = chain.ops.size() - (own >= 0);
        it.count = elements_of(*chain.ops[it.from].reading, gather(chain.ops[it.from], it.whole, arguments));
        if (own >= 0 && it.count > 0) it.whole[size_t(own)] = own_memory(it.count, own);
        for (size_t i = it.from; i < it.tiled; ++i) {
            it.cuts[i] = cut_of(*chain.ops[i].reading, *chain.ops[i].row, gather(chain.ops[i], it.whole, arguments));
            it.unit = std::lcm(it.unit, std::max<int64_t>(1, it.cuts[i].unit));
        }
        const int64_t about = it.tiled - it.from == 1 ? lone_tile_elements : tile_elements;
        it.tile = std::max(it.unit, about / it.unit * it.unit);
        if (chain.epilogue) make_first(it, pool);
        if (it.count <= 0) return;
        const auto parts = static_cast<int>((it.count + it.tile - 1) / it.tile);
        const auto run_part = [&](int part) { it.run_tile(part * it.tile, std::min(it.tile, it.count - part * it.tile)); };
        if (it.heard == it.count)
            ;
        else if (parts == 1)
            run_part(0);
        else
            pool.run(parts, run_part);
        if (own >= 0) chain.ops.back().row->run(gather(chain.ops.back(), it.whole, arguments), pool);
    }

    // Of an epilogue: the op that the others go on from, in parts where its twin says when they are made.
    void make_first(Run& it, device::ThreadPool& pool) const {
        std::array<Argument, most_parameters> arguments;
        const FusedOp& op = chain.ops[0];
        const int slot = op.slots[size_t(chain.result)];
        const auto its = gather(op, it.whole, arguments);
        const Passage result = stored_once(*op.reading, *op.row, its);
        if (!chain.slots[size_t(slot)].kept) {
            it.lent = slot;
            it.lender = chain.stand_in >= 0 ? it.whole[size_t(chain.stand_in)] : Argument(own_memory(result.count, slot));
            its[size_t(chain.result)] = it.lender;
            it.in_place = chain.stand_in < 0 || read_before_written(slot, chain.stand_in);
        }
        const bool by_parts = result.count == it.count && result.row % it.unit == 0;
        if (by_parts) pool.listen(&it);
        try {
            op.row->run(its, pool);
        } catch (...) {
            pool.listen(nullptr);
            throw;
        }
        pool.listen(nullptr);
        if (it.heard != 0 && it.heard != it.count) throw Failure("a kernel's twin told of a part of its result only");
    }
};
}  // namespace

int64_t elements_of(const KernelReading& reading, std::span<const Argument> arguments) {
    int64_t count = reading.bound.empty() ? 0 : 1;
    for (const int parameter : reading.bound) count *= integer(arguments[size_t(parameter)]);
    return count;
}

Cut cut_of(const KernelReading& reading, const device::KernelRow& row, std::span<const Argument> arguments) {
    const auto fits = [](Cut::Kind kind, int64_t unit) {
        return unit >= 1 && unit <= largest_unit ? Cut{kind, unit} : Cut{};
    };
    const device::Fusing& fusing = row.kernel->fusing;
    if (!reading.pointwise || arguments.size() > most_parameters) return {};
    if (fusing.counter >= 0) return {Cut::Kind::counted, 4};
    if (fusing.walk >= 0) {
        int64_t inner = 1;
        for (size_t axis = outer_axis(arguments, fusing.walk) + 1; axis < 6; ++axis)
            inner *= integer(arguments[size_t(fusing.walk) + axis]);
        return fits(Cut::Kind::strided, inner);
    }
    if (reading.by_position || reading.bound.size() != (reading.columns >= 0 ? 2 : 1)) return {};
    for (const ParameterUse& use : reading.uses)
        if (use.reach() == Reach::anywhere || use.reach() == Reach::block) return {};
    if (reading.columns >= 0) return fits(Cut::Kind::rows, integer(arguments[size_t(reading.columns)]));
    return {Cut::Kind::elements, 1};
}

namespace {
// The elements of one parameter, where its row says that each passes once and its PTX that nothing else happens to it.
Passage passage(const KernelReading& reading, const device::Fusing::Elements& elements, bool stored,
                std::span<const Argument> arguments) {
    if (elements.parameter < 0 || !reading.self_contained) return {};
    const ParameterUse& use = reading.uses[size_t(elements.parameter)];
    const auto& [mine, other] = stored ? std::pair(use.writes, use.reads) : std::pair(use.reads, use.writes);
    if (mine == Reach::none || other != Reach::none || use.bytes <= 0) return {};
    for (const MemoryUse& access : reading.accesses) {
        if (!stored && access.parameter < 0) return {};
        if (access.parameter == elements.parameter && (access.store != stored || access.value.empty())) return {};
    }
    Passage it{elements.parameter, 1};
    int64_t before = 1;  // the last extent but one
    for (const int8_t extent : elements.extents) {
        if (extent == 0) break;
        before = it.row;
        it.row = integer(arguments[size_t(extent)]);
        it.count *= it.row;
    }
    const bool gaps = elements.stride >= 0 && integer(arguments[size_t(elements.stride)]) != before * it.row;
    return it.count > 0 && !gaps ? it : Passage{};
}
}  // namespace

Passage stored_once(const KernelReading& reading, const device::KernelRow& row, std::span<const Argument> arguments) {
    return passage(reading, row.kernel->fusing.stored_once, true, arguments);
}
Passage loaded_once(const KernelReading& reading, const device::KernelRow& row, std::span<const Argument> arguments) {
    return passage(reading, row.kernel->fusing.loaded_once, false, arguments);
}

NativeKernel native_chain(const Chain& chain) {
    if (chain.slots.size() > most_slots || chain.ops.size() > 64) return {};
    return [host = std::make_shared<const HostChain>(chain)](std::span<const Argument> arguments, device::ThreadPool& pool) {
        host->run(arguments, pool);
    };
}

NativeKernel native_together(const Together& together) {
    return [it = std::make_shared<const Together>(together)](std::span<const Argument> given, device::ThreadPool& pool) {
        std::array<Argument, most_parameters> arguments;
        for (const TogetherPart& part : it->parts) {
            for (size_t p = 0; p < part.slots.size(); ++p) arguments[p] = given[size_t(part.slots[p])];
            it->row->run(std::span(arguments).first(part.slots.size()), pool);
        }
    };
}

}  // namespace lockstep::graph
