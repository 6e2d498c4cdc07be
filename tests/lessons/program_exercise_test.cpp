// Exercises on host programs, tensor programs and training runs: judged by what ran.
#include <filesystem>

#include "core/base/files.h"
#include "lessons/player/exercise.h"
#include "tests/catch.h"

namespace lessons_program_exercise_test {

using namespace lockstep;
using namespace lockstep::lessons;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("exercises on programs and on training runs are judged by what ran") {
    const fs::path folder = fs::temp_directory_path() / "lockstep_tape_exercise";
    fs::remove_all(folder);
    fs::create_directories(folder / "solution");
    const std::string right =
        "param x[4] = random\nop cube(a) = a * a * a\nsave a\nbackward a = up * 3 * a^2\nend\nz = sum(cube(x))\nbackward "
        "z\ngradcheck z\n";
    std::string wrong = right;
    wrong.replace(wrong.find("3 * a^2"), 7, "2 * a");
    write_file(folder / "cube.tape", wrong);
    write_file(folder / "solution" / "cube.tape", right);
    write_file(folder / "rate.train", "linear_regression steps=40 batch=32 lr=0.001\n");
    write_file(folder / "solution" / "rate.train", "linear_regression steps=40 batch=32 lr=0.2\n");
    Lesson lesson;
    lesson.gpu = "teaching";
    lesson.seed = 3;
    lesson.folder = folder;
    Exercise cube;
    cube.id = "cube";
    cube.file = "cube.tape";
    cube.reference = "solution/cube.tape";
    cube.check = scene::Expression::parse("outputs == reference && gradcheck.wrong == 0").value();
    cube.inputs = {{.random = 3}};
    const auto judged = [&](const Exercise& exercise, const std::string& text) {
        const auto report = check_submission(lesson, exercise, text, exercise.file);
        if (!report) FAIL(render(report.error()));
        return report.value();
    };
    CHECK(judged(cube, right).passed);
    const ExerciseReport failed = judged(cube, wrong);
    CHECK(!failed.passed);
    CHECK_THAT(failed.clauses[0].detail, Contains("the gradient of x[0] is"));
    std::string other = right;
    other.replace(other.find("x[4]"), 4, "x[3]");
    CHECK_THAT(judged(cube, other).clauses[0].detail, Contains("'x' is part of the task"));
    CHECK(!judged(cube, "z = ").passed);
    std::string infinite = right;  // the loss, and the gradients with it
    infinite.replace(infinite.find("z = sum(cube(x))"), 16, "z = sum(cube(x)) - log(sum(x) * 0)");
    CHECK_THAT(judged(cube, infinite).clauses[0].detail, Contains("the loss of step 0 is inf where the reference has"));
    CHECK(!judged(cube, "param x[4] = random\nz = sum(x^3)\nbackward z\n").passed);  // it has no gradcheck

    Exercise rate = cube;
    rate.file = "rate.train";
    rate.reference = "solution/rate.train";
    rate.check = scene::Expression::parse("mean_loss <= 0.2 * first_loss && steps <= 40").value();
    CHECK(judged(rate, "linear_regression steps=40 batch=32 lr=0.2\n").passed);
    CHECK(!judged(rate, "linear_regression steps=40 batch=32 lr=0.001\n").passed);
    CHECK(!judged(rate, "linear_regression steps=400 batch=32 lr=0.02\n").passed);
    CHECK_THAT(judged(rate, "mlp steps=4\n").clauses[0].detail, Contains("part of the task"));
    fs::remove_all(folder);
}

TEST_CASE("a host program of a learner is judged on its values and its time") {
    const fs::path place = fs::temp_directory_path() / "lockstep_host_exercise";
    fs::remove_all(place);
    fs::create_directories(place / "solution");
    fs::create_directories(place / "ptx");
    const fs::path a03 = resource_root() / "lessons" / "A03_host_and_device";
    fs::copy_file(a03 / "damp.cu", place / "damp.cu");
    fs::copy_file(a03 / "ptx" / "damp.ptx", place / "ptx" / "damp.ptx");
    const std::string head = R"(kernels damp.cu
host x f32[4096 random] pinned
host y f32[4096 zero] pinned
malloc dx f32[4096]
malloc dy f32[4096]
)";
    const std::string good = head + "h2d dx x\nh2d dy y\nlaunch damp(dy, dx, 2, 4096) grid=16 block=256\nd2h y dy\n";
    write_file(place / "task.host", head + "h2d dx x\nd2h y dy\n");
    write_file(place / "solution" / "task.host", good);
    Lesson lesson;
    lesson.folder = place;
    lesson.gpu = "teaching";
    lesson.seed = 3;
    Exercise exercise;
    exercise.id = "task";
    exercise.file = "task.host";
    exercise.reference = "solution/task.host";
    exercise.check =
        scene::Expression::parse("outputs == reference && hazards == 0 && total_us <= 1.01 * total_us@run:reference")
            .value();
    exercise.inputs = {{.random = 3}};
    const auto lines = [&](const std::string& text) {
        const auto report = check_submission(lesson, exercise, text, "task.host");
        REQUIRE(report);
        std::string all;
        for (const std::string& line : report.value().lines) all += line + "\n";
        CHECK(report.value().passed == (all.find("FAIL") == std::string::npos));
        return all;
    };
    CHECK_THAT(lines(good), Contains("pass outputs == reference: the same for all 3 fillings") && Contains("1 of 1 points"));
    CHECK_THAT(lines(head + "h2d dx x\nd2h y dy\n"), Contains("FAIL outputs == reference: 'y', element"));
    const std::string early = head +
                              "h2d dx x stream=1\nh2d dy y stream=1\nlaunch damp(dy, dx, 2, 4096) grid=16 block=256 "
                              "stream=1\nd2h y dy stream=";
    const std::string unordered = ": line 9 (d2h dy) reads 'dy', which line ";
    CHECK_THAT(lines(early + "2\nsync\n"), Contains("FAIL outputs == reference: 'y', element") &&
                                               Contains("FAIL hazards == 0: 2 against 0" + unordered));
    CHECK_THAT(lines(early + "1\n"), Contains("pass outputs == reference") &&
                                         Contains("FAIL hazards == 0: 1 against 0: the host may read 'y', which line 9 "
                                                  "(d2h dy) may still be writing"));
    CHECK_THAT(lines(good + "work 500us\n"), Contains("FAIL total_us <= 1.01 * total_us@run:reference"));
    CHECK_THAT(lines("h2d dx\n"), Contains("FAIL it can be read"));
    CHECK_THAT(lines(good + "launch damp(dy, dx, 2, 9999) grid=99 block=256\n"), Contains("invalid global"));
    std::string other = good;
    other.replace(other.find("random"), 6, "zero");
    CHECK_THAT(lines(other),
               Contains("FAIL it starts from the task's arrays: the host's array 'x' is f32[4096 random] in the task"));
    fs::remove_all(place);
}

}  // namespace lessons_program_exercise_test
