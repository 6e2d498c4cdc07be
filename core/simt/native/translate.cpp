// The function of a region. All text is written again and again until the shapes in which registers come to each block no
// longer change: what began as a ramp and is none behind a loop's body becomes lanes.
//
//   entry:   the call's numbers, and the registers that are read, from the warp
//   B12:     a block: stops in front of it when the instructions that are left do not suffice; its instructions; where it
//   goes b77:     (cold) a way out: what is read later goes back to the warp's registers
#include "core/simt/native/translate.h"

#include <algorithm>
#include <cstddef>

namespace lockstep::simt {
namespace {

constexpr const char* declarations = R"(
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
declare float @llvm.fma.f32(float, float, float)
declare <16 x double> @llvm.fma.v16f64(<16 x double>, <16 x double>, <16 x double>)
declare double @llvm.fma.f64(double, double, double)
declare <16 x float> @llvm.sqrt.v16f32(<16 x float>)
declare float @llvm.sqrt.f32(float)
declare <16 x double> @llvm.trunc.v16f64(<16 x double>)
declare double @llvm.trunc.f64(double)
declare i64 @llvm.vector.reduce.or.v16i64(<16 x i64>)
declare i32 @llvm.vector.reduce.or.v16i32(<16 x i32>)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.ctpop.i32(i32)
declare void @llvm.masked.store.v16i32.p0v16i32(<16 x i32>, <16 x i32>*, i32, <16 x i1>)
declare void @llvm.masked.store.v16i64.p0v16i64(<16 x i64>, <16 x i64>*, i32, <16 x i1>)
)";

uint32_t field(size_t bytes) {
    return static_cast<uint32_t>(bytes / 8);
}

}  // namespace

uint32_t Translator::bits_of(int32_t reg) const {
    const uint8_t bytes = native_.program.functions.front().lane_bytes[static_cast<size_t>(reg) / 64];
    return bytes == 0 ? 1 : bytes * 8u;
}

bool Translator::is_tracked(int32_t reg, uint32_t pc) const {
    return native_.is_live(pc, reg);
}

std::string Translator::address_of(int32_t reg, uint32_t bits, int h) {
    const uint32_t at = static_cast<uint32_t>(reg) + (bits == 1 ? 0 : static_cast<uint32_t>(h) * 2 * bits);
    const std::string byte = w_.let("getelementptr i8, i8* %registers, i64 {}", at);
    const std::string type = bits == 1 ? "i32" : Writer::type(half_lanes, values_.int_type(bits));
    return w_.let("bitcast i8* {} to {}*", byte, type);
}

void Translator::read_again(int32_t reg) {
    const uint32_t bits = bits_of(reg);
    Value v;
    v.bits = bits;
    if (bits == 1) {
        v.form = Value::Form::predicate;
        v.mask = w_.let("load i32, i32* {}, align 64", address_of(reg, 1, 0));
    } else {
        const std::string type = Writer::type(half_lanes, values_.int_type(bits));
        for (int h = 0; h < 2; ++h)
            v.lanes[h] = w_.let("load {0}, {0}* {1}, align {2}", type, address_of(reg, bits, h), std::min(64u, 2 * bits));
    }
    set(reg, std::move(v));
}

// As it comes to the block, from the places in which blocks hand registers over.
Value& Translator::get(int32_t reg) {
    if (const auto found = now_.find(reg); found != now_.end()) return found->second;
    Value v;
    v.bits = bits_of(reg);
    const auto shape = shapes_[block_].find(reg);
    if (v.bits == 1) {
        v.form = Value::Form::predicate;
        v.mask = w_.let("load i32, i32* %p{}", reg);
    } else if (shape != shapes_[block_].end() && shape->second.ramp) {
        const std::string type = values_.int_type(v.bits);
        const std::string first = w_.let("load {0}, {0}* %f{1}_0", type, reg);
        v = Values::ramp(v.bits, first, w_.let("load {0}, {0}* %f{1}_1", type, reg), shape->second.step);
    } else {
        const std::string type = Writer::type(half_lanes, values_.int_type(v.bits));
        for (int h = 0; h < 2; ++h) v.lanes[h] = w_.let("load {0}, {0}* %l{1}_{2}", type, reg, h);
    }
    if (values_.keeps) return now_[reg] = std::move(v);
    static thread_local Value once;
    return once = std::move(v);
}

void Translator::set(int32_t reg, Value value) {
    now_[reg] = std::move(value);
    written_.insert(reg);
}

void Translator::write_back(int32_t reg) {
    Value& v = get(reg);
    Value copy;  // where nothing may be kept
    Value& from = values_.keeps ? v : copy = v;
    const uint32_t bits = bits_of(reg);
    if (bits == 1) {
        const std::string to = address_of(reg, 1, 0);
        std::string mask = values_.mask(from);
        if (!whole_) {
            const std::string old = w_.let("load i32, i32* {}, align 64", to);
            const std::string differs = w_.let("and i32 {}, %active", w_.let("xor i32 {}, {}", old, mask));
            mask = w_.let("xor i32 {}, {}", old, differs);
        }
        w_.line("store i32 {}, i32* {}, align 64", mask, to);
        return;
    }
    const std::string lane = values_.int_type(bits), type = Writer::type(half_lanes, lane);
    for (int h = 0; h < 2; ++h) {
        const std::string to = address_of(reg, bits, h);
        const uint32_t align = std::min(64u, 2 * bits);
        std::string value = values_.lanes(from, h);
        if (!whole_) {
            const std::string old = w_.let("load {0}, {0}* {1}, align {2}", type, to, align);
            const std::string differs =
                w_.let("and {} {}, %active{}_{}", type, w_.let("xor {} {}, {}", type, old, value), bits, h);
            value = w_.let("xor {} {}, {}", type, old, differs);
        }
        w_.line("store {0} {1}, {0}* {2}, align {3}", type, value, to, align);
    }
}

// The name of the block in which the translation is left in front of `pc`; `executed` instructions of this block have run.
std::string Translator::way_out(uint32_t pc, uint32_t executed) {
    const std::string label = w_.fresh_label();
    std::string* const before = w_.to(&cold_);
    values_.keeps = false;
    w_.label(label);
    std::set<int32_t> dirty = region_.blocks[block_].written_before;
    dirty.insert(written_.begin(), written_.end());
    for (const int32_t reg : dirty)
        if (native_.is_live(pc, reg)) write_back(reg);
    const RegionBlock& block = region_.blocks[block_];
    const std::string left = w_.let("load i64, i64* %left");
    const std::string again = w_.let("add i64 {}, {}", left, block.end - block.begin - executed);
    w_.line("store i64 {}, i64* %call.left", again);
    w_.line("store i64 {}, i64* %call.idle", w_.let("load i64, i64* %idle"));
    w_.line("ret i32 {}", pc);
    values_.keeps = true;
    w_.to(before);
    return label;
}

// The name of the block that goes on at `pc`.
std::string Translator::way_to(uint32_t pc, uint32_t executed) {
    const auto at = region_.block_at.find(pc);
    if (at == region_.block_at.end()) return way_out(pc, executed);
    const std::string there = fmt::format("B{}", pc);
    if (!meets_[pc]) return there;
    const std::string out = way_out(pc, executed), label = w_.fresh_label();
    std::string* const before = w_.to(&cold_);
    w_.label(label);
    const std::string meets = w_.let("icmp eq i64 %meet, {}", pc);
    w_.line("br i1 {}, label %{}, label %{}", meets, out, there);
    w_.to(before);
    return label;
}

// Puts the registers that the block behind the way to `next` reads where it finds them.
void Translator::hand_over(uint32_t next) {
    const auto at = region_.block_at.find(next);
    if (at == region_.block_at.end()) return;
    const size_t there = at->second;
    const bool fresh = !reached_[there];
    reached_[there] = true;
    for (const int32_t reg : region_.registers) {
        if (!is_tracked(reg, next)) continue;
        const uint32_t bits = bits_of(reg);
        if (bits == 1) {
            if (written_.count(reg) != 0) w_.line("store i32 {}, i32* %p{}", values_.mask(get(reg)), reg);
            continue;
        }
        const auto known = now_.find(reg);
        const auto came = shapes_[block_].find(reg);
        Shape16 here;
        if (known != now_.end())
            here = {known->second.form == Value::Form::ramp, known->second.step};
        else if (came != shapes_[block_].end())
            here = came->second;
        if (!here.ramp) here.step = 0;
        const auto [wanted, added] = shapes_[there].try_emplace(reg, here);
        if (!added && !(wanted->second == here) && wanted->second.ramp) {
            wanted->second = {};
            changed_ = true;
        }
        if (added && !fresh) changed_ = true;
        const bool same = written_.count(reg) == 0 && wanted->second == here;
        if (same) continue;
        Value& v = get(reg);
        const std::string type = values_.int_type(bits);
        for (int h = 0; h < 2; ++h) {
            if (wanted->second.ramp)
                w_.line("store {0} {1}, {0}* %f{2}_{3}", type, v.first[h], reg, h);
            else
                w_.line("store {0} {1}, {0}* %l{2}_{3}", Writer::type(half_lanes, type), values_.lanes(v, h), reg, h);
        }
    }
}

void Translator::count_idle(const std::string& lanes) {
    const std::string count = w_.cast("zext", "i32", w_.let("call i32 @llvm.ctpop.i32(i32 {})", lanes), "i64");
    w_.line("store i64 {}, i64* %idle", w_.let("add i64 {}, {}", w_.let("load i64, i64* %idle"), count));
}

std::string Translator::executing(uint32_t pc) {
    const Prepared& p = plan_.steps[pc];
    const std::string active = "%active";
    if (p.guard == ptx::no_operand) return active;
    Value& guard = get(p.guard);
    std::string mask = values_.mask(guard);
    if (p.guard_flip) mask = w_.let("xor i32 {}, -1", mask);
    return w_.let("and i32 {}, {}", mask, active);
}

void Translator::write_branch(uint32_t pc) {
    const Prepared& p = plan_.steps[pc];
    const RegionBlock& block = region_.blocks[block_];
    const uint32_t executed = block.end - block.begin;
    hand_over(p.target);
    if (p.guard == ptx::no_operand) {
        w_.line("br label %{}", way_to(p.target, executed));
        return;
    }
    hand_over(pc + 1);
    Value& guard = get(p.guard);
    std::string all, none;
    if (whole_ && !guard.alike[0].empty()) {
        const std::string either = w_.let("or i1 {}, {}", guard.alike[0], guard.alike[1]);
        const std::string both = w_.let("and i1 {}, {}", guard.alike[0], guard.alike[1]);
        all = p.guard_flip ? w_.let("xor i1 {}, true", either) : both;
        none = p.guard_flip ? both : w_.let("xor i1 {}, true", either);
    } else {
        const std::string taken = executing(pc);
        all = w_.let("icmp eq i32 {}, %active", taken);
        none = w_.let("icmp eq i32 {}, 0", taken);
    }
    const std::string target = way_to(p.target, executed), on = w_.fresh_label(), not_all = w_.fresh_label();
    w_.line("br i1 {}, label %{}, label %{}", all, target, not_all);
    w_.label(not_all);
    const std::string out = way_out(pc, executed - 1);
    w_.line("br i1 {}, label %{}, label %{}", none, on, out);
    w_.label(on);
    count_idle("%active");
    w_.line("br label %{}", way_to(pc + 1, executed));
}

void Translator::write_block(size_t number) {
    const RegionBlock& block = region_.blocks[number];
    block_ = number;
    now_.clear();
    written_.clear();
    checked_.clear();
    const uint32_t length = block.end - block.begin;
    w_.label(fmt::format("B{}", block.begin));
    // What the way out adds again has not been taken away.
    const std::string left = w_.let("load i64, i64* %left");
    const std::string enough = w_.let("icmp ugt i64 {}, {}", left, length);
    const std::string on = w_.fresh_label();
    w_.line("br i1 {}, label %{}, label %{}", enough, on, way_out(block.begin, length));
    w_.label(on);
    w_.line("store i64 {}, i64* %left", w_.let("sub i64 {}, {}", left, length));
    for (uint32_t pc = block.begin; pc < block.end; ++pc) {
        if (plan_.steps[pc].code == Code::branch) {
            write_branch(pc);
        } else {
            write_step(pc);
        }
    }
    if (block.branches) return;
    hand_over(block.end);
    w_.line("br label %{}", way_to(block.end, length));
}

// The registers that are taken for ramps have to be some, in the lanes that run; a half without any goes like the other one.
void Translator::write_expectations() {
    std::string differs[2];  // of 32 bits, of 64 bits
    std::string busy[2], first_lane[2], none[2];
    for (int h = 0; h < 2 && !whole_; ++h) {
        busy[h] = h ? w_.let("lshr i32 %active, 16") : w_.let("and i32 %active, 65535");
        none[h] = w_.let("icmp eq i32 {}, 0", busy[h]);
        const std::string lowest = w_.let("call i32 @llvm.cttz.i32(i32 {}, i1 false)", busy[h]);
        first_lane[h] = w_.cast("zext", "i32", w_.let("select i1 {}, i32 0, i32 {}", none[h], lowest), "i64");
    }
    for (const int32_t reg : region_.registers) {
        if (!is_tracked(reg, region_.blocks[0].begin) || bits_of(reg) == 1 || !shapes_[0][reg].ramp) continue;
        const uint32_t bits = bits_of(reg);
        const auto step = static_cast<uint64_t>(shapes_[0][reg].step);
        const std::string lane = values_.int_type(bits), type = Writer::type(half_lanes, lane);
        std::string first[2];
        for (int h = 0; h < 2; ++h) {
            const std::string at = address_of(reg, bits, h);
            const std::string lanes = w_.let("load {0}, {0}* {1}, align {2}", type, at, std::min(64u, 2 * bits));
            std::string one = w_.let("bitcast {}* {} to {}*", type, at, lane);
            if (!whole_) one = w_.let("getelementptr {0}, {0}* {1}, i64 {2}", lane, one, first_lane[h]);
            first[h] = w_.let("load {0}, {0}* {1}", lane, one);
            if (!whole_ && step != 0) {
                const std::string far = w_.let("mul i64 {}, {}", first_lane[h], static_cast<int64_t>(step));
                first[h] = w_.let("sub {} {}, {}", lane, first[h], bits == 64 ? far : w_.cast("trunc", "i64", far, lane));
            }
            std::string expected = w_.splat(lane, first[h]);
            if (step != 0) expected = w_.let("add {} {}, {}", type, expected, Writer::ramp(half_lanes, lane, step));
            std::string differ = w_.let("xor {} {}, {}", type, expected, lanes);
            if (!whole_) differ = w_.let("and {} {}, %active{}_{}", type, differ, bits, h);
            std::string& all = differs[bits == 64];
            all = all.empty() ? differ : w_.let("or {} {}, {}", type, all, differ);
        }
        for (int h = 0; h < 2; ++h) {
            std::string begins = first[h];
            if (!whole_) begins = w_.let("select i1 {0}, {1} {2}, {1} {3}", none[h], lane, first[1 - h], first[h]);
            w_.line("store {0} {1}, {0}* %f{2}_{3}", lane, begins, reg, h);
        }
    }
    for (const uint32_t bits : {32u, 64u}) {
        const std::string& all = differs[bits == 64];
        if (all.empty()) continue;
        const std::string lane = values_.int_type(bits);
        const std::string any = w_.let("call {0} @llvm.vector.reduce.or.v16{0}(<16 x {0}> {1})", lane, all);
        const std::string on = w_.fresh_label();
        w_.line("br i1 {}, label %{}, label %other", w_.let("icmp eq {} {}, 0", lane, any), on);
        w_.label(on);
    }
}

void Translator::write_entry() {
    static constexpr std::pair<const char*, size_t> numbers[] = {{"shared.bytes", offsetof(NativeCall, shared_bytes)},
                                                                 {"left.first", offsetof(NativeCall, left)},
                                                                 {"idle.first", offsetof(NativeCall, idle)},
                                                                 {"active.wide", offsetof(NativeCall, active)},
                                                                 {"meet", offsetof(NativeCall, meet)}};
    static constexpr std::pair<const char*, size_t> pointers[] = {
        {"registers", offsetof(NativeCall, registers)},   {"shared", offsetof(NativeCall, shared)},
        {"parameters", offsetof(NativeCall, parameters)}, {"windows", offsetof(NativeCall, windows)},
        {"function.lanes", offsetof(NativeCall, lanes)},  {"function.access", offsetof(NativeCall, access)}};
    w_.label("entry");
    for (const auto& [name, at] : numbers) {
        const std::string from = w_.let("getelementptr i64, i64* %call, i64 {}", field(at));
        w_.line("%{} = load i64, i64* {}", name, from);
    }
    for (const auto& [name, at] : pointers) {
        const std::string from = w_.let("getelementptr i64, i64* %call, i64 {}", field(at));
        w_.line("%{} = inttoptr i64 {} to i8*", name, w_.let("load i64, i64* {}", from));
    }
    w_.line("%call.left = getelementptr i64, i64* %call, i64 {}", field(offsetof(NativeCall, left)));
    w_.line("%call.idle = getelementptr i64, i64* %call, i64 {}", field(offsetof(NativeCall, idle)));
    w_.line("%active = {}", whole_ ? "add i32 -1, 0" : "trunc i64 %active.wide to i32");
    for (int h = 0; h < 2 && !whole_; ++h) {  // all ones in the lanes that run
        const std::string bits = w_.let("trunc i32 {} to i16", h ? w_.let("lshr i32 %active, 16") : "%active");
        const std::string lanes = w_.let("bitcast i16 {} to <16 x i1>", bits);
        for (const int wide : {16, 32, 64}) w_.line("%active{0}_{1} = sext <16 x i1> {2} to <16 x i{0}>", wide, h, lanes);
    }
    w_.line("%left = alloca i64");
    w_.line("%idle = alloca i64");
    w_.line("store i64 %left.first, i64* %left");
    w_.line("store i64 %idle.first, i64* %idle");
    for (const int32_t reg : region_.registers) {
        const uint32_t bits = bits_of(reg);
        if (bits == 1) {
            w_.line("%p{} = alloca i32", reg);
            continue;
        }
        const std::string type = values_.int_type(bits);
        for (int h = 0; h < 2; ++h) {
            w_.line("%l{}_{} = alloca {}", reg, h, Writer::type(half_lanes, type));
            w_.line("%f{}_{} = alloca {}", reg, h, type);
        }
    }
    const uint32_t begin = region_.blocks[0].begin;
    for (const int32_t reg : region_.registers) {
        if (!is_tracked(reg, begin)) continue;
        const uint32_t bits = bits_of(reg);
        if (bits == 1) {
            w_.line("store i32 {}, i32* %p{}", w_.let("load i32, i32* {}, align 64", address_of(reg, 1, 0)), reg);
            continue;
        }
        const std::string type = Writer::type(half_lanes, values_.int_type(bits));
        const Shape16 shape = shapes_[0][reg];
        // The entry may be the head of a loop that takes what was a ramp for lanes.
        if (shape.ramp) continue;
        for (int h = 0; h < 2; ++h)
            w_.line("store {0} {1}, {0}* %l{2}_{3}", type,
                    w_.let("load {0}, {0}* {1}, align {2}", type, address_of(reg, bits, h), std::min(64u, 2 * bits)), reg,
                    h);
    }
    write_expectations();
    w_.line("br label %B{}", begin);
}

std::string Translator::module() {
    meets_.assign(native_.program.instructions.size() + 1, false);
    for (const ptx::DecodedInstruction& i : native_.program.instructions)
        if (i.reconvergence < meets_.size()) meets_[i.reconvergence] = true;
    shapes_.assign(region_.blocks.size(), {});
    const uint32_t begin = region_.blocks[0].begin;
    for (const int32_t reg : region_.registers) {
        if (!is_tracked(reg, begin) || bits_of(reg) == 1) continue;
        const auto ramp = ramps_.find(reg);
        shapes_[0][reg] = ramp == ramps_.end() ? Shape16{} : Shape16{true, ramp->second};
    }
    for (changed_ = true; changed_;) {
        changed_ = false;
        reached_.assign(region_.blocks.size(), false);
        reached_[0] = true;
        w_ = Writer();
        head_.clear();
        main_.clear();
        cold_.clear();
        w_.to(&head_);
        write_entry();
        w_.to(&main_);
        for (size_t b = 0; b < region_.blocks.size(); ++b) write_block(b);
    }
    return std::string(declarations) + "define i32 @region(i64* %call) nounwind {\n" + head_ + main_ + cold_ +
           "other:\n  ret i32 -2\n}\n";
}

}  // namespace lockstep::simt
