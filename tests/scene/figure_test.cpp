// The table of figures: every row says what it is, runs answer what their tables hold, and names that no scene can answer
// are refused before anything runs.
#include <set>

#include "core/base/files.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/figures/askable.h"
#include "core/scene/host/host_program.h"
#include "tests/catch.h"

namespace scene_figure_test {

using namespace lockstep;
using namespace lockstep::scene;
using Catch::Matchers::Contains;

namespace {

std::string refusal(const Scene& scene, const std::string& name) {
    const auto problem =
        refusal_of(askable_figures({.folder = resource_root() / "lessons" / "B02_chain_rule"}, scene), name);
    return problem ? problem->message : "none";
}

const FigureKind& kind_named(std::string_view name) {
    for (const FigureKind& kind : figure_kinds())
        if (kind.name == name) return kind;
    FAIL("there is no kind " << name);
    return figure_kinds().front();
}

}  // namespace

TEST_CASE("every figure has a name of its own within its kind, and a sentence") {
    CHECK(figure_kinds().size() == 13);
    for (const FigureKind& kind : figure_kinds()) {
        std::set<std::string_view> names;
        CHECK_FALSE(kind.rows.empty());
        for (const FigureText& row : kind.rows) {
            INFO(kind.name << " " << row.name);
            CHECK(names.insert(row.name).second);
            CHECK(row.sentence.ends_with('.'));
            CHECK(row.sentence.size() > 5);
            CHECK(FigureName(row.name).base == row.name);
        }
    }
}

TEST_CASE("rows of many ranks leave the figures of their kind's table and no others") {
    const std::pair<const char*, const char*> scenes[] = {
        {"schedule", "1f1b ranks=2 microbatches=4; own ranks=1 microbatches=1\nrank 0: F1 B1"},
        {"collective", "ring ranks=4 bytes=4000"},
        {"mesh", "tensor mesh=x:2,y:2 shape=6x4 layout=x,y to=-,-"},
        {"mesh", "product mesh=x:2 shape=4x4x4 a=-,x b=x,- to=-,-"},
        {"plan", "llama3-8b gpu=h100 dp=2 tp=2 pp=2 cp=2 sequence=8192 batch=64 tokens=15"},
        {"parallel",
         "llama layers=2 width=16 heads=4 kv_heads=2 ffn=32 vocabulary=16 length=16 batch=4 steps=1 name=one; name=pipe "
         "pp=2 "
         "microbatches=2"},
        {"parallel", "mlp widths=16,32,8 batch=8 records=60 dp=2"},
        {"parallel", "mlp widths=16,32,8 batch=8 dp=2 batches=3,2"},
        {"parallel", "mlp widths=16,32,8 dp=3 batch=12 records=96 async=1"},
    };
    std::map<std::string, std::set<std::string>> left;
    for (const auto& [kind, text] : scenes) {
        const auto scene = run_parallel_scene(kind, text, {"lesson.md", 1, 1}, {});
        if (!scene) FAIL(render(scene.error()));
        for (const ParallelRow& row : scene.value()->rows)
            for (const auto& [figure, value] : row.figures) {
                INFO(kind << " " << figure);
                const FigureName name(figure);
                const FigureText* text_of = row_named(kind_named(kind).rows, name.base);
                REQUIRE(text_of);
                CHECK_FALSE(wrong_place(*text_of, name));
                left[kind].insert(name.base);
            }
    }
    for (const auto& [kind, names] : left)
        for (const FigureText& row : kind_named(kind).rows) {
            INFO(kind << " " << row.name);
            CHECK(names.count(std::string(row.name)) == 1);
        }
}

TEST_CASE("a name is taken apart into its base, its element and its places") {
    const FigureName name("d.x[12]@step:3@scene:one");
    CHECK(name.base == "d.x");
    CHECK(name.index().value() == 12);
    CHECK(name.number_at("step").value() == 3);
    CHECK(name.without("scene").text == "d.x[12]@step:3");
    CHECK(FigureName("hessian.w[0].w[1]").base == "hessian.w[0].w");
    CHECK(FigureName("gpu.sms@gpu:teaching:4").place("gpu") == "teaching:4");
    CHECK_FALSE(FigureName("y[0x]").index().ok());
    CHECK_FALSE(FigureName("us@line:4x").number_at("line").ok());
    CHECK_FALSE(FigureName("y").indexed());
}

TEST_CASE("what no scene can answer is refused before it runs, with the nearest name") {
    Scene kernel, host, tape, training, plan;
    kernel.file = "a.cu";
    host.host = "nowhere.host";
    tape.tape = "second.tape";
    training.train = "mlp steps=3";
    plan.parallel_kind = "plan";
    for (const auto& [scene, name] : {std::pair{&kernel, "cycles"},
                                      {&kernel, "output[3]"},
                                      {&kernel, "sectors_per_request@line:7"},
                                      {&kernel, "gpu.sms"},
                                      {&kernel, "time_us@gpu:a100"},
                                      {&kernel, "issues@line:4"},
                                      {&kernel, "gpu.sms@gpu:jetson-nano"},
                                      {&host, "total_us"},
                                      {&host, "us@line:3"},
                                      {&host, "y[3]"},
                                      {&tape, "x"},
                                      {&tape, "d.x[1]@step:0"},
                                      {&tape, "gradcheck.wrong"},
                                      {&tape, "launches"},
                                      {&tape, "hessian.x.y"},
                                      {&training, "loss@step:3@curve:small"},
                                      {&training, "cycles@launch:fc1"},
                                      {&plan, "mfu@row:a"},
                                      {&plan, "rows"},
                                      {&plan, "model.layers@model:llama3_8b"}}) {
        INFO(name);
        CHECK(refusal(*scene, name) == "none");
    }
    CHECK_THAT(refusal(kernel, "cycels"), Contains("unknown figure 'cycels' of a kernel's run, did you mean 'cycles'?"));
    CHECK_THAT(refusal(kernel, "gpu.smms"), Contains("did you mean 'sms'?"));
    CHECK_THAT(refusal(kernel, "gpu.sms@gpu:v10"), Contains("v10"));
    CHECK_THAT(refusal(kernel, "blocks@line:3"), Contains("there is no blocks@line:"));
    CHECK_THAT(refusal(kernel, "loss"), Contains("unknown figure 'loss'"));
    CHECK_THAT(refusal(host, "totl_us"), Contains("of a host program, did you mean 'total_us'?"));
    CHECK_THAT(refusal(host, "total_us@line:3"), Contains("there is no total_us@line:"));
    CHECK_THAT(refusal(tape, "launchs"), Contains("did you mean 'launches'?"));
    CHECK_THAT(refusal(training, "mean_los"), Contains("did you mean 'mean_loss'?"));
    CHECK_THAT(refusal(training, "bytes_ratio"), Contains("unknown figure"));
    CHECK_THAT(refusal(plan, "mfuu@row:a"), Contains("of rows of many ranks, did you mean 'mfu'?"));
    CHECK_THAT(refusal(plan, "model.layer@model:llama3_8b"), Contains("did you mean 'model.layers'?"));
}

}  // namespace scene_figure_test
