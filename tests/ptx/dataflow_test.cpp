// What instructions read and write, which definitions reach a place, what is live there, and where pointers come from: of
// small programs, looked at by hand. tests/simt/execute/effects_test.cpp holds the first against what execution really
// changes.
#include "core/ptx/analyse/dataflow.h"

#include <set>

#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace ptx_dataflow_test {

using namespace lockstep;
using namespace lockstep::ptx;

namespace {

// A kernel with parameters p (u64), n (u32), q (u64) and s (16 bytes), behind what stands in the module.
std::shared_ptr<const Program> program_of(const std::string& body, const std::string& module = "") {
    const std::string text = ".version 8.6\n.target sm_90a\n.address_size 64\n" + module +
                             ".visible .entry k(.param .u64 p, .param .u32 n, .param .u64 q, .param .align 8 .b8 s[16])\n{\n"
                             ".reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n"
                             ".reg .f32 %f<20>;\n.reg .b128 %w<3>;\n" +
                             body + "\n}\n";
    const auto parsed = parse(text, "test.ptx");
    if (!parsed.ok()) FAIL(parsed.error().message);
    const auto decoded = decode(parsed.value(), "k");
    if (!decoded.ok()) FAIL(decoded.error().message << ": " << decoded.error().source_line);
    return decoded.value();
}

int32_t reg(const Program& program, const std::string& name, int32_t function = 0) {
    for (const Register& r : program.registers)
        if (r.name == name && r.function == function) return r.offset;
    FAIL("no register " << name);
    return no_operand;
}

std::string name_of(const Program& program, int32_t offset) {
    for (const Register& r : program.registers)
        if (r.offset == offset) return r.name;
    return "?";
}

// "guard %p1, address %rd1, -> %f1": in the order of each_use; a * where it stands in the operand list.
std::string uses(const Program& program, uint32_t pc) {
    constexpr std::string_view roles[] = {"guard ", "address ", "", "-> "};
    std::string text;
    each_use(program.lists, program.instructions[pc], [&](const RegisterUse& use) {
        text += (text.empty() ? "" : ", ") + std::string(roles[static_cast<size_t>(use.role)]) + name_of(program, use.reg) +
                (use.listed ? "*" : "");
    });
    return text;
}

// "global %rd1+8 4r": space, base, offset, bytes of a lane, read or written.
std::string memory(const Program& program, uint32_t pc) {
    std::string text;
    for (const MemoryOperand& m : memory_of(program, program.instructions[pc])) {
        text += (text.empty() ? "" : ", ") + std::string(ptx::name_of(m.space)) + " " +
                (m.base == no_operand ? "" : name_of(program, m.base)) +
                (m.variable >= 0 ? program.variables[static_cast<size_t>(m.variable)].name : "") + "+" +
                std::to_string(m.offset) + " " + std::to_string(m.bytes) + (m.reads ? "r" : "") + (m.writes ? "w" : "");
    }
    return text;
}

// "p+8, n?": parameters and variables by name, with ? where the offset is not known, in braces where it is no address.
std::string origins(const Program& program, std::span<const Origin> all) {
    std::string text;
    for (const Origin& o : all) {
        std::string word = o.from == Origin::From::parameter  ? program.parameters[static_cast<size_t>(o.index)].name
                           : o.from == Origin::From::variable ? program.variables[static_cast<size_t>(o.index)].name
                           : o.from == Origin::From::special  ? "special"
                           : o.from == Origin::From::memory   ? "memory"
                                                              : "unknown";
        if (o.at != 0) word += "." + std::to_string(o.at);
        if (!o.offset)
            word += "?";
        else if (*o.offset != 0)
            word += (*o.offset > 0 ? "+" : "") + std::to_string(*o.offset);
        text += (text.empty() ? "" : ", ") + (o.direct ? word : "(" + word + ")");
    }
    return text;
}

// The pc of the first instruction whose text begins so.
uint32_t at(const Program& program, const std::string& begin) {
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc)
        if (text_of(program, pc).starts_with(begin)) return pc;
    FAIL("no instruction " << begin);
    return 0;
}

}  // namespace

TEST_CASE("the worked example of dataflow.h holds") {
    const auto p = program_of(
        "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
        "@%p1 ld.global.v2.f32 {%f1, %f2}, [%rd3+8]; ret;");
    CHECK(uses(*p, 4) == "guard %p1, address %rd3, -> %f1, -> %f2");
    CHECK(is_conditional(p->instructions[4]));
    CHECK(memory(*p, 4) == "global %rd3+8 8r");
    CHECK(definitions_of(Flow(*p), 4, reg(*p, "%rd3")).pcs == std::vector<uint32_t>{3});
    const Origins of(*p);
    const std::vector<Origin> from = of.of_access(4, memory_of(*p, p->instructions[4])[0]);
    CHECK(origins(*p, from) == "p?, (n?)");
    CHECK(from[0].pc == 0);
    CHECK(from[1].pc == 1);
}

TEST_CASE("registers are found in all operands, those of lists and vectors too, each with its role") {
    const auto p = program_of(
        "st.global.u64 [%rd1], %rd1; add.u32 %r1, %r2, %r2; setp.lt.and.s32 %p1|%p2, %r1, 3, %p3;\n"
        "ld.global.v8.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd2];\n"
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r5},\n"
        "  {%f1, %f2, %f3, %f4};\n"
        "atom.global.cas.b32 %r7, [%rd3+4], %r8, %r9; cp.async.ca.shared.global [%r1], [%rd1+16], 8, %r2;\n"
        "mov.u32 %r3, %tid.x; shfl.sync.up.b32 %r4|%p4, %r5, 1, 0, -1; prefetch.global.L2 [%rd4]; bar.sync 0;\n"
        "mov.u32 %r1, 5; ret;");
    CHECK(uses(*p, 0) == "address %rd1");  // once, though it is stored too
    CHECK(uses(*p, 1) == "%r2, -> %r1");
    CHECK(uses(*p, 2) == "%r1, %p3, -> %p1, -> %p2");
    CHECK(uses(*p, 3) == "address %rd2, -> %f1*, -> %f2*, -> %f3*, -> %f4*, -> %f5*, -> %f6*, -> %f7*, -> %f8*");
    CHECK(uses(*p, 4) == "-> %f1*, -> %f2*, -> %f3*, -> %f4*, %r1*, %r2*, %r3*, %r4*, %r5*, %r5*, %f1*, %f2*, %f3*, %f4*");
    CHECK(uses(*p, 5) == "address %rd3, %r8, %r9, -> %r7");
    CHECK(uses(*p, 6) == "%r1*, %rd1*, %r2*");
    CHECK(uses(*p, 7) == "-> %r3");
    CHECK(uses(*p, 8) == "%r5, -> %r4, -> %p4");
    CHECK(uses(*p, 9) == "address %rd4");
    CHECK(uses(*p, 10).empty());
    CHECK(only_result(p->instructions[1]) == reg(*p, "%r1"));
    CHECK(only_result(p->instructions[2]) == no_operand);
    CHECK(only_result(p->instructions[0]) == no_operand);
    CHECK(reads_registers(p->instructions[1]));
    CHECK_FALSE(reads_registers(p->instructions[11]));
    CHECK(reads(*p, p->instructions[4], reg(*p, "%r5")));
    CHECK_FALSE(writes(*p, p->instructions[4], reg(*p, "%r5")));
    CHECK(writes(*p, p->instructions[4], reg(*p, "%f1")));
}

TEST_CASE("a register's words are counted by its type") {
    const auto p = program_of(
        "mov.b32 %r1, 1; mov.b64 %rd1, 2; cvt.u16.u32 %h1, %r1; setp.eq.u32 %p1, %r1, 0;\n"
        "ld.global.b128 %w1, [%rd1]; ret;");
    const Function& k = p->functions[0];
    CHECK(words_of(k, reg(*p, "%r1")) == 1);
    CHECK(words_of(k, reg(*p, "%rd1")) == 2);
    CHECK(words_of(k, reg(*p, "%h1")) == 1);
    CHECK(words_of(k, reg(*p, "%p1")) == 0);
    CHECK(words_of(k, reg(*p, "%w1")) == 4);
}

TEST_CASE("memory operands say space, base, offset and size, those of asynchronous instructions too") {
    const auto p = program_of(
        "ld.shared.u16 %h1, [%r1+-6]; st.v4.f32 [%rd1], {%f1, %f2, %f3, %f4}; red.global.add.u32 [counter+4], %r1;\n"
        "cp.async.ca.shared.global [%r1+8], [%rd1+16], 8; mbarrier.init.shared.b64 [%r2], 1;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2], 64, [%r3+8];\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd3, {%r4, %r5}], [%r6];\n"
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd3, {%r4}], [%r1];\n"
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r8]; ld.param.u64 %rd4, [q];\n"
        "mbarrier.pending_count.b64 %r1, %rd1; add.u32 %r1, %r1, %r1; cp.async.wait_all; ret;",
        ".global .align 4 .b8 counter[16];\n");
    CHECK(memory(*p, 0) == "shared %r1+-6 2r");
    CHECK(memory(*p, 1) == "generic %rd1+0 16w");
    CHECK(memory(*p, 2) == "global counter+4 4rw");
    CHECK(memory(*p, 3) == "shared %r1+8 8w, global %rd1+16 8r");
    CHECK(memory(*p, 4) == "shared %r2+0 8rw");
    CHECK(memory(*p, 5) == "shared %r1+0 0w, global %rd2+0 0r, shared %r3+8 8rw");
    CHECK(memory(*p, 6) == "shared %r1+0 0w, generic %rd3+0 128r, shared %r6+0 8rw");
    CHECK(memory(*p, 7) == "shared %r1+0 0r, generic %rd3+0 128r");
    CHECK(memory(*p, 8) == "shared %r8+0 0r");
    CHECK(memory(*p, 9) == "param +16 8r");
    for (const uint32_t pc : {10u, 11u, 12u}) CHECK(memory(*p, pc).empty());
}

TEST_CASE("definitions reach along all paths, through guards and around loops") {
    const auto p = program_of(
        "mov.u32 %r1, 1;\n"               // 0
        "mov.u32 %r2, 0;\n"               // 1
        "loop: add.u32 %r3, %r1, %r2;\n"  // 2
        "@%p1 mov.u32 %r1, 2;\n"          // 3
        "add.u32 %r2, %r1, %r4;\n"        // 4
        "setp.lt.u32 %p2, %r2, 9;\n"      // 5
        "@%p2 bra loop;\n"                // 6
        "@%p3 bra skip;\n"                // 7
        "mov.u32 %r2, 7;\n"               // 8
        "skip: mov.u32 %r5, %r2; ret;");  // 9
    const Flow flow(*p);
    using Pcs = std::vector<uint32_t>;
    const auto of = [&](uint32_t pc, const char* name) { return definitions_of(flow, pc, reg(*p, name)); };
    CHECK(of(2, "%r1").pcs == Pcs{0, 3});
    CHECK_FALSE(of(2, "%r1").from_entry);
    CHECK(of(2, "%r2").pcs == Pcs{1, 4});
    CHECK(of(4, "%r1").pcs == Pcs{0, 3});
    CHECK(of(5, "%r2").pcs == Pcs{4});
    CHECK(of(9, "%r2").pcs == Pcs{4, 8});
    CHECK(of(4, "%r4").pcs.empty());
    CHECK(of(4, "%r4").from_entry);
    CHECK(of(0, "%r3").pcs.empty());
    CHECK(of(9, "%r3").pcs == Pcs{2});
}

TEST_CASE("what is live is what a later instruction reads before it is written again") {
    const auto p = program_of(
        "mov.u32 %r1, 1;\n"               // 0
        "mov.u32 %r2, 0;\n"               // 1
        "loop: add.u32 %r2, %r2, %r1;\n"  // 2
        "mov.u32 %r3, %r2;\n"             // 3
        "@%p1 mov.u32 %r3, %r4;\n"        // 4: the other lanes keep it
        "st.shared.u32 [%r5], %r3;\n"     // 5
        "@%p2 bra loop; ret;");           // 6
    const Liveness live(p->instructions, p->lists, p->functions[0].begin, p->functions[0].end);
    REQUIRE(live.known());
    const auto names = [&](uint32_t pc) {
        std::set<std::string> found;
        for (const int32_t offset : live.before(pc)) found.insert(name_of(*p, offset));
        return found;
    };
    using Names = std::set<std::string>;
    CHECK(names(7) == Names{});
    CHECK(names(5) == Names{"%r1", "%r2", "%r3", "%r4", "%r5", "%p1", "%p2"});
    CHECK(names(4) == Names{"%r1", "%r2", "%r3", "%r4", "%r5", "%p1", "%p2"});
    CHECK(names(3) == Names{"%r1", "%r2", "%r4", "%r5", "%p1", "%p2"});
    CHECK(names(1) == Names{"%r1", "%r4", "%r5", "%p1", "%p2"});
    CHECK(names(0) == Names{"%r4", "%r5", "%p1", "%p2"});
}

TEST_CASE("origins follow a pointer through sums, copies and conversions, with its offset while that is one number") {
    const auto p = program_of(
        "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 24; sub.s64 %rd4, %rd3, 8;\n"
        "mov.u32 %r1, %tid.x; mul.wide.u32 %rd5, %r1, 8; add.s64 %rd6, %rd4, %rd5; mov.u64 %rd7, counter+4;\n"
        "ld.param.u64 %rd8, [q]; selp.b64 %rd9, %rd4, %rd8, %p1; ld.param.v2.u64 {%rd10, %rd11}, [s];\n"
        "ld.global.u64 %rd12, [%rd6]; ld.global.u32 %r2, [%rd6]; mov.u64 %rd13, %rd1; loop: add.s64 %rd13, %rd13, 4;\n"
        "@%p2 bra loop; mad.lo.s64 %rd14, %rd5, 2, %rd8; shl.b64 %rd15, %rd8, 1; @%p3 mov.u64 %rd16, 5;\n"
        "atom.global.exch.b64 %rd17, [%rd8], %rd1; mov.b64 {%r3, %r4}, %rd8; mov.b64 %rd18, {%r3, %r4}; ret;",
        ".global .align 8 .b8 counter[16];\n");
    const Origins all(*p);
    const auto of = [&](const char* name) { return origins(*p, all.of(0, reg(*p, name))); };
    CHECK(of("%rd1") == "p");
    CHECK(of("%rd2") == "p");
    CHECK(of("%rd3") == "p+24");
    CHECK(of("%rd4") == "p+16");
    CHECK(of("%r1") == "special");
    CHECK(of("%rd5") == "(special?)");
    CHECK(of("%rd6") == "p?, (special?)");
    CHECK(of("%rd7") == "counter+4");
    CHECK(of("%rd9") == "p+16, q");
    CHECK(of("%rd10") == "s");
    CHECK(of("%rd11") == "s.8");
    CHECK(of("%rd12") == "memory?");
    CHECK(of("%r2").empty());
    CHECK(of("%rd13") == "p?");
    CHECK(of("%rd14") == "(special?), q?");
    CHECK(of("%rd15") == "(q?)");
    CHECK(of("%rd16").empty());  // a guard makes no value
    CHECK(of("%rd17") == "memory?");
    CHECK(of("%rd18") == "q?");
    CHECK(all.of(0, reg(*p, "%rd4"))[0].pc == at(*p, "ld.param.u64 %rd1"));
}

TEST_CASE("the pointer of an access is the one parameter or variable that it can point into") {
    const auto p = program_of(
        "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r1, [n]; cvta.to.global.u64 %rd3, %rd1;\n"
        "cvt.u64.u32 %rd4, %r1; add.s64 %rd5, %rd3, %rd4; ld.global.u8 %r2, [%rd5+3];\n"  // n is too short
        "add.s64 %rd6, %rd3, %rd2; ld.global.u8 %r3, [%rd6];\n"                           // p is marked by cvta, q is not
        "ld.global.u64 %rd7, [%rd3+8]; ld.global.u8 %r4, [%rd7];\n"                       // from memory: any
        "ld.global.u8 %r5, [counter+5]; cvta.to.global.u64 %rd8, %rd2; ld.global.u8 %r6, [%rd6+1];\n"  // p and q
        "ret;",
        ".global .align 8 .b8 counter[16];\n");
    const Origins all(*p);
    const auto of = [&](const std::string& begin) {
        const uint32_t pc = at(*p, begin);
        const auto found = all.pointer_of(pc, memory_of(*p, p->instructions[pc]).at(0));
        return found ? origins(*p, std::span<const Origin>(&*found, 1)) : "none";
    };
    CHECK(of("ld.global.u8 %r2") == "p?");
    CHECK(of("ld.global.u64 %rd7") == "p+8");
    CHECK(of("ld.global.u8 %r4") == "none");
    CHECK(of("ld.global.u8 %r5") == "counter+5");
    CHECK(of("ld.global.u8 %r3") == "none");  // what marks q stands further down, and counts all the same
}

TEST_CASE("registers of two functions at one offset are two registers, and calls pass origins in them") {
    const std::string callee =
        ".func (.reg .b64 out) shifted(.reg .b64 in) {\n.reg .b64 %x<3>;\nadd.s64 %x1, in, 8; mov.u64 out, %x1; ret;\n}\n";
    const auto p = program_of(
        "ld.param.u64 %rd1, [p]; call (%rd2), shifted, (%rd1); call (%rd3), shifted, (%rd2); ld.param.u64 %rd4, [q]; ret;",
        callee);
    REQUIRE(p->functions.size() == 2);
    const Origins all(*p);
    CHECK(origins(*p, all.of(0, reg(*p, "%rd1"))) == "p");
    CHECK(origins(*p, all.of(0, reg(*p, "%rd4"))) == "q");
    const uint32_t inside = p->functions[1].begin;
    CHECK(origins(*p, all.of(inside, reg(*p, "in", 1))) == "p?");  // given p, and again what it made of it
    CHECK(origins(*p, all.of(0, reg(*p, "%rd3"))) == "p?");
    CHECK(Flow(*p).is_entry[Flow(*p).block_of[inside]]);
}

TEST_CASE("a value of too many origins, or passed through a pointer to a function, may come from anywhere") {
    std::string body = "mov.u64 %rd1, 0;\n", module;
    for (int k = 0; k < 70; ++k) {
        module += ".global .align 8 .b8 v" + std::to_string(k) + "[8];\n";
        body += "mov.u64 %rd2, v" + std::to_string(k) + "; or.b64 %rd1, %rd1, %rd2;\n";
    }
    const auto many = program_of(body + "ret;", module);
    CHECK(origins(*many, Origins(*many).of(0, reg(*many, "%rd1"))) == "unknown?");
    const auto pointer = program_of(
        "prototype: .callprototype (.reg .b64 _) _ (.reg .b64 _);\nmov.u64 %rd1, twice; ld.param.u64 %rd2, [p];\n"
        "call (%rd3), %rd1, (%rd2), prototype; ret;",
        ".func (.reg .b64 out) twice(.reg .b64 in) { add.s64 out, in, in; ret; }\n");
    const Origins all(*pointer);
    CHECK(origins(*pointer, all.of(0, reg(*pointer, "%rd3"))) == "unknown?");
    CHECK(origins(*pointer, all.of(pointer->functions[1].begin, reg(*pointer, "in", 1))) == "unknown?");
}

}  // namespace ptx_dataflow_test
