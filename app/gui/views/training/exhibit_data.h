// What a model's step has to show besides numbers, worked out from its record: where its attention looks, the points that a
// generator makes, the clusters, the communities of a graph, the maze and its agent's path, sequences said again, the fitted
// line. Tested without a window. What is worked out here says "derived" on screen; the rest was executed.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/nn/train/step_record.h"

namespace lockstep::gui {

struct Exhibit {
    enum class Kind : uint8_t { none, pictures, repaired, attention, sequences, scatter, maze };
    Kind kind = Kind::none;
    bool derived = false;
    std::string title, right, caption;

    struct Cloud {  // of a scatter
        std::string name;
        std::vector<std::pair<float, float>> dots;
        int color = 0;  // of the palette's eight
        float radius = 1.5f;
        bool ring = false;
        float reach = 0;    // of rings in the axes' unit; 0: `radius` pixels
        bool line = false;  // the dots are joined instead
    };
    std::vector<Cloud> clouds;
    struct Edge {  // of a graph, between two dots
        std::pair<float, float> from, to;
        int color = -1;  // of the palette's eight; -1: between two colours
    };
    std::vector<Edge> edges;
    float low_x = -1, high_x = 1, low_y = -1, high_y = 1;
    bool square = true;  // both axes have one scale

    int layers = 0, heads = 0, places = 0;  // attention: maps[head] of the chosen layer, [places, places], rows look
    std::vector<std::vector<float>> maps;
    std::vector<int32_t> tokens;  // of the sequence shown

    struct Sequence {
        std::vector<int> read, wanted, said;
    };
    std::vector<Sequence> sequences;
    int64_t right_sequences = 0, all_sequences = 0;

    int rows = 0, columns = 0;  // maze, or pictures
    std::string cells;
    std::vector<float> policy, visits;      // [cells, 4] up right down left; share of the visits by cell
    std::vector<int> path;                  // cells, by the likeliest action, without slips
    bool arrives = false, blocked = false;  // blocked: its likeliest action leads against a wall

    std::vector<const nn::GraphNode*> pictures;  // repaired: noisy, made, clean
    const nn::GraphNode* code = nullptr;         // the few numbers that they went through, [batch, numbers]
};
// `layer`: of attention.
Exhibit exhibit_of(const nn::StepRecord& step, int layer);

// Attention's weights of one example, [heads][places * places], from the recorded queries and keys: softmax(q k^T /
// sqrt(d)).
std::vector<std::vector<float>> attention_maps(const nn::StepRecord& step, const nn::GraphNode& attention, int64_t example);

// The two directions in which rows of [n, width] spread most, by power iteration: [n] points in the plane.
std::vector<std::pair<float, float>> principal_plane(const std::vector<float>& values, int64_t width);

}  // namespace lockstep::gui
