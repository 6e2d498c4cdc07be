// Ring attention: every block has the rank and the round that follow from who holds which places of the sequence, totals are
// those that can be counted by hand, and the picture reads at any size and tells nothing while its question is open.
#include <numeric>
#include <tuple>

#include "app/gui/views/collective/ring_split.h"
#include "core/parallel/blocks/model.h"
#include "tests/gui/rows_desk.h"

namespace gui_ring_attention_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

constexpr const char* two_rings =
    "llama3-8b name=in_order cp=8 tp=8 dp=1 context=ring zero=1 sequence_parallel=1 sequence=131072 batch=8; llama3-8b "
    "name=balanced context=balanced_ring";

}  // namespace

TEST_CASE("each block of the triangle is its queries' rank's, in the round in which its keys have come so far") {
    for (const int ranks : {2, 3, 4, 8, 16})
        for (const bool balanced : {false, true}) {
            INFO(ranks << (balanced ? " balanced" : " in order"));
            const RingSplit ring = ring_split(ranks, balanced);
            parallel::ParallelPlan plan;
            plan.cp = ranks;
            plan.context = balanced ? parallel::Context::balanced_ring : parallel::Context::ring;
            std::vector<int> holder(static_cast<size_t>(2 * ranks), -1);  // a place a piece
            for (int rank = 0; rank < ranks; ++rank)
                for (const parallel::PlaceRun& run : parallel::places_of(plan, rank, 2 * ranks))
                    for (int64_t place = run.first; place < run.last; ++place) holder[static_cast<size_t>(place)] = rank;
            size_t seen = 0;
            double work = 0;
            for (int query = 0; query < 2 * ranks; ++query)
                for (int key = 0; key < 2 * ranks; ++key) {
                    const RingBlock* block = ring.block_at(query, key);
                    REQUIRE((block != nullptr) == (key <= query));
                    if (block == nullptr) continue;
                    const int of_query = holder[static_cast<size_t>(query)], of_key = holder[static_cast<size_t>(key)];
                    CHECK(block->rank == of_query);
                    CHECK(block->round == (of_query - of_key + ranks) % ranks);
                    CHECK(block->half == (query == key));
                    ++seen;
                    work += query == key ? 0.5 : 1;
                }
            CHECK(ring.blocks.size() == seen);
            CHECK(ring.work() == work);
            CHECK(ring.work() == 2.0 * ranks * ranks);
        }
}

TEST_CASE("cut in order the last rank is never idle and all wait for it; balanced nobody waits") {
    const RingSplit four = ring_split(4, false), even = ring_split(4, true);
    CHECK(std::vector<double>{four.work_of(0), four.work_of(1), four.work_of(2), four.work_of(3)} ==
          std::vector<double>{2, 6, 10, 14});
    CHECK(four.end == 14);
    CHECK(even.end == 8);
    CHECK(even.busy() == 1);
    for (int rank = 0; rank < 4; ++rank)
        for (const RingTurn& turn : even.turns[static_cast<size_t>(rank)]) CHECK(turn.work == 2);
    CHECK(ring_split(8, false).end == 30);
    CHECK(ring_split(8, true).end == 16);
    for (const bool balanced : {false, true}) {  // no round begins before the neighbour has begun with these keys
        const RingSplit ring = ring_split(8, balanced);
        for (size_t rank = 0; rank < 8; ++rank)
            for (size_t round = 1; round < 8; ++round) {
                CHECK(ring.turns[rank][round].begin >= ring.turns[(rank + 7) % 8][round - 1].begin);
                CHECK(ring.turns[rank][round].begin >= ring.turns[rank][round - 1].end());
            }
    }
}

TEST_CASE("the two cuts of a plan stand side by side, blocks and rounds can be picked, and the step is the planner's") {
    RowsDesk desk("plan", two_rings, "ring_attention", false);
    CHECK(desk.shows("Balanced: 16 blocks of time instead of 30"));
    CHECK(desk.shows("14 sooner"));
    const auto& rows = desk.result.as<scene::ParallelScene>()->rows;
    const std::string said = desk.shell.describe("ring_attention");
    for (const scene::ParallelRow& row : rows)
        CHECK(said.find("the whole step " + time_text(row.figures.at("step_us")) + " by the planner") != std::string::npos);
    CHECK(desk.quads < 8000);
    desk.shell.show_alone("ring_attention");
    desk.frames(3);
    CHECK(desk.clashes() == std::vector<std::string>{});
    desk.key(KeyCode::d);
    CHECK(desk.shows("Balanced, rank 1, round 2: queries 1 and 14 with keys 7 and 8, rank 7's: 2 blocks of time"));
    CHECK(desk.shows("The ring in round 2"));
    desk.key(KeyCode::down);
    CHECK(desk.shows("Balanced, rank 2, round 2: queries 2 and 13 with keys 0 and 15, rank 0's"));
    REQUIRE(desk.click_on("waits 28"));  // a wait is no turn: nothing changes
    CHECK(desk.shows("Balanced, rank 2, round 2"));
}

TEST_CASE("one cut alone tells who works most; a scene without a ring says so") {
    {
        RowsDesk one("plan", "llama3-8b name=ring cp=4 tp=8 dp=1 context=ring zero=1 sequence=131072 batch=8",
                     "ring_attention", false);
        CHECK(one.shows("Rank 3 works on 14 of 32 blocks, rank 0 on 2"));
        CHECK(one.clashes() == std::vector<std::string>{});
    }
    RowsDesk none("plan", "llama3-8b name=whole dp=8 tp=8 zero=1", "ring_attention", false);
    CHECK(none.shell.describe("ring_attention").find("no sequence is cut") != std::string::npos);
}

TEST_CASE("while the question is open neither blocks nor times of a ring are told") {
    RowsDesk desk("plan", two_rings, "ring_attention", true);
    const std::string said = desk.shell.describe("ring_attention");
    CHECK(said.find("hidden until you lock") != std::string::npos);
    CHECK(said.find("blocks of time") == std::string::npos);
    CHECK(said.find("round") == std::string::npos);
    CHECK(!desk.shows("blocks of time"));
    CHECK(!desk.shows("instead of"));
    for (const UiState::Written& text : desk.written) CHECK(!text.text.starts_with("waits"));  // as the rings' bars do
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("no text of the ring's picture clashes at any size", "[long]") {
    for (const char* rows : {two_rings, "llama3-8b name=ring cp=16 tp=4 dp=1 context=ring zero=1 sequence=131072 batch=8"})
        for (const auto& [width, height, scale] :
             {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
            RowsDesk desk("plan", rows, "ring_attention", false);
            desk.size(width, height, scale);
            desk.frames(6);
            INFO(width << " x " << height << " at " << scale);
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
}

}  // namespace gui_ring_attention_test
