// The command line's measuring of a real GPU: silicon through a driver whose GPU is the modelled one, and validate silicon.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "tests/cli/support.h"

namespace silicon_command_test {

using namespace lockstep;

namespace {
struct DriverSettings {  // of the modelled driver, until the end of the scope
    std::vector<std::string> names;
    using Settings = std::vector<std::pair<std::string, std::string>>;
    explicit DriverSettings(Settings settings, const char* driver = "modelled_cuda_driver") {
        const auto folder = std::filesystem::path(LOCKSTEP_BINARY).parent_path();
        settings.emplace_back("LOCKSTEP_LIBCUDA", (folder / ("lib" + std::string(driver) + ".so")).string());
        settings.emplace_back("LOCKSTEP_LIBNCCL", "/nonexistent/libnccl.so.2");
        settings.emplace_back("LOCKSTEP_LIBCUBLAS", "/nonexistent/libcublas.so");
        for (const auto& [name, value] : settings) setenv(name.c_str(), value.c_str(), 1), names.push_back(name);
    }
    ~DriverSettings() {
        for (const std::string& name : names) unsetenv(name.c_str());
    }
    DriverSettings(const DriverSettings&) = delete;
    DriverSettings& operator=(const DriverSettings&) = delete;
};
nlohmann::json silicon_part(const std::string& file, const std::string& part) {
    return nlohmann::json::parse(lockstep::read_file(file).value())["parts"][part];
}
}  // namespace

TEST_CASE("a launch, a copy or an allocation that fails costs silicon one row, whatever becomes of the GPU's context") {
    const struct {
        const char *what, *why;
        size_t failures;  // of the 10 rows of the part launch, which a graph is in four of
    } cases[] = {{"cuGraphLaunch=719", "unspecified launch failure", 4},
                 {"cuGraphLaunch=700!", "an illegal memory access was encountered", 4},  // and nothing works any more
                 {"cuGraphLaunch=crash", "ended by signal 6", 4},
                 {"cuGraphLaunch=2", "out of memory", 4}};
    for (const auto& it : cases) {
        INFO(it.what);
        const DriverSettings settings(DriverSettings::Settings{{"LOCKSTEP_MODELLED_FAILS", it.what}});
        const std::string file = (scratch() / "failing.json").string();
        std::filesystem::remove(file);
        const Outcome run = lockstep_command("silicon --tiny --part launch --out " + file);
        INFO(run.err);
        CHECK(run.status == 0);
        const nlohmann::json part = silicon_part(file, "launch");
        CHECK(part["complete"] == true);
        CHECK(part["failures"].size() == it.failures);
        CHECK(part["rows"].size() + part["failures"].size() == 10);
        for (const auto& row : part["failures"]) CHECK(row["why"].get<std::string>().find(it.why) != std::string::npos);
        CHECK(run.err.find(it.why) != std::string::npos);
        const Outcome again = lockstep_command("silicon --tiny --part launch --out " + file);  // nothing is left
        CHECK(again.err.empty());
    }
}

TEST_CASE(
    "a row that hangs is given up, one whose memory is not there is named, and a part that cannot begin is one failure",
    "[long]") {
    const std::string file = (scratch() / "hanging.json").string();
    {
        const DriverSettings settings(DriverSettings::Settings{{"LOCKSTEP_MODELLED_FAILS", "cuGraphLaunch=hang"}});
        const Outcome run = lockstep_command("silicon --tiny --patience 0.7 --part launch --out " + file);
        INFO(run.err);
        CHECK(run.status == 0);
        const nlohmann::json part = silicon_part(file, "launch");
        CHECK(part["failures"].size() == 4);
        CHECK(part["failures"][0]["why"].get<std::string>().find("gave no answer for 1 s") != std::string::npos);
    }
    const DriverSettings settings(DriverSettings::Settings{{"LOCKSTEP_MODELLED_FAILS", "cuMemAlloc:60000=2"}});
    const Outcome run = lockstep_command("silicon --tiny --part copies --part launch --part properties --out " + file);
    INFO(run.err);
    CHECK(run.status == 0);
    const nlohmann::json part = silicon_part(file, "copies");
    CHECK(part["complete"] == true);
    CHECK(part["rows"].size() == 5);  // of 4,096 bytes
    REQUIRE(part["failures"].size() == 1);
    CHECK(part["failures"][0]["name"] == "copies");
    CHECK(part["failures"][0]["why"].get<std::string>().find("65536 bytes for 'copied' failed: out of memory") !=
          std::string::npos);
    CHECK(silicon_part(file, "properties")["failures"].empty());
}

TEST_CASE("an older driver has fewer rows, and says which PTX it does not know") {
    const DriverSettings settings(DriverSettings::Settings{{"LOCKSTEP_MODELLED_VERSION", "11020"}}, "modelled_old_driver");
    const std::string file = (scratch() / "old.json").string();
    const Outcome run = lockstep_command("silicon --tiny --part launch --part ratios --out " + file);
    INFO(run.err);
    CHECK(run.status == 0);
    CHECK(silicon_part(file, "launch")["rows"].size() == 6);  // no graphs
    CHECK(silicon_part(file, "launch")["failures"].empty());
    CHECK(silicon_part(file, "ratios")["rows"].size() == 8);
    // A kernel's own .version is lowered to the driver's; a driver that refuses it still is said to.
    const DriverSettings refusing(DriverSettings::Settings{{"LOCKSTEP_MODELLED_FAILS", "cuModuleLoadDataEx=222"}});
    const Outcome none = lockstep_command("silicon --tiny --part ratios --out " + (scratch() / "refusing.json").string());
    INFO(none.err);
    CHECK(none.status == 0);
    CHECK(none.err.find("cuda:0 refuses") != std::string::npos);
}

TEST_CASE("silicon keeps to its minutes, leaves the rest for the next run, and that goes on where it was cut off",
          "[long]") {
    const DriverSettings settings(DriverSettings::Settings{{"LOCKSTEP_MODELLED_FAILS", "cuModuleLoadDataEx=pause"}});
    const std::string file = (scratch() / "minutes.json").string();
    const Outcome cut = lockstep_command("silicon --tiny --minutes 0.02 --part opcodes --part launch --out " + file);
    INFO(cut.err);
    CHECK(cut.status == 0);
    CHECK(cut.err.find("opcodes: its share of the 0.0 min is over; run again to go on with it") != std::string::npos);
    const nlohmann::json part = silicon_part(file, "opcodes");
    CHECK(part["complete"] == false);
    REQUIRE(part["rows"].size() > 1);
    const Outcome more = lockstep_command("silicon --tiny --minutes 0.02 --part opcodes --out " + file);
    CHECK(silicon_part(file, "opcodes")["rows"].size() > part["rows"].size());
    CHECK(silicon_part(file, "opcodes")["rows"][0] == part["rows"][0]);
}

TEST_CASE(
    "validate silicon holds the model against a file, keeps what it ran, and says in a sentence what is wrong with one") {
    setenv("XDG_CACHE_HOME", scratch().c_str(), 1);
    auto file = nlohmann::json::parse(
        read_file(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/golden/measured/made_up_h200.json").value());
    auto& rows = file["parts"]["kernels"]["rows"];
    auto kept = nlohmann::json::array();
    for (const auto& row : rows)
        if (row["name"].get<std::string>().rfind("A15 ", 0) == 0) kept.push_back(row);
    REQUIRE(kept.size() == 3);
    rows = kept;
    const std::string command = "validate silicon --file " + write("silicon.json", file.dump()) + " --json -";
    const Outcome first = lockstep_command(command), again = lockstep_command(command);
    INFO(first.err);
    REQUIRE(first.status == 0);
    CHECK(first.err.find("silicon 3/3") != std::string::npos);
    CHECK(first.err.find("made up") != std::string::npos);
    CHECK(again.out == first.out);
    const auto report = nlohmann::json::parse(first.out).at(0);
    CHECK(report["model"] == "h200");
    CHECK(report["made_up"] == true);
    CHECK(report["rows"].size() == 3);
    CHECK(report["aim"]["mean_error"] == 0.2);
    for (const auto& row : report["rows"])
        CHECK(row["error"].get<double>() == Approx(row["modelled"].get<double>() / row["measured"].get<double>() - 1));
    CHECK(std::filesystem::exists(scratch() / "lockstep" / "silicon.json"));
    refuses("validate silicon --file " + write("half.json", file.dump().substr(0, 900)), "the JSON ends too early");
    refuses("validate silicon --file " + (scratch() / "none.json").string(), "no such file");
    const Outcome modelled =
        lockstep_command("silicon --device sim:v100 --part launch --out " + (scratch() / "sim.json").string());
    CHECK(modelled.status == 3);
    CHECK(modelled.out.empty());
    CHECK(modelled.err == "error: the part launch needs a real GPU: on sim:v100 only kernels is measured\n");
    CHECK(!std::filesystem::exists(scratch() / "sim.json"));
    refuses("validate rate --fit", "--fit is for the table silicon");
    refuses(command + " --figure sms", "--figure needs --fit");
    setenv("LOCKSTEP_SILICON", (scratch() / "empty").c_str(), 1);
    const Outcome none = lockstep_command("validate silicon");
    CHECK(none.status == 0);
    CHECK(none.out.find("nothing was measured on a real GPU") != std::string::npos);
    // The same launch is told by `run`, of that GPU alone.
    setenv("LOCKSTEP_SILICON", (std::string(LOCKSTEP_SOURCE_DIR) + "/tests/golden/measured").c_str(), 1);
    const std::string run = "run " + std::string(LOCKSTEP_SOURCE_DIR) +
                            "/lessons/A15_generations/ptx/stream.ptx --grid 2048 --block 256 --arg in:f32[524288] "
                            "--arg in:f32[524288] --arg out:f32[524288] --arg i32:524288 --gpu ";
    const std::string told = lockstep_command(run + "h200").out;
    CHECK(told.find("4.50 µs made up, not measured: as if on Made-up H200") != std::string::npos);
    CHECK(lockstep_command(run + "h100").out.find("Made-up") == std::string::npos);
    unsetenv("LOCKSTEP_SILICON");
    unsetenv("XDG_CACHE_HOME");
}

TEST_CASE("silicon without a GPU says in one sentence what is missing, and writes nothing") {
    const std::string file = (scratch() / "no_gpu.json").string();
    setenv("LOCKSTEP_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
    const Outcome none = lockstep_command("silicon --out " + file);
    unsetenv("LOCKSTEP_LIBCUDA");
    CHECK(none.status == 3);
    CHECK(none.out.empty());
    CHECK(none.err.find("no NVIDIA driver here (/nonexistent/libcuda.so.1 was not found): install the GPU's driver") !=
          std::string::npos);
    CHECK(none.err.rfind('\n') == none.err.find('\n'));
    CHECK_FALSE(std::filesystem::exists(file));
    refuses("silicon --out " + file + " --part kernel", "did you mean 'kernels'?");
    refuses("silicon --out " + file + " --device host", "not on 'host'");
}

TEST_CASE("silicon measures every part through a driver, says that its GPU is a modelled one, and goes on in the same file",
          "[long]") {
    const auto driver = std::filesystem::path(LOCKSTEP_BINARY).parent_path() / "libmodelled_cuda_driver.so";
    REQUIRE(std::filesystem::exists(driver));
    setenv("LOCKSTEP_LIBCUDA", driver.c_str(), 1);
    setenv("LOCKSTEP_LIBNCCL", "/nonexistent/libnccl.so.2", 1);
    setenv("LOCKSTEP_LIBCUBLAS", "/nonexistent/libcublas.so", 1);
    const std::string file = (scratch() / "modelled.json").string();
    for (const std::string part : {"properties", "launch", "copies", "training", "nccl"}) {
        INFO(part);
        const Outcome run = lockstep_command("silicon --tiny --out " + file + " --part " + part);
        INFO(run.err);
        CHECK(run.status == 0);
        CHECK(run.out.find("a modelled GPU: nothing was measured on silicon") != std::string::npos);
        CHECK(run.err.find(part + " ...") != std::string::npos);
    }
    const Outcome again = lockstep_command("silicon --tiny --out " + file + " --part training");
    CHECK(again.status == 0);
    CHECK(again.err.empty());  // it is there
    setenv("LOCKSTEP_LIBNCCL", (driver.parent_path() / "libmodelled_nccl.so").c_str(), 1);
    const std::string other = (scratch() / "modelled_nccl.json").string();
    const Outcome nccl = lockstep_command("silicon --tiny --out " + other + " --part nccl");
    INFO(nccl.err);
    CHECK(nccl.status == 0);
    const nlohmann::json one_rank = nlohmann::json::parse(lockstep::read_file(other).value());
    CHECK(one_rank["parts"]["nccl"]["failures"].empty());
    CHECK(one_rank["parts"]["nccl"]["rows"].size() == 10);
    for (const char* const name : {"LOCKSTEP_LIBCUDA", "LOCKSTEP_LIBNCCL", "LOCKSTEP_LIBCUBLAS"}) unsetenv(name);
    const nlohmann::json json = nlohmann::json::parse(lockstep::read_file(file).value());
    CHECK(json["modelled"] == true);
    REQUIRE(json["parts"].size() == 5);
    const auto& rows = json["parts"]["training"]["rows"];
    REQUIRE(rows.size() == 6);
    for (const auto& row : rows) {
        INFO(row["name"]);
        CHECK(row["time_us"].get<double>() > 0);
        CHECK(row["launches"].get<int>() > 0);
        CHECK(row["host_difference"].get<double>() < 1e-5);
    }
    CHECK(rows[2]["name"] == "mlp fused");
    CHECK(rows[2]["launches"].get<int>() < rows[1]["launches"].get<int>());
    const auto& failures = json["parts"]["nccl"]["failures"];
    REQUIRE(failures.size() == 1);
    CHECK(failures[0]["why"].get<std::string>().find("there is no NCCL here") != std::string::npos);
}

}  // namespace silicon_command_test
