// lesson.md -> Lesson, line by line. What a line begins with decides: "+++" the front matter, "## " a step, ":::" a
// directive (or the end of one), "|" inside a predict an answer; the rest is prose of the step or the body of the open
// directive.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

#include "core/base/nearest.h"
#include "core/model/gpu_spec.h"
#include "lessons/player/attributes.h"
#include "lessons/player/expression.h"
#include "lessons/player/front_matter.h"
#include "lessons/player/kernel_arguments.h"
#include "lessons/player/lesson.h"
#include "lessons/player/parallel_scene.h"
#include "lessons/player/prose.h"

namespace lockstep::lessons {
namespace {

constexpr size_t largest_lesson = 1 << 20;
const std::vector<std::string> verbs = {"read", "predict", "run", "investigate", "modify", "make"};

std::string trimmed(const std::string& text) {
    const size_t begin = text.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<double> number_at_front(const std::string& text) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    return value;
}

bool is_number(const std::string& text) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && rest == text.data() + text.size();
}

// Arguments stand side by side; a space inside [] or {} does not part them.
struct Piece {
    std::string text;
    size_t offset = 0;
};
std::vector<Piece> pieces(const std::string& list) {
    std::vector<Piece> found;
    int open = 0;
    bool inside = false;
    for (size_t i = 0; i < list.size(); ++i) {
        const char c = list[i];
        if (c == '[' || c == '{' || c == '(') ++open;
        if (c == ']' || c == '}' || c == ')') --open;
        if (c == ' ' && open <= 0) {
            inside = false;
            continue;
        }
        if (!inside) found.push_back({"", i});
        inside = true;
        found.back().text += c;
    }
    return found;
}

// 101,770: up to three digits, then groups of three, each behind a comma.
bool has_thousands(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    if (text.size() > 31) return false;
    const size_t first = text.find(',');
    if (first == 0 || first > 3 || text.size() % 4 != first % 4) return false;
    for (size_t i = 0; i < text.size(); ++i)
        if (i % 4 == first % 4 && i >= first ? text[i] != ',' : text[i] < '0' || text[i] > '9') return false;
    return true;
}

// Takes `prefix` and the number that follows it off `text`.
bool take_number(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    const size_t end = std::min(text.find_first_not_of("0123456789", prefix.size()), text.size());
    if (end == prefix.size()) return false;
    text.remove_prefix(end);
    return true;
}

class LessonParser {
  public:
    LessonParser(const std::string& text, const std::filesystem::path& file) : file_(file.string()) {
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
        for (const Directive& d : compared_) {
            const Scene* other = scene_named(lesson_, d.get("compare"));
            if (!other || other->id == d.get("id") || other->file.empty())
                throw Failure(d.problem(*d.find("compare"), 0,
                                        fmt::format("no other kernel scene has the id '{}'", d.get("compare"))));
        }
        if (lesson_.steps.empty())
            fail(static_cast<int>(lines_.size()), 1, "the lesson has no step: a '## Title | verb' line is missing");
        return std::move(lesson_);
    }

  private:
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
        if (!open_ && !step_ && trimmed(text).empty()) return;
        if (!open_) {
            if (!step_) begin_step("## " + lesson_.title + " | read");  // prose before the first heading
            if (!trimmed(text).empty()) after_directive_ = false;
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
        step_->title = trimmed(text.substr(3, bar == std::string::npos ? bar : bar - 3));
        step_->verb = bar == std::string::npos ? "read" : trimmed(text.substr(bar + 1));
        if (step_->title.empty()) fail(here(), 4, "this step has no title");
        if (std::find(verbs.begin(), verbs.end(), step_->verb) == verbs.end()) {
            const std::string near = nearest_name(step_->verb, verbs);
            fail(here(), static_cast<int>(std::min(text.find_first_not_of("| ", bar), text.size())) + 1,
                 fmt::format("unknown verb '{}'{}", step_->verb,
                             near.empty() ? fmt::format("; there are {}", fmt::join(verbs, ", "))
                                          : fmt::format(", did you mean '{}'?", near)));
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
            until(directive);
        else if (open_->name == "predict")
            predict(*open_);
        else if (open_->name == "exercise")
            exercise(*open_);
    }

    void finish_directive() {
        if (!open_) return;
        const std::string text = trimmed(joined(body_));
        if (open_->name == "hint") {
            Hint hint;
            hint.after = whole(*open_, "after", 1, 1, 100);
            hint.text = text;
            if (text.empty()) fail(open_->where.line, 1, "this hint says nothing");
            step_->hints.push_back(std::move(hint));
        } else if (open_->name == "note") {
            for (TextBlock& block : parse_prose(body_)) step_->presenter_notes.push_back(std::move(block));
        } else if (open_->name == "exercise") {
            step_->exercises.back().prompt = text;
            if (text.empty()) fail(open_->where.line, 1, "this exercise says nothing: its text tells what to do");
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

    int whole(const Directive& d, std::string_view key, int otherwise, int least, int most) const {
        const Attribute* a = d.find(key);
        if (!a) return otherwise;
        int value = 0;
        const auto [rest, error] = std::from_chars(a->value.data(), a->value.data() + a->value.size(), value);
        if (error != std::errc{} || rest != a->value.data() + a->value.size() || value < least || value > most)
            throw Failure(d.problem(*a, 0, fmt::format("'{}' is a whole number from {} to {}", key, least, most)));
        return value;
    }
    double real(const Directive& d, std::string_view key, double otherwise, double least, double most) const {
        const Attribute* a = d.find(key);
        if (!a) return otherwise;
        const auto value = is_number(a->value) ? number_at_front(a->value) : std::nullopt;
        if (!value || !(*value >= least && *value <= most))
            throw Failure(d.problem(*a, 0, fmt::format("'{}' is a number from {} to {}", key, least, most)));
        return *value;
    }
    void extents(const Directive& d, std::string_view key, std::string& place) const {
        const Attribute* a = d.find(key);
        if (!a) return;
        place = a->value;
        if (place.find('$') != std::string::npos) return;  // filled in for every shape
        const Result<simt::Dim3> parsed = parse_dim3(place, key);
        if (!parsed) throw Failure(d.problem(*a, 0, parsed.error().message));
    }
    std::vector<std::string> argument_list(const Directive& d) const {
        std::vector<std::string> list;
        const Attribute* a = d.find("args");
        if (!a) return list;
        for (const Piece& piece : pieces(a->value)) {
            list.push_back(piece.text);
            if (piece.text.find('$') != std::string::npos) continue;
            const Result<KernelArgument> parsed = parse_argument(piece.text);
            if (!parsed)
                throw Failure(d.problem(*a, piece.offset + static_cast<size_t>(parsed.error().where.column) - 1,
                                        parsed.error().message));
        }
        return list;
    }
    void expression(const Directive& d, std::string_view key) const {
        const Attribute* a = d.find(key);
        const Result<Expression> parsed = Expression::parse(a->value);
        if (!parsed)
            throw Failure(d.problem(*a, static_cast<size_t>(parsed.error().where.column) - 1, parsed.error().message));
    }
    void file_name(const Directive& d, std::string_view key, std::string& place) const {
        const Attribute* a = d.find(key);
        if (!a) return;
        place = a->value;
        // A lesson reads files of its own folder, and kernels that lie beside the lessons.
        constexpr std::string_view beside = "../../kernels/";
        const std::string_view rest = std::string_view(place).substr(place.starts_with(beside) ? beside.size() : 0);
        if (rest.starts_with('/') || rest.find("..") != std::string_view::npos || rest.find('\\') != std::string_view::npos)
            throw Failure(d.problem(*a, 0, "a file of the lesson's own folder is named here"));
    }

    void scene(const Directive& d) {
        Scene scene;
        scene.where = d.where;
        scene.id = d.get("id");
        scene.kernel = d.get("kernel");
        scene.gpu = d.get("gpu");
        gpu_list(d, scene.gpus);
        scene.train = d.get("train");
        scene.view = d.get("view");
        focus(d, scene.focus);
        scene.expect = d.get("expect");
        scene.compare = d.get("compare");
        if (!scene.compare.empty()) compared_.push_back(d);
        file_name(d, "file", scene.file);
        file_name(d, "host", scene.host);
        file_name(d, "tape", scene.tape);
        if (is_engine_program(scene.train)) file_name(d, "train", scene.train);
        for (const ParallelKind& kind : parallel_kinds()) {
            const std::string rows = d.get(kind.name);
            if (rows.empty()) continue;
            if (!scene.parallel.empty()) fail(d.where.line, 1, "a scene shows one thing");
            scene.parallel_kind = kind.name;
            scene.parallel = rows;
            if (is_parallel_program(rows)) file_name(d, kind.name, scene.parallel);
        }
        extents(d, "grid", scene.grid);
        extents(d, "block", scene.block);
        scene.arguments = argument_list(d);
        scene.dynamic_shared = static_cast<uint32_t>(whole(d, "shared", 0, 0, 1 << 20));
        if (!scene.file.empty() + !scene.train.empty() + !scene.host.empty() + !scene.tape.empty() +
                !scene.parallel.empty() !=
            1)
            fail(d.where.line, 1,
                 "a scene has either file=... (a kernel), host=... (a host program), tape=... (a tensor program), "
                 "train=... (training), or schedule=, collective=, parallel=, plan= or mesh= (many ranks)");
        if (!scene.gpus.empty() && scene.file.empty())
            throw Failure(d.problem(*d.find("gpus"), 0, "gpus= goes with file=: a kernel that runs on each of them"));
        if (!step_->scenes.empty()) fail(d.where.line, 1, "this step has a scene already");
        if (!scene.id.empty() && !scene_ids_.insert(scene.id).second)
            throw Failure(d.problem(*d.find("id"), 0, fmt::format("another scene has the id '{}'", scene.id)));
        step_->scenes.push_back(std::move(scene));
    }

    // gpus = name { " " name }, at most eight
    void gpu_list(const Directive& d, std::vector<std::string>& names) const {
        const Attribute* a = d.find("gpus");
        if (!a) return;
        std::istringstream words(a->value);
        for (std::string name; words >> name;) {
            if (const auto gpu = model::gpu_named(name); !gpu)
                throw Failure(d.problem(*a, a->value.find(name), gpu.error().message));
            names.push_back(name);
        }
        if (names.empty() || names.size() > 8) throw Failure(d.problem(*a, 0, "gpus= names one to eight GPUs"));
    }

    // until = "issue(line:" N ")"
    void until(const Directive& d) {
        step_->until.push_back(d.get("until"));
        std::string_view rest = step_->until.back();
        if (!take_number(rest, "issue(line:") || rest != ")")
            throw Failure(d.problem(*d.find("until"), 0, "a step begins where a line is issued, as in issue(line:7)"));
    }

    // focus = "warp:" N [ "@line:" N ] | "launch:" N | "step:" N
    void focus(const Directive& d, std::string& place) const {
        place = d.get("focus");
        std::string_view rest = place;
        if (rest.empty()) return;
        if (take_number(rest, "warp:"))
            take_number(rest, "@line:");
        else if (!take_number(rest, "launch:"))
            take_number(rest, "step:");
        if (!rest.empty())
            throw Failure(d.problem(*d.find("focus"), place.size() - rest.size(),
                                    "a scene looks at a place such as warp:0@line:7, launch:3 or step:0"));
    }

    void predict(const Directive& d) {
        Predict predict;
        predict.where = d.where;
        predict.id = d.get("id");
        predict.of = d.get("of");
        predict.type = d.get("type");
        predict.tolerance = real(d, "tolerance", predict.tolerance, 0, 10);
        if (predict.type != "number" && predict.type != "choice")
            throw Failure(
                d.problem(*d.find("type"), 0, fmt::format("unknown type '{}': there are number and choice", predict.type)));
        expression(d, "of");
        unique(d, predict.id);
        step_->predicts.push_back(std::move(predict));
    }

    void exercise(const Directive& d) {
        Exercise exercise;
        exercise.where = d.where;
        exercise.id = d.get("id");
        exercise.kernel = d.get("kernel");
        exercise.check = d.get("check");
        inputs(d, exercise.inputs);
        exercise.gpu = d.get("gpu");
        exercise.grid = "1";
        exercise.block = "32";
        file_name(d, "file", exercise.file);
        file_name(d, "reference", exercise.reference);
        if (exercise.reference.empty()) exercise.reference = "solution/" + exercise.file;
        if (!is_host_program(exercise.file) && !is_engine_program(exercise.file) && !is_parallel_program(exercise.file) &&
            !d.find("args"))
            throw Failure(Diagnostic{"this exercise needs the attribute 'args'", {file_, d.where.line, 5}, d.source_line});
        extents(d, "grid", exercise.grid);
        extents(d, "block", exercise.block);
        exercise.arguments = argument_list(d);
        exercise.dynamic_shared = static_cast<uint32_t>(whole(d, "shared", 0, 0, 1 << 20));
        exercise.points = real(d, "points", 1, 0, 1000);
        expression(d, "check");
        unique(d, exercise.id);
        shapes(d, exercise);
        if (!step_->exercises.empty())
            fail(d.where.line, 1, "this step has an exercise already: the next one begins another step");
        step_->exercises.push_back(std::move(exercise));
    }

    void unique(const Directive& d, const std::string& id) {
        if (!ids_.insert(id).second)
            throw Failure(d.problem(*d.find("id"), 0, fmt::format("the id '{}' stands here twice", id)));
    }

    // inputs = part { "," part };  part = "random:" N | "edges"
    void inputs(const Directive& d, std::vector<InputKind>& list) const {
        const Attribute* a = d.find("inputs");
        if (!a) return;
        list.clear();
        for (size_t begin = 0; begin <= a->value.size();) {
            const size_t end = std::min(a->value.find(',', begin), a->value.size());
            const std::string written = a->value.substr(begin, end - begin), part = trimmed(written);
            InputKind kind;
            kind.edges = part == "edges";
            const std::string_view digits = std::string_view(part).substr(part.starts_with("random:") ? 7 : part.size());
            const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), kind.random);
            const bool number = error == std::errc{} && rest == digits.data() + digits.size();
            if (!kind.edges && !(number && kind.random >= 1 && kind.random <= 100))
                throw Failure(d.problem(*a, begin + written.find(part),
                                        fmt::format("'{}' is neither random:N (N from 1 to 100) nor edges", part)));
            list.push_back(kind);
            begin = end + 1;
        }
    }

    // shapes = shape { ";" shape };  shape = name "=" number { " " name "=" number }
    void shapes(const Directive& d, Exercise& exercise) const {
        const Attribute* a = d.find("shapes");
        exercise.shapes.clear();
        if (!a) {
            exercise.shapes.push_back("");
            return;
        }
        for (size_t begin = 0; begin <= a->value.size();) {
            const size_t end = std::min(a->value.find(';', begin), a->value.size());
            for (const Piece& piece : pieces(a->value.substr(begin, end - begin))) {
                const size_t equals = piece.text.find('=');
                if (equals == 0 || equals == std::string::npos || !is_number(piece.text.substr(equals + 1)))
                    throw Failure(d.problem(*a, begin + piece.offset,
                                            "a shape is written like n=25 block=12; the next follows after ';'"));
            }
            exercise.shapes.push_back(trimmed(a->value.substr(begin, end - begin)));
            begin = end + 1;
        }
    }

    // answer of type number = "|" NUMBER "|" reply;   of type choice = "|" VALUE "|" text [ "|" detail ] "|" reply
    void answer(const std::string& line) {
        Predict& predict = step_->predicts.back();
        std::vector<std::string> cells;
        for (size_t begin = 1; begin <= line.size();) {
            const size_t end = std::min(line.find('|', begin), line.size());
            cells.push_back(trimmed(line.substr(begin, end - begin)));
            begin = end + 1;
        }
        if (cells.size() > 1 && cells.back().empty()) cells.pop_back();  // a closing bar, as tables have it
        const bool choice = predict.type == "choice";
        if (choice ? cells.size() < 3 || cells.size() > 4 : cells.size() != 2)
            fail(here(), 1,
                 choice ? "an answer to choose is written | value | text | reply, or | value | text | detail | reply"
                        : "an answer of type number is written | number | reply");
        Answer answer;
        std::string digits = cells[0];
        if (has_thousands(digits)) std::erase(digits, ',');
        const auto value = is_number(digits) ? number_at_front(digits) : std::nullopt;
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
    std::vector<std::string> lines_;
    size_t at_ = 0;
    Lesson lesson_;
    std::optional<Step> step_;
    std::optional<Directive> open_;
    std::string prose_, body_;
    std::set<std::string> ids_, scene_ids_;
    std::vector<Directive> compared_;  // scenes that name another, which may come later
    bool in_code_ = false, after_directive_ = false;
    int code_line_ = 0;
};

}  // namespace

Result<Lesson> parse_lesson(const std::string& text, const std::filesystem::path& file) {
    if (text.size() > largest_lesson) return Diagnostic{"a lesson of more than 1 MiB is not read", {file.string()}};
    try {
        Lesson lesson = LessonParser(text, file).parse();
        lesson.folder = file.parent_path();
        return lesson;
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

bool is_host_program(const std::string& file) {
    return file.ends_with(".host");
}
bool is_parallel_program(const std::string& file) {
    return parallel_kind_of(file) != nullptr;
}
bool is_tensor_program(const std::string& file) {
    return file.ends_with(".tape");
}
bool is_engine_program(const std::string& file) {
    return is_tensor_program(file) || file.ends_with(".train");
}

const Scene* scene_at(const Lesson& lesson, size_t step) {
    for (size_t i = std::min(step + 1, lesson.steps.size()); i-- > 0;)
        if (!lesson.steps[i].scenes.empty()) return &lesson.steps[i].scenes.back();
    return nullptr;
}

const Scene* scene_named(const Lesson& lesson, const std::string& id) {
    for (const Step& step : lesson.steps)
        for (const Scene& scene : step.scenes)
            if (!id.empty() && scene.id == id) return &scene;
    return nullptr;
}

}  // namespace lockstep::lessons
