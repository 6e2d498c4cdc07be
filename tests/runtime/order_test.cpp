// Which pieces of work race with each other: streams, events, the default stream, a host that waits.
#include "core/runtime/order.h"

#include "tests/catch.h"

namespace runtime_order_test {

using namespace lockstep;
using runtime::Touch;
using runtime::WorkOrder;

namespace {

std::optional<WorkOrder::Race> add(WorkOrder& order, const char* name, uint32_t stream, Touch touch) {
    return order.add({name, stream, {}}, std::span(&touch, 1));
}
constexpr Touch reads{100, 200, false}, writes{100, 200, true};

TEST_CASE("two streams that touch the same bytes race, unless both read or the bytes are others") {
    WorkOrder order;
    CHECK_FALSE(add(order, "copy", 1, writes));
    CHECK_FALSE(add(order, "kernel", 2, {200, 300, true}));
    const auto race = add(order, "kernel", 2, {150, 160, false});
    REQUIRE(race);
    CHECK(race->earlier.name == "copy");
    CHECK(race->address == 150);
    CHECK(race->earlier_writes);
    CHECK_FALSE(race->later_writes);
    WorkOrder readers;
    CHECK_FALSE(add(readers, "a", 1, reads));
    CHECK_FALSE(add(readers, "b", 2, reads));
    CHECK(add(readers, "c", 3, writes));
}

TEST_CASE("a stream is in order, and an event orders two") {
    WorkOrder order;
    CHECK_FALSE(add(order, "a", 1, writes));
    CHECK_FALSE(add(order, "b", 1, writes));
    order.record(7, 1);
    CHECK_FALSE(add(order, "late", 1, {500, 600, true}));
    order.wait(2, 7);
    CHECK_FALSE(add(order, "c", 2, reads));
    CHECK(add(order, "d", 2, {500, 600, false}));  // behind the event's record
}

TEST_CASE("an event orders what the recording stream had waited for too") {
    WorkOrder order;
    add(order, "a", 1, writes);
    order.record(1, 1);
    order.wait(2, 1);
    order.record(2, 2);
    order.wait(3, 2);
    CHECK_FALSE(add(order, "b", 3, writes));
}

TEST_CASE("the default stream waits for the others and they for it, but for those that are independent") {
    WorkOrder order;
    order.set_independent(2);
    CHECK_FALSE(add(order, "a", 1, writes));
    CHECK_FALSE(add(order, "b", 0, writes));
    CHECK_FALSE(add(order, "c", 1, writes));
    CHECK(add(order, "d", 2, writes));
    WorkOrder other;
    other.set_independent(2);
    CHECK_FALSE(add(other, "a", 2, writes));
    CHECK(add(other, "b", 0, reads));
}

TEST_CASE("a host that waits orders what it asks for later") {
    WorkOrder order;
    add(order, "a", 1, writes);
    add(order, "b", 2, {300, 400, true});
    order.host_waits_for_stream(1);
    CHECK_FALSE(add(order, "c", 3, writes));
    CHECK(add(order, "d", 3, {300, 400, true}));
    order.host_waits_for_all();
    CHECK_FALSE(add(order, "e", 4, {300, 400, true}));
    order.record(5, 4);
    add(order, "f", 4, {700, 800, true});
    order.host_waits_for_event(5);
    CHECK_FALSE(add(order, "g", 1, {300, 400, true}));
    CHECK(add(order, "h", 1, {700, 800, true}));
}

}  // namespace
}  // namespace runtime_order_test
