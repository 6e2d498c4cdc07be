// The command line's training: train, experiment, checkpoints and what they hold.
#include <sys/resource.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "tests/cli/support.h"

namespace cli_training_test {

using namespace lockstep;
namespace fs = std::filesystem;

TEST_CASE("train prints one JSON object a step on stdout and nothing else") {
    const Outcome outcome = lockstep_command("train --model mlp --data digits --device host --steps 3 --batch 8 --json -");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    std::istringstream lines(outcome.out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        const auto json = nlohmann::json::parse(line);
        CHECK(json["step"] == count);
        CHECK(json["loss"].get<double>() > 0);
        CHECK(json.contains("test_accuracy") == (count == 2));
    }
    CHECK(count == 3);
}

TEST_CASE("train shows the cheaper forms of a model beside f32, as a table and as JSON", "[long]") {
    const Outcome table =
        lockstep_command("train --model mlp --steps 40 --batch 16 --quantize int8 --prune magnitude:0.5+2:4");
    INFO(table.out << table.err);
    CHECK(table.status == 0);
    for (const char* part : {"int8 of mlp on digits", "int8 weights, per channel", "int8, per channel, 99.9 %",
                             "pruning of mlp", "magnitude 50 %, tuned", "2:4, tuned", "accuracy", "operations"})
        CHECK(table.out.find(part) != std::string::npos);
    const Outcome json = lockstep_command("train --model mlp --steps 20 --batch 16 --dtype bf16 --compare --json -");
    CHECK(json.status == 0);
    const auto parsed = nlohmann::json::parse(json.out);
    REQUIRE(parsed["rows"].size() == 2);
    CHECK(parsed["rows"][1]["method"] == "bf16");
    CHECK(parsed["rows"][1]["stored_ratio"] == 0.5);
    const Outcome modes = lockstep_command("train --model mlp --mode each --steps 10 --batch 8 --json -");
    REQUIRE(modes.status == 0);
    const auto each = nlohmann::json::parse(modes.out);
    CHECK(each["same_bits"] == true);
    REQUIRE(each["modes"].size() == 3);
    for (size_t i = 1; i < 3; ++i) CHECK(each["modes"][i]["launches"] < each["modes"][i - 1]["launches"]);
    refuses("train --model mlp --mode each --steps 1", "no step of mode graph was replayed in 1 steps: --steps 6 or more");
    refuses("train --model mlp --device meta --steps 1", "device meta counts and computes nothing");
    refuses("train --model mlp --dropout 0.1 --steps 1", "model mlp drops no values while it learns: gcn, gpt, llama do");
    refuses("train --model gpt --dropout 2 --steps 1", "--dropout");
    refuses("train --model llama --dp 2 --dropout 0.1 --steps 1", "--dropout works on one rank");
    refuses("train --model mlp --quantize int4", "--quantize int4: it is int8");
    refuses("train --model mlp --prune magnitude:1.5", "a share from 0 to below 1 is needed, not '1.5'");
    refuses("train --model mlp --prune random", "magnitude:SHARES, layer:SHARES or 2:4");
    refuses("train --model mlp --distill nobody", "unknown model 'nobody'");
    refuses("train --model kmeans --steps 1 --lora 8", "model kmeans has no batches of examples");
}

TEST_CASE("a pruned run and one with adapters begin with a checkpoint's weights, and resume to the same bits") {
    const auto folder = [](const char* name) { return (scratch() / name).string(); };
    const auto trained = [](const std::string& arguments) {
        const Outcome outcome = lockstep_command("train " + arguments);
        INFO("train " << arguments << "\n" << outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    };
    const auto hash = [](const std::string& kept) {
        const auto head = nlohmann::json::parse(lockstep::read_file(kept + "/checkpoint.json").value());
        return head["tensors"]["fnv1a64"].get<std::string>() + head["step"].dump();
    };
    const std::string base = folder("form_base"), whole = folder("form_whole"), parts = folder("form_parts");
    trained("--model mlp --batch 8 --steps 3 --save " + base);
    for (const char* form : {"--prune 2:4", "--prune layer:0.75", "--lora 4 --lora-alpha 8 --optimizer adamw --lr 0.001"}) {
        const std::string begin = "--resume " + base + " " + form + " --planned-steps 5 ";
        const std::string said = trained(begin + "--steps 5 --save " + whole);
        INFO(form << "\n" << said);
        CHECK(said.find(form[2] == 'l'   ? "adapters of rank 4, which alone learn"
                        : form[8] == '2' ? "pruned by 2:4: 50816 of 101632 weights stay"
                                         : "pruned by layer:0.75: 25408 of 101632 weights stay") != std::string::npos);
        trained(begin + "--steps 2 --save " + parts);
        trained("--resume " + parts + " --steps 3 --save " + parts + " --mode fused");
        CHECK(hash(parts) == hash(whole));
        CHECK(hash(whole) != hash(base));
        refuses("train --resume " + whole + " --dp 2 --steps 1", "its weights are pruned or have adapters");
    }
    refuses("train --resume " + whole + " --lora 4 --steps 1", "the checkpoint has adapters already");
    refuses("train --model lenet5 --resume " + base + " --prune 2:4 --steps 1", "the checkpoint is of 'mlp', not of lenet5");
    refuses("train --resume " + base + " --prune 2:4+layer:0.5", "a run of its own is pruned in one way");
    refuses("train --resume " + base + " --prune magnitude", "a run of its own is pruned in one way");
    refuses("train --resume " + base + " --quantize int8", "comparisons of cheaper forms are neither saved nor resumed");
    refuses("train --model mlp --prune 2:4 --save " + base, "--prune and --lora are saved with --resume alone");
    refuses("train --resume " + base + " --lora 5000", "a rank of 5000");
}

TEST_CASE("where a checkpoint has no room the command says so, and the one before goes on to be resumed") {
    const std::string folder = (scratch() / "no_room").string();
    REQUIRE(lockstep_command("train --model mlp --batch 8 --steps 2 --save " + folder).status == 0);
    struct rlimit before {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    struct rlimit small = before;
    small.rlim_cur = 100'000;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const Outcome full = lockstep_command("train --resume " + folder + " --steps 1 --save " + folder);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    INFO(full.err);
    CHECK(full.status > 0);
    CHECK(full.status < 100);
    CHECK(full.err.find("File too large") != std::string::npos);
    CHECK(lockstep_command("train --resume " + folder + " --steps 1").out.find("goes on after step 2") != std::string::npos);
}

TEST_CASE("training saved and resumed by command gives the losses of training that was not stopped") {
    const auto losses = [](const std::string& arguments) {
        const Outcome outcome = lockstep_command("train " + arguments + " --json -");
        INFO("train " << arguments << "\n" << outcome.err);
        REQUIRE(outcome.status == 0);
        std::istringstream lines(outcome.out);
        std::string all;
        for (std::string line; std::getline(lines, line);) {
            const auto json = nlohmann::json::parse(line);
            all += json["step"].dump() + " " + json["loss"].dump() + " " + json["learning_rate"].dump() + "\n";
        }
        return all;
    };
    const std::string folder = (scratch() / "kept").string(), options = "--model lstm --batch 4 --schedule cosine";
    const std::string whole = losses(options + " --steps 6"),
                      first = losses(options + " --steps 3 --planned-steps 6 --save " + folder + " --save-every 2");
    CHECK(first + losses("--resume " + folder) == whole);
    CHECK(first + losses("--resume " + folder + "/checkpoint.json --steps 3 --save " + folder) == whole);
    refuses("train --resume " + folder, "the checkpoint is after step 6, the end of its plan: --steps N trains N more");
    refuses("train --model mlp --resume " + folder, "kept: error: the checkpoint is of a run with model 'lstm', not 'mlp'");
    refuses("train --batch 8 --steps 1 --resume " + folder, "a run with batch '4', not '8'");
    refuses("train --steps 1", "--model is needed, or --resume");
    refuses("train --model mlp --steps 1 --resume " + folder + "/none", "no such file");
    refuses("train --model mlp --steps 1 --save-every 1", "--save-every needs --save");
    refuses("train --model mlp --steps 1 --save /dev/null/x", "/dev/null/x: error: no checkpoint can be saved there");
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".safetensors") fs::resize_file(entry.path(), 100);
    refuses("train --steps 1 --resume " + folder, "at byte 100: it has 100 bytes, but checkpoint.json says");
}

TEST_CASE("an experiment says of every run where it came to, and which one diverged") {
    const auto json = nlohmann::json::parse(lockstep_command("experiment learning_rates --json -").out);
    CHECK(json["experiment"] == "learning_rates");
    REQUIRE(json["trials"].size() == 3);
    CHECK(json["trials"][1]["accuracy"].get<double>() > 0.95);
    CHECK(json["trials"][0]["diverged"] == false);
    CHECK(json["trials"][2]["diverged"] == true);
    CHECK(json["trials"][2]["peak_loss"].get<double>() > 10);
    refuses("experiment batch_size", "unknown experiment 'batch_size', did you mean 'batch_sizes'?");
}

TEST_CASE("tensors lists a checkpoint's, and refuses a file that lies with the offset and the reason") {
    const std::string folder = (scratch() / "listed").string();
    REQUIRE(lockstep_command("train --model mlp --steps 2 --save " + folder).status == 0);
    const Outcome listed = lockstep_command("tensors " + folder);
    CHECK(listed.status == 0);
    CHECK(listed.out.find("fc1.weight") != std::string::npos);
    CHECK(listed.out.find("[128, 784]") != std::string::npos);
    CHECK(listed.out.find("4 tensors, 407080 bytes") != std::string::npos);

    const auto file = [](const std::string& header, const std::string& data) {
        std::string bytes(8, '\0');
        for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((header.size() >> (8 * i)) & 255);
        return bytes + header + data;
    };
    const std::string whole =
        write("w.safetensors", file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", std::string(8, '\0')));
    CHECK(lockstep_command("tensors " + whole).status == 0);
    const std::string hole =
        write("h.safetensors", file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", std::string(12, '\0')));
    const std::string long_header = write("l.safetensors", std::string(8, '\x7f') + "{}");
    for (const std::string& bad : {hole, long_header}) {
        const Outcome refused = lockstep_command("tensors " + bad);
        CHECK(refused.status == 2);
        CHECK(refused.err.find("at byte ") != std::string::npos);
    }
    CHECK(lockstep_command("tensors " + write("x.bin", "x")).status == 2);
}

TEST_CASE("training says how far ahead its batches are made, and how long it waited for them") {
    const Outcome run = lockstep_command("train --model mlp --steps 6 --json -");
    REQUIRE(run.status == 0);
    std::istringstream lines(run.out);
    int steps = 0;
    double waited = 0;
    for (std::string line; std::getline(lines, line); ++steps) {
        const auto loader = nlohmann::json::parse(line).at("loader");
        CHECK(loader.at("ahead").get<int>() <= 3);  // as many as are kept: what was taken is not among them
        CHECK(loader.at("waited_seconds").get<double>() >= waited);
        waited = loader.at("waited_seconds").get<double>();
    }
    CHECK(steps == 6);
    const Outcome text = lockstep_command("train --model mlp --steps 6");
    CHECK(text.out.find("ms waited for batches in all (measured)") != std::string::npos);
}

TEST_CASE("Ctrl-C ends a training after the step under way, with its test figures, and on a modelled GPU within it") {
    const std::string ended = "timeout --foreground --preserve-status -s INT 2 " + std::string(LOCKSTEP_BINARY);
    const std::string saved = (scratch() / "interrupted").string();
    const Outcome host = shell(ended + " train --model mlp --steps 10000000 --save " + saved);
    INFO(host.out << host.err);
    CHECK(host.status == 130);
    CHECK(host.out.find("test set after step ") != std::string::npos);
    CHECK(host.out.find(": saved in ") != std::string::npos);
    CHECK(host.err.find("stopped by Ctrl-C after ") != std::string::npos);
    CHECK(lockstep_command("train --resume " + saved + " --steps 1").status == 0);
    const Outcome simulated = shell(ended + " train --model lenet5 --device sim:v100 --steps 1000");
    INFO(simulated.out << simulated.err);
    CHECK(simulated.status == 130);
    CHECK(simulated.err.find(" of 1000 steps") != std::string::npos);
    const Outcome ranks = shell(ended + " train --model mlp --dp 2 --steps 1000000");
    INFO(ranks.out << ranks.err);
    CHECK(ranks.status == 130);
    CHECK(ranks.out.find("test set after step ") != std::string::npos);
    const Outcome server = shell(ended + " train --model mlp --dp 2 --async --steps 1000000");
    INFO(server.out << server.err);
    CHECK(server.status == 130);
    CHECK(server.out.find("test set after ") != std::string::npos);
    CHECK(server.out.find(": 1000000 in ") == std::string::npos);  // beside it stand as many steps as there were
    CHECK(server.err.find(" of 2000000 updates") != std::string::npos);
}

TEST_CASE("Ctrl-C ends a tensor program with the steps that it made, and a comparison with its rows") {
    const std::string ended = "timeout --foreground --preserve-status -s INT 2 " + std::string(LOCKSTEP_BINARY);
    const std::string program = write("long.tape",
                                      "steps 500\nparam x[64,64] = 0.01\nparam w[64,64] = 0.001\ny = matmul(x, w)\n"
                                      "y2 = matmul(y, w)\nl = mean(y2^2)\nbackward l\nupdate 0.001\n");
    const std::string kept = (scratch() / "stopped.json").string();
    const Outcome tape = shell(ended + " tape " + program + " --device sim:v100 --json " + kept);
    INFO(tape.out << tape.err);
    CHECK(tape.status == 130);
    CHECK(tape.out.find("the last would have been 499; so far (executed)\n  step    0  loss ") != std::string::npos);
    CHECK(tape.out.find("\n  w            value ") != std::string::npos);
    const auto json = nlohmann::json::parse(read_file(kept).value());
    CHECK(json["stopped"] == true);
    CHECK(json["loss"].size() > 0);
    CHECK(json["loss"].size() < 500);
    const Outcome pruned = shell(ended + " train --model mlp --steps 20 --tune-steps 10000000 --prune 2:4");
    INFO(pruned.out << pruned.err);
    CHECK(pruned.status == 130);
    CHECK(pruned.err.find("stopped by Ctrl-C while 2:4 was being trained, after step ") != std::string::npos);
    CHECK(pruned.out.find("\nf32 ") != std::string::npos);
    CHECK(pruned.out.find("\n2:4 ") != std::string::npos);
}

TEST_CASE("train --async says each update, how stale they were, and what synchronous steps take") {
    const std::string run = "train --model mlp --dp 3 --batch 24 --steps 4 --async --on-rank 2:slow=3 ";
    const Outcome text = lockstep_command(run + "--compare");
    INFO(text.out << text.err);
    REQUIRE(text.status == 0);
    for (const char* part : {"update      0  worker  0  batch     0  staleness  0",
                             "3 workers of h100 and a server: 12 updates", "updates by staleness",
                             " at most; pushes take the server's port for ", "synchronous steps of the same batches take ",
                             "waiting for the slowest: 4 in ", "Equal: batches, rate, first weights; it takes 3 updates",
                             "test set after 12 updates: loss ", "test set after 4 synchronous steps: loss "})
        CHECK(text.out.find(part) != std::string::npos);
    const Outcome lines = lockstep_command(run + "--staleness 1 --json -");
    REQUIRE(lines.status == 0);
    std::istringstream each(lines.out);
    std::vector<nlohmann::json> all;
    for (std::string line; std::getline(each, line);) all.push_back(nlohmann::json::parse(line));
    REQUIRE(all.size() == 13);
    CHECK(all[0]["worker"] == 0);
    CHECK(all[11]["update"] == 11);
    const auto& end = all[12]["asynchronous"];
    CHECK(end["updates"] == 12);
    CHECK(end["bound"] == 1);
    CHECK(end["held_us"].get<double>() > 0);
    int64_t counted = 0;
    for (const auto& count : end["by_staleness"]) counted += count.get<int64_t>();
    CHECK(counted == 12);
    CHECK(end["port_share"].get<double>() > 0);
    CHECK(end["port_share"].get<double>() < 1);
    const double step = all[12]["synchronous"]["step_us"], four = all[12]["synchronous"]["end_us"];
    CHECK(four > 3.9 * step);  // steps overlap a little at their ends
    CHECK(four < 5 * step);
    CHECK(all[12]["synchronous"]["waiting_share"].get<double>() > 0.2);  // two of three wait for the third
    CHECK(lockstep_command(run + "--staleness 1 --json -").out.substr(0, lines.out.rfind("{\"asyn")) ==
          lines.out.substr(0, lines.out.rfind("{\"asyn")));
}

TEST_CASE("train --async saves what its server holds, traces it, and refuses in one sentence what it cannot do") {
    const std::string saved = (scratch() / "from_server").string(), trace = (scratch() / "server.txt").string();
    const Outcome run =
        lockstep_command("train --model mlp --dp 2 --batch 16 --steps 3 --async --save " + saved + " --trace " + trace);
    INFO(run.out << run.err);
    REQUIRE(run.status == 0);
    CHECK(read_file(trace).value().find("server") != std::string::npos);
    const Outcome on = lockstep_command("train --resume " + saved + " --dp 2 --steps 2 --async");
    INFO(on.out << on.err);
    CHECK(on.status == 0);
    CHECK(on.out.find("batch     3") != std::string::npos);
    CHECK(lockstep_command("train --resume " + saved + " --steps 2").status == 0);
    const std::string two = "train --model mlp --dp 2 --batch 16 --steps 1 ";
    refuses(two + "--staleness 1", "--staleness bounds workers that do not wait for each other: add --async");
    refuses(two + "--async --zero 1", "leave out --zero and --offload");
    refuses(two + "--async --on-rank 1:lr=0.2", "a worker is told slow=FACTOR and nothing else");
    refuses(two + "--async --on-rank 1:slow=fast", "slow is how many times as long its work takes, as in 1:slow=2");
    refuses(two + "--on-rank 2:slow=2", "there are ranks 0 to 1");
    refuses(two + "--async --evaluate-every 1", "it evaluates and saves at its end");
    refuses(two + "--async --compare-ranks 2", "--compare-ranks: with --async workers hold what they fetched");
    refuses(two + "--async --staleness -1", "--staleness");
    // Minutes of a worker a million times as slow are told as such.
    const Outcome slow = lockstep_command("train --model mlp --dp 2 --batch 64 --steps 10 --async --on-rank 1:slow=1e6");
    CHECK(slow.out.find("20 updates in 338.47 s, 0.0591 a second") != std::string::npos);
    CHECK(slow.out.find(".-") == std::string::npos);
    refuses("train --model resnet8 --dp 2 --steps 1 --async", "keeps statistics of batch norm");
}

}  // namespace cli_training_test
