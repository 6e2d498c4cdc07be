// The command line as a contract: what is printed where, exit statuses, and one clear sentence for every bad input.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "core/base/files.h"
#include "tests/cli/support.h"

namespace cli_command_line_test {

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

const char* saxpy = R"(.version 6.5
.target sm_70
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.f32 %f1, [a];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.s32 %rd5, %r5, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}
)";

}  // namespace

TEST_CASE("run gives the kernel's outputs and the contract's JSON keys") {
    const std::string file = write("saxpy.ptx", saxpy);
    const Outcome outcome = lockstep_command(
        "run " + file +
        " --grid 2 --block 32 --arg in:f32{1,2,3,4} --arg inout:f32{10,20,30,nan} --arg f32:0.5 --arg u32:4 --json -");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json["gpu"] == "v100");
    CHECK(json["kernel"] == "saxpy");
    CHECK(json["grid"] == nlohmann::json({2, 1, 1}));
    CHECK(json["block"] == nlohmann::json({32, 1, 1}));
    CHECK(json["cycles"].get<int64_t>() > 425);  // at least one trip to DRAM
    CHECK(json["time_us"].get<double>() == Approx(json["cycles"].get<double>() / 1530).epsilon(1e-6));
    CHECK(json["time_error"]["bound"] == "start");
    CHECK(json["time_error"]["kernels"].get<int>() > 0);
    CHECK(json["time_error"]["mean"].get<double>() > 0);
    CHECK(json["instructions"]["warp"].get<int>() > 20);
    CHECK(json["metrics"].is_object());
    CHECK(json["outputs"][0] == nlohmann::json({10.5, 21.0, 31.5, "nan"}));
    CHECK(json["diagnostics"].empty());
}

TEST_CASE("run prints a summary, chosen counters, all of them or a table by line, and refuses a name before it runs") {
    const std::string run =
        "run " + write("saxpy.ptx", saxpy) +
        " --grid 2 --block 32 --arg in:f32{1,2,3,4} --arg inout:f32{10,20,30,40} --arg f32:0.5 --arg u32:4";
    const Outcome summary = lockstep_command(run);
    REQUIRE(summary.status == 0);
    CHECK(summary.out.find("throughput") != std::string::npos);
    CHECK(summary.out.find("4 sectors") == std::string::npos);  // four floats lie in one
    CHECK(summary.out.find("1 sectors a load, 16 of 32 bytes used") != std::string::npos);
    const Outcome chosen = lockstep_command(run + " --metrics global_load_bytes,launch__grid_size");
    REQUIRE(chosen.status == 0);
    CHECK(chosen.out.find(" 32 bytes") != std::string::npos);
    CHECK(chosen.out.find(" 2 blocks") != std::string::npos);
    CHECK(chosen.out.find("throughput") == std::string::npos);
    const Outcome table = lockstep_command(run + " --metrics by-line");
    REQUIRE(table.status == 0);
    CHECK(table.out.find("ld.global") != std::string::npos);
    CHECK(table.out.find("most of it waits") != std::string::npos);
    const std::string lines = write("lines.ptx", R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry k() {
.reg .b32 %r<9>;
.loc 1 3 0
mov.u32 %r1, %tid.x;
.loc 1 0 0
mul.lo.u32 %r2, %r1, %r1;
.loc 2 4 0
mul.lo.u32 %r3, %r2, %r1;
.loc 1 5 0
ret;
}
.file 1 "own.cu"
.file 2 "helper.h"
)");
    const std::string copies = write("copies.ptx", R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a) {
.reg .b32 %r<9>; .reg .b64 %rd<9>;
.shared .align 16 .b8 tile[512];
ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
mad.lo.u32 %r3, %r1, 16, %r2; mad.wide.u32 %rd2, %r1, 16, %rd1;
cp.async.cg.shared.global [%r3], [%rd2], 16;
cp.async.wait_all;
ret;
}
)");
    const Outcome copied = lockstep_command("run " + copies + " --gpu a100 --grid 1 --block 32 --arg in:f32[128]");
    REQUIRE(copied.status == 0);
    CHECK(copied.out.find("global       16 sectors a copy into shared memory\n") != std::string::npos);
    CHECK(copied.err.empty());
    const Outcome older = lockstep_command("run " + copies + " --gpu v100 --grid 1 --block 32 --arg in:f32[128]");
    CHECK(older.status == 0);
    CHECK(older.err.find("needs compute capability 8.0: a real Tesla V100 SXM2 (7.0) would refuse this kernel") !=
          std::string::npos);
    CHECK(lockstep_command("run " + copies + " --gpu teaching --grid 1 --block 32 --arg in:f32[128]").err.empty());
    const Outcome strange = lockstep_command("run " + lines + " --grid 1 --block 32 --metrics by-line");
    REQUIRE(strange.status == 0);
    CHECK(strange.out.find("(the compiler's own, of no line)") == std::string::npos);  // line 0 is the line nearest to it
    CHECK(strange.out.find("(in helper.h)") == std::string::npos);  // what a header brings counts as the line before it
    CHECK(strange.out.find("(line ") == std::string::npos);
    const std::string meets = write("meets.ptx", R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k() {
.reg .b32 %r<3>;
.loc 1 3 0
mov.u32 %r1, %tid.x;
.loc 1 4 0
bar.sync 0;
.loc 1 5 0
mul.lo.u32 %r2, %r1, %r1;
ret;
}
.file 1 "own.cu"
)");
    const Outcome barrier = lockstep_command("run " + meets + " --grid 1 --block 64 --metrics ipc,by-line,by-window");
    REQUIRE(barrier.status == 0);  // the wait stands behind the barrier, and says where that is; a list of tables is several
    CHECK(barrier.out.find("(line 4)") != std::string::npos);
    CHECK(barrier.out.find("(line N): the barrier's\n") != std::string::npos);
    CHECK(barrier.out.find("  ipc ") < barrier.out.find("most of it waits"));
    CHECK(barrier.out.find("every counter of a stretch") != std::string::npos);
    const Outcome all = lockstep_command(run + " --metrics all");  // under both names, whole numbers in full
    CHECK(all.out.find("sectors_per_request ") != std::string::npos);
    CHECK(all.out.find("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio\n") != std::string::npos);
    CHECK(all.out.find("e+") == std::string::npos);
    // Of a run of three floats, DRAM is read in the middle: there are several windows, and they differ.
    const Outcome windows = lockstep_command(run + " --metrics by-window");
    REQUIRE(windows.status == 0);
    CHECK(std::count(windows.out.begin(), windows.out.end(), '\n') > 10);
    const Outcome whole = lockstep_command(run + " --metrics global_load_requests");
    const Outcome early = lockstep_command(run + " --metrics global_load_requests@cycles:0..100");
    const auto requests = [](const Outcome& outcome) {
        const size_t at = outcome.out.find(" requests ");
        return at == std::string::npos ? -1 : std::atoi(outcome.out.c_str() + outcome.out.rfind(' ', at - 1));
    };
    CHECK(requests(whole) == 2);
    CHECK(requests(early) == 0);  // the code is still being fetched
    refuses(run + " --metrics all@cycles:9..5", "names no stretch of cycles");
    refuses(run + " --metrics all@cycles:900000..900001", "the run ends at cycle");
    const Outcome wrong = lockstep_command(run + " --metrics cycels");
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("did you mean 'cycles'") != std::string::npos);
    CHECK(wrong.out.empty());
    const auto json = nlohmann::json::parse(lockstep_command(run + " --json -").out);
    for (const char* name :
         {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "lts__throughput.avg.pct_of_peak_sustained_elapsed",
          "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "smsp__warps_eligible.avg.per_cycle_active",
          "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
          "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "launch__registers_per_thread"}) {
        INFO(name);
        CHECK(json["metrics"].contains(name));
    }
}

TEST_CASE("a functional run has the same outputs and no cycles") {
    const std::string file = write("saxpy.ptx", saxpy);
    const Outcome outcome = lockstep_command(
        "run " + file +
        " --functional --grid 1 --block 32 --arg in:f32{1,2} --arg inout:f32{1,1} --arg f32:2 --arg u32:2 --json -");
    REQUIRE(outcome.status == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json["cycles"].is_null());
    CHECK(json["time_us"].is_null());
    CHECK(json["outputs"][0] == nlohmann::json({3.0, 5.0}));
}

TEST_CASE("an access out of bounds exits with 1 and is named in the diagnostics") {
    const std::string file = write("saxpy.ptx", saxpy);
    const Outcome outcome = lockstep_command(
        "run " + file + " --grid 1 --block 32 --arg in:f32{1,2} --arg inout:f32{1,1} --arg f32:2 --arg u32:9 --json -");
    CHECK(outcome.status == 1);
    const auto json = nlohmann::json::parse(outcome.out);
    REQUIRE(json["diagnostics"].size() == 1);
    CHECK(json["diagnostics"][0]["kind"] == "memcheck");
    CHECK(json["diagnostics"][0]["thread"] == nlohmann::json({2, 0, 0}));
    CHECK(outcome.err.find("saxpy") != std::string::npos);
}

TEST_CASE("an endless loop ends at the instruction budget") {
    const std::string file =
        write("spin.ptx", ".version 6.5\n.target sm_70\n.address_size 64\n.visible .entry spin()\n{\nL:\n    bra L;\n}\n");
    for (const char* mode : {"", "--functional "}) {
        const Outcome outcome =
            lockstep_command("run " + file + " " + mode + "--grid 1 --block 32 --max-instructions 10000");
        CHECK(outcome.status == 1);
        CHECK(outcome.err.find("runaway") != std::string::npos);
        CHECK(outcome.err.find("10000") != std::string::npos);
    }
}

TEST_CASE("bad input is refused in one sentence with exit status 2") {
    const std::string good = write("saxpy.ptx", saxpy);
    const std::string arguments = " --arg in:f32{1} --arg inout:f32{1} --arg f32:1 --arg u32:1";
    std::string broken = saxpy;
    broken.replace(broken.find("fma.rn.f32"), 10, "fma.rn.f31");
    const std::string bad = write("bad.ptx", broken);
    refuses("run missing.ptx --grid 1 --block 32", "missing.ptx: error: no such file");
    refuses("missing.cu", "missing.cu: error: no such file");
    refuses("missing.lockstep", "missing.lockstep: error: no such file");
    refuses("lesson handout A06 --no-pictures -o a06.pdf", "--out takes a page's name, F.html");
    refuses("lesson plan A06 --minutes 5", "has no plan for 5 minutes");
    refuses("run " + bad + " --grid 1 --block 32" + arguments, bad + ":27:");
    refuses("run " + write("empty.ptx", "") + " --grid 1 --block 32", "empty.ptx");
    refuses("run " + write("a.txt", "x") + " --grid 1 --block 32", ".cu or .ptx");
    refuses("run " + good + " --kernel saxpi --grid 1 --block 32" + arguments, "saxpy");
    refuses("run " + good + " --gpu v1000 --grid 1 --block 32" + arguments, "v100");
    refuses("run " + good + " --grid 1 --block 0" + arguments, "0");
    refuses("run " + good + " --grid 1 --block 2000" + arguments, "2000 threads");
    refuses("run " + good + " --grid 1 --block 32 --shared 900000" + arguments, "shared memory");
    refuses("run " + good + " --grid x --block 32" + arguments, "--grid");
    refuses("run " + good + " --grid 99999999999 --block 32" + arguments, "--grid takes numbers up to 4294967295");
    refuses("run " + good + " --grid 1 --block 32 --arg f32:1", "argument");
    refuses("run " + good + " --grid 1 --block 32 --arg f23:1", "f23");
    refuses("run " + good + " --grid 1 --block 32 --arg in:nowhere.npy --arg inout:f32{1} --arg f32:1 --arg u32:1",
            "nowhere.npy");
    refuses("run " + good + " --grid 1 --block 32 --arg in:" + write("bad.npy", "not npy") +
                " --arg inout:f32{1} --arg f32:1 --arg u32:1",
            "npy");
    refuses("run " + good + " --grid 1 --blok 32" + arguments, "did you mean '--block'?");
    refuses("run " + good + " --grid 1 --block 32 --order randon" + arguments, "did you mean 'random'?");
    refuses("trian --model mlp", "did you mean 'train'?");
    refuses("/tmp", "'/tmp' is a folder: name one of its .cu");
    refuses("lesson chek A06", "unknown command 'lesson chek', did you mean 'check'?");
    refuses("app --lesson A04 --sm 900 --describe", "--sm counts from 0");
    refuses("app --lesson A04 --cycle 999999999 --describe", "--cycle 999999999 is behind the end: this run has");
    refuses("train --model mpl", "mlp");
    refuses("train --model mlp --device sim:v1000", "v100");
    refuses("train --model mlp --data /no/such/folder --steps 1", "/no/such/folder");
    refuses("train --model mlp --steps 0", "--steps");
    refuses("train --model mlp --dp 3", "--dp 3 does not divide a batch of 64: a batch of 66 would do");
    refuses("train --model llama --tp 3", "--tp 3 does not divide 4 attention heads: 1, 2 or 4 would");
    refuses("train --model mlp --dpp 2", "did you mean '--dp'?");
    refuses("train --model llama --pp 2 --schedule zb-h3", "did you mean");
    refuses("train --model llama --dp 2 --mode graph", "--mode works on one rank");
    refuses("train --model mlp --dp 2 --lora 8", "--lora works on one rank");
    refuses("gpus v1000", "v100");
    refuses("plan --model llama3-8b --gpu h100 --tp 3 --batch 8", "does not divide 32 attention heads");
    refuses("plan --model llama3-8b --gpu h100 --dp 3 --batch 8", "a batch of 9 would do");
    refuses("plan --model llama3-8c --gpu h100 --batch 8", "did you mean 'llama3-8b'?");
    refuses("plan --model llama3-8b --gpu h100 --batch 8 --link ib-hdd", "did you mean 'ib-hdr'?");
    refuses("plan --model llama3-8b --gpu h100 --batch 8 --recompute some", "none, selective, full");
    refuses("plan --model llama3-8b --gpu h100 --batch 8 --recompute ful", "did you mean 'full'?");
    refuses("plan --model llama3-8b --gpu h100 --batch 8 --context balancd", "did you mean 'balanced'?");
    refuses("plan --model lenet5 --gpu h100 --batch 8", "plans are made for language models");
    refuses("plan --model llama3-8b --gpu h100 --batch 8 --schedule zb-h3", "did you mean 'zb-h1'?");
    refuses("plan --model llama3-8b --gpu h100 --batch 8 --tokens nan", "a number above 0 to 1e+30 is needed, not 'nan'");
    refuses("plan --model llama3-8b --gpu h100 --batch 8 --pue 0.5", "a number from 1 to 100 is needed, not '0.5'");
    refuses("plan --model llama3-8b --gpu h100 --batch 8 --gpus 64", "--gpus is of --search");
    refuses("plan --model llama3-8b --gpu h100 --batch 8 --search --memory-limit -1", "a number above 0");
    refuses("gpus v1000", "did you mean 'v100'?");
    refuses("lesson run", "'lockstep lesson run --help' says what is right");
    refuses("validate peek", "latency, rate, strides, bandwidth, blocks, peak, sgemm, silicon, cluster, kernels");
    refuses("train --model mlp --steps 1 --momentum nan", "a number from 0 to 1 is needed, not 'nan'");
    refuses("train --model mlp --steps 1 --clip-norm -1", "a number from 0 is needed, not '-1'");
    refuses("train --model mlp --steps 1 --lr high", "such as 0.1; without --lr the model's own rate is taken");
    refuses("train --model mlp --steps 1 --lr 0,1", "not '0,1': with a point, 0.1");
    refuses("train --model mlp --steps 1 --dp 2 --bucket-mb nan", "a number from 0 to 4096 is needed");
    refuses("train --model mlp --steps 1 --sample 10", "model mlp writes no text: gpt and llama do");
    refuses("train --model mlp --dp 2 --all-reduce rings", "did you mean 'ring'?");
    refuses("plan --model llama3-8b --gpu h100 --dp 2000000 --batch 2000000", "at most 1,048,576 GPUs");
    refuses("lesson run A99", "A99");
    refuses("lesson check /no/such/lesson", "/no/such/lesson");
    refuses("bench nothing", "nothing");
    refuses("app --size 10x10 --screenshot x.png", "--size");
    refuses("app --record x.avi", "F.gif or F.mp4");
    refuses("app --record x.gif --speed -1", "a number above 0");
    refuses("app --from 5", "--record");
    refuses("app --step 0 --screenshot x.png", "a whole number from 1 is needed, not '0'");
    refuses("compile missing.cu", "missing.cu");
}

TEST_CASE("validate kernels sums up by kind, in words and as JSON") {
    const Outcome outcome = lockstep_command("validate kernels --quick --only gemv");
    REQUIRE(outcome.status == 0);
    for (const char* part :
         {"v100/gemv_16", "only judging", "order in ladders: 0 of 0 pairs", "aim, on kernels that only judge"})
        CHECK(outcome.out.find(part) != std::string::npos);
    const Outcome json = lockstep_command("validate kernels --quick --only gemv --json -");
    const auto report = nlohmann::json::parse(json.out);
    CHECK(report["kinds"]["gemv"]["rows"].get<size_t>() == report["rows"].size());
    CHECK(report["rows"][0]["only_judges"] == true);
    refuses("validate sgemm --only x", "--only is for the table kernels");
}

TEST_CASE("validate prints each table once, its rows together, with one total") {
    const Outcome outcome = lockstep_command("validate cluster --quick");
    REQUIRE(outcome.status == 0);
    for (const std::string table : {"cluster_bubbles", "cluster_bubbles_planned", "cluster_memory"}) {
        INFO(table);
        size_t heads = 0, totals = 0;
        for (size_t at = 0; (at = outcome.out.find("\n" + table + " ", at)) != std::string::npos; ++at) ++heads;
        for (size_t at = 0; (at = outcome.out.find("= " + table + ":", at)) != std::string::npos; ++at) ++totals;
        CHECK(heads == 1);
        CHECK(totals == 1);
    }
}

TEST_CASE("plan prints the contract's JSON, every figure derived, and a search lists what fell out") {
    const std::string llama =
        "plan --model llama3-405b --gpu h100 --tp 8 --cp 1 --pp 16 --dp 64 --seq 8192 --batch 2048 "
        "--schedule interleaved --chunks 8 --zero 2 --json -";
    const Outcome outcome = lockstep_command(llama);
    REQUIRE(outcome.status == 0);
    const auto plan = nlohmann::json::parse(outcome.out);
    CHECK(plan["gpus"] == 8192);
    CHECK(plan["microbatches"] == 32);
    CHECK(plan["provenance"] == "derived");
    CHECK(plan["tflops"].get<double>() > 0.9 * 430);  // arXiv 2407.21783, table 4
    CHECK(plan["tflops"].get<double>() < 1.1 * 430);
    double sum = 0;
    for (const auto& part : plan["time_us"]) sum += part.get<double>();
    CHECK(std::abs(sum - plan["step_us"].get<double>()) < 1e-6 * sum);
    const Outcome found =
        lockstep_command("plan --model llama3-8b --gpu h100 --gpus 16 --batch 64 --search --most 60 --zero 1 --json -");
    REQUIRE(found.status == 0);
    const auto search = nlohmann::json::parse(found.out);
    CHECK(search["tried"] == 60);
    CHECK(search["best"].size() + search["fell_out"].size() == 60);
    CHECK(!search["best"].empty());
    CHECK(!search["fell_out"][0]["reason"].get<std::string>().empty());
}

TEST_CASE("numbers, buffers and files that cannot be are refused before anything runs") {
    const std::string good = write("saxpy.ptx", saxpy);
    const std::string start = "run " + good + " --grid 1 --block 32 ";
    const std::string arguments = "--arg in:f32{1} --arg inout:f32{1} --arg f32:1 --arg u32:1 ";
    refuses(start, "kernel 'saxpy' takes 4 arguments (buffer x, buffer y, f32 a, u32 n), but 0 are given");
    refuses(start + "--arg in:f32{1} --arg out:f32[999999999999] --arg f32:1 --arg u32:1", "at most 2^30 elements");
    refuses(start + "--arg in:f64[1073741824] --arg out:f32[1] --arg f32:1 --arg u32:1", "out of device memory");
    refuses(start + "--arg in:f32{1} --arg struct:f32:1 --arg f32:1 --arg u32:1", "has 4 bytes");
    refuses(start + "--arg struct:f32 --arg out:f32[1] --arg f32:1 --arg u32:1", "a member is needed here");
    refuses(start + "--arg in:f32{1} --arg out:f32[1] --arg f32:1 --arg u32:-1", "'-1' is not a value of type u32");
    refuses(start + "--arg", "--arg needs a value after it");
    refuses(start + "--arg in:f321 in:f322 --arg f32:1", "the shell takes braces apart, so quote them");
    refuses(start + "--arg in:f32{1} --arg out:f32[1] --arg i32:1 --arg u32:1",
            "is a whole number, but parameter 'a' takes a fraction: f32: would do");
    refuses(start + "--arg in:f32{1} --arg out:f32[1] --arg f32:1 --arg f32:1", "takes a whole number: i32: would do");
    refuses(start + arguments + "--trace x.tracce", "F.json for ui.perfetto.dev, F.csv or F.txt");
    refuses(start + arguments + "--trace x.json --functional", "--trace is of a timed run");
    refuses(start + arguments + "--trace-cycles 5-6", "name its file too, as in --trace F.json");
    refuses(start + arguments + "--trace-sm 3", "name its file too, as in --trace F.json");
    refuses(start + arguments + "--max-instructions -1", "a whole number from 1 is needed, not '-1'");
    refuses(start + arguments + "--max-instructions 0", "a whole number from 1 is needed, not '0'");
    refuses(start + arguments + "--max-instructions 99999999999999999999999", "too large");
    refuses(start + arguments + "--shared x", "a whole number from 0 is needed, not 'x'");
    refuses(start + arguments + "--check \"\"", "--check needs a list");
    refuses(start + arguments + "--json /dev/null/x.json", "/dev/null/x.json: error: the file cannot be written");
    refuses(start + arguments + "--trace /dev/null/x.json", "/dev/null/x.json: error: the file cannot be written");
    refuses("run /dev/null --grid 1 --block 1", ".cu or .ptx");
    fs::create_directories(scratch() / "folder.ptx");
    refuses("run " + (scratch() / "folder.ptx").string() + " --grid 1 --block 1", "folder.ptx: error:");
    refuses("train --model mlp --steps 1 --json /dev/null/x.json", "/dev/null/x.json: error: the file cannot be written");
    refuses("train --model mlp --steps 1 --seed -1", "a whole number from 0 is needed");
    refuses("lesson check " + scratch().string(), "holds no lesson.md");
    refuses("lesson run A02 --json /dev/null/x.json", "/dev/null/x.json: error: the file cannot be written");
    refuses("occupancy --gpu v100 --block x --regs 32 --shared 0", "--block takes a number, not 'x'");
    refuses("run " + write("binary.ptx", std::string("\x90\x01\xff\r\x1b[2J") + std::string(500, '\xe4')) +
                " --grid 1 --block 1",
            "    ???");
}

TEST_CASE("a trace is written as its file name ends: Perfetto JSON, a table, or text") {
    const std::string start = "run " + write("saxpy.ptx", saxpy) +
                              " --grid 2 --block 32 --arg in:f32{1} --arg inout:f32{1} --arg f32:1 --arg u32:1 --trace ";
    const auto written = [&](const std::string& name) {
        const std::string file = (scratch() / name.substr(0, name.find(' '))).string();
        REQUIRE(lockstep_command(start + (scratch() / name).string()).status == 0);
        std::ifstream in(file, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    CHECK(nlohmann::json::parse(written("t.json"))["traceEvents"].size() > 10);
    CHECK(written("t.csv").starts_with("event,sm,warp_slot,"));
    // The first warp starts with its block and waits for code; then its first instruction issues, in one cycle.
    std::smatch row;
    const std::string table = written("t.csv");
    REQUIRE(std::regex_search(table, row, std::regex("\nwait,0,0,0,0,0,(\\d+),(\\d+),no_instruction,0,")));
    const int begin = std::stoi(row[1]), ready = std::stoi(row[2]);
    CHECK(table.find("\nissue,0,0,0,0,0," + std::to_string(ready) + "," + std::to_string(ready + 1) + ",selected,0,\"") !=
          std::string::npos);
    CHECK(written("t.txt").starts_with("sm 0 cycles "));
    CHECK(written("other.txt --trace-sm 1").starts_with("sm 1 cycles "));
    const std::string from = std::to_string(begin - 10), until = std::to_string(begin + 30);
    const std::string stretch = written("stretch.txt --trace-cycles " + from + "-" + until);
    CHECK(stretch.find("\nkept from " + from + "\nkept until " + until + "\n") != std::string::npos);
    CHECK(stretch.find("scheduler 0 " + std::to_string(begin) + ".." + until + "\n") != std::string::npos);
    refuses(start + "x.json --trace-cycles 5-5", "--trace-cycles takes two cycles");
    refuses(start + "x.json --trace-sm 80", "has the SMs 0 to 79");
    refuses(start + "x.json --trace-cycles 900000-900001", "the run ends at cycle");
    // A host program's timeline obeys its file's name too.
    const std::string host =
        "run " + std::string(LOCKSTEP_SOURCE_DIR) + "/lessons/A14_streams/three.host" + " --gpu teaching --trace ";
    const auto of_host = [&](const std::string& name) {
        REQUIRE(lockstep_command(host + (scratch() / name).string()).status == 0);
        std::ifstream in(scratch() / name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    CHECK(of_host("h.csv").starts_with("track,within,begin_ns,end_ns,name\n"));
    CHECK(of_host("h.txt").starts_with("time ns\ntrack 0 host\n"));
    CHECK(nlohmann::json::parse(of_host("h.json"))["traceEvents"].size() > 10);
    // Its JSON holds 64-bit integers as strings, and null for what is too large.
    const std::string wide = write("wide.host", R"(host a i64{9007199254740993, -9223372036854775808} pinned
host b u64{18446744073709551615}
host c f32[16777217]
host d i32{7, -7}
malloc x i64[2]
malloc y u64[1]
malloc z f32[16777217]
malloc w i32[2]
h2d x a
h2d y b
h2d w d
d2h a x
d2h b y
d2h c z
d2h d w
)");
    const auto outputs = nlohmann::json::parse(lockstep_command("run " + wide + " --gpu teaching --json -").out)["outputs"];
    CHECK(outputs["a"] == nlohmann::json::array({"9007199254740993", "-9223372036854775808"}));
    CHECK(outputs["b"] == nlohmann::json::array({"18446744073709551615"}));
    CHECK(outputs["c"].is_null());
    CHECK(outputs["d"] == nlohmann::json::array({7, -7}));
    refuses(host + "h.foo", "F.json for ui.perfetto.dev, F.csv or F.txt");
    refuses(host + "h.csv --functional", "--functional is for one kernel: a host program says itself what it launches");
    refuses(host + "h.csv --grid 4", "--grid is for one kernel");
    CHECK(lockstep_command(host + (scratch() / "h.csv").string() + " --seed 3")
              .out.find("one after the other, without the calls, ") != std::string::npos);
}

TEST_CASE("a device as output stays one, a link stays a link, and a source is not overwritten by its PTX") {
    const std::string run = "run " + write("saxpy.ptx", saxpy) +
                            " --grid 1 --block 32 --arg in:f32{1,2} --arg inout:f32{1,2} --arg f32:1 --arg u32:2 ";
    const std::string pipe = (scratch() / "pipe").string(), link = (scratch() / "link.json").string();
    REQUIRE(std::system(("mkfifo " + pipe + " && cat " + pipe + " > " + pipe + ".text &").c_str()) == 0);
    for (int i = 0; i < 500 && !fs::exists(pipe); ++i) ::usleep(10'000);
    REQUIRE(lockstep_command(run + "--json " + pipe).status == 0);
    CHECK(fs::is_fifo(pipe));
    fs::create_symlink("target.json", link);
    REQUIRE(lockstep_command(run + "--json " + link).status == 0);
    CHECK(fs::is_symlink(link));
    CHECK(nlohmann::json::parse(read_file(scratch() / "target.json").value())["outputs"][0] == nlohmann::json({2.0, 4.0}));
    CHECK(!fs::exists(link + ".part"));
    fs::create_directories(scratch() / "a_folder");
    refuses(run + "--json " + (scratch() / "a_folder").string(), "the file cannot be written: this is a folder");
    CHECK(!fs::exists(scratch() / "a_folder.part"));
    const std::string source = write("keep.cu", "__global__ void keep() {}\n");
    refuses("compile " + source + " -o " + source, "this is the source: -o would overwrite it, so it needs another name");
    CHECK(read_file(source).value() == "__global__ void keep() {}\n");
    if (!fs::is_character_file("/dev/full")) return;
    const Outcome full = lockstep_command(run + "--json - > /dev/full");
    CHECK(full.status == 2);
    CHECK(full.err.find("the output cannot be written: No space left on device") != std::string::npos);
}

TEST_CASE("no run writes over its source, what it reads, or a file that it has just written") {
    const std::string source = write("own.ptx", saxpy), array = (scratch() / "own.npy").string();
    const std::string twice = (scratch() / "twice").string();
    Array values{DType::f32, {2}, {}};
    values.bytes.resize(8);
    write_file(array, format_npy(values));
    const std::string run = "run " + source + " --grid 1 --block 32 --arg f32:1 --arg u32:2 --arg in:" + array + " ";
    const auto kept = [&](const std::string& options, const std::string& sentence) {
        refuses(run + options, sentence);
        CHECK(read_file(source).value() == saxpy);
        CHECK(read_file(array).value() == format_npy(values));
    };
    fs::create_directories(scratch() / "sub");
    kept("--arg out:f32[2]=" + source, "own.ptx: error: this is the source: --arg out:f32[2]=");
    kept("--json " + source, "this is the source: --json would overwrite it, so it needs another name");
    kept("--json " + (scratch() / "sub/../own.ptx").string(), "this is the source: --json would overwrite it");
    kept("--json " + array, "reads: --json would overwrite it");
    kept("--arg out:f32[2]=" + array, "would overwrite it, so it needs another name");
    kept("--trace " + twice + ".json --json " + twice + ".json",
         "--json and --trace would both be written here: each needs a name of its own");
    kept("--arg out:f32[2]=" + twice + ".npy --arg out:f32[2]=" + twice + ".npy", "would both be written here");
    CHECK(!fs::exists(twice + ".npy"));
    CHECK(lockstep_command("run " + source + " --grid 1 --block 32 --arg in:f32{1,2} --arg inout:" + array + "=" + array +
                           " --arg f32:1 --arg u32:2 --json /dev/null --trace /dev/null")
              .status == 0);
    const std::string host = write("own.host", "kernels hosted.cu\nsync\n"), kernels = write("hosted.cu", "");
    refuses("run " + host + " --json " + host, "this is the source: --json would overwrite it");
    refuses("run " + host + " --json " + kernels, "this is what the host program reads: --json would overwrite it");
    const std::string pipe = (scratch() / "pipe.ptx").string();
    REQUIRE(std::system(("mkfifo " + pipe).c_str()) == 0);
    refuses("run " + pipe + " --grid 1 --block 1", "pipe.ptx: error: this is a pipe");
}

TEST_CASE("what a CUDA source lacks is said of that source, and an array of another type by both names") {
    if (lockstep_command("compile " + write("plain.cu", "__global__ void k(float* x, int n) { x[n] = 1; }\n") + " -o -")
            .status)
        return;
    const std::string launch = " --grid 1 --block 1";
    refuses("run " + write("empty.cu", "") + launch, "empty.cu: error: there is no kernel here");
    refuses("run " +
                write("both.cu", "__global__ void a(int* x) { x[0] = 1; }\n__global__ void a(float* x) { x[0] = 1; }\n") +
                launch,
            "both.cu: error: there are 2 kernels here, one has to be named: a(int*), a(float*)");
    Array doubles{DType::f64, {2}, {}};
    doubles.bytes.resize(16);
    const std::string wide = (scratch() / "wide.npy").string();
    write_file(wide, format_npy(doubles));
    const std::string swapped =
        "run " + write("swapped.cu", "__global__ void k(int n, float* x) { x[n] = 1; }\n") + launch + " --arg i32:0 --arg ";
    refuses(swapped + "inout:" + wide, "wide.npy holds f64, the parameter x is float*: save it as float32");
    refuses(swapped + "inout:f64{1,2}", "holds f64, the parameter x is float*: f32 would do");
    CHECK(lockstep_command(swapped + "inout:u32{1,2}").status == 0);
    refuses(swapped + "in:f32{1e40}", "'1e40' is not a value of type f32");
    refuses(swapped + "in:f16{1e9}", "'1e9' is not a value of type f16");
    CHECK(lockstep_command(swapped + "inout:f32{inf,3e38}").status == 0);
    CHECK(lockstep_command("run " +
                           write("both.cu",
                                 "__global__ void a(int* x) { x[0] = 1; }\n__global__ void a(double* x) { x[0] = 1; "
                                 "}\n") +
                           " --kernel 'a(double*)' --arg inout:" + wide + launch)
              .status == 0);
    refuses("run " + write("lost.host", "kernels lost.cu\nmalloc x f32[4]\nlaunch k(x) grid=1 block=1\n"),
            "there is no file 'lost.cu' in the folder " + scratch().string());
}

TEST_CASE("chosen counters are in the JSON too, and all their names are listed without a run") {
    const std::string run =
        "run " + write("saxpy.ptx", saxpy) +
        " --grid 2 --block 32 --arg in:f32{1,2,3,4} --arg inout:f32{10,20,30,40} --arg f32:0.5 --arg u32:4"
        " --json - --metrics ";
    const auto json = nlohmann::json::parse(
        lockstep_command(run + "by-line,by-window,l1_hit_rate,all@cycles:0..100,dram_bytes@cycles:0..100").out);
    REQUIRE(json["by_line"].size() > 3);
    CHECK(json["by_line"][0]["warp_instructions"] == 2);
    CHECK(json["by_window"][0]["begin"] == 0);
    CHECK(json["by_window"][0]["metrics"].size() == json["metrics"].size());
    CHECK(json["selected"]["l1_hit_rate"].is_number());
    CHECK(json["selected"]["all@cycles:0..100"]["metrics"].size() == json["metrics"].size());
    CHECK(json["selected"]["dram_bytes@cycles:0..100"].is_number());
    CHECK(!nlohmann::json::parse(lockstep_command(run + "all").out).contains("selected"));
    const Outcome names = lockstep_command("run none.cu --metrics names");
    CHECK(names.status == 0);
    CHECK(names.out.find("sectors_per_request") != std::string::npos);
    CHECK(nlohmann::json::parse(lockstep_command("run none.cu --metrics names --json -").out).size() ==
          json["metrics"].size());
}

TEST_CASE("help is found in every way that people ask for it, and a lesson in small letters") {
    const std::string help = lockstep_command("run --help").out;
    REQUIRE(help.find("--grid") != std::string::npos);
    for (const char* way : {"run -h", "help run"}) CHECK(lockstep_command(way).out == help);
    CHECK(lockstep_command("help").out == lockstep_command("--help").out);
    CHECK(lockstep_command("help lesson run").out == lockstep_command("lesson run --help").out);
    CHECK(lockstep_command("grade --lesson a06 --submission nowhere").err.find("there is no such submission") !=
          std::string::npos);
    const std::string opened = lockstep_command("app --describe --open nofile.cu").err;
    CHECK(opened.find("error: ") == opened.rfind("error: "));
    CHECK(lockstep_command("app --describe nofile.cu").err == opened);  // as a desktop's menu starts it
    const std::string file =
        write("mine.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry mine() { ret; }\n");
    const Outcome plain = lockstep_command(file + " --describe");  // without the word app
    CHECK(plain.status == 0);
    CHECK(plain.out.find("Kernel mine.ptx, saved in " + file) != std::string::npos);
    refuses("run x.ptx --grid 1 --block 1 --shared -1", "a whole number from 0 to 4294967295 is needed, not '-1'");
    const std::string checked =
        lockstep_command("run " + write("saxpy.ptx", saxpy) + " --grid 1 --block 1 --check racechk").err;
    CHECK(checked == "error: unknown checker 'racechk', did you mean 'racecheck'?\n");
}

TEST_CASE("a kernel that waits for its whole grid is told how many blocks run at once") {
    const std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry waits()\n{\n.reg .b32 %r<2>;\n";
    const std::string waits = write("waits.ptx", head + "mov.u32 %r1, %envreg2;\ntrap;\n}\n");
    for (const std::string how : {"", " --functional"}) {
        const std::string run = "run " + waits + " --gpu v100 --block 32" + how;
        const Outcome many = lockstep_command(run + " --grid 2561");
        CHECK(many.status == 1);
        CHECK(many.err.find("it has 2561, and 2560 do; launch no more than those") != std::string::npos);
        const Outcome all = lockstep_command(run + " --grid 2560");
        CHECK(all.status == 1);
        CHECK(all.err.find("stopped itself with a trap instruction") != std::string::npos);
        CHECK(all.err.find("grid.sync()") == std::string::npos);
    }
}

TEST_CASE("messages that nobody can hear end nothing, and no file gets them") {
    const std::string run =
        "run " +
        write("told.ptx", ".version 6.5\n.target sm_70\n.address_size 64\n.visible .entry told()\n{\n    ret;\n}\n") +
        " --grid 1 --block 32 ";
    CHECK(lockstep_command("gpus nosuch 2>&-; echo $?").out == "2\n");
    CHECK(lockstep_command("gpus nosuch <&- >&- 2>&-; [ $? = 2 ]").status == 0);
    const std::string kept = (scratch() / "told.json").string();  // would be stderr, were its number free
    CHECK(lockstep_command(run + "--functional --scheduler gto --json " + kept + " >&- 2>&-; echo $?").out == "2\n");
    CHECK(nlohmann::json::parse(read_file(kept).value())["outputs"].empty());
    if (!fs::is_character_file("/dev/full")) return;
    CHECK(lockstep_command("gpus nosuch 2>/dev/full; echo $?").out == "2\n");
    CHECK(lockstep_command(run + "--functional --scheduler gto 2>/dev/full; echo $?").out.ends_with("0\n"));
    CHECK(lockstep_command("--help >/dev/full").status == 2);
}

TEST_CASE("an enormous grid ends at the instruction budget") {
    const std::string file =
        write("nothing.ptx", ".version 6.5\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\n    ret;\n}\n");
    for (const char* mode : {"", "--functional "}) {
        const Outcome outcome =
            lockstep_command("run " + file + " " + mode + "--grid 2147483647 --block 32 --max-instructions 10000");
        CHECK(outcome.status == 1);
        CHECK(outcome.err.find("still ran after 10000 warp instructions; it was on line 6 of the PTX") != std::string::npos);
    }
}

TEST_CASE("a truncated PTX file is refused in one sentence wherever it ends") {
    const std::string text = saxpy;
    for (size_t end = text.find('\n'); end + 3 < text.size(); end = text.find('\n', end + 1)) {
        const Outcome outcome =
            lockstep_command("run " + write("truncated.ptx", text.substr(0, end)) + " --grid 1 --block 32");
        INFO(text.substr(0, end) << "\n---\n" << outcome.err);
        CHECK(outcome.status == 2);
        CHECK(outcome.out.empty());
        const auto lines = std::count(outcome.err.begin(), outcome.err.end(), '\n');
        CHECK((lines == 1 || lines == 3));
    }
}

TEST_CASE("a kernel that copies keeps every bit of a NaN, and a fault names the source's argument and kernel") {
    Array array{DType::f32, {4}, std::vector<std::byte>(16)};
    const uint32_t bits[] = {0x7fc12345u, 0xffc00001u, 0x7f800001u, 0x80000001u};
    std::memcpy(array.bytes.data(), bits, sizeof bits);
    const std::string in = (scratch() / "nan.npy").string(), out = (scratch() / "copy.npy").string();
    write_file(in, format_npy(array));
    std::string copy = saxpy;
    copy.replace(copy.find("fma.rn.f32 %f4, %f1, %f2, %f3;"), 30, "mov.f32 %f4, %f2;");
    const Outcome outcome =
        lockstep_command("run " + write("copy.ptx", copy) + " --functional --grid 1 --block 32 --arg in:" + in +
                         " --arg out:f32[4]=" + out + " --arg f32:0 --arg u32:4");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(read_npy(out).value().bytes == array.bytes);

    std::string mangled = saxpy;
    mangled.replace(mangled.find("saxpy("), 6, "_Z5saxpyPKfPffj(");
    const Outcome fault = lockstep_command(
        "run " + write("mangled.ptx", mangled) +
        " --grid 1 --block 32 --arg in:f32{1} --arg inout:f32{1} --arg f32:1 --arg u32:2" + " --kernel saxpy --json -");
    CHECK(fault.status == 1);
    CHECK(fault.err.find("(kernel saxpy, block") != std::string::npos);
    CHECK(nlohmann::json::parse(fault.out)["kernel"] == "saxpy");
}

namespace {

// Copies n 64-bit words from `a` to `b` and half words from `h` to `g`, says how many, and adds what `bias` holds to `h`.
const char* words = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 format[10] = {119, 111, 114, 100, 115, 32, 37, 117, 10, 0};
.global .align 4 .u32 bias = 1;
.extern .shared .align 4 .b8 tile[];
.visible .entry words(.param .u64 a, .param .u64 b, .param .u64 h, .param .u32 n)
{
    .local .align 8 .b8 stack[8];
    .reg .pred %p<3>;
    .reg .b16 %h<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<10>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [h];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd4, %r2, 8;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    ld.global.u64 %rd7, [%rd5];
    st.global.u64 [%rd6], %rd7;
    mul.wide.u32 %rd4, %r2, 2;
    add.s64 %rd5, %rd3, %rd4;
    ld.global.u16 %h1, [%rd5];
    ld.global.u32 %r3, [bias];
    cvt.u16.u32 %h2, %r3;
    add.u16 %h1, %h1, %h2;
    st.global.u16 [%rd5], %h1;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra DONE;
    st.local.u32 [stack], %r1;
    cvta.local.u64 %rd8, stack;
    { .param .b64 f; .param .b64 v; .param .b32 r;
    mov.u64 %rd9, format; cvta.global.u64 %rd9, %rd9;
    st.param.b64 [f], %rd9; st.param.b64 [v], %rd8;
    call.uni (r), vprintf, (f, v); }
DONE:
    ret;
}
.visible .entry first(.param .u64 order, .param .u64 count)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [order];
    ld.param.u64 %rd2, [count];
    mov.u32 %r1, %ctaid.x;
    atom.global.add.u32 %r2, [%rd2], 1;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
.visible .entry share(.param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    ld.shared.u32 %r4, [%r3];
    cvt.u64.u32 %rd2, %r2;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
)";

}  // namespace

TEST_CASE("64-bit integers are strings in JSON, out: begins as 0xCD, bf16 is <u2 in npy, printf goes to stderr") {
    const std::string file = write("words.ptx", words);
    const std::string bf16 = (scratch() / "bf16.npy").string();
    const std::string arguments =
        " --kernel words --grid 1 --block 32 --arg 'in:i64{-9223372036854775808,-1,7}' --arg 'out:u64[4]' "
        "--arg 'inout:bf16{1,2,-0.5}'=" +
        bf16 + " --arg u32:3 --symbol bias=u32:2 ";
    for (const char* mode : {"", "--functional "}) {
        const Outcome outcome = lockstep_command("run " + file + arguments + mode + "--json -");
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        CHECK(outcome.err == "words 3\n");
        const auto json = nlohmann::json::parse(outcome.out);
        CHECK(json["outputs"][0] ==
              nlohmann::json({"9223372036854775808", "18446744073709551615", "7", "14829735431805717965"}));
        CHECK(json["outputs"][1] == nlohmann::json({1.015625, 2.03125, -0.5078125}));  // two units in the last place on
        const std::string npy = read_file(bf16).value();
        CHECK(npy.find("'<u2'") != std::string::npos);
        CHECK(npy.substr(npy.size() - 6) == std::string("\x82\x3f\x02\x40\x02\xbf", 6));
    }
    const Outcome as_signed =
        lockstep_command("run " + file +
                         " --kernel words --grid 1 --block 32 --functional --arg 'in:u64{9223372036854775808}' "
                         "--arg 'out:i64[1]' --arg 'inout:f64{inf,-inf,nan}' --arg u32:1 --symbol bias=u32:0 --json -");
    REQUIRE(as_signed.status == 0);
    const auto json = nlohmann::json::parse(as_signed.out);
    CHECK(json["outputs"][0] == nlohmann::json({"-9223372036854775808"}));
    CHECK(json["outputs"][1] == nlohmann::json({"inf", "-inf", "nan"}));
}

TEST_CASE("an output too large for JSON is null there when its file has it, and refused when none does") {
    const std::string file = write("saxpy.ptx", saxpy), npy = (scratch() / "large.npy").string();
    const auto with = [&](const std::string& output) {
        return "run " + file + " --functional --grid 1 --block 32 --arg in:f32{1,2} --arg " + output +
               " --arg f32:2 --arg u32:2 --json -";
    };
    refuses(with("out:f32[16777217]"), "argument 2 has 16777217 elements, too many for --json: name a file");
    const Outcome outcome = lockstep_command(with("out:f32[16777217]=" + npy));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(nlohmann::json::parse(outcome.out)["outputs"] == nlohmann::json::array({nullptr}));
    CHECK(fs::file_size(npy) == 128 + 4 * 16777217);
}

TEST_CASE("the order of blocks is the one asked for, and a seed repeats a random one") {
    const std::string file = write("words.ptx", words);
    const auto first = [&](const std::string& options) {
        const Outcome outcome =
            lockstep_command("run " + file + " --kernel first --grid 8 --block 1 --functional --check none " +
                             "--arg 'out:u32[8]' --arg 'inout:u32{0}' --json - " + options);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return nlohmann::json::parse(outcome.out)["outputs"][0].get<std::vector<int>>();
    };
    const std::vector<int> forwards = {0, 1, 2, 3, 4, 5, 6, 7}, backwards = {7, 6, 5, 4, 3, 2, 1, 0};
    CHECK(first("") == forwards);
    CHECK(first("--order greedy") == forwards);
    CHECK(first("--order reverse") == backwards);
    const std::vector<int> random = first("--order random --seed 3");
    CHECK(first("--order random --seed 3") == random);
    CHECK(std::is_permutation(random.begin(), random.end(), forwards.begin()));
    bool differs = false;
    for (const char* seed : {"4", "5", "6"}) differs |= first(std::string("--order random --seed ") + seed) != random;
    CHECK(differs);
}

TEST_CASE("dynamic shared memory has the bytes asked for, and a kernel that got none is told how") {
    const std::string file = write("words.ptx", words);
    const std::string start = "run " + file + " --kernel share --grid 1 --block 32 --arg 'out:u32[32]' ";
    CHECK(lockstep_command(start + "--shared 128").status == 0);
    const Outcome little = lockstep_command(start + "--shared 64 --functional");
    CHECK(little.status == 1);
    CHECK(little.err.find("past the end of 'tile' (64 bytes)") != std::string::npos);
    CHECK(little.err.find("note:") == std::string::npos);
    const Outcome none = lockstep_command(start);
    CHECK(none.status == 1);
    CHECK(none.err.find("the end of 'tile' (0 bytes), which has no bytes in this launch") != std::string::npos);
    CHECK(none.err.find("the launch has to say how many bytes it has, by --shared here") != std::string::npos);
}

TEST_CASE("an option given twice, without its value, or for another module's variable is one sentence") {
    const std::string file = write("words.ptx", words);
    const std::string start = "run " + file + " --kernel share --grid 1 --block 32 --shared 128 --arg 'out:u32[32]' ";
    refuses(start + "--grid 2", "--grid is given twice");
    refuses(start + "--json --functional", "--json: a value is needed here, not the option --functional");
    refuses(start + "--trace --functional", "--trace: a value is needed here, not the option --functional");
    refuses(start + "--symbol bais=u32:1", "did you mean 'bias'?");
    refuses(start + "--symbol bias=in:u32{1,2}", "'bias' has 4 bytes, the value given for it has 8");
    refuses(start + "--symbol bias", "NAME=in:VALUES");
    refuses(start + "--symbol bias=out:u32[1]", "takes in: or a scalar");
    refuses(start + "--check memchek", "did you mean 'memcheck'?");
    refuses("run " + file + " --grid 1 --block 32", "there are 3 kernels here, one has to be named: words, first, share");
    refuses("run " + file + " --kernel share --block 32", "--grid is required");
    refuses("run " + write("word.ptx", std::string(words).replace(std::string(words).find("add.u16"), 7, "ad.u16")) +
                " --kernel words --grid 1 --block 32",
            "did you mean 'add.u16'?");
}

TEST_CASE("in CUDA source a mistake, a missing function and a kernel that is none are shown at their own place") {
    const Outcome compiled = lockstep_command(
        "compile " + write("own.cu", "__global__ void k(int* x) {\n    int unused;\n}\n") + " -o - --compiler nvcc");
    if (compiled.status == 3) {
        WARN("nvcc is not here, so this is not tested: " << compiled.err);
        return;
    }
    CHECK(compiled.err.find(
              "own.cu:2:9: warning: variable \"unused\" was declared but never referenced\n        int unused;") !=
          std::string::npos);
    CHECK(compiled.out.find(".visible .entry") != std::string::npos);
    refuses("compile " + scratch().string() + "/own.cu -I /no/such/folder", "there is no folder '/no/such/folder'");
    refuses("run " + write("typing.cu", "__global__ void k(int* x) { x[0] = y; }\n") + " --grid 1 --block 1",
            "typing.cu:1:36: error: identifier \"y\" is undefined\n    __global__ void k(int* x) { x[0] = y; }\n");
    refuses("run " + write("far.cu", "__device__ int far(int);\n__global__ void k(int* x) { x[0] = far(x[1]); }\n") +
                " --grid 1 --block 1 --arg 'inout:i32{1,2}'",
            "far.cu:2:36: error: 'far' is declared here, but its code is elsewhere\n    __global__ void k");
    refuses(
        "run " + write("template.cu", "template <class T> __global__ void k(T* x) { x[0] = 1; }\n") + " --grid 1 --block 1",
        "template.cu: error: there is no kernel here, for 'k' is a template and no launch says which instance it takes");
    refuses("run " +
                write("named.cu", "__global__ void __launch_bounds__(64) k(float* data, int count) { data[0] = count; }\n") +
                " --grid 1 --block 1 --arg 'inout:f32{1}' --arg i64:1",
            "but parameter 'count' takes 4");
}

TEST_CASE("a lesson file that does not parse is bad input, and a faulted run prints no counters") {
    fs::create_directories(scratch() / "broken");
    write("broken/lesson.md", "+++\nid = \"X01\"\n+++\n::: predcit id=\"q\"\n");
    const Outcome lesson = lockstep_command("lesson check " + (scratch() / "broken").string());
    CHECK(lesson.status == 2);
    CHECK(lesson.out.find("lesson.md:") != std::string::npos);
    const std::string file = write("saxpy.ptx", saxpy);
    const Outcome run = lockstep_command(
        "run " + file + " --grid 1 --block 32 --arg 'in:f32{1,2}' --arg 'inout:f32{1,1}' --arg f32:2 --arg u32:9");
    CHECK(run.status == 1);
    CHECK(run.out.find("stopped by memcheck") != std::string::npos);
    CHECK(run.out.find("issue_slot_utilization") == std::string::npos);
}

TEST_CASE("schedule draws, times and refuses") {
    const Outcome drawn = lockstep_command("schedule --kind 1f1b --stages 2 --microbatches 2");
    CHECK(drawn.status == 0);
    CHECK(drawn.out.find("rank 0   F1 F2 ......B1    ...B2") != std::string::npos);
    CHECK(drawn.out.find("bubble 33.3 % of the total, 50.0 % over the ideal (simulated)") != std::string::npos);
    CHECK(drawn.out.find("idle (p-1)(F+B) = 3 a rank (derived)") != std::string::npos);
    const auto json = nlohmann::json::parse(
        lockstep_command("schedule --kind interleaved --stages 4 --microbatches 8 --chunks 4 --times 1,1,1 --json -").out);
    CHECK(json["total"] == 26.25);
    CHECK(json["per_rank"].size() == 4);
    CHECK(json["per_rank"][0]["peak_activations"] == json["per_rank"][0]["activations_formula"]);
    refuses("schedule --kind zbh1 --stages 4 --microbatches 8", "no pipeline schedule 'zbh1', did you mean 'zb-h1'?");
    refuses("schedule --kind interleaved --stages 4 --microbatches 6", "6 is no multiple, 4 or 8 would be");
    refuses("schedule --kind 1f1b --stages 4 --microbatches 8 --times 1,2", "as in 1,1,1");
    const std::string both = (scratch() / "both.json").string();
    refuses("schedule --kind 1f1b --stages 4 --microbatches 8 --json " + both + " --trace " + both,
            "would both be written here");
    refuses("schedule --kind 1f1b --stages 4 --microbatches 8 --slow 7:2", "a rank from 0 to 3");
    refuses("schedule --kind 1f1b --stages 4 --microbatches 8 --slow 2", "as in 2:1.5, not '2'");
    refuses("schedule --kind zb-2p --stages 4 --microbatches 8 --kept 2", "a share of its memory from 0 to 1");
    refuses("schedule --kind zb-v --stages 4 --microbatches 8 --chunks 3", "2 pieces");
}

// The ptxas of this test says 40 registers for every GPU but V100, which it does not know.
TEST_CASE(
    "--registers ptxas takes the registers of an installed ptxas, for a GPU that it knows, and only where it is asked for") {
    const std::string ptxas =
        write("ptxas",
              "#!/bin/sh\ncase \"$2\" in *sm_70) echo \"ptxas fatal: sm_70 is not defined\"; exit 1;; esac\n"
              "echo \"ptxas info    : Compiling entry function 'other' for 'sm_80'\"\n"
              "echo \"ptxas info    : Used 99 registers\"\n"
              "echo \"ptxas info    : Compiling entry function 'saxpy' for 'sm_80'\"\n"
              "echo \"ptxas info    : Function properties for saxpy\"\n"
              "echo \"ptxas info    : Used 40 registers, 380 bytes cmem[0]\"\n");
    std::filesystem::permissions(ptxas, std::filesystem::perms::owner_all);
    const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
    setenv("PATH", (scratch().string() + ":" + path).c_str(), 1);
    const std::string run =
        "run " + write("saxpy.ptx", saxpy) +
        " --grid 2 --block 32 --arg in:f32{1,2,3,4} --arg inout:f32{10,20,30,40} --arg f32:0.5 --arg u32:4 "
        "--metrics registers_per_thread";
    const Outcome plain = lockstep_command(run), told = lockstep_command(run + " --registers ptxas --gpu a100"),
                  later = lockstep_command(run + " --registers ptxas");
    setenv("PATH", path.c_str(), 1);
    CHECK(plain.out.find("40 registers") == std::string::npos);
    REQUIRE(told.status == 0);
    CHECK(told.err.find("ptxas for sm_80: 40 registers a thread") != std::string::npos);
    CHECK(told.out.find("40 registers") != std::string::npos);
    INFO(later.err);
    CHECK(later.status == 0);  // for the PTX's own target, or a later one
    CHECK(later.err.find("40 registers a thread; without it") != std::string::npos);
    refuses(run + " --registers ptxass", "needs a number from 1 to 255 or ptxas");
}

TEST_CASE("mesh draws who holds what, moves it for real and counts its bytes") {
    // Rows cut in 3, the same on both of y; then columns cut in 2. A rank keeps its columns of 2 of 6 rows, and is sent 4
    // rows of 2 floats: 32 bytes, of 6 ranks.
    const std::string moved = "mesh --mesh x:3,y:2 --shape 6,4 --layout x,- --to -,y";
    const Outcome drawn = lockstep_command(moved);
    CHECK(drawn.status == 0);
    CHECK(drawn.out.find("sent: 32 bytes by the rank that sends most, 192 in all (executed)") != std::string::npos);
    const auto json = nlohmann::json::parse(lockstep_command(moved + " --json -").out);
    CHECK(json["before"]["ranks"][3]["begin"] == nlohmann::json({2, 0}));
    CHECK(json["before"]["ranks"][3]["count"] == nlohmann::json({2, 4}));
    CHECK(json["after"]["ranks"][3]["begin"] == nlohmann::json({0, 2}));
    CHECK(json["after"]["ranks"][3]["count"] == nlohmann::json({6, 2}));
    CHECK(json["bytes_sent"] == nlohmann::json({32, 32, 32, 32, 32, 32}));
    CHECK(json["wrong"] == 0);
    const Outcome product = lockstep_command("mesh --mesh x:3,y:2 --shape 6,4,5 --matmul '-,x;x,-'");
    CHECK(product.status == 0);
    CHECK(product.out.find("the product is '-,-,+x'") != std::string::npos);
    refuses("mesh --mesh x:3,y:2 --shape 6,4", "--layout of a tensor is needed");
    refuses("mesh --mesh x:3,x:2 --shape 6,4 --layout x,-", "axis x is there twice");
    refuses("mesh --mesh x:3 --shape 6,0 --layout x,-", "whole numbers from 1");
    refuses("mesh --mesh x:3 --shape 6,4 --layout z,-", "the mesh has no axis 'z': its axes are x");
    refuses("mesh --mesh data:3 --shape 6,4 --layout date,-", "the mesh has no axis 'date', did you mean 'data'?");
    refuses("mesh --mesh x:3 --shape 6,4,5 --matmul '-,x;-,-'", "which do not meet");
}

TEST_CASE("gpus, devices and occupancy print what they promise") {
    CHECK(lockstep_command("gpus").out.find("v100") != std::string::npos);
    const std::string v100 = lockstep_command("gpus v100").out;
    CHECK(v100.find("1530") != std::string::npos);
    CHECK(lockstep_command("gpus teaching:2").status == 0);
    CHECK(lockstep_command("devices").out.find("sim:v100") != std::string::npos);
    // 96 registers a thread: 3,072 a warp, 21 warps fit, rounded down to 20.
    CHECK(lockstep_command("occupancy --gpu h100 --block 1024 --regs 255 --shared 0").out.find("Not even one such block") !=
          std::string::npos);
    CHECK(lockstep_command("occupancy --gpu a100 --block 256 --regs 32 --shared 4294967295")
              .out.find("Not even one such block") != std::string::npos);
    CHECK(lockstep_command("occupancy --gpu v100 --block 32 --regs 96 --shared 0").out.find("20 of 64 warps") !=
          std::string::npos);
    CHECK(lockstep_command("occupancy --gpu v100 --block 416 --regs 26 --shared 0")
              .out.find("limited by warps and registers (") != std::string::npos);
    const auto json =
        nlohmann::json::parse(lockstep_command("occupancy --gpu v100 --block 256 --regs 40 --shared 20736 --json -").out);
    CHECK(json["blocks"] == 4);
    CHECK(json["warps"] == 32);
    CHECK(json["limiter"] == "shared memory");
    CHECK(json["limiters"] == nlohmann::json::array({"shared memory"}));
    CHECK(json["limits"].size() == 4);
    CHECK(json["limits"][1]["blocks"] == 6);  // 40 registers: 51 warps fit, 48 in groups of four
}

TEST_CASE("tape runs a program of one's own: gradients along every edge, Hessian, gradcheck, hooks") {
    const std::string good = write("good.tape",
                                   "dtype f64\nparam x = 2\nparam y = 3\ns = 3*x^2 + 5*x*y\nz = log(s)\nbackward z\n"
                                   "gradcheck z\nhessian z\n");
    const Outcome run = lockstep_command("tape " + good);
    CHECK(run.status == 0);
    CHECK(run.out.find("z -> s: 0.02381 x 1 = 0.02381") != std::string::npos);
    CHECK(run.out.find(", its one step: forward") != std::string::npos);
    CHECK(run.out.find("-0.034014") != std::string::npos);
    const auto json = nlohmann::json::parse(lockstep_command("tape " + good + " --json -").out);
    CHECK(std::abs(json["hessians"][0]["values"][1].get<double>() + 0.0340136054) < 1e-9);
    CHECK(json["gradchecks"][0]["compared"] == 2);
    CHECK(json["not_finite"].is_null());

    const std::string wrong = write("wrong.tape",
                                    "op cube(a) = a * a * a\n  save a\n  backward a = up * 2 * a\nend\nparam x = {1, 3}\n"
                                    "z = sum(cube(x))\nbackward z\ngradcheck z\n");
    const Outcome refused = lockstep_command("tape " + wrong);
    CHECK(refused.status == 1);
    CHECK(refused.out.find("the gradient of x at [0] is") != std::string::npos);
    CHECK(refused.out.find("also x [1]: backward gave") != std::string::npos);

    const std::string far = write("far.tape", "steps 20\nparam x = 2\nz = x*x\nbackward z\nupdate 1.5\n");
    const Outcome diverged = lockstep_command("tape " + far);  // steps are counted from 0 in every line
    CHECK(diverged.out.find(", step 19, the last of 0 to 19: forward") != std::string::npos);
    CHECK((diverged.err + diverged.out).find("from step 1 on the loss grew") != std::string::npos);

    const std::string bad = write("bad.tape", "param x = {1, 0}\ny = log(x)\nz = sum(y)\nbackward z\n");
    const Outcome stopped = lockstep_command("tape " + bad);
    CHECK(stopped.status == 1);
    CHECK(stopped.err.find("bad.tape:2") != std::string::npos);
    CHECK(stopped.err.find("an infinity in the value of y (log), element [1]") != std::string::npos);
    CHECK(lockstep_command("tape " + bad + " --nan warn").status == 0);
    CHECK(lockstep_command("tape " + bad + " --nan often").status == 2);

    const std::string broad = write("broad.tape", "param p[4] = 1\ninput t[4,1] = 2\nz = mse(p, t)\nbackward z\n");
    const Outcome silent = lockstep_command("tape " + broad);
    CHECK(silent.status == 2);
    CHECK(silent.err.find("broad.tape:3") != std::string::npos);
    CHECK(silent.err.find("[4, 1]") != std::string::npos);
}

}  // namespace cli_command_line_test
