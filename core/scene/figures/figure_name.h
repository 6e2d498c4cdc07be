// What the name of a figure is made of: "cycles@line:7@scene:one", "d.x[1]@step:3".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace lockstep::scene {

struct FigureName {
    struct Place {
        std::string kind, value;  // "line", "7"
    };
    std::string text;           // as written
    std::string base;           // "d.x": without its index and its places
    std::string element;        // "1" of [1]; empty: it has no index
    std::vector<Place> places;  // what stands behind each '@'
    size_t at = 0;              // where its expression holds it

    FigureName() = default;
    FigureName(std::string_view written, size_t where = 0);  // any text: what has no such form is a base of its own
    FigureName(const std::string& written) : FigureName(std::string_view(written)) {}
    FigureName(const char* written) : FigureName(std::string_view(written)) {}

    bool indexed() const { return !element.empty(); }
    std::string place(std::string_view kind) const;         // "7" of "line"; empty when it names none
    FigureName without(std::string_view kind) const;        // the same name without that place
    Result<size_t> index() const;                           // of its element
    Result<size_t> number_at(std::string_view kind) const;  // of a place: a whole number, not below 0
};

// "a b-c" -> "a_b_c": how the name of a row or a run stands in a figure's name. `joined`: several signs become one.
std::string figure_word(std::string_view text, bool joined = false);

}  // namespace lockstep::scene
