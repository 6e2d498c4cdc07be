// Random kernels in PTX without races: arithmetic of all pipes, loads and stores of all spaces and widths, atomics,
// shuffles, votes, matrix products, asynchronous copies, calls, divergent branches and loops, barriers, fences, naps and
// early ends.
//
// A thread writes its own 16 bytes of `out` and of shared memory. It reads those of others only between two barriers of the
// whole block, and those of `in`, which nobody writes. What all threads add to is only ever touched by atomics.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/base/rng.h"
#include "tests/model/side_by_side.h"
#include "tests/simt/support.h"

namespace lockstep::model::test {

class RandomProgram {
  public:
    static constexpr uint32_t in_bytes = 1 << 14;

    explicit RandomProgram(Rng& rng) : rng_(rng) {
        whole_ = below(2) == 0;
        threads_ = whole_ ? 32 * (1 + below(5)) : 1 + below(160);
        blocks_ = 1 + below(7);
        statements(0, 10 + below(14), Flow::uniform);
        for (int k = 0; k < 8; ++k) line("xor.b32 %r7, %r7, %r{};", k);
        line("cvt.rzi.u32.f32 %r6, %f{};", below(4));
        line("st.global.v4.u32 [%out], {{%r7, %r6, %r5, %r4}};");
    }

    std::string text() const {
        const std::string head = R"(.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 table[512];
.func (.param .b32 result) mix(.param .b32 a, .param .b32 b)
{
    .reg .b32 %q<4>;
    ld.param.u32 %q1, [a];
    ld.param.u32 %q2, [b];
    mad.lo.s32 %q3, %q1, 5, %q2;
    st.param.b32 [result], %q3;
    ret;
}
.visible .entry k(.param .u64 p_out, .param .u64 p_in, .param .u64 p_sum)
{
    .reg .pred %p<6>;
    .reg .b32 %r<8>;
    .reg .b32 %i<40>;
    .reg .b32 %own, %tid, %cta, %s, %all, %adds;
    .reg .f32 %f<8>;
    .reg .f64 %d<4>;
    .reg .b64 %out, %in, %sum, %a, %a1, %stack;
    .shared .align 16 .b8 buffer[4096];
    .shared .align 16 .b8 added[128];
    .local .align 16 .b8 frame[64];
    mov.u32 %tid, %tid.x;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %i0, %ntid.x;
    mad.lo.s32 %i1, %cta, %i0, %tid;
    ld.param.u64 %a, [p_out];
    cvta.to.global.u64 %a, %a;
    mul.wide.u32 %a1, %i1, 16;
    add.s64 %out, %a, %a1;
    ld.param.u64 %in, [p_in];
    cvta.to.global.u64 %in, %in;
    ld.param.u64 %sum, [p_sum];
    mov.u32 %all, buffer;
    mov.u32 %adds, added;
    shl.b32 %i2, %tid, 4;
    add.s32 %own, %all, %i2;
    mov.u64 %stack, frame;
    mov.u32 %r0, %i1;
    mul.lo.s32 %r1, %i1, 3;
    xor.b32 %r2, %tid, 21;
    mov.u32 %r3, %laneid;
    mad.lo.s32 %r4, %tid, 7, %cta;
    mov.u32 %r5, 9;
    shl.b32 %r6, %tid, 3;
    mov.u32 %r7, %cta;
    cvt.rn.f32.u32 %f0, %r0;
    cvt.rn.f32.u32 %f1, %r4;
    mov.f32 %f2, 0f3F800000;
    mov.f32 %f3, 0f40490FDB;
    cvt.rn.f64.u32 %d0, %r1;
    cvt.rn.f64.u32 %d1, %r6;
    st.shared.v4.u32 [%own], {%r0, %r1, %r2, %r3};
    st.local.u32 [%stack], %r1;
    st.local.v4.u32 [%stack+16], {%r0, %r1, %r2, %r3};
)";
        return head + body_ + "    ret;\n}\n";
    }
    Launch launch() const {
        std::vector<uint32_t> numbers(in_bytes / 4);
        Rng rng(threads_);
        for (uint32_t& number : numbers) number = static_cast<uint32_t>(rng.next());
        const std::vector<uint32_t> ones(size_t{threads_} * blocks_ * 4, 1), sums(64);
        Launch it;
        const uint64_t out = simt::test::put(it.memory, ones, "out"), in = simt::test::put(it.memory, numbers, "in"),
                       sum = simt::test::put(it.memory, sums, "sum");
        it.config = simt::test::config_of({blocks_}, {threads_}, {out, in, sum});
        it.buffers = {{out, ones.size() * 4}, {sum, sums.size() * 4}};
        return it;
    }

  private:
    enum class Flow { uniform, divergent };  // whether all threads of the block come here together

    uint32_t below(uint64_t n) { return static_cast<uint32_t>(rng_.below(n)); }
    template <class... Args>
    void line(fmt::format_string<Args...> text, Args&&... args) {
        body_ += "    " + fmt::format(text, std::forward<Args>(args)...) + "\n";
    }
    uint32_t fresh() { return 4 + temporaries_++ % 32; }  // an %i that no loop counts with
    std::string guard() { return below(4) == 0 ? (below(2) == 0 ? "@%p0 " : "@!%p0 ") : ""; }

    void statements(int depth, uint32_t count, Flow flow) {
        for (uint32_t k = 0; k < count; ++k) statement(depth, flow);
    }
    void statement(int depth, Flow flow) {
        const uint32_t kind = below(flow == Flow::uniform ? 26 : 18);
        if (kind < 4) return integers();
        if (kind < 6) return floats();
        if (kind < 7) return below(2) == 0 ? doubles() : condition();
        if (kind < 9) return load_in();
        if (kind < 10) return own_memory();
        if (kind < 11) return shared_own();
        if (kind < 12) return local_or_constant();
        if (kind < 13) return atomics();
        if (kind < 14) return seldom();
        if (kind < 16) return depth < 3 ? choice(depth) : integers();
        if (kind < 18) return depth < 2 ? loop(depth, flow) : floats();
        if (kind < 20) return shared_of_others();
        if (kind < 22) return across_lanes();
        if (kind < 23) return whole_ ? matrix() : doubles();
        if (kind < 24) return copies();
        if (kind < 25) return !whole_ && depth == 0 ? leave() : condition();
        return meet();
    }

    void integers() {
        static constexpr const char* operations[] = {"add.s32",    "sub.s32", "mul.lo.s32", "and.b32", "xor.b32", "min.s32",
                                                     "mul.hi.u32", "div.u32", "rem.u32",    "max.u32", "or.b32"};
        const uint32_t d = below(8), a = below(8), b = below(8);
        switch (below(7)) {
            case 0:
                return line("{}mad.lo.s32 %r{}, %r{}, %r{}, %r{};", guard(), d, a, b, below(8));
            case 1:
                return line("shl.b32 %r{}, %r{}, {};", d, a, below(5));
            case 2:
                return line("mov.u32 %r{}, %r{};", d, a);
            case 3:
                return line("popc.b32 %r{}, %r{};", d, a);
            case 4:
                return line("selp.b32 %r{}, %r{}, %r{}, %p0;", d, a, b);
            default:
                return line("{}{} %r{}, %r{}, %r{};", guard(), operations[below(std::size(operations))], d, a, b);
        }
    }
    void floats() {
        const uint32_t d = below(4), a = below(4), b = below(4);
        switch (below(9)) {
            case 0:
                return line("div.rn.f32 %f{}, %f{}, %f{};", d, a, b);
            case 1:
                return line("sqrt.rn.f32 %f{}, %f{};", d, a);
            case 2:
                return line("ex2.approx.f32 %f{}, %f{};", d, a);
            case 3:
                return line("sin.approx.f32 %f{}, %f{};", d, a);
            case 4:
                return line("cvt.rn.f32.s32 %f{}, %r{};", d, below(8));
            case 5:
                return line("mul.f32 %f{}, %f{}, %f{};", d, a, b);
            default:
                return line("{}fma.rn.f32 %f{}, %f{}, %f{}, %f{};", guard(), d, a, b, below(4));
        }
    }
    void doubles() {
        static constexpr const char* operations[] = {"add.f64", "mul.f64", "div.rn.f64", "max.f64"};
        line("{} %d{}, %d{}, %d{};", operations[below(4)], below(2), below(2), below(2));
        if (below(3) == 0) line("cvt.rn.f32.f64 %f{}, %d{};", below(4), below(2));
    }
    void condition() {
        const uint32_t i = fresh();
        line("and.b32 %i{}, %r{}, {};", i, below(8), (2u << below(5)) - 1);
        line("setp.lt.u32 %p0, %i{}, {};", i, below(9));
    }
    // The address of a place in `in` that depends on the thread, or not; aligned to 16 bytes.
    void point_into_in() {
        const uint32_t i = fresh();
        switch (below(4)) {
            case 0:
                line("and.b32 %i{}, %tid, 127;", i);
                break;
            case 1:
                line("and.b32 %i{}, %cta, 63;", i);
                break;
            default:
                line("and.b32 %i{}, %r{}, 511;", i, below(8));
        }
        line("mul.wide.u32 %a, %i{}, 16;", i);
        line("add.s64 %a, %in, %a;");
    }
    void load_in() {
        static constexpr const char* ways[] = {"ld.global", "ld.global.nc", "ld.global.cg", "ld.global.ca"};
        point_into_in();
        for (uint32_t k = 1 + below(3); k > 0; --k) {
            const char* const way = ways[below(4)];
            const uint32_t d = below(4), at = 16 * below(4);
            switch (below(5)) {
                case 0:
                    line("{}.v4.u32 {{%r{}, %r{}, %r{}, %r{}}}, [%a+{}];", way, d, d + 1, d + 2, d + 3, at);
                    break;
                case 1:
                    line("{}.v2.u32 {{%r{}, %r{}}}, [%a+{}];", way, d, d + 1, at);
                    break;
                case 2:
                    line("{}.u8 %r{}, [%a+{}];", way, d, at + below(16));
                    break;
                default:
                    line("{}{}.u32 %r{}, [%a+{}];", guard(), way, below(8), at + 4 * below(4));
            }
        }
    }
    void own_memory() {
        switch (below(3)) {
            case 0:
                return line("ld.global.u32 %r{}, [%out+{}];", below(8), 4 * below(4));
            case 1:
                return line("st.global.v2.u32 [%out+8], {{%r{}, %r{}}};", below(8), below(8));
            default:
                return line("{}st.global.u32 [%out+{}], %r{};", guard(), 4 * below(4), below(8));
        }
    }
    void shared_own() {
        switch (below(3)) {
            case 0:
                return line("{}st.shared.u32 [%own+{}], %r{};", guard(), 4 * below(4), below(8));
            case 1:
                return line("ld.shared.v4.u32 {{%r0, %r1, %r2, %r3}}, [%own];");
            default:
                line("ld.shared.u32 %r{}, [%own];", below(4));
                return line("ld.shared.u32 %r{}, [%own+4];", 4 + below(4));
        }
    }
    void local_or_constant() {
        const uint32_t i = fresh();
        switch (below(4)) {
            case 0:
                return line("{}st.local.u32 [%stack+{}], %r{};", guard(), 4 * below(8), below(8));
            case 1:
                return line("ld.local.u32 %r{}, [%stack+{}];", below(8), 4 * below(4) + 16);
            case 2:
                return line("ld.const.u32 %r{}, [table+{}];", below(8), 4 * below(100));
            default:
                line("and.b32 %i{}, %r{}, 31;", i, below(8));
                line("shl.b32 %i{}, %i{}, 4;", i, i);
                line("mov.u64 %a1, table;");
                line("cvt.u64.u32 %a, %i{};", i);
                line("add.s64 %a, %a, %a1;");
                return line("ld.const.u32 %r{}, [%a];", below(8));
        }
    }
    void atomics() {
        const uint32_t i = fresh();
        switch (below(4)) {
            case 0:
                return line("red.global.add.u32 [%sum+{}], %r{};", 4 * below(8), below(8));
            case 1:
                line("and.b32 %i{}, %r{}, 7;", i, below(8));
                line("mul.wide.u32 %a, %i{}, 4;", i);
                line("add.s64 %a, %sum, %a;");
                return line("atom.global.max.u32 %r{}, [%a], %r{};", below(8), below(8));
            case 2:
                line("and.b32 %i{}, %r{}, 60;", i, below(8));
                line("add.s32 %i{}, %i{}, %adds;", i, i);
                return line("atom.shared.add.u32 %r{}, [%i{}], %r{};", below(8), i, below(8));
            default:
                line("and.b32 %i{}, %r{}, 60;", i, below(8));
                line("add.s32 %i{}, %i{}, %adds;", i, i);
                return line("red.shared.add.f32 [%i{}+64], %f{};", i, below(4));
        }
    }
    void seldom() {
        switch (below(5)) {
            case 0:
                return line("membar.gl;");
            case 1:
                return line("nanosleep.u32 {};", below(300));
            case 2:
                if (below(6) == 0) return line("ld.global.u32 %r{}, [%in+{}];", below(8), in_bytes);  // beyond the end
                return line("mov.u32 %r{}, %clock;", below(8));
            case 3:
                return line("fma.rn.f16x2 %r{}, %r{}, %r{}, %r{};", below(8), below(8), below(8), below(8));
            default: {
                const uint32_t number = labels_++;
                line("{{ // a call");
                line(".param .b32 a{0}; .param .b32 b{0}; .param .b32 c{0};", number);
                line("st.param.b32 [a{}], %r{};", number, below(8));
                line("st.param.b32 [b{}], %r{};", number, below(8));
                line("call.uni (c{0}), mix, (a{0}, b{0});", number);
                line("ld.param.b32 %r{}, [c{}];", below(8), number);
                return line("}}");
            }
        }
    }
    void choice(int depth) {
        const uint32_t label = labels_++;
        condition();
        line("@%p0 bra other{};", label);
        statements(depth + 1, 1 + below(4), Flow::divergent);
        if (below(2) == 0) {
            line("bra both{};", label);
            line("other{}:", label);
            statements(depth + 1, 1 + below(3), Flow::divergent);
            line("both{}:", label);
        } else {
            line("other{}:", label);
        }
    }
    void loop(int depth, Flow flow) {
        const uint32_t label = labels_++, counter = 36 + static_cast<uint32_t>(depth);
        const bool alike = below(2) == 0;
        if (alike)
            line("mov.u32 %i{}, {};", counter, 1 + below(5));
        else
            line("and.b32 %i{}, %r{}, 3;", counter, below(8));
        line("loop{}:", label);
        statements(depth + 1, 1 + below(6), alike ? flow : Flow::divergent);
        line("sub.s32 %i{0}, %i{0}, 1;", counter);
        line("setp.gt.s32 %p1, %i{}, 0;", counter);
        line("@%p1 bra loop{};", label);
    }
    void shared_of_others() {
        const uint32_t i = fresh();
        line("bar.sync 0;");
        line("and.b32 %i{}, %r{}, {};", i, below(8), below(2) == 0 ? 4080u : 1020u);
        line("add.s32 %i{0}, %i{0}, %all;", i);
        for (uint32_t k = 1 + below(4); k > 0; --k)
            line("{}ld.shared.u32 %r{}, [%i{}+{}];", guard(), below(8), i, 4 * below(4));
        integers();
        line("bar.sync 0;");
    }
    void across_lanes() {
        switch (below(4)) {
            case 0:
                return line("shfl.sync.bfly.b32 %r{}, %r{}, {}, 31, -1;", below(8), below(8), 1u << below(5));
            case 1:
                return line("shfl.sync.idx.b32 %r{}, %r{}, {}, 31, -1;", below(8), below(8), below(32));
            case 2:
                return line("vote.sync.ballot.b32 %r{}, %p0, -1;", below(8));
            default:
                return line("bar.warp.sync -1;");
        }
    }
    void matrix() {
        line(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f4, %f5, %f6, %f7}}, {{%r0, %r1, %r2, %r3}}, "
            "{{%r4, %r{}}}, {{%f0, %f1, %f2, %f3}};",
            5 + below(3));
    }
    void copies() {
        line("bar.sync 0;");
        point_into_in();
        line("cp.async.ca.shared.global [%own], [%a], 16;");
        line("cp.async.commit_group;");
        for (uint32_t k = below(3); k > 0; --k) below(2) == 0 ? integers() : floats();
        line("cp.async.wait_group 0;");
        line("ld.shared.u32 %r{}, [%own+{}];", below(8), 4 * below(4));
    }
    void leave() {
        const uint32_t label = labels_++;
        condition();
        line("@%p0 bra stay{};", label);
        line("st.global.u32 [%out], %r{};", below(8));
        line("ret;");
        line("stay{}:", label);
    }
    void meet() {
        if (below(3) != 0) return line("bar.sync 0;");
        line("bar.red.popc.u32 %r{}, 0, %p0;", below(8));
    }

    Rng& rng_;
    bool whole_ = false;  // all warps have all their lanes to the end, as products of matrices ask
    uint32_t threads_ = 1, blocks_ = 1, labels_ = 0, temporaries_ = 0;
    std::string body_;
};

}  // namespace lockstep::model::test
