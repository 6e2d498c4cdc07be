// Scenes of many ranks: their rows, their figures, the words of their mistakes, and that no text harms.
#include <cmath>

#include "core/base/rng.h"
#include "lessons/player/parallel_scene.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::lessons;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<const ParallelScene> scene_of(const std::string& kind, const std::string& text) {
    const auto scene = run_parallel_scene(kind, text, {"lesson.md", 1, 1}, {});
    if (!scene) FAIL(render(scene.error()));
    return scene.value();
}
double figure(const std::shared_ptr<const ParallelScene>& scene, const std::string& name) {
    const Result<double> value = parallel_figure(*scene, name);
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

TEST_CASE("mistakes in rows name the setting and what would be right") {
    CHECK_THAT(refusal_of("schedule", "1f2b ranks=4"), Contains("1f1b"));
    CHECK_THAT(refusal_of("schedule", "1f1b rank=4"), Contains("did you mean 'ranks='"));
    CHECK_THAT(refusal_of("schedule", "1f1b ranks=0"), Contains("ranks is a number from 1"));
    CHECK_THAT(refusal_of("schedule", "1f1b ranks=2.5"), Contains("whole number"));
    CHECK_THAT(refusal_of("schedule", "1f1b slow=9:2"), Contains("RANK:FACTOR"));
    CHECK_THAT(refusal_of("schedule", "  ;;\n# nothing"), Contains("nothing stands here"));
    CHECK_THAT(refusal_of("poem", "1f1b"), Contains("no scenes of the kind"));
    CHECK_FALSE(parallel_figure(*scene_of("schedule", "1f1b"), "total@row:gpipe"));
    CHECK_FALSE(parallel_figure(*scene_of("schedule", "1f1b"), "totl"));
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
