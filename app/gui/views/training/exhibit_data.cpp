#include "app/gui/views/training/exhibit_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/nn/data/made/grid_world.h"
#include "core/nn/data/made/points.h"
#include "core/tensor/op.h"

namespace lockstep::gui {

using nn::GraphNode;
using nn::StepRecord;

namespace {

const GraphNode* exhibit_node(const StepRecord& step, std::string_view name) {
    const GraphNode* found = nullptr;
    for (const GraphNode& node : step.nodes)
        if (node.name == name && node.value) found = &node;
    return found;
}
std::vector<std::pair<float, float>> pairs_of(const nn::Values& values) {
    std::vector<std::pair<float, float>> pairs;
    for (size_t i = 0; values && i + 1 < values->size(); i += 2) pairs.emplace_back((*values)[i], (*values)[i + 1]);
    return pairs;
}

// The range that holds all but one in two hundred of the dots of the first cloud, and all of the small ones.
void fit_axes(Exhibit& it) {
    std::vector<float> xs, ys;
    for (const Exhibit::Cloud& cloud : it.clouds)
        for (const auto& [x, y] : cloud.dots)
            if (std::isfinite(x) && std::isfinite(y)) xs.push_back(x), ys.push_back(y);
    if (xs.empty()) return;
    const auto range = [](std::vector<float>& values, float& low, float& high) {
        std::sort(values.begin(), values.end());
        const size_t cut = values.size() / 400;
        low = values[cut];
        high = values[values.size() - 1 - cut];
        const float room = std::max(1e-3f, (high - low) * 0.06f);
        low -= room;
        high += room;
    };
    range(xs, it.low_x, it.high_x);
    range(ys, it.low_y, it.high_y);
}

Exhibit gan_of(const StepRecord& step) {
    Exhibit it{.kind = Exhibit::Kind::scatter};
    const GraphNode *points = exhibit_node(step, "points"), *made = exhibit_node(step, "generator.fc3 add");
    if (!points || !made) return {};
    it.title = "Points and what the generator makes";
    it.clouds = {{.name = "points of the set", .dots = pairs_of(points->value), .color = 7},
                 {.name = "made from noise", .dots = pairs_of(made->value), .color = 0, .radius = 2}};
    it.right = fmt::format("{} each", it.clouds[0].dots.size());
    it.caption = fmt::format(
        "At step {} the generator turns {} draws of noise into these points. Its coverage is judged by more "
        "points, of the mean of its latest weights.",
        step.step, it.clouds[1].dots.size());
    fit_axes(it);
    // The set's frame: what flies far outside is cut rather than the picture shrunk.
    Exhibit frame;
    frame.clouds = {it.clouds[0]};
    fit_axes(frame);
    it.low_x = frame.low_x - 0.5f, it.high_x = frame.high_x + 0.5f, it.low_y = frame.low_y - 0.5f,
    it.high_y = frame.high_y + 0.5f;
    const nn::PointSet set = nn::eight_gaussians(1);
    Exhibit::Cloud clumps{.name = "the eight clumps", .dots = {}, .color = 8, .ring = true};
    for (size_t i = 0; i + 1 < set.centres.size(); i += 2) clumps.dots.emplace_back(set.centres[i], set.centres[i + 1]);
    clumps.reach = 3 * static_cast<float>(set.deviation);  // as nn::coverage_of counts
    it.clouds.push_back(std::move(clumps));
    return it;
}

Exhibit kmeans_of(const StepRecord& step) {
    Exhibit it{.kind = Exhibit::Kind::scatter};
    const GraphNode *points = exhibit_node(step, "points"), *nearest = exhibit_node(step, "nearest i32"),
                    *moved = exhibit_node(step, "new centres");
    if (!points || !nearest || !moved) return {};
    const auto dots = pairs_of(points->value);
    const auto count = static_cast<size_t>(moved->shape.front());
    it.title = "Clusters";
    for (size_t c = 0; c < count; ++c) it.clouds.push_back({.name = "", .dots = {}, .color = static_cast<int>(c % 8)});
    for (size_t i = 0; i < dots.size() && i < nearest->value->size(); ++i) {
        const auto c = static_cast<size_t>(std::max(0.f, (*nearest->value)[i]));
        if (c < count) it.clouds[c].dots.push_back(dots[i]);
    }
    it.clouds.push_back({.name = "new centres", .dots = pairs_of(moved->value), .color = 8, .radius = 6, .ring = true});
    it.right = fmt::format("{} points, {} centres", dots.size(), count);
    it.caption = fmt::format(
        "Step {}: each point belongs to the nearest centre, whose new place (ring) is its points' mean. "
        "Sum of squared distances {:.0f}.",
        step.step, step.loss);
    fit_axes(it);
    return it;
}

// The edges of a graph whose nodes stand at `place` and are of `kind`, each once. Rows and columns are those of the
// adjacency that the model multiplies by, in which every node has itself for a neighbour, too.
std::vector<Exhibit::Edge> edges_of(const StepRecord& step, const std::vector<std::pair<float, float>>& place,
                                    const std::vector<int>& kind) {
    const GraphNode *rows = exhibit_node(step, "adjacency rows"), *columns = exhibit_node(step, "adjacency columns");
    std::vector<Exhibit::Edge> edges;
    if (!rows || !columns) return edges;
    for (size_t a = 0; a < place.size() && a + 1 < rows->value->size(); ++a) {
        const auto begin = static_cast<size_t>((*rows->value)[a]), end = static_cast<size_t>((*rows->value)[a + 1]);
        for (size_t i = begin; i < std::min(end, columns->value->size()); ++i) {
            const auto b = static_cast<size_t>((*columns->value)[i]);
            if (b > a && b < place.size()) edges.push_back({place[a], place[b], kind[a] == kind[b] ? kind[a] : -1});
        }
    }
    return edges;
}

Exhibit gcn_of(const StepRecord& step) {
    Exhibit it{.kind = Exhibit::Kind::scatter, .derived = true};
    const GraphNode *logits = exhibit_node(step, "convolution 2"), *nodes = exhibit_node(step, "nodes"),
                    *labels = exhibit_node(step, "labels");
    if (!logits || !nodes || !labels || logits->shape.size() != 2) return {};
    const int64_t classes = logits->shape[1];
    const auto plane = principal_plane(*logits->value, classes);
    it.title = "Nodes of the graph";
    for (int64_t c = 0; c < classes; ++c)
        it.clouds.push_back(
            {.name = fmt::format("read as {}", c), .dots = {}, .color = static_cast<int>(c % 8), .radius = 2});
    std::vector<int> read_as;
    for (size_t i = 0; i < plane.size(); ++i) {
        const auto row = logits->value->begin() + static_cast<int64_t>(i) * classes;
        read_as.push_back(static_cast<int>(std::max_element(row, row + classes) - row));
        it.clouds[static_cast<size_t>(read_as.back())].dots.push_back(plane[i]);
    }
    it.edges = edges_of(step, plane, read_as);
    int right = 0;
    Exhibit::Cloud known{.name = "its label is known", .dots = {}, .color = 8, .radius = 4.5f, .ring = true};
    for (size_t i = 0; i < nodes->value->size() && i < labels->value->size(); ++i) {
        const auto node = static_cast<size_t>((*nodes->value)[i]);
        if (node >= plane.size()) continue;
        known.dots.push_back(plane[node]);
        const auto row = logits->value->begin() + static_cast<int64_t>(node) * classes;
        right += std::max_element(row, row + classes) - row == static_cast<int64_t>((*labels->value)[i]);
    }
    it.right = fmt::format("{} nodes, {} edges, {} labelled", plane.size(),
                           with_commas(static_cast<int64_t>(it.edges.size())), known.dots.size());
    it.caption = fmt::format(
        "Step {}: the class scores of all nodes, laid flat along their two widest directions; {} of the {} "
        "labelled nodes are read right.",
        step.step, right, known.dots.size());
    it.clouds.push_back(std::move(known));
    fit_axes(it);
    return it;
}

Exhibit spirals_of(const StepRecord& step) {
    Exhibit it{.kind = Exhibit::Kind::scatter};
    const GraphNode* x = exhibit_node(step, "x");
    if (!x || step.predictions.size() != step.labels.size() || step.labels.empty()) return {};
    const auto dots = pairs_of(x->value);
    const int32_t most = *std::max_element(step.labels.begin(), step.labels.end());
    for (int32_t c = 0; c <= most; ++c)
        it.clouds.push_back({.name = fmt::format("arm {}", c), .dots = {}, .color = c % 8, .radius = 2});
    Exhibit::Cloud wrong{.name = "misread", .dots = {}, .color = 8, .radius = 4.5f, .ring = true};
    for (size_t i = 0; i < dots.size() && i < step.labels.size(); ++i) {
        it.clouds[static_cast<size_t>(std::max(0, step.labels[i]))].dots.push_back(dots[i]);
        if (step.labels[i] != step.predictions[i]) wrong.dots.push_back(dots[i]);
    }
    it.title = "Points of spiral arms";
    it.right = fmt::format("{} points", dots.size());
    it.caption = fmt::format("Step {}: {} of {} points are taken for another arm's (ringed).", step.step, wrong.dots.size(),
                             dots.size());
    it.clouds.push_back(std::move(wrong));
    fit_axes(it);
    return it;
}

Exhibit line_of(const StepRecord& step) {
    Exhibit it{.kind = Exhibit::Kind::scatter};
    const GraphNode *x = exhibit_node(step, "x"), *y = exhibit_node(step, "y"), *w = exhibit_node(step, "fc.weight"),
                    *b = exhibit_node(step, "fc.bias");
    if (!x || !y || !w || !b || w->value->size() != 1) return {};
    it.title = "Points and the line so far";
    it.square = false;
    Exhibit::Cloud dots{.name = "points of the batch", .dots = {}, .color = 1, .radius = 2};
    for (size_t i = 0; i < x->value->size() && i < y->value->size(); ++i)
        dots.dots.emplace_back((*x->value)[i], (*y->value)[i]);
    it.clouds.push_back(std::move(dots));
    const float slope = w->value->front(), height = b->value->front();
    fit_axes(it);
    it.clouds.push_back({.name = fmt::format("y = {:.4f} x {:+.4f}", slope, height),
                         .dots = {{it.low_x, slope * it.low_x + height}, {it.high_x, slope * it.high_x + height}},
                         .color = 0,
                         .radius = 2,
                         .line = true});
    fit_axes(it);
    it.right = fmt::format("{} points", x->value->size());
    it.caption = fmt::format("Step {}: w is {:.4f} and b is {:.4f}; the mean squared error of the batch is {:.3g}.",
                             step.step, slope, height, step.loss);
    return it;
}

Exhibit maze_of(const StepRecord& step) {
    Exhibit it{.kind = Exhibit::Kind::maze, .derived = true};
    const GraphNode *policy = exhibit_node(step, "policy"), *visits = exhibit_node(step, "visits");
    const nn::GridWorld world = nn::grid_world();
    const auto states = static_cast<size_t>(world.states()), actions = size_t{nn::GridWorld::actions};
    if (!policy || !visits || policy->value->size() != states * actions) return {};
    it.title = "The maze and the agent's path";
    it.rows = world.rows;
    it.columns = world.columns;
    it.cells = world.cells;
    it.policy = *policy->value;
    for (size_t s = 0; s < states; ++s) it.visits.push_back((*visits->value)[s * actions]);
    nn::GridWorld steady = world;
    steady.slip = 0;
    Rng none(1);
    int state = world.start;
    it.path = {state};
    for (int t = 0; t < world.horizon; ++t) {
        const auto row = it.policy.begin() + static_cast<int64_t>(state) * nn::GridWorld::actions;
        const auto outcome = steady.step(state, static_cast<int>(std::max_element(row, row + actions) - row), none);
        if (outcome.state == state) {
            it.blocked = true;  // for ever
            break;
        }
        state = outcome.state;
        it.path.push_back(state);
        if (!outcome.done) continue;
        it.arrives = world.cells[static_cast<size_t>(state)] == 'G';
        break;
    }
    it.right = fmt::format("{} episodes a step", step.batch);
    it.caption = fmt::format(
        "Step {}: arrows are how likely each action is, shade is where the episodes were. By its likeliest "
        "actions the agent {} after {} step{}.",
        step.step,
        it.arrives                                                ? "arrives"
        : world.cells[static_cast<size_t>(it.path.back())] == 'X' ? "falls into a pit"
        : it.blocked                                              ? "walks against a wall"
                                                                  : "has not arrived",
        it.path.size() - 1, it.path.size() == 2 ? "" : "s");
    return it;
}

Exhibit sequences_of(const StepRecord& step) {
    Exhibit it{.kind = Exhibit::Kind::sequences};
    std::vector<const GraphNode*> symbols;
    const GraphNode *targets = exhibit_node(step, "targets"), *loss = nullptr;
    for (const GraphNode& node : step.nodes) {
        if (node.name.rfind("symbols[", 0) == 0 && node.value) symbols.push_back(&node);
        if (node.kind == GraphNode::Kind::loss) loss = &node;
    }
    if (!targets || !loss || symbols.empty() || loss->inputs.empty()) return {};
    const GraphNode& logits = step.nodes[static_cast<size_t>(loss->inputs[0])];
    const size_t batch = symbols[0]->value->size();
    if (!logits.value || batch == 0 || logits.shape.size() != 2) return {};
    const auto classes = static_cast<size_t>(logits.shape[1]);
    const size_t asked = targets->value->size() / batch;
    for (size_t b = 0; b < batch; ++b) {
        Exhibit::Sequence one;
        for (const GraphNode* at : symbols) one.read.push_back(static_cast<int>((*at->value)[b]));
        for (size_t t = 0; t < asked; ++t) {
            one.wanted.push_back(static_cast<int>((*targets->value)[t * batch + b]));
            const auto row = logits.value->begin() + static_cast<int64_t>((t * batch + b) * classes);
            one.said.push_back(static_cast<int>(std::max_element(row, row + static_cast<int64_t>(classes)) - row));
        }
        it.right_sequences += one.said == one.wanted;
        ++it.all_sequences;
        it.sequences.push_back(std::move(one));
    }
    it.title = "Sequences to say again";
    it.right = fmt::format("{} of {} without a mistake", it.right_sequences, it.all_sequences);
    it.caption = fmt::format(
        "Step {}: {} symbols are read, then a sign (1), then blanks (0) at which they are to be said again; {} of "
        "{} sequences are.",
        step.step, asked, it.right_sequences, it.all_sequences);
    return it;
}

Exhibit attention_of(const StepRecord& step, int layer) {
    Exhibit it{.kind = Exhibit::Kind::attention, .derived = true};
    std::vector<const GraphNode*> all;
    for (const GraphNode& node : step.nodes)
        if (node.op == "attention") all.push_back(&node);
    if (all.empty()) return {};
    it.layers = static_cast<int>(all.size());
    it.maps = attention_maps(step, *all[static_cast<size_t>(std::clamp(layer, 0, it.layers - 1))], 0);
    if (it.maps.empty()) return {};
    it.heads = static_cast<int>(it.maps.size());
    it.places = static_cast<int>(std::lround(std::sqrt(static_cast<double>(it.maps[0].size()))));
    if (const GraphNode* tokens = exhibit_node(step, "tokens"))
        for (size_t i = 0; i < tokens->value->size() && static_cast<int>(i) < it.places; ++i)
            it.tokens.push_back(static_cast<int32_t>((*tokens->value)[i]));
    double own = 0;
    for (const auto& map : it.maps)
        for (int t = 0; t < it.places; ++t) own += static_cast<double>(map[static_cast<size_t>(t * it.places + t)]);
    own /= static_cast<double>(it.heads) * it.places;
    it.title = "Attention and text";
    it.right = fmt::format("{} heads, {} places", it.heads, it.places);
    it.caption = fmt::format(
        "Layer {} at step {}: a row is a place that looks, a column a place looked at; {:.0f} % of the weight "
        "goes to the place itself. Worked out from the recorded queries and keys.",
        std::clamp(layer, 0, it.layers - 1), step.step, 100 * own);
    return it;
}

}  // namespace

std::vector<std::vector<float>> attention_maps(const StepRecord& step, const GraphNode& node, int64_t example) {
    if (node.inputs.size() < 2 || !node.attributes || node.shape.size() != 4) return {};
    const GraphNode &q = step.nodes[static_cast<size_t>(node.inputs[0])],
                    &k = step.nodes[static_cast<size_t>(node.inputs[1])];
    if (!q.value || !k.value || q.shape.size() != 4 || k.shape.size() != 4) return {};
    // mode 1: [B,T,H,D]; 0: [B,H,T,D]
    const bool places_first = node.attributes->mode == 1;
    const size_t head_axis = places_first ? 2 : 1, place_axis = 3 - head_axis;
    const int64_t heads = q.shape[head_axis], groups = k.shape[head_axis], t = q.shape[place_axis], s = k.shape[place_axis],
                  d = q.shape[3];
    const auto at = [&](const GraphNode& of, int64_t count, int64_t places, int64_t head, int64_t place, int64_t i) {
        const int64_t row =
            places_first ? (example * places + place) * count + head : (example * count + head) * places + place;
        return static_cast<double>((*of.value)[static_cast<size_t>(row * d + i)]);
    };
    const double scale = node.attributes->alpha != 0 ? node.attributes->alpha : 1 / std::sqrt(static_cast<double>(d));
    std::vector<std::vector<float>> maps;
    for (int64_t h = 0; h < heads; ++h) {
        std::vector<float>& map = maps.emplace_back(static_cast<size_t>(t * s), 0.f);
        for (int64_t i = 0; i < t; ++i) {
            const int64_t end = node.attributes->causal ? std::min(s, i + s - t + 1) : s;
            std::vector<double> score;
            double most = -INFINITY, sum = 0;
            for (int64_t j = 0; j < end; ++j) {
                double dot = 0;
                for (int64_t e = 0; e < d; ++e) dot += at(q, heads, t, h, i, e) * at(k, groups, s, h * groups / heads, j, e);
                score.push_back(dot * scale);
                most = std::max(most, score.back());
            }
            for (double& one : score) sum += one = std::exp(one - most);
            for (int64_t j = 0; j < end; ++j)
                map[static_cast<size_t>(i * s + j)] = static_cast<float>(score[static_cast<size_t>(j)] / sum);
        }
    }
    return maps;
}

std::vector<std::pair<float, float>> principal_plane(const std::vector<float>& values, int64_t width) {
    const auto w = static_cast<size_t>(width);
    if (w == 0) return {};
    const size_t n = values.size() / w;
    std::vector<double> mean(w, 0);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < w; ++j) mean[j] += static_cast<double>(values[i * w + j]) / static_cast<double>(n);
    std::vector<double> covariance(w * w, 0);
    for (size_t i = 0; i < n; ++i)
        for (size_t a = 0; a < w; ++a)
            for (size_t b = 0; b < w; ++b)
                covariance[a * w + b] +=
                    (static_cast<double>(values[i * w + a]) - mean[a]) * (static_cast<double>(values[i * w + b]) - mean[b]);
    std::vector<std::vector<double>> axes;
    for (size_t axis = 0; axis < 2; ++axis) {
        std::vector<double> v(w);
        for (size_t j = 0; j < w; ++j) v[j] = 1.0 / static_cast<double>(j + 1 + axis);
        for (int turn = 0; turn < 200; ++turn) {
            std::vector<double> next(w, 0);
            for (size_t a = 0; a < w; ++a)
                for (size_t b = 0; b < w; ++b) next[a] += covariance[a * w + b] * v[b];
            for (const auto& before : axes) {
                double along = 0;
                for (size_t j = 0; j < w; ++j) along += before[j] * next[j];
                for (size_t j = 0; j < w; ++j) next[j] -= along * before[j];
            }
            double length = 0;
            for (const double x : next) length += x * x;
            length = std::sqrt(length);
            if (!(length > 1e-300)) break;
            for (size_t j = 0; j < w; ++j) v[j] = next[j] / length;
        }
        axes.push_back(v);
    }
    std::vector<std::pair<float, float>> plane;
    for (size_t i = 0; i < n; ++i) {
        double x = 0, y = 0;
        for (size_t j = 0; j < w; ++j) {
            const double centred = static_cast<double>(values[i * w + j]) - mean[j];
            x += centred * axes[0][j];
            y += centred * axes[1][j];
        }
        plane.emplace_back(static_cast<float>(x), static_cast<float>(y));
    }
    return plane;
}

Exhibit exhibit_of(const StepRecord& step, int layer) {
    if (step.images && !step.labels.empty()) return {.kind = Exhibit::Kind::pictures};
    if (step.model == "autoencoder") {
        Exhibit it{.kind = Exhibit::Kind::repaired};
        for (const char* name : {"noisy", "picture", "clean"}) it.pictures.push_back(exhibit_node(step, name));
        if (std::find(it.pictures.begin(), it.pictures.end(), nullptr) != it.pictures.end()) return {};
        for (const GraphNode& node : step.nodes)  // the narrowest of what depends on the pictures
            if (node.kind != GraphNode::Kind::parameter && node.value && node.shape.size() == 2 &&
                node.shape[0] == it.pictures[0]->shape.front() && node.shape[1] > 1 && node.shape[1] <= 64 &&
                (it.code == nullptr || node.shape[1] <= it.code->shape[1]))
                it.code = &node;
        it.title = "Pictures repaired";
        it.rows = step.image_rows;
        it.columns = step.image_columns;
        it.right = fmt::format("first of {}", it.pictures[0]->shape.front());
        it.caption = fmt::format(
            "Step {}: noisy pictures go through a code of 16 numbers; what comes out is {:.4f} from those without the added "
            "noise, "
            "mean squared.",
            step.step, step.loss);
        return it;
    }
    if (step.model == "spirals") return spirals_of(step);
    if (step.model == "gan") return gan_of(step);
    if (step.model == "kmeans") return kmeans_of(step);
    if (step.model == "gcn") return gcn_of(step);
    if (step.model == "linear_regression") return line_of(step);
    if (step.model == "policy") return maze_of(step);
    if (step.model == "rnn" || step.model == "lstm") return sequences_of(step);
    return attention_of(step, layer);
}

}  // namespace lockstep::gui
