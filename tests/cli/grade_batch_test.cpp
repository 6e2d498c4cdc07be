// `lockstep grade` of many: folders and archives of submissions, notebooks, names that are nearly right, and what is left
// behind when it is ended.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "core/nn/data/files/inflate.h"
#include "tests/cli/support.h"
#include "tests/compilers_here.h"

namespace cli_grade_batch_test {

namespace fs = std::filesystem;

namespace {

std::string lesson_file(const std::string& file) {
    return lockstep::read_file(fs::path(LOCKSTEP_SOURCE_DIR) / "lessons" / file).value();
}
std::string right_window() {
    return lesson_file("A09_shared_memory/solution/window.cu");
}
std::string right_order() {
    return lesson_file("A14_streams/solution/order.host");
}

void put(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

nlohmann::json graded(const std::string& arguments, int status) {
    const Outcome outcome = lockstep_command("grade --format json " + arguments);
    INFO(arguments << "\n" << outcome.out << outcome.err);
    CHECK(outcome.status == status);
    return nlohmann::json::parse(outcome.out);
}

void append(std::string& out, uint64_t value, int count) {
    for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

// A zip archive of stored members.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
    std::string out, directory;
    for (const auto& [name, contents] : members) {
        std::string common;
        append(common, 20, 2), append(common, 0, 2), append(common, 0, 2), append(common, 0x00210000, 4);
        append(common, lockstep::nn::crc32_of(contents), 4), append(common, contents.size(), 4);
        append(common, contents.size(), 4), append(common, name.size(), 2), append(common, 0, 2);
        append(directory, 0x02014b50, 4), append(directory, 20, 2);
        directory += common;
        directory.append(10, '\0');
        append(directory, out.size(), 4);
        directory += name;
        append(out, 0x04034b50, 4);
        out += common + name + contents;
    }
    const uint64_t begin = out.size();
    out += directory;
    append(out, 0x06054b50, 4), append(out, 0, 4), append(out, members.size(), 2), append(out, members.size(), 2);
    append(out, directory.size(), 4), append(out, begin, 4), append(out, 0, 2);
    return out;
}

size_t folders_left(const fs::path& place) {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(place))
        count += entry.path().filename().string().starts_with("lockstep");
    return count;
}

}  // namespace

TEST_CASE("A folder of students, each a folder, is as many submissions, and a bad path among them ends nothing") {
    const fs::path all = scratch() / "students";
    put(all / "alice/order.host", right_order());
    put(all / "bob/order.host", lesson_file("A14_streams/order.host"));
    put(all / "carol/deeper/order.host", right_order());
    put(all / "dan/notes.txt", "nothing done\n");
    put(all / "eve.zip", "this is no archive");
    const auto json = graded("--lesson A14 --exercise reorder --jobs 2 --submission " + all.string() + " --submission " +
                                 (scratch() / "nobody").string(),
                             1);
    std::map<std::string, nlohmann::json> by_name;
    for (const auto& each : json["submissions"])
        by_name[fs::path(each["submission"].get<std::string>()).filename().string()] = each;
    CHECK(by_name.size() == 6);
    CHECK(by_name["alice"]["points"] == 1);
    CHECK(by_name["bob"]["points"] == 0);
    CHECK(by_name["carol"]["points"] == 1);
    CHECK(by_name["dan"]["exercises"][0]["reasons"] == "there is no file order.host in the submission; it holds notes.txt");
    CHECK(by_name["eve.zip"]["exercises"][0]["reasons"].get<std::string>().find("not a readable zip archive") !=
          std::string::npos);
    CHECK(by_name["nobody"]["exercises"][0]["reasons"] == "there is no such submission");
    for (const auto& [name, each] : by_name) CHECK(each["of_points"] == 1);
}

TEST_CASE("A folder of files, one a student, is as many submissions where one exercise is asked for") {
    const fs::path all = scratch() / "files";
    for (int i = 0; i < 5; ++i)
        put(all / ("student" + std::to_string(i) + ".host"), "# student " + std::to_string(i) + "\n" + right_order());
    const auto json = graded("--lesson A14 --exercise reorder --submission " + all.string(), 0);
    CHECK(json["submissions"].size() == 5);
}

TEST_CASE("a design in an archive is told by its own name, the same in each run") {
    const std::string zip = write("designs.zip", zip_of({{"class/eve/mine.toml", "inherits = \"teaching\"\nsmms = 4\n"},
                                                         {"class/finn/mine.toml", "inherits = teaching\n"}}));
    const std::string first = lockstep_command("grade --puzzle waits --format csv " + zip).out;
    CHECK(first.find("eve/mine.toml:2:1: error: unknown figure 'smms'") != std::string::npos);
    CHECK(first.find("lockstep-grade") == std::string::npos);
    CHECK(first.find("archive1") == std::string::npos);
    CHECK(first == lockstep_command("grade --puzzle waits --format csv " + zip).out);
}

TEST_CASE("A zip archive is read, and one that would write elsewhere or grow without end is refused in a sentence") {
    const std::string zip = write("all.zip", zip_of({{"class/alice/order.host", right_order()},
                                                     {"class/bob/order.host", "launch nothing"},
                                                     {"__MACOSX/class/._alice", "x"}}));
    const auto json = graded("--lesson A14 --exercise reorder --submission " + zip, 1);
    REQUIRE(json["submissions"].size() == 2);
    CHECK(json["submissions"][0]["submission"].get<std::string>().ends_with("alice"));
    CHECK(json["submissions"][0]["points"] == 1);
    CHECK(json["submissions"][1]["points"] == 0);
    const std::string wide = write("wide.zip", zip_of({{"class/carol/order.host", "\xff\xfe_\x01"}}));
    const auto unread = graded("--lesson A14 --exercise reorder --submission " + wide, 1);
    const std::string sentence = unread["submissions"][0]["exercises"][0]["reasons"];
    CHECK(sentence == "order.host: error: the file is UTF-16: save it as UTF-8");  // and no folder of this computer
    for (const std::string name : {"../order.host", "/tmp/order.host", "a\\order.host", "a/../../order.host"}) {
        const std::string bad = write("bad.zip", zip_of({{name, right_order()}}));
        const auto refused = graded("--lesson A14 --exercise reorder --submission " + bad, 1);
        const std::string why = refused["submissions"][0]["exercises"][0]["reasons"];
        INFO(name << ": " << why);
        CHECK((why.find("outside of the archive's own folder") != std::string::npos ||
               why.find("has a name that is none on every system") != std::string::npos));
    }
}

TEST_CASE("A name that is nearly right is taken, and said; of two that are, neither is") {
    const fs::path all = scratch() / "near", folder = all / "alice";
    put(folder / "My_Order.host", right_order());
    const auto one = graded("--lesson A14 --submission " + folder.string(), 1);  // weights.host is missing
    CHECK(one["submissions"][0]["exercises"][0]["note"] == "My_Order.host is taken as order.host");
    CHECK(one["submissions"][0]["exercises"][0]["passed"] == true);
    CHECK(one["submissions"][0]["exercises"][1]["reasons"] ==
          "there is no file weights.host in the submission; it holds My_Order.host");
    put(folder / "order (1).host", right_order());
    const auto two = graded("--lesson A14 --exercise reorder --submission " + all.string(), 1);
    CHECK(
        two["submissions"][0]["exercises"][0]["reasons"] ==
        "there is no file order.host in the submission: did you mean My_Order.host or order (1).host? One of them has to be "
        "called so");
    const Outcome text = lockstep_command("grade --lesson A14 --submission " + (folder / "My_Order.host").string());
    INFO(text.out << text.err);
    CHECK(text.status == 0);
    CHECK(text.out.find("My_Order.host is taken as order.host") != std::string::npos);
}

TEST_CASE("A student is judged alike alone and in the class, whatever the file is called") {
    const std::string kernel = "// hoard\n__global__ void hoard(float* out, const float* in) { out[0] = in[0]; }\n";
    const fs::path all = scratch() / "alike";
    put(all / "ada/hoard.cu", kernel);
    put(all / "zoe/hoard (2).cu", kernel);
    put(all / "zoe/hoard_final.cu", kernel);
    put(all / "eve/solution.cu", kernel);
    put(all / "dan/homework.docx", "x");
    fs::create_directories(all / "fay");
    put(all / "gus/ho ard (1).cu", kernel);
    const std::string grade = "--lesson A05 --exercise hoard --max-seconds 20 --submission ";
    const auto row_of = [](const nlohmann::json& json, const std::string& name) {
        for (const auto& each : json["submissions"])
            if (fs::path(each["submission"].get<std::string>()).filename() == name) return each["exercises"][0];
        return nlohmann::json();
    };
    if (!compiler_here()) return;
    const auto together = graded(grade + all.string(), 1);
    CHECK(together["submissions"].size() == 6);
    for (const std::string name : {"ada", "zoe", "eve", "dan", "fay", "gus"}) {
        INFO(name);
        const auto alone = graded(grade + (all / name).string(), 1);
        CHECK(alone["submissions"].size() == 1);
        CHECK(alone["submissions"][0]["exercises"][0]["reasons"] == row_of(together, name)["reasons"]);
        CHECK(alone["submissions"][0]["exercises"][0]["note"] == row_of(together, name)["note"]);
    }
    CHECK(row_of(together, "zoe")["reasons"].get<std::string>().find("did you mean hoard (2).cu or hoard_final.cu?") !=
          std::string::npos);
    CHECK(row_of(together, "eve")["note"] == "solution.cu is taken as hoard.cu: it defines the kernel hoard");
    CHECK(row_of(together, "gus")["note"] == "ho ard (1).cu is taken as hoard.cu");
    CHECK(row_of(together, "dan")["reasons"] == "there is no file hoard.cu in the submission; it holds homework.docx");
    CHECK(row_of(together, "fay")["reasons"] == "there is no file hoard.cu in the submission: it is empty");
    const std::string zip = write("alike.zip", zip_of({{"ada/hoard.cu", kernel}, {"fay/", ""}}));
    const auto zipped = graded(grade + zip, 1);
    REQUIRE(zipped["submissions"].size() == 2);
    CHECK(row_of(zipped, "fay")["reasons"] == "there is no file hoard.cu in the submission: it is empty");
}

TEST_CASE("CSV has a line an exercise, with the points of its clauses, and no formulas") {
    const fs::path all = scratch() / "csv";
    put(all / "=cmd/order.host", right_order());
    put(all / "bob/order.host", lesson_file("A14_streams/order.host"));
    const Outcome outcome =
        lockstep_command("grade --lesson A14 --exercise reorder --format csv --submission " + all.string());
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.starts_with(
        "submission,exercise,file,passed,points,of_points,processor_seconds,checks,reasons,medal\n"));
    CHECK(outcome.out.find("reorder,order.host,yes,1,1,") != std::string::npos);
    CHECK(outcome.out.find("total_us <= 0.85 * total_us@run:starter: 0 of 1") != std::string::npos);
    CHECK(outcome.err.find("2 of 2: ") != std::string::npos);
    put(scratch() / "=order.host", right_order());
    const Outcome formula = lockstep_command("grade --lesson A14 --exercise reorder --format csv --submission \"" +
                                             scratch().string() + "/=order.host\"");
    CHECK(formula.out.find(",'=order.host,yes") != std::string::npos);
}

TEST_CASE("Part of the points is told clause by clause, in every format") {
    const fs::path folder = scratch() / "part";
    if (!compiler_here()) return;
    put(folder / "hoard.cu", lesson_file("A05_latency_hiding/proof/hoard_wrong_one_warp_a_block.cu"));
    const std::string grade = "--lesson A05 --exercise hoard --submission " + folder.string();
    const auto json = graded(grade, 1);
    CHECK(json["submissions"][0]["points"] == 1.5);
    CHECK(json["submissions"][0]["exercises"][0]["checks"][1]["points"] == 1.5);
    CHECK(json["submissions"][0]["exercises"][0]["checks"][0]["required"] == true);
    const auto results = nlohmann::json::parse(lockstep_command("grade --format gradescope " + grade).out);
    CHECK(results["score"] == 1.5);
    CHECK(results["tests"][0]["output"].get<std::string>().find("(1.5 of 1.5 points)") != std::string::npos);
    CHECK(lockstep_command("grade --format junit " + grade).out.find("1.5 of 3 points") != std::string::npos);
    CHECK(lockstep_command("grade --format csv " + grade).out.find(",no,1.5,3,") != std::string::npos);
}

TEST_CASE("The cells of a notebook answer, by the file that they are written to or by their kernel") {
    const auto cell = [](const std::string& source) {
        return nlohmann::json{{"cell_type", "code"}, {"source", source}, {"metadata", nlohmann::json::object()}};
    };
    const auto notebook = [&](const std::vector<std::string>& cells) {
        nlohmann::json all = nlohmann::json::array({{{"cell_type", "markdown"}, {"source", {"# Homework"}}}});
        for (const std::string& text : cells) all.push_back(cell(text));
        return nlohmann::json{{"cells", all}, {"nbformat", 4}}.dump();
    };
    const std::string host = write("nb.ipynb", notebook({"print(1)", "%%writefile order.host\n" + right_order()}));
    const auto written = graded("--lesson A14 --exercise reorder --submission " + host, 0);
    CHECK(written["submissions"][0]["exercises"][0]["file"] == "nb.ipynb, code cell 2");
    const std::string none = write("none.ipynb", notebook({"print(1)"}));
    const auto missing = graded("--lesson A09 --exercise window --submission " + none, 1);
    CHECK(missing["submissions"][0]["exercises"][0]["reasons"] ==
          "none.ipynb has no cell that is written to window.cu or defines the kernel window");
    const std::string broken = write("broken.ipynb", "{\"cells\": 3}");
    CHECK(graded("--lesson A09 --exercise window --submission " + broken, 1)["submissions"][0]["exercises"][0]["reasons"]
              .get<std::string>()
              .find("this is no notebook") != std::string::npos);
    if (!compiler_here()) return;
    const std::string kernel = write("kernel.ipynb", notebook({"%%cu\n" + right_window() + "int main() { return 0; }\n"}));
    CHECK(graded("--lesson A09 --exercise window --submission " + kernel, 0)["submissions"][0]["points"] == 3);
}

TEST_CASE("Comments in another encoding than UTF-8 change nothing") {
    if (!compiler_here()) return;
    std::string text = right_window();
    text.insert(text.find("int sum"), "// \xf1\xf3\xec\xec\xe0 \xf7\xe8\xf1\xe5\xeb \xff\n    ");
    const fs::path folder = scratch() / "cp1251";
    put(folder / "window.cu", text);
    CHECK(graded("--lesson A09 --exercise window --submission " + folder.string(), 0)["submissions"][0]["points"] == 3);
}

TEST_CASE("Processor time counts and not the clock on the wall") {
    if (!compiler_here()) return;
    const std::string slow = write("by_warp_slow.cu",
                                   "__global__ void by_warp(float* x) { for (unsigned k = 0; k < 4000000000u; ++k) "
                                   "x[threadIdx.x] = x[threadIdx.x] * 0.5f + k; }\n");
    const auto begin = std::chrono::steady_clock::now();
    const auto json = graded("--lesson A06 --exercise by_warp --max-seconds 0.2 --submission " + slow, 1);
    const std::string reasons = json["submissions"][0]["exercises"][0]["reasons"].get<std::string>();
    INFO(reasons);
    CHECK(reasons.find("0.2 seconds of processor time that --max-seconds allows") != std::string::npos);
    CHECK(json["submissions"][0]["exercises"][0]["seconds"] < 20);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}

TEST_CASE("Ctrl-C ends a grade with the rows that there are so far") {
    const fs::path all = scratch() / "ctrl_c";
    put(all / "0/notes.txt", "nothing done\n");
    for (int i = 1; i < 400; ++i)
        put(all / std::to_string(i) / "budget.train", lesson_file("B09_step_and_batch_size/budget.train"));
    const Outcome outcome =
        shell("timeout --foreground --preserve-status -s INT 2 " + std::string(LOCKSTEP_BINARY) +
              " grade --lesson B09 --exercise budget --jobs 1 --format csv --submission " + all.string());
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 130);
    CHECK(outcome.out.starts_with("submission,exercise,file,passed,"));
    CHECK(outcome.out.find("there is no file budget.train in the submission") != std::string::npos);
    const auto count = [&](const std::string& words) {
        size_t found = 0;
        for (size_t at = 0; (at = outcome.out.find(words, at)) != std::string::npos; ++at) ++found;
        return found;
    };
    CHECK(count(",budget,budget.train,") == 400);  // one for each; those that were not judged have no points, which is not 0
    const size_t left = count(",,,3,0.00,,it was not judged: the grading was ended before");
    CHECK(left >= 1);
    CHECK(outcome.err.find("the grading was ended after " + std::to_string(400 - left) + " of 400") != std::string::npos);
    CHECK(outcome.err.find(" of 400 submissions") != std::string::npos);
}

TEST_CASE("A grade that is ended leaves nothing behind, and what others left is cleared away") {
    const fs::path place = scratch() / "tmp", all = scratch() / "many";
    fs::create_directories(place);
    for (int i = 0; i < 40; ++i)
        put(all / std::to_string(i) / "budget.train", lesson_file("B09_step_and_batch_size/budget.train"));
    fs::create_directories(place / "lockstep-grade-999999999-stale");
    for (const int signal : {SIGTERM, SIGHUP, SIGKILL}) {  // a shell's background ignores SIGINT
        const std::string command = "TMPDIR=" + place.string() + " " + LOCKSTEP_BINARY +
                                    " grade --lesson B09 --exercise budget --submission " + all.string() +
                                    " >/dev/null 2>&1 & echo $!";
        FILE* pipe = ::popen(command.c_str(), "r");
        REQUIRE(pipe);
        int process = 0;
        REQUIRE(std::fscanf(pipe, "%d", &process) == 1);
        ::pclose(pipe);
        for (int tries = 0; tries < 200 && folders_left(place) == 0; ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        INFO("signal " << signal);
        CHECK(folders_left(place) == 1);
        CHECK(::kill(process, signal) == 0);
        for (int tries = 0; tries < 500 && folders_left(place) > 0; ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        CHECK(folders_left(place) == 0);
    }
}

}  // namespace cli_grade_batch_test
