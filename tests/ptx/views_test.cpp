// Views of instructions: what is put into one comes back, and the decoder puts what the text says.
#include "core/ptx/decode/views_async.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace ptx_views_test {

using namespace lockstep;
using namespace lockstep::ptx;

namespace {

DecodedInstruction of_kind(Kind kind) {
    DecodedInstruction i;
    i.kind = kind;
    return i;
}

std::shared_ptr<const Program> program_of(const std::string& body) {
    const std::string text =
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<40>;\n" +
        body + "\n}\n";
    const auto parsed = parse(text, "test.ptx");
    if (!parsed.ok()) FAIL(parsed.error().message);
    const auto decoded = decode(parsed.value(), "k");
    if (!decoded.ok()) FAIL(decoded.error().message << ": " << decoded.error().source_line);
    return decoded.value();
}

}  // namespace

TEST_CASE("every flag of an mbarrier, a bulk copy and a product of a warpgroup comes back by itself") {
    for (unsigned bit = 0; bit < 3; ++bit) {
        DecodedInstruction i = of_kind(Kind::mbarrier);
        put(i, MbarrierView{MbarrierOperation::try_wait, bit == 0, bit == 1, bit == 2});
        const MbarrierView v = as_mbarrier(i);
        CHECK(v.operation == MbarrierOperation::try_wait);
        CHECK(v.expects == (bit == 0));
        CHECK(v.no_complete == (bit == 1));
        CHECK(v.parity == (bit == 2));
    }
    for (unsigned bit = 0; bit < 4; ++bit) {
        DecodedInstruction i = of_kind(Kind::bulk_copy);
        put(i, BulkView{AsyncBulk::tensor_reduce, BulkOperation::max, 4, bit == 0, bit == 1, bit == 2, bit == 3});
        const BulkView v = as_bulk(i);
        CHECK(v.operation == AsyncBulk::tensor_reduce);
        CHECK(v.combines == BulkOperation::max);
        CHECK(v.rank == 4);
        CHECK(v.signals == (bit == 0));
        CHECK(v.multicast == (bit == 1));
        CHECK(v.im2col == (bit == 2));
        CHECK(v.masked == (bit == 3));
    }
    for (unsigned bit = 0; bit < 7; ++bit) {
        DecodedInstruction i = of_kind(Kind::matrix_group);
        put(i, GroupView{0, 0, 0, bit == 0, bit == 1, bit == 2, bit == 3, bit == 4, bit == 5, bit == 6});
        const GroupView v = as_group(i);
        const bool flags[] = {v.a_in_registers, v.negates_a, v.negates_b, v.turns_a, v.turns_b, v.negates_scale, v.sparse};
        for (unsigned k = 0; k < 7; ++k) CHECK(flags[k] == (k == bit));
    }
}

TEST_CASE("a texture's detail, a listed address and what stands in several fields come back") {
    DecodedInstruction texture = of_kind(Kind::texture);
    put(texture, TextureView{TextureOperation::gather, {.geometry = Geometry::acube, .which = 3, .compares = true}});
    CHECK(as_texture(texture).operation == TextureOperation::gather);
    CHECK(as_texture(texture).detail.geometry == Geometry::acube);
    CHECK(as_texture(texture).detail.which == 3);
    CHECK(as_texture(texture).detail.compares);
    CHECK_FALSE(as_texture(texture).detail.offset);

    const ListedAddress address{64, 4, 0x1'2345'6789, Space::shared, 7};
    const ListedAddress back = address_from(64, lanes_of(address).data());
    CHECK(back.base == 64);
    CHECK(back.base_bytes == 4);
    CHECK(back.offset == 0x1'2345'6789);
    CHECK(back.space == Space::shared);
    CHECK(back.variable == 7);

    DecodedInstruction fragment = of_kind(Kind::matrix_load);
    put(fragment, FragmentView{MatrixOperand::c, true});
    CHECK(as_fragment(fragment).operand == MatrixOperand::c);
    CHECK(as_fragment(fragment).turned);

    DecodedInstruction call = of_kind(Kind::call);
    put(call, SystemView{SystemFunction::assert_fail});
    CHECK(is_failed_assert(call));
    put(call, SystemView{SystemFunction::malloc});
    CHECK(as_system(call).function == SystemFunction::malloc);
    CHECK_FALSE(is_failed_assert(call));
}

TEST_CASE("the decoder says by views what the text says") {
    const auto p = program_of(
        "ld.volatile.global.u32 %r1, [%rd1]; ld.global.cv.u32 %r1, [%rd1]; atom.global.max.u32 %r1, [%rd1], %r2;\n"
        "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1; vote.sync.any.pred %p1, !%p2, -1; match.all.sync.b32 %r1|%p1, %r2, -1;\n"
        "barrier.sync 1, 64; bar.red.popc.u32 %r1, 0, !%p1; mov.u64 %rd2, %clock64;\n"
        "cp.async.wait_group 3; mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r1], 16;\n"
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u32 [%rd1], [%r1], 64;\n"
        "mapa.shared::cluster.u32 %r1, %r2, 1; wgmma.wait_group.sync.aligned 2; trap; ret;");
    const auto& i = p->instructions;
    CHECK(as_access(i[0]).strong);
    CHECK_FALSE(is_weak_load(i[0]));
    CHECK_FALSE(as_access(i[1]).strong);
    CHECK(as_access(i[1]).fetches_again);
    CHECK(as_atomic(i[2]).operation == AtomicOperation::max);
    CHECK(as_shuffle(i[3]).operation == ShuffleOperation::butterfly);
    CHECK(as_vote(i[4]).operation == VoteOperation::any);
    CHECK(as_vote(i[4]).negated);
    CHECK(as_vote(i[5]).operation == VoteOperation::match_all);
    CHECK(as_barrier(i[6]).operation == BarrierOperation::sync);
    CHECK(as_barrier(i[6]).each_thread);
    CHECK(as_barrier(i[7]).operation == BarrierOperation::popc);
    CHECK(as_barrier(i[7]).negated);
    CHECK(reads_special(i[8], SpecialRegister::clock64));
    CHECK_FALSE(reads_special(i[7], SpecialRegister::clock64));
    CHECK(as_async_wait(i[9]).operation == AsyncWait::wait_group);
    CHECK(as_async_wait(i[9]).pending == 3);
    CHECK(as_mbarrier(i[10]).operation == MbarrierOperation::arrive);
    CHECK(as_mbarrier(i[10]).expects);
    CHECK(listed_address(*p, i[10], 0).space == Space::shared);
    CHECK(as_bulk(i[11]).operation == AsyncBulk::reduce);
    CHECK(as_bulk(i[11]).combines == BulkOperation::min);
    CHECK_FALSE(as_bulk(i[11]).signals);
    CHECK(as_cluster(i[12]).operation == ClusterOperation::map);
    CHECK(as_cluster(i[12]).shared_address);
    CHECK(as_group_order(i[13]).order == GroupOrder::wait);
    CHECK(as_group_order(i[13]).pending == 2);
    CHECK(as_group_order(i[14]).order == GroupOrder::none);
    CHECK_FALSE(is_failed_assert(i[14]));
}

}  // namespace ptx_views_test
