// Figures of a GPU's row in `of=`, and scenes that name another one to be compared with.
#include "core/scene/figures/expression.h"
#include "lessons/player/predict.h"
#include "tests/catch.h"

namespace lessons_gpu_figures_test {

using namespace lockstep;
using namespace lockstep::lessons;
using namespace lockstep::scene;

namespace {

const std::string head =
    "+++\nid = \"T01\"\ntitle = \"T\"\npart = \"A\"\nminutes = 1\ngpu = \"v100\"\n+++\n## One | predict\n";

double truth(const std::string& of) {
    const Lesson lesson =
        parse_lesson(head + "::: predict id=\"q\" of=\"" + of + "\" type=\"number\"\n?\n| 1 | a\n| 2 | b\n:::\n",
                     "lesson.md")
            .value();
    SceneRuns runs(lesson);
    return truth_of(runs, 0, lesson.steps[0].predicts[0]).value();
}
std::string error_of(const std::string& of) {
    const Result<Lesson> lesson = parse_lesson(
        head + "::: predict id=\"q\" of=\"" + of + "\" type=\"number\"\n?\n| 1 | a\n| 2 | b\n:::\n", "lesson.md");
    return lesson ? "no error" : lesson.error().message;
}

}  // namespace

TEST_CASE("a prediction may be about a GPU's row, without any scene") {
    CHECK(truth("gpu.sms@gpu:v100 * gpu.warps_per_sm@gpu:v100") == 5120);
    CHECK(truth("gpu.sms@gpu:jetson-nano") == 1);
    CHECK(truth("gpu.sms@gpu:teaching:4") == 4);
    CHECK(truth("gpu.sms@gpu:h100-pcie - gpu.sms@gpu:v100") == 114 - 80);
}

TEST_CASE("a mistyped GPU or figure is named, with the nearest known one") {
    CHECK(error_of("gpu.sms@gpu:v10").find("v10") != std::string::npos);
    CHECK(error_of("gpu.warps_per_s@gpu:v100").find("did you mean 'warps_per_sm'?") != std::string::npos);
    CHECK(error_of("gpu.sms").find("no scene") != std::string::npos);
}

TEST_CASE("a question about the rows of GPUs that no picture shows needs nothing hidden") {
    const auto others = [](const std::string& of) {
        Predict predict;
        predict.of = Expression::parse(of).value();
        return asks_of_other_gpus(predict, {"h100", "a100"});
    };
    CHECK(others("gpu.sms@gpu:v100 * gpu.warps_per_sm@gpu:v100 * 32"));
    CHECK(others("(gpu.sms@gpu:jetson-nano) / 2"));
    CHECK_FALSE(others("gpu.sms@gpu:h100"));
    CHECK_FALSE(others("gpu.sms@gpu:v100 / gpu.sms@gpu:a100"));
    CHECK_FALSE(others("gpu.sms"));
    CHECK_FALSE(others("cycles / gpu.sms@gpu:v100"));
    CHECK_FALSE(others("time_us@gpu:v100"));
    CHECK_FALSE(others("32"));
}

TEST_CASE("a load's latency without other traffic is the GPU row's figure") {
    const Lesson lesson = lesson_named("A07").value();
    SceneRuns runs(lesson);
    const auto result = runs.of(*scene_named(lesson, "ladder")).value();
    const model::GpuSpec& gpu = result.as<KernelResult>()->run->gpu;
    CHECK(figure_of(result, "load_latency@line:24").value() == gpu.shared_latency.value);
    CHECK(figure_of(result, "load_latency@line:30").value() == gpu.l1_latency.value);
    CHECK(figure_of(result, "load_latency@line:33").value() == gpu.l2_latency.value);
    CHECK(figure_of(result, "load_latency@line:36").value() >= gpu.dram_latency.value);
    CHECK_FALSE(figure_of(result, "load_latency@line:37").ok());
    CHECK(figure_of(result, "accesses@space:const").value() == 16);
    CHECK(figure_of(result, "accesses@space:local").value() == 32 + 16);
    CHECK(figure_of(result, "accesses@space:nowhere").error().message.find("there are global, shared") != std::string::npos);
}

TEST_CASE("a scene is compared with another kernel scene of its lesson, wherever that stands") {
    const std::string one = "::: scene id=\"one\" file=\"a.cu\" kernel=\"a\" args=\"i32:1\"";
    const std::string two = "::: scene file=\"a.cu\" kernel=\"a\" args=\"i32:2\" view=\"compare\" compare=\"one\"";
    for (const auto& text :
         {head + one + "\n\n## Two | run\n" + two + "\n", head + two + "\n\n## Two | run\n" + one + "\n"}) {
        const Result<Lesson> lesson = parse_lesson(text, "lesson.md");
        REQUIRE(lesson);
        const Scene* other = scene_named(lesson.value(), "one");
        REQUIRE(other != nullptr);
        CHECK(other->arguments == std::vector<std::string>{"i32:1"});
    }
    const Result<Lesson> lesson = parse_lesson(head + two + "\n", "lesson.md");
    REQUIRE_FALSE(lesson);
    CHECK(lesson.error().message == "no other kernel scene has the id 'one'");
    CHECK(lesson.error().where.line == 9);
}

TEST_CASE("a tensor program stands beside several others of its lesson, each of which must be one") {
    const std::string one = "::: scene id=\"one\" tape=\"a.tape\" view=\"tape\"",
                      two = "::: scene id=\"two\" tape=\"b.tape\"";
    const auto three = [](const std::string& ids) {
        return "::: scene tape=\"c.tape\" view=\"modes\" compare=\"" + ids + "\"";
    };
    const auto lesson_of = [&](const std::string& ids) {
        return parse_lesson(head + three(ids) + "\n\n## Two | run\n" + one + "\n\n## Three | run\n" + two + "\n",
                            "lesson.md");
    };
    const Result<Lesson> lesson = lesson_of("one two");
    REQUIRE(lesson);
    CHECK(compared_with(scene_at(lesson.value(), 0)->compare) == std::vector<std::string>{"one", "two"});
    const Result<Lesson> wrong = lesson_of("one four");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message == "no other tensor program has the id 'four'");
}

TEST_CASE("a training step stands beside another one of its lesson, which must be one") {
    const auto lesson_of = [&](const std::string& id) {
        return parse_lesson(head + "::: scene train=\"mlp\" view=\"kernels\" compare=\"" + id +
                                "\"\n\n## Two | run\n::: scene id=\"one\" train=\"mlp\" gpu=\"a100\" view=\"kernels\"\n",
                            "lesson.md");
    };
    CHECK(lesson_of("one").ok());
    const Result<Lesson> wrong = lesson_of("two");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message == "no other training scene has the id 'two'");
}

}  // namespace lessons_gpu_figures_test
