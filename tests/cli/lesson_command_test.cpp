// `lockstep lesson` for people who write lessons: a new one, its PTX, the page of figures, and one's own folder wherever a
// lesson is asked for.
#include "tests/cli/support.h"
#include "tests/compilers_here.h"

namespace cli_lesson_command_test {

namespace fs = std::filesystem;

TEST_CASE("A lesson of one's own is begun, proved, run, and graded by its folder") {
    const fs::path folder = scratch() / "X01_of_mine";
    const Outcome begun = lockstep_command("lesson new " + folder.string());
    INFO(begun.out << begun.err);
    CHECK(begun.status == 0);
    CHECK(begun.out.find("next: lockstep lesson check ") != std::string::npos);
    const Outcome proved = lockstep_command("lesson check " + folder.string());
    INFO(proved.out << proved.err);
    CHECK(proved.status == 0);
    CHECK(proved.out.find("1 of 1 lessons hold") != std::string::npos);
    const Outcome run = lockstep_command("lesson run " + folder.string());
    CHECK(run.status == 0);
    CHECK(run.out.starts_with("X01 of mine\n"));
    refuses("lesson new " + folder.string(), "something is there already");
    if (!compiler_here()) return;
    const Outcome graded =
        lockstep_command("grade --lesson " + folder.string() + " --submission " + (folder / "solution/twice.cu").string());
    INFO(graded.out << graded.err);
    CHECK(graded.status == 0);
    std::ofstream(folder / "twice.cu", std::ios::app) << "// changed\n";
    CHECK(lockstep_command("lesson check " + folder.string()).status == 1);  // its PTX is older now
    const Outcome made = lockstep_command("lesson ptx " + folder.string());
    INFO(made.out << made.err);
    CHECK(made.status == 0);
    CHECK(made.out.find("twice.ptx") != std::string::npos);
    CHECK(lockstep_command("lesson check " + folder.string()).status == 0);
}

TEST_CASE("An unknown view or figure is refused with the nearest name, its line and its column") {
    const fs::path folder = scratch() / "X02_typing";
    CHECK(lockstep_command("lesson new " + folder.string()).status == 0);
    std::string text = lockstep::read_file(folder / "lesson.md").value();
    text.replace(text.find("view=\"threads\""), 14, "view=\"theads\"");
    std::ofstream(folder / "lesson.md", std::ios::trunc) << text;
    const Outcome view = lockstep_command("lesson check " + folder.string());
    INFO(view.out << view.err);
    CHECK(view.status == 2);
    CHECK(view.out.find("lesson.md:12:") != std::string::npos);
    CHECK(view.out.find("unknown view 'theads', did you mean 'threads'?") != std::string::npos);
}

TEST_CASE("The page of figures is printed as it is kept") {
    const Outcome page = lockstep_command("lesson figures");
    CHECK(page.status == 0);
    CHECK(page.out == lockstep::read_file(fs::path(LOCKSTEP_SOURCE_DIR) / "lessons/player/FIGURES.md").value());
}

}  // namespace cli_lesson_command_test
