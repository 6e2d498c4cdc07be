// GPUs of one's own, their estimates, sweeps of designs and puzzles, from the command line.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/support.h"

namespace cli_own_gpu_test {

using namespace lockstep;

namespace {
const std::string puzzles = std::string(LOCKSTEP_SOURCE_DIR) + "/lessons/puzzles/";
const std::string add =
    puzzles + "ptx/vector_add.ptx --grid 16 --block 128 --arg in:f32[2048] --arg in:f32[2048] --arg " + "out:f32[2048]";
bool has(const std::string& text, std::string_view part) {
    INFO(text);
    const bool found = text.find(part) != std::string::npos;
    CHECK(found);
    return found;
}
}  // namespace

TEST_CASE("gpus new writes a file, which gpus prints and every --gpu takes") {
    const std::string file = (scratch() / "mine.toml").string();
    std::filesystem::remove(file);
    const Outcome fresh = lockstep_command("gpus new " + file + " --from h100");
    REQUIRE(fresh.status == 0);
    has(fresh.out, "inherits from H100 SXM5");
    const Outcome again = lockstep_command("gpus new " + file + " --from h100");
    CHECK(again.status == 2);
    has(again.err, "there is such a file already");
    write("mine.toml", read_file(file).value() + "sms = 4\nl2_mb = 1\n");
    const auto json = nlohmann::json::parse(lockstep_command("gpus " + file + " --json -").out);
    CHECK(json["title"] == "mine");
    CHECK(json["compute"] == "9.0");
    CHECK(json["fields"]["sms"]["value"] == 4);
    CHECK(json["fields"]["sms"]["source"] == "set in mine.toml");
    CHECK(json["fields"]["l2_bytes"]["value"] == 1048576);
    CHECK(json["fields"]["scheduler"]["value"] == "gty");
    has(lockstep_command("gpus " + file).out, "mine (" + file + "), compute capability 9.0");
    const Outcome run = lockstep_command("run " + add + " --gpu " + file + " --json -");
    REQUIRE(run.status == 0);
    CHECK(nlohmann::json::parse(run.out)["gpu"] == file);
    CHECK(lockstep_command("occupancy --gpu " + file + " --block 64 --regs 32 --shared 0").status == 0);
    CHECK(lockstep_command("train --model mlp --device sim:" + file + " --steps 1 --batch 4").status == 0);
    const std::string wrong = write("wrong.toml", "inherits = \"h100\"\nsub_cores = 5\n");
    const Outcome refused = lockstep_command("run " + add + " --gpu " + wrong);
    CHECK(refused.status == 2);
    has(refused.err, "wrong.toml:2:13: error: 'sub_cores' is from 1 to 4, not 5: this model goes no further");
}

TEST_CASE("a kernel that needs a part which the GPU has not is refused in one sentence") {
    const std::string kernel =
        write("halve.ptx",
              ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
              ".reg .f64 %d<3>;\nmov.f64 %d1, 0d3FF0000000000000;\nadd.f64 %d2, %d1, %d1;\nret;\n}\n");
    const std::string gpu = write("no_fp64.toml", "inherits = \"v100\"\nname = \"Thrifty\"\nfp64_lanes = 0\n");
    const Outcome run = lockstep_command("run " + kernel + " --grid 1 --block 32 --gpu " + gpu);
    CHECK(run.status == 1);
    has(run.err, "Thrifty has no FP64 lanes (fp64_lanes = 0), which ");
    const std::string one = write("one.toml", "inherits = \"v100\"\nsub_cores = 1\nwarps_per_sm = 1\n");
    const Outcome large = lockstep_command("run " + kernel + " --grid 1 --block 64 --gpu " + one);
    CHECK(large.status == 2);
    has(large.err, "a block of 64 threads is too large: at most 32 threads a block");
    CHECK(lockstep_command("run " + kernel + " --grid 3 --block 32 --gpu " + one).status == 0);
}

TEST_CASE("a GPU's area comes part by part, with sources, beside dies whose size is published") {
    const Outcome text = lockstep_command("gpus v100 --area");
    REQUIRE(text.status == 0);
    has(text.out, "(estimate)");
    has(text.out, "GV100   V100");
    const auto json = nlohmann::json::parse(lockstep_command("gpus v100 --area --json -").out);
    CHECK(json["estimate"] == true);
    CHECK(json["process"] == "12nm");
    CHECK(json["real_dies"].size() == 8);
    double sum = 0;
    for (const auto& part : json["parts"]) sum += part["mm2"].get<double>();
    CHECK(std::abs(sum - json["mm2"].get<double>()) < 1e-6);
    const auto smaller = nlohmann::json::parse(lockstep_command("gpus v100 --area --process 7nm --json -").out);
    CHECK(smaller["mm2"].get<double>() < json["mm2"].get<double>());
    has(lockstep_command("gpus v100 --area --process 6nm").err, "unknown process '6nm'");
    const auto energy = nlohmann::json::parse(lockstep_command("run " + add + " --energy --json -").out)["energy"];
    CHECK(energy["estimate"] == true);
    CHECK(energy["joules"].get<double>() > 0);
    has(lockstep_command("run " + add + " --energy").out, "energy (estimate, 12nm)");
}

TEST_CASE("a sweep runs a grid of designs and writes them, with what was refused, and the front as a picture") {
    const std::string csv = (scratch() / "s.csv").string(), svg = (scratch() / "s.svg").string();
    const Outcome run =
        lockstep_command("sweep " + add + " --gpu teaching --vary sms=1..4 --vary l2_kb=0,64 --vary sub_cores=2,3 " +
                         "--csv " + csv + " --svg " + svg + " --json -");
    REQUIRE(run.status == 0);
    const auto json = nlohmann::json::parse(run.out);
    CHECK(json["designs"].size() == 12);
    int front = 0, refused = 0;
    for (const auto& design : json["designs"]) {
        if (design.contains("refused")) {
            ++refused;
            CHECK(design["figures"]["sub_cores"] == 3);
            continue;
        }
        if (!design["front"]) continue;
        ++front;
        for (const auto& other : json["designs"])
            if (!other.contains("refused"))
                CHECK_FALSE((other["mm2"] < design["mm2"] && other["time_us"] < design["time_us"]));
    }
    CHECK(refused == 6);
    CHECK(front >= 1);
    const std::string table = read_file(csv).value();
    CHECK(std::count(table.begin(), table.end(), '\n') == 13);
    has(table, "design,sms,l2_kb,sub_cores,time_us,cycles,estimated_mm2");
    has(table, "32 warps do not divide among 3 sub-cores");
    const std::string picture = read_file(svg).value();
    CHECK(picture.starts_with("<svg "));
    CHECK(picture.ends_with("</svg>\n"));
    has(picture, "(estimate)");
    // One thread or many: the same designs.
    const Outcome alone = lockstep_command(
        "sweep " + add + " --gpu teaching --vary sms=1..4 --vary l2_kb=0,64 --vary sub_cores=2,3 " + "--threads 1 --json -");
    CHECK(alone.out == run.out);
    const Outcome on_stdout = lockstep_command("sweep waits --vary sms=1,2 --csv -");
    CHECK(on_stdout.out.starts_with("design,sms,time_us,"));
    CHECK(std::ranges::count(on_stdout.out, '\n') == 3);
    has(lockstep_command("sweep waits --vary sms=1,2 --csv - --json -").err, "only one of --csv, --svg and --json");
    has(lockstep_command("puzzle list --jsn -").err, "unknown option --jsn, did you mean '--json'?");
    has(lockstep_command("sweep " + add + " --vary smss=1,2").err, "unknown figure 'smss' of a GPU, did you mean 'sms'?");
    has(lockstep_command("sweep " + add + " --vary sms=4..1").err, "ends before it begins");
    has(lockstep_command("sweep " + add + " --vary sms=1..1000:1 --vary l2_mb=1..64:1").err, "more than 20000 designs");
}

TEST_CASE("Ctrl-C ends a sweep with the designs that were done") {
    const std::string csv = (scratch() / "stopped.csv").string();
    const Outcome run =
        shell("timeout --foreground --preserve-status -s INT 3 " + std::string(LOCKSTEP_BINARY) + " sweep " + puzzles +
              "ptx/vector_add.ptx --grid 2048 --block 256 --arg in:f32[524288] --arg in:f32[524288] " +
              "--arg out:f32[524288] --gpu teaching --vary sms=1..256:1 --csv " + csv);
    CHECK(run.status == 130);
    has(read_file(csv).value(), "design,sms,time_us");
    has(run.out, "of 256 designs");
}

TEST_CASE("puzzles are listed, shown, begun and judged") {
    const auto swept = nlohmann::json::parse(lockstep_command("sweep waits --vary warps_per_sm=2,4 --json -").out);
    CHECK(swept["designs"].size() == 2);
    CHECK(swept["process"] == "7nm");
    has(lockstep_command("puzzle list").out, "02_one_more_of_what");
    const auto listed = nlohmann::json::parse(lockstep_command("puzzle list --json -").out).at("puzzles");
    REQUIRE(listed.size() == 12);
    CHECK(listed.at(1).at("puzzle") == "02_one_more_of_what");
    for (const auto& puzzle : listed) CHECK((!puzzle.at("free").empty() && !puzzle.at("budget").empty()));
    const auto shown = nlohmann::json::parse(lockstep_command("puzzle show waits --json -").out);
    CHECK(shown["thresholds"]["gold_us"] < shown["thresholds"]["bronze_us"]);
    const std::string file = (scratch() / "waits.toml").string();
    std::filesystem::remove(file);
    REQUIRE(lockstep_command("puzzle new waits " + file).status == 0);
    const Outcome start = lockstep_command("puzzle check waits --gpu " + file + " --json -");
    CHECK(start.status == 1);
    const auto json = nlohmann::json::parse(start.out);
    CHECK(json["medal"].is_null());
    CHECK(json["time_us"].get<double>() > shown["thresholds"]["bronze_us"].get<double>());
    has(lockstep_command("puzzle check waits --gpu teaching").out, "no medal: ");
    has(lockstep_command("puzzle show wait_for_it").err, "unknown puzzle 'wait_for_it'");
}

TEST_CASE("a training step is swept as a kernel is, and no grid is taken for it") {
    const Outcome swept = lockstep_command("sweep step:mlp --gpu teaching --vary sms=2,4 --json -");
    REQUIRE(swept.status == 0);
    const auto json = nlohmann::json::parse(swept.out);
    CHECK(json["kernel"] == "a training step of mlp");
    REQUIRE(json["designs"].size() == 2);
    CHECK(json["designs"][1]["time_us"] < json["designs"][0]["time_us"]);
    const Outcome grid = lockstep_command("sweep step:mlp --grid 4 --vary sms=2,4");
    CHECK(grid.status == 2);
    has(grid.err, "is a training step");
    const Outcome unknown = lockstep_command("sweep step:mpl --vary sms=2,4");
    CHECK(unknown.status == 2);
    has(unknown.err, "mlp");
}

TEST_CASE("money is estimated part by part, beside what others have published, and for a puzzle's design") {
    const Outcome area = lockstep_command("gpus h100 --area");
    REQUIRE(area.status == 0);
    has(area.out, "USD in all");
    has(area.out, "memory chips");
    has(area.out, "interposer");
    has(area.out, "Raymond James");
    const auto json = nlohmann::json::parse(lockstep_command("gpus h100 --area --json -").out);
    double sum = 0;
    for (const auto& row : json["prices"]) {
        sum += row["usd"].get<double>();
        CHECK(row["usd_low"] < row["usd_high"]);
        CHECK_FALSE(row["source"].get<std::string>().empty());
    }
    CHECK(std::fabs(sum - json["usd"].get<double>()) < 1e-6 * sum);
    CHECK(json["real_prices"].size() == 3);
    const std::string file = (scratch() / "waits.toml").string();
    std::filesystem::remove(file);
    REQUIRE(lockstep_command("puzzle new waits " + file).status == 0);
    const auto checked = nlohmann::json::parse(lockstep_command("puzzle check waits --gpu " + file + " --json -").out);
    CHECK(checked["usd"] > 0);
    CHECK(checked["usd_low"] < checked["usd_high"]);
    CHECK(checked["prices"].size() >= 2);
}

TEST_CASE("measured power of boards stands beside the estimate, which three runs of one board made, with the error") {
    const Outcome power = lockstep_command("validate power --json -");
    REQUIRE(power.status == 0);
    const auto rows = nlohmann::json::parse(power.out);
    double sum = 0;
    size_t predicted = 0, calibrated = 0;
    for (const auto& row : rows) {
        const std::string name = row["name"];
        INFO(name << ": " << row["got"] << " W of " << row["expected"]);
        CHECK_FALSE(row["source"].get<std::string>().empty());
        const double error = std::fabs(row["error"].get<double>());
        if (row["kind"] == "calibrated") {
            CHECK(name.starts_with("a100/"));
            CHECK(error < 0.05);
            ++calibrated;
            continue;
        }
        CHECK(error < 0.2);
        sum += error, ++predicted;
    }
    CHECK(calibrated == 3);
    CHECK(predicted == 8);
    CHECK(sum / 8 < 0.12);
}

TEST_CASE("the app runs on a GPU of one's own, and refuses one that there is not") {
    const std::string mine = write("small.toml", "inherits = \"teaching\"\nname = \"Small\"\nsms = 3\n");
    const Outcome shown = lockstep_command("app --gpu " + mine + " --view machine --describe --step 1");
    INFO(shown.err);
    REQUIRE(shown.status == 0);
    has(shown.out, "3 SMs");
    const Outcome none = lockstep_command("app --gpu v1000 --view machine --describe");
    CHECK(none.status == 2);
    has(none.err, "v100");
    // A design opens in the puzzle that it is for.
    const std::string file = (scratch() / "design.toml").string();
    std::filesystem::remove(file);
    REQUIRE(lockstep_command("puzzle new waits " + file).status == 0);
    write("design.toml", read_file(file).value() + "\n");
    std::string text = read_file(file).value();
    const size_t at = text.find("warps_per_sm = 2");
    REQUIRE(at != std::string::npos);
    write("design.toml", text.replace(at, 16, "warps_per_sm = 5"));
    const Outcome design = lockstep_command("app --gpu " + file + " --view build.1 --describe");
    REQUIRE(design.status == 0);
    has(design.out, "resident warps an SM 5");
    has(design.out, "design 2 (on show)");
    has(lockstep_command(file + " --describe").out, "resident warps an SM 5");  // by its name alone, too
    // And what it may not have is said in another one.
    const Outcome other = lockstep_command("app --gpu " + file + " --view build.2 --describe");
    CHECK(other.status == 0);
    has(other.out, "One more sub-core");
    has(other.out, "may not take part: ");
}

}  // namespace cli_own_gpu_test
