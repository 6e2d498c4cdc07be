// lesson.md -> Lesson, line by line. What a line begins with decides: "+++" the front matter, "## " a step, ":::" a
// directive (or the end of one), "|" inside a predict an answer; the rest is prose of the step or the body of the open
// directive.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "core/base/nearest.h"
#include "core/scene/cluster/parallel_scene.h"
#include "lessons/player/attributes.h"
#include "lessons/player/exam/exam.h"
#include "lessons/player/front_matter.h"
#include "lessons/player/lesson.h"
#include "lessons/player/parse_directives.h"
#include "lessons/player/predict.h"
#include "lessons/player/prose.h"
#include "lessons/player/sketch/picture.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

constexpr size_t largest_lesson = 1 << 20;
const std::vector<std::string> verbs = {"read", "predict", "run", "investigate", "modify", "make"};

class LessonParser {
  public:
    LessonParser(const std::string& text, const std::filesystem::path& file)
        : file_(file.string()), folder_(file.parent_path()) {
        for (size_t begin = 0; begin <= text.size();) {
            const size_t end = std::min(text.find('\n', begin), text.size());
            std::string line = text.substr(begin, end - begin);
            if (!line.empty() && line.back() == '\r') line.pop_back();
            lines_.push_back(std::move(line));
            begin = end + 1;
        }
    }

    Lesson parse() {
        front_matter();
        for (; at_ < lines_.size(); ++at_) line(lines_[at_]);
        if (in_code_) fail(code_line_, 1, "the code block that begins here is not closed with ```");
        if (open_) unclosed();
        finish_step();
        for (const Later& later : later_) {
            if (later.directive.name == "scene") compared(later.directive);
            if (later.directive.name == "predict") asked(later);
            if (later.directive.name == "exercise") checked(later);
            if (later.directive.name == "challenge") challenged(later.directive);
        }
        if (lesson_.steps.empty())
            fail(static_cast<int>(lines_.size()), 1, "the lesson has no step: a '## Title | verb' line is missing");
        if (lesson_.exam) lesson_.answers = exam_answers(lesson_);
        return std::move(lesson_);
    }

  private:
    struct Later {  // a directive that names scenes, which may come later
        Directive directive;
        size_t step = 0, at = 0;  // which predict of the step it is
    };

    void compared(const Directive& d) const {
        const bool tape = !d.get("tape").empty(), train = !d.get("train").empty();
        for (const std::string& id : compared_with(d.get("compare"))) {
            const Scene* other = scene_named(lesson_, id);
            if (!other || other->id == d.get("id") || (train ? other->train : tape ? other->tape : other->file).empty())
                throw Failure(d.problem(*d.find("compare"), 0,
                                        fmt::format("no other {} has the id '{}'",
                                                    train  ? "training scene"
                                                    : tape ? "tensor program"
                                                           : "kernel scene",
                                                    id)));
        }
    }

    void asked(const Later& later) {
        const Directive& d = later.directive;
        Predict& predict = lesson_.steps[later.step].predicts[later.at];
        for (const FigureName& name : predict.of.names()) {
            const auto problem = unaskable(lesson_, later.step, name);
            if (problem) throw Failure(d.problem(*d.find("of"), name.at, problem->message));
        }
        SketchText& sketch = predict.sketch;
        const bool first_alone = sketch.base.ends_with(first_row);
        if (first_alone) sketch.base.resize(sketch.base.size() - first_row.size());
        if (!sketch.base.empty() && sketch.base != alone && !scene_named(lesson_, sketch.base))
            throw Failure(d.problem(*d.find("base"), 0, fmt::format("no scene has the id '{}'", sketch.base)));
        if (first_alone && !(sketch.first_row = first_row_of(scene_named(lesson_, sketch.base))))
            throw Failure(d.problem(*d.find("base"), 0,
                                    fmt::format("'{}' is no scene of rows that are written in it with ;", sketch.base)));
        for (const auto* list : {&sketch.known, &sketch.asked})
            for (const NamedExpression& one : *list)
                for (const FigureName& name : one.value.names())
                    if (const auto problem = unaskable(lesson_, later.step, name))
                        throw Failure(d.problem(*attribute_with(d, one.value.text()), 0, problem->message));
    }

    // The scene with its first row alone; null: its rows are not written in it, or there is one.
    static std::shared_ptr<const Scene> first_row_of(const Scene* scene) {
        if (scene == nullptr) return nullptr;
        auto first = std::make_shared<Scene>(*scene);
        std::string& rows = scene->parallel.empty() ? first->train : first->parallel;
        const size_t end = rows.find(';');
        if (end == std::string::npos) return nullptr;
        rows.resize(end);
        first->id.clear();
        return first;
    }

    // The attribute of the sketch in which the expression stands.
    static const Attribute* attribute_with(const Directive& d, const std::string& expression) {
        for (const char* key : {"known", "items", "parts", "points", "x", "y"})
            if (const Attribute* a = d.find(key); a && a->value.find(expression) != std::string::npos) return a;
        return d.find("type");
    }

    void checked(const Later& later) const {
        const Exercise& exercise = lesson_.steps[later.step].exercises.front();
        for (const FigureName& name : exercise.check.names()) {
            const auto problem = unaskable(lesson_, exercise, name);
            if (problem) throw Failure(later.directive.problem(*later.directive.find("check"), name.at, problem->message));
        }
        for (const Expression& clause : exercise.check.clauses())
            if (const std::string problem = says_nothing(clause); !problem.empty())
                throw Failure(later.directive.problem(*later.directive.find("check"), clause.names().front().at, problem));
    }

    // Why nobody's text can fail the clause, or none can hold it; "": it says something of the learner's own.
    static std::string says_nothing(const Expression& clause) {
        const std::vector<FigureName> names = clause.names();
        if (names.empty()) return {};
        const bool others = std::ranges::all_of(names, [](const FigureName& name) { return !name.place("run").empty(); });
        const std::string own = names.front().without("run").text;
        if (!clause.is_truth())
            return others
                       ? fmt::format("'{0}' compares nothing: the learner's own stands without @run, as in {1} <= 0.8 * {0}",
                                     clause.text(), own)
                       : fmt::format("'{0}' compares nothing: it needs a bound, as in {0} <= 100", clause.text());
        if (others)
            return fmt::format("'{}' says nothing of the learner's own run: that is '{}', without @run", clause.text(), own);
        return {};
    }

    // The exercise is there and leaves the figure; only a kernel is launched at another size.
    void challenged(const Directive& d) {
        Challenge& challenge = *lesson_.challenge;
        for (const Step& step : lesson_.steps)
            for (const Exercise& exercise : step.exercises) {
                if (exercise.id != challenge.exercise) continue;
                if (challenge.gold.empty()) challenge.gold = "solution/gold_" + exercise.file;
                for (const FigureName& name : challenge.of.names())
                    if (const auto problem = unaskable(lesson_, exercise, name))
                        throw Failure(d.problem(*d.find("of"), name.at, problem->message));
                if (const Attribute* shape = d.find("shape"); shape && exercise.shapes.front().empty())
                    throw Failure(d.problem(*shape, 0, fmt::format("'{}' has one size: it has no shapes=", exercise.id)));
                return;
            }
        throw Failure(d.problem(*d.find("exercise"), 0, fmt::format("the lesson has no exercise '{}'", d.get("exercise"))));
    }

    [[noreturn]] void fail(int line, int column, std::string message) const {
        const std::string text =
            line >= 1 && static_cast<size_t>(line) <= lines_.size() ? lines_[static_cast<size_t>(line) - 1] : "";
        throw Failure(Diagnostic{std::move(message), {file_, line, column}, text});
    }
    [[noreturn]] void unclosed() const {
        fail(open_->where.line, 1,
             fmt::format("the {} that begins here is not closed: a line ':::' is missing", open_->name));
    }
    int here() const { return static_cast<int>(at_) + 1; }

    void front_matter() {
        if (lines_.front() != "+++") fail(1, 1, "a lesson begins with a line '+++' and its front matter");
        std::string toml;
        for (at_ = 1; at_ < lines_.size() && lines_[at_] != "+++"; ++at_) toml += lines_[at_] + "\n";
        if (at_ == lines_.size()) fail(1, 1, "the front matter that begins here is not closed with '+++'");
        ++at_;
        lesson_ = parse_front_matter(toml, file_, 2).value();
        lesson_.folder = folder_;
    }

    void line(const std::string& text) {
        if (text.rfind("```", 0) == 0) {
            in_code_ = !in_code_;
            code_line_ = here();
        } else if (!in_code_ && text.rfind("## ", 0) == 0) {
            if (open_) unclosed();
            finish_step();
            begin_step(text);
            return;
        } else if (!in_code_ && text.rfind(":::", 0) == 0) {
            const bool was_open = open_.has_value();
            finish_directive();
            if (text.find_first_not_of(": \t") == std::string::npos) {
                // The closing line of a one-line directive is allowed: it reads well under a scene.
                if (!was_open && !after_directive_) fail(here(), 1, "nothing is open here that ':::' could close");
                after_directive_ = false;
                return;
            }
            begin_directive(text);
            return;
        }
        if (!open_ && !step_ && without_spaces(text).empty()) return;
        if (!open_) {
            if (!step_) begin_step("## " + lesson_.title + " | read");  // prose before the first heading
            if (!without_spaces(text).empty()) after_directive_ = false;
            prose_ += text + "\n";
            return;
        }
        if (open_->name == "predict" && text.rfind("|", 0) == 0)
            answer(text);
        else
            body_ += text + "\n";
    }

    void begin_step(const std::string& text) {
        step_.emplace();
        step_->where = {file_, here(), 1};
        const size_t bar = text.rfind('|');
        step_->title = without_spaces(text.substr(3, bar == std::string::npos ? bar : bar - 3));
        step_->verb = bar == std::string::npos ? "read" : without_spaces(text.substr(bar + 1));
        if (step_->title.empty()) fail(here(), 4, "this step has no title");
        if (std::find(verbs.begin(), verbs.end(), step_->verb) == verbs.end()) {
            fail(here(), static_cast<int>(std::min(text.find_first_not_of("| ", bar), text.size())) + 1,
                 fmt::format("unknown verb '{}'{}", step_->verb, did_you_mean(step_->verb, verbs)));
        }
    }

    void finish_step() {
        if (!step_) return;
        step_->prose = parse_prose(prose_);
        prose_.clear();
        after_directive_ = false;
        lesson_.steps.push_back(std::move(*step_));
        step_.reset();
    }

    void begin_directive(const std::string& text) {
        if (!step_) fail(here(), 1, "a directive stands in a step: a '## Title | verb' line is missing before it");
        Directive directive = parse_directive(text, {file_, here(), 1}).value();
        after_directive_ = true;
        if (directive.has_body) open_ = std::move(directive);
        if (!open_ && directive.name == "scene")
            scene(directive);
        else if (!open_)
            step_->until.push_back(until_of(directive));
        else if (open_->name == "predict")
            predict(*open_);
        else if (open_->name == "exercise")
            exercise(*open_);
        else if (open_->name == "challenge")
            challenge(*open_);
    }

    void finish_directive() {
        if (!open_) return;
        const std::string text = without_spaces(joined(body_));
        if (open_->name == "hint") {
            Hint hint;
            hint.after = whole_of(*open_, "after", 1, 1, 100);
            hint.text = text;
            if (text.empty()) fail(open_->where.line, 1, "this hint says nothing");
            step_->hints.push_back(std::move(hint));
        } else if (open_->name == "note") {
            for (TextBlock& block : parse_prose(body_)) step_->presenter_notes.push_back(std::move(block));
        } else if (open_->name == "exercise") {
            step_->exercises.back().prompt = text;
            if (text.empty()) fail(open_->where.line, 1, "this exercise says nothing: its text tells what to do");
        } else if (open_->name == "challenge") {
            lesson_.challenge->prompt = text;
            if (text.empty()) fail(open_->where.line, 1, "this challenge says nothing: its text tells what to beat");
        } else if (open_->name == "predict") {
            Predict& predict = step_->predicts.back();
            predict.question = text;
            if (text.empty()) fail(open_->where.line, 1, "this predict asks nothing: its question is missing");
            if (predict.answers.size() < 2)
                fail(open_->where.line, 1,
                     fmt::format("a predict needs at least two answers, this has {}", predict.answers.size()));
        }
        open_.reset();
        body_.clear();
    }

    // Lines of a body become one line: the app and the terminal wrap it themselves.
    static std::string joined(const std::string& lines) {
        std::string out;
        for (const char c : lines) out += c == '\n' ? ' ' : c;
        return out;
    }

    void scene(const Directive& d) {
        Scene scene = scene_of(d);
        if (!scene.compare.empty()) later_.push_back({d});
        if (!step_->scenes.empty()) fail(d.where.line, 1, "this step has a scene already");
        if (!scene.id.empty() && !scene_ids_.insert(scene.id).second)
            throw Failure(d.problem(*d.find("id"), 0, fmt::format("another scene has the id '{}'", scene.id)));
        step_->scenes.push_back(std::move(scene));
    }

    void predict(const Directive& d) {
        Predict predict = predict_of(d);
        unique(d, predict.id);
        later_.push_back({d, lesson_.steps.size(), step_->predicts.size()});
        step_->predicts.push_back(std::move(predict));
    }

    void exercise(const Directive& d) {
        Exercise exercise = exercise_of(d);
        unique(d, exercise.id);
        if (!step_->exercises.empty())
            fail(d.where.line, 1, "this step has an exercise already: the next one begins another step");
        later_.push_back({d, lesson_.steps.size()});
        step_->exercises.push_back(std::move(exercise));
    }

    void challenge(const Directive& d) {
        if (lesson_.challenge) fail(d.where.line, 1, "a lesson has one challenge, and this one has one already");
        lesson_.challenge = challenge_of(d);
        later_.push_back({d});
    }

    void unique(const Directive& d, const std::string& id) {
        if (!ids_.insert(id).second)
            throw Failure(d.problem(*d.find("id"), 0, fmt::format("the id '{}' stands here twice", id)));
    }

    // answer of type number = "|" NUMBER "|" reply;   of type choice = "|" VALUE "|" text [ "|" detail ] "|" reply
    void answer(const std::string& line) {
        Predict& predict = step_->predicts.back();
        std::vector<std::string> cells;
        for (size_t begin = 1; begin <= line.size();) {
            const size_t end = std::min(line.find('|', begin), line.size());
            cells.push_back(without_spaces(line.substr(begin, end - begin)));
            begin = end + 1;
        }
        if (cells.size() > 1 && cells.back().empty()) cells.pop_back();  // a closing bar, as tables have it
        const bool choice = predict.type == "choice";
        if (choice ? cells.size() < 3 || cells.size() > 4 : cells.size() != 2)
            fail(here(), 1,
                 choice ? "an answer to choose is written | value | text | reply, or | value | text | detail | reply"
                        : "an answer of type number is written | number | reply");
        Answer answer;
        const std::optional<double> value = number_with_thousands(cells[0]);
        if (!value)
            fail(here(), static_cast<int>(line.find_first_not_of("| ")) + 1, fmt::format("'{}' is not a number", cells[0]));
        answer.value = *value;
        answer.has_value = true;
        answer.text = choice ? cells[1] : cells[0];
        if (cells.size() == 4) answer.detail = cells[2];
        answer.reply = cells.back();
        if (answer.text.empty() || answer.reply.empty()) fail(here(), 1, "an answer needs its text and a reply");
        predict.answers.push_back(std::move(answer));
    }

    std::string file_;
    std::filesystem::path folder_;
    std::vector<std::string> lines_;
    size_t at_ = 0;
    Lesson lesson_;
    std::optional<Step> step_;
    std::optional<Directive> open_;
    std::string prose_, body_;
    std::set<std::string> ids_, scene_ids_;
    std::vector<Later> later_;
    bool in_code_ = false, after_directive_ = false;
    int code_line_ = 0;
};

}  // namespace

Result<Lesson> parse_lesson(const std::string& text, const std::filesystem::path& file) {
    if (text.size() > largest_lesson) return Diagnostic{"a lesson of more than 1 MiB is not read", {file.string()}};
    try {
        return LessonParser(text, file).parse();
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

const Scene* scene_at(const Lesson& lesson, size_t step) {
    for (size_t i = std::min(step + 1, lesson.steps.size()); i-- > 0;)
        if (!lesson.steps[i].scenes.empty()) return &lesson.steps[i].scenes.back();
    return nullptr;
}

std::vector<std::string> compared_with(const std::string& compare) {
    std::istringstream words(compare);
    std::vector<std::string> ids;
    for (std::string id; words >> id;) ids.push_back(id);
    return ids;
}

const Scene* scene_named(const Lesson& lesson, const std::string& id) {
    for (const Step& step : lesson.steps)
        for (const Scene& scene : step.scenes)
            if (!id.empty() && scene.id == id) return &scene;
    return nullptr;
}

}  // namespace lockstep::lessons
