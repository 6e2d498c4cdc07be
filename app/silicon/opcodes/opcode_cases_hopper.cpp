// Cases of what works on memory behind the lanes' backs or on a warpgroup: wmma, wgmma, mbarrier, bulk copies with and
// without tensor maps, clusters. %shared: 32 bytes of a thread's own; %tile: 8 KiB of a warp's own, %tiles: those of the
// block's four warps; %global: 32 bytes of a thread's own in device memory. Every wait is for what the step itself began, so
// that what is written depends on no order.
#include <fmt/format.h>

#include <algorithm>

#include "app/silicon/opcodes/opcode_cases.h"
#include "core/ptx/opcodes/opcode_text.h"

namespace lockstep::device {
namespace {

using ptx::Type;
using HopperTexts = std::vector<std::string>;
using HopperOperands = std::vector<OpcodeOperand>;
constexpr OpcodeDraw hopper_moderate = OpcodeDraw::moderate, hopper_few = OpcodeDraw::few;

HopperTexts joined_texts(std::initializer_list<HopperTexts> lists) {
    HopperTexts all;
    for (const HopperTexts& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}
std::string_view hopper_suffix(Type t) {
    return ptx::name_of(t);
}
Type fragment_holder(Type t) {  // what a register of a fragment holds
    return t == Type::f16    ? Type::f16x2
           : t == Type::bf16 ? Type::bf16x2
           : t == Type::e4m3 ? Type::e4m3x2
           : t == Type::e5m2 ? Type::e5m2x2
           : size_of(t) < 4  ? Type::b32
                             : t;
}
HopperOperands hopper_registers(size_t first, size_t count, Type type, OpcodeDraw draw = hopper_moderate) {
    HopperOperands list;
    for (size_t i = 0; i < count; ++i)
        list.push_back({fmt::format("%r{}{}", size_of(type) == 8 ? "d" : "", first + i), type, draw});
    return list;
}
std::string braced_list(const HopperOperands& list) {
    std::string text = "{";
    for (size_t i = 0; i < list.size(); ++i) text += (i ? ", " : "") + list[i].reg;
    return text + "}";
}
void extend_operands(HopperOperands& to, const HopperOperands& more) {
    to.insert(to.end(), more.begin(), more.end());
}

// A loop that ends when the mbarrier's phase is over; `number` makes its label the only one.
HopperTexts hopper_wait(const std::string& barrier, size_t& number, std::string_view parity = "0") {
    const std::string label = fmt::format("again_{}", number++);
    return {fmt::format("{}: mbarrier.try_wait.parity.shared::cta.b64 %p18, [{}], {}", label, barrier, parity),
            fmt::format("@!%p18 bra {}", label)};
}

// --- wmma: each lane writes its share of A, B and C into the warp's tile, and reads its share of D from it.
void wmma_cases(std::vector<OpcodeCase>& cases) {
    const struct {
        Type type, sum, result;
        int m, n, k;
    } rows[] = {{Type::f16, Type::f32, Type::f32, 16, 16, 16},  {Type::f16, Type::f16, Type::f16, 16, 16, 16},
                {Type::f16, Type::f16, Type::f32, 16, 16, 16},  {Type::f16, Type::f32, Type::f16, 16, 16, 16},
                {Type::f16, Type::f32, Type::f32, 32, 8, 16},   {Type::f16, Type::f32, Type::f32, 8, 32, 16},
                {Type::bf16, Type::f32, Type::f32, 16, 16, 16}, {Type::bf16, Type::f32, Type::f32, 32, 8, 16},
                {Type::bf16, Type::f32, Type::f32, 8, 32, 16},  {Type::tf32, Type::f32, Type::f32, 16, 16, 8},
                {Type::s8, Type::s32, Type::s32, 16, 16, 16},   {Type::u8, Type::s32, Type::s32, 16, 16, 16},
                {Type::s8, Type::s32, Type::s32, 32, 8, 16},    {Type::u8, Type::s32, Type::s32, 8, 32, 16},
                {Type::f64, Type::f64, Type::f64, 8, 8, 4}};
    for (const auto& row : rows) {
        OpcodeCase it{fmt::format("wmma.m{}n{}k{}.{}.{}.{}", row.m, row.n, row.k, hopper_suffix(row.result),
                                  hopper_suffix(row.type), hopper_suffix(row.sum)),
                      {}};
        const bool wide = row.type == Type::f64;
        const std::string shape = fmt::format("m{}n{}k{}", row.m, row.n, row.k);
        const auto fragment = [&](size_t first, int elements, Type type, bool of_sum) {
            const size_t bytes = size_of(type == Type::tf32 ? Type::f32 : type);
            const size_t count = wide                           ? static_cast<size_t>(elements) / 32
                                 : type == Type::f16 && !of_sum ? 8
                                                                : static_cast<size_t>(elements) * bytes / 4 / 32;
            return hopper_registers(first, count, wide ? Type::f64 : fragment_holder(type));
        };
        for (const std::string_view a_layout : {"row", "col"})
            for (const std::string_view b_layout : {"row", "col"}) {
                const std::string_view c_layout = a_layout, d_layout = b_layout;
                OpcodeStep step;
                const HopperOperands a = fragment(100, row.m * row.k, row.type, false),
                                     b = fragment(110, row.k * row.n, row.type, false),
                                     c = fragment(120, row.m * row.n, row.sum, true),
                                     d = fragment(130, row.m * row.n, row.result, true);
                // What lies in the tile: A, B and C at 1 KiB each.
                HopperTexts fill = {"bar.warp.sync 0xffffffff", "mov.u32 %x, %tid.x", "and.b32 %x, %x, 31"};
                const Type kinds[] = {row.type, row.type, row.sum};
                for (size_t part = 0; part < 3; ++part) {
                    const HopperOperands words =
                        hopper_registers(1 + 8 * part, wide ? 2 : 8, wide ? Type::f64 : fragment_holder(kinds[part]));
                    extend_operands(step.inputs, words);
                    fill.push_back(fmt::format("mad.lo.u32 %y, %x, {}, %tile", wide ? 16 : 32));
                    for (size_t i = 0; i < words.size(); i += wide ? 2 : 4)
                        fill.push_back(
                            fmt::format("st.shared.v{}.b{} [%y+{}], {}", wide ? 2 : 4, wide ? 64 : 32, 1024 * part + 4 * i,
                                        braced_list({words.begin() + static_cast<ptrdiff_t>(i),
                                                     words.begin() + static_cast<ptrdiff_t>(i + (wide ? 2 : 4))})));
                }
                fill.emplace_back("bar.warp.sync 0xffffffff");
                const auto load = [&](char which, const HopperOperands& list, std::string_view layout, Type type, size_t at,
                                      int leading) {
                    fill.push_back(fmt::format("wmma.load.{}.sync.aligned.{}.{}.shared.{} {}, [%tile+{}], {}", which, layout,
                                               shape, hopper_suffix(type), braced_list(list), at, leading));
                };
                load('a', a, a_layout, row.type, 0, a_layout == "row" ? row.k : row.m);
                load('b', b, b_layout, row.type, 1024, b_layout == "row" ? row.n : row.k);
                load('c', c, c_layout, row.sum, 2048, c_layout == "row" ? row.n : row.m);
                const std::string types =
                    row.type == Type::f16 ? fmt::format("{}.{}", hopper_suffix(row.result), hopper_suffix(row.sum))
                                          : fmt::format("{}.{}.{}.{}", hopper_suffix(row.result), hopper_suffix(row.type),
                                                        hopper_suffix(row.type), hopper_suffix(row.sum));
                step.text =
                    fmt::format("wmma.mma.sync.aligned.{}.{}.{}{}.{} {}, {}, {}, {}", a_layout, b_layout, shape,
                                wide ? ".rn" : "", types, braced_list(d), braced_list(a), braced_list(b), braced_list(c));
                step.before = fill;
                const size_t words = static_cast<size_t>(row.m * row.n) * size_of(row.result) / 4 / 32;
                step.outputs =
                    wide ? hopper_registers(140, 2, Type::f64) : hopper_registers(140, words, fragment_holder(row.result));
                step.behind = {fmt::format("wmma.store.d.sync.aligned.{}.{}.shared.{} [%tile+3072], {}, {}", d_layout, shape,
                                           hopper_suffix(row.result), braced_list(d), d_layout == "row" ? row.n : row.m),
                               "bar.warp.sync 0xffffffff", fmt::format("mad.lo.u32 %y, %x, {}, %tile", 4 * words)};
                for (size_t i = 0; i < step.outputs.size(); ++i)
                    step.behind.push_back(fmt::format("ld.shared.b{} {}, [%y+{}]", wide ? 64 : 32, step.outputs[i].reg,
                                                      3072 + (wide ? 8 : 4) * i));
                it.steps.push_back(std::move(step));
            }
        cases.push_back(std::move(it));
    }
}

// --- wgmma: the block's 128 threads fill the tiles with numbers of the type; the descriptors say how they are read.
// Of a sparse A half the elements are there, and the same registers and bytes go twice as far along k.
void wgmma_cases(std::vector<OpcodeCase>& cases, bool sparse) {
    const struct {
        Type type, sum;
        int k;
    } rows[] = {{Type::f16, Type::f32, 16},  {Type::f16, Type::f16, 16},  {Type::bf16, Type::f32, 16},
                {Type::tf32, Type::f32, 8},  {Type::e4m3, Type::f32, 32}, {Type::e4m3, Type::f16, 32},
                {Type::e5m2, Type::f32, 32}, {Type::s8, Type::s32, 32},   {Type::u8, Type::s32, 32}};
    const auto descriptor = [](std::string_view reg, int at, uint64_t leading, uint64_t stride, uint64_t swizzle) {
        return HopperTexts{
            fmt::format("add.u32 %z, %tiles, {}", at), "shr.u32 %z, %z, 4", "and.b32 %z, %z, 0x3fff",
            fmt::format("cvt.u64.u32 {}, %z", reg),
            fmt::format("or.b64 {}, {}, {:#x}", reg, reg, leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62)};
    };
    for (const auto& row : rows) {
        const int along = sparse ? 2 * row.k : row.k;
        const std::string_view kind = sparse ? ".sp" : "";
        OpcodeCase it{
            fmt::format("wgmma{}.k{}.{}.{}", kind, along, hopper_suffix(row.sum), hopper_suffix(row.type)), {}, "sm_90a"};
        const bool halves = row.type == Type::f16 || row.type == Type::bf16, integers = row.sum == Type::s32;
        const auto add = [&](int n, bool in_registers, bool keeps, int transposed_a, int transposed_b, bool negated,
                             bool swizzled, int selector = 0) {
            OpcodeStep step;
            const size_t sums = static_cast<size_t>(n) / (row.sum == Type::f16 ? 4 : 2);
            const HopperOperands a = hopper_registers(1, 4, fragment_holder(row.type)),
                                 b = hopper_registers(5, 4, fragment_holder(row.type)),
                                 d = hopper_registers(20, sums, fragment_holder(row.sum));
            for (const HopperOperands& list : {a, b, d}) extend_operands(step.inputs, list);
            const OpcodeOperand metadata{"%r9", row.type == Type::tf32 ? Type::tf32 : Type::b32, OpcodeDraw::metadata};
            if (sparse) step.inputs.push_back(metadata);
            step.outputs = d;
            // A in the first 8 KiB, B in the next 16; what lies 2 KiB apart is written in another order.
            HopperTexts fill = {"bar.sync 0", "mov.u32 %x, %tid.x", "mad.lo.u32 %y, %x, 16, %tiles"};
            for (size_t i = 0; i < 12; ++i) {
                const HopperOperands& from = i < 4 ? a : b;
                fill.push_back(fmt::format("st.shared.v4.b32 [%y+{}], {{{}, {}, {}, {}}}", 2048 * i, from[i % 4].reg,
                                           from[(i + 1) % 4].reg, from[(i + 2) % 4].reg, from[(i + 3) % 4].reg));
            }
            // Without a swizzle: pieces of 8 rows of 16 bytes; with one of 128 bytes: 8 rows of 128 bytes.
            const uint64_t groups_a = 8, groups_b = static_cast<uint64_t>(n) / 8;
            fill = joined_texts(
                {fill,
                 swizzled ? descriptor("%rd20", 0, 16, 1024, 1) : descriptor("%rd20", 0, 128 * groups_a, 128, 0),
                 swizzled ? descriptor("%rd21", 8192, 16, 1024, 1) : descriptor("%rd21", 8192, 128 * groups_b, 128, 0),
                 {"fence.proxy.async", "bar.sync 0", fmt::format("setp.{}.u32 %p17, %x, 0", keeps ? "ge" : "lt"),
                  "wgmma.fence.sync.aligned"}});
            step.before = fill;
            std::string more;
            if (!integers) more = fmt::format(", {}, 1", negated ? -1 : 1);
            if (halves)
                more +=
                    in_registers ? fmt::format(", {}", transposed_b) : fmt::format(", {}, {}", transposed_a, transposed_b);
            const std::string which = sparse ? fmt::format("{}, {}, ", metadata.reg, selector) : "";
            step.text = fmt::format("wgmma.mma_async{}.sync.aligned.m64n{}k{}.{}.{}.{} {}, {}, %rd21, {}%p17{}", kind, n,
                                    along, hopper_suffix(row.sum), hopper_suffix(row.type), hopper_suffix(row.type),
                                    braced_list(d), in_registers ? braced_list(a) : "%rd20", which, more);
            step.behind = {"wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned 0", "bar.sync 0"};
            it.steps.push_back(std::move(step));
        };
        for (const int n : {8, 64, 256}) add(n, false, true, 0, 0, false, false);
        add(32, true, true, 0, 0, false, false);
        add(32, false, false, 0, 0, false, false);
        add(64, false, true, 0, 0, false, true);
        if (!integers) add(32, false, true, 0, 0, true, false);
        if (halves) add(64, false, true, 1, 0, false, false), add(64, false, true, 0, 1, false, false);
        if (sparse && (halves || row.type == Type::tf32)) {  // the other two threads of four have the metadata
            add(32, false, true, 0, 0, false, false, 1);
            add(32, true, true, 0, 0, false, false, 1);
        }
        cases.push_back(std::move(it));
    }
}

// --- mbarrier: each thread has one of its own.
void mbarrier_cases(std::vector<OpcodeCase>& cases, size_t& labels) {
    const HopperOperands one = {{"%r1", Type::u32, hopper_few}, {"%r2", Type::u32, hopper_few}};
    const OpcodeOperand left{"%r10", Type::u32}, ended{"%p9", Type::pred}, odd{"%p8", Type::pred}, even{"%p7", Type::pred};
    const HopperTexts made = {"add.u32 %r2, %r2, 1", "add.u32 %r3, %r1, 5", "mbarrier.init.shared::cta.b64 [%shared], %r3"};
    const HopperTexts told = {
        "mbarrier.pending_count.b64 %r10, %rd10", "mbarrier.test_wait.shared::cta.b64 %p9, [%shared], %rd10",
        "mbarrier.test_wait.parity.shared::cta.b64 %p8, [%shared], 1",
        "mbarrier.test_wait.parity.shared::cta.b64 %p7, [%shared], 0", "mbarrier.inval.shared::cta.b64 [%shared]"};
    OpcodeCase arrive{"mbarrier.arrive", {}}, drop{"mbarrier.arrive_drop", {}}, bytes{"mbarrier.expect_tx", {}, "sm_90a"},
        wait{"mbarrier.wait", {}, "sm_90a"}, copy{"cp.async.mbarrier.arrive", {}};
    for (const std::string_view kind : {"arrive", "arrive_drop"}) {
        OpcodeCase& it = kind == "arrive" ? arrive : drop;
        for (const std::string& text :
             {fmt::format("mbarrier.{}.shared::cta.b64 %rd10, [%shared]", kind),
              fmt::format("mbarrier.{}.release.cta.shared::cta.b64 %rd10, [%shared], %r2", kind),
              fmt::format("mbarrier.{}.noComplete.release.cta.shared::cta.b64 %rd10, [%shared], %r1", kind)}) {
            const bool none = text.find("noComplete") != std::string::npos;
            it.steps.push_back({text, one, {left, ended, odd, even}, made, told});
            if (none) it.steps.back().before.insert(it.steps.back().before.begin(), "max.u32 %r1, %r1, 1");
        }
        // The last arrival ends the phase; of those that dropped out the next one does not wait.
        HopperTexts rest = joined_texts({{"sub.u32 %r3, %r3, %r2", "mbarrier.arrive.shared::cta.b64 _, [%shared], %r3"},
                                         {"mbarrier.arrive.shared::cta.b64 %rd11, [%shared]"},
                                         told});
        it.steps.push_back({fmt::format("mbarrier.{}.shared::cta.b64 %rd10, [%shared], %r2", kind),
                            one,
                            {left, ended, odd, even, {"%r11", Type::u32}},
                            made,
                            {}});
        rest.insert(rest.end() - 1, "mbarrier.pending_count.b64 %r11, %rd11");
        it.steps.back().behind = rest;
    }
    const HopperTexts single = {"mbarrier.init.shared::cta.b64 [%shared], 1"};
    bytes.steps.push_back(
        {"mbarrier.arrive.expect_tx.shared::cta.b64 %rd10, [%shared], 16", one, {left, ended, odd, even}, single, told});
    bytes.steps.push_back({"mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 %rd10, [%shared], 16",
                           one,
                           {left, ended, odd, even},
                           single,
                           joined_texts({{"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%shared], 16"}, told})});
    bytes.steps.push_back({"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%shared], 32",
                           one,
                           {left, ended, odd, even},
                           single,
                           joined_texts({{"mbarrier.arrive.shared::cta.b64 %rd10, [%shared]",
                                          "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%shared], 32"},
                                         told})});
    for (const std::string_view kind : {"test_wait", "try_wait"})
        for (const std::string_view how : {"", ".acquire.cta", ".relaxed.cta"}) {
            const HopperTexts arrived = joined_texts({single, {"mbarrier.arrive.shared::cta.b64 %rd10, [%shared]"}});
            wait.steps.push_back({fmt::format("mbarrier.{}{}.shared::cta.b64 %p9, [%shared], %rd10", kind, how),
                                  one,
                                  {ended},
                                  arrived,
                                  {"mbarrier.inval.shared::cta.b64 [%shared]"}});
            for (const int parity : {0, 1})
                wait.steps.push_back(
                    {fmt::format("mbarrier.{}.parity{}.shared::cta.b64 %p9, [%shared], {}", kind, how, parity),
                     one,
                     {ended},
                     arrived,
                     {"mbarrier.inval.shared::cta.b64 [%shared]"}});
        }
    const HopperOperands words = {{"%rd1", Type::b64}, {"%rd2", Type::b64}},
                         seen = {{"%rd10", Type::b64}, {"%rd11", Type::b64}};
    for (const std::string_view kind : {".noinc", ""})
        copy.steps.push_back(
            {fmt::format("cp.async.mbarrier.arrive{}.shared::cta.b64 [%shared]", kind), words, seen,
             joined_texts({{"st.global.v2.b64 [%global], {%rd1, %rd2}", "mbarrier.init.shared::cta.b64 [%shared], 1",
                            "cp.async.ca.shared.global [%shared+16], [%global], 16"}}),
             joined_texts({kind.empty() ? HopperTexts{"mbarrier.arrive.shared::cta.b64 _, [%shared]"} : HopperTexts{},
                           hopper_wait("%shared", labels),
                           {"ld.shared.v2.b64 {%rd10, %rd11}, [%shared+16]", "mbarrier.inval.shared::cta.b64 [%shared]"}})});
    OpcodeCase copies{"cp.async", {}};
    for (const auto& [level, size] : {std::pair{"ca", 4}, {"ca", 8}, {"ca", 16}, {"cg", 16}})
        for (const int valid : {0, size / 2, size})
            copies.steps.push_back(
                {fmt::format("cp.async.{}.shared.global [%shared], [%global], {}, {}", level, size, valid),
                 words,
                 seen,
                 {"st.global.v2.b64 [%global], {%rd1, %rd2}", "st.shared.v2.b64 [%shared], {%rd2, %rd1}"},
                 {"cp.async.commit_group", "cp.async.wait_group 0", "ld.shared.v2.b64 {%rd10, %rd11}, [%shared]"}});
    for (OpcodeCase* const it : {&arrive, &drop, &bytes, &wait, &copies, &copy}) cases.push_back(std::move(*it));
}

// --- bulk copies: each thread's 16 bytes are a copy of their own.
void bulk_cases(std::vector<OpcodeCase>& cases, size_t& labels) {
    const HopperOperands words = {{"%rd1", Type::b64}, {"%rd2", Type::b64}},
                         seen = {{"%rd10", Type::b64}, {"%rd11", Type::b64}};
    const HopperTexts ready = {"mbarrier.init.shared::cta.b64 [%shared], 1", "fence.mbarrier_init.release.cluster",
                               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%shared], 16", "fence.proxy.async"};
    const HopperTexts read = {"ld.shared.v2.b64 {%rd10, %rd11}, [%shared+16]", "mbarrier.inval.shared::cta.b64 [%shared]"};
    const HopperTexts fill = {"st.global.v2.b64 [%global], {%rd1, %rd2}", "st.shared.v2.b64 [%shared+16], {%rd2, %rd1}"};
    OpcodeCase in{"cp.async.bulk.shared.global", {}, "sm_90a"}, out{"cp.async.bulk.global.shared", {}, "sm_90a"},
        tensor{"cp.async.bulk.tensor", {}, "sm_90a"};
    for (const std::string_view to : {"shared::cluster", "shared::cta"})
        for (const bool hint : {false, true}) {
            HopperTexts before = joined_texts({fill, ready});
            if (hint) before.emplace_back("createpolicy.fractional.L2::evict_first.b64 %rd20, 0.5");
            in.steps.push_back(
                {fmt::format(
                     "cp.async.bulk.{}.global.mbarrier::complete_tx::bytes{} [%shared+16], [%global], 16, [%shared]{}", to,
                     hint ? ".L2::cache_hint" : "", hint ? ", %rd20" : ""),
                 words, seen, before, joined_texts({hopper_wait("%shared", labels), read})});
        }
    in.steps.push_back({"cp.async.bulk.prefetch.L2.global [%global], 16",
                        words,
                        seen,
                        fill,
                        {"ld.global.v2.b64 {%rd10, %rd11}, [%global]"}});
    const HopperTexts done = {"cp.async.bulk.commit_group", "cp.async.bulk.wait_group 0",
                              "ld.global.v2.b64 {%rd10, %rd11}, [%global]"};
    out.steps.push_back({"cp.async.bulk.global.shared::cta.bulk_group [%global], [%shared+16], 16", words, seen,
                         joined_texts({fill, {"fence.proxy.async"}}), done});
    cases.push_back(std::move(in));
    cases.push_back(std::move(out));
    const struct {
        std::string_view operation;
        std::vector<Type> types;
    } rows[] = {{"add", {Type::u32, Type::s32, Type::u64, Type::f32, Type::f64}},
                {"add.noftz", {Type::f16, Type::bf16}},
                {"min", {Type::u32, Type::s32, Type::u64, Type::s64, Type::f16, Type::bf16}},
                {"max", {Type::u32, Type::s32, Type::u64, Type::s64, Type::f16, Type::bf16}},
                {"inc", {Type::u32}},
                {"dec", {Type::u32}},
                {"and", {Type::b32, Type::b64}},
                {"or", {Type::b32, Type::b64}},
                {"xor", {Type::b32, Type::b64}}};
    for (const auto& row : rows)
        for (const Type type : row.types) {
            const bool wide = size_of(type) == 8;
            const Type held = fragment_holder(type);
            const bool real = type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
            const OpcodeDraw draw = real ? hopper_moderate : OpcodeDraw::edges;
            const size_t count = wide ? 2 : 4;
            const HopperOperands here = hopper_registers(1, count, held, draw),
                                 there = hopper_registers(5, count, held, draw), results = hopper_registers(10, count, held);
            OpcodeStep step{
                fmt::format("cp.reduce.async.bulk.global.shared::cta.bulk_group.{}.{} [%global], [%shared+16], 16",
                            row.operation, hopper_suffix(type)),
                here,
                results,
                {fmt::format("st.shared.v{}.b{} [%shared+16], {}", count, wide ? 64 : 32, braced_list(here)),
                 fmt::format("st.global.v{}.b{} [%global], {}", count, wide ? 64 : 32, braced_list(there)),
                 "fence.proxy.async"},
                {done[0], done[1],
                 fmt::format("ld.global.v{}.b{} {}, [%global]", count, wide ? 64 : 32, braced_list(results))}};
            extend_operands(step.inputs, there);
            cases.push_back(
                {fmt::format("cp.reduce.async.bulk.{}.{}", row.operation, hopper_suffix(type)), {step}, "sm_90a"});
        }
    // A box of 8 rows of the block's 16 rows of 64 words, by the tensor maps over the threads' device memory: of 8, 16 or
    // 32 words, swizzled by as many bytes, and of 32 words without a swizzle.
    const struct { int map, words; } boxes[] = {{0, 32}, {1, 8}, {2, 16}, {3, 32}};
    const HopperTexts block_fill = {"bar.sync 0",
                                    "mov.u32 %x, %tid.x",
                                    "setp.eq.u32 %p16, %x, 0",
                                    "st.global.v2.b64 [%global], {%rd1, %rd2}",
                                    "st.global.v2.b64 [%global+16], {%rd2, %rd1}",
                                    "mov.u32 %y, %ctaid.x",
                                    "shl.b32 %y, %y, 4",
                                    "mad.lo.u32 %z, %x, 8, %tiles"};
    for (const auto& box : boxes) {
        const int bytes = 32 * box.words;
        const std::string label = fmt::format("others_{}", labels++);
        HopperTexts before = joined_texts(
            {block_fill,
             {"mov.b64 %rd10, 0", "st.shared.b64 [%z], %rd10", "@%p16 mbarrier.init.shared::cta.b64 [%tiles+1024], 1",
              "fence.mbarrier_init.release.cluster", "fence.proxy.async", "bar.sync 0", fmt::format("@!%p16 bra {}", label),
              fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%tiles+1024], {}", bytes)}});
        tensor.steps.push_back(
            {fmt::format(
                 "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%tiles], [%map{}, {{8, "
                 "%y}}], [%tiles+1024]",
                 box.map),
             words,
             {{"%rd10", Type::b64}},
             before,
             joined_texts(
                 {{label + ": mov.u32 %x, %tid.x"},
                  hopper_wait("%tiles+1024", labels),
                  {"ld.shared.b64 %rd10, [%z]", "bar.sync 0", "@%p16 mbarrier.inval.shared::cta.b64 [%tiles+1024]"}})});
        for (const std::string_view operation : {"", "add", "and", "xor"}) {
            const std::string skip = fmt::format("others_{}", labels++);
            const std::string name = operation.empty() ? "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
                                                       : fmt::format(
                                                             "cp.reduce.async.bulk.tensor.2d.global.shared::cta.{}"
                                                             ".tile.bulk_group",
                                                             operation);
            tensor.steps.push_back({fmt::format("{} [%map{}, {{16, %y}}], [%tiles]", name, box.map),
                                    words,
                                    seen,
                                    joined_texts({block_fill,
                                                  {"st.shared.b64 [%z], %rd2", "fence.proxy.async", "bar.sync 0",
                                                   fmt::format("@!%p16 bra {}", skip)}}),
                                    {"cp.async.bulk.commit_group", "cp.async.bulk.wait_group 0", skip + ": bar.sync 0",
                                     "fence.proxy.async", "ld.global.v2.b64 {%rd10, %rd11}, [%global]"}});
        }
    }
    cases.push_back(std::move(tensor));
}

// --- clusters of two blocks: every thread has a partner in the other one.
void cluster_cases(std::vector<OpcodeCase>& cases, size_t& labels) {
    const HopperOperands words = {{"%rd1", Type::b64}, {"%rd2", Type::b64}},
                         seen = {{"%rd10", Type::b64}, {"%rd11", Type::b64}};
    const HopperTexts meet = {"barrier.cluster.arrive.release.aligned", "barrier.cluster.wait.acquire.aligned"};
    // %y: the partner's %shared.
    const HopperTexts partner = joined_texts(
        {meet, {"mov.u32 %x, %cluster_ctarank", "xor.b32 %x, %x, 1", "mapa.shared::cluster.u32 %y, %shared, %x"}});
    const HopperTexts fill = {"st.shared.v2.b64 [%shared+16], {%rd1, %rd2}"};
    OpcodeCase it{"cluster", {}, "sm_90a", 2};
    it.steps.push_back(
        {"ld.shared::cluster.v2.b64 {%rd10, %rd11}, [%y+16]", words, seen, joined_texts({fill, partner}), meet});
    it.steps.push_back({"st.shared::cluster.v2.b64 [%y+16], {%rd2, %rd1}", words, seen, joined_texts({fill, partner}),
                        joined_texts({meet, {"ld.shared.v2.b64 {%rd10, %rd11}, [%shared+16]"}, meet})});
    it.steps.push_back({"getctarank.shared::cluster.u32 %r10, %y", words, {{"%r10", Type::u32}}, partner, meet});
    it.steps.push_back({"mapa.u64 %rd12, %rd13, %x", words, seen,
                        joined_texts({fill, partner, {"cvt.u64.u32 %rd13, %shared", "cvta.shared.u64 %rd13, %rd13"}}),
                        joined_texts({{"ld.v2.b64 {%rd10, %rd11}, [%rd12+16]"}, meet})});
    for (const std::string_view name :
         {"cluster_ctaid.x", "cluster_nctaid.x", "cluster_ctarank", "cluster_nctarank", "clusterid.x", "nclusterid.x"})
        it.steps.push_back({fmt::format("mov.u32 %r10, %{}", name), {}, {{"%r10", Type::u32}}, {}, {}});
    it.steps.push_back({"mov.pred %p9, %is_explicit_cluster", {}, {{"%p9", Type::pred}}, {}, {}});
    for (const std::string_view how : {".relaxed", ".release"})
        it.steps.push_back(
            {fmt::format("barrier.cluster.arrive{}", how), words, seen, joined_texts({fill, partner}),
             joined_texts({{"barrier.cluster.wait", "ld.shared::cluster.v2.b64 {%rd10, %rd11}, [%y+16]"}, meet})});
    for (const auto& [operation, type] : {std::pair{"add", Type::u32},
                                          {"min", Type::s32},
                                          {"max", Type::u32},
                                          {"xor", Type::b32},
                                          {"exch", Type::b32},
                                          {"add", Type::u64}}) {
        const bool wide = size_of(type) == 8;
        const std::string reg = wide ? "%rd" : "%r";
        it.steps.push_back(
            {fmt::format("atom.shared::cluster.{}.{} {}10, [%y+16], {}2", operation, hopper_suffix(type), reg, reg),
             {{reg + "1", type}, {reg + "2", type}},
             {{reg + "10", type}, {reg + "11", type}},
             joined_texts({{fmt::format("st.shared.b{} [%shared+16], {}1", wide ? 64 : 32, reg)}, partner}),
             joined_texts({meet, {fmt::format("ld.shared.b{} {}11, [%shared+16]", wide ? 64 : 32, reg)}, meet})});
    }
    // What tells the partner's mbarrier.
    const auto told = [&](std::string text, int bytes, const HopperTexts& more = {}) {
        const HopperTexts ready = {"mbarrier.init.shared::cta.b64 [%shared], 1", "fence.mbarrier_init.release.cluster",
                                   fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%shared], {}", bytes),
                                   "fence.proxy.async"};
        it.steps.push_back({std::move(text), words, seen, joined_texts({fill, ready, partner, more}),
                            joined_texts({hopper_wait("%shared", labels),
                                          {"ld.shared.v2.b64 {%rd10, %rd11}, [%shared+16]"},
                                          meet,
                                          {"mbarrier.inval.shared::cta.b64 [%shared]"}})});
    };
    const std::string tells = ".mbarrier::complete_tx::bytes";
    told("st.async.shared::cluster" + tells + ".b64 [%y+16], %rd2, [%y]", 8);
    told("st.async.shared::cluster" + tells + ".v2.b64 [%y+16], {%rd2, %rd1}, [%y]", 16);
    told("st.async.shared::cluster" + tells + ".b32 [%y+16], %r5, [%y]", 4, {"cvt.u32.u64 %r5, %rd2"});
    for (const std::string_view operation :
         {"add.u32", "min.s32", "max.u32", "inc.u32", "dec.u32", "and.b32", "or.b32", "xor.b32"})
        told(fmt::format("red.async.relaxed.cluster.shared::cluster{}.{} [%y+16], %r5, [%y]", tells, operation), 4,
             {"cvt.u32.u64 %r5, %rd2"});
    told("red.async.relaxed.cluster.shared::cluster" + tells + ".add.u64 [%y+16], %rd2, [%y]", 8);
    // Out of 16 bytes of the thread's tile: the partner may not be read from while it is written to.
    const HopperTexts aside = {"mov.u32 %z, %tid.x", "mad.lo.u32 %z, %z, 16, %tiles", "st.shared.v2.b64 [%z], {%rd2, %rd1}",
                               "fence.proxy.async"};
    told("cp.async.bulk.shared::cluster.shared::cta" + tells + " [%y+16], [%z], 16, [%y]", 16, aside);
    for (const std::string_view operation : {"add.u32", "min.s32", "max.u32", "inc.u32", "and.b32", "add.u64"})
        told(fmt::format("cp.reduce.async.bulk.shared::cluster.shared::cta{}.{} [%y+16], [%z], 16, [%y]", tells, operation),
             16, aside);
    cases.push_back(std::move(it));
}

}  // namespace

std::vector<OpcodeCase> hopper_cases() {
    std::vector<OpcodeCase> cases;
    size_t labels = 0;
    wmma_cases(cases);
    wgmma_cases(cases, false);
    wgmma_cases(cases, true);
    mbarrier_cases(cases, labels);
    bulk_cases(cases, labels);
    cluster_cases(cases, labels);
    return cases;
}

}  // namespace lockstep::device
