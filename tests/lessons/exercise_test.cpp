// Judging submissions: right ones, wrong ones, and those that do not even compile. PTX texts, so that no compiler is needed.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/scene/run.h"
#include "lessons/player/check.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/predict.h"
#include "tests/catch.h"

namespace lessons_exercise_test {

using namespace lockstep;
using namespace lockstep::lessons;
using namespace lockstep::scene;

namespace {

const Exercise& exercise_of(const Lesson& lesson, const std::string& id) {
    for (const Step& step : lesson.steps)
        for (const Exercise& exercise : step.exercises)
            if (exercise.id == id) return exercise;
    throw Failure("no exercise " + id);
}

std::string ptx_of(const Lesson& lesson, const std::string& file) {
    return read_file(lesson.folder / file).value();
}

}  // namespace

TEST_CASE("the kernel without its guard fails by memcheck, and the report names line, thread and launch") {
    const Lesson lesson = lesson_named("A02").value();
    const Exercise& exercise = exercise_of(lesson, "guard");
    const ExerciseReport report = check_submission(lesson, exercise, ptx_of(lesson, "ptx/axpy.ptx"), "axpy.ptx").value();
    CHECK(!report.passed);
    CHECK(report.points == 0);
    REQUIRE(report.fault.has_value());
    CHECK(report.fault->kind == "memcheck");
    CHECK(report.fault->line == 4);
    CHECK(report.fault->block.x == 1);
    CHECK(report.fault->thread.x == 8);
    CHECK(report.lines.at(0).find("n=20 block=12") != std::string::npos);
}

TEST_CASE("a right kernel gets its points after every shape and every kind of input") {
    const Lesson lesson = lesson_named("A02").value();
    const Exercise& exercise = exercise_of(lesson, "guard");
    const ExerciseReport report =
        check_submission(lesson, exercise, ptx_of(lesson, "solution/ptx/axpy.ptx"), "axpy.ptx").value();
    CHECK(report.passed);
    CHECK(report.points == 2);
    CHECK(report.launches == 5 * 6);  // five shapes; three random fillings and three edges
}

TEST_CASE("a submission that does not parse, loops for ever or takes other arguments fails with a reason") {
    const Lesson lesson = lesson_named("A02").value();
    const Exercise& exercise = exercise_of(lesson, "guard");
    const ExerciseReport garbage = check_submission(lesson, exercise, "hello", "axpy.ptx").value();
    CHECK(!garbage.passed);
    CHECK(garbage.lines.at(0).find("FAIL it compiles") == 0);

    std::string endless = ptx_of(lesson, "solution/ptx/axpy.ptx");
    const size_t brace = endless.find(".loc\t1 2 ");
    REQUIRE(brace != std::string::npos);
    endless.insert(brace, "$again:\n\tbra $again;\n\t");
    const ExerciseReport spins = check_submission(lesson, exercise, endless, "axpy.ptx").value();
    CHECK(!spins.passed);
    REQUIRE(spins.fault.has_value());
    CHECK(spins.fault->kind == "runaway");

    const ExerciseReport other =
        check_submission(lesson, exercise_of(lesson, "any_block"), ptx_of(lesson, "ptx/axpy.ptx"), "axpy.ptx").value();
    CHECK(!other.passed);
    CHECK(other.lines.at(0).find("axpy") != std::string::npos);
}

TEST_CASE("an output that became infinite is wrong wherever the reference's is a number, whatever its type") {
    const auto one = [](DType type, double value) {
        Array array{type, {1}, {}};
        array.bytes.resize(size_of(type));
        if (type == DType::f64) array.as<double>()[0] = value;
        if (type == DType::f32) array.as<float>()[0] = static_cast<float>(value);
        if (type == DType::f16) array.as<uint16_t>()[0] = f32_to_f16(static_cast<float>(value));
        if (type == DType::bf16) array.as<uint16_t>()[0] = f32_to_bf16(static_cast<float>(value));
        return std::vector<Array>{array};
    };
    const double inf = INFINITY, nan = std::nan("");
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
        for (const double right : {0.0, 5.0, -1000.0, -inf, nan}) {
            INFO(right);
            CHECK(difference(one(type, inf), one(type, right)).find("element 0: inf where") != std::string::npos);
            CHECK_FALSE(difference(one(type, right), one(type, inf)).empty());
        }
        CHECK(difference(one(type, inf), one(type, inf)).empty());
        CHECK(difference(one(type, nan), one(type, nan)).empty());  // the reference's own NaN is what is asked for
        CHECK_FALSE(difference(one(type, 5), one(type, nan)).empty());
        CHECK_FALSE(difference(one(type, nan), one(type, 5)).empty());
    }
}

TEST_CASE("sums taken in another order are the same, sums in halves are not") {
    // A row of a matrix product, 512 terms from -1 to 1: one chain, two chains, and one in which each sum is a half.
    const auto products = [](const auto& add) {
        Array out{DType::f32, {256}, std::vector<std::byte>(256 * 4)};
        Rng rng(3);
        for (size_t i = 0; i < 256; ++i) {
            float sums[2] = {0, 0};
            for (int k = 0; k < 512; ++k) {
                const auto a = static_cast<float>(rng.uniform() * 2 - 1), b = static_cast<float>(rng.uniform() * 2 - 1);
                add(sums, k, a * b);
            }
            out.as<float>()[i] = sums[0] + sums[1];
        }
        return std::vector<Array>{out};
    };
    const auto one = products([](float* sums, int, float x) { sums[0] += x; });
    const auto two = products([](float* sums, int k, float x) { sums[k % 2] += x; });
    const auto half = products([](float* sums, int, float x) { sums[0] = f16_to_f32(f32_to_f16(sums[0] + x)); });
    float off = 0;
    for (size_t i = 0; i < 256; ++i)
        off = std::max(off, std::fabs(one[0].as<float>()[i] - two[0].as<float>()[i]) / std::fabs(one[0].as<float>()[i]));
    CHECK(off > 1e-5f);  // of a small sum: its own size does not tell how large its parts were
    CHECK(difference(two, one).empty());
    CHECK_FALSE(difference(half, one).empty());
    auto wrong = one;
    wrong[0].as<float>()[7] += 1e-3f;
    CHECK_FALSE(difference(wrong, one).empty());
}

TEST_CASE("where the outputs are wrong for a race, the race is told") {
    const Lesson lesson = lesson_named("A09").value();
    const Exercise& exercise = exercise_of(lesson, "rotate");
    const ExerciseReport report = check_submission(lesson, exercise, ptx_of(lesson, "ptx/rotate.ptx"), "rotate.ptx").value();
    REQUIRE(report.clauses.size() == 3);
    CHECK(report.clauses[0].detail.find("where the reference has") != std::string::npos);
    const std::string writer = ", which thread (0,0,0) of block (0,0,0) wrote last at ";
    REQUIRE(report.clauses[0].detail.find(writer) != std::string::npos);
    CHECK(report.clauses[0].detail.find("rotate.cu:7", report.clauses[0].detail.find(writer)) != std::string::npos);
    CHECK_FALSE(report.clauses[1].holds);
    INFO(report.clauses[1].detail);
    CHECK(report.clauses[1].detail.starts_with("1 against 0: "));
    CHECK(report.clauses[1].detail.find("rotate.cu:6: racecheck: race: write of 4 bytes") != std::string::npos);
    const ExerciseReport right =
        check_submission(lesson, exercise, ptx_of(lesson, "solution/ptx/rotate.ptx"), "rotate.ptx").value();
    CHECK(right.clauses[1].detail == "0 against 0");
}

TEST_CASE("an element that is no number is not the output's first") {
    KernelResult result;
    auto run = std::make_shared<model::KernelRun>();
    run->program = std::make_shared<ptx::Program>();
    result.run = run;
    result.outputs.push_back({DType::f32, {2}, std::vector<std::byte>(8)});
    CHECK(figure_of(result, "output[1]").value() == 0);
    for (const char* wrong : {"output[99999999999999999999999]", "output[-1]", "output[]", "output[2]", "issues@line:one"})
        CHECK_FALSE(figure_of(result, wrong).ok());
}

TEST_CASE("a stale kernel is made anew by a command that names it, wherever one stands") {
    const std::filesystem::path back = std::filesystem::current_path(),
                                place = std::filesystem::temp_directory_path() / "lockstep_stale";
    std::filesystem::create_directories(place);
    write_file(place / "own.cu", "__global__ void k() {}\n");
    std::filesystem::current_path(place);
    const auto own = check_ptx("own.cu");
    std::filesystem::current_path(back);
    std::filesystem::remove_all(place);
    REQUIRE_FALSE(own.ok());
    const std::string whole =
        (std::filesystem::weakly_canonical(place.parent_path()) / "lockstep_stale" / "own.cu").string();
    CHECK(own.error().message == "its PTX is missing; 'kernels/build_ptx " + whole + "' makes it");
}

TEST_CASE("no number is the answer to a truth that is infinite, and no answer agrees with NaN") {
    Predict predict;
    predict.tolerance = 0.05;
    for (const double value : {5.0, 100.0, double{INFINITY}}) {
        Answer answer;
        answer.has_value = true;
        answer.value = value;
        predict.answers.push_back(answer);
    }
    CHECK(right_answer(predict, 5.1) == 0);
    CHECK(right_answer(predict, 96) == 1);
    CHECK(right_answer(predict, 94) == -1);
    CHECK(right_answer(predict, INFINITY) == 2);
    CHECK(right_answer(predict, -INFINITY) == -1);
    CHECK(right_answer(predict, std::nan("")) == -1);
}

TEST_CASE("counters are judged too: right outputs from split warps are not enough") {
    const Lesson lesson = lesson_named("A06").value();
    const Exercise& exercise = exercise_of(lesson, "sort_work");
    const ExerciseReport starter =
        check_submission(lesson, exercise, ptx_of(lesson, "ptx/sort_work.ptx"), "sort_work.ptx").value();
    REQUIRE(starter.clauses.size() == 3);
    CHECK(starter.clauses[0].holds);
    CHECK(!starter.clauses[1].holds);
    const ExerciseReport solution =
        check_submission(lesson, exercise, ptx_of(lesson, "solution/ptx/sort_work.ptx"), "sort_work.ptx").value();
    CHECK(solution.passed);
    REQUIRE(solution.timed.has_value());
    CHECK(solution.timed->as<KernelResult>()->run->result.warp_instructions <
          starter.timed->as<KernelResult>()->run->result.warp_instructions);
}

TEST_CASE("running a lesson computes every truth, the same every time, and says it as JSON") {
    std::vector<std::string> lines;
    const LessonRun once = run("A06", [&](const std::string& line) { lines.push_back(line); }).value();
    REQUIRE(once.steps.size() == 9);
    CHECK(lines.at(0) == "A06 Warp divergence");
    const PredictRun& store = once.steps[2].predicts.at(0);
    CHECK(store.truth == 32);
    CHECK(store.answer == "All 32, in one issue");
    CHECK(once.steps[4].predicts.at(0).truth == 2);
    const std::string json = to_json(once);
    CHECK(to_json(run("A06").value()) == json);
    const auto parsed = nlohmann::json::parse(json);
    CHECK(parsed["steps"][6]["predictions"][0]["truth"] == 18.0);
    CHECK(parsed["steps"][0]["cycles"] > 0);
    CHECK(nlohmann::json::parse(to_json(list().value())).size() == list().value().size());
}

TEST_CASE("every exercise of the course has hints on three levels, from a nudge to nearly the answer") {
    for (const std::filesystem::path& folder : lesson_folders()) {
        const Lesson lesson = load_lesson(folder).value();
        for (const Step& step : lesson.steps) {
            if (lesson.exam || step.exercises.empty()) continue;
            INFO(lesson.id << ", " << step.title);
            std::vector<int> levels;
            for (const Hint& hint : step.hints)
                if (!hint.text.starts_with("For gold: ")) levels.push_back(hint.after);
            CHECK(levels == std::vector<int>{1, 2, 3});
        }
    }
}

TEST_CASE("a lesson is found by its id where a folder of that name stands, too") {
    const std::filesystem::path back = std::filesystem::current_path(),
                                place = std::filesystem::temp_directory_path() / "lockstep_lesson_id";
    REQUIRE(lesson_named("A01").ok());
    std::filesystem::create_directories(place / "A01");
    std::filesystem::create_directories(place / "mine");
    std::filesystem::current_path(place);
    const auto found = check("A01");
    const auto unknown = check("mine");
    std::filesystem::current_path(back);
    std::filesystem::remove_all(place);
    REQUIRE(found.ok());
    REQUIRE(found.value().size() == 1);
    CHECK(found.value()[0].id == "A01");
    CHECK(found.value()[0].passed());
    REQUIRE(!unknown.ok());
    CHECK(unknown.error().message == "this folder holds no lesson.md, so it is no lesson");
}

}  // namespace lessons_exercise_test
