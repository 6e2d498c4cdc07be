// Attention as a grid: its scores and shares are those of a softmax worked out another way, its tiles count as they should,
// and the lesson's picture reads at any size and tells nothing while its question is open.
#include "app/gui/views/tensor/attention/attention_grid.h"

#include <algorithm>
#include <cmath>

#include "tests/gui/lesson_desk.h"

namespace gui_attention_grid_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("a grid of attention has the scores of its product and the shares of its softmax") {
    const auto step = step_of(R"(
input x[12,8] = random
param Wq[8,8] = normal 0.8
param Wk[8,8] = normal 0.8
Q = matmul(x, Wq)
K = matmul(x, Wk)
S = 0.35 * matmul_t(Q, K)
P = causal_softmax(S)
O = matmul(P, x)
)");
    const auto grids = attention_grids(*step);
    REQUIRE(grids.size() == 1);
    const AttentionGrid& grid = grids.front();
    REQUIRE(grid.causal);
    CHECK(grid.scores_name == "S");
    CHECK(grid.shares_name == "P");
    CHECK(grid.mixed_name == "O");
    CHECK(grid.masked() == 12 * 11 / 2);
    const auto values = [&](const char* name) -> const std::vector<float>& {
        for (const nn::GraphNode& node : step->nodes)
            if (node.name == name) return *node.value;
        FAIL(name);
        return *step->nodes.front().value;
    };
    for (int64_t q = 0; q < 12; ++q) {
        double sum = 0, shares = 0;
        std::vector<double> scores;
        for (int64_t k = 0; k <= q; ++k) {
            double dot = 0;
            for (size_t i = 0; i < 8; ++i)
                dot += static_cast<double>(values("Q")[static_cast<size_t>(q) * 8 + i]) *
                       static_cast<double>(values("K")[static_cast<size_t>(k) * 8 + i]);
            scores.push_back(0.35 * dot);
            sum += std::exp(scores.back());
        }
        for (int64_t k = 0; k < 12; ++k) {
            INFO(q << " looks at " << k);
            CHECK(grid.sees(q, k) == (k <= q));
            shares += static_cast<double>(grid.share(q, k));
            if (k > q) {
                CHECK(grid.share(q, k) == 0);
                continue;
            }
            CHECK(static_cast<double>(grid.score(q, k)) ==
                  Approx(scores[static_cast<size_t>(k)]).epsilon(1e-4).margin(1e-5));
            CHECK(static_cast<double>(grid.share(q, k)) ==
                  Approx(std::exp(scores[static_cast<size_t>(k)]) / sum).epsilon(1e-4));
        }
        CHECK(shares == Approx(1).epsilon(1e-5));
        // Tile by tile the sum ends as the whole row's, whatever the tile.
        const auto row = std::span<const float>(grid.scores).subspan(static_cast<size_t>(q) * 12, 12);
        const double largest = *std::max_element(row.begin(), row.begin() + q + 1);
        for (const int64_t tile : {1, 2, 3, 4, 5, 12}) {
            const auto tiles = running_softmax(row, q + 1, tile);
            CHECK(tiles.size() == static_cast<size_t>((12 + tile - 1) / tile));
            CHECK(tiles.back().largest == Approx(largest));
            CHECK(tiles.back().sum == Approx(sum * std::exp(-largest)).epsilon(1e-4));
            CHECK(tiles.back().sum == Approx(whole_sum(row, q + 1)).epsilon(1e-9));
        }
    }
}

TEST_CASE("of n by n tiles a causal mask takes n (n - 1) / 2 whole, never half") {
    for (const int64_t tile : {1, 4, 16})
        for (const int64_t across : {1, 2, 4, 8, 32, 128}) {
            const SkippedTiles tiles = skipped_tiles(across * tile, tile);
            CHECK(tiles.all == across * across);
            CHECK(tiles.skipped == across * (across - 1) / 2);
            CHECK(tiles.share() < 0.5);
        }
    CHECK(skipped_tiles(10, 4).skipped == 3);  // a last tile that is not full
}

TEST_CASE("the lesson on sequences shows scores, shares when they have run and are answered, and skipped tiles") {
    Desk desk({.lesson = "B06", .lesson_step = 2});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("9 scores: each query times each key"));
    CHECK(said_by(desk, "scores").find("query 3: 1 1 2") != std::string::npos);
    CHECK(said_by(desk, "scores").find("%") == std::string::npos);  // the next step asks for the shares
    reads_at_any_size(desk);
    go_to(desk, 3);
    CHECK(desk.session.learn.reveal_steps >= 0);
    CHECK(said_by(desk, "scores").find("57.6") == std::string::npos);
    CHECK_FALSE(desk.shows("sum so far"));
    answer(desk, 3);
    CHECK(said_by(desk, "scores").find("query 3: 1 (21 %) 1 (21 %) 2 (58 %)") != std::string::npos);
    CHECK(desk.shows("Place 3 looks most at itself: 58 %"));
    CHECK(desk.shows("the row's sum: 12.8"));  // e^2 and twice e: how the lesson tells it
    CHECK_FALSE(desk.shows("sum so far"));
    CHECK_FALSE(desk.shows("largest so far"));
    reads_at_any_size(desk);
    // Tile by tile only for who asks for it.
    const auto chip = std::find_if(desk.written.begin(), desk.written.end(),
                                   [](const UiState::Written& text) { return text.text == "whole row"; });
    REQUIRE(chip != desk.written.end());
    const auto one = std::find_if(chip, desk.written.end(), [](const UiState::Written& text) { return text.text == "1"; });
    REQUIRE(one != desk.written.end());
    desk.click(one->ink.x + one->ink.w / 2, one->ink.y + one->ink.h / 2);
    CHECK(desk.shows("sum so far"));
    CHECK(desk.shows("the whole row at once: sum 1.736"));  // 1 + 2 / e
    reads_at_any_size(desk);
    go_to(desk, 5);
    CHECK(desk.shows("120 of 256 scores are masked: nobody looks ahead"));
    CHECK(desk.shows("6 of 16, 37.5 %"));
    CHECK(desk.shows("8,128 of 16,384, 49.6 %"));
    desk.size(1280, 720, 1);  // a line of the row stands whole or not at all
    desk.frames(3);
    CHECK(desk.shows("the row's sum"));
    CHECK_FALSE(desk.shows("e to the score"));
    CHECK(desk.shows("share, %"));
    desk.size(1600, 1000, 1);
    reads_at_any_size(desk);
}

}  // namespace gui_attention_grid_test
