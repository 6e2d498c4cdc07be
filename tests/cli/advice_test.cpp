// The verdict at the end of `run`, what-ifs that are asked for, two results compared, and Ctrl-C.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/long_work.h"
#include "tests/cli/support.h"

namespace cli_advice_test {

using namespace lockstep;

namespace {
const std::string pairs = std::string(LOCKSTEP_SOURCE_DIR) + "/kernels/advice/ptx/pairs.ptx";
const std::string records = "run " + pairs + " --kernel move_records --grid 256 --block 256 --arg inout:f32[524288] " +
                            "--arg f32:0.1 --arg i32:65536";
const std::string fields = "run " + pairs + " --kernel move_fields --grid 256 --block 256 --arg inout:f32[524288] " +
                           "--arg f32:0.1 --arg i32:65536";
}  // namespace

TEST_CASE("run ends in what limits the kernel, with its line, its evidence and what a change would gain") {
    const Outcome run = lockstep_command(records);
    REQUIRE(run.status == 0);
    const size_t verdict = run.out.find("What limits it: ");
    REQUIRE(verdict != std::string::npos);
    CHECK(run.out.find("  output 0") < verdict);
    CHECK(run.out.find("pairs.cu:27: A warp's loads touch 32 sectors") != std::string::npos);
    CHECK(run.out.find("(simulated: coalesced)") != std::string::npos);
    CHECK(run.out.find("saves about ") != std::string::npos);  // an estimate: what mends it may bring a little more
    CHECK(run.out.find("saves at most") == std::string::npos);
    CHECK(run.out.find("structure of arrays") != std::string::npos);
    const Outcome without = lockstep_command(records + " --what-if none");
    CHECK(without.out.find("simulated:") == std::string::npos);
    CHECK(without.out.find("(derived from counters)") != std::string::npos);
    const Outcome functional = lockstep_command(records + " --functional");
    CHECK(functional.out.find("What limits it") == std::string::npos);
}

TEST_CASE("a what-if that is asked for is simulated whether a finding names it or not, and a wrong name is refused") {
    const Outcome run = lockstep_command(fields + " --what-if no-conflicts,l2-hits --json -");
    REQUIRE(run.status == 0);
    const auto json = nlohmann::json::parse(run.out);
    CHECK(json["verdict"]["bound"].is_string());
    std::vector<std::string> names;
    for (const auto& what_if : json["verdict"]["what_if"]) names.push_back(what_if["name"]);
    REQUIRE(names.size() >= 2);
    CHECK(names[0] == "no-conflicts");
    CHECK(names[1] == "l2-hits");
    CHECK(json["verdict"]["what_if"][0]["cycles"] == json["cycles"]);  // it has no shared memory
    CHECK(json["verdict"]["what_if"][1]["cycles"] < json["cycles"]);
    refuses(fields + " --what-if no-conflict", "unknown what-if 'no-conflict', did you mean 'no-conflicts'?");
}

TEST_CASE("compare says what became of the time, the counters and the findings") {
    const std::string a = (scratch() / "a.json").string(), b = (scratch() / "b.json").string();
    REQUIRE(lockstep_command(records + " --json " + a).status == 0);
    REQUIRE(lockstep_command(fields + " --json " + b).status == 0);
    const Outcome text = lockstep_command("compare " + a + " " + b);
    REQUIRE(text.status == 0);
    CHECK(text.out.find("move_records -> move_fields on v100") != std::string::npos);
    CHECK(text.out.find("times as fast") != std::string::npos);
    CHECK(text.out.find("no longer so:") != std::string::npos);
    CHECK(text.out.find("(uncoalesced)") != std::string::npos);
    CHECK(text.out.find("sectors_per_request") != std::string::npos);
    const auto json = nlohmann::json::parse(lockstep_command("compare " + a + " " + b + " --json -").out);
    CHECK(json["speedup"].get<double>() > 1);
    CHECK(json["findings_gone"].size() >= 1);
    const Outcome same = lockstep_command("compare " + a + " " + a);
    CHECK(same.out.find("1 times as fast") != std::string::npos);
    CHECK(same.out.find("now so:") == std::string::npos);
    refuses("compare " + a + " " + write("c.json", "{}"),
            "it has no 'kernel' and 'metrics', as the result of 'lockstep run ... --json FILE' has");
    refuses("compare " + a + " " + write("d.json", "no"), "it is no JSON");
}

TEST_CASE("two reports of whole programs are compared by their kernels, and one of a kind with another is refused") {
    const auto report = [](double saxpy_us, uint64_t launches, bool host_bound) {
        nlohmann::json json{
            {"gpu", "v100"}, {"total_us", 3 * saxpy_us}, {"host_us", 5.0}, {"launches", nlohmann::json::array()}};
        for (uint64_t k = 0; k < launches; ++k)
            json["launches"].push_back({{"kernel", "saxpy"}, {"time_us", saxpy_us / double(launches)}});
        if (host_bound) json["advice"] = {{{"rule", "host-bound"}, {"sentence", "The host works for long."}}};
        return json.dump();
    };
    const std::string a = write("program_a.json", report(20, 4, true)), b = write("program_b.json", report(10, 2, false));
    const Outcome text = lockstep_command("compare " + a + " " + b);
    INFO(text.out << text.err);
    REQUIRE(text.status == 0);
    CHECK(text.out.find("all, on the model's clock") != std::string::npos);
    CHECK(text.out.find("20.00        10.00  2 times as fast, 4 -> 2 launches") != std::string::npos);
    CHECK(text.out.find("no longer so:\n    The host works for long. (host-bound)") != std::string::npos);
    const auto json = nlohmann::json::parse(lockstep_command("compare " + a + " " + b + " --json -").out);
    CHECK(json["kernels"][0]["time_us"] == nlohmann::json({20.0, 10.0}));
    const std::string kernel = (scratch() / "kernel.json").string();
    REQUIRE(lockstep_command(fields + " --json " + kernel).status == 0);
    refuses("compare " + a + " " + kernel, "compare takes two of a kind");
}

TEST_CASE("findings and counters of a Triton kernel name the lines of its Python file") {
    const std::string scale = "run " + std::string(LOCKSTEP_SOURCE_DIR) +
                              "/tests/cli/python/scale.ptx --gpu a100 --block 128 " +
                              "--arg in:f32[8192] --arg out:f32[1024] --arg i32:1024 --check all --grid ";
    const Outcome right = lockstep_command(scale + "4");
    INFO(right.out << right.err);
    CHECK(right.status == 0);
    CHECK(right.out.find("scale.py:8: A warp's loads touch 32 sectors where 4 would do") != std::string::npos);
    const Outcome wrong = lockstep_command(scale + "5");
    CHECK(wrong.status == 1);
    CHECK(wrong.err.find("scale.py:8: memcheck: invalid global read of 4 bytes") != std::string::npos);
    CHECK(wrong.err.find("element 8,192 of 8,192 elements") != std::string::npos);
    CHECK(wrong.err.find("1024 * 8") == std::string::npos);
    const auto lines = nlohmann::json::parse(lockstep_command(scale + "4 --metrics by-line --json -").out)["by_line"];
    std::vector<int> numbers;
    for (const auto& row : lines) {
        numbers.push_back(row["line"]);
        CHECK(row["lanes_per_issue"] == 32);
    }
    CHECK(numbers == std::vector<int>{6, 7, 8, 9});
}

TEST_CASE("a race in a Numba kernel whose loop is unrolled is told by its Python lines and in its order") {
    const auto array = [](const std::string& buffer) {  // what Numba passes for one of 8 by 8
        return " --arg u64:0 --arg u64:0 --arg u64:64 --arg u64:4 --arg " + buffer +
               " --arg u64:8 --arg u64:8 --arg u64:32 --arg u64:4";
    };
    const Outcome race = lockstep_command(
        "run " + std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cli/python/tiles.ptx --grid 2,2 --block 4,4 --check all" +
        array("out:f32[8,8]") + array("in:f32[8,8]") + array("in:f32[8,8]") + " --arg i32:8");
    INFO(race.out << race.err);
    CHECK(race.status == 1);
    CHECK(race.err.find("read at tiles.py:18 in round k of the loop, then written at tiles.py:14 in round k + 1") !=
          std::string::npos);
    CHECK(race.err.find("the barrier at tiles.py:16 stands between the two of one round") != std::string::npos);
    CHECK(race.err.find("Put another cuda.syncthreads() at the end of the loop's body, behind tiles.py:18") !=
          std::string::npos);
}

TEST_CASE("the index of a Numba kernel is told in words that one writes, not in those that Numba adds for negative ones") {
    const auto run = [](const std::string& kernel, int inputs) {
        const auto array = [](const std::string& buffer, int count) {  // what Numba passes for one of a single dimension
            return fmt::format(
                " --arg null --arg null --arg i64:{0} --arg i64:4 --arg {1}:f32[{0}] --arg i64:{0} --arg i64:4", count,
                buffer);
        };
        return lockstep_command("run " + std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cli/python/" + kernel +
                                ".ptx --grid 1 --block 256 --functional" + array("in", inputs) + array("out", 1000));
    };
    const Outcome stores = run("places", 300), loads = run("places", 256), before = run("backwards", 128);
    INFO(stores.err << loads.err << before.err);
    CHECK(stores.err.find("places.py:8: memcheck: invalid global write") != std::string::npos);
    CHECK(stores.err.find("whose index is (blockDim.x * blockIdx.x + threadIdx.x) * 3 + threadIdx.x + ") !=
          std::string::npos);
    CHECK(loads.err.find("whose index is threadIdx.x + blockDim.x * blockIdx.x + 1 (kernel") != std::string::npos);
    CHECK(loads.err.find("Guard the access with if (threadIdx.x + blockDim.x * blockIdx.x + 1 < 256).") !=
          std::string::npos);
    // Below the first element Numba goes on from the last one, once.
    CHECK(before.err.find("whose index is 128 + threadIdx.x + blockDim.x * blockIdx.x - 300 (kernel") != std::string::npos);
}

TEST_CASE("a race in a host program's launch costs the exit status, and names the line that launched it") {
    namespace fs = std::filesystem;
    const fs::path findings = fs::path(LOCKSTEP_SOURCE_DIR) / "tests/findings", folder = scratch() / "hosted";
    fs::create_directories(folder / "ptx");
    for (const char* const file : {"sum_without_atomic.cu", "ptx/sum_without_atomic.ptx"})
        fs::copy_file(findings / file, folder / file, fs::copy_options::overwrite_existing);
    const std::string program = write("hosted/sums.host",
                                      "kernels sum_without_atomic.cu\nhost a f32[1000 ramp]\nhost r f32[1]\n"
                                      "malloc d f32[1000]\nmalloc s f32[1]\nh2d d a\nh2d s r\n"
                                      "launch sum(d, s, 1000) grid=4 block=256\nd2h r s\n");
    const Outcome race = lockstep_command("run " + program + " --check all");
    INFO(race.out << race.err);
    CHECK(race.status == 1);
    CHECK(race.err.find("racecheck: race: write of 4 bytes to global memory 's'") != std::string::npos);
    CHECK(race.err.find("use an atomic (atomicAdd)") != std::string::npos);
    CHECK(race.err.find("launched at ") != std::string::npos);
    CHECK(race.err.find("sums.host:8\n") != std::string::npos);
}

TEST_CASE("outputs that nobody wrote are called unset, and names of counters need no kernel") {
    const Outcome few = lockstep_command("run " + std::string(LOCKSTEP_SOURCE_DIR) +
                                         "/tests/cli/python/scale.ptx --gpu a100 --block 128 --grid 5 --functional " +
                                         "--arg in:f32[128] --arg out:f32[1024] --arg i32:1");
    INFO(few.out << few.err);
    CHECK(few.out.find("output 0: f32[1024] unset unset") != std::string::npos);
    const Outcome names = lockstep_command("run --metrics names");
    CHECK(names.status == 0);
    CHECK(names.out.find("lanes_per_issue") != std::string::npos);
    refuses("run --grid 1 --block 1", "FILE is required");
}

TEST_CASE("Ctrl-C ends a run with what there is so far") {
    const std::string spins = write("spins.ptx", R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry spins() {
.reg .b32 %r<2>; .reg .pred %p<2>;
mov.u32 %r1, 0;
again:
add.u32 %r1, %r1, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra again;
ret;
})");
    const std::string partial = (scratch() / "partial.json").string();
    const Outcome outcome =
        shell("timeout --foreground --preserve-status -s INT 2 " + std::string(LOCKSTEP_BINARY) + " run " + spins +
              " --grid 1 --block 32 --max-instructions 400000000 --check none --json " + partial);
    CHECK(outcome.out.find("was stopped by Ctrl-C after ") != std::string::npos);
    CHECK(outcome.out.find("throughput") != std::string::npos);
    CHECK(outcome.status == 130);
    const auto json = nlohmann::json::parse(read_file(partial).value());
    CHECK(json["stopped"] == true);
    CHECK(json["cycles"].get<int64_t>() > 0);
}

TEST_CASE("a run that is ended while its kernel is compiled leaves no temporary folder") {
    namespace fs = std::filesystem;
    const fs::path place = scratch() / "killed", bin = place / "bin";
    fs::create_directories(bin);
    const std::string compiler = (bin / "nvcc").string(), started = (place / "started").string();
    std::ofstream(compiler)
        << "#!/bin/sh\ncase \"$1\" in\n--version) echo 'Cuda compilation tools, release 12.0, V12.0.1' ;;\n"
        << "*) pwd > " << started << "; exec /bin/sleep 30 ;;\nesac\n";
    fs::permissions(compiler, fs::perms::owner_all);
    const std::string kernel = write("compiled.cu", "__global__ void ones(float *x) { x[threadIdx.x] = 1; }\n");
    const auto folders = [&] {
        size_t count = 0;
        for (const auto& entry : fs::directory_iterator(place))
            count += entry.path().filename().string().starts_with("lockstep-");
        return count;
    };
    for (const std::string signal : {"TERM", "INT", "HUP"}) {
        fs::remove(started);
        const Outcome outcome =
            shell("TMPDIR=" + place.string() + " XDG_CACHE_HOME=" + place.string() + "/cache PATH=" + bin.string() +
                  ":$PATH timeout --foreground --preserve-status -s " + signal + " 3 " + LOCKSTEP_BINARY + " run " + kernel +
                  " --compiler nvcc --grid 1 --block 32 --arg out:f32[32]");
        INFO(signal << "\n" << outcome.out << outcome.err);
        CHECK(outcome.status != 0);
        REQUIRE(fs::exists(started));
        CHECK(read_text(started).value().starts_with(place.string() + "/lockstep-"));
        for (int tries = 0; tries < 500 && folders() > 0; ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        CHECK(folders() == 0);
    }
}

TEST_CASE("a compiler that takes long is said to be at work") {
    namespace fs = std::filesystem;
    const fs::path bin = scratch() / "slow";
    fs::create_directories(bin);
    const std::string compiler = (bin / "nvcc").string();
    std::ofstream(compiler)
        << "#!/bin/sh\ncase \"$1\" in\n--version) echo 'Cuda compilation tools, release 12.0, V12.0.1' ;;\n"
        << "*) /bin/sleep 3; exit 1 ;;\nesac\n";
    fs::permissions(compiler, fs::perms::owner_all);
    const std::string kernel = write("slow.cu", "__global__ void ones(float *x) { x[threadIdx.x] = 1; }\n");
    const Outcome outcome = shell("XDG_CACHE_HOME=" + bin.string() + "/cache PATH=" + bin.string() + ":$PATH " +
                                  LOCKSTEP_BINARY + " compile " + kernel + " --compiler nvcc -o " + kernel + ".ptx");
    INFO(outcome.out << outcome.err);
    CHECK(outcome.err.find("compiling " + kernel + ": running for 2 s\n") != std::string::npos);
}

TEST_CASE("long work says how far it is and how long the rest takes") {
    CHECK(cli::progress_text(0, 12) == "running for 12 s");
    CHECK(cli::progress_text(0.5, 30) == "50 % done, 30 s, about 30 s left");
    CHECK(cli::progress_text(0.25, 60) == "25 % done, 60 s, about 3 min left");
    CHECK(cli::progress_text(0.01, 120) == "1 % done, 2 min, about 3.3 h left");
}

}  // namespace cli_advice_test
