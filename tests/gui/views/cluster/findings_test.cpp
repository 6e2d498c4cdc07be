// What pictures of many ranks say above themselves, and what their colours tell.
#include "app/gui/views/collective/collective_data.h"
#include "app/gui/views/lesson/figure_findings.h"
#include "tests/gui/rows_desk.h"

namespace gui_findings_test {

using namespace lockstep;
using namespace lockstep::gui;
using test::RowsDesk;

namespace {

std::string headline_of(const char* rows) {
    RowsDesk desk("collective", rows, "collective", false);
    CollectiveBoard board;
    board.adopt(desk.session.snapshot()->cluster->collective);
    return collective_headline(board);
}

}  // namespace

TEST_CASE("a collective's headline says when all have it, and how") {
    CHECK(headline_of("tree operation=broadcast ranks=8 bytes=400000000 link=nvlink4") ==
          "A tree, 3 copies one after another: all 8 ranks have the 400 MB after 2.67 ms");
    CHECK(headline_of("ring operation=broadcast ranks=8 bytes=400000000 link=nvlink4") ==
          "A chain, 16 pieces close behind each other: all 8 ranks have the 400 MB after 1.23 ms");
    CHECK(headline_of("parameter_server operation=broadcast ranks=8 bytes=400000000 link=nvlink4") ==
          "One link, 7 copies one after another: all 8 ranks have the 400 MB after 6.22 ms");
    CHECK(headline_of("ring ranks=4 bytes=64000000 link=ib-edr").starts_with("All 4 ranks have the sum of 64 MB after "));
    CHECK(headline_of("own ranks=2 chunks=1 bytes=1000\nround 1: 0>1:0+") == "1 of 2 ranks have the whole sum in the end");
    CHECK(headline_of("ring ranks=4 bytes=64000000 topology=two_level node_size=2 link=10gbe inner=nvlink4") ==
          "The sum takes 76.8 ms: the wall is busy 100 % of it, links in a node 0.28 %");
}

TEST_CASE("where nothing is added up a colour is a piece or a step, and S is named") {
    {
        RowsDesk tree("collective", "tree operation=broadcast ranks=8 bytes=400000000 link=nvlink4", "collective", false);
        const std::shared_ptr<const scene::ClusterScene> scene = tree.session.snapshot()->cluster;
        const scene::CollectiveShown& shown = scene->collective;
        CHECK(message_code(shown) == MessageCode::by_step);
        CHECK(message_look(shown, shown.messages.front()).name == "1");
        CHECK(message_look(shown, shown.messages.back()).name == "3");
        CHECK(tree.shows("step 1"));
        CHECK(tree.shows("S: the buffer, 400 MB"));
        CHECK(tree.shows("NVLink 4"));
        CHECK(tree.clashes() == std::vector<std::string>{});
    }
    {
        RowsDesk chain("collective", "ring operation=broadcast ranks=8 bytes=400000000 link=nvlink4", "collective", false);
        CHECK(message_code(chain.session.snapshot()->cluster->collective) == MessageCode::by_piece);
        CHECK(chain.shows("piece"));
    }
    RowsDesk sums("collective", "ring ranks=4 bytes=64000000", "collective", false);
    CHECK(message_code(sums.session.snapshot()->cluster->collective) == MessageCode::by_sum);
}

TEST_CASE("what bars draw needs no column beside them") {
    RowsDesk desk("plan",
                  "llama3-8b name=small dp=64 zero=3 link=ib-ndr sequence=8192 batch=64 tokens=15000; llama3-8b name=cut "
                  "dp=8 tp=8 sequence_parallel=1",
                  "rows", false);
    CHECK(!desk.shows("all memory"));
    CHECK(!desk.shows("MWh, "));
    CHECK(desk.shows("TFLOP/s"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    scene::FigureTable table = desk.table();
    const size_t before = table.columns.size();
    take_drawn_columns(table, 0);
    CHECK(table.columns.size() == before);
    take_drawn_columns(table, table.stacks.size());
    CHECK(table.columns.size() < before - 4);
    for (const scene::FigureRow& row : table.rows) CHECK(row.values.size() == table.columns.size());
}

TEST_CASE("one plan's headline says what is asked for: what a GPU reaches, a part, or days and energy of the run") {
    const auto with_first = [](scene::FigureTable table, std::string_view unit) {  // the stack in that unit
        std::stable_partition(table.stacks.begin(), table.stacks.end(),
                              [&](const scene::FigureStack& stack) { return stack.unit == unit; });
        return table;
    };
    {
        RowsDesk desk("plan", "llama3-8b name=cut dp=8 tp=8 sequence_parallel=1 link=10gbe sequence=8192 batch=64", "rows",
                      false);
        const scene::FigureTable table = with_first(desk.table(), "us");
        CHECK_THAT(
            figures_headline(table, "rate"),
            Catch::Matchers::Matches("Each GPU reaches .* TFLOP/s, .* % of its peak; it computes for .* % of the step"));
        CHECK_THAT(figures_headline(table, "tensor parallel"), Catch::Matchers::Contains("is tensor parallel: "));
    }
    RowsDesk desk("plan", "llama3-8b name=run dp=64 zero=3 link=ib-ndr sequence=8192 batch=64 tokens=15000", "rows", false);
    CHECK_THAT(figures_headline(with_first(desk.table(), "MWh")),
               Catch::Matchers::Matches("The whole run takes .* days and .* on 64 GPUs; .* % is computing"));
}

TEST_CASE("rows of links say whether latency or the bytes make their times") {
    {
        RowsDesk small("collective", "ring name=slow ranks=8 bytes=4096 link=10gbe; ring name=fast link=nvlink4", "rows",
                       false);
        CHECK(figures_headline(small.table()) ==
              "Latency is at least 90 % of the time; slow takes 7.34 times as long as fast");
    }
    RowsDesk large("collective", "ring name=slow ranks=8 bytes=64000000 link=10gbe; ring name=fast link=nvlink4", "rows",
                   false);
    CHECK(figures_headline(large.table()) == "Bytes make the time, by bandwidth: slow takes 348 times as long as fast");
}

TEST_CASE("a checkpoint holds the state without its gradients") {
    RowsDesk desk("plan", "state name=the_GPU parameters=7500000000 zero=0; state name=the_checkpoint saved=1", "rows",
                  false);
    const auto& rows = desk.result.as<scene::ParallelScene>()->rows;
    CHECK(rows[0].figures.at("memory") == 120e9);
    CHECK(rows[1].figures.at("memory") == 105e9);
    CHECK(rows[1].figures.at("gradients") == 0);
    CHECK(figures_headline(desk.table()) == "The GPU holds 1.14 times as much as the checkpoint: 120 GB against 105 GB");
}

TEST_CASE("a state's gradients may be FP32, and a scene says which of its bars come first") {
    {
        RowsDesk desk("plan", "state parameters=1000 gradients=f32 zero=0", "rows", false);
        CHECK(desk.result.as<scene::ParallelScene>()->rows[0].figures.at("memory") == 18000);
        CHECK(!scene::run_parallel_scene("plan", "state gradients=f64", {"lesson.md", 1, 1}, {}).ok());
    }
    RowsDesk desk(
        "plan",
        "llama3-405b name=on_8192_GPUs dp=64 tp=8 pp=16 zero=2 sequence_parallel=1 context=balanced_ring "
        "schedule=interleaved chunks=8 link=ib-ndr sequence=8192 batch=2048; llama3-405b name=on_16384_GPUs dp=128",
        "rows", false);
    const auto before = [&](const char* one, const char* other) {
        const std::string text = view_named("rows")->make()->describe(desk.session, desk.shell.focus);
        return text.find(one) < text.find(other);
    };
    CHECK(before("Memory of the fullest GPU (", "Time of a step ("));
    auto lesson = std::make_shared<lessons::Lesson>(*desk.session.lesson.lesson);
    lesson->steps[0].scenes[0].focus = "of:time";
    desk.session.lesson.lesson = lesson;
    CHECK(before("Time of a step (", "Memory of the fullest GPU ("));
    desk.frames(3);
    CHECK(desk.shows("On 8192 GPUs takes 1.83 times as long as on 16384 GPUs"));
    CHECK(desk.shows("; bubble 7 and 13 %"));
}

TEST_CASE("runs that draw one curve show how far apart they are") {
    RowsDesk desk("parallel", "mlp widths=16,32,8 name=one batch=32 steps=6 dtype=f64; name=four dp=4", "ranks", false);
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    for (const scene::ParallelRow& row : desk.result.as<scene::ParallelScene>()->rows) {
        Curve& curve = snapshot->training.curves.emplace_back();
        curve.name = row.name;
        curve.loss.assign(row.losses.begin(), row.losses.end());
        curve.total_steps = static_cast<int64_t>(curve.loss.size());
    }
    desk.show(snapshot);
    CHECK(desk.shows("2 runs, one curve"));
    CHECK(desk.shows("how far off the losses of one are"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("how often something breaks stands as dots on an axis; walls say what grew") {
    {
        RowsDesk desk("plan", "state parameters=8000000000 dp=64 zero=0", "breakdowns", false);
        CHECK(desk.shows("1 year"));
        CHECK(desk.shows("3.1 hours"));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
    {
        RowsDesk wall("plan", "state parameters=8000000000 dp=64 zero=0", "memory_wall", false);
        CHECK(wall.shows("arithmetic grew 47 times"));
        CHECK(wall.clashes() == std::vector<std::string>{});
    }
    RowsDesk network("collective", "ring ranks=32 bytes=64000000 topology=two_level node_size=8 link=10gbe inner=nvlink4",
                     "network", false);
    CHECK(network.shows("Links between nodes are busy 100 % of it, in a node"));
    CHECK(network.clashes() == std::vector<std::string>{});
}

}  // namespace gui_findings_test
