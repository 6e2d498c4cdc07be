// Ranks that disagree: what each was told otherwise, and what is said of it.
#include "core/parallel/train/agreement.h"

#include "core/base/diagnostic.h"
#include "core/parallel/train/trainer.h"
#include "tests/parallel/support.h"

namespace parallel_agreement_test {

using namespace parallel_test;
using Catch::Matchers::Contains;

namespace {
ParallelOptions options_for(const ParallelPlan& plan, std::vector<ToldRank> told, const std::string& model = "mlp") {
    ParallelOptions options;
    options.training.model = model;
    options.training.batch = 24;
    options.plan = plan;
    options.told = std::move(told);
    options.steps = 6;
    return options;
}

// The first cause within `steps`.
std::optional<nn::Cause> first_cause(const ParallelOptions& options, int steps = 6) {
    ParallelTrainer trainer(options);
    for (int i = 0; i < steps; ++i)
        if (std::optional<nn::Cause> cause = trainer.step().disagreement) return cause;
    return std::nullopt;
}

std::string failure_of(const ParallelOptions& options) {
    try {
        first_cause(options);
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return "";
}
}  // namespace

TEST_CASE("ranks that do the same agree, whatever the plan") {
    for (const ParallelPlan& plan :
         {ParallelPlan{.dp = 3}, ParallelPlan{.dp = 2, .zero = 1}, ParallelPlan{.dp = 2, .zero = 3},
          ParallelPlan{.dp = 2, .pp = 2, .microbatches = 2}, ParallelPlan{.dp = 2, .tp = 2}})
        CHECK_FALSE(first_cause(options_for(plan, {}), 3));
    CHECK_FALSE(first_cause(options_for({.tp = 2, .pp = 2, .microbatches = 2}, {}, "llama"), 2));
}

TEST_CASE("a rank with another learning rate is told with layer, rank and step") {
    const auto cause = first_cause(options_for({.dp = 3}, {{1, "lr", "0.5"}}));
    REQUIRE(cause);
    CHECK(cause->name == "ranks_disagree");
    CHECK(cause->step == 0);
    CHECK(cause->layer == "fc1");
    CHECK_THAT(cause->text, Contains("ranks disagree after step 0: fc1.weight of rank 1 is not that of ranks 0 and 2 ("));
    CHECK_THAT(cause->text, Contains("of 100,352 elements; [0, "));
    CHECK_THAT(cause->text, Contains("nor are 3 more parameters; rank 1 was told lr 0.5 and the others 0.1"));
    CHECK_THAT(cause->advice, Contains("same options"));
}

TEST_CASE("a bit that turns over in one rank's memory is told in the step in which it does") {
    const auto cause = first_cause(options_for({.dp = 3}, {{2, "flip", "fc2.weight@3"}}));
    REQUIRE(cause);
    CHECK(cause->step == 3);
    CHECK(cause->layer == "fc2");
    CHECK_THAT(cause->text,
               Contains("after step 3: fc2.weight of rank 2 is not that of ranks 0 and 1 (1 of 1,280 elements; [5, 0] is"));
    ParallelOptions rarely = options_for({.dp = 3}, {{2, "flip", "fc2.weight@1"}});
    rarely.compare_every = 3;
    const auto later = first_cause(rarely);
    REQUIRE(later);
    CHECK(later->step == 2);
    CHECK_THAT(later->text, Contains("after step 2 (they began alike): fc2.weight"));
    rarely.compare_every = 0;
    CHECK_FALSE(first_cause(rarely));
}

TEST_CASE("what tensor-parallel ranks hold alike is compared too") {
    const auto cause = first_cause(options_for({.tp = 2}, {{1, "lr", "0.5"}}, "llama"), 1);
    REQUIRE(cause);
    CHECK_THAT(cause->text, Contains("of rank 1 is not that of rank 0"));
    CHECK_THAT(cause->text, Contains("rank 1 was told lr 0.5"));
}

TEST_CASE("collectives that ranks do not call alike are told with rank, group and layer") {
    const std::string buckets = failure_of(options_for({.dp = 2}, {{1, "bucket-mb", "0.1"}}));
    CHECK_THAT(buckets, Contains("in step 0 collective 1 over dp (ranks 0 and 1) is broadcast of"));
    CHECK_THAT(buckets, Contains("on rank 0 and broadcast of"));
    CHECK_THAT(buckets, Contains("parameters of fc1.weight to fc2.bias"));
    // One worker has a batch less.
    ParallelOptions fewer = options_for({.dp = 2}, {});
    fewer.batches_of_worker = {3, 2};
    const std::string ended = failure_of(fewer);
    CHECK_THAT(ended, Contains("rank 0 waits for rank 1, which has finished"));
    CHECK_THAT(ended, Contains("in step 2 collective 1 over dp (ranks 0 and 1), all_reduce of") &&
                          Contains("rank 1 does not come to"));
    // Parts of a batch that one rank reduces by themselves.
    const std::string micro = failure_of(options_for({.dp = 2, .zero = 2, .microbatches = 2}, {{1, "microbatches", "4"}}));
    CHECK_THAT(micro, Contains("in step 0 collective"));
    CHECK_THAT(micro, Contains("on rank 0 and"));
}

TEST_CASE("what a rank is told is read with care") {
    CHECK(told_rank("1:lr=0.2") == ToldRank{1, "lr", "0.2"});
    CHECK_THROWS_WITH(told_rank("lr=0.2"), Contains("write RANK:OPTION=VALUE"));
    CHECK_THROWS_WITH(ParallelTrainer(options_for({.dp = 2}, {{2, "lr", "0.2"}})), Contains("there are ranks 0 to 1"));
    CHECK_THROWS_WITH(ParallelTrainer(options_for({.dp = 2}, {{1, "lrr", "0.2"}})), Contains("did you mean --lr?"));
    CHECK_THROWS_WITH(ParallelTrainer(options_for({.dp = 2}, {{1, "lr", "fast"}})), Contains("--lr cannot be 'fast'"));
    CHECK_THROWS_WITH(ParallelTrainer(options_for({.dp = 2}, {{1, "flip", "fc2.wieght@1"}})),
                      Contains("rank 1 has no parameter fc2.wieght, did you mean 'fc2.weight'?"));
    CHECK_THROWS_WITH(ParallelTrainer(options_for({.dp = 2}, {{1, "flip", "fc2.weight"}})),
                      Contains("write PARAMETER@STEP"));
    CHECK_THROWS_WITH(ParallelTrainer(options_for({.dp = 2}, {{1, "dp", "3"}})), Contains("of the whole run"));
}

TEST_CASE("digests survive being sent as text") {
    const RankDigests digests = {{"fc1.weight", 1, 2, 0, {0, 12}, 0xffffffffffffffffu, 0.1},
                                 {"fc1.bias", -1, 1, 0, {4, 8}, 3, 2}};
    const RankDigests read = digests_of_text(text_of(digests));
    REQUIRE(read.size() == 2);
    CHECK(read[0].name == "fc1.weight");
    CHECK(read[0].checksum == 0xffffffffffffffffu);
    CHECK(read[0].largest == 0.1);
    CHECK(read[1].piece == comm::Piece{4, 8});
}

}  // namespace parallel_agreement_test
