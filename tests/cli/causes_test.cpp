// What is wrong with a training, a tensor program, a collective or a schedule of one's own, as a user reads it.
#include <nlohmann/json.hpp>

#include "tests/cli/support.h"

namespace cli_causes_test {

namespace {
bool says(const std::string& text, const std::string& words) {
    INFO(text);
    return text.find(words) != std::string::npos;
}
}  // namespace

TEST_CASE("a wrong collective is told with its rank, chunk and round, and one change that mends it") {
    const std::string ring = write("ring.collective",
                                   "own ranks=3 chunks=3\n"
                                   "round 1: 0>1:0+ 1>2:1+\n"
                                   "round 2: 0>1:2+ 1>2:0+ 2>0:1+\n"
                                   "round 3: 0>1:1 1>2:2 2>0:0\n"
                                   "round 4: 0>1:0 1>2:1 2>0:2\n");
    const Outcome wrong = lockstep_command("collective --file " + ring);
    CHECK(wrong.status == 1);
    CHECK(says(wrong.out, "3 ranks, 3 chunks, 4 rounds"));
    CHECK(says(wrong.err,
               "ring.collective:4:16: error: chunk 2 of ranks 0, 1 and 2 lacks rank 2's part: rank 1 passes it on "
               "in round 3 (1>2:2) when it holds the parts of ranks 0 and 1 alone"));
    CHECK(says(wrong.err, "advice: add the message 2>0:2+ to round 1"));
    const Outcome json = lockstep_command("collective --file " + ring + " --json -");
    const auto told = nlohmann::json::parse(json.out);
    CHECK(told["right"] == false);
    REQUIRE(told["wrong"].size() == 1);
    CHECK(told["wrong"][0]["chunk"] == 2);
    CHECK(told["wrong"][0]["round"] == 3);
    CHECK(told["wrong"][0]["lacks"] == nlohmann::json::array({2}));
    CHECK(told["wrong"][0]["line"] == 4);
    CHECK(told["rounds"].size() == 4);

    // A network whose links have no names at one end.
    CHECK(lockstep_command("collective --ranks 4 --topology ideal --json -").status == 0);

    const std::string right = write("right.collective",
                                    "own ranks=3 chunks=3\n"
                                    "round 1: 0>1:0+ 1>2:1+ 2>0:2+\n"
                                    "round 2: 0>1:2+ 1>2:0+ 2>0:1+\n"
                                    "round 3: 0>1:1 1>2:2 2>0:0\n"
                                    "round 4: 0>1:0 1>2:1 2>0:2\n");
    const Outcome good = lockstep_command("collective --file " + right);
    CHECK(good.status == 0);
    CHECK(good.err.empty());
    CHECK(says(good.out, "every chunk is the sum on every rank"));
}

TEST_CASE("a collective that adds twice, or forgets a plus, is told by its message") {
    const Outcome twice = lockstep_command(
        "collective --file " + write("twice.collective", "own ranks=2 chunks=1\nround 1: 0>1:0+\nround 2: 1>0:0+\n"));
    CHECK(twice.status == 1);
    CHECK(says(twice.err,
               "twice.collective:3:10: error: rank 0's chunk 0 counts rank 0's part more than once: round 2's 1>0:0+ "
               "adds rank 0's part to rank 0's sum, which holds it from the beginning"));
    CHECK(says(twice.err, "advice: write 1>0:0 in place of 1>0:0+ in round 2"));
    const Outcome plus = lockstep_command(
        "collective --file " + write("plus.collective", "own ranks=2 chunks=1\nround 1: 0>1:0\nround 2: 1>0:0\n"));
    CHECK(plus.status == 1);
    CHECK(says(plus.err, "lacks rank 1's part"));
    CHECK(says(plus.err, "advice: write 0>1:0+ in place of 0>1:0 in round 1"));
}

TEST_CASE("lists that cannot be read are refused at their line and column") {
    refuses("collective --file " + write("bad.collective", "own ranks=2\nround 1: 0>1:0 0>>1\n"),
            "bad.collective:2:16: error: '0>>1'");
    refuses("collective --file " + write("bad2.collective", "own ranks=two\nround 1: 0>1:0\n"),
            "bad2.collective:1:5: error:");
    refuses("schedule --file " + write("bad.schedule", "own ranks=1 microbatches=2\nrank 0: F1 X2\n"),
            "bad.schedule:2:12: error: rank 0: 'X2'");
    refuses("collective --file " + write("bad3.collective", "own ranks=2\nround 1: 0>1:0\n") + " --ranks 3", "write ranks=");
    refuses("schedule --file nowhere.schedule", "nowhere.schedule");
    refuses("schedule --kind gpipe", "--stages, --microbatches required, or --file");
}

TEST_CASE("a schedule that waits for ever is told by who waits for what") {
    const std::string file = write("gaps.schedule",
                                   "own ranks=2 microbatches=4\n"
                                   "rank 0: F1 B1 F2 B2 F3 B3 F4 B4\n"
                                   "rank 1: F2 B2 F1 B1 F3 B3 F4 B4\n");
    const Outcome wrong = lockstep_command("schedule --file " + file);
    CHECK(wrong.status == 1);
    CHECK(says(wrong.err,
               "gaps.schedule:3:9: error: this schedule cannot run: the ranks wait for each other for ever: rank 0 "
               "stands at B1 and waits for rank 1's B1; rank 1 stands at F2 and waits for rank 0's F2"));
    CHECK(says(wrong.err, "advice: let rank 0 run F2 before B1, or let rank 1 run F1 and B1 before F2"));
    const auto told = nlohmann::json::parse(lockstep_command("schedule --file " + file + " --json -").out);
    CHECK(told["right"] == false);
    CHECK(told["wrong"][0]["line"] == 3);
    CHECK(told["wrong"][0]["ranks"] == nlohmann::json::array({0, 1}));

    const Outcome missing =
        lockstep_command("schedule --file " +
                         write("missing.schedule", "own ranks=2 microbatches=2\nrank 0: F1 F2 B1\nrank 1: F1 B1 F2 B2\n"));
    CHECK(missing.status == 1);
    CHECK(says(missing.err, "missing.schedule:2:15: error: this schedule cannot run: rank 0's list has no B2"));

    const Outcome good =
        lockstep_command("schedule --file " +
                         write("good.schedule", "own ranks=2 microbatches=2\nrank 0: F1 F2 B1 B2\nrank 1: F1 B1 F2 B2\n"));
    CHECK(good.status == 0);
    CHECK(says(good.out, "total 9 units"));
    CHECK(good.err.empty());
}

TEST_CASE("a tensor program that learns nothing is told which op stops its gradient") {
    const Outcome dead = lockstep_command("tape " + write("deadrelu.tape",
                                                          "steps 20\n"
                                                          "input x[4,2] = {0,0,0,1,1,0,1,1}\n"
                                                          "input t[4,1] = {0,1,1,0}\n"
                                                          "param w1[2,2] = 0\n"
                                                          "param w2[2,1] = 0\n"
                                                          "h = relu(matmul(x, w1))\n"
                                                          "y = matmul(h, w2)\n"
                                                          "l = mean((y - t)^2)\n"
                                                          "backward l\n"
                                                          "update 0.5\n"));
    CHECK(dead.status == 0);
    CHECK(says(dead.err, "deadrelu.tape:7:1: warning: in step 19 all gradients are zero, so nothing is learned"));
    CHECK(says(dead.err, "since h (relu) gives 0 for all 8 elements (w1 is all zeros)"));
    CHECK(says(dead.err, "since w2 is all zeros"));
    CHECK(says(dead.err, "advice: let w1 and w2 begin with different random numbers"));
    const std::string line =
        "steps 30\ninput x[3,1] = {1,2,3}\ninput t[3,1] = {2,4,6}\nparam w[1,1] = 0\n"
        "l = mean((matmul(x, w) - t)^2)\nbackward l\nupdate ";
    const Outcome grown = lockstep_command("tape " + write("grown.tape", line + "1\n"));
    CHECK(says(grown.err, "grown.tape:7:1: warning: the training diverged: from step 1 on the loss grew"));
    CHECK(says(grown.err, "advice: update 0.125: with it the loss goes from"));
    CHECK(lockstep_command("tape " + write("fine.tape", line + "0.1\n")).err.empty());
    const Outcome crawling = lockstep_command("tape " + write("crawling.tape", line + "0.00000001\n"));
    CHECK(says(crawling.err, "crawling.tape:7:1: warning: the updates of 1e-08 are too small: in 30 steps the loss went"));
    CHECK(says(crawling.err, "advice: update 0.001: with it the loss goes to"));
    const Outcome broken =
        lockstep_command("tape lessons/B03_custom_operator/root.tape");  // an infinity that nothing led to
    CHECK(says(broken.err, "the first value that is not finite"));
    CHECK_FALSE(says(broken.err, "diverged"));
}

TEST_CASE("a training that diverges says why, in words and in its JSON") {
    const Outcome run = lockstep_command("train --model spirals --lr 100 --steps 40 --nan warn");
    CHECK(run.status == 0);
    CHECK(says(run.err, "warning: the training diverged"));
    CHECK(says(run.err, "advice: "));
    CHECK(says(run.out, "why it fails: the training diverged"));
    const Outcome json = lockstep_command("train --model spirals --lr 100 --steps 40 --nan warn --json -");
    const std::string last = json.out.substr(json.out.rfind('\n', json.out.size() - 2) + 1);
    const auto told = nlohmann::json::parse(last);
    REQUIRE(told.contains("causes"));
    CHECK(told["causes"][0]["name"] == "diverged");
    const Outcome healthy = lockstep_command("train --model spirals --steps 60");
    CHECK(healthy.err.empty());
    CHECK_FALSE(says(healthy.out, "why it fails"));
}

}  // namespace cli_causes_test
