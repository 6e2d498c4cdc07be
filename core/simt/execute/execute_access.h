// Lanes and memory, part of execute_body.h: results blended into the lanes that run, and the fast ways of loads and stores,
// which look for one address for all lanes, or one after the other, in each half of the warp. No include guard: compiled
// once for each instruction set.
//
//   access_global -> access_view -> load | store -> load_words | store_words       load_known: the commonest load in place

// Lanes as vector registers see them: half a warp is checked for the two common patterns, one address for all and one
// address after the other, before each lane is taken alone.
constexpr uint32_t half = 16;

template <class Word>
using VectorOf [[gnu::vector_size(64), gnu::may_alias]] = Word;

// All ones in the lanes whose bits are set, of a vector's worth of lanes; for words of 4 and 8 bytes.
template <class Word>
inline void spread(uint32_t bits, VectorOf<Word>& lanes) {
    static constexpr Word bit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    VectorOf<Word> ones;
    take_lanes(bit, ones);
    const VectorOf<Word> set = ones & Word{bits};
    equal_lanes(set, ones, lanes);
}

// out = mask ? from : otherwise, lane by lane.
template <class Word>
inline void select(Word* out, const Word* from, const Word* otherwise, bool otherwise_is_one, uint32_t mask) {
    constexpr uint32_t in_one = 64 / sizeof(Word);
    for (uint32_t i = 0; i < warp_size; i += in_one) {
        VectorOf<Word> chosen, a, b = {};
        spread<Word>(mask >> i & 0xffffu, chosen);
        std::memcpy(&a, from + i, sizeof a);
        if (otherwise_is_one) {
            b += *otherwise;
        } else {
            std::memcpy(&b, otherwise + i, sizeof b);
        }
        b = (a & chosen) | (b & ~chosen);
        std::memcpy(out + i, &b, sizeof b);
    }
}

template <class Word>
inline void blend(std::byte* d, const std::byte* s, uint32_t mask) {
    auto* const to = reinterpret_cast<Word*>(d);
    const auto* const from = reinterpret_cast<const Word*>(s);
    if constexpr (sizeof(Word) >= 4) {
        select<Word>(to, from, to, false, mask);
    } else {
        for (uint32_t i = 0; i < warp_size; ++i) to[i] = (mask >> i & 1) ? from[i] : to[i];
    }
}

inline void blend_lanes(std::byte* d, const std::byte* s, uint32_t bytes, uint32_t mask) {
    switch (bytes) {
        case 0: {
            uint32_t to, from;
            std::memcpy(&to, d, 4);
            std::memcpy(&from, s, 4);
            to = (to & ~mask) | (from & mask);
            std::memcpy(d, &to, 4);
            return;
        }
        case 1:
            return blend<uint8_t>(d, s, mask);
        case 2:
            return blend<uint16_t>(d, s, mask);
        case 4:
            if (!blend_words(d, s, mask)) blend<uint32_t>(d, s, mask);
            return;
        case 16:
            for (uint32_t rest = mask; rest; rest &= rest - 1)
                std::memcpy(d + __builtin_ctz(rest) * 16, s + __builtin_ctz(rest) * 16, 16);
            return;
        default:
            return blend<uint64_t>(d, s, mask);
    }
}

struct View {  // host bytes behind the addresses [begin, begin + bytes)
    std::byte* data;
    uint64_t begin;
    uint64_t bytes;
};

// i * step for the lanes of half a warp, for steps 0, 4, 8 and 16.
template <class Register>
inline const Register* ramp_of(Register step) {
    alignas(64) static constexpr Register ramps[4][half] = {
        {},
        {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60},
        {0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120},
        {0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240}};
    return ramps[step == 16 ? 3 : step / 4];
}
template <class Register>
inline bool is_plain_step(Register step) {
    return step == 0 || step == 4 || step == 8 || step == 16;
}

// Whether all lanes of half a warp hold r[0] + i * step.
template <class Register>
inline bool is_ramp(const Register* r, Register step) {
    using Vector = VectorOf<Register>;
    constexpr uint32_t in_one = 64 / sizeof(Register);
    const Register* const ramp = ramp_of(step);
    Vector differs = {};
    for (uint32_t i = 0; i < half; i += in_one) {
        Vector lanes, expected;
        std::memcpy(&lanes, r + i, sizeof lanes);
        std::memcpy(&expected, ramp + i, sizeof expected);
        differs |= lanes ^ (expected + r[0]);
    }
    return all_zero(reinterpret_cast<const Vector512&>(differs));
}

// The offset of lane i within the view; registers of 4 bytes wrap at 4 GiB.
template <class Register>
inline uint64_t offset_in(const View& view, Register base, uint64_t offset) {
    return static_cast<Register>(base + static_cast<Register>(offset)) - view.begin;
}

// Whether each lane of half a warp lies in the view and is aligned.
template <class Word, class Register>
inline bool all_inside(const View& view, const Register* r, uint64_t offset) {
    const uint64_t limit = view.bytes - sizeof(Word);  // bytes >= sizeof(Word) is checked before
    uint64_t outside = 0, low = 0;
    for (uint32_t i = 0; i < half; ++i) {
        const uint64_t o = offset_in(view, r[i], offset);
        outside |= (limit - o) | o;
        low |= o;
    }
    return !(outside >> 63) && !(low & (sizeof(Word) - 1));
}

inline bool range_inside(const View& view, uint64_t first, uint64_t bytes, uint64_t alignment) {
    return first <= view.bytes - bytes && !(first & (alignment - 1));
}

// How a base register's lanes lie: for each half of the warp its first value and the distance of neighbours.
struct Shape {
    static constexpr uint64_t irregular = UINT64_MAX;
    uint64_t step[2] = {irregular, irregular};  // 0: one value for the half; 4, 8 or 16: a ramp
    uint64_t first[2] = {};
    bool all_words = false;  // steps of 4 in both halves, of all lanes
    bool all_one = false;    // steps of 0, of all lanes
    uint32_t lanes = 0;      // that it is the shape of; the others may hold anything
};

template <class Register>
inline void find_shape(const Register* r, Shape& shape) {
    for (uint32_t h = 0; h < 2; ++h) {
        const Register* const lanes = r + h * half;
        const auto step = static_cast<Register>(lanes[1] - lanes[0]);
        shape.step[h] = is_plain_step(step) && is_ramp(lanes, step) ? step : Shape::irregular;
        shape.first[h] = lanes[0];
    }
    shape.all_words = shape.step[0] == 4 && shape.step[1] == 4;
    shape.all_one = shape.step[0] == 0 && shape.step[1] == 0;
    shape.lanes = full_mask;
}

// The same of the lanes `mask` alone, at least one: what all lanes would hold who went on as these do. A half without any
// goes like the other.
template <class Register>
inline void find_shape_of(const Register* r, uint32_t mask, Shape& shape) {
    using Vector = VectorOf<Register>;
    constexpr uint32_t in_one = 64 / sizeof(Register);
    shape = {};
    shape.lanes = mask;
    for (uint32_t h = 0; h < 2; ++h) {
        const Register* const lanes = r + h * half;
        const uint32_t busy = mask >> h * half & 0xffffu;
        if (!busy) continue;
        const auto a = static_cast<uint32_t>(__builtin_ctz(busy));
        Register step = 0;
        if (const uint32_t rest = busy & (busy - 1); rest) {
            const auto b = static_cast<uint32_t>(__builtin_ctz(rest));
            const auto far = static_cast<Register>(lanes[b] - lanes[a]);
            step = static_cast<Register>(far / (b - a));
            if (!is_plain_step(step)) continue;
        }
        const auto first = static_cast<Register>(lanes[a] - step * a);
        const Register* const ramp = ramp_of(step);
        Vector differs = {};
        for (uint32_t i = 0; i < half; i += in_one) {
            Vector held, expected, counts;
            std::memcpy(&held, lanes + i, sizeof held);
            std::memcpy(&expected, ramp + i, sizeof expected);
            spread<Register>(busy >> i, counts);
            differs |= (held ^ (expected + first)) & counts;
        }
        if (!all_zero(reinterpret_cast<const Vector512&>(differs))) continue;
        shape.step[h] = step;
        shape.first[h] = first;
    }
    for (uint32_t h = 0; h < 2; ++h)
        if (!(mask >> h * half & 0xffffu)) {
            shape.step[h] = shape.step[1 - h];
            shape.first[h] = shape.first[1 - h];
        }
}

// d[i] = memory[r[i] + offset] for all 32 lanes; false, with d partly written, when some lane has to be looked at alone.
template <class Word, class Register>
inline bool load_words(const View& view, const Register* r, const Shape& shape, uint64_t offset, Word* d) {
    constexpr uint64_t span = half * sizeof(Word);
    const bool all_one = shape.step[0] == 0 && shape.step[1] == 0;  // most often a number that a kernel gets by its address
    if (view.bytes < (all_one ? sizeof(Word) : span)) return false;
    for (uint32_t h = 0; h < 2; ++h) {
        Word* const to = d + h * half;
        if (shape.step[h] == sizeof(Word)) {
            const uint64_t first = offset_in(view, static_cast<Register>(shape.first[h]), offset);
            if (!range_inside(view, first, span, sizeof(Word))) return false;
            std::memcpy(to, view.data + first, span);
        } else if (shape.step[h] == 0) {
            const uint64_t first = offset_in(view, static_cast<Register>(shape.first[h]), offset);
            if (!range_inside(view, first, sizeof(Word), sizeof(Word))) return false;
            Word value;
            std::memcpy(&value, view.data + first, sizeof value);
            for (uint32_t i = 0; i < half; ++i) to[i] = value;
        } else {
            const Register* const lanes = r + h * half;
            if (!all_inside<Word>(view, lanes, offset)) return false;
            for (uint32_t i = 0; i < half; ++i) {
                std::memcpy(to + i, view.data + offset_in(view, lanes[i], offset), sizeof(Word));
            }
        }
    }
    return true;
}

template <class Word, class Register>
inline bool store_words(const View& view, const Register* r, const Shape& shape, uint64_t offset, const Word* s) {
    constexpr uint64_t span = half * sizeof(Word);
    if (view.bytes < span) return false;
    for (uint32_t h = 0; h < 2; ++h) {
        const Register* const lanes = r + h * half;
        const Word* const from = s + h * half;
        if (shape.step[h] == sizeof(Word)) {
            const uint64_t first = offset_in(view, static_cast<Register>(shape.first[h]), offset);
            if (!range_inside(view, first, span, sizeof(Word))) return false;
            std::memcpy(view.data + first, from, span);
        } else {
            if (!all_inside<Word>(view, lanes, offset)) return false;
            for (uint32_t i = 0; i < half; ++i) {
                std::memcpy(view.data + offset_in(view, lanes[i], offset), from + i, sizeof(Word));
            }
        }
    }
    return true;
}

alignas(64) constexpr uint64_t zeros[warp_size] = {};

struct Machine {  // what the loop keeps in registers
    Warp& warp;
    Block& block;
    Grid& grid;
    const Prepared* steps;
    std::byte* registers;
    const std::byte* constants;
    Shape* shapes;  // of base registers, by Prepared::shape; number 0 is never known
    const std::byte* shared;
    uint64_t shared_bytes;
    mutable uint32_t shapes_known = 0;

    const std::byte* source(int32_t o) const { return (o >= 0 ? registers : constants) + (o ^ (o >> 31)); }
    std::byte* destination(int32_t o) const { return registers + o; }
};

inline Machine machine_of(Warp& warp, Shape* shapes) {
    Block& block = *warp.block;
    const Plan& plan = *block.grid->plan;
    return {.warp = warp,
            .block = block,
            .grid = *block.grid,
            .steps = plan.steps.data(),
            .registers = warp.registers,
            .constants = plan.constants,
            .shapes = shapes,
            .shared = block.shared.data(),
            .shared_bytes = block.shared.size()};
}

// Base registers with idle lanes pointed at the first busy one, so that all 32 can be computed.
template <class Register>
inline void busy_only(Register* out, const Register* r, uint32_t mask) {
    select<Register>(out, r, r + __builtin_ctz(mask), true, mask);
}

// The shape of the base register of `p`, of Register's width: found now, or known from an earlier access of the block.
template <class Register>
inline const Shape& shape_of(const Machine& m, const Prepared& p, const Register* r) {
    Shape& shape = m.shapes[p.shape & ~shape_known];
    const bool known = (p.shape & shape_known) && m.shapes_known >> (p.shape & ~shape_known) & 1;
    if (!known || shape.lanes != full_mask) {
        find_shape(r, shape);
        m.shapes_known |= 1u << (p.shape & ~shape_known);
    }
    return shape;
}
template <class Register>
inline const Shape& shape_of_some(const Machine& m, const Prepared& p, const Register* r, uint32_t mask) {
    Shape& shape = m.shapes[p.shape & ~shape_known];
    const bool known = (p.shape & shape_known) && m.shapes_known >> (p.shape & ~shape_known) & 1;
    if (!known || shape.lanes != mask) {
        find_shape_of(r, mask, shape);
        m.shapes_known |= 1u << (p.shape & ~shape_known);
    }
    return shape;
}

template <class Word, class Register>
inline bool load(const Machine& m, const Prepared& p, const Register* base, const View& view, uint32_t mask) {
    auto* const d = reinterpret_cast<Word*>(m.destination(p.d));
    const auto offset = static_cast<uint64_t>(p.offset);
    if (mask == full_mask && p.d != p.address) {
        return load_words<Word>(view, base, shape_of(m, p, base), offset, d);
    }
    // The base must survive a second attempt, and idle lanes keep their values.
    alignas(64) Word scratch[warp_size];
    const Shape& pattern = shape_of_some(m, p, base, mask);
    if (pattern.step[0] == Shape::irregular || pattern.step[1] == Shape::irregular ||
        !load_words<Word>(view, base, pattern, offset, scratch)) {
        alignas(64) Register busy[warp_size];
        busy_only(busy, base, mask);
        Shape shape;
        find_shape(busy, shape);
        if (!load_words<Word>(view, busy, shape, offset, scratch)) return false;
    }
    blend_lanes(reinterpret_cast<std::byte*>(d), reinterpret_cast<const std::byte*>(scratch), sizeof(Word), mask);
    return true;
}

template <class Word, class Register>
inline bool store(const Machine& m, const Prepared& p, const Register* base, const View& view, uint32_t mask) {
    const auto* const s = reinterpret_cast<const Word*>(m.source(p.a));
    const auto offset = static_cast<uint64_t>(p.offset);
    if (mask == full_mask) return store_words<Word>(view, base, shape_of(m, p, base), offset, s);
    if (view.bytes < sizeof(Word) * half) return false;
    alignas(64) Register busy[warp_size];
    busy_only(busy, base, mask);
    if (!all_inside<Word>(view, busy, offset) || !all_inside<Word>(view, busy + half, offset)) return false;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto i = static_cast<uint32_t>(__builtin_ctz(rest));
        std::memcpy(view.data + offset_in(view, busy[i], offset), s + i, sizeof(Word));
    }
    return true;
}

// The commonest access in place: a 32-bit word of shared memory by all lanes, through a base whose shape is known and
// regular. False, with nothing lost, for any other.
[[gnu::always_inline]] inline bool load_known(const Machine& m, const Prepared& p) {
    const uint32_t slot = p.shape & ~uint32_t{shape_known};
    if (!(p.shape & shape_known) || !(m.shapes_known >> slot & 1) || p.element_bytes != 4 || m.shared_bytes < 64)
        return false;
    const Shape& shape = m.shapes[slot];
    // Where a base of 32 bits would wrap, these lie beyond the end.
    const uint64_t first = shape.first[0] + static_cast<uint64_t>(p.offset);
    const uint64_t second = shape.first[1] + static_cast<uint64_t>(p.offset);
    const uint64_t limit = m.shared_bytes - 64;
    if (first > limit || second > limit || ((first | second) & 3)) return false;
    std::byte* const d = m.destination(p.d);
    if (shape.all_words) {
        copy_words(d, m.shared + first);
        copy_words(d + 64, m.shared + second);
        return true;
    }
    if (!shape.all_one) return false;
    VectorOf<uint32_t> a = {}, b = {};
    uint32_t word;
    std::memcpy(&word, m.shared + first, 4);
    a += word;
    std::memcpy(&word, m.shared + second, 4);
    b += word;
    std::memcpy(d, &a, 64);
    std::memcpy(d + 64, &b, 64);
    return true;
}

// The same by some lanes, for which the loop's short form has no time to ask.
[[gnu::noinline]] inline bool load_known_some(const Machine& m, const Prepared& p, uint32_t mask) {
    const uint32_t slot = p.shape & ~uint32_t{shape_known};
    const Shape& shape = m.shapes[slot];
    if (!(p.shape & shape_known) || !(m.shapes_known >> slot & 1) || shape.lanes != mask || p.element_bytes != 4 ||
        m.shared_bytes < 64)
        return false;
    alignas(64) std::byte scratch[2 * 64];
    for (uint32_t h = 0; h < 2; ++h) {
        const uint64_t first = shape.first[h] + static_cast<uint64_t>(p.offset);
        if (first > m.shared_bytes - 64 || (first & 3)) return false;
        if (shape.step[h] == 4) {
            std::memcpy(scratch + h * 64, m.shared + first, 64);
        } else if (shape.step[h] == 0) {
            VectorOf<uint32_t> all = {};
            uint32_t word;
            std::memcpy(&word, m.shared + first, 4);
            all += word;
            std::memcpy(scratch + h * 64, &all, 64);
        } else {
            return false;
        }
    }
    blend_lanes(m.destination(p.d), scratch, 4, mask);
    return true;
}

inline uint64_t first_address(const Machine& m, const Prepared& p, uint32_t mask) {
    const auto offset = static_cast<uint64_t>(p.offset);
    if (p.address == ptx::no_operand) return offset;
    const auto lane = __builtin_ctz(mask);
    const std::byte* const base = m.source(p.address);
    if (p.wide_address) return reinterpret_cast<const uint64_t*>(base)[lane] + offset;
    return static_cast<uint32_t>(reinterpret_cast<const uint32_t*>(base)[lane] + static_cast<uint32_t>(offset));
}

// Global and generic accesses by way of the instruction's window; shared ones through a window that is always there.
template <bool Store, class Word, class Register>
inline bool access_words(const Machine& m, const Prepared& p, const Register* base, const View& view, uint32_t mask) {
    if constexpr (Store) {
        return store<Word>(m, p, base, view, mask);
    } else {
        return load<Word>(m, p, base, view, mask);
    }
}

template <bool Store>
[[gnu::noinline, gnu::flatten]] bool access_view(const Machine& m, const Prepared& p, const View& view, uint32_t mask) {
    const bool wide = p.wide_address || p.address == ptx::no_operand;
    const std::byte* const base =
        p.address == ptx::no_operand ? reinterpret_cast<const std::byte*>(zeros) : m.source(p.address);
    if (wide) {
        const auto* const r = reinterpret_cast<const uint64_t*>(base);
        return p.element_bytes == 4 ? access_words<Store, uint32_t>(m, p, r, view, mask)
                                    : access_words<Store, uint64_t>(m, p, r, view, mask);
    }
    const auto* const r = reinterpret_cast<const uint32_t*>(base);
    return p.element_bytes == 4 ? access_words<Store, uint32_t>(m, p, r, view, mask)
                                : access_words<Store, uint64_t>(m, p, r, view, mask);
}

template <bool Store>
inline bool access_global(const Machine& m, const Prepared& p, uint32_t pc, uint32_t mask) {
    const MemoryWindow& window = m.grid.windows[pc];
    if (window.version == m.grid.memory->version() && window.bytes) {
        if (access_view<Store>(m, p, View{window.data, window.begin, window.bytes}, mask)) return true;
    }
    const uint64_t first = first_address(m, p, mask);
    if (p.space == ptx::Space::generic && first - ptx::shared_window < ptx::window_bytes) {
        return access_view<Store>(m, p, View{m.block.shared.data(), ptx::shared_window, m.block.shared.size()}, mask);
    }
    if (!refill(m.grid, pc, first, Store)) return false;
    return access_view<Store>(m, p, View{window.data, window.begin, window.bytes}, mask);
}
