// What is not a function of one lane's registers: packing, memory, atomics, shuffles and votes, matrices. Shapes of matrices
// are those of the table's rows; the registers of a fragment follow from the shape: elements * bits / 32 lanes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "app/silicon/opcodes/opcode_cases.h"
#include "core/ptx/opcodes/opcode_text.h"
#include "core/ptx/parse/spelling.h"

namespace lockstep::device {
namespace {

using ptx::Type;
using OpcodeSteps = std::vector<OpcodeStep>;
constexpr OpcodeDraw few_values = OpcodeDraw::few, moderate_values = OpcodeDraw::moderate;

std::string_view type_suffix(Type t) {
    return ptx::name_of(t);
}
std::string case_register(Type t, size_t number) {
    return ptx::opcode_text::register_name(std::min<size_t>(ptx::opcode_text::lane_bytes(t), 8), number);
}

void packing_cases(std::vector<OpcodeCase>& cases) {
    OpcodeCase pack{"mov.pack", {}}, unpack{"mov.unpack", {}};
    const struct {
        Type whole, part;
        size_t parts;
    } rows[] = {{Type::b32, Type::b16, 2}, {Type::b64, Type::b32, 2}, {Type::b64, Type::b16, 4}};
    for (const auto& row : rows) {
        std::vector<OpcodeOperand> parts;
        std::string list;
        for (size_t i = 0; i < row.parts; ++i) {
            parts.push_back({case_register(row.part, i + 1), row.part});
            list += (i ? ", " : "") + parts.back().reg;
        }
        const OpcodeOperand whole{case_register(row.whole, 0), row.whole};
        pack.steps.push_back(
            {fmt::format("mov.{} {}, {{{}}}", type_suffix(row.whole), whole.reg, list), parts, {whole}, {}, {}});
        unpack.steps.push_back(
            {fmt::format("mov.{} {{{}}}, {}", type_suffix(row.whole), list, whole.reg), {whole}, parts, {}, {}});
    }
    cases.push_back(std::move(pack));
    cases.push_back(std::move(unpack));
}

// Loads of every type from what was stored as 64 bits, in global and in shared memory; vectors of 2 and 4.
void memory_cases(std::vector<OpcodeCase>& cases) {
    static constexpr Type types[] = {Type::u8,  Type::s8,  Type::b8,  Type::u16, Type::s16, Type::b16, Type::u32,
                                     Type::s32, Type::b32, Type::f32, Type::u64, Type::s64, Type::b64, Type::f64};
    for (const auto& [space, at] : {std::pair{"global", "%global"}, {"shared", "%shared"}, {"local", "%local"}}) {
        if (std::string_view(space) == "local") continue;  // the frame has none
        for (const Type type : types) {
            OpcodeCase load{fmt::format("ld.{}.{}", space, type_suffix(type)), {}},
                store{fmt::format("st.{}.{}", space, type_suffix(type)), {}};
            const OpcodeOperand in{"%rd1", Type::b64}, more{"%rd2", Type::b64};
            const OpcodeOperand out{case_register(type, 0), size_of(type) == 1 ? Type::b16 : type};
            const std::vector<std::string> fill = {fmt::format("st.{}.b64 [{}], %rd1", space, at),
                                                   fmt::format("st.{}.b64 [{}+8], %rd2", space, at)};
            const std::vector<std::string> read = {fmt::format("ld.{}.b64 %rd10, [{}]", space, at),
                                                   fmt::format("ld.{}.b64 %rd11, [{}+8]", space, at)};
            const std::vector<OpcodeOperand> both = {{"%rd10", Type::b64}, {"%rd11", Type::b64}};
            for (const std::string_view order : {"", ".volatile", ".relaxed.gpu"}) {
                load.steps.push_back({fmt::format("ld{}.{}.{} {}, [{}]", order, space, type_suffix(type), out.reg, at),
                                      {in, more},
                                      {out},
                                      fill,
                                      {}});
                const OpcodeOperand value{case_register(type, 3), type};
                store.steps.push_back({fmt::format("st{}.{}.{} [{}], {}", order, space, type_suffix(type), at, value.reg),
                                       {in, more, value},
                                       both,
                                       fill,
                                       read});
            }
            for (const size_t lanes : {size_t{2}, size_t{4}}) {
                if (lanes * size_of(type) > 16) continue;
                std::string list;
                std::vector<OpcodeOperand> outs, ins = {in, more};
                for (size_t i = 0; i < lanes; ++i) {
                    const std::string reg = case_register(type, 4 + i);
                    list += (i ? ", " : "") + reg;
                    outs.push_back({reg, out.type});
                    ins.push_back({reg, type});
                }
                load.steps.push_back({fmt::format("ld.{}.v{}.{} {{{}}}, [{}]", space, lanes, type_suffix(type), list, at),
                                      {in, more},
                                      outs,
                                      fill,
                                      {}});
                store.steps.push_back({fmt::format("st.{}.v{}.{} [{}], {{{}}}", space, lanes, type_suffix(type), at, list),
                                       ins, both, fill, read});
            }
            cases.push_back(std::move(load));
            cases.push_back(std::move(store));
        }
    }
}

// Each thread on a word of its own: the answer depends on no order.
void atomic_cases(std::vector<OpcodeCase>& cases) {
    const struct {
        std::string_view operation;
        std::vector<Type> types;
    } rows[] = {{"add", {Type::u32, Type::s32, Type::u64, Type::f32, Type::f64}},
                {"min", {Type::u32, Type::s32, Type::u64, Type::s64}},
                {"max", {Type::u32, Type::s32, Type::u64, Type::s64}},
                {"inc", {Type::u32}},
                {"dec", {Type::u32}},
                {"and", {Type::b32, Type::b64}},
                {"or", {Type::b32, Type::b64}},
                {"xor", {Type::b32, Type::b64}},
                {"exch", {Type::b32, Type::b64}},
                {"cas", {Type::b16, Type::b32, Type::b64}},
                {"add.noftz", {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2}}};
    for (const auto& row : rows)
        for (const Type type : row.types) {
            OpcodeCase atom{fmt::format("atom.{}.{}", row.operation, type_suffix(type)), {}},
                red{fmt::format("red.{}.{}", row.operation, type_suffix(type)), {}};
            const size_t bytes = size_of(type);
            const OpcodeOperand before{case_register(type, 1), type}, b{case_register(type, 2), type},
                c{case_register(type, 3), type}, d{case_register(type, 0), type}, after{case_register(type, 10), type};
            for (const auto& [space, at] : {std::pair{"global", "%global"}, {"shared", "%shared"}}) {
                const std::vector<std::string> fill = {fmt::format("st.{}.b{} [{}], {}", space, 8 * bytes, at, before.reg)};
                const std::vector<std::string> read = {fmt::format("ld.{}.b{} {}, [{}]", space, 8 * bytes, after.reg, at)};
                const bool cas = row.operation == "cas";
                std::vector<OpcodeOperand> inputs = {before, b};
                if (cas) inputs.push_back(c);
                atom.steps.push_back({fmt::format("atom.{}.{}.{} {}, [{}], {}{}", space, row.operation, type_suffix(type),
                                                  d.reg, at, b.reg, cas ? ", " + c.reg : ""),
                                      inputs,
                                      {d, after},
                                      fill,
                                      read});
                if (cas)  // half of them with what is there
                    atom.steps.push_back({fmt::format("atom.{}.{}.{} {}, [{}], {}, {}", space, row.operation,
                                                      type_suffix(type), d.reg, at, before.reg, c.reg),
                                          inputs,
                                          {d, after},
                                          fill,
                                          read});
                if (!cas && row.operation != "exch")
                    red.steps.push_back(
                        {fmt::format("red.{}.{}.{} [{}], {}", space, row.operation, type_suffix(type), at, b.reg),
                         inputs,
                         {after},
                         fill,
                         read});
            }
            cases.push_back(std::move(atom));
            if (!red.steps.empty()) cases.push_back(std::move(red));
        }
}

void lane_crossing_cases(std::vector<OpcodeCase>& cases) {
    const auto add = [&](std::string name, OpcodeSteps steps) { cases.push_back({std::move(name), std::move(steps)}); };
    const OpcodeOperand a{"%r1", Type::b32}, d{"%r0", Type::b32}, p{"%p1", Type::pred}, q{"%p9", Type::pred},
        few_a{"%r1", Type::b32, few_values}, few_wide{"%rd1", Type::b64, few_values};
    for (const std::string_view mode : {"up", "down", "bfly", "idx"}) {
        OpcodeSteps steps;
        for (const uint32_t segment : {0u, 16u, 24u, 28u})  // of 32, 16, 8 and 4 lanes
            steps.push_back({fmt::format("shfl.sync.{}.b32 %r0|%p9, %r1, %r2, {}, 0xffffffff", mode,
                                         segment << 8 | (mode == "up" ? 0 : 31)),
                             {a, {"%r2", Type::b32}},
                             {d, q},
                             {"and.b32 %r2, %r2, 31"},
                             {}});
        add(fmt::format("shfl.{}", mode), std::move(steps));
    }
    OpcodeSteps votes;
    for (const std::string_view mode : {"all", "any", "uni"})
        for (const std::string_view negated : {"", "!"})
            votes.push_back({fmt::format("vote.sync.{}.pred %p2, {}%p1, 0xffffffff", mode, negated),
                             {p},
                             {{"%p2", Type::pred}},
                             {},
                             {}});
    votes.push_back({"vote.sync.ballot.b32 %r0, %p1, 0xffffffff", {p}, {d}, {}, {}});
    votes.push_back({"activemask.b32 %r0", {}, {d}, {}, {}});
    votes.push_back({"elect.sync %r0|%p9, 0xffffffff", {}, {d, q}, {}, {}});
    add("vote", std::move(votes));
    add("match", {{"match.any.sync.b32 %r0, %r1, 0xffffffff", {few_a}, {d}, {}, {}},
                  {"match.all.sync.b32 %r0|%p9, %r1, 0xffffffff", {few_a}, {d, q}, {}, {}},
                  {"match.any.sync.b64 %r0, %rd1, 0xffffffff", {few_wide}, {d}, {}, {}},
                  {"match.all.sync.b64 %r0|%p9, %rd1, 0xffffffff", {few_wide}, {d, q}, {}, {}}});
    OpcodeSteps sums;
    for (const std::string_view operation :
         {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"})
        sums.push_back({fmt::format("redux.sync.{} %r0, %r1, 0xffffffff", operation), {a}, {d}, {}, {}});
    add("redux", std::move(sums));
    OpcodeSteps specials;
    for (const std::string_view name :
         {"tid.x", "tid.y", "ntid.x", "ntid.y", "ctaid.x", "ctaid.y", "nctaid.y", "laneid", "warpid", "lanemask_eq",
          "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "cluster_ctaid.x", "cluster_nctaid.x",
          "cluster_ctarank", "cluster_nctarank", "is_explicit_cluster"}) {
        const bool flag = name == "is_explicit_cluster";
        specials.push_back({fmt::format("mov.{} {}, %{}", flag ? "pred" : "u32", flag ? "%p2" : "%r0", name),
                            {},
                            {flag ? OpcodeOperand{"%p2", Type::pred} : d},
                            {},
                            {}});
    }
    add("special registers", std::move(specials));
    OpcodeSteps bars;
    bars.push_back({"barrier.red.popc.aligned.u32 %r0, 0, %p1", {p}, {d}, {}, {}});
    for (const std::string_view mode : {"and", "or"})
        bars.push_back({fmt::format("barrier.red.{}.aligned.pred %p2, 0, %p1", mode), {p}, {{"%p2", Type::pred}}, {}, {}});
    add("barrier.red", std::move(bars));
    // Tiles of 8 x 8 halves: each lane's row of 16 bytes.
    OpcodeSteps tiles;
    const std::vector<std::string> rows = {
        "mov.u32 %x, %tid.x",      "and.b32 %x, %x, 31",    "mov.u32 %z, %tid.x",
        "sub.u32 %z, %z, %x",      "mul.lo.u32 %z, %z, 32", "mad.lo.u32 %z, %x, 16, %z",
        "mov.u32 %y, scratch",     "add.u32 %z, %z, %y",    "st.shared.v4.b32 [%z], {%r1, %r2, %r3, %r4}",
        "bar.warp.sync 0xffffffff"};
    const std::vector<OpcodeOperand> four = {{"%r1", Type::b32}, {"%r2", Type::b32}, {"%r3", Type::b32}, {"%r4", Type::b32}};
    for (const auto& [count, list] : {std::pair{1, "%r10"}, {2, "%r10, %r11"}, {4, "%r10, %r11, %r12, %r13"}})
        for (const std::string_view turned : {"", ".trans"}) {
            std::vector<OpcodeOperand> outputs;
            for (int i = 0; i < count; ++i) outputs.push_back({fmt::format("%r1{}", i), Type::b32});
            tiles.push_back({fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {{{}}}, [%z]", count, turned, list),
                             four,
                             outputs,
                             rows,
                             {"bar.warp.sync 0xffffffff"}});
        }
    add("ldmatrix", std::move(tiles));
    OpcodeSteps stores;
    for (const auto& [count, list] : {std::pair{1, "%r5"}, {2, "%r5, %r6"}, {4, "%r5, %r6, %r7, %r8"}})
        for (const std::string_view turned : {"", ".trans"}) {
            std::vector<OpcodeOperand> inputs = four;
            for (int i = 5; i < 9; ++i) inputs.push_back({fmt::format("%r{}", i), Type::b32});
            stores.push_back({fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [%z], {{{}}}", count, turned, list),
                              inputs,
                              {{"%r10", Type::b32}, {"%r11", Type::b32}, {"%r12", Type::b32}, {"%r13", Type::b32}},
                              rows,
                              {"bar.warp.sync 0xffffffff", "ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%z]",
                               "bar.warp.sync 0xffffffff"}});
        }
    add("stmatrix", std::move(stores));
    add("movmatrix", {{"movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1", {a}, {d}, {}, {}}});
}

// --- matrices -------------------------------------------------------------------------------------------------------------

struct MatrixShape {
    int m = 0, n = 0, k = 0;
};
MatrixShape matrix_shape_in(std::string_view modifier) {  // "m16n8k16"
    MatrixShape shape;
    const char* at = modifier.data();
    const char* const end = at + modifier.size();
    for (int* const to : {&shape.m, &shape.n, &shape.k}) {
        if (at == end) return {};
        const auto [next, error] = std::from_chars(at + 1, end, *to);
        if (error != std::errc()) return {};
        at = next;
    }
    return shape;
}
size_t matrix_bits(Type t) {
    return t == Type::b1                                                          ? 1
           : t == Type::u4 || t == Type::s4                                       ? 4
           : t == Type::u8 || t == Type::s8 || t == Type::e4m3 || t == Type::e5m2 ? 8
           : t == Type::f16 || t == Type::bf16                                    ? 16
           : t == Type::f64                                                       ? 64
                                                                                  : 32;
}
// What a register of a fragment of `t` holds.
Type fragment_type(Type t) {
    return t == Type::f16                                                          ? Type::f16x2
           : t == Type::bf16                                                       ? Type::bf16x2
           : t == Type::e4m3                                                       ? Type::e4m3x2
           : t == Type::e5m2                                                       ? Type::e5m2x2
           : t == Type::f64 || t == Type::f32 || t == Type::tf32 || t == Type::s32 ? t
                                                                                   : Type::b32;
}

void matrix_cases(std::vector<OpcodeCase>& cases) {
    std::map<std::string, size_t> places;
    for (const ptx::Opcode& row : ptx::opcodes()) {
        if (row.kind != ptx::Kind::matrix || row.name != "mma") continue;
        for (const ptx::Form& form : row.forms)
            for (const std::string& spelling : ptx::opcode_text::spellings(form.pattern)) {
                const auto modifiers = ptx::modifiers_of(spelling);
                MatrixShape shape;
                std::vector<Type> types;
                bool sparse = false;
                for (const std::string_view modifier : modifiers) {
                    if (modifier.starts_with(".m") && matrix_shape_in(modifier.substr(1)).k)
                        shape = matrix_shape_in(modifier.substr(1));
                    if (const Type t = ptx::type_named(modifier); t != Type::none) types.push_back(t);
                    sparse = sparse || modifier.starts_with(".sp");
                }
                if (shape.k == 0 || types.size() != 4) continue;
                const bool quads = shape.m == 8 && shape.k == 4 && types[0] != Type::f64;  // Volta's: four products at once
                OpcodeStep step;
                size_t number = 1;
                const auto fragment = [&](Type t, int elements, bool input) {
                    const size_t count = static_cast<size_t>(elements) * (quads ? 4 : 1) * matrix_bits(t) /
                                         (matrix_bits(t) == 64 ? 64 : 32) / 32;
                    std::string list;
                    for (size_t i = 0; i < count; ++i) {
                        const OpcodeOperand operand{case_register(t == Type::f64 ? Type::f64 : Type::b32, number++),
                                                    fragment_type(t), moderate_values};
                        (input ? step.inputs : step.outputs).push_back(operand);
                        list += (i ? ", " : "") + operand.reg;
                    }
                    return "{" + list + "}";
                };
                const std::string d = fragment(types[0], shape.m * shape.n, false),
                                  a = fragment(types[1], shape.m * shape.k / (sparse ? 2 : 1), true),
                                  b = fragment(types[2], shape.k * shape.n, true),
                                  c = fragment(types[3], shape.m * shape.n, true);
                step.text = fmt::format("mma{} {}, {}, {}, {}", spelling, d, a, b, c);
                if (sparse) {
                    const OpcodeOperand metadata{case_register(Type::b32, number++),
                                                 types[1] == Type::tf32 ? Type::tf32 : Type::b32, OpcodeDraw::metadata};
                    step.inputs.push_back(metadata);
                    step.text += fmt::format(", {}, 0", metadata.reg);
                }
                const std::string name =
                    fmt::format("mma{}.m{}n{}k{}.{}.{}.{}", sparse ? ".sp" : "", shape.m, shape.n, shape.k,
                                type_suffix(types[0]), type_suffix(types[1]), type_suffix(types[2]));
                const auto [place, added] = places.try_emplace(name, cases.size());
                if (added) cases.push_back({name, {}});
                cases[place->second].steps.push_back(std::move(step));
            }
    }
}

}  // namespace

std::vector<OpcodeCase> warp_cases() {
    std::vector<OpcodeCase> cases;
    packing_cases(cases);
    memory_cases(cases);
    atomic_cases(cases);
    lane_crossing_cases(cases);
    matrix_cases(cases);
    return cases;
}

}  // namespace lockstep::device
