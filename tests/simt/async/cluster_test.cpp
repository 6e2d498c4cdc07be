// Clusters as PTX text: who is in one, addresses in one another's shared memory, barrier.cluster, and what is refused.
#include "core/simt/history/history.h"
#include "core/simt/history/history_memory.h"
#include "tests/catch.h"
#include "tests/simt/text.h"

namespace simt_cluster_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

void contains(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
}

// Runs cluster after cluster, the warps of its blocks in turn, a few instructions each; `reverse` the last ones first.
LaunchResult run_clusters(const std::string& text, Dim3 extent, Dim3 block, std::initializer_list<uint64_t> parameters,
                          Memory& memory, Dim3 cluster = {}, bool reverse = false, uint64_t budget = 1'000'000) {
    const auto program = text_program(text);
    LaunchConfig config = config_of(extent, block, parameters);
    config.cluster = cluster;
    if (const auto refused = check_launch(*program, config, {})) throw std::runtime_error(refused->message);
    Grid grid = make_grid(*program, config, memory);
    const uint32_t size = cluster_size(grid);
    LaunchResult result;
    for (uint32_t c = 0; c < extent.count() / size; ++c) {
        std::vector<Block> blocks(size);
        std::vector<Block*> by_rank;
        for (uint32_t rank = 0; rank < size; ++rank) {
            reset_block(blocks[rank], grid, linear_in_cluster(grid, c, rank));
            by_rank.push_back(&blocks[rank]);
        }
        if (size > 1) join_cluster(by_rank);
        for (bool left = true; left;) {
            left = false;
            for (uint32_t i = 0; i < size; ++i)
                for (Warp& warp : blocks[reverse ? size - 1 - i : i].warps) {
                    if (warp.done || warp.at_barrier) continue;
                    left = true;
                    if (result.warp_instructions > budget) {
                        result.fault = runaway_fault(warp, result.warp_instructions);
                        return result;
                    }
                    const uint64_t before = warp.instructions;
                    const WarpEvent event = run(warp, 64, result.thread_instructions);
                    result.warp_instructions += warp.instructions - before;
                    if (event.kind == WarpEvent::Kind::fault) {
                        result.fault = *event.fault;
                        return result;
                    }
                }
        }
    }
    return result;
}

const std::string barrier = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";

// The registers of a cluster, 16 words a block at p0.
const std::string tell = R"(
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;
mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
mad.lo.u32 %r6, %r3, %r5, %r2;
mad.lo.u32 %r6, %r6, %r4, %r1;
ld.param.u64 %rd1, [p0];
mul.wide.u32 %rd2, %r6, 64;
add.u64 %rd1, %rd1, %rd2;
mov.u32 %r10, %clusterid.x; mov.u32 %r11, %clusterid.y; mov.u32 %r12, %clusterid.z; mov.u32 %r13, %cluster_ctarank;
st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13};
mov.u32 %r10, %cluster_ctaid.x; mov.u32 %r11, %cluster_ctaid.y; mov.u32 %r12, %cluster_ctaid.z; mov.u32 %r13, %cluster_nctarank;
st.global.v4.u32 [%rd1+16], {%r10, %r11, %r12, %r13};
mov.u32 %r10, %nclusterid.x; mov.u32 %r11, %nclusterid.y; mov.u32 %r12, %nclusterid.z;
mov.pred %p1, %is_explicit_cluster;
selp.u32 %r13, 1, 0, %p1;
st.global.v4.u32 [%rd1+32], {%r10, %r11, %r12, %r13};
mov.u32 %r10, %cluster_nctaid.x; mov.u32 %r11, %cluster_nctaid.y; mov.u32 %r12, %cluster_nctaid.z;
st.global.v4.u32 [%rd1+48], {%r10, %r11, %r12, %r12};
)";

}  // namespace

TEST_CASE("every block knows its cluster and its place in it, by directive or by launch") {
    for (const bool directive : {false, true}) {
        Memory memory;
        const uint64_t out = memory.allocate(6 * 4 * 2 * 64, "out");
        const std::string text = text_kernel(tell, 1, directive ? ".explicitcluster\n.reqnctapercluster 2, 2, 1\n" : "");
        REQUIRE(!run_clusters(text, {6, 4, 2}, {1}, {out}, memory, directive ? Dim3{} : Dim3{2, 2, 1}).fault);
        const auto got = read_back<uint32_t>(memory, out, 6 * 4 * 2 * 16);
        for (uint32_t z = 0, b = 0; z < 2; ++z)
            for (uint32_t y = 0; y < 4; ++y)
                for (uint32_t x = 0; x < 6; ++x, ++b)
                    CHECK(std::vector<uint32_t>(got.begin() + b * 16, got.begin() + b * 16 + 16) ==
                          std::vector<uint32_t>{x / 2, y / 2, z, x % 2 + 2 * (y % 2), x % 2, y % 2, 0, 4, 3, 2, 2, 1, 2, 2,
                                                1, 1});
    }
    Memory memory;
    const uint64_t out = memory.allocate(2 * 64, "out");
    REQUIRE(!run_clusters(text_kernel(tell), {2}, {1}, {out}, memory).fault);
    const auto got = read_back<uint32_t>(memory, out, 32);
    CHECK(std::vector<uint32_t>(got.begin() + 16, got.end()) ==
          std::vector<uint32_t>{1, 0, 0, 0, 0, 0, 0, 1, 2, 1, 1, 0, 1, 1, 1, 1});
}

TEST_CASE("blocks of a cluster read, write and add to one another's shared memory") {
    // Each block writes rank * 100 + thread; each thread reads its neighbour block's word in three ways, stores into the
    // neighbour's second array, and adds to a counter of block 0.
    const std::string body = R"(
.shared .align 4 .b8 own[128];
.shared .align 4 .b8 from_left[128];
.shared .align 4 .b32 counter;
mov.u32 %r1, %tid.x;
mov.u32 %r2, %cluster_ctarank;
mov.u32 %r3, own;
mad.lo.u32 %r4, %r1, 4, %r3;
mad.lo.u32 %r5, %r2, 100, %r1;
st.shared.u32 [%r4], %r5;
)" + barrier + R"(
add.u32 %r6, %r2, 1;
and.b32 %r6, %r6, 3;
mapa.shared::cluster.u32 %r7, %r4, %r6;
ld.shared::cluster.u32 %r8, [%r7];
cvt.u64.u32 %rd4, %r4;
cvta.shared.u64 %rd5, %rd4;
mapa.u64 %rd6, %rd5, %r6;
ld.u32 %r9, [%rd6];
cvt.u64.u32 %rd7, %r7;
cvta.shared::cluster.u64 %rd8, %rd7;
ld.u32 %r10, [%rd8];
getctarank.shared::cluster.u32 %r11, %r7;
getctarank.u64 %r12, %rd6;
getctarank.shared::cluster.u32 %r13, %r4;
add.u32 %r14, %r7, 128;
st.shared::cluster.u32 [%r14], %r5;
mov.u32 %r15, counter;
mov.u32 %r16, 0;
mapa.shared::cluster.u32 %r15, %r15, %r16;
atom.shared::cluster.add.u32 %r17, [%r15], 1;
red.shared::cluster.add.u32 [%r15], 2;
)" + barrier + R"(
ld.shared.u32 %r18, [%r4+128];
ld.shared::cluster.u32 %r19, [%r15];
)" + barrier + R"(
ld.param.u64 %rd1, [p0];
mov.u32 %r20, %ctaid.x;
mad.lo.u32 %r20, %r20, 32, %r1;
mul.wide.u32 %rd2, %r20, 32;
add.u64 %rd1, %rd1, %rd2;
st.global.v4.u32 [%rd1], {%r8, %r9, %r10, %r11};
st.global.v4.u32 [%rd1+16], {%r12, %r13, %r18, %r19};
)";
    for (const bool reverse : {false, true}) {
        Memory memory;
        const uint64_t out = memory.allocate(8 * 32 * 32, "out");
        const LaunchResult result = run_clusters(text_kernel(body), {8}, {32}, {out}, memory, {4}, reverse);
        INFO((result.fault ? render(*result.fault) : ""));
        REQUIRE(!result.fault);
        const auto got = read_back<uint32_t>(memory, out, 8 * 32 * 8);
        for (uint32_t block = 0; block < 8; ++block)
            for (uint32_t t = 0; t < 32; ++t) {
                const uint32_t rank = block % 4, right = (rank + 1) % 4, left = (rank + 3) % 4;
                const uint32_t value = right * 100 + t;
                const size_t at = (block * 32 + t) * 8;
                CHECK(std::vector<uint32_t>(got.begin() + at, got.begin() + at + 8) ==
                      std::vector<uint32_t>{value, value, value, right, right, rank, left * 100 + t, 4 * 32 * 3});
            }
    }
}

TEST_CASE("threads that have left do not hold up the cluster's barrier") {
    const std::string body = R"(
.shared .align 4 .b32 word;
mov.u32 %r1, %cluster_ctarank;
mov.u32 %r2, %tid.x;
setp.eq.u32 %p1, %r1, 1;
@%p1 exit;
setp.gt.u32 %p2, %r2, 40;
@%p2 exit;
barrier.cluster.arrive.relaxed;
barrier.cluster.wait;
mov.u32 %r3, 5;
ld.param.u64 %rd1, [p0];
mul.wide.u32 %rd2, %r2, 4;
add.u64 %rd1, %rd1, %rd2;
st.global.u32 [%rd1], %r3;
)";
    Memory memory;
    const uint64_t out = memory.allocate(256, "out");
    const LaunchResult result = run_clusters(text_kernel(body), {2}, {64}, {out}, memory, {2});
    INFO((result.fault ? render(*result.fault) : ""));
    REQUIRE(!result.fault);
    const auto got = read_back<uint32_t>(memory, out, 64);
    for (uint32_t t = 0; t < 64; ++t) CHECK(got[t] == (t <= 40 ? 5 : 0));
}

TEST_CASE("an mbarrier of one block counts arrivals of the whole cluster") {
    const std::string body = R"(
.shared .align 8 .b64 bar;
mov.u32 %r1, %tid.x;
mov.u32 %r2, %cluster_ctarank;
mov.u32 %r3, bar;
or.b32 %r4, %r1, %r2;
setp.eq.u32 %p1, %r4, 0;
@%p1 mbarrier.init.shared.b64 [%r3], 96;
fence.mbarrier_init.release.cluster;
)" + barrier + R"(
mov.u32 %r5, 0;
mapa.shared::cluster.u32 %r6, %r3, %r5;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
setp.ne.u32 %p2, %r2, 0;
@%p2 bra done;
wait:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r3], 0;
@!%p3 bra wait;
ld.param.u64 %rd1, [p0];
mov.u32 %r7, 1;
red.global.add.u32 [%rd1], %r7;
done:
)" + barrier;
    for (const bool reverse : {false, true}) {
        Memory memory;
        const uint64_t out = memory.allocate(4, "out");
        const LaunchResult result = run_clusters(text_kernel(body), {3}, {32}, {out}, memory, {3}, reverse);
        INFO((result.fault ? render(*result.fault) : ""));
        REQUIRE(!result.fault);
        CHECK(read_back<uint32_t>(memory, out, 1)[0] == 32);
    }
}

TEST_CASE("launches whose clusters do not fit are refused") {
    const auto refused = [](Dim3 grid, Dim3 cluster, const std::string& attributes = "") {
        try {
            Memory memory;
            run_clusters(text_kernel("", 1, attributes), grid, {32}, {0}, memory, cluster);
        } catch (const std::runtime_error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    contains(refused({5}, {2}), "a grid of 5 x 1 x 1 blocks is no multiple of the cluster, 2 x 1 x 1");
    contains(refused({32}, {32}), "a cluster of 32 blocks is too large: at most 16");
    contains(refused({4}, {4}, ".reqnctapercluster 2\n"), "asks for clusters of 2 x 1 x 1");
    contains(refused({4}, {4}, ".maxclusterrank 2\n"), "at most 2");
    CHECK(refused({4}, {2}, ".reqnctapercluster 2\n").empty());
    CHECK(refused({16}, {16}).empty());
}

TEST_CASE("what a cluster must not do is a fault, and says who") {
    const auto trouble = [](const std::string& body, Dim3 cluster = {2}) {
        Memory memory;
        const uint64_t out = memory.allocate(256, "out");
        const LaunchResult result = run_clusters(text_kernel(body), {4}, {32}, {out}, memory, cluster);
        return result.fault ? result.fault->kind + ": " + result.fault->message : "";
    };
    contains(trouble("mapa.shared::cluster.u32 %r1, 0, 2;"), "mapa to block 2 of a cluster of 2 blocks");
    contains(trouble("ld.param.u64 %rd1, [p0]; mapa.u64 %rd2, %rd1, 0;"), "mapa of an address that is not in shared memory");
    contains(
        trouble(
            ".shared .b32 w; mov.u32 %r1, 1; mapa.shared::cluster.u32 %r2, w, %r1; ld.shared::cluster.u32 %r3, [%r2+4];"),
        "past the end of the shared memory of block 1 of the cluster (4 bytes)");
    contains(trouble("mov.u32 %r1, 0x4000000; ld.shared::cluster.u32 %r3, [%r1];"), "invalid shared read");
    contains(trouble("barrier.cluster.wait;"), "barrier.cluster.wait without barrier.cluster.arrive");
    contains(trouble("barrier.cluster.arrive; barrier.cluster.arrive;"), "a second time");
    // One block waits for its peer at the cluster's barrier while the peer waits at an mbarrier that nobody tells.
    contains(trouble(R"(.shared .align 8 .b64 bar; mov.u32 %r3, bar;
mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; @%p1 bra meet;
mov.u32 %r2, %tid.x; setp.eq.u32 %p2, %r2, 0; @%p2 mbarrier.init.shared.b64 [%r3], 1;
wait: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0; @!%p3 bra wait;
meet: barrier.cluster.arrive; barrier.cluster.wait;)"),
             "runaway: the kernel still ran");
    contains(refusal_of("stacksave.u64 %rd1;"), "is not modelled");
}

TEST_CASE("elect chooses the lowest lane of the members, and hints do nothing") {
    const std::string body = R"(
mov.u32 %r1, %tid.x;
ld.param.u64 %rd1, [p0];
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd1, %rd1, %rd2;
elect.sync %r2|%p1, 0xffffffff;
selp.u32 %r3, 100, 0, %p1;
setp.lt.u32 %p2, %r1, 12;
mov.u32 %r4, 0;
@%p2 bra done;
elect.sync _|%p3, 0xfffff000;
selp.u32 %r4, 1000, 0, %p3;
done:
add.u32 %r2, %r2, %r3;
add.u32 %r2, %r2, %r4;
st.global.u32 [%rd1], %r2;
fence.proxy.async;
fence.proxy.async.shared::cta;
fence.proxy.alias;
griddepcontrol.wait;
griddepcontrol.launch_dependents;
setmaxnreg.inc.sync.aligned.u32 64;
setmaxnreg.dec.sync.aligned.u32 40;
)";
    Memory memory;
    const uint64_t out = memory.allocate(128, "out");
    const LaunchResult result = run_clusters(text_kernel(body), {1}, {32}, {out}, memory);
    INFO((result.fault ? render(*result.fault) : ""));
    REQUIRE(!result.fault);
    const auto got = read_back<uint32_t>(memory, out, 32);
    for (uint32_t t = 0; t < 32; ++t) CHECK(got[t] == (t == 0 ? 100 : t == 12 ? 1000 : 0));
    contains(refusal_of("setmaxnreg.inc.sync.aligned.u32 20;"), "from 24 to 256");
    contains(refusal_of("setmaxnreg.inc.sync.aligned.u32 25;"), "a multiple of 8");
}

namespace {

// Rank in %r2, the thread in %r1, an mbarrier of one arrival in %r3 of each block, 512 bytes at %r4; all blocks know of it.
const std::string ready = R"(
.shared .align 8 .b64 bar;
.shared .align 128 .b8 data[512];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %cluster_ctarank;
mov.u32 %r3, bar;
mov.u32 %r4, data;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [%r3], 1;
fence.mbarrier_init.release.cluster;
)" + barrier;
// Each thread stores its word of %r4 at p0[block][thread].
const std::string shown = R"(
mad.lo.u32 %r20, %r1, 4, %r4;
ld.shared.u32 %r21, [%r20];
ld.param.u64 %rd20, [p0];
mov.u32 %r22, %ctaid.x;
mad.lo.u32 %r22, %r22, 64, %r1;
mul.wide.u32 %rd21, %r22, 4;
add.u64 %rd20, %rd20, %rd21;
st.global.u32 [%rd20], %r21;
)" + barrier;
const std::string told = "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra wait;\n";

std::vector<uint32_t> shown_by(const std::string& body, uint32_t blocks, Dim3 cluster, bool reverse) {
    Memory memory;
    const uint64_t out = memory.allocate(blocks * 256, "out");
    std::vector<uint32_t> values(256);
    for (uint32_t i = 0; i < 256; ++i) values[i] = 3000 + i;
    const uint64_t in = put(memory, values, "in");
    const LaunchResult result = run_clusters(text_kernel(body, 2), {blocks}, {64}, {out, in}, memory, cluster, reverse);
    INFO((result.fault ? render(*result.fault) : ""));
    REQUIRE(!result.fault);
    return read_back<uint32_t>(memory, out, blocks * 64);
}

}  // namespace

TEST_CASE("a multicast brings one piece to every block of its mask and tells each one's mbarrier") {
    // Block 0 sends 128 bytes to blocks 0, 1 and 3; block 3 sends others to all.
    const std::string body = ready + R"(
@!%p1 bra wait;
ld.param.u64 %rd1, [p1];
setp.eq.u32 %p3, %r2, 2;
selp.u32 %r5, 128, 256, %p3;
mbarrier.arrive.expect_tx.shared.b64 _, [%r3], %r5;
setp.eq.u32 %p4, %r2, 0;
mov.u16 %h1, 11;
@%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%rd1], 128, [%r3], %h1;
setp.eq.u32 %p5, %r2, 3;
@%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4+128], [%rd1+512], 128, [%r3], 15;
)" + told + shown;
    for (const bool reverse : {false, true}) {
        const auto got = shown_by(body, 8, {4}, reverse);
        for (uint32_t block = 0; block < 8; ++block)
            for (uint32_t t = 0; t < 64; ++t)
                CHECK(got[block * 64 + t] == (t >= 32 ? 3000 + 128 + t - 32 : block % 4 == 2 ? 0 : 3000 + t));
    }
}

TEST_CASE("a block copies its shared memory into another block's, stores there and adds there, and that block hears of it") {
    const std::string target = R"(
add.u32 %r6, %r2, 1;
and.b32 %r6, %r6, 1;
mapa.shared::cluster.u32 %r7, %r4, %r6;
mapa.shared::cluster.u32 %r8, %r3, %r6;
mad.lo.u32 %r9, %r2, 100, %r1;
mad.lo.u32 %r10, %r1, 4, %r4;
mad.lo.u32 %r11, %r1, 4, %r7;
)";
    const std::string copy = ready + target + R"(
add.u32 %r12, %r10, 256;
st.shared.u32 [%r12], %r9;
bar.sync 0;
@!%p1 bra wait;
mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;
add.u32 %r13, %r4, 256;
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [%r13], 256, [%r8];
)" + told + shown;
    const std::string store = ready + target + R"(
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11], %r9, [%r8];
)" + told + shown;
    const std::string add = ready + target + R"(
st.shared.u32 [%r10], %r1;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;
mul.lo.u32 %r9, %r2, 100;
)" + barrier + R"(
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r11], %r9, [%r8];
)" + told + shown;
    for (const std::string& body : {copy, store, add})
        for (const bool reverse : {false, true}) {
            const auto got = shown_by(body, 2, {2}, reverse);
            for (uint32_t block = 0; block < 2; ++block)
                for (uint32_t t = 0; t < 64; ++t) CHECK(got[block * 64 + t] == (1 - block) * 100 + t);
        }
}

TEST_CASE("values of several words go to another block in one store") {
    const std::string body = ready + R"(
xor.b32 %r6, %r2, 1;
mapa.shared::cluster.u32 %r7, %r4, %r6;
mapa.shared::cluster.u32 %r8, %r3, %r6;
@!%p1 bra wait;
mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 32;
add.u32 %r9, %r2, 50;
mov.u64 %rd1, 0x100000002;
mov.u64 %rd2, 0x300000004;
st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r7], {%r9, %r9, 7, %r2}, [%r8];
st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%r7+16], {%rd1, %rd2}, [%r8];
)" + told + shown;
    const auto got = shown_by(body, 2, {2}, false);
    for (uint32_t block = 0; block < 2; ++block)
        CHECK(std::vector<uint32_t>(got.begin() + block * 64, got.begin() + block * 64 + 9) ==
              std::vector<uint32_t>{51 - block, 51 - block, 7, 1 - block, 2, 1, 4, 3, 0});
}

TEST_CASE("a warp of a cluster is stepped through to its end, its peers beside it") {
    const std::string body = ready + R"(
xor.b32 %r6, %r2, 1;
mapa.shared::cluster.u32 %r7, %r4, %r6;
mad.lo.u32 %r9, %r2, 100, %r1;
mad.lo.u32 %r11, %r1, 4, %r7;
st.shared::cluster.u32 [%r11], %r9;
)" + barrier + shown;
    const auto program = text_program(text_kernel(body, 2));
    Memory memory;
    const uint64_t out = memory.allocate(8 * 256, "out");
    LaunchConfig config = config_of({4, 2}, {64}, {out, 0});
    config.cluster = {2};
    for (const uint32_t block : {0u, 3u, 6u})
        for (const uint32_t warp : {0u, 1u}) {
            const WarpHistory history = record_warp(*program, config, memory, block, warp);
            REQUIRE(!history.fault);
            CHECK(!history.truncated);
            REQUIRE(!history.steps.empty());
            CHECK(program->instructions[history.steps.back().pc].kind == ptx::Kind::exit);
            const uint64_t end = history.steps.size() - 1;
            for (const LaneValues& values : registers_at(*program, config, memory, block, warp, end))
                if (values.reg.name == "%r21")
                    for (uint32_t lane = 0; lane < 32; ++lane)
                        CHECK(values.bits[lane] == (block % 2 == 0 ? 100 : 0) + warp * 32 + lane);
            const MemoryAt at = memory_at(*program, config, memory, block, warp, end);
            REQUIRE(at.shared.size() >= 256);
        }
    config.cluster = {1};  // alone the peer's memory is not there
    CHECK(record_warp(*program, config, memory, 0, 0).fault);
}

}  // namespace simt_cluster_test
