#include "core/scene/figures/figure_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace lockstep::scene {
namespace {

Result<size_t> whole_in(std::string_view text, const std::string& full) {
    size_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size())
        return Diagnostic{fmt::format("'{}': '{}' is no whole number that could be meant here", full, text)};
    return value;
}

}  // namespace

FigureName::FigureName(std::string_view written, size_t where) : text(written), at(where) {
    const size_t end = std::min(written.find('@'), written.size());
    base = written.substr(0, end);
    if (const size_t open = base.rfind('['); open != std::string::npos && base.back() == ']' && open + 2 < base.size()) {
        element = base.substr(open + 1, base.size() - open - 2);
        base.erase(open);
    }
    for (size_t begin = end; begin < written.size();) {
        const size_t next = std::min(written.find('@', begin + 1), written.size());
        const std::string_view place = written.substr(begin + 1, next - begin - 1);
        const size_t colon = std::min(place.find(':'), place.size());
        places.push_back(
            {std::string(place.substr(0, colon)), std::string(place.substr(std::min(colon + 1, place.size())))});
        begin = next;
    }
}

std::string FigureName::place(std::string_view kind) const {
    for (const Place& place : places)
        if (place.kind == kind) return place.value;
    return {};
}

FigureName FigureName::without(std::string_view kind) const {
    FigureName rest = *this;
    rest.text = text.substr(0, text.find('@'));
    std::erase_if(rest.places, [&](const Place& one) { return one.kind == kind; });
    for (const Place& place : rest.places) rest.text += "@" + place.kind + ":" + place.value;
    return rest;
}

Result<size_t> FigureName::index() const {
    if (!indexed()) return Diagnostic{fmt::format("'{}': an element is written like y[3]", text)};
    return whole_in(element, text);
}

Result<size_t> FigureName::number_at(std::string_view kind) const {
    return whole_in(place(kind), text);
}

std::string figure_word(std::string_view text, bool joined) {
    std::string word;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain || !joined || (!word.empty() && word.back() != '_')) word += plain ? c : '_';
    }
    while (joined && !word.empty() && word.back() == '_') word.pop_back();
    return word;
}

}  // namespace lockstep::scene
