#include "app/gui/views/training/tape_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <map>

#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {

using nn::GraphNode;
using nn::StepRecord;

namespace {

bool is_tape_op(const GraphNode& node) {
    return node.kind == GraphNode::Kind::op || node.kind == GraphNode::Kind::loss;
}
int last_launch_of(const std::vector<int>& launches, int before) {
    int last = before;
    for (const int launch : launches) last = std::max(last, launch);
    return last;
}

// The parameters that are updated in a player's turn, in the order of their updates.
std::vector<const GraphNode*> updated_in(const StepRecord& step, int turn) {
    std::vector<const GraphNode*> updated;
    for (const GraphNode& node : step.nodes)
        if (node.turn == turn && !node.update_launches.empty()) updated.push_back(&node);
    std::stable_sort(updated.begin(), updated.end(), [](const GraphNode* a, const GraphNode* b) {
        return a->update_launches.back() < b->update_launches.back();
    });
    return updated;
}

// How many parts a node's gradient has, and when the last of them has arrived.
void note_when_complete(const StepRecord& step, TapePlan& plan) {
    for (const GraphNode& node : step.nodes) {
        if (!node.went_back) continue;
        for (const int input : node.inputs) {
            const auto from = static_cast<size_t>(input);
            if (!step.nodes[from].requires_grad) continue;
            ++plan.parts[from];
            plan.complete_at[from] = std::max(plan.complete_at[from], plan.back_at[static_cast<size_t>(node.id)]);
        }
    }
    // Where backward begins, the gradient is 1.
    for (const GraphNode& node : step.nodes)
        if (node.went_back && plan.parts[static_cast<size_t>(node.id)] == 0)
            plan.complete_at[static_cast<size_t>(node.id)] = plan.back_at[static_cast<size_t>(node.id)];
}

}  // namespace

int TapePlan::of_launch(int launch) const {
    if (launch < 0) return last();
    for (size_t i = 0; i < moments.size(); ++i)
        if (moments[i].launch >= launch) return static_cast<int>(i);
    return last();
}

int TapePlan::last_forward() const {
    int at = -1;
    while (at < last() && moments[static_cast<size_t>(at + 1)].kind == Moment::Kind::forward) ++at;
    return at;
}

int tape_position(const Session& session, const Focus& focus, const TapePlan& tape) {
    const int at = session.training.tape_at;
    if (at >= 0 && at <= tape.last() && tape.moments[static_cast<size_t>(at)].launch == focus.launch) return at;
    return tape.of_launch(focus.launch);
}

namespace {

// The moments at which the values and gradients are known that a question asks for: the first and the last of them.
struct AskedMoments {
    int first = INT_MAX, last = -1;
};
AskedMoments asked_moments(const lessons::Predict& predict, const StepRecord& step, const TapePlan& tape) {
    AskedMoments asked;
    for (const scene::FigureName& figure : predict.of.names()) {
        if (!figure.place("scene").empty()) continue;
        const bool gradient = figure.base.starts_with("d.");
        const std::string name = gradient ? figure.base.substr(2) : figure.base;
        for (const GraphNode& node : step.nodes) {
            if (node.name != name && !node.name.starts_with(name + "[")) continue;
            const auto id = static_cast<size_t>(node.id);
            const int at = gradient ? tape.complete_at[id] : tape.forward_at[id];
            if (at < 0) continue;
            asked.first = std::min(asked.first, at);
            asked.last = std::max(asked.last, at);
        }
    }
    return asked;
}

}  // namespace

int told_moment(const Session& session, const StepRecord& step, const TapePlan& tape) {
    const LessonState& state = session.lesson;
    if (!state.lesson || state.step < 0) return -1;
    const auto now = static_cast<size_t>(state.step);
    const scene::Scene* const scene = lessons::scene_at(*state.lesson, now);
    if (scene == nullptr || scene->tape.empty()) return -1;
    int told = -1;
    for (size_t s = 0; s < std::min({now, state.lesson->steps.size(), state.predictions.size()}); ++s) {
        const scene::Scene* const before = lessons::scene_at(*state.lesson, s);
        const auto& given = state.predictions[s];
        if (before == nullptr || before->tape != scene->tape ||
            std::any_of(given.begin(), given.end(), [](const auto& one) { return !one.locked; }))
            continue;
        const size_t launch = before->focus.find("launch:");
        told = std::max(told, launch == std::string::npos ? tape.last_forward()
                                                          : tape.of_launch(std::atoi(before->focus.c_str() + launch + 7)));
        for (const lessons::Predict& predict : state.lesson->steps[s].predicts)
            told = std::max(told, asked_moments(predict, step, tape).last);
    }
    if (now < state.lesson->steps.size() && now < state.predictions.size())
        for (size_t i = 0; i < std::min(state.lesson->steps[now].predicts.size(), state.predictions[now].size()); ++i)
            if (!state.predictions[now][i].locked)
                told = std::min(told, asked_moments(state.lesson->steps[now].predicts[i], step, tape).first - 1);
    return told;
}

int32_t tape_line(const Session& session, const Snapshot& snapshot, const Focus& focus) {
    if (!snapshot.tape || !snapshot.training.step || snapshot.training.step->nodes.empty()) return -1;
    const TapePlan tape = plan_tape(*snapshot.training.step);
    const int at = tape_position(session, focus, tape);
    if (at < 0) return -1;
    const auto node = static_cast<size_t>(tape.moments[static_cast<size_t>(at)].node);
    const auto& lines = snapshot.tape->line_of_node;
    return node < lines.size() ? lines[node] : -1;
}

void go_to_tape_line(Session& session, const Snapshot& snapshot, Focus& focus, int32_t line) {
    if (!snapshot.tape || !snapshot.training.step || snapshot.training.step->nodes.empty() ||
        session.learn.reveal_steps >= 0)
        return;
    const TapePlan tape = plan_tape(*snapshot.training.step);
    const auto& lines = snapshot.tape->line_of_node;
    const int now = tape_position(session, focus, tape);
    for (size_t i = std::min(lines.size(), snapshot.training.step->nodes.size()); i-- > 0;) {
        if (lines[i] != line) continue;
        const int forward = tape.forward_at[i], back = tape.back_at[i];
        int to = forward >= 0 ? forward : tape.complete_at[i];
        if (forward >= 0 && now == forward && back >= 0) to = back;
        if (to < 0) continue;
        session.playing = false;
        session.grain = Grain::node;
        session.training.tape_at = to;
        focus.op = static_cast<int32_t>(i);
        const int launch = tape.moments[static_cast<size_t>(to)].launch;
        if (launch == focus.launch) return;
        focus.launch = launch;
        if (launch >= 0 && snapshot.training.step->launches[static_cast<size_t>(launch)].run)
            session.post(ask::OpenKernel{launch});
        return;
    }
}

namespace {

// What an op writes in place was recorded behind it, so that it is known no sooner: the running statistics of batch norm.
void note_written(const GraphNode& node, TapePlan& plan) {
    if (node.row == nullptr || (node.attributes && !node.attributes->training)) return;
    const size_t first = node.inputs.size() - std::min(node.inputs.size(), node.row->written_inputs);
    for (size_t i = first; i < node.inputs.size(); ++i)
        plan.forward_at[static_cast<size_t>(node.inputs[i])] = plan.forward_at[static_cast<size_t>(node.id)];
}

}  // namespace

TapePlan plan_tape(const StepRecord& step) {
    TapePlan plan;
    const size_t count = step.nodes.size();
    plan.forward_at.assign(count, -1);
    plan.back_at = plan.complete_at = plan.update_at = plan.forward_at;
    plan.parts.assign(count, 0);
    int turns = 1, launch = -1;
    for (const GraphNode& node : step.nodes) turns = std::max(turns, node.turn + 1);
    const auto add = [&](Moment::Kind kind, int node, const std::vector<int>& launches) {
        launch = last_launch_of(launches, launch);
        plan.moments.push_back({kind, node, launch});
        return plan.last();
    };
    for (int turn = 0; turn < turns; ++turn) {
        for (const GraphNode& node : step.nodes)
            if (node.turn == turn && is_tape_op(node)) {
                plan.forward_at[static_cast<size_t>(node.id)] = add(Moment::Kind::forward, node.id, node.forward_launches);
                note_written(node, plan);
            }
        for (size_t id = count; id-- > 0;)
            if (const GraphNode& node = step.nodes[id]; node.turn == turn && is_tape_op(node) && node.went_back)
                plan.back_at[id] = add(Moment::Kind::backward, node.id, node.backward_launches);
        for (const GraphNode* node : updated_in(step, turn))
            plan.update_at[static_cast<size_t>(node->id)] = add(Moment::Kind::update, node->id, node->update_launches);
    }
    note_when_complete(step, plan);
    return plan;
}

std::string layer_of(const std::string& name) {
    if (const size_t open = name.find('['); open != std::string::npos) {
        const size_t close = name.find(']', open);
        if (close != std::string::npos) return "place " + name.substr(open + 1, close - open - 1);
    }
    const size_t end = name.find_first_of(". ");
    if (end == std::string::npos) return name;
    const std::string first = name.substr(0, end);
    if (name[end] == '.' && first == "layers") return name.substr(0, name.find_first_of(". ", end + 1));
    return first;
}

namespace {

struct OpRun {
    std::string key;
    std::vector<int> nodes;
};

std::vector<OpRun> unfolded(std::vector<OpRun> runs, const std::set<std::string>& open) {
    std::vector<OpRun> shown;
    for (OpRun& run : runs) {
        if (run.nodes.size() == 1 || !open.contains(run.key)) {
            shown.push_back(std::move(run));
            continue;
        }
        for (const int node : run.nodes) shown.push_back({run.key, {node}});
    }
    return shown;
}

bool reads_parameter(const StepRecord& step, const GraphNode& node) {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](int input) { return step.nodes[static_cast<size_t>(input)].kind == GraphNode::Kind::parameter; });
}

bool is_numbered(const std::string& layer) {
    return layer.starts_with("layers.") || layer.starts_with("place ");
}

// Whether a node may join a run of another layer: small runs without parameters of their own, outside of numbered layers.
bool joins_another(const StepRecord& step, const OpRun& run, const GraphNode& node, const std::string& layer,
                   const std::string& own) {
    return run.nodes.size() < 4 && !reads_parameter(step, node) && !is_numbered(own) && !is_numbered(layer);
}

// Neighbours on the tape that belong together. Runs of neighbours cannot close a circle.
std::vector<OpRun> runs_of(const StepRecord& step, int level, const std::set<std::string>& open) {
    std::vector<OpRun> all;
    std::string before;
    int turn = 0, counted = 0;
    for (const GraphNode& node : step.nodes) {
        if (!is_tape_op(node)) continue;
        std::string key = layer_of(node.name);
        const bool single = level == 0 || node.kind == GraphNode::Kind::loss || node.op == "softmax_cross_entropy";
        const bool beside = !single && !all.empty() && node.turn == turn && !before.empty();
        if (beside && (key == before || (level == 2 && joins_another(step, all.back(), node, before, key)))) {
            all.back().nodes.push_back(node.id);
            continue;
        }
        before = single ? std::string() : key;
        turn = node.turn;
        all.push_back({key + "#" + std::to_string(counted++), {node.id}});
    }
    return unfolded(std::move(all), open);
}

std::string run_title(const StepRecord& step, const OpRun& run) {
    const std::string layer = run.key.substr(0, run.key.rfind('#'));
    if (layer.rfind("layers.", 0) == 0) return "layer " + layer.substr(7);
    const std::string last = layer_of(step.nodes[static_cast<size_t>(run.nodes.back())].name);
    return last == layer ? layer : layer + " .. " + last;
}

struct GraphCells {  // which cells are taken
    std::map<std::pair<int, int>, bool> taken;
    bool free(int column, int row, int high) const {
        for (int i = 0; i < high; ++i)
            if (taken.contains({column, row + i})) return false;
        return true;
    }
    int take(int column, int wish, int high) {
        int row = wish;
        while (!free(column, row, high)) ++row;
        for (int i = 0; i < high; ++i) taken[{column, row + i}] = true;
        return row;
    }
};

}  // namespace

std::string graph_op_title(const GraphNode& node) {
    return node.op == "softmax_cross_entropy" ? "softmax CE" : node.op == "add_bias" ? "add bias" : node.op;
}

namespace {

// The boxes of ops: one op, or a run of neighbours that is folded.
void add_op_boxes(GraphPlan& plan, const StepRecord& step, int level, const std::set<std::string>& open) {
    for (const OpRun& run : runs_of(step, level, open)) {
        GraphBox box;
        box.nodes = run.nodes;
        box.key = run.nodes.size() > 1 || open.contains(run.key) ? run.key : "";
        box.shown = run.nodes.back();
        const GraphNode& shown = step.nodes[static_cast<size_t>(box.shown)];
        box.title = box.folded()                    ? run_title(step, run)
                    : step.model.ends_with(".tape") ? shown.name  // as its line calls it
                                                    : graph_op_title(shown);
        for (const int node : run.nodes) plan.box_of[static_cast<size_t>(node)] = static_cast<int>(plan.boxes.size());
        plan.boxes.push_back(std::move(box));
    }
}

// By node that is no op: the boxes that read it.
std::vector<std::vector<int>> readers_of_leaves(const GraphPlan& plan, const StepRecord& step) {
    std::vector<std::vector<int>> readers(step.nodes.size());
    for (const GraphNode& node : step.nodes)
        for (const int input : node.inputs) {
            auto& list = readers[static_cast<size_t>(input)];
            const int box = plan.box_of[static_cast<size_t>(node.id)];
            if (box >= 0 && !is_tape_op(step.nodes[static_cast<size_t>(input)]) &&
                std::find(list.begin(), list.end(), box) == list.end())
                list.push_back(box);
        }
    return readers;
}

// Parameters of a folded layer are inside it; the other leaves are boxes of their own.
void add_leaf_boxes(GraphPlan& plan, const StepRecord& step) {
    const auto readers = readers_of_leaves(plan, step);
    for (const GraphNode& node : step.nodes) {
        const auto& list = readers[static_cast<size_t>(node.id)];
        if (is_tape_op(node) || list.empty()) continue;
        const bool data =
            node.kind == GraphNode::Kind::input && node.name.find('.') == std::string::npos;  // no frozen weight
        const bool inside =
            !data && std::all_of(list.begin(), list.end(), [&](int b) { return plan.boxes[size_t(b)].folded(); });
        if (inside) continue;
        GraphBox box;
        box.nodes = {node.id};
        box.shown = node.id;
        box.title = node.name;
        box.leaf = !data && list.size() == 1;
        plan.box_of[static_cast<size_t>(node.id)] = static_cast<int>(plan.boxes.size());
        plan.boxes.push_back(std::move(box));
    }
}

// One wire between two boxes, of all the tape's edges between them.
void add_wires(GraphPlan& plan, const StepRecord& step) {
    const auto bytes_into = [&](int node, size_t input) {
        return step.nodes[static_cast<size_t>(step.nodes[static_cast<size_t>(node)].inputs[input])].bytes;
    };
    std::map<std::pair<int, int>, size_t> known;
    for (const GraphNode& node : step.nodes)
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            const int to = plan.box_of[static_cast<size_t>(node.id)],
                      from = plan.box_of[static_cast<size_t>(node.inputs[i])];
            if (to < 0 || from < 0 || to == from) continue;
            const int64_t bytes = bytes_into(node.id, i);
            const auto [place, fresh] = known.try_emplace({from, to}, plan.wires.size());
            if (fresh) {
                plan.wires.push_back({from, to, bytes, node.id, static_cast<int>(i), false});
                continue;
            }
            GraphWire& wire = plan.wires[place->second];
            if (bytes > bytes_into(wire.node, static_cast<size_t>(wire.input)))
                wire.node = node.id, wire.input = static_cast<int>(i);
            wire.bytes += bytes;
            wire.many = true;
        }
}

// An op is as far from the beginning as the longest way there; the next player's turn stands right of the one before.
void place_op_columns(GraphPlan& plan, const StepRecord& step, size_t ops) {
    int turn = 0, turn_begins = 0, widest = 0;
    for (size_t b = 0; b < ops; ++b) {
        if (const int own = step.nodes[static_cast<size_t>(plan.boxes[b].shown)].turn; own != turn)
            turn = own, turn_begins = widest + 2;
        plan.boxes[b].column = turn_begins;
        for (const GraphWire& wire : plan.wires)
            if (wire.to == static_cast<int>(b) && wire.from < static_cast<int>(ops))
                plan.boxes[b].column = std::max(plan.boxes[b].column, plan.boxes[static_cast<size_t>(wire.from)].column + 1);
        widest = std::max(widest, plan.boxes[b].column);
    }
}

// What is read first stands left of its reader, which moves to the right where that is the first column; a leaf stands under
// its reader.
void place_leaf_columns(GraphPlan& plan, size_t ops) {
    const auto first_reader = [&](size_t box) {  // its column; -1: nobody reads it
        int first = -1;
        for (const GraphWire& wire : plan.wires)
            if (wire.from == static_cast<int>(box) && (first < 0 || plan.boxes[static_cast<size_t>(wire.to)].column < first))
                first = plan.boxes[static_cast<size_t>(wire.to)].column;
        return first;
    };
    bool shift = false;
    for (size_t b = ops; b < plan.boxes.size(); ++b) shift = shift || (!plan.boxes[b].leaf && first_reader(b) == 0);
    for (size_t b = 0; b < ops && shift; ++b) ++plan.boxes[b].column;
    for (size_t b = ops; b < plan.boxes.size(); ++b)
        plan.boxes[b].column = plan.boxes[b].leaf ? first_reader(b) : std::max(0, first_reader(b) - 1);
}

// An op stands beside what it reads, with its leaves under it.
void place_rows(GraphPlan& plan, size_t ops) {
    GraphCells grid;
    std::vector<std::vector<int>> leaves(ops);
    for (const GraphWire& wire : plan.wires)
        if (plan.boxes[static_cast<size_t>(wire.from)].leaf) leaves[static_cast<size_t>(wire.to)].push_back(wire.from);
    for (size_t b = ops; b < plan.boxes.size(); ++b)
        if (!plan.boxes[b].leaf) plan.boxes[b].row = grid.take(plan.boxes[b].column, 0, 1);
    for (size_t b = 0; b < ops; ++b) {
        GraphBox& box = plan.boxes[b];
        int wish = -1;
        for (const GraphWire& wire : plan.wires)
            if (wire.to == static_cast<int>(b) && !plan.boxes[static_cast<size_t>(wire.from)].leaf)
                wish = wish < 0 ? plan.boxes[static_cast<size_t>(wire.from)].row
                                : std::min(wish, plan.boxes[static_cast<size_t>(wire.from)].row);
        box.row = grid.take(box.column, std::max(0, wish), 1 + static_cast<int>(leaves[b].size()));
        for (size_t i = 0; i < leaves[b].size(); ++i)
            plan.boxes[static_cast<size_t>(leaves[b][i])].row = box.row + 1 + static_cast<int>(i);
    }
}

}  // namespace

GraphPlan arrange_graph(const StepRecord& step, int level, const std::set<std::string>& open) {
    GraphPlan plan;
    plan.box_of.assign(step.nodes.size(), -1);
    add_op_boxes(plan, step, level, open);
    const size_t ops = plan.boxes.size();
    add_leaf_boxes(plan, step);
    add_wires(plan, step);
    place_op_columns(plan, step, ops);
    place_leaf_columns(plan, ops);
    place_rows(plan, ops);
    for (const GraphBox& box : plan.boxes) {
        plan.columns = std::max(plan.columns, box.column + 1);
        plan.rows = std::max(plan.rows, box.row + 1);
    }
    return plan;
}

int level_that_fits(const StepRecord& step, int columns) {
    for (int level = 0; level < 2; ++level)
        if (arrange_graph(step, level, {}).columns <= columns) return level;
    return 2;
}

std::string element_text(const std::vector<int64_t>& shape, int64_t element) {
    if (element < 0 || shape.empty()) return "";
    std::string text;
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    if (count <= 1) return "";
    for (const int64_t extent : shape) {
        count /= std::max<int64_t>(1, extent);
        text += (text.empty() ? "[" : ",") + std::to_string(element / count);
        element %= count;
    }
    return text + "]";
}

double root_mean_square(const std::vector<float>& values) {
    double sum = 0;
    for (const float v : values) sum += static_cast<double>(v) * static_cast<double>(v);
    return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

double RootMeanSquares::of(const std::vector<float>& values) {
    const auto [known, fresh] = known_.try_emplace(&values, 0.0);
    if (fresh) known->second = root_mean_square(values);
    return known->second;
}

}  // namespace lockstep::gui
