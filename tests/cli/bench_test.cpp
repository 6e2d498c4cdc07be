// What `lockstep bench` makes of its rows.
#include <vector>

#include "app/cli/measure/torch_bench.h"
#include "tests/catch.h"

namespace lockstep::cli {
namespace bench_test {

TEST_CASE("the lead of training is that of the fastest mode over the fastest of the other frameworks") {
    const std::vector<BenchRow> rows = {
        {"train/gpt/1", 18, "steps/s", ""},
        {"train/gpt/fused/1", 20, "steps/s", ""},
        {"train/gpt/2", 90, "steps/s", ""},
        {"train/gpt/1/torch", 8, "steps/s", ""},
        {"train/gpt/1/torch-compiled", 10, "steps/s", ""},
        {"train/gpt/1/jax", 9, "steps/s", ""},
        {"train/llama/1", 30, "steps/s", ""},
        {"train/mlp512/2/jax", 100, "steps/s", ""},
    };
    const std::vector<BenchRow> leads = training_leads(rows);
    REQUIRE(leads.size() == 1);  // of llama and mlp512 there are rows of one side alone
    CHECK(leads[0].name == "train/gpt/1/lead");
    CHECK(leads[0].value == 2);
    CHECK(leads[0].config.find("train/gpt/fused/1") != std::string::npos);
    CHECK(leads[0].config.find("train/gpt/1/torch-compiled") != std::string::npos);
}

}  // namespace bench_test
}  // namespace lockstep::cli
