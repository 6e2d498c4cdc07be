// `lockstep collective` as a user runs it: timed, on threads, and under mpirun where there is one.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/support.h"

namespace cli_collective_test {

namespace {

bool has_mpi() {
    static const bool found = [] {
        if (std::system("command -v mpirun >/dev/null 2>&1") != 0) return false;
        ::setenv("ASAN_OPTIONS", "detect_leaks=0", 0);  // of MPI's own
        const Outcome alone = lockstep_command("collective --ranks 1 --bytes 4 --comm mpi");
        if (alone.status == 3) CHECK(alone.err.find("libopenmpi-dev") != std::string::npos);
        return alone.status == 0;
    }();
    if (!found) WARN("not tried: there is no mpirun here, or this build has no MPI");
    return found;
}

// mpirun of one or more programs: "-np 4 lockstep collective ...".
Outcome mpirun(const std::string& programs) {
    std::string words = programs;
    for (size_t at = 0; (at = words.find("lockstep ", at)) != std::string::npos;) {
        const std::string binary = std::string(LOCKSTEP_BINARY) + " ";
        words.replace(at, 9, binary);
        at += binary.size();
    }
    const std::string error = (scratch() / "mpi_stderr").string();
    FILE* pipe = ::popen(("timeout 60 mpirun --allow-run-as-root --oversubscribe " + words + " 2>" + error).c_str(), "r");
    REQUIRE(pipe);
    Outcome outcome;
    std::array<char, 4096> chunk{};
    while (const size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe)) outcome.out.append(chunk.data(), n);
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    outcome.err = lockstep::read_file(error).value();
    return outcome;
}

std::string virtual_time(const std::string& text) {
    const size_t at = text.find("virtual time ");
    return at == std::string::npos ? "none" : text.substr(at, text.find('\n', at) - at);
}

}  // namespace

TEST_CASE("a ring's rounds, bytes and time are as the formula says") {
    const Outcome run =
        lockstep_command("collective --op all_reduce --algorithm ring --ranks 8 --bytes 80M --link ib-hdr --json -");
    REQUIRE(run.status == 0);
    const auto json = nlohmann::json::parse(run.out);
    const double expected = 14 * 1.0 + 14.0 / 8 * 80e6 / 25000;
    CHECK(std::abs(json["time_us"].get<double>() - expected) < 1e-6 * expected);
    CHECK(std::abs(json["formula_us"].get<double>() - expected) < 1e-6 * expected);
    CHECK(json["rounds"].size() == 14);
    for (const auto& rank : json["per_rank"]) CHECK(rank["bytes_sent"] == 140'000'000);
    CHECK(json["links"].size() == 16);
    const Outcome table = lockstep_command("collective --ranks 8 --bytes 80M --link ib-hdr");
    CHECK(table.out.find("closed formula         5614.000 µs: 2(n-1) a + 2(n-1)/n S/B") != std::string::npos);
    CHECK(table.out.find("140000000 each, 1120000000 in all") != std::string::npos);
}

TEST_CASE("a late rank and a slow rank make everybody wait") {
    const auto time = [](const std::string& more) {
        const Outcome run = lockstep_command("collective --ranks 4 --bytes 4M --link pcie3 --json - " + more);
        REQUIRE(run.status == 0);
        return nlohmann::json::parse(run.out)["time_us"].get<double>();
    };
    const double plain = time("");
    CHECK(std::abs(time("--late 2:1000") - (plain + 1000)) < 1e-6 * plain);
    CHECK(time("--slow 1:2") > 1.5 * plain);
    CHECK(time("--algorithm parameter_server") > 3 * plain);
    CHECK(time("--algorithm parameter_server --servers 4") < 1.1 * plain);
}

TEST_CASE("every algorithm really runs on threads, and takes the time that was simulated") {
    for (const char* what : {"--op all_reduce --algorithm tree", "--op all_reduce --algorithm hierarchical",
                             "--op all_gather --algorithm halving_doubling", "--op reduce_scatter",
                             "--op broadcast --root 3 --algorithm tree", "--op all_to_all", "--op barrier"}) {
        INFO(what);
        const Outcome run = lockstep_command(
            std::string("collective --ranks 6 --bytes 24000 --topology two_level --node-size 2 --comm in_process ") + what);
        INFO(run.err);
        CHECK(run.status == 0);
        const size_t at = run.out.find("simulated time         ") + 23;
        CHECK(run.out.find("every value is right; virtual time " + run.out.substr(at, run.out.find('\n', at) - at)) !=
              std::string::npos);
    }
}

TEST_CASE("what cannot be is refused in one sentence") {
    refuses("collective --ranks 0", "--ranks takes a number from 1, not 0");
    refuses("collective", "--ranks is required");
    refuses("collective --ranks 4 --algorithm rings", "there is no algorithm of all_reduce 'rings', did you mean 'ring'?");
    refuses("collective --ranks 4 --op allreduce", "did you mean 'all_reduce'?");
    refuses("collective --ranks 4 --link ib-edx", "there is no link 'ib-edx', did you mean 'ib-edr'?");
    refuses("collective --ranks 4 --topology fat-tree", "did you mean 'fat_tree'?");
    refuses("collective --ranks 4 --bytes many", "--bytes takes a whole number");
    refuses("collective --ranks 4 --late 4:1", "--late 4:1: the 4 ranks are 0 to 3");
    refuses("collective --ranks 4 --late 1", "--late takes RANK:US, such as 2:100, not '1'");
    refuses("collective --ranks 4 --late 1:1e300", "1e12 µs, eleven days, are the most");
    refuses("collective --ranks 4 --slow 1:-2", "a slow rank's factor is a number from 1e-6 to 1e6");
    refuses("collective --ranks 4 --slow 1:1e308", "a slow rank's factor is a number from 1e-6 to 1e6");
    refuses("collective --ranks 2000 --comm in_process", "1 to 1024 ranks as threads, not 2000");
    if (has_mpi()) refuses("collective --ranks 4 --comm mpi", "mpirun -np 4 would do");
    refuses("collective --ranks 4 --servers 5 --algorithm parameter_server", "5 servers are impossible");
    refuses("collective --ranks 16000", "fewer ranks would do");
    refuses("collective --ranks 3 --op all_to_all --bytes 16", "cannot be cut into 3 equal parts of floats: 24 can");
    refuses("collective --ranks 3 --comm mpl", "did you mean 'mpi'?");
}

TEST_CASE("processes of mpirun leave the same values in the same virtual time as threads") {
    if (!has_mpi()) return;
    for (const char* what :
         {"--op all_reduce --algorithm ring", "--op all_reduce --algorithm tree --pieces 2", "--op all_to_all"}) {
        INFO(what);
        const std::string arguments = std::string("collective --ranks 4 --bytes 40000 --topology ideal --late 1:50 ") + what;
        const Outcome threads = lockstep_command(arguments + " --comm in_process");
        const Outcome processes = mpirun("-np 4 lockstep " + arguments + " --comm mpi");
        INFO(processes.err);
        CHECK(processes.status == 0);
        CHECK(virtual_time(threads.out) != "none");
        CHECK(virtual_time(processes.out) == virtual_time(threads.out));
    }
    // On a network of links too, with a slow rank: no two ranks' messages meet in a ring. Where they may, it says so.
    const std::string ring = "collective --ranks 4 --bytes 40000 --topology ring --slow 2:3";
    const Outcome threads = lockstep_command(ring + " --comm in_process"),
                  processes = mpirun("-np 4 lockstep " + ring + " --comm mpi");
    CHECK(processes.status == 0);
    CHECK(virtual_time(processes.out) == virtual_time(threads.out));
    CHECK(virtual_time(processes.out) != virtual_time(lockstep_command("collective --ranks 4 --bytes 40000 --topology ring "
                                                                       "--comm in_process")
                                                          .out));
    CHECK(processes.out.find("processes do not know of each other's messages") != std::string::npos);
    for (const char* operation : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all"}) {
        const Outcome library =
            mpirun(fmt::format("-np 3 lockstep collective --ranks 3 --bytes 12000 --op {} --comm mpi --library", operation));
        INFO(operation << library.err);
        CHECK(library.status == 0);
        CHECK(library.out.find("ran on 3 processes") != std::string::npos);
    }
}

TEST_CASE("under mpirun a deadlock says who waits for whom, and a rank that dies is named") {
    if (!has_mpi()) return;
    const std::string half =
        "-np 1 lockstep collective --ranks 2 --op broadcast --algorithm tree --bytes 400 --comm mpi --timeout 1 --root ";
    const Outcome crossed = mpirun(half + "1 : " + half + "0");
    CHECK(crossed.status != 0);
    CHECK(crossed.err.find("deadlock after 1 s: rank 0 waits for rank 1; rank 1 waits for rank 0") != std::string::npos);
    const Outcome counts = mpirun("-np 2 lockstep collective --ranks 3 --bytes 12 --comm mpi");
    CHECK(counts.status == 2);
    CHECK(counts.err.find("died: mpirun started 2 processes and --ranks says 3: mpirun -np 3 would do") !=
          std::string::npos);
}

TEST_CASE("training on ranks that disagree says so, with layer, rank and step") {
    const std::string train = "train --model mlp --data digits --dp 2 --steps 3 --batch 32 ";
    const Outcome rate = lockstep_command(train + "--on-rank 1:lr=0.4");
    INFO(rate.err << rate.out);
    CHECK(rate.status == 0);
    CHECK(rate.err.find("warning: ranks disagree after step 0: fc1.weight of rank 1 is not that of rank 0 (") !=
          std::string::npos);
    CHECK(rate.err.find("rank 1 was told lr 0.4 and the others 0.1") != std::string::npos);
    CHECK(rate.out.find("why it fails: ranks disagree after step 0") != std::string::npos);
    const Outcome flipped = lockstep_command(train + "--on-rank 1:flip=fc2.bias@1 --json -");
    const std::string second = flipped.out.substr(flipped.out.find('\n') + 1);
    const auto json = nlohmann::json::parse(second.substr(0, second.find('\n')));
    CHECK(json["step"] == 1);
    CHECK(json["causes"][0]["name"] == "ranks_disagree");
    CHECK(json["causes"][0]["layer"] == "fc2");
    CHECK(lockstep_command(train).err.empty());
    refuses(train + "--on-rank 1:bucket-mb=0.1", "in step 0 collective 1 over dp (ranks 0 and 1) is broadcast of");
    refuses(train + "--on-rank 5:lr=1", "there are ranks 0 to 1");
    refuses(train + "--on-rank lr=1", "write RANK:OPTION=VALUE");
}

TEST_CASE("under mpirun processes that were started with unlike options are refused before the first step") {
    if (!has_mpi()) return;
    const std::string train = "-np 1 lockstep train --model mlp --data digits --dp 2 --steps 2 --batch 32 --comm mpi ";
    const Outcome unlike = mpirun(train + "--lr 0.1 : " + train + "--lr 0.2");
    CHECK(unlike.status != 0);
    CHECK(
        unlike.err.find("ranks disagree before the first step: rank 1 was started with --lr 0.2 and rank 0 with --lr 0.1") !=
        std::string::npos);
    const std::string both = "--on-rank 1:flip=fc1.weight@1 ";
    const Outcome flipped = mpirun(
        "-np 2 lockstep train --model mlp --data digits --dp 2 --steps 3 --batch 32 --comm mpi "
        "--own-steps " +
        both);
    INFO(flipped.err);
    CHECK(flipped.status == 0);
    CHECK(flipped.err.find("warning: ranks disagree after step 1: fc1.weight of rank 1 is not that of rank 0") !=
          std::string::npos);
}

TEST_CASE("under mpirun the JSON lines and the trace hold every rank, as threads give them") {
    if (!has_mpi()) return;
    const auto file = [](const char* name) { return (scratch() / name).string(); };
    const std::string train = "train --model mlp --steps 2 --dp 2 --zero 1 ";
    const Outcome processes = mpirun("-np 2 lockstep " + train + "--comm mpi --own-steps --json " + file("mpi.jsonl") +
                                     " --trace " + file("mpi.json"));
    INFO(processes.err);
    REQUIRE(processes.status == 0);
    REQUIRE(lockstep_command(train + "--json " + file("threads.jsonl") + " --trace " + file("threads.json")).status == 0);
    std::ifstream a(file("mpi.jsonl")), b(file("threads.jsonl"));
    int lines = 0;
    for (std::string one, other; std::getline(a, one) && std::getline(b, other); ++lines) {
        const auto got = nlohmann::json::parse(one), expected = nlohmann::json::parse(other);
        REQUIRE(got["ranks"].size() == 2);
        CHECK(got["loss"] == expected["loss"]);
        for (size_t rank = 0; rank < 2; ++rank)
            for (const char* key : {"rank", "sent", "kept_bytes", "peak_bytes"})
                CHECK(got["ranks"][rank][key] == expected["ranks"][rank][key]);
    }
    CHECK(lines == 2);
    CHECK(lockstep::read_file(file("mpi.json")).value() == lockstep::read_file(file("threads.json")).value());
}

TEST_CASE("without NCCL or a GPU a sentence says what to install") {
    const Outcome run = lockstep_command("collective --ranks 1 --bytes 4 --comm nccl");
    if (run.status == 0) return;  // it is there
    CHECK(run.status == 3);
    CHECK((run.err.find("install libnccl2") != std::string::npos || run.err.find("NVIDIA") != std::string::npos));
}

TEST_CASE("a server and workers that are processes of mpirun take the updates that threads take") {
    if (!has_mpi()) return;
    const std::string run =
        "train --model mlp --dp 2 --batch 16 --steps 3 --async --on-rank 1:slow=2 --staleness 1 --json - ";
    const auto updates_of = [](const std::string& text) { return text.substr(0, text.rfind("{\"asynchronous\"")); };
    const Outcome threads = lockstep_command(run), processes = mpirun("-np 3 lockstep " + run + "--comm mpi");
    INFO(processes.out << processes.err);
    REQUIRE(threads.status == 0);
    REQUIRE(processes.status == 0);
    CHECK(updates_of(threads.out).size() > 100);
    CHECK(updates_of(threads.out) == updates_of(processes.out));
    const Outcome few = mpirun("-np 2 lockstep " + run + "--comm mpi");
    CHECK(few.status == 2);
    CHECK(few.err.find("2 workers and their server are 3 ranks, but 2 run: mpirun -np 3 would do") != std::string::npos);
}

}  // namespace cli_collective_test
