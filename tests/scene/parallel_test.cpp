// Scenes of many ranks: their rows, their figures, the words of their mistakes, and that no text harms.
#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/scene/cluster/parallel_picture.h"
#include "core/scene/cluster/worker_lanes.h"
#include "core/scene/figures/figure_table.h"
#include "core/scene/figures/figures.h"
#include "tests/catch.h"

namespace scene_parallel_test {

using namespace lockstep;
using namespace lockstep::scene;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<const ParallelScene> scene_of(const std::string& kind, const std::string& text) {
    const auto scene = run_parallel_scene(kind, text, {"lesson.md", 1, 1}, {});
    if (!scene) FAIL(render(scene.error()));
    return scene.value();
}
double figure(const std::shared_ptr<const ParallelScene>& scene, const std::string& name) {
    const Result<double> value = figure_of(*scene, name);
    if (!value) FAIL(render(value.error()));
    return value.value();
}
std::string refusal_of(const std::string& kind, const std::string& text) {
    const auto scene = run_parallel_scene(kind, text, {"lesson.md", 1, 1}, {});
    return scene ? "no mistake" : render(scene.error());
}

}  // namespace

TEST_CASE("rows of schedules have the textbook's bubbles") {
    const auto scene =
        scene_of("schedule", "gpipe ranks=4 microbatches=8; 1f1b; zb-h1 name=zero; 1f1b name=more microbatches=32");
    CHECK(figure(scene, "rows") == 4);
    CHECK(figure(scene, "bubble_of_total") == Approx(3.0 / 11));  // (p-1)/(m+p-1)
    CHECK(figure(scene, "bubble_of_total@row:1f1b") == Approx(3.0 / 11));
    CHECK(figure(scene, "bubble_over_ideal") == Approx(3.0 / 8));  // (p-1)/m
    CHECK(figure(scene, "bubble_of_total@row:more") == Approx(3.0 / 35));
    CHECK(figure(scene, "bubble_of_total@row:zero") < figure(scene, "bubble_of_total@row:1f1b"));
    CHECK(figure(scene, "peak_activations") == 8);
    CHECK(figure(scene, "peak_activations@row:1f1b") == 4);
    CHECK(figure(scene, "peak_activations@rank:3@row:1f1b") == 1);
    CHECK(figure(scene, "idle_a_rank") == Approx(figure(scene, "formula_idle")));
    CHECK(figure(scene, "end@action:F1@rank:0") == 1);
}

TEST_CASE("what a rank of several chunks keeps is counted in micro-batches, a chunk as its share") {
    const auto scene = scene_of("schedule", "1f1b ranks=4 microbatches=8; interleaved chunks=2");
    CHECK(figure(scene, "peak_activations@rank:0") == 4);
    CHECK(figure(scene, "peak_activations@rank:0@row:interleaved") == 5.5);  // eleven halves
    CHECK(figure(scene, "peak_activations@row:interleaved") == 5.5);
}

TEST_CASE("a schedule of one's own runs, and a wrong one is refused with its reason") {
    const std::string good = "own ranks=2 microbatches=2\nrank 0: F1 F2 B1 B2\nrank 1: F1 B1 F2 B2\n";
    const auto scene = scene_of("schedule", good);
    CHECK(figure(scene, "peak_activations@rank:0") == 2);
    CHECK(figure(scene, "peak_activations@rank:1") == 1);
    CHECK(figure(scene, "total") == Approx(9));  // 2 micro-batches of 3 units, one rank ahead: (m + p - 1)(F + B)
    CHECK_THAT(refusal_of("schedule", "own ranks=2 microbatches=2\nrank 0: F1 B1 B2\nrank 1: F1 B1 F2 B2\n"),
               Contains("cannot run"));
    CHECK_THAT(refusal_of("schedule", "own ranks=2 microbatches=2\nrank 0: B1 F1 F2 B2\nrank 1: F1 B1 F2 B2\n"),
               Contains("cannot run"));
    CHECK_THAT(refusal_of("schedule", "own ranks=2 microbatches=2\nrank 0: F1 F2 B1 B2\n"), Contains("rank 1 has no list"));
    CHECK_THAT(refusal_of("schedule", "own ranks=2 microbatches=2\nrank 0: F1 F3\nrank 1: F1\n"), Contains("'F3'"));
}

TEST_CASE("rows of collectives send what the formulas say") {
    const auto scene = scene_of("collective",
                                "ring ranks=8 bytes=64000000 latency=1 gigabytes=100; halving_doubling; "
                                "parameter_server name=server; ring name=odd ranks=7 bytes=4000");
    CHECK(figure(scene, "share") == Approx(2 * 7.0 / 8));  // 2(n-1)/n
    CHECK(figure(scene, "rounds") == 14);
    CHECK(figure(scene, "time_us") == Approx(14 * 1 + 1.75 * 64e6 / 100e3).epsilon(1e-6));
    CHECK(figure(scene, "rounds@row:halving_doubling") == 6);
    CHECK(figure(scene, "received_per_rank@row:server") == Approx(7 * 64e6));
    CHECK(figure(scene, "wrong") == 0);
    CHECK(figure(scene, "wrong@row:server") == 0);
    CHECK(figure(scene, "wrong@row:odd") == 0);
    CHECK(figure(scene, "total_bytes@row:odd") == Approx(2 * 6 * 4000));
}

TEST_CASE("a collective of one's own is judged by its sums") {
    const std::string half = "own ranks=3 chunks=3\nround 1: 0>1:0+ 1>2:1+ 2>0:2+\nround 2: 0>1:2+ 1>2:0+ 2>0:1+\n";
    const std::string rest = "round 3: 0>1:1 1>2:2 2>0:0\nround 4: 0>1:0 1>2:1 2>0:2\n";
    CHECK(figure(scene_of("collective", half), "wrong") == 20);  // 10 elements: each rank holds the sums of a third
    CHECK(figure(scene_of("collective", half + rest), "wrong") == 0);
    CHECK(figure(scene_of("collective", half + rest), "share") == Approx(4.0 / 3));
    CHECK_THAT(refusal_of("collective", "own ranks=2\nround 1: 0>0:0\n"), Contains("no message"));
    CHECK_THAT(refusal_of("collective", "own ranks=2\nround 2: 0>1:0\n"), Contains("round 1 comes next"));
    CHECK_THAT(refusal_of("collective", "rung ranks=2"), Contains("ring"));
}

TEST_CASE("a broadcast of one's own is judged by who has which chunk, and says who sends what it has not got") {
    const std::string head = "own operation=broadcast ranks=3 chunks=2\n",
                      chain = "round 1: 0>1:0\nround 2: 0>1:1 1>2:0\nround 3: 1>2:1\n";
    CHECK(figure(scene_of("collective", head + chain), "wrong") == 0);
    CHECK(figure(scene_of("collective", head + "round 1: 0>1:0 1>2:0\nround 2: 0>1:1 1>2:1\n"), "wrong") == 2);
    const auto fault = [&](const std::string& rounds) {
        const auto scene = scene_of("collective", head + rounds);
        const auto& wrong = scene->rows.front().wrong;
        return wrong.empty() ? std::string() : wrong.front().what.message;
    };
    CHECK(fault(chain) == "");
    CHECK_THAT(fault("round 1: 0>1:0 1>2:0\n"), Contains("rank 1 sends chunk 0 in round 1 (1>2:0), and has not got it"));
    CHECK_THAT(fault("round 1: 0>1:0 0>2:0\nround 2: 0>1:1\n"), Contains("chunk 1 never reaches rank 2"));
    CHECK_THAT(refusal_of("collective", head + "round 1: 0>1:0+\n"), Contains("a broadcast adds nothing"));
    CHECK_THAT(refusal_of("collective", "own operation=all_gather ranks=2\nround 1: 0>1:0\n"),
               Contains("an all_reduce or a broadcast"));
    for (const char* listed : {"ring", "tree", "parameter_server"})
        CHECK(figure(scene_of("collective", std::string(listed) + " operation=broadcast ranks=5"), "wrong") == 0);
}

TEST_CASE("rows of plans have ZeRO's memory and add up") {
    const auto state = scene_of("plan",
                                "state parameters=7500000000 dp=64 zero=0; state name=os zero=1; state name=os_g zero=2; "
                                "state name=os_g_p zero=3");
    CHECK(figure(state, "memory") == Approx(120e9).epsilon(0.01));
    CHECK(figure(state, "memory@row:os") == Approx(31.4e9).epsilon(0.01));
    CHECK(figure(scene_of("plan", "state parameters=7500000000 dp=64 zero=0 gpu=h100"), "capacity") ==
          Approx(80.0 * (1 << 30)));
    CHECK_THAT(refusal_of("plan", "state parameters=1000 gpu=h1000"), Contains("h100"));
    CHECK(figure(state, "memory@row:os_g") == Approx(16.6e9).epsilon(0.01));
    CHECK(figure(state, "memory@row:os_g_p") == Approx(1.88e9).epsilon(0.01));
    const auto plan = scene_of("plan", "llama3-8b dp=8 tp=8 zero=1 sequence=8192 batch=64");
    CHECK(figure(plan, "gpus") == 64);
    double sum = 0;
    for (const char* part : {"compute", "recompute", "tensor", "context", "data", "update", "bubble"})
        sum += figure(plan, std::string("share.") + part);
    CHECK(sum == Approx(1).epsilon(1e-6));
    CHECK_THAT(refusal_of("plan", "llama3-8b tp=7 sequence=8192 batch=64"), Contains("7"));
}

TEST_CASE("tensors cut over a mesh come back whole, with the collective that their layouts ask for") {
    const auto cut = scene_of("mesh",
                              "tensor mesh=x:3,y:2 shape=6x4 layout=x,y; tensor name=gathered to=-,-; tensor name=turned "
                              "layout=x,- to=-,x shape=6x6; tensor name=sliced layout=-,- to=x,y");
    CHECK(figure(cut, "devices") == 6);
    CHECK(figure(cut, "elements") == 4);
    CHECK(figure(cut, "first@rank:3") == 10);  // x 1, y 1: row 2, column 2
    CHECK(figure(cut, "coordinate@axis:x@rank:3") == 1);
    CHECK(figure(cut, "wrong@row:gathered") == 0);
    CHECK(figure(cut, "all_gathers@row:gathered") == 2);
    CHECK(figure(cut, "copies@row:gathered") == 6);
    CHECK(figure(cut, "all_to_alls@row:turned") == 1);
    CHECK(figure(cut, "wrong@row:turned") == 0);
    CHECK(figure(cut, "bytes@row:sliced") == 0);
    CHECK(figure(cut, "wrong@row:sliced") == 0);
    const auto product =
        scene_of("mesh",
                 "product mesh=x:2,y:2 shape=4x6x4 a=-,x b=x,-; product name=sum to=-,-; product name=scatter "
                 "to=x,-; product name=both a=x,- b=-,y to=-,-; product name=all a=y,x b=x,- to=-,-");
    CHECK(figure(product, "partial") == 1);
    for (const char* name : {"sum", "scatter", "both", "all"}) {
        INFO(name);
        CHECK(figure(product, std::string("wrong@row:") + name) == 0);
    }
    CHECK(figure(product, "all_reduces@row:sum") == 1);
    CHECK(figure(product, "reduce_scatters@row:scatter") == 1);
    CHECK(figure(product, "bytes@row:sum") == 2 * figure(product, "bytes@row:scatter"));  // 2(n-1)/n against (n-1)/n
    CHECK(figure(product, "all_gathers@row:both") == 2);
    CHECK(figure(product, "all_reduces@row:all") + figure(product, "all_gathers@row:all") == 2);
    // Uneven: rows of 6 over 4 are 2, 2, 1, 1; and over both axes of x:2,y:2 first 3 and 3, then 2, 1, 2, 1.
    const auto uneven = scene_of("mesh",
                                 "tensor name=both mesh=x:2,y:2 shape=6x6 layout=x*y,-; tensor name=four mesh=x:4 "
                                 "layout=x,- to=-,x; tensor name=whole mesh=x:2,y:2 layout=x*y,- to=-,-");
    CHECK(figure(uneven, "wrong@row:four") == 0);
    const double firsts[] = {0, 12, 18, 30}, rows[] = {2, 1, 2, 1};
    for (int rank = 0; rank < 4; ++rank) {
        CHECK(figure(uneven, "first@rank:" + std::to_string(rank) + "@row:both") == firsts[rank]);
        CHECK(figure(uneven, "rows@rank:" + std::to_string(rank) + "@row:both") == rows[rank]);
    }
    CHECK(figure(uneven, "wrong@row:whole") == 0);
    CHECK(figure(uneven, "copies@row:whole") == 4);
    CHECK_THAT(refusal_of("mesh", "tensor mesh=x:2 shape=6x6 layout=z,-"), Contains("z"));
    CHECK_THAT(refusal_of("mesh", "product mesh=x:2 a=-,x b=-,-"), Contains("do not meet"));
    CHECK_THAT(refusal_of("mesh", "tensor mesh=x:2 layout=x,x"), Contains("cuts dimension 0 and cuts dimension 1"));
}

TEST_CASE("the rows of a scene are a table, and what the cluster's pictures show") {
    SceneResult result;
    result.of = scene_of("schedule", "gpipe ranks=4 microbatches=8; 1f1b; zb-h1");
    const auto picture = cluster_picture(result, "C06, step 3");
    REQUIRE(picture);
    CHECK(picture->source == "C06, step 3");
    REQUIRE(picture->table);
    REQUIRE(picture->table->rows.size() == 3);
    CHECK(picture->table->rows[2].name == "zb-h1");
    CHECK(figure_text(picture->table->rows[0].values[1], picture->table->columns[1].unit) == "27.27");
    REQUIRE(picture->schedules.size() == 2);  // the first and the last
    CHECK(picture->schedules[1].kind == "zb-h1");
    CHECK(picture->schedules[1].run.total == figure(result.as<ParallelScene>(), "total@row:zb_h1"));
    // The row that is asked about stands beside the first, as a lesson writes it.
    result.of = scene_of("schedule", "1f1b ranks=4 microbatches=8; zb-h1; zb-h2");
    CHECK(cluster_picture(result, "")->schedules[1].kind == "zb-h2");
    CHECK(cluster_picture(result, "", "zb_h1")->schedules[1].kind == "zb-h1");
    CHECK(cluster_picture(result, "", "zb_h1")->setup.pipeline.kinds == std::vector<std::string>{"1f1b", "zb-h1"});
    CHECK(cluster_picture(result, "", "1f1b")->schedules[1].kind == "zb-h2");
    result.of = scene_of("collective", "ring ranks=4 bytes=4000");
    CHECK(cluster_picture(result, "")->collective.run.total_us == figure(result.as<ParallelScene>(), "time_us"));
    // Of several collectives or layouts the one that is asked about is drawn.
    result.of = scene_of("collective", "ring ranks=8 bytes=4000; halving_doubling name=half");
    CHECK(cluster_picture(result, "")->collective.run.total_us == figure(result.as<ParallelScene>(), "time_us"));
    CHECK(cluster_picture(result, "", "half")->collective.run.total_us ==
          figure(result.as<ParallelScene>(), "time_us@row:half"));
    result.of = scene_of("mesh", "tensor name=whole mesh=x:6 shape=6x4 layout=-,-; tensor name=cut layout=x,-");
    CHECK(cluster_picture(result, "")->mesh.before[4].rows.count == 6);
    CHECK(cluster_picture(result, "", "cut")->mesh.before[4].rows.count == 1);
    result.of = scene_of("mesh", "tensor mesh=x:3,y:2 shape=6x4 layout=x,y to=-,-");
    const auto mesh = cluster_picture(result, "");
    REQUIRE(mesh->mesh.before.size() == 6);
    CHECK(mesh->mesh.before[3].rows.count == 2);
    CHECK(static_cast<double>(mesh->mesh.bytes()) == figure(result.as<ParallelScene>(), "bytes"));
    CHECK(cluster_picture(SceneResult{std::make_shared<const KernelResult>()}, "") == nullptr);
    CHECK(figure_text(1234567, "") == "1,234,567");
    CHECK(figure_text(1704123.4, "") == "1,704,123");
    CHECK(figure_text(64e6, "B") == "64 MB");
    CHECK(figure_text(std::nan(""), "") == "-");
}

TEST_CASE("mistakes in rows name the setting and what would be right") {
    CHECK_THAT(refusal_of("schedule", "1f2b ranks=4"), Contains("1f1b"));
    CHECK_THAT(refusal_of("schedule", "1f1b rank=4"), Contains("did you mean 'ranks='"));
    CHECK_THAT(refusal_of("schedule", "1f1b ranks=0"), Contains("ranks is a number from 1"));
    CHECK_THAT(refusal_of("schedule", "1f1b ranks=2.5"), Contains("whole number"));
    CHECK_THAT(refusal_of("schedule", "1f1b slow=9:2"), Contains("RANK:FACTOR"));
    CHECK_THAT(refusal_of("schedule", "  ;;\n# nothing"), Contains("nothing stands here"));
    CHECK_THAT(refusal_of("poem", "1f1b"), Contains("no scenes of the kind"));
    CHECK_FALSE(figure_of(*scene_of("schedule", "1f1b"), "total@row:gpipe"));
    CHECK_FALSE(figure_of(*scene_of("schedule", "1f1b"), "totl"));
}

TEST_CASE("no text harms the reader of rows") {
    const std::string good =
        "own ranks=2 microbatches=2 slow=1:2 hop=0.5\nrank 0: F1 F2 B1 B2\nrank 1: F1 B1 F2 B2\n1f1b; gpipe";
    Rng rng(6);
    for (int i = 0; i < 400; ++i) {
        std::string text = good;
        for (int k = 0; k < 4; ++k)
            text[static_cast<size_t>(rng.uniform(0, 0.999) * static_cast<double>(text.size()))] =
                static_cast<char>(rng.uniform(1, 127));
        static_cast<void>(run_parallel_scene("schedule", text, {"lesson.md", 1, 1}, {}));
    }
    CHECK_THAT(refusal_of("schedule", std::string(100'000, 'x')), Contains("64 KiB"));
}

TEST_CASE("training rows on many ranks take the serial run's steps, and count what they send") {
    const auto scene =
        scene_of("parallel",
                 "mlp widths=16,32,8 name=one batch=24 steps=3 dtype=f64; name=four dp=4; name=zero dp=4 zero=2; "
                 "name=other batch=12");
    CHECK(figure(scene, "losses_off@row:four") < 1e-10);
    CHECK(figure(scene, "weights_off@row:four") < 1e-10);
    CHECK(figure(scene, "losses_off@row:zero") < 1e-10);
    CHECK(figure(scene, "losses_off@row:other") > 1e-3);  // another batch
    const double parameters = 16 * 32 + 32 + 32 * 8 + 8;
    CHECK(figure(scene, "parameters") == parameters);
    CHECK(figure(scene, "bytes@purpose:gradients@row:four") == 2 * 3.0 / 4 * 8 * parameters);  // 2(n-1)/n, f64
    CHECK(figure(scene, "weights@row:four") == figure(scene, "weights"));
    CHECK(figure(scene, "activations@row:four") > figure(scene, "activations") / 8);  // of 6 examples instead of 24
    CHECK(figure(scene, "activations@row:four") < figure(scene, "activations") / 2);
    CHECK(figure(scene, "optimizer@row:zero") < figure(scene, "optimizer@row:four") + 1);
    CHECK(figure(scene, "gradients@row:zero") == figure(scene, "gradients@row:four") / 4);
    CHECK(figure(scene, "hidden_us@row:four") + figure(scene, "exposed_us@row:four") ==
          Approx(figure(scene, "gradients_us@row:four")));
    const auto resumed = scene_of("parallel",
                                  "mlp widths=16,32,8 name=one batch=24 steps=4 dtype=f64 optimizer=adamw; "
                                  "name=eight dp=8 restart=2 before_dp=4");
    CHECK(figure(resumed, "losses_off@row:eight") < 1e-10);
    CHECK(figure(resumed, "weights_off@row:eight") < 1e-10);
    const auto tokens = scene_of("parallel",
                                 "llama layers=2 width=16 heads=4 kv_heads=2 ffn=32 vocabulary=16 length=16 batch=4 steps=2 "
                                 "dtype=f64 name=one; name=ring cp=2; name=cut tp=2; name=pipe pp=2 microbatches=2");
    for (const char* name : {"ring", "cut", "pipe"}) {
        INFO(name);
        CHECK(figure(tokens, std::string("losses_off@row:") + name) < 1e-10);
    }
    CHECK(figure(tokens, "bytes@axis:cp@row:ring") > 0);
    CHECK(figure(tokens, "bubble_of_total@row:pipe") > 0);
}

TEST_CASE("records go to workers in parts or are drawn from all; uneven parts end in a dead-lock that says who waits") {
    const auto even = scene_of("parallel",
                               "mlp widths=8,16,4 dp=3 batch=12 records=96 name=parts; name=whole feed=whole; "
                               "name=again epochs=2; name=same epochs=2 reshuffle=0");
    CHECK(figure(even, "batches@rank:2") == 8);
    CHECK(figure(even, "steps") == 8);
    CHECK(figure(even, "seen") == 96);
    CHECK(figure(even, "repeated") == 0);
    CHECK(figure(even, "seen@row:whole") < 75);  // 1 - 1/e of 96 is 61
    CHECK(figure(even, "seen@row:whole") > 45);
    CHECK(figure(even, "seen@row:whole") + figure(even, "repeated@row:whole") == 96);
    CHECK(figure(even, "steps@row:again") == 16);
    CHECK(figure(even, "kept_part@row:again") < 24);
    CHECK(figure(even, "kept_part@row:same") == 32);
    const auto had = [&](size_t row) {  // by worker 0 in its second epoch
        int64_t count = 0;
        for (const WorkerBatch& batch : even->rows[row].lanes->batches)
            if (batch.worker == 0) count += std::count(batch.had.begin(), batch.had.end(), 1);
        return static_cast<double>(count);
    };
    CHECK(had(0) == 0);
    CHECK(had(2) == figure(even, "kept_part@row:again"));
    CHECK(had(3) == 32);
    const auto odd = scene_of("parallel", "mlp widths=8,16,4 dp=3 batch=12 records=97 name=all; name=drop drop=1");
    CHECK(figure(odd, "batches@rank:0") == 9);
    CHECK(figure(odd, "batches@rank:1") == 8);
    CHECK(figure(odd, "deadlock") == 1);
    CHECK(figure(odd, "waiting") == 1);
    CHECK(figure(odd, "waits_for@rank:0") == 2);  // its neighbour in the ring
    CHECK(figure(odd, "steps") == 8);
    CHECK(figure(odd, "deadlock@row:drop") == 0);
    CHECK(figure(odd, "seen@row:drop") == 96);
}

TEST_CASE("with a server all batches are done where steps end in a dead-lock, and figures say how stale they were") {
    const auto scene = scene_of("parallel",
                                "mlp widths=8,16,4 dp=3 batch=12 records=97 slow=2:1.4 name=steps; name=server async=1; "
                                "name=bound async=1 staleness=0");
    CHECK(figure(scene, "deadlock") == 1);
    CHECK(figure(scene, "updates") == 8);
    CHECK(figure(scene, "stale_updates") == 0);
    CHECK(figure(scene, "waits") > 0.05);
    CHECK(figure(scene, "deadlock@row:server") == 0);
    CHECK(figure(scene, "updates@row:server") == 25);
    CHECK(figure(scene, "stale_updates@row:server") == 25 - figure(scene, "updates@staleness:0@row:server"));
    CHECK(figure(scene, "waits@row:server") == 0);
    CHECK(figure(scene, "run_us@row:server") > 0);
    CHECK(figure(scene, "most_stale@row:bound") <= 2);
    CHECK(figure(scene, "waits@row:bound") > 0);
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,8 dp=2 batch=4 staleness=1"), Contains("async=1"));
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,8 dp=2 batch=4 async=1 slow=2:2"), Contains("RANK:FACTOR"));
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,8 dp=2 batch=4 async=1 zero=1"), Contains("leave out --zero"));
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,8 dp=2 batch=4 async=1 restart=1 before_dp=2"), Contains("restart"));
}

TEST_CASE("training rows that cannot run say what could") {
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,8 dp=5 batch=24"), Contains("24"));
    CHECK_THAT(refusal_of("parallel", "llama3-8b"), Contains("unknown model"));
    CHECK_THAT(refusal_of("parallel", "llama layers=16 width=512 heads=8"), Contains("parameters"));
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,8 records=3 dp=4 batch=4"), Contains("too few"));
    CHECK_THAT(refusal_of("parallel", "resnet8 records=100 dp=2 batch=4"), Contains("shape of one's own"));
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,8 batches=1,2 dp=3 batch=6"), Contains("3 workers"));
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,0,8"), Contains("widths"));
    CHECK_THAT(refusal_of("parallel", "mlp wide=16"), Contains("setting"));
    CHECK_THAT(refusal_of("parallel", "mlp batch=512 steps=200 widths=512,512,256"), Contains("too long for a scene"));
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,8 batch=8 steps=2 restart=2"), Contains("leave steps"));
    CHECK_THAT(refusal_of("parallel", "mlp widths=16,8 batch=8 records=64 feed=parts drop=2"), Contains("drop"));
    const std::string good = "mlp widths=8,16,4 dp=2 batch=8 records=33 drop=1; name=b restart=1 before_dp=4 batches=2,1";
    Rng rng(7);
    for (int i = 0; i < 200; ++i) {
        std::string text = good;
        for (int k = 0; k < 3; ++k)
            text[static_cast<size_t>(rng.uniform(0, 0.999) * static_cast<double>(text.size()))] =
                static_cast<char>(rng.uniform(32, 127));
        static_cast<void>(run_parallel_scene("parallel", text, {"lesson.md", 1, 1}, {}));
    }
}

TEST_CASE("a plan of a long sequence that nothing cuts is planned: no kernel runs that would count its elements") {
    const auto scene = scene_of("plan", "llama3-405b dp=8 tp=8 sequence=131072 batch=8 zero=3");
    CHECK(figure(scene, "fits") == 0);
    CHECK(figure(scene, "activations") > 1e12);
    CHECK(figure(scene, "step_us") > 0);
}

}  // namespace scene_parallel_test
