// `lockstep grade --puzzle`: designs of a class, as folders and as files, with points for medals; and the puzzles' cards.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "tests/cli/support.h"

namespace cli_grade_puzzle_test {

namespace fs = std::filesystem;

namespace {

std::string first_design(const std::string& name) {
    const fs::path file = scratch() / (name + ".toml");
    fs::remove(file);
    REQUIRE(lockstep_command("puzzle new waits " + file.string()).status == 0);
    return lockstep::read_file(file).value();
}

std::string with(std::string text, const std::vector<std::pair<std::string, int>>& figures) {
    for (const auto& [field, value] : figures) {
        const size_t at = text.find("\n" + field + " = ") + 1;
        REQUIRE(at != 0);
        text.replace(at, text.find('\n', at) - at, field + " = " + std::to_string(value));
    }
    return text;
}

// Four students: gold, bronze, no medal yet, and a cheat.
std::vector<std::pair<std::string, std::string>> designs() {
    const std::string start = first_design("first");
    return {{"anna", with(start, {{"warps_per_sm", 12}, {"blocks_per_sm", 12}, {"registers_per_sm", 12288}})},
            {"ben", with(start, {{"warps_per_sm", 4}, {"blocks_per_sm", 4}, {"registers_per_sm", 4096}})},
            {"carla", start},
            {"dan", start + "dram_latency = 31\n"}};
}

void put(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("designs of a class are graded: a point for bronze, two for silver, three for gold") {
    const fs::path all = scratch() / "designs_of_a_class";
    fs::remove_all(all);
    // Two have called it mine.toml; one file of another name in a folder is as clear; the last is none.
    const auto made = designs();
    put(all / "anna" / "mine.toml", made[0].second);
    put(all / "ben" / "my_gpu.toml", made[1].second);
    put(all / "carla" / "mine.toml", made[2].second);
    put(all / "dan" / "mine.toml", made[3].second);
    put(all / "eve" / "mine.toml", "inherits = \"teaching\"\nwarps = 12\n");
    put(all / "finn" / "readme.txt", "later\n");
    const Outcome outcome = lockstep_command("grade --puzzle waits --format json " + all.string());
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 1);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json["puzzle"] == "One core that waits");
    const auto& rows = json["submissions"];
    REQUIRE(rows.size() == 6);
    const std::vector<int> points = {3, 1, 0, 0, 0, 0};
    for (size_t i = 0; i < points.size(); ++i) {
        INFO(rows[i].dump(1));
        CHECK(rows[i]["points"] == points[i]);
        CHECK(rows[i]["of_points"] == 3);
    }
    const auto of = [&](size_t i) { return rows[i]["exercises"][0]; };
    CHECK(of(0)["medal"] == "gold");
    CHECK(of(0)["estimated_mm2"].get<double>() <= 41);
    CHECK(of(1)["medal"] == "bronze");
    CHECK(of(1)["note"] == "my_gpu.toml is taken as mine.toml");
    CHECK(of(0)["time_us"].get<double>() < of(1)["time_us"].get<double>());
    CHECK(of(2)["medal"].is_null());
    CHECK(of(2)["time_us"].get<double>() > of(1)["time_us"].get<double>());
    CHECK(of(3)["time_us"].is_null());  // against the rules: not run
    CHECK(of(3)["reasons"].get<std::string>().find("dram_latency is 31, and 80 in this puzzle") != std::string::npos);
    CHECK(of(4)["reasons"].get<std::string>().find("unknown figure 'warps'") != std::string::npos);
    CHECK(of(5)["reasons"].get<std::string>().find("there is no file mine.toml in the submission") != std::string::npos);
    // The same with one thread as with many.
    CHECK(lockstep_command("grade --puzzle waits --jobs 1 --format json --submission " + all.string()).out == outcome.out);
}

TEST_CASE("a folder of designs is a line each in CSV, with time, area, power and medal") {
    const fs::path all = scratch() / "designs_as_files";
    fs::remove_all(all);
    for (const auto& [name, text] : designs()) put(all / (name + ".toml"), text);
    const Outcome csv = lockstep_command("grade --puzzle waits --format csv " + all.string());
    CHECK(csv.status == 1);
    std::vector<std::string> lines;
    std::istringstream text(csv.out);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    REQUIRE(lines.size() == 5);
    CHECK(lines[0] == "submission,puzzle,file,medal,points,of_points,time_us,estimated_mm2,estimated_watts,reasons");
    CHECK(lines[1].find(",01_one_core_that_waits,anna.toml,gold,3,3,") != std::string::npos);
    CHECK(lines[2].find(",bronze,1,3,") != std::string::npos);
    CHECK(lines[3].find(",none,0,3,") != std::string::npos);
    CHECK(lines[4].find(",none,0,3,,,,") != std::string::npos);
    put(scratch() / "broken.toml", "inherits = \"teaching\"\nsmms = 4\n");
    const std::string broken =
        lockstep_command("grade --puzzle waits --format csv " + (scratch() / "broken.toml").string()).out;
    CHECK(std::ranges::count(broken, '\n') == 2);
    CHECK(broken.find("broken.toml:2:1: error: unknown figure 'smms'") != std::string::npos);
    const std::string gold = (all / "anna.toml").string();
    const Outcome one = lockstep_command("grade --puzzle waits " + gold);
    CHECK(one.status == 0);
    CHECK(one.out.find("3 of 3 points") != std::string::npos);
    CHECK(one.out.find("(estimates)") != std::string::npos);
    const auto scope = nlohmann::json::parse(lockstep_command("grade --puzzle waits --format gradescope " + gold).out);
    CHECK(scope["score"] == 3);
    CHECK(lockstep_command("grade --puzzle waits --format junit " + all.string()).out.find("failures=\"1\"") !=
          std::string::npos);
}

TEST_CASE("no design inherits from somebody else's, handed in beside it or lying about") {
    const fs::path folders = scratch() / "designs_that_inherit", files = scratch() / "designs_that_inherit_alone";
    fs::remove_all(folders);
    fs::remove_all(files);
    const std::string gold = designs()[0].second;
    put(folders / "anna" / "mine.toml", gold);
    put(folders / "ben" / "mine.toml", "inherits = \"../anna/mine.toml\"\n");
    put(scratch() / "solution.toml", gold);
    put(folders / "eve" / "mine.toml", "inherits = \"" + (scratch() / "solution.toml").string() + "\"\n");
    put(folders / "finn" / "base.toml", gold);  // two files of one's own are
    put(folders / "finn" / "mine.toml", "inherits = \"base.toml\"\n");
    put(files / "carla.toml", gold);
    put(files / "dan.toml", "inherits = \"carla.toml\"\n");
    const auto check = [](const fs::path& all, const std::vector<bool>& own) {
        const auto rows =
            nlohmann::json::parse(lockstep_command("grade --puzzle waits --format json " + all.string()).out)["submissions"];
        REQUIRE(rows.size() == own.size());
        for (size_t i = 0; i < own.size(); ++i) {
            INFO(rows[i].dump(1));
            CHECK(rows[i]["points"] == (own[i] ? 3 : 0));
            if (!own[i])
                CHECK(rows[i]["exercises"][0]["reasons"].get<std::string>().find("inherits from a GPU by name") !=
                      std::string::npos);
        }
    };
    check(folders, {true, false, false, true});
    check(files, {true, false});
}

TEST_CASE("what cannot be graded as a design is one sentence") {
    const auto refused = [](const std::string& arguments, const std::string& sentence) {
        const Outcome outcome = lockstep_command(arguments);
        INFO(outcome.out << outcome.err);
        CHECK(outcome.status == 2);
        CHECK(outcome.err.find(sentence) != std::string::npos);
    };
    refused("grade --puzzle wait_for_it x.toml", "unknown puzzle 'wait_for_it'");
    refused("grade --puzzle waits nowhere.toml", "there is no such submission");
    refused("grade --puzzle waits", "--submission is required");
    refused("grade --puzzle waits --lesson A06 x.toml", "excludes");
}

TEST_CASE("a puzzle's card says what it begins with, its budget and its medals; the list has all twelve") {
    const std::string list = lockstep_command("puzzle list").out;
    CHECK(std::count(list.begin(), list.end(), '\n') == 12);
    CHECK(list.find("10_half_the_watts") != std::string::npos);
    CHECK(list.find("52 mm2, 7.5 W") != std::string::npos);
    const std::string card = lockstep_command("puzzle show banks").out;
    for (const char* part : {"Banks or ports\n", "kernel  look_up, grid 64, block 128", "budget  48.5 mm2 (7nm, estimates)",
                             "begins ", "bronze ", "gold ", "l2_slices", "--hints    3 hints"}) {
        INFO(part << "\n" << card);
        CHECK(card.find(part) != std::string::npos);
    }
    CHECK(card.find("  1. ") == std::string::npos);
    CHECK(lockstep_command("puzzle show banks --hints").out.find("  3. What is on its way") != std::string::npos);
    std::istringstream lines(card);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 84);
}

}  // namespace cli_grade_puzzle_test
