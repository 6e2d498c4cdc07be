// Loads and stores whose addresses are a ramp: the place of each half's first lane is checked, and all 16 lanes are inside
// or the translation is left. Everything else goes to the interpreter's own functions.
#include <algorithm>
#include <cstddef>

#include "core/simt/native/translate.h"

namespace lockstep::simt {

using Form = Value::Form;
using ptx::Space;

std::string Translator::window_field(uint32_t pc, uint32_t at) {
    const std::string byte = w_.let("getelementptr i8, i8* %windows, i64 {}", uint64_t{pc} * sizeof(MemoryWindow) + at);
    return w_.let("load i64, i64* {}", w_.let("bitcast i8* {} to i64*", byte));
}

// Looks once at what all accesses through one base register of this block touch, as far as it does not change. False: this
// one is looked at by itself.
bool Translator::check_shared(uint32_t pc, const Value& base) {
    const auto apart = [&](const Prepared& p) {  // of other widths than a power of two, or at an odd place
        const uint64_t bytes = p.access_bytes();
        return (bytes & (bytes - 1)) != 0 || static_cast<uint64_t>(p.offset) % bytes != 0 ||
               static_cast<uint64_t>(base.step) % bytes != 0;
    };
    const Prepared& here = plan_.steps[pc];
    if (apart(here)) return false;
    const std::string key = base.first[0] + " " + base.first[1];
    if (const auto found = checked_.find(key); found != checked_.end())
        return here.offset >= found->second.first && here.offset + here.access_bytes() <= found->second.second;
    int64_t low = here.offset, high = here.offset + here.access_bytes();
    uint64_t align = here.access_bytes();
    bool same = here.address != ptx::no_operand;
    for (uint32_t at = pc; at < region_.blocks[block_].end && same; ++at) {
        const Prepared& p = plan_.steps[at];
        const ptx::DecodedInstruction& i = native_.program.instructions[at];
        const bool accesses = (i.kind == ptx::Kind::load || i.kind == ptx::Kind::store) && p.space == Space::shared &&
                              p.address == here.address && p.guard == ptx::no_operand;
        if (accesses && !apart(p)) {
            low = std::min(low, p.offset);
            high = std::max<int64_t>(high, p.offset + p.access_bytes());
            align = std::max<uint64_t>(align, p.access_bytes());
        }
        ptx::each_written(native_.program.lists, i, [&](int32_t reg) { same = same && reg != here.address; });
    }
    const uint64_t span = static_cast<uint64_t>(high - low) + 15 * static_cast<uint64_t>(base.step);
    std::string good = w_.let("icmp uge i64 %shared.bytes, {}", span);
    const std::string limit = w_.let("sub i64 %shared.bytes, {}", span);
    for (int h = 0; h < 2; ++h) {
        const std::string first = base.bits == 32 ? w_.cast("zext", "i32", base.first[h], "i64") : base.first[h];
        const std::string lowest = w_.let("add i64 {}, {}", first, low);
        good = w_.let("and i1 {}, {}", good, w_.let("icmp ule i64 {}, {}", lowest, limit));
        const std::string odd = w_.let("and i64 {}, {}", first, align - 1);
        good = w_.let("and i1 {}, {}", good, w_.let("icmp eq i64 {}, 0", odd));
    }
    const std::string on = w_.fresh_label();
    w_.line("br i1 {}, label %{}, label %{}", good, on, way_out(pc, pc - region_.blocks[block_].begin));
    w_.label(on);
    checked_[key] = {low, high};
    return true;
}

// Where the halves' first lanes access memory; `step`: bytes from lane to lane. All lanes are inside, or the translation is
// left. Nothing: it is no ramp, or not in memory that is looked at here.
std::optional<Translator::Place> Translator::place_of(uint32_t pc, uint64_t align, bool is_store, int64_t& step) {
    const Prepared& p = plan_.steps[pc];
    const bool shared = p.space == Space::shared;
    const bool global = p.space == Space::global || p.space == Space::generic || p.space == Space::constant;
    if ((!shared && !global) || p.guard != ptx::no_operand) return std::nullopt;
    if (global && (call_.windows[pc].bytes == 0 || (is_store && p.space == Space::constant))) return std::nullopt;
    if (p.address != ptx::no_operand && p.address < 0) return std::nullopt;
    Value base = Values::number(64, 0);
    if (p.address != ptx::no_operand) base = get(p.address);
    const uint32_t base_bits = p.address == ptx::no_operand || p.wide_address ? 64 : 32;
    if (base.form != Form::ramp || base.bits != base_bits || (global && base_bits != 64)) return std::nullopt;
    step = base.step;
    if (step < 0 || step > 4096 || step % static_cast<int64_t>(align) != 0) return std::nullopt;
    Place place;
    if (shared && check_shared(pc, base)) {
        for (int h = 0; h < 2; ++h) {
            const std::string first = base.bits == 32 ? w_.cast("zext", "i32", base.first[h], "i64") : base.first[h];
            place.pointer[h] = w_.let("getelementptr i8, i8* %shared, i64 {}", w_.let("add i64 {}, {}", first, p.offset));
        }
        return place;
    }
    const uint64_t span = 15 * static_cast<uint64_t>(step) + p.access_bytes();
    const uint32_t executed = pc - region_.blocks[block_].begin;
    std::string offset[2], fits[2];
    const std::string bytes = shared ? "%shared.bytes" : window_field(pc, offsetof(MemoryWindow, bytes));
    const std::string begin = shared ? "0" : window_field(pc, offsetof(MemoryWindow, begin));
    std::string good = w_.let("icmp uge i64 {}, {}", bytes, span);
    const std::string limit = w_.let("sub i64 {}, {}", bytes, span);
    for (int h = 0; h < 2; ++h) {
        const std::string first = base_bits == 32 ? w_.cast("zext", "i32", base.first[h], "i64") : base.first[h];
        const std::string address = w_.let("add i64 {}, {}", first, p.offset);
        offset[h] = shared ? address : w_.let("sub i64 {}, {}", address, begin);
        fits[h] = w_.let("icmp ule i64 {}, {}", offset[h], limit);
        if (align > 1) {
            const bool plain = p.code != Code::load_any && p.code != Code::store_any;  // as the interpreter looks at those
            const std::string low = w_.let("and i64 {}, {}", plain ? offset[h] : address, align - 1);
            fits[h] = w_.let("and i1 {}, {}", fits[h], w_.let("icmp eq i64 {}, 0", low));
        }
        good = w_.let("and i1 {}, {}", good, fits[h]);
    }
    const std::string on = w_.fresh_label();
    w_.line("br i1 {}, label %{}, label %{}", good, on, way_out(pc, executed));
    w_.label(on);
    std::string data = "%shared";
    if (global) data = w_.let("inttoptr i64 {} to i8*", window_field(pc, offsetof(MemoryWindow, data)));
    for (int h = 0; h < 2; ++h) place.pointer[h] = w_.let("getelementptr i8, i8* {}, i64 {}", data, offset[h]);
    return place;
}

// A load by addresses that are no ramp: each lane's place is checked, all at once.
bool Translator::write_gather(uint32_t pc) {
    const Prepared& p = plan_.steps[pc];
    const bool shared = p.space == Space::shared;
    const bool global = p.space == Space::global || p.space == Space::generic || p.space == Space::constant;
    if ((!shared && !global) || p.guard != ptx::no_operand || p.vector != 1 ||
        (p.element_bytes != 4 && p.element_bytes != 8))
        return false;
    if (p.register_bytes != p.element_bytes || p.address == ptx::no_operand || p.address < 0) return false;
    if (global && (call_.windows[pc].bytes == 0 || !p.wide_address)) return false;
    Value base = get(p.address);
    const std::string wide = "<16 x i64>", lane = values_.int_type(p.element_bytes * 8u),
                      type = Writer::type(half_lanes, lane);
    const std::string bytes = shared ? "%shared.bytes" : window_field(pc, offsetof(MemoryWindow, bytes));
    std::string good = w_.let("icmp uge i64 {}, {}", bytes, p.element_bytes);
    std::string begin;
    if (global) begin = w_.splat("i64", window_field(pc, offsetof(MemoryWindow, begin)));
    const std::string limit = w_.splat("i64", w_.let("sub i64 {}, {}", bytes, p.element_bytes));
    std::string offset[2], outside[2];
    for (int h = 0; h < 2; ++h) {
        const std::string narrow = Writer::type(half_lanes, values_.int_type(base.bits));
        const std::string added = Writer::number(half_lanes, values_.int_type(base.bits), static_cast<uint64_t>(p.offset));
        std::string address = w_.let("add {} {}, {}", narrow, values_.lanes(base, h), added);
        if (base.bits == 32) address = w_.cast("zext", narrow, address, wide);
        offset[h] = global ? w_.let("sub {} {}, {}", wide, address, begin) : address;
        if (!whole_) offset[h] = w_.let("and {} {}, %active64_{}", wide, offset[h], h);
        const std::string beyond = w_.let("or {} {}, {}", wide, w_.let("sub {} {}, {}", wide, limit, offset[h]), offset[h]);
        const std::string sign = w_.let("and {} {}, {}", wide, beyond, Writer::number(half_lanes, "i64", uint64_t{1} << 63));
        const std::string low =
            w_.let("and {} {}, {}", wide, offset[h], Writer::number(half_lanes, "i64", p.element_bytes - 1u));
        outside[h] = w_.let("or {} {}, {}", wide, sign, low);
    }
    const std::string both = w_.let("or {} {}, {}", wide, outside[0], outside[1]);
    const std::string any = w_.let("call i64 @llvm.vector.reduce.or.v16i64({} {})", wide, both);
    good = w_.let("and i1 {}, {}", good, w_.let("icmp eq i64 {}, 0", any));
    const std::string on = w_.fresh_label();
    w_.line("br i1 {}, label %{}, label %{}", good, on, way_out(pc, pc - region_.blocks[block_].begin));
    w_.label(on);
    std::string data = "%shared";
    if (global) data = w_.let("inttoptr i64 {} to i8*", window_field(pc, offsetof(MemoryWindow, data)));
    Value made;
    made.bits = p.element_bytes * 8u;
    for (int h = 0; h < 2; ++h) {
        std::string all = "undef";
        for (int n = 0; n < half_lanes; ++n) {
            const std::string at = w_.let("extractelement {} {}, i32 {}", wide, offset[h], n);
            const std::string byte = w_.let("getelementptr i8, i8* {}, i64 {}", data, at);
            const std::string value =
                w_.let("load {0}, {0}* {1}, align {2}", lane, w_.let("bitcast i8* {} to {}*", byte, lane), p.element_bytes);
            all = w_.let("insertelement {} {}, {} {}, i32 {}", type, all, lane, value, n);
        }
        made.lanes[h] = all;
    }
    set(p.d, std::move(made));
    return true;
}

bool Translator::write_load(uint32_t pc) {
    if (!native_.watched.empty() && native_.watched[pc]) return false;
    const Prepared& p = plan_.steps[pc];
    const ptx::DecodedInstruction& i = native_.program.instructions[pc];
    const int32_t* const to = ptx::elements_given(native_.program.lists, i);
    const uint32_t bits = p.register_bytes * 8u, element = p.element_bytes * 8u;
    if (element > 64 || bits < element) return false;
    for (uint32_t k = 0; k < p.vector; ++k)
        if (to[k] != ptx::no_operand && bits_of(to[k]) != bits) return false;
    const std::string lane = values_.int_type(element), wide = values_.int_type(bits);
    const char* const extend = p.sign_extends ? "sext" : "zext";
    const auto widened = [&](int n, const std::string& value) {
        return bits == element ? value : w_.cast(extend, Writer::type(n, lane), value, Writer::type(n, wide));
    };
    if (p.code == Code::load_param) {
        if (p.guard != ptx::no_operand) return false;
        const auto at = static_cast<uint64_t>(p.offset);
        if (at + p.element_bytes > native_.program.parameter_bytes || at % p.element_bytes != 0) return false;
        const std::string byte = w_.let("getelementptr i8, i8* %parameters, i64 {}", at);
        const std::string value = w_.let("load {0}, {0}* {1}, align 1", lane, w_.let("bitcast i8* {} to {}*", byte, lane));
        set(p.d, Values::ramp(bits, value, value, 0));
        return true;
    }
    int64_t step = 0;
    const uint32_t bytes = p.access_bytes();
    const bool side_by_side_or_one = [&] {
        if (p.vector == 1) return true;
        if (p.address == ptx::no_operand) return true;
        if (p.address < 0) return false;
        const Value& base = get(p.address);
        return base.form == Form::ramp && (base.step == 0 || base.step == static_cast<int64_t>(bytes));
    }();
    if (!side_by_side_or_one) return write_gather(pc);
    const std::optional<Place> place = place_of(pc, bytes, false, step);
    if (!place) return write_gather(pc);
    std::vector<Value> made(p.vector);
    for (int h = 0; h < 2; ++h) {
        if (step == 0) {
            for (uint32_t k = 0; k < p.vector; ++k) {
                const std::string byte = w_.let("getelementptr i8, i8* {}, i64 {}", place->pointer[h], k * p.element_bytes);
                const std::string value = w_.let("load {0}, {0}* {1}, align {2}", lane,
                                                 w_.let("bitcast i8* {} to {}*", byte, lane), p.element_bytes);
                made[k].form = Form::ramp;
                made[k].bits = bits;
                made[k].first[h] = widened(1, value);
            }
        } else if (step == static_cast<int64_t>(bytes)) {
            const std::string all = Writer::type(half_lanes * p.vector, lane);
            const std::string value = w_.let("load {0}, {0}* {1}, align {2}", all,
                                             w_.let("bitcast i8* {} to {}*", place->pointer[h], all), p.element_bytes);
            for (uint32_t k = 0; k < p.vector; ++k) {
                std::string part = value;
                if (p.vector > 1) {
                    std::string which = "<";
                    for (uint32_t n = 0; n < half_lanes; ++n)
                        which += fmt::format("{}i32 {}", n ? ", " : "", n * p.vector + k);
                    part = w_.let("shufflevector {0} {1}, {0} undef, <16 x i32> {2}>", all, value, which);
                }
                made[k].bits = bits;
                made[k].lanes[h] = widened(half_lanes, part);
            }
        } else {
            const std::string type = Writer::type(half_lanes, lane);
            std::string all = "undef";
            for (int64_t n = 0; n < half_lanes; ++n) {
                const std::string byte = w_.let("getelementptr i8, i8* {}, i64 {}", place->pointer[h], n * step);
                const std::string value = w_.let("load {0}, {0}* {1}, align {2}", lane,
                                                 w_.let("bitcast i8* {} to {}*", byte, lane), p.element_bytes);
                all = w_.let("insertelement {} {}, {} {}, i32 {}", type, all, lane, value, n);
            }
            made[0].bits = bits;
            made[0].lanes[h] = widened(half_lanes, all);
        }
    }
    for (uint32_t k = 0; k < p.vector; ++k)
        if (to[k] != ptx::no_operand) set(to[k], std::move(made[k]));
    return true;
}

bool Translator::write_store(uint32_t pc) {
    if (!native_.watched.empty() && native_.watched[pc]) return false;
    const Prepared& p = plan_.steps[pc];
    const ptx::DecodedInstruction& i = native_.program.instructions[pc];
    const int32_t* const from = ptx::elements_taken(native_.program.lists, i);
    const uint32_t bits = p.register_bytes * 8u, element = p.element_bytes * 8u;
    if (element > 64 || bits < element) return false;
    for (uint32_t k = 0; k < p.vector; ++k) {
        if (from[k] == ptx::no_operand) return false;
        if (from[k] >= 0 && bits_of(from[k]) != bits) return false;
    }
    if (p.address == ptx::no_operand || p.address < 0) return false;
    const uint32_t bytes = p.access_bytes();
    {
        const Value& base = get(p.address);
        if (base.form != Form::ramp || base.step != static_cast<int64_t>(bytes)) return false;
    }
    if (!whole_ && (p.vector != 1 || element < 32)) return false;
    int64_t step = 0;
    const std::optional<Place> place = place_of(pc, bytes, true, step);
    if (!place) return false;
    const std::string lane = values_.int_type(element), type = Writer::type(half_lanes, lane);
    const std::string wide = Writer::type(half_lanes, values_.int_type(bits));
    for (int h = 0; h < 2; ++h) {
        std::vector<std::string> parts;
        for (uint32_t k = 0; k < p.vector; ++k) {
            Value v = source(from[k], bits);
            const std::string value = values_.lanes(v, h);
            parts.push_back(bits == element ? value : w_.cast("trunc", wide, value, type));
        }
        std::string all = parts[0];
        if (p.vector == 2 || p.vector == 4) {  // side by side, then interleaved
            int lanes = half_lanes;
            while (parts.size() > 1) {
                std::string order = "<";
                for (int n = 0; n < 2 * lanes; ++n) order += fmt::format("{}i32 {}", n ? ", " : "", n);
                std::vector<std::string> longer;
                for (size_t k = 0; k < parts.size(); k += 2)
                    longer.push_back(w_.let("shufflevector {0} {1}, {0} {2}, <{3} x i32> {4}>", Writer::type(lanes, lane),
                                            parts[k], parts[k + 1], 2 * lanes, order));
                parts = std::move(longer);
                lanes *= 2;
            }
            std::string order = "<";
            for (uint32_t n = 0; n < half_lanes; ++n)
                for (uint32_t k = 0; k < p.vector; ++k)
                    order += fmt::format("{}i32 {}", n || k ? ", " : "", k * half_lanes + n);
            const std::string t = Writer::type(lanes, lane);
            all = w_.let("shufflevector {0} {1}, {0} undef, <{2} x i32> {3}>", t, parts[0], lanes, order);
        } else if (p.vector != 1) {
            return false;
        }
        const std::string t = Writer::type(half_lanes * p.vector, lane);
        const std::string to = w_.let("bitcast i8* {} to {}*", place->pointer[h], t);
        if (!whole_) {
            const std::string chosen = w_.let("icmp ne <16 x i32> %active32_{}, zeroinitializer", h);
            // Not the lanes in between, which may be another thread's.
            w_.line("call void @llvm.masked.store.v16{0}.p0v16{0}({1} {2}, {1}* {3}, i32 {4}, <16 x i1> {5})", lane, t, all,
                    to, p.element_bytes, chosen);
            continue;
        }
        w_.line("store {0} {1}, {0}* {2}, align {3}", t, all, to, p.element_bytes);
    }
    return true;
}

}  // namespace lockstep::simt
