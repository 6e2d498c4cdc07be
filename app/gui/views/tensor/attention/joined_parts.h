// Attention whose keys lie in parts, each with a GPU of its own: what every part makes of its scores, and the sums of all
// parts that make the attention. Found in a tensor program by its ops.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/nn/train/step_record.h"

namespace lockstep::gui {

struct PartMatrix {  // a node of the program as rows and columns
    int node = -1;
    std::string name;
    int64_t rows = 0, columns = 0;
    std::vector<float> values;
    float at(int64_t row, int64_t column) const { return values[static_cast<size_t>(row * columns + column)]; }
    bool there() const { return node >= 0; }
};
struct KeysPart {
    PartMatrix powers, numerator, denominator;  // e to its scores; they times its values; their sums
    bool divided = false;                       // the numerator already is: the part's own attention
};
struct JoinedParts {
    std::vector<KeysPart> parts;
    PartMatrix numerator, denominator, output;  // of all parts, and their quotient; of divided parts the output alone
    PartMatrix whole;                           // the attention over all keys, from the parts
    bool divided() const { return !parts.empty() && parts.front().divided; }
    double most_off() const;  // of the output's elements from those of the whole
    bool empty() const { return parts.size() < 2 || !output.there(); }
};
JoinedParts joined_parts(const nn::StepRecord& step);
// "d of query 2: 3.6 + 4.12 = 7.72"
std::string joined_sum_words(const JoinedParts& joined, int64_t row);

}  // namespace lockstep::gui
