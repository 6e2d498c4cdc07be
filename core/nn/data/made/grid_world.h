// A small maze for a policy to learn: cells of '.', '#' (wall), 'S' (start), 'G' (goal) and 'X' (pit). Each step costs a
// little; the goal and a pit end the episode, and so does the horizon. A state is a cell's number, row by row.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/rng.h"

namespace lockstep::nn {

struct GridWorld {
    static constexpr int actions = 4;  // up, right, down, left
    int rows = 0, columns = 0, start = 0;
    std::string cells;  // [rows * columns]
    double step_reward = -0.02, goal_reward = 1, pit_reward = -1;
    double slip = 0.1;  // chance that a step goes to one side instead, either side alike
    int horizon = 60;   // steps of an episode at most

    int states() const { return rows * columns; }
    struct Outcome {
        int state = 0;
        double reward = 0;
        bool done = false;  // at the goal or in a pit; the horizon is the caller's to count
    };
    Outcome step(int state, int action, Rng& rng) const;
    // One number in a row of zeros, [states]: what a network sees of a state.
    void observe(int state, std::span<float> out) const;
};

GridWorld grid_world();  // 6 x 7, two pits on the short way
// Lines of equal length, one S, at least one G. 1 to 4096 cells.
Result<GridWorld> parse_grid_world(std::string_view text, const std::string& name);

// The mean return of the best policy from the start, undiscounted, within the horizon: by dynamic programming from the
// last step back, exactly. And what always drawing one of the four actions gets.
double best_return(const GridWorld& world);
double random_return(const GridWorld& world);

}  // namespace lockstep::nn
