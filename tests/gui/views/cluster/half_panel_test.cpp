// Pictures of many ranks in half a panel of a small window: each fits there without scrolling, and no text lies on another.
#include <tuple>

#include "tests/gui/rows_desk.h"

namespace gui_half_panel_test {

using namespace lockstep;
using namespace lockstep::gui;
using test::RowsDesk;

TEST_CASE("pictures of many ranks fit into half a panel of a small window") {
    constexpr const char *rings =
                             "llama3-8b name=in_order cp=8 tp=8 dp=1 context=ring zero=1 sequence_parallel=1 "
                             "sequence=131072 batch=8; llama3-8b name=balanced context=balanced_ring",
                         *plans =
                             "llama3-405b name=tp_8 dp=64 tp=8 pp=16 zero=2 batch=2048; llama3-405b name=tp_16 dp=32 tp=16",
                         *steps = "mlp widths=16,32,8 name=one batch=32 steps=2; name=four dp=4; name=eight dp=8",
                         *feeds = "mlp widths=16,32,8 name=parts dp=3 batch=12 records=96; name=whole feed=whole",
                         *product = "product name=sums mesh=x:2,y:2 shape=4x6x4 a=-,x b=x,- to=-,-",
                         *world = "tensor name=world mesh=host:2,slot:4 shape=8x4 layout=host*slot,-",
                         *state = "state parameters=7500000000 dp=64 zero=0; state name=os zero=1";
    for (const auto& [kind, rows, view] : {std::tuple{"plan", rings, "ring_attention"},
                                           {"plan", plans, "groups"},
                                           {"parallel", steps, "data_parallel"},
                                           {"parallel", feeds, "workers"},
                                           {"mesh", product, "owners"},
                                           {"mesh", world, "processes"},
                                           {"plan", state, "rank_memory"}}) {
        INFO(view);
        RowsDesk desk(kind, rows, view, false);
        desk.shell.show_alone(view);
        desk.size(900, 420, 1);
        desk.frames(4);
        CHECK(view_named(view)->least <= 300);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("the squares of the records stand in half a panel as well") {
    RowsDesk desk("parallel", "mlp widths=16,32,8 name=parts dp=3 batch=12 records=96; name=whole feed=whole", "workers",
                  false);
    desk.shell.show_alone("workers");
    desk.size(900, 420, 1);
    desk.frames(4);
    CHECK(desk.shows("squares: records; hollow: read again"));
}

}  // namespace gui_half_panel_test
