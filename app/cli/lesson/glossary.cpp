// `lockstep glossary [WORD] [--json F|-]`: a term in one sentence and where to see it, or all of them.
#include "lessons/player/glossary/glossary.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "core/base/diagnostic.h"
#include "lessons/player/lesson.h"

namespace lockstep::cli {
namespace {

// "lesson A04, step 3: Dealt out to four", "lockstep app --view warps"
std::string see_text(const lessons::Term& term) {
    if (!term.view.empty()) return "lockstep app --view " + term.view;
    const auto lesson = lessons::lesson_named(term.lesson);
    if (!lesson) return "lesson " + term.lesson;
    if (term.step < 1 || static_cast<size_t>(term.step) > lesson.value().steps.size())
        return fmt::format("lesson {}: {}", term.lesson, lesson.value().title);
    return fmt::format("lesson {}, step {}: {}", term.lesson, term.step,
                       lesson.value().steps[static_cast<size_t>(term.step) - 1].title);
}

nlohmann::ordered_json json_of(const lessons::Term& term) {
    return {{"name", term.name}, {"also", term.also}, {"says", term.says}, {"see", term.see()}};
}

void tell_glossary(const std::string& word, const std::string& json) {
    check_can_write(json);
    if (const std::string& problem = lessons::glossary_problem(); !problem.empty())
        throw Failure("the glossary cannot be read: " + problem);
    const lessons::Glossary& glossary = lessons::glossary();
    if (word.empty()) {
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (const lessons::Term& term : glossary.terms()) all.push_back(json_of(term));
        if (!json.empty()) write_json(all, json);
        if (json == "-") return;
        for (const lessons::Term& term : glossary.terms()) fmt::print("{:<28} {}\n", term.name, term.says);
        return;
    }
    const lessons::Term* const term = glossary.find(word);
    if (term == nullptr) {
        const std::vector<std::string> near = glossary.near(word);
        throw Failure(fmt::format(
            "the glossary has no '{}'; {}", word,
            near.empty() ? "'lockstep glossary' lists what it has" : fmt::format("near it are {}", fmt::join(near, ", "))));
    }
    if (!json.empty()) write_json(json_of(*term), json);
    if (json == "-") return;
    fmt::print("{}: {}\n", term->name, term->says);
    if (!term->also.empty()) fmt::print("also: {}\n", fmt::join(term->also, ", "));
    fmt::print("see: {}\n", see_text(*term));
}

}  // namespace

void add_glossary(const Command& app) {
    const Command command = app.add_subcommand("glossary", "what a word means, in one sentence, and where to see it");
    auto word = std::make_shared<std::vector<std::string>>();
    auto json = std::make_shared<std::string>();
    command.add_option("WORD", *word, "a term such as warp, or bank conflict; without one all of them");
    command.add_option("--json", *json, "write it as JSON; '-' for stdout");
    command.callback([word, json] { tell_glossary(fmt::format("{}", fmt::join(*word, " ")), *json); });
}

}  // namespace lockstep::cli
