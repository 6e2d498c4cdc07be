// Keys: id, title, part, minutes, gpu are required; question, needs, seed, kind and pass may be absent. Anything else is a
// mistake.
#include "lessons/player/front_matter.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "core/base/nearest.h"

namespace lockstep::lessons {

Result<Lesson> parse_front_matter(const std::string& text, const std::string& file, int first_line) {
    auto at = [&](const toml::source_region& region, std::string message) {
        const int line = static_cast<int>(region.begin.line);
        return Diagnostic{
            std::move(message), {file, first_line + line - 1, static_cast<int>(region.begin.column)}, line_of(text, line)};
    };
    toml::table table;
    try {
        table = toml::parse(text);
    } catch (const toml::parse_error& error) {
        std::string message(error.description());
        message = message.substr(0, 200);
        return at(error.source(), fmt::format("the front matter is not valid TOML: {}", message));
    }
    const std::vector<std::string> known = {"id",      "title", "question", "part", "needs",
                                            "minutes", "gpu",   "seed",     "kind", "pass"};
    for (const auto& [key, value] : table)
        if (const std::string word(key.str()); std::find(known.begin(), known.end(), word) == known.end()) {
            return at(key.source(), fmt::format("unknown key '{}'{}", word, did_you_mean(word, known)));
        }
    Lesson lesson;
    const std::pair<const char*, std::string*> words[] = {
        {"id", &lesson.id}, {"title", &lesson.title}, {"part", &lesson.part}, {"gpu", &lesson.gpu}};
    for (const auto& [key, place] : words) {
        const toml::node* node = table.get(key);
        if (!node) return Diagnostic{fmt::format("the front matter lacks '{}'", key), {file, first_line, 1}};
        const auto value = node->value<std::string>();
        if (!node->is_string() || !value || value->empty())
            return at(node->source(), fmt::format("'{}' is a text in quotes", key));
        *place = *value;
    }
    if (const toml::node* question = table.get("question")) {
        const auto value = question->is_string() ? question->value<std::string>() : std::nullopt;
        if (!value || value->empty() || value->size() > 60)
            return at(question->source(), "'question' is a text in quotes of at most 60 letters, for the lesson's card");
        lesson.question = *value;
    }
    const toml::node* minutes = table.get("minutes");
    if (!minutes) return Diagnostic{"the front matter lacks 'minutes'", {file, first_line, 1}};
    const auto length = minutes->is_integer() ? minutes->value<int64_t>() : std::nullopt;
    if (!length || *length < 1 || *length > 600) return at(minutes->source(), "'minutes' is a whole number from 1 to 600");
    lesson.minutes = static_cast<int>(*length);
    if (const toml::node* kind = table.get("kind")) {
        const auto value = kind->is_string() ? kind->value<std::string>() : std::nullopt;
        if (value != "exam") return at(kind->source(), "'kind' is \"exam\", or it is left out: then it is a lesson");
        lesson.exam = true;
    }
    if (const toml::node* pass = table.get("pass")) {
        const auto value = pass->is_integer() ? pass->value<int64_t>() : std::nullopt;
        if (!value || *value < 1 || *value > 100 || !lesson.exam)
            return at(pass->source(), "'pass' is of an exam: a whole number from 1 to 100, in percent of its points");
        lesson.pass_mark = static_cast<double>(*value);
    }
    if (const toml::node* seed = table.get("seed")) {
        const auto value = seed->is_integer() ? seed->value<int64_t>() : std::nullopt;
        if (!value || *value < 0) return at(seed->source(), "'seed' is a whole number from 0");
        lesson.seed = static_cast<uint64_t>(*value);
    }
    if (const toml::node* needs = table.get("needs")) {
        const toml::array* list = needs->as_array();
        if (!list) return at(needs->source(), "'needs' is a list of lesson ids, as in [\"A02\"]");
        for (const toml::node& one : *list) {
            const auto id = one.is_string() ? one.value<std::string>() : std::nullopt;
            if (!id) return at(one.source(), "'needs' is a list of lesson ids, as in [\"A02\"]");
            lesson.needs.push_back(*id);
        }
    }
    return lesson;
}

}  // namespace lockstep::lessons
