#include "core/nn/data/made/grid_world.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
// Where a step leads that does not slip; walls and the edge leave it where it is.
int neighbour(const GridWorld& world, int state, int direction) {
    constexpr int down[] = {-1, 0, 1, 0}, right[] = {0, 1, 0, -1};
    const int row = state / world.columns + down[direction], column = state % world.columns + right[direction];
    if (row < 0 || row >= world.rows || column < 0 || column >= world.columns) return state;
    const int next = row * world.columns + column;
    return world.cells[static_cast<size_t>(next)] == '#' ? state : next;
}

GridWorld::Outcome arrive(const GridWorld& world, int state) {
    const char cell = world.cells[static_cast<size_t>(state)];
    if (cell == 'G') return {state, world.step_reward + world.goal_reward, true};
    if (cell == 'X') return {state, world.step_reward + world.pit_reward, true};
    return {state, world.step_reward, false};
}

// The three directions that an action may become, and how likely each is.
std::array<std::pair<int, double>, 3> directions(const GridWorld& world, int action) {
    return {{{action, 1 - world.slip}, {(action + 1) % 4, world.slip / 2}, {(action + 3) % 4, world.slip / 2}}};
}

// Value of the start with `horizon` steps to go, where `choose` combines the four actions' values.
template <class Choose>
double value_of_start(const GridWorld& world, Choose choose) {
    std::vector<double> value(static_cast<size_t>(world.states()), 0.0), before = value;
    for (int left = 0; left < world.horizon; ++left) {
        for (int state = 0; state < world.states(); ++state) {
            std::array<double, 4> of_action = {};
            for (int action = 0; action < GridWorld::actions; ++action)
                for (const auto& [direction, chance] : directions(world, action)) {
                    const auto outcome = arrive(world, neighbour(world, state, direction));
                    of_action[static_cast<size_t>(action)] +=
                        chance * (outcome.reward + (outcome.done ? 0 : value[static_cast<size_t>(outcome.state)]));
                }
            before[static_cast<size_t>(state)] = choose(of_action);
        }
        std::swap(value, before);
    }
    return value[static_cast<size_t>(world.start)];
}
}  // namespace

GridWorld::Outcome GridWorld::step(int state, int action, Rng& rng) const {
    double draw = rng.uniform();
    int direction = action;
    for (const auto& [way, chance] : directions(*this, action)) {
        direction = way;
        if (draw < chance) break;
        draw -= chance;
    }
    return arrive(*this, neighbour(*this, state, direction));
}

void GridWorld::observe(int state, std::span<float> out) const {
    std::fill(out.begin(), out.end(), 0.0f);
    out[static_cast<size_t>(state)] = 1;
}

Result<GridWorld> parse_grid_world(std::string_view text, const std::string& name) {
    GridWorld world;
    int starts = 0, goals = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        if (end - at > 4096) return refusal(name, at + 4096, "it has more than 4096 cells");
        if (world.rows == 0) world.columns = static_cast<int>(end - at);
        if (end - at != static_cast<size_t>(world.columns)) return refusal(name, at, "its lines are not equally long");
        for (size_t i = at; i < end; ++i) {
            const char cell = text[i];
            if (std::string_view(".#SGX").find(cell) == std::string_view::npos)
                return refusal(name, i, "a cell is none of '.', '#', 'S', 'G' and 'X'");
            if (cell == 'S') world.start = static_cast<int>(world.cells.size());
            starts += cell == 'S';
            goals += cell == 'G';
            world.cells += cell;
            if (world.cells.size() > 4096) return refusal(name, i, "it has more than 4096 cells");
        }
        ++world.rows;
        at = end + 1;
        if (world.columns == 0) break;
    }
    if (starts != 1 || goals < 1)
        return refusal(name, text.size(), fmt::format("it has {} S and {} G: one S and a G are needed", starts, goals));
    return world;
}

GridWorld grid_world() {
    return parse_grid_world(
               ".......\n"
               ".##.##.\n"
               "S..X..G\n"
               ".#...#.\n"
               ".##X##.\n"
               ".......\n",
               "grid-world")
        .value();
}

double best_return(const GridWorld& world) {
    return value_of_start(
        world, [](const std::array<double, 4>& of_action) { return *std::max_element(of_action.begin(), of_action.end()); });
}

double random_return(const GridWorld& world) {
    return value_of_start(world, [](const std::array<double, 4>& v) { return (v[0] + v[1] + v[2] + v[3]) / 4; });
}

}  // namespace lockstep::nn
