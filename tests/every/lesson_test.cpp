// The proof of a lesson can fail; an unknown lesson is refused. The lessons' own proofs are every_lesson_*_test.
#include <algorithm>
#include <filesystem>

#include "core/base/files.h"
#include "core/scene/run.h"
#include "lessons/player/check.h"
#include "tests/catch.h"

namespace every_lesson_test {

using namespace lockstep;
using namespace lockstep::lessons;
using namespace lockstep::scene;
namespace fs = std::filesystem;

TEST_CASE("every lesson belongs to a part whose lessons are checked") {
    // every_lesson_a_test, every_lesson_b_test and every_lesson_c_test: apart, so that they run beside each other
    for (const fs::path& folder : lesson_folders()) {
        INFO(folder);
        CHECK(std::string("ABC").find(folder.filename().string().front()) != std::string::npos);
    }
}

TEST_CASE("every scene's kernel leaves the memory of a functional run, whatever the order of its warps") {
    size_t kernels = 0;
    for (const fs::path& folder : lesson_folders()) {
        if (sanitized && kernels % 8 != 0) continue;
        const Lesson lesson = load_lesson(folder).value();
        for (const Step& step : lesson.steps)
            for (const Scene& scene : step.scenes) {
                if (scene.kernel.empty() || !scene.expect.empty()) continue;  // a fault or a race is what it shows
                INFO(lesson.id << " " << scene.kernel << " of " << scene.file);
                const auto scene_result = run_scene(lesson, scene).value().as<KernelResult>();
                const model::KernelRun& run = *scene_result->run;
                REQUIRE(run.before);
                const auto& code =
                    run.program->instructions;  // one that asks an mbarrier again and again asks as often as it must
                const bool polls =
                    std::any_of(code.begin(), code.end(), [](const auto& i) { return i.kind == ptx::Kind::mbarrier; });
                for (const simt::WarpOrder order : {simt::WarpOrder::round_robin, simt::WarpOrder::reverse}) {
                    simt::Memory memory = *run.before;
                    simt::LaunchOptions options;
                    options.order = order;
                    options.independent = model::schedules_threads(run.gpu);
                    const simt::LaunchResult functional = simt::launch(*run.program, run.config, memory, options);
                    REQUIRE_FALSE(functional.fault);
                    const std::vector<Array> outputs = read_outputs(scene_result->bound, memory);
                    REQUIRE(outputs.size() == scene_result->outputs.size());
                    for (size_t i = 0; i < outputs.size(); ++i) CHECK(outputs[i].bytes == scene_result->outputs[i].bytes);
                    if (!polls) CHECK(functional.warp_instructions == run.result.warp_instructions);
                }
                ++kernels;
            }
    }
    CHECK((sanitized || kernels > 100));
}

TEST_CASE("a lesson with a wrong answer, a stray file, a stale kernel and too many words fails its check") {
    const fs::path folder = fs::temp_directory_path() / "lockstep_check" / "A06_divergence";
    fs::remove_all(folder.parent_path());
    fs::create_directories(folder.parent_path());
    fs::copy(resource_root() / "lessons" / "A06_divergence", folder, fs::copy_options::recursive);
    std::string text = read_file(folder / "lesson.md").value();
    const auto replace = [&](const std::string& from, const std::string& to) {
        REQUIRE(text.find(from) != std::string::npos);
        text.replace(text.find(from), from.size(), to);
    };
    replace("| 32 | All 32", "| 31 | All 32");
    std::string words;
    for (int i = 0; i < 46; ++i) words += "word ";
    replace("## A branch asks each lane | investigate\n", "## A branch asks each lane | investigate\n" + words + "\n");
    write_file(folder / "lesson.md", text);
    write_file(folder / "notes.txt", "left over");
    // A starter that is already right, and PTX that no longer belongs to its source.
    fs::copy_file(folder / "solution" / "by_warp.cu", folder / "by_warp.cu", fs::copy_options::overwrite_existing);
    fs::copy_file(folder / "solution" / "ptx" / "by_warp.ptx", folder / "ptx" / "by_warp.ptx",
                  fs::copy_options::overwrite_existing);
    write_file(folder / "nested.cu", read_file(folder / "nested.cu").value() + "// changed\n");

    const LessonCheck check = check_lesson(folder);
    std::string failed;
    for (const CheckItem& item : check.items)
        if (!item.passed) failed += item.what + ": " + item.detail + "\n";
    CHECK(!check.passed());
    CHECK(failed.find("prediction store: lanes_per_issue@line:13 = 32: none of the answers agrees") != std::string::npos);
    CHECK(failed.find("step 2: ") != std::string::npos);
    CHECK(failed.find("file notes.txt: no step of the lesson uses this file") != std::string::npos);
    CHECK(failed.find("exercise by_warp, starter: passes, but a starter must fail") != std::string::npos);
    CHECK(failed.find("kernel nested.cu: ") != std::string::npos);
    fs::remove_all(folder.parent_path());
}

TEST_CASE("an unknown lesson names the known ones") {
    const Result<Lesson> lesson = lesson_named("Z99");
    REQUIRE(!lesson.ok());
    for (const char* known : {"A02", "A06", "B04"}) CHECK(lesson.error().message.find(known) != std::string::npos);
    CHECK(!check("Z99").ok());
}

}  // namespace every_lesson_test
