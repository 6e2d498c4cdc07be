// Launches with packed registers against those with a register for each value: nothing that a launch gives may tell.
#include "core/model/launch/packed.h"

#include <fmt/format.h>

#include <cstring>

#include "core/base/rng.h"
#include "core/ptx/analyse/packing.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/side_by_side.h"
#include "tests/model/support.h"

namespace model_packed_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

constexpr uint32_t threads = 96, blocks = 5, words = 8;

// A value for each register, as compilers have it, of all widths and under guards, in branches and loops that lanes take
// apart. Every value may be read at any later place of its branch; some are read before they are written.
class Chains {
  public:
    explicit Chains(uint64_t seed) : rng_(seed) { statements(0, 25); }

    std::string text() const {
        return fmt::format(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{{
    .reg .pred %p<{0}>;
    .reg .b16 %h<{0}>;
    .reg .b32 %r<{0}>;
    .reg .b64 %rd<{0}>;
    .reg .b32 %t<9>;
    .reg .b64 %o<9>;
    .shared .align 16 .b8 buffer[{1}];
    mov.u32 %t0, %tid.x;
    mov.u32 %t1, %ctaid.x;
    mad.lo.s32 %t2, %t1, {2}, %t0;
    mul.wide.u32 %o1, %t2, {3};
    ld.param.u64 %o0, [out];
    add.s64 %o0, %o0, %o1;
    ld.param.u64 %o2, [in];
    add.s64 %o2, %o2, %o1;
    mov.u32 %t3, buffer;
    mad.lo.s32 %t3, %t0, 16, %t3;
{4}    ret;
}}
)",
                           next_ + 1, threads * 16, threads, words * 4, body_);
    }

  private:
    uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng_.below(n)); }
    uint32_t any() { return below(next_ + 1); }  // a register that was written, or one that was not
    uint32_t fresh() { return below(8) == 0 ? any() : ++next_; }
    void line(const std::string& text) { body_ += "    " + text + ";\n"; }
    std::string guard() { return below(4) == 0 ? fmt::format("@{}%p{} ", below(2) ? "!" : "", any()) : ""; }

    void statements(int depth, int count) {
        for (int k = 0; k < count; ++k) statement(depth);
    }
    void statement(int depth) {
        const uint32_t a = any(), b = any(), d = fresh(), other = any(), c = other != d ? other : d == 0 ? 1 : 0;
        switch (below(depth < 3 ? 15 : 13)) {
            case 0:
                return line(fmt::format("{}mad.lo.s32 %r{}, %r{}, %r{}, %t0", guard(), d, a, b));
            case 1:
                return line(fmt::format("{}xor.b32 %r{}, %r{}, %t{}", guard(), d, a, below(3)));
            case 2:
                return line(fmt::format("{}mul.wide.u32 %rd{}, %r{}, %r{}", guard(), d, a, b));
            case 3:
                return line(fmt::format("{}add.s64 %rd{}, %rd{}, %rd{}", guard(), d, a, b));
            case 4:
                return line(fmt::format("{}cvt.u32.u64 %r{}, %rd{}", guard(), d, a));
            case 5:
                return line(fmt::format("{}setp.lt.s32 %p{}|%p{}, %r{}, %r{}", guard(), d, c, a, b));
            case 6:
                return line(fmt::format("{}selp.b32 %r{}, %r{}, %t0, %p{}", guard(), d, a, b));
            case 7:
                return line(fmt::format("{}cvt.u16.u32 %h{}, %r{}", guard(), d, a));
            case 8:
                return line(fmt::format("{}cvt.u32.u16 %r{}, %h{}", guard(), d, a));
            case 9:
                return line(fmt::format("{}ld.global.v2.u32 {{%r{}, %r{}}}, [%o2+{}]", guard(), d, c, 8 * below(4)));
            case 10:
                return line(fmt::format("{}st.global.u32 [%o0+{}], %r{}", guard(), 4 * below(words), a));
            case 11:
                line(fmt::format("{}st.shared.u64 [%t3+{}], %rd{}", guard(), 8 * below(2), a));
                return line(fmt::format("{}ld.shared.u32 %r{}, [%t3+{}]", guard(), d, 4 * below(4)));
            case 12:
                return line(fmt::format("{}add.cc.u32 %r{}, %r{}, %r{}", "", d, a, b)),
                       line(fmt::format("addc.u32 %r{}, %r{}, %r{}", fresh(), any(), any()));
            case 13: {
                const int label = labels_++;
                line(fmt::format("xor.b32 %r{}, %r{}, %t0", d, a));
                line(fmt::format("and.b32 %r{}, %r{}, {}", d, d, 1 + below(3)));
                line(fmt::format("setp.eq.u32 %p{}, %r{}, 0", d, d));
                line(fmt::format("@%p{} bra ELSE{}", d, label));
                statements(depth + 1, 1 + static_cast<int>(below(6)));
                line(fmt::format("bra.uni END{}", label));
                body_ += fmt::format("ELSE{}:\n", label);
                statements(depth + 1, 1 + static_cast<int>(below(6)));
                body_ += fmt::format("END{}:\n", label);
                return;
            }
            default: {
                const int label = labels_++;
                const uint32_t trips = ++next_;  // nobody else writes it: others take one that is not counted there
                body_ += fmt::format("    {{ .reg .b32 %n; .reg .pred %q; and.b32 %n, %r{}, {};\n", any(), 1 + below(3));
                body_ += fmt::format("LOOP{}:\n", label);
                statements(depth + 1, 1 + static_cast<int>(below(5)));
                line(fmt::format("add.u32 %r{}, %n, 1", trips));
                line("sub.u32 %n, %n, 1; setp.ge.s32 %q, %n, 0");
                body_ += fmt::format("    @%q bra LOOP{}; }}\n", label);
                return;
            }
        }
    }

    Rng rng_;
    std::string body_;
    uint32_t next_ = 3;
    int labels_ = 0;
};

test::Launch launch_of(const ptx::Program& program) {
    test::Launch it;
    it.config.grid = {blocks, 1, 1};
    it.config.block = {threads, 1, 1};
    it.config.parameters.resize(program.parameter_bytes);
    for (size_t k = 0; k < 2; ++k) {
        constexpr uint64_t bytes = uint64_t{threads} * blocks * words * 4;
        const uint64_t address = it.memory.allocate(bytes, k == 0 ? "out" : "in");
        auto* const values = reinterpret_cast<uint32_t*>(it.memory.write(address, bytes));
        for (uint32_t i = 0; i < bytes / 4; ++i) values[i] = k == 0 ? 0 : i * 2654435761u;
        std::memcpy(it.config.parameters.data() + program.parameters[k].offset, &address, sizeof address);
        it.buffers.push_back({address, bytes});
    }
    return it;
}

std::shared_ptr<const ptx::Program> decoded(const std::string& text) {
    const auto parsed = ptx::parse(text, "packed.ptx");
    if (!parsed.ok()) FAIL(parsed.error().message << "\n" << text);
    const auto program = ptx::decode(parsed.value(), "k");
    if (!program.ok()) FAIL(program.error().message << "\n" << text);
    return program.value();
}

}  // namespace

TEST_CASE("300 random programs with a register for each value run packed as they do plainly, on the plain SM too") {
    const char* const gpus[] = {"teaching:2", "p100", "v100", "a100"};
    uint64_t before = 0, after = 0;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        const std::string text = Chains(seed).text();
        const auto program = decoded(text);
        GpuSpec gpu = gpu_named(gpus[seed % std::size(gpus)]).value();
        gpu.sms.value = 2;
        test::Launch it = launch_of(*program);
        TimedOptions options;
        options.trace = false;
        INFO("seed " << seed << " on " << gpu.name);
        REQUIRE(is_packed(gpu, *program, it.config, it.memory, options, Pack::everywhere));
        const auto packing = ptx::pack_registers(*program);
        before += program->register_bytes;
        after += packing->program.register_bytes;
        const std::string found = difference(gpu, *program, it, {});
        if (!found.empty()) FAIL(found << "\n" << text);
    }
    CHECK(after * 3 < before * 2);
}

// The loop runs past the end of `out`: what the fault says of its address is made of registers that are dead by then.
TEST_CASE("a fault of a packed launch is told in the words of one that is not, and memory is left alike") {
    const auto program = decoded(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
    .reg .pred %p<3>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    mul.lo.s32 %r5, %r4, 9;
    mul.wide.s32 %rd1, %r5, 4;
    ld.param.u64 %rd2, [out];
    add.s64 %rd3, %rd2, %rd1;
    mov.u32 %r6, 3;
    add.u32 %r7, %r6, 4;
    add.u32 %r8, %r7, 4;
    st.global.u32 [%rd3], %r8;
    ret;
}
)");
    GpuSpec gpu = gpu_named("v100").value();
    gpu.sms.value = 2;
    const test::Launch it = launch_of(*program);
    TimedOptions options;
    options.trace = false;
    simt::Memory plain = it.memory, packed = it.memory;
    REQUIRE(is_packed(gpu, *program, it.config, packed, options, Pack::everywhere));
    const TimedResult a = launch(gpu, *program, it.config, plain, options, Pack::nowhere);
    const TimedResult b = launch(gpu, *program, it.config, packed, options, Pack::everywhere);
    REQUIRE(a.fault);
    REQUIRE(b.fault);
    CHECK(simt::render(*a.fault) == simt::render(*b.fault));
    CHECK(a.cycles == b.cycles);
    for (const auto& [address, bytes] : it.buffers)
        CHECK(std::memcmp(plain.read(address, bytes), packed.read(address, bytes), bytes) == 0);
}

TEST_CASE("a packed launch whose warps spin for ever is told as such") {
    const auto program = decoded(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
    .reg .pred %p<3>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 7;
    add.u32 %r2, %r1, 1;
again:
    ld.global.u32 %r3, [%rd1];
    add.u32 %r4, %r3, 1;
    setp.ne.u32 %p1, %r4, %r2;
    @%p1 bra again;
    st.global.u32 [%rd1+4], %r2;
    ret;
}
)");
    GpuSpec gpu = gpu_named("v100").value();
    gpu.sms.value = 2;
    const test::Launch it = launch_of(*program);
    TimedOptions options;
    options.trace = false;
    simt::Memory plain = it.memory, packed = it.memory;
    REQUIRE(is_packed(gpu, *program, it.config, packed, options, Pack::everywhere));
    const TimedResult a = launch(gpu, *program, it.config, plain, options, Pack::nowhere);
    const TimedResult b = launch(gpu, *program, it.config, packed, options, Pack::everywhere);
    REQUIRE(a.fault);
    REQUIRE(b.fault);
    CHECK(a.fault->kind != "packed");
    CHECK(simt::render(*a.fault) == simt::render(*b.fault));
    CHECK(a.cycles == b.cycles);
}

TEST_CASE("only launches that nobody looks into, and whose registers fill the host's caches, are packed unasked") {
    const auto program = decoded(Chains(3).text());
    test::Launch it = launch_of(*program);
    GpuSpec gpu = gpu_named("v100").value();
    TimedOptions options;
    options.trace = false;
    it.config.grid.x = 2000;
    const auto unasked = [&](const TimedOptions& o) {
        return is_packed(gpu, *program, it.config, it.memory, o, Pack::where_it_pays);
    };
    CHECK(unasked(options));
    CHECK_FALSE(is_packed(gpu, *program, it.config, it.memory, options, Pack::nowhere));
    for (const auto& change :
         {+[](TimedOptions& o) { o.trace = true; }, +[](TimedOptions& o) { o.racecheck = true; },
          +[](TimedOptions& o) { o.initcheck = true; }, +[](TimedOptions& o) { o.checkpoint_bytes = 1 << 20; }}) {
        TimedOptions other = options;
        change(other);
        CHECK_FALSE(unasked(other));
    }
    it.config.grid.x = 1;
    CHECK_FALSE(unasked(options));
}

}  // namespace model_packed_test
