// The file of decks, checked with line and caret.
#include "lessons/player/authors/coverage.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "lessons/player/lesson.h"

namespace lockstep::lessons {
namespace {

class CoverageReader {
  public:
    CoverageReader(const std::string& text, const std::filesystem::path& file, const std::vector<std::string>& steps)
        : text_(text), file_(file.string()), steps_(steps), known_(steps.begin(), steps.end()) {}

    std::vector<CoveredDeck> read() const {
        const toml::table table = [&] {
            try {
                return toml::parse(text_);
            } catch (const toml::parse_error& error) {
                throw Failure(
                    at(error.source(), "the file is not valid TOML: " + std::string(error.description()).substr(0, 200)));
            }
        }();
        refuse_others(table, {"deck"});
        const toml::array* const list = table["deck"].as_array();
        if (list == nullptr) throw Failure(Diagnostic{"the file has no [[deck]]", {file_, 1, 1}});
        std::vector<CoveredDeck> decks;
        for (const toml::node& node : *list) decks.push_back(deck(node));
        return decks;
    }

  private:
    Diagnostic at(const toml::source_region& region, std::string message) const {
        const int line = static_cast<int>(region.begin.line);
        return Diagnostic{std::move(message), {file_, line, static_cast<int>(region.begin.column)}, line_of(text_, line)};
    }
    [[noreturn]] void refuse(const toml::node& node, std::string message) const {
        throw Failure(at(node.source(), std::move(message)));
    }
    void refuse_others(const toml::table& table, const std::vector<std::string>& known) const {
        for (const auto& [key, node] : table)
            if (const std::string name(key.str()); std::ranges::find(known, name) == known.end())
                throw Failure(at(key.source(), fmt::format("unknown key '{}'{}", name, did_you_mean(name, known))));
    }
    std::string words(const toml::node& owner, const toml::node* node, std::string_view key) const {
        if (node == nullptr) refuse(owner, fmt::format("'{}' is missing here", key));
        const auto value = node->value<std::string>();
        if (!node->is_string() || !value || value->empty()) refuse(*node, fmt::format("'{}' is a text in quotes", key));
        return *value;
    }
    const toml::table& table_of(const toml::node& node, std::string_view what) const {
        if (node.as_table() == nullptr) refuse(node, fmt::format("a {} is a table of keys and values", what));
        return *node.as_table();
    }
    CoveredDeck deck(const toml::node& node) const {
        const toml::table& table = table_of(node, "deck");
        refuse_others(table, {"name", "title", "slides"});
        CoveredDeck deck;
        deck.name = words(node, table.get("name"), "name");
        deck.title = words(node, table.get("title"), "title");
        const toml::array* const slides = table["slides"].as_array();
        if (slides == nullptr) refuse(node, "'slides' is a list of slides");
        for (const toml::node& one : *slides) deck.slides.push_back(slide(one));
        return deck;
    }
    CoveredSlide slide(const toml::node& node) const {
        const toml::table& table = table_of(node, "slide");
        refuse_others(table, {"about", "steps", "why"});
        CoveredSlide slide;
        slide.about = words(node, table.get("about"), "about");
        if (const toml::node* why = table.get("why")) slide.why = words(node, why, "why");
        const toml::node* const steps = table.get("steps");
        if (steps == nullptr) return slide;
        if (steps->as_array() == nullptr || steps->as_array()->empty())
            refuse(*steps, "'steps' is a list of steps such as \"A01: Flynn's four boxes\"");
        for (const toml::node& step : *steps->as_array()) {
            slide.steps.push_back(words(step, &step, "steps"));
            if (known_.count(slide.steps.back()) == 0)
                refuse(step,
                       fmt::format("no lesson has the step '{}'{}", slide.steps.back(),
                                   did_you_mean(slide.steps.back(), steps_, "; a step is a lesson's id and its title")));
        }
        if (!slide.why.empty()) refuse(*table.get("why"), "a slide that has steps needs no reason to have none");
        return slide;
    }

    const std::string& text_;
    std::string file_;
    const std::vector<std::string>& steps_;
    std::set<std::string> known_;
};

}  // namespace

size_t CoveredDeck::missing() const {
    return static_cast<size_t>(std::ranges::count_if(slides, &CoveredSlide::missing));
}

Result<std::vector<std::string>> step_names() {
    std::vector<std::string> names;
    for (const std::filesystem::path& folder : lesson_folders()) {
        const Result<Lesson> lesson = load_lesson(folder);
        if (!lesson) return lesson.error();
        for (const Step& step : lesson.value().steps) names.push_back(lesson.value().id + ": " + step.title);
    }
    return names;
}

Result<std::vector<CoveredDeck>> parse_coverage(const std::string& text, const std::filesystem::path& file,
                                                const std::vector<std::string>& steps) {
    try {
        return CoverageReader(text, file, steps).read();
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

Result<std::vector<CoveredDeck>> coverage() {
    const std::filesystem::path file = resource_root() / "lessons" / "coverage.toml";
    const Result<std::string> text = read_text(file, size_t{1} << 20);
    if (!text) return text.error();
    const Result<std::vector<std::string>> steps = step_names();
    if (!steps) return steps.error();
    return parse_coverage(text.value(), file, steps.value());
}

std::string to_json(const std::vector<CoveredDeck>& decks) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const CoveredDeck& deck : decks) {
        nlohmann::ordered_json slides = nlohmann::ordered_json::array();
        for (const CoveredSlide& slide : deck.slides) {
            nlohmann::ordered_json row = {{"about", slide.about}, {"steps", slide.steps}};
            if (!slide.why.empty()) row["why"] = slide.why;
            slides.push_back(std::move(row));
        }
        list.push_back(
            {{"deck", deck.name}, {"title", deck.title}, {"missing", deck.missing()}, {"slides", std::move(slides)}});
    }
    return list.dump(2);
}

}  // namespace lockstep::lessons
