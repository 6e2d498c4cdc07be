// ::: lines as data.
#include "lessons/player/parse_directives.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "core/base/nearest.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/figures/expression.h"
#include "lessons/player/authors/authors.h"
#include "lessons/player/sketch/sketch.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

[[noreturn]] void fail(const Directive& d, std::string message) {  // of the line as a whole
    throw Failure(Diagnostic{std::move(message), {d.where.file, d.where.line, 1}, d.source_line});
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

// Takes `prefix` and the number that follows it off `text`, and tells the number.
bool take_number(std::string_view& text, std::string_view prefix, int* number = nullptr) {
    if (!text.starts_with(prefix)) return false;
    const size_t end = std::min(text.find_first_not_of("0123456789", prefix.size()), text.size());
    if (end == prefix.size()) return false;
    if (number != nullptr) std::from_chars(text.data() + prefix.size(), text.data() + end, *number);
    text.remove_prefix(end);
    return true;
}

double real(const Directive& d, std::string_view key, double otherwise, double least, double most) {
    const Attribute* a = d.find(key);
    if (!a) return otherwise;
    const auto value = number_of(a->value);
    if (!value || !(*value >= least && *value <= most))
        throw Failure(d.problem(*a, 0, fmt::format("'{}' is a number from {} to {}", key, least, most)));
    return *value;
}
void extents(const Directive& d, std::string_view key, std::string& place) {
    const Attribute* a = d.find(key);
    if (!a) return;
    place = a->value;
    if (place.find('$') != std::string::npos) return;  // filled in for every shape
    const Result<simt::Dim3> parsed = parse_dim3(place, key);
    if (!parsed) throw Failure(d.problem(*a, 0, parsed.error().message));
}
std::vector<std::string> argument_list(const Directive& d) {
    std::vector<std::string> list;
    const Attribute* a = d.find("args");
    if (!a) return list;
    for (const Piece& piece : pieces(a->value)) {
        list.push_back(piece.text);
        if (piece.text.find('$') != std::string::npos) continue;
        const Result<KernelArgument> parsed = parse_argument(piece.text);
        if (!parsed)
            throw Failure(
                d.problem(*a, piece.offset + static_cast<size_t>(parsed.error().where.column) - 1, parsed.error().message));
    }
    return list;
}
Expression expression(const Directive& d, std::string_view key) {
    const Attribute* a = d.find(key);
    Result<Expression> parsed = Expression::parse(a->value);
    if (!parsed) throw Failure(d.problem(*a, static_cast<size_t>(parsed.error().where.column) - 1, parsed.error().message));
    return std::move(parsed).value();
}
void file_name(const Directive& d, std::string_view key, std::string& place) {
    const Attribute* a = d.find(key);
    if (!a) return;
    place = a->value;
    // A lesson reads files of its own folder, and kernels that lie beside the lessons.
    constexpr std::string_view beside = "../../kernels/";
    const std::string_view rest = std::string_view(place).substr(place.starts_with(beside) ? beside.size() : 0);
    if (rest.starts_with('/') || rest.find("..") != std::string_view::npos || rest.find('\\') != std::string_view::npos)
        throw Failure(d.problem(*a, 0, "a file of the lesson's own folder is named here"));
}

// gpus = name { " " name }, at most eight
void gpu_list(const Directive& d, std::vector<std::string>& names) {
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

bool yes(const Directive& d, std::string_view key, bool otherwise) {
    const Attribute* a = d.find(key);
    if (!a) return otherwise;
    if (a->value != "yes" && a->value != "no") throw Failure(d.problem(*a, 0, fmt::format("'{}' is yes or no", key)));
    return a->value == "yes";
}

void view(const Directive& d, std::string& place) {
    place = d.get("view");
    std::vector<std::string> known;
    for (const LessonView& row : lesson_views()) known.emplace_back(row.name);
    if (!place.empty() && std::find(known.begin(), known.end(), place) == known.end())
        throw Failure(d.problem(*d.find("view"), 0, fmt::format("unknown view '{}'{}", place, did_you_mean(place, known))));
}

// focus = "warp:" N [ "@line:" N ] | "launch:" N | "step:" N | "row:" NAME [ "@against:" NAME ] [ "@of:" NAME ]
//       | "of:" ( "time" | "memory" | "energy" )
void focus(const Directive& d, std::string& place) {
    place = d.get("focus");
    std::string_view rest = place;
    if (rest.empty() || rest.starts_with("row:") || rest == "of:time" || rest == "of:memory" || rest == "of:energy") return;
    if (take_number(rest, "warp:"))
        take_number(rest, "@line:");
    else if (!take_number(rest, "launch:"))
        take_number(rest, "step:");
    if (!rest.empty())
        throw Failure(d.problem(*d.find("focus"), place.size() - rest.size(),
                                "a scene looks at a place such as warp:0@line:7, launch:3 or step:0"));
}

// inputs = part { "," part };  part = "random:" N | "edges"
void inputs(const Directive& d, std::vector<InputKind>& list) {
    const Attribute* a = d.find("inputs");
    if (!a) return;
    list.clear();
    for (size_t begin = 0; begin <= a->value.size();) {
        const size_t end = std::min(a->value.find(',', begin), a->value.size());
        const std::string written = a->value.substr(begin, end - begin), part = without_spaces(written);
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

std::vector<std::string> words(const Directive& d, std::string_view key) {
    std::istringstream text(d.get(key));
    std::vector<std::string> list;
    for (std::string word; text >> word;) list.push_back(std::move(word));
    return list;
}

// points = number | number { "," number }: of the exercise, or of each clause of check=
void points(const Directive& d, Exercise& exercise) {
    const Attribute* a = d.find("points");
    if (!a) return;
    std::vector<double> each;
    for (size_t begin = 0; begin <= a->value.size();) {
        const size_t end = std::min(a->value.find(',', begin), a->value.size());
        const auto value = number_of(without_spaces(a->value.substr(begin, end - begin)));
        if (!value || !(*value >= 0 && *value <= 1000))
            throw Failure(d.problem(*a, begin, "'points' is a number from 0 to 1000, or one a clause: points=\"1,2\""));
        each.push_back(*value);
        begin = end + 1;
    }
    exercise.points = 0;
    for (const double value : each) exercise.points += value;
    const size_t clauses = exercise.check.clauses().size();
    if (each.size() == 1) return;
    if (each.size() != clauses)
        throw Failure(
            d.problem(*a, 0, fmt::format("check= has {} clauses, and here are points for {}", clauses, each.size())));
    exercise.clause_points = std::move(each);
}

// allow = checker { " " checker }
void allowed(const Directive& d, Exercise& exercise) {
    static const std::vector<std::string> checkers = {"racecheck", "initcheck", "synccheck"};
    exercise.allow = words(d, "allow");
    for (const std::string& checker : exercise.allow)
        if (std::find(checkers.begin(), checkers.end(), checker) == checkers.end())
            throw Failure(d.problem(*d.find("allow"), d.get("allow").find(checker),
                                    fmt::format("allow= names checkers, racecheck, initcheck or synccheck, not '{}'{}",
                                                checker, did_you_mean(checker, checkers))));
}

// changes = what { " " what }, without = function { " " function }: of the kinds of files that pinned.h looks into
void pinned(const Directive& d, Exercise& exercise) {
    exercise.changes = words(d, "changes");
    exercise.without = words(d, "without");
    const bool rows = is_parallel_program(exercise.file) || exercise.file.ends_with(".train");
    if (!exercise.changes.empty() && !rows && !is_host_program(exercise.file))
        throw Failure(d.problem(*d.find("changes"), 0,
                                "changes= is of rows of many ranks, training runs and host programs: what a kernel or a "
                                "tensor program does is asked for in check="));
    if (!exercise.without.empty() && !is_tensor_program(exercise.file))
        throw Failure(d.problem(*d.find("without"), 0, "without= names functions of a tensor program"));
}

// shapes = shape { ";" shape };  shape = name "=" number { " " name "=" number }
void shapes(const Directive& d, Exercise& exercise) {
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
            if (equals == 0 || equals == std::string::npos || !number_of(piece.text.substr(equals + 1)))
                throw Failure(d.problem(*a, begin + piece.offset,
                                        "a shape is written like n=25 block=12; the next follows after ';'"));
        }
        exercise.shapes.push_back(without_spaces(a->value.substr(begin, end - begin)));
        begin = end + 1;
    }
}

}  // namespace

// until = "issue(line:" N [ ", time:" N ] ")"
std::optional<LineIssue> issue_named(std::string_view until) {
    LineIssue issue;
    bool good = take_number(until, "issue(line:", &issue.line);
    if (good && until.starts_with(",")) good = take_number(until, ", time:", &issue.time) && issue.time > 0;
    return good && until == ")" ? std::optional(issue) : std::nullopt;
}

std::string without_spaces(const std::string& text) {
    const size_t begin = text.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<double> number_of(const std::string& text) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<double> number_with_thousands(const std::string& text) {
    std::string digits = text;
    if (has_thousands(digits)) std::erase(digits, ',');
    return number_of(digits);
}

int whole_of(const Directive& d, std::string_view key, int otherwise, int least, int most) {
    const Attribute* a = d.find(key);
    if (!a) return otherwise;
    int value = 0;
    const auto [rest, error] = std::from_chars(a->value.data(), a->value.data() + a->value.size(), value);
    if (error != std::errc{} || rest != a->value.data() + a->value.size() || value < least || value > most)
        throw Failure(d.problem(*a, 0, fmt::format("'{}' is a whole number from {} to {}", key, least, most)));
    return value;
}
Scene scene_of(const Directive& d) {
    Scene scene;
    scene.where = d.where;
    scene.id = d.get("id");
    scene.kernel = d.get("kernel");
    scene.gpu = d.get("gpu");
    gpu_list(d, scene.gpus);
    scene.train = d.get("train");
    view(d, scene.view);
    focus(d, scene.focus);
    scene.expect = d.get("expect");
    scene.guess = yes(d, "guess", false);
    if (scene.guess && scene.view != "roofline")
        throw Failure(d.problem(*d.find("guess"), 0, "guess=\"yes\" goes with view=\"roofline\", where a run is placed"));
    scene.compare = d.get("compare");
    file_name(d, "file", scene.file);
    file_name(d, "host", scene.host);
    file_name(d, "tape", scene.tape);
    if (is_engine_program(scene.train)) file_name(d, "train", scene.train);
    for (const ParallelKind& kind : parallel_kinds()) {
        const std::string rows = d.get(kind.name);
        if (rows.empty()) continue;
        if (!scene.parallel.empty()) fail(d, "a scene shows one thing");
        scene.parallel_kind = kind.name;
        scene.parallel = rows;
        if (is_parallel_program(rows)) file_name(d, kind.name, scene.parallel);
    }
    extents(d, "grid", scene.grid);
    extents(d, "block", scene.block);
    scene.arguments = argument_list(d);
    scene.dynamic_shared = static_cast<uint32_t>(whole_of(d, "shared", 0, 0, 1 << 20));
    if (!scene.file.empty() + !scene.train.empty() + !scene.host.empty() + !scene.tape.empty() + !scene.parallel.empty() !=
        1)
        fail(d,
             "a scene has either file=... (a kernel), host=... (a host program), tape=... (a tensor program), "
             "train=... (training), or schedule=, collective=, parallel=, plan= or mesh= (many ranks)");
    if (!scene.gpus.empty() && scene.file.empty())
        throw Failure(d.problem(*d.find("gpus"), 0, "gpus= goes with file=: a kernel that runs on each of them"));
    return scene;
}

std::string until_of(const Directive& d) {
    const std::string until = d.get("until");
    if (!issue_named(until))
        throw Failure(d.problem(*d.find("until"), 0, "a step begins where a line is issued, as in issue(line:7)"));
    return until;
}

namespace {

// list = named { ";" named };  named = words ":" " " expression
void named_expressions(const Directive& d, std::string_view key, std::vector<NamedExpression>& list) {
    const Attribute* a = d.find(key);
    if (!a) return;
    for (size_t begin = 0; begin <= a->value.size();) {
        const size_t end = std::min(a->value.find(';', begin), a->value.size());
        const std::string part = a->value.substr(begin, end - begin);
        const size_t colon = part.find(": ");
        const std::string name = without_spaces(part.substr(0, colon == std::string::npos ? 0 : colon));
        if (name.empty())
            throw Failure(d.problem(*a, begin, fmt::format("'{}' is written name: figure; name: figure", key)));
        const size_t from = std::min(part.find_first_not_of(' ', colon + 1), part.size());
        Result<Expression> parsed = Expression::parse(part.substr(from));
        if (!parsed)
            throw Failure(d.problem(*a, begin + from + static_cast<size_t>(std::max(1, parsed.error().where.column)) - 1,
                                    parsed.error().message));
        if (std::any_of(list.begin(), list.end(), [&](const NamedExpression& one) { return one.name == name; }))
            throw Failure(d.problem(*a, begin, fmt::format("'{}' stands here twice", name)));
        list.push_back({name, std::move(parsed).value()});
        begin = end + 1;
    }
}

// axis = number ".." number
void axis_of(const Directive& d, SketchText& sketch) {
    const Attribute* a = d.find("axis");
    if (!a) return;
    const size_t dots = a->value.find("..");
    const auto low = number_of(a->value.substr(0, std::min(dots, a->value.size())));
    const auto high = dots == std::string::npos ? std::nullopt : number_of(a->value.substr(dots + 2));
    if (!low || !high || !(*low < *high))
        throw Failure(d.problem(*a, 0, "an axis is written from..to, the lesser number first: axis=\"0..40\""));
    sketch.low = *low, sketch.high = *high;
}

// Of a sketch: its kind's attributes, and no others.
SketchText sketch_of(const Directive& d, const SketchKind& kind) {
    for (const std::string_view needed : kind.needs)
        if (!d.find(needed))
            throw Failure(d.problem(*d.find("type"), 0, fmt::format("a sketch of type {} needs {}=", kind.name, needed)));
    static constexpr std::string_view all[] = {"base", "known", "label", "unit",   "finding", "axis",
                                               "log",  "items", "parts", "points", "x",       "y"};
    for (const std::string_view key : all) {
        const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), key) != list.end(); };
        if (const Attribute* a = d.find(key); a && !has(kind.needs) && !has(kind.may))
            throw Failure(d.problem(*a, 0, fmt::format("a sketch of type {} has no attribute '{}'", kind.name, key)));
    }
    SketchText sketch;
    sketch.base = d.get("base");
    sketch.label = d.get("label");
    sketch.unit = d.get("unit");
    sketch.finding = d.get("finding");
    sketch.log = yes(d, "log", false);
    axis_of(d, sketch);
    if (sketch.log && sketch.low < sketch.high && !(sketch.low > 0))
        throw Failure(d.problem(*d.find("axis"), 0, "a logarithmic axis begins above zero"));
    named_expressions(d, "known", sketch.known);
    for (const std::string_view key : {"items", "parts", "points"}) named_expressions(d, key, sketch.asked);
    for (const std::string_view key : {"x", "y"})
        if (d.find(key)) sketch.asked.push_back({std::string(key), expression(d, key)});
    const size_t least = kind.name == "order" || kind.name == "shares" ? 2 : 0;
    if (sketch.asked.size() < least || sketch.asked.size() > 12 || sketch.known.size() > 12)
        throw Failure(
            d.problem(*d.find("type"), 0,
                      fmt::format("a sketch of type {} takes {} to 12 of them", kind.name, std::max<size_t>(1, least))));
    return sketch;
}

}  // namespace

Predict predict_of(const Directive& d) {
    Predict predict;
    predict.where = d.where;
    predict.id = d.get("id");
    predict.type = d.get("type");
    const SketchKind* kind = sketch_kind(predict.type);
    if (kind == nullptr && predict.is_sketch())
        throw Failure(
            d.problem(*d.find("type"), 0,
                      fmt::format("unknown type '{}': there are number, choice, {}", predict.type, sketch_kind_names())));
    predict.tolerance = real(d, "tolerance", kind ? kind->tolerance : predict.tolerance, 0, 10);
    predict.points = real(d, "worth", 1, 0.5, 100);
    predict.sure = yes(d, "sure", kind == nullptr);
    SketchKind plain;  // a list of answers has no attributes of a sketch, but for the picture of the case before
    plain.name = predict.type;
    plain.may = {"base"};
    predict.sketch = sketch_of(d, kind ? *kind : plain);
    predict.of = expression(d, "of");
    return predict;
}

Exercise exercise_of(const Directive& d) {
    Exercise exercise;
    exercise.where = d.where;
    exercise.id = d.get("id");
    exercise.kernel = d.get("kernel");
    inputs(d, exercise.inputs);
    exercise.gpu = d.get("gpu");
    exercise.grid = "1";
    exercise.block = "32";
    file_name(d, "file", exercise.file);
    file_name(d, "reference", exercise.reference);
    if (exercise.reference.empty()) exercise.reference = "solution/" + exercise.file;
    if (!is_host_program(exercise.file) && !is_engine_program(exercise.file) && !is_parallel_program(exercise.file) &&
        !d.find("args"))
        throw Failure(
            Diagnostic{"this exercise needs the attribute 'args'", {d.where.file, d.where.line, 5}, d.source_line});
    extents(d, "grid", exercise.grid);
    extents(d, "block", exercise.block);
    exercise.arguments = argument_list(d);
    exercise.dynamic_shared = static_cast<uint32_t>(whole_of(d, "shared", 0, 0, 1 << 20));
    exercise.check = expression(d, "check");
    points(d, exercise);
    allowed(d, exercise);
    pinned(d, exercise);
    shapes(d, exercise);
    return exercise;
}

Challenge challenge_of(const Directive& d) {
    Challenge challenge;
    challenge.where = d.where;
    challenge.exercise = d.get("exercise");
    challenge.of = expression(d, "of");
    challenge.shape = d.get("shape");
    file_name(d, "gold", challenge.gold);
    return challenge;
}

}  // namespace lockstep::lessons
