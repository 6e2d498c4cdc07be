// A step of data parallelism: its times are those of the engine's figures, worked out from its streams in another way, its
// bytes those of the model, and the picture reads at any size and hides the row that is asked about.
#include <tuple>

#include "app/gui/views/cluster/data_step.h"
#include "tests/gui/rows_desk.h"

namespace gui_data_parallel_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

constexpr const char* three_rows =
    "gpt layers=2 width=64 heads=4 ffn=128 vocabulary=64 length=32 name=at_the_end dp=4 batch=8 steps=2 bucket_bytes=0 "
    "link=ib-edr; name=in_two bucket_bytes=200000; name=buckets bucket_bytes=32768";

}  // namespace

TEST_CASE("buckets and waits of a step are those of the engine's streams, and carry every gradient once") {
    RowsDesk desk("parallel", three_rows, "data_parallel", false);
    const auto& rows = desk.result.as<scene::ParallelScene>()->rows;
    REQUIRE(rows.size() == 3);
    for (const scene::ParallelRow& row : rows) {
        INFO(row.name);
        const DataStep step = data_step(row);
        CHECK(step.end_us == Approx(row.figures.at("step_us")));
        CHECK(step.computing_us == Approx(row.figures.at("compute_us")));
        REQUIRE(step.ranks.size() == 4);
        const DataRank& rank = step.ranks.front();
        CHECK(rank.gradients_us == Approx(row.figures.at("gradients_us")));
        CHECK(rank.hidden_us == Approx(row.figures.at("hidden_us")).margin(1e-6));
        CHECK(rank.exposed_us() == Approx(row.figures.at("exposed_us")));
        CHECK(static_cast<double>(step.sent_bytes) == row.figures.at("bytes@purpose:gradients"));
        // A bucket is padded to multiples of 16 bytes a parameter.
        CHECK(static_cast<double>(step.gradient_bytes) >= 4 * row.figures.at("parameters"));
        CHECK(static_cast<double>(step.gradient_bytes) < 4.1 * row.figures.at("parameters"));
        for (const DataRank& one : step.ranks)
            for (size_t i = 1; i < one.buckets.size(); ++i) CHECK(one.buckets[i].begin >= one.buckets[i - 1].end - 1e-9);
        CHECK(rank.waits_to >= rank.waits_from);
    }
    CHECK(data_step(rows[0]).ranks[0].buckets.size() < data_step(rows[1]).ranks[0].buckets.size());
    CHECK(data_step(rows[1]).ranks[0].buckets.size() < data_step(rows[2]).ranks[0].buckets.size());
    CHECK(data_step(rows[0]).ranks[0].hidden_us == Approx(0).margin(1e-6));
    CHECK(data_step(rows[2]).ranks[0].hidden_us > 0);
}

TEST_CASE("the shortest step stands above, a bar shows another one, and keys go from bucket to bucket") {
    RowsDesk desk("parallel", three_rows, "data_parallel", false);
    const auto& rows = desk.result.as<scene::ParallelScene>()->rows;
    size_t shortest = 0;
    for (size_t i = 1; i < rows.size(); ++i)
        if (rows[i].figures.at("step_us") < rows[shortest].figures.at("step_us")) shortest = i;
    REQUIRE(shortest > 0);
    const double share = rows[shortest].figures.at("exposed_us") / rows[shortest].figures.at("gradients_us");
    CHECK(desk.shows(fmt::format("{:.0f} % of the all-reduce has nothing to hide behind", 100 * share)));
    CHECK(desk.shows("shortest"));
    CHECK(desk.quads < 8000);
    desk.shell.show_alone("data_parallel");
    desk.frames(3);
    CHECK(desk.clashes() == std::vector<std::string>{});
    desk.key(KeyCode::d);
    CHECK(desk.shows("Rank 0, bucket 1 of "));
    REQUIRE(desk.click_on("all at the end"));
    CHECK(desk.shows("All of the all-reduce waits until backward has ended"));
    desk.key(KeyCode::down);
    CHECK(!desk.shows("All of the all-reduce waits until backward has ended"));
}

TEST_CASE("while a row is asked about only the first one is seen, and nothing where the first is asked about") {
    RowsDesk desk("parallel", three_rows, "data_parallel", true);
    const auto other = [&](const char* asked) {
        auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
        snapshot->cluster = scene::cluster_picture(desk.result, "C01, step 8", asked);
        desk.show(snapshot);
    };
    const auto& rows = desk.result.as<scene::ParallelScene>()->rows;
    const auto text_of = [&](size_t row) { return time_text(rows[row].figures.at("step_us")); };
    other("buckets");
    CHECK(desk.shows(text_of(0)));
    CHECK(!desk.shows(text_of(1)));
    CHECK(!desk.shows(text_of(2)));
    CHECK(!desk.shows("hide behind"));
    CHECK(desk.shell.describe("data_parallel").find("exposed") == std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
    other("at_the_end");
    CHECK(!desk.shows(text_of(0)));
}

TEST_CASE("no text of a step of data parallelism clashes at any size", "[long]") {
    for (const auto& [width, height, scale] :
         {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
        RowsDesk desk("parallel", three_rows, "data_parallel", false);
        desk.size(width, height, scale);
        desk.frames(6);
        INFO(width << " x " << height << " at " << scale);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("rows on one rank and on several tell first how long each takes for a step") {
    RowsDesk desk("parallel", "mlp widths=16,32,8 name=one batch=32 steps=2; name=four dp=4; name=eight dp=8",
                  "data_parallel", false);
    const auto& rows = desk.result.as<scene::ParallelScene>()->rows;
    const std::vector<DataStep> steps = data_steps(*desk.session.snapshot()->cluster);
    REQUIRE(steps.size() == 3);
    CHECK(data_headline(steps, steps[2]).starts_with("8 ranks take "));
    CHECK(data_headline(steps, steps[2]).find("one takes ") != std::string::npos);
    CHECK(desk.shows(time_text(rows[0].figures.at("step_us"))));
    CHECK(desk.shows("8 ranks take "));
    CHECK(buckets_words(1) == "1 bucket");
    CHECK(data_difference(steps[2], steps[1]).find("1 buckets") == std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
}

}  // namespace gui_data_parallel_test
