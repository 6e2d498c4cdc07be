// One block of a Llama as parts in the order in which they run: shapes, parameters, arithmetic and bytes of a pass forward
// over one sequence; and rotary positions as turns. Parameters are counted from the model's own modules, the rest is derived
// from its shape. Tested without a window.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/models/blocks.h"
#include "core/nn/train/step_record.h"

namespace lockstep::gui {

struct BlockPart {
    enum class Kind : uint8_t { product, attention, elementwise } kind = Kind::product;
    std::string title, shapes;
    int64_t parameters = 0;
    double operations = 0;  // of a pass forward
    double bytes = 0;       // read and written by it, each number once
    bool feeds_forward = false;
    int products = 0;  // of linear layers, forward: each has two more going back
};
struct LlamaBlock {
    nn::ModelShape shape;
    int64_t places = 0;
    std::vector<BlockPart> parts;
    int64_t block_parameters = 0, table_parameters = 0;  // of one block; of the tables of tokens, in and out
    int64_t all_parameters() const { return shape.layers * block_parameters + table_parameters; }
    int64_t parameters(bool feeds_forward) const;  // of the block's two halves, norms with the half that they begin
    double operations() const;
    double cache_bytes() const;  // keys and values of one place in all layers, two bytes a number
};
LlamaBlock llama_block(const nn::ModelShape& shape, int64_t places);

// The block that a tensor program is: its width, heads and feed-forward width, from its ops. Nothing: it is none.
struct RecordedBlock {
    nn::ModelShape shape;
    int64_t places = 0;
};
std::optional<RecordedBlock> recorded_block(const nn::StepRecord& step);

// By how much pair i of `size` numbers turns at a place, in radians.
double turn_of(int64_t pair, int64_t size, double base, double place);

struct RopeTurn {          // one rotary op of the step, its first row of numbers
    std::string from, to;  // names: "q", "at3"
    int node = -1;
    int64_t place = 0;           // of the row
    bool halves = false;         // pairs (i, i + size/2); else neighbours
    std::vector<float> in, out;  // as they ran
    int64_t pairs() const { return static_cast<int64_t>(in.size()) / 2; }
    size_t first(int64_t pair) const { return static_cast<size_t>(halves ? pair : 2 * pair); }
    size_t second(int64_t pair) const { return static_cast<size_t>(halves ? pair + pairs() : 2 * pair + 1); }
};
std::vector<RopeTurn> rope_turns(const nn::StepRecord& step);

struct RopeMeeting {   // a query and a key, both turned, and their product
    std::string name;  // of the sum: "near"
    int node = -1;
    RopeTurn query, key;
    double product = 0;  // as it ran
};
std::vector<RopeMeeting> rope_meetings(const nn::StepRecord& step);
// By which power the pairs slow down, from the op's table of cosines and sines; 0: it has but one pair.
double rope_base(const nn::StepRecord& step, const RopeTurn& turn);

}  // namespace lockstep::gui
