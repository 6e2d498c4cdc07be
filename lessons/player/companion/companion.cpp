#include "lessons/player/companion/companion.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/files.h"
#include "lessons/player/companion/toml_reader.h"

namespace lockstep::lessons {
namespace {

constexpr int most_steps = 99;

class CompanionReader {
  public:
    CompanionReader(const std::string& text, std::string file) : toml_(text, std::move(file)) {}

    Companion read() {
        const toml::table& table = toml_.table();
        toml_.refuse_other_keys(table, {"recap", "back", "forward", "question", "plan", "misconception", "split", "same"});
        Companion all;
        all.recap = toml_.words(toml_.needed(table, "recap"), "recap");
        all.back = link(table, "back");
        all.forward = link(table, "forward");
        each(table, "question", {"ask", "answer"}, [&](const toml::table& one) {
            all.questions.push_back({text(one, "ask"), text(one, "answer")});
        });
        each(table, "plan", {"minutes", "parts"}, [&](const toml::table& one) { all.plans.push_back(plan(one)); });
        each(table, "misconception", {"believed", "instead", "step"}, [&](const toml::table& one) {
            all.misconceptions.push_back({text(one, "believed"), text(one, "instead"), step(one)});
        });
        each(table, "split", {"predict", "most", "say"}, [&](const toml::table& one) {
            all.splits.push_back({text(one, "predict"), text(one, "most"), text(one, "say")});
        });
        each(table, "same", {"step", "language", "title", "code"}, [&](const toml::table& one) {
            all.same.push_back({step(one), text(one, "language"), text(one, "title"), code(one)});
        });
        return all;
    }

  private:
    template <class Take>
    void each(const toml::table& table, const char* name, const std::vector<std::string>& keys, Take&& take) {
        const toml::node* const list = table.get(name);
        if (list == nullptr) return;
        for (const toml::node& node : toml_.as_list(*list, name)) {
            const toml::table& one = toml_.as_table(node, fmt::format("a {}", name));
            toml_.refuse_other_keys(one, keys);
            take(one);
        }
    }
    std::string text(const toml::table& table, const char* key) const { return toml_.words(toml_.needed(table, key), key); }
    int step(const toml::table& table) const { return toml_.whole(toml_.needed(table, "step"), "step", 1, most_steps); }
    std::string code(const toml::table& table) const {
        std::string lines = text(table, "code");
        while (!lines.empty() && lines.back() == '\n') lines.pop_back();
        return lines;
    }
    std::string link(const toml::table& table, const char* key) const {
        const toml::node* const node = table.get(key);
        if (node == nullptr || (node->is_string() && node->value<std::string>()->empty())) return {};
        const std::string words = toml_.words(*node, key);
        if (Companion::link(words).first.empty())
            toml_.refuse(*node, fmt::format("'{}' begins with a lesson: \"A07: where values live\"", key));
        return words;
    }
    Companion::Plan plan(const toml::table& table) const {
        Companion::Plan plan{.minutes = toml_.whole(toml_.needed(table, "minutes"), "minutes", 5, 300)};
        for (const toml::node& node : toml_.as_list(toml_.needed(table, "parts"), "parts")) {
            const toml::array& part = toml_.as_list(node, "parts");
            if (part.size() != 3) toml_.refuse(node, "a part is a step, its minutes and what to do: [1, 3, \"predict\"]");
            plan.parts.push_back({toml_.whole(*part.get(0), "step", 1, most_steps),
                                  toml_.whole(*part.get(1), "minutes", 1, 300), toml_.words(*part.get(2), "what to do")});
        }
        return plan;
    }

    TomlReader toml_;
};

}  // namespace

int Companion::Plan::taken() const {
    int all = 0;
    for (const PlanPart& part : parts) all += part.minutes;
    return all;
}

const Companion::Plan* Companion::plan(int minutes) const {
    const Plan* best = nullptr;
    for (const Plan& plan : plans)
        if (plan.minutes <= minutes && (best == nullptr || plan.minutes > best->minutes)) best = &plan;
    return best;
}

std::pair<std::string, std::string> Companion::link(const std::string& text) {
    const size_t colon = text.find(": ");
    if (colon == std::string::npos || colon == 0 || text.find(' ') < colon) return {};
    return {text.substr(0, colon), text.substr(colon + 2)};
}

Result<Companion> parse_companion(const std::string& text, const std::filesystem::path& file) {
    try {
        return CompanionReader(text, file.string()).read();
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

Result<std::optional<Companion>> companion_of(const Lesson& lesson) {
    const std::filesystem::path file = lesson.folder / "companion.toml";
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return std::optional<Companion>();
    const Result<std::string> text = read_text(file, size_t{1} << 20);
    if (!text) return text.error();
    Result<Companion> companion = parse_companion(text.value(), file);
    if (!companion) return companion.error();
    return std::optional<Companion>(std::move(companion.value()));
}

std::vector<std::string> companion_problems(const Lesson& lesson, const Companion& companion) {
    std::vector<std::string> problems;
    const auto count = static_cast<int>(lesson.steps.size());
    const auto step = [&](int at, const std::string& whose) {
        if (at > count) problems.push_back(fmt::format("{} is of step {}, but there are {}", whose, at, count));
    };
    for (const Companion::Plan& plan : companion.plans) {
        int before = 0;
        for (const Companion::PlanPart& part : plan.parts) {
            step(part.step, fmt::format("a part of the plan of {} minutes", plan.minutes));
            if (part.step < before)
                problems.push_back(fmt::format("the plan of {} minutes goes back to step {}", plan.minutes, part.step));
            before = part.step;
        }
        if (plan.taken() > plan.minutes)
            problems.push_back(fmt::format("the plan of {} minutes takes {}", plan.minutes, plan.taken()));
    }
    for (const Companion::Misconception& one : companion.misconceptions) step(one.step, "a misconception");
    for (const Companion::Same& one : companion.same) step(one.step, fmt::format("'{}'", one.title));
    std::vector<std::string> asked;
    for (const Step& one : lesson.steps)
        for (const Predict& predict : one.predicts) asked.push_back(predict.id);
    for (const Companion::Split& split : companion.splits)
        if (std::ranges::find(asked, split.predict) == asked.end())
            problems.push_back(
                fmt::format("a split is of the prediction '{}', which the lesson does not have", split.predict));
    for (const std::string& id : asked)
        if (!companion.splits.empty() &&
            std::ranges::none_of(companion.splits, [&](const Companion::Split& split) { return split.predict == id; }))
            problems.push_back(fmt::format("the prediction '{}' has no split", id));
    return problems;
}

}  // namespace lockstep::lessons
