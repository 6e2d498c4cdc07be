// What the fuzzer does with lesson.md: parse it and take apart what a player would: expressions are evaluated, extents and
// arguments filled in with the shapes' numbers. What the parser let through must hold together.
#pragma once
#include "core/scene/figures/expression.h"
#include "lessons/player/lesson.h"
#include "tests/fuzz/arguments_target.h"

namespace lockstep::fuzz {

inline void try_expression(const std::string& text) {
    const auto expression = scene::Expression::parse(text);
    if (!expression) return must_be_a_sentence(expression.error());
    double next = 0;
    const auto value = expression.value().evaluate([&](const scene::FigureName&) -> Result<double> { return next++; });
    must(value.ok(), "an expression whose names all have values has none");
    must(!expression.value().clauses().empty(), "an expression without clauses");
    for (const scene::Expression& clause : expression.value().clauses())
        if (clause.is_comparison()) must(clause.sides().first.names().size() <= clause.names().size(), "names from nowhere");
}

inline void try_filled(const std::string& text, const std::map<std::string, double>& variables) {
    const auto filled = scene::fill_in(text, variables);
    if (!filled) return must_be_a_sentence(filled.error());
    const auto argument = scene::parse_argument(filled.value());
    if (!argument) must_be_a_sentence(argument.error());
    const auto extents = scene::parse_dim3(filled.value(), "grid");
    if (!extents) must_be_a_sentence(extents.error());
}

inline size_t try_lesson(std::string_view input) {  // how many steps it has
    const auto lesson = lessons::parse_lesson(std::string(input), "fuzz/lesson.md");
    if (!lesson) {
        must_be_a_sentence(lesson.error());
        return 0;
    }
    const std::map<std::string, double> variables = {{"n", 25}, {"block", 12}, {"m", 0}};
    must(!lesson.value().steps.empty(), "a lesson without steps");
    for (size_t i = 0; i < lesson.value().steps.size(); ++i) {
        const lessons::Step& step = lesson.value().steps[i];
        must(!step.title.empty(), "a step without a title");
        must(lessons::word_count(step.prose) >= 0, "fewer than no words");
        for (const lessons::Predict& predict : step.predicts) {
            must(predict.answers.size() >= 2, "a prediction without a choice");
            try_expression(predict.of.text());
        }
        for (const lessons::Exercise& exercise : step.exercises) {
            try_expression(exercise.check.text());
            must(!exercise.shapes.empty(), "an exercise without a shape");
            try_filled(exercise.grid, variables);
            try_filled(exercise.block, variables);
            for (const std::string& argument : exercise.arguments) try_filled(argument, variables);
        }
        for (const scene::Scene& scene : step.scenes)
            for (const std::string& argument : scene.arguments) try_filled(argument, variables);
        const scene::Scene* shown = lessons::scene_at(lesson.value(), i);
        must(shown || step.scenes.empty(), "a scene that is not shown");
    }
    return lesson.value().steps.size();
}

}  // namespace lockstep::fuzz
