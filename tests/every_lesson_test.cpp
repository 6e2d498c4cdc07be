// The proof of a lesson can fail; an unknown lesson is refused. The lessons' own proofs are every_lesson_*_test.
#include <filesystem>

#include "core/base/files.h"
#include "lessons/player/check.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::lessons;
namespace fs = std::filesystem;

TEST_CASE("every lesson belongs to a part whose lessons are checked") {
    // every_lesson_a_test, every_lesson_b_test and every_lesson_c_test: apart, so that they run beside each other
    for (const fs::path& folder : lesson_folders()) {
        INFO(folder);
        CHECK(std::string("ABC").find(folder.filename().string().front()) != std::string::npos);
    }
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
