// Asynchronous instructions and clusters: copies, their groups and waits, mbarriers, barrier.cluster, mapa, elect.
// Operands lie in Program::lists; views_async.h says how.
#include "core/ptx/decode/decoder.h"

namespace lockstep::ptx {

namespace {

// The spaces of an instruction's modifiers, in their order: ".shared::cluster.global" has two.
std::vector<Space> spaces_among(const std::vector<std::string_view>& modifiers) {
    std::vector<Space> spaces;
    for (std::string_view m : modifiers) {
        if (m == ".shared" || m == ".shared::cta" || m == ".shared::cluster") spaces.push_back(Space::shared);
        if (m == ".global") spaces.push_back(Space::global);
    }
    return spaces;
}

}  // namespace

void Decoder::list_address(DecodedInstruction& out, const Operand& address, Space space) {
    if (address.kind != Operand::Kind::address) complain("expected an address such as [%rd1+4]", address);
    ListedAddress to{.base = frame_.constant(0, 8), .offset = address.value};
    if (!address.name.empty()) {
        if (const Slot* slot = frame_.register_named(address.name, statement_->scope)) {
            to.base_bytes = static_cast<uint32_t>(register_size(slot->type));
            if ((to.base_bytes != 4 && to.base_bytes != 8) || slot->type == Type::f32 || slot->type == Type::f64)
                complain("an address is in a register of .b32 or .b64, '" + std::string(address.name) + "' is of " +
                             dotted(slot->type),
                         address);
            to.base = slot->offset;
        } else {
            const Located* located = frame_.variable_named(address.name, statement_->scope);
            if (!located) unknown_name(address, address.name);
            const Space of = located->variable->space;
            if (space == Space::generic) space = of;
            if (of != space || (of != Space::shared && of != Space::global))
                complain("'" + std::string(address.name) + "' is in ." + std::string(name_of(of)) + ", not in ." +
                             std::string(name_of(space)),
                         address);
            if (of == Space::global) to.variable = located->index;
            to.offset += located->offset;
        }
    }
    to.space = space;
    program_.lists.push_back(to.base);
    program_.lists.push_back(frame_.constant_lanes(lanes_of(to)));
    out.list_sources = static_cast<uint16_t>(out.list_sources + address_entries);
}

void Decoder::list_value(DecodedInstruction& out, const Operand& value, Type type) {
    program_.lists.push_back(source(value, type));
    ++out.list_sources;
}

// The number in an operand that must be one.
uint64_t Decoder::number(const Operand& o, uint64_t least, uint64_t most, const char* what) const {
    if (o.kind != Operand::Kind::integer || o.value < least || o.value > most)
        complain(std::string(what) + " is a number from " + std::to_string(least) + " to " + std::to_string(most), o);
    return o.value;
}

void Decoder::decode_async(DecodedInstruction& out) {
    out.list = static_cast<uint32_t>(program_.lists.size());
    switch (out.kind) {
        case Kind::async_copy:
            return decode_async_copy(out);
        case Kind::async_wait:
        case Kind::bulk_wait:
            return decode_async_wait(out);
        case Kind::mbarrier:
            return decode_mbarrier(out);
        default:
            return decode_cluster(out);
    }
}

// cp.async.{ca|cg}.shared.global [to], [from], size {, source size | predicate that ignores the source} {, policy}
void Decoder::decode_async_copy(DecodedInstruction& out) {
    const bool hint = holds(modifiers_, ".L2::cache_hint");
    expect_operands(hint ? 4 : 3, hint ? 5 : 4);
    const uint64_t bytes = number(operand(2), 4, 16, "the size of cp.async");
    if (bytes != 4 && bytes != 8 && bytes != 16) complain("cp.async copies 4, 8 or 16 bytes", operand(2));
    if (bytes != 16 && holds(modifiers_, ".cg")) complain("cp.async.cg copies 16 bytes", operand(2));
    out.type = out.destination_type = Type::b32;
    AsyncCopyView view{.bytes = static_cast<uint32_t>(bytes)};
    out.space = Space::global;
    list_address(out, operand(0), Space::shared);
    list_address(out, operand(1), Space::global);
    const size_t last = statement_->operands.size() - (hint ? 1 : 0);  // behind the operand that limits the source
    if (last == 4) {
        const Operand& limit = operand(3);
        const bool ignores = limit.negated || (limit.kind == Operand::Kind::name && limit.name != "WARP_SZ" &&
                                               register_of(limit).type == Type::pred);
        view.source = ignores ? AsyncCopy::ignores_source : AsyncCopy::limits_source;
        view.negated = limit.negated;
        list_value(out, limit, ignores ? Type::pred : Type::u32);
    }
    if (hint) list_value(out, operand(last), Type::b64);
    put(out, view);
}

// cp.async.commit_group | .wait_group n | .wait_all | .mbarrier.arrive{.noinc} [mbarrier], and those of cp.async.bulk
void Decoder::decode_async_wait(DecodedInstruction& out) {
    const bool waits = holds(modifiers_, ".wait_group"), arrives = holds(modifiers_, ".mbarrier");
    expect_operands(waits || arrives ? 1 : 0, waits || arrives ? 1 : 0);
    AsyncWaitView view;
    if (arrives)
        view.operation = holds(modifiers_, ".noinc") ? AsyncWait::arrive_no_increment : AsyncWait::arrive;
    else if (waits)
        view.operation = holds(modifiers_, ".read") ? AsyncWait::wait_group_read : AsyncWait::wait_group;
    else if (holds(modifiers_, ".wait_all"))
        view.operation = AsyncWait::wait_all;
    if (waits) view.pending = static_cast<int64_t>(number(operand(0), 0, UINT32_MAX, "the groups that may be pending"));
    put(out, view);
    if (!arrives) return;
    const std::vector<Space> spaces = spaces_among(modifiers_);
    out.type = out.destination_type = Type::b64;
    list_address(out, operand(0), spaces.empty() ? Space::generic : Space::shared);
}

// init [m], count | inval [m] | arrive, arrive_drop state, [m] {, count} | arrive.expect_tx state, [m], bytes
// | expect_tx, complete_tx [m], bytes | test_wait, try_wait p, [m], state or parity {, time} | pending_count n, state
void Decoder::decode_mbarrier(DecodedInstruction& out) {
    constexpr std::string_view names[] = {".init",        ".inval",     ".arrive",   ".arrive_drop",  ".expect_tx",
                                          ".complete_tx", ".test_wait", ".try_wait", ".pending_count"};
    MbarrierView view;
    for (uint8_t i = 0; i < std::size(names); ++i)
        if (modifiers_[0] == names[i]) view.operation = static_cast<MbarrierOperation>(i);
    const MbarrierOperation operation = view.operation;
    const std::vector<Space> spaces = spaces_among(modifiers_);
    const Space space = spaces.empty() ? Space::generic : Space::shared;
    const bool expects = operation != MbarrierOperation::expect_tx && holds(modifiers_, ".expect_tx");
    out.type = out.destination_type = Type::b64;
    switch (operation) {
        case MbarrierOperation::init:
        case MbarrierOperation::expect_tx:
        case MbarrierOperation::complete_tx:
            expect_operands(2, 2);
            list_address(out, operand(0), space);
            list_value(out, operand(1), Type::u32);
            break;
        case MbarrierOperation::inval:
            expect_operands(1, 1);
            list_address(out, operand(0), space);
            break;
        case MbarrierOperation::arrive:
        case MbarrierOperation::arrive_drop: {
            const bool counted = expects || holds(modifiers_, ".noComplete");
            expect_operands(counted ? 3 : 2, 3);
            if (operand(0).name != "_") {
                if (holds(modifiers_, ".shared::cluster"))
                    complain(spelled() + " gives no state: its first operand is _", operand(0));
                out.destination[0] = destination(operand(0), Type::b64);
            }
            list_address(out, operand(1), space);
            if (statement_->operands.size() > 2) list_value(out, operand(2), Type::u32);
            view.expects = expects;
            view.no_complete = holds(modifiers_, ".noComplete");
            break;
        }
        case MbarrierOperation::test_wait:
        case MbarrierOperation::try_wait: {
            const bool parity = holds(modifiers_, ".parity");
            expect_operands(3, operation == MbarrierOperation::try_wait ? 4 : 3);
            out.destination_type = Type::pred;
            out.destination[0] = destination(operand(0), Type::pred);
            list_address(out, operand(1), space);
            list_value(out, operand(2), parity ? Type::u32 : Type::b64);
            if (statement_->operands.size() > 3) list_value(out, operand(3), Type::u32);
            view.parity = parity;
            break;
        }
        case MbarrierOperation::pending_count:
            expect_operands(2, 2);
            out.destination_type = Type::u32;
            out.destination[0] = destination(operand(0), Type::u32);
            list_value(out, operand(1), Type::b64);
            break;
    }
    put(out, view);
}

// barrier.cluster.arrive | barrier.cluster.wait | mapa d, a, rank | getctarank d, a, and what has no effect here
void Decoder::decode_cluster(DecodedInstruction& out) {
    const std::string_view stem = stem_of(statement_->opcode);
    if (stem == "barrier") {
        expect_operands(0, 0);
        return put(out, ClusterView{holds(modifiers_, ".wait") ? ClusterOperation::wait : ClusterOperation::arrive});
    }
    if (stem == "mapa" || stem == "getctarank") {
        const bool map = stem == "mapa";
        expect_operands(map ? 3 : 2, map ? 3 : 2);
        put(out, ClusterView{map ? ClusterOperation::map : ClusterOperation::rank, !spaces_among(modifiers_).empty()});
        out.type = last_type_;
        out.destination_type = map ? last_type_ : Type::u32;
        out.destination[0] = destination(operand(0), out.destination_type);
        out.source[0] = source(operand(1), last_type_);
        if (map) out.source[1] = source(operand(2), Type::u32);
        return;
    }
    if (stem == "fence") {  // fence.proxy and fence.mbarrier_init: like all fences they order nothing in this machine
        const bool acquires =
            holds(modifiers_, ".proxy") && holds(modifiers_, ".acquire") && !holds(modifiers_, ".async::generic");
        expect_operands(acquires ? 2 : 0, acquires ? 2 : 0);
        if (acquires) {
            list_address(out, operand(0), Space::generic);
            number(operand(1), 128, 128, "the size of a tensor map");
            program_.lists.resize(out.list);
            out.list_sources = 0;
        }
        out.kind = Kind::fence;
        return;
    }
    if (stem == "setmaxnreg") {
        expect_operands(1, 1);
        if (number(operand(0), 24, 256, "the registers of setmaxnreg") % 8)
            complain("the registers of setmaxnreg are a multiple of 8", operand(0));
    } else {
        expect_operands(0, 0);
    }
    out.kind = Kind::nop;
}

// elect.sync d|p, members
void Decoder::decode_elect(DecodedInstruction& out) {
    expect_operands(2, 2);
    put(out, VoteView{VoteOperation::elect});
    out.type = out.destination_type = Type::b32;
    if (operand(0).second.empty()) complain("elect.sync gives a lane and a predicate: %r1|%p1", operand(0));
    out.destination[0] = destination(operand(0), Type::b32);
    out.destination[1] = destination_named(operand(0).second, operand(0), Type::pred);
    out.source[1] = source(operand(1), Type::b32);
}

}  // namespace lockstep::ptx
