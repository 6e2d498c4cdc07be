#include "core/simt/origins/strayed.h"

#include <algorithm>

#include "core/base/units.h"
#include "core/simt/check/faults.h"

namespace lockstep::simt {
namespace {

using Is = ValueNode::Is;

constexpr size_t longest_step = 60;

bool is_argument(const ValueNode& node) {
    return node.is == Is::parameter || (node.is == Is::loaded && !node.name.empty());
}

// Whether it is made of more than where the thread stands: only then its value is news.
bool holds_argument(const ValueNode& node) {
    return is_argument(node) || std::any_of(node.of.begin(), node.of.end(), holds_argument);
}

bool is_product(const ValueNode& node) {
    return node.is == Is::multiply || node.is == Is::multiply_add ||
           (node.is == Is::shift_left && node.of[1].is != Is::number);
}

Strayed of_argument(const ValueTrees& trees, const ValueNode& node) {
    const std::string name = trees.text_of(node);
    return {name + " is " + with_commas(node.as_signed()), node.is == Is::parameter ? name : std::string()};
}

// "row * pitch at line 4 is 1 * -64 = -64".
Strayed of_step(const ValueTrees& trees, ValueNode node) {
    if (node.is == Is::multiply_add) {  // the product of it
        node.is = Is::multiply;
        node.bits = node.of[0].bits * node.of[1].bits;
        node.of.pop_back();
        if (node.bytes < 8) node.bits &= (uint64_t{1} << 8 * node.bytes) - 1;
    }
    const char* const sign = node.is == Is::multiply     ? " * "
                             : node.is == Is::shift_left ? " << "
                             : node.is == Is::subtract   ? " - "
                                                         : " + ";
    const std::string text = trees.text_of(node);
    if (text.size() > longest_step) return {};
    const int64_t second = node.of[1].as_signed();
    const std::string numbers = node.is == Is::add && second < 0
                                    ? with_commas(node.of[0].as_signed()) + " - " + with_commas(-second)
                                    : with_commas(node.of[0].as_signed()) + sign + with_commas(second);
    return {text + " at " + place_of(trees.program(), node.pc) + " is " + numbers + " = " + with_commas(node.as_signed()),
            {}};
}

Strayed below_zero(const ValueTrees& trees, const ValueNode& node) {
    if (node.is == Is::widened && !node.reads_signed) return {};
    for (const ValueNode& below : node.of)
        if (Strayed found = below_zero(trees, below); !found.words.empty()) return found;
    if (node.as_signed() >= 0 || !holds_argument(node)) return {};
    if (is_argument(node)) return of_argument(trees, node);
    return node.is == Is::subtract || node.is == Is::add ? of_step(trees, node) : Strayed{};
}

Strayed too_large(const ValueTrees& trees, const ValueNode& node, int64_t count) {
    for (const ValueNode& below : node.of)
        if (Strayed found = too_large(trees, below, count); !found.words.empty()) return found;
    if (!is_product(node) || !holds_argument(node)) return {};
    const int64_t made = node.is == Is::multiply_add ? node.as_signed() - node.of[2].as_signed() : node.as_signed();
    return made >= count ? of_step(trees, node) : Strayed{};
}

}  // namespace

Strayed strayed_of(const ValueTrees& trees, const ValueNode& index, int64_t value, int64_t count) {
    if (!trees.knows_names()) return {};
    Strayed found = value < 0 ? below_zero(trees, index) : too_large(trees, index, count);
    if (value >= count && found.words.empty() && (index.is == Is::add || index.is == Is::subtract))
        for (const ValueNode& term : index.of)
            if (is_argument(term) && term.as_signed() >= count) return of_argument(trees, term);
    return found;
}

}  // namespace lockstep::simt
