#include "core/scene/cluster/parallel_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/scene/figures/figures.h"

namespace lockstep::scene {
namespace {

constexpr size_t most_parallel_rows = 8, most_parallel_text = 1 << 16;

constexpr ParallelKind kind_rows[] = {
    {"schedule", run_schedule_row, schedule_row_figures},
    {"parallel", run_parallel_row, parallel_row_figures},
    {"collective", run_collective_row, collective_row_figures},
    {"plan", run_plan_row, plan_row_figures},
    {"mesh", run_mesh_row, mesh_row_figures},
};

// "rank 2: F1 F2 B1" -> 2 and "F1 F2 B1", "round 1: ..." likewise; false for any other line.
bool list_line(const std::string& line, ParallelList& into) {
    std::istringstream words(line);
    std::string verb;
    char colon = 0;
    if (!(words >> verb) || (verb != "rank" && verb != "round") || !(words >> into.number >> colon) || colon != ':')
        return false;
    into.text = line.substr(line.find(':') + 1);
    return true;
}

// Where in the row's line a setting of the message in question stands: "'microbatches=x'" or "microbatches is a number ...".
int column_of(const ParallelText& row, const std::string& message) {
    for (const auto& [key, value] : row.settings)
        if (const size_t at = row.line.find(key + "="); at != std::string::npos && message.find(key) != std::string::npos)
            return static_cast<int>(at) + 1;
    const size_t head = row.line.find(row.head);
    return head == std::string::npos ? row.where.column : static_cast<int>(head) + 1;
}

}  // namespace

std::span<const ParallelKind> parallel_kinds() {
    return kind_rows;
}

const ParallelKind* parallel_kind_of(const std::string& file) {
    for (const ParallelKind& kind : kind_rows)
        if (file.ends_with("." + std::string(kind.name))) return &kind;
    return nullptr;
}

void ParallelList::refuse(const std::string& message, size_t offset) const {
    throw Failure(Diagnostic{message, at(offset), line});
}

std::vector<ListWord> words_of(const ParallelList& list) {
    std::vector<ListWord> words;
    for (size_t at = list.text.find_first_not_of(" \t\r"); at != std::string::npos;) {
        const size_t end = std::min(list.text.find_first_of(" \t\r", at), list.text.size());
        words.push_back({list.text.substr(at, end - at), at});
        at = list.text.find_first_not_of(" \t\r", end);
    }
    return words;
}

int64_t ParallelText::whole(const std::string& key, int64_t otherwise, int64_t least, int64_t most) {
    const double value = real(key, static_cast<double>(otherwise), static_cast<double>(least), static_cast<double>(most));
    if (value != std::floor(value)) throw Failure(fmt::format("{} is a whole number, not {}", key, value));
    return static_cast<int64_t>(value);
}

double ParallelText::real(const std::string& key, double otherwise, double least, double most) {
    asked.push_back(key);
    const auto found = settings.find(key);
    if (found == settings.end()) return otherwise;
    double value = 0;
    const std::string& text = found->second;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size() || !(value >= least) || !(value <= most))
        throw Failure(fmt::format("{} is a number from {:g} to {:g}, not '{}'", key, least, most, text));
    return value;
}

std::string ParallelText::word(const std::string& key, const std::string& otherwise) {
    asked.push_back(key);
    const auto found = settings.find(key);
    return found == settings.end() ? otherwise : found->second;
}

void ParallelText::done() const {
    for (const auto& [key, value] : settings) {
        if (std::find(asked.begin(), asked.end(), key) != asked.end()) continue;
        const std::string near = nearest_name(key, asked);
        throw Failure(near.empty() ? fmt::format("'{}' is no setting of {}; there are {}", key, head, fmt::join(asked, ", "))
                                   : fmt::format("unknown setting '{}', did you mean '{}='?", key, near));
    }
}

Result<std::vector<ParallelText>> parse_parallel(const std::string& text, const SourceLocation& where) {
    std::vector<ParallelText> rows;
    if (text.size() > most_parallel_text) return Diagnostic{"more than 64 KiB are not read", where};
    std::istringstream lines(text);
    int number = where.line;
    for (std::string line; std::getline(lines, line); ++number) {
        const SourceLocation here{where.file, number, where.column};
        const std::string plain = line.substr(0, line.find('#'));
        ParallelList list;
        if (list_line(plain, list)) {
            if (rows.empty()) return Diagnostic{"lists stand under the row that they belong to", here, line};
            list.where = {where.file, number, static_cast<int>(line.find(':')) + 2};
            list.line = line;
            rows.back().lists.push_back(std::move(list));
            continue;
        }
        std::istringstream parts(plain);
        for (std::string part; std::getline(parts, part, ';');) {
            std::istringstream words(part);
            std::string word;
            if (!(words >> word)) continue;
            ParallelText row;
            if (!rows.empty()) {
                row.head = rows.front().head;
                row.settings = rows.front().settings;
                row.settings.erase("name");
            }
            row.where = here;
            row.line = line;
            if (word.find('=') == std::string::npos) {
                row.head = word;
                if (!(words >> word)) word.clear();
            }
            for (; !word.empty(); words >> word ? void() : word.clear()) {
                const size_t equals = word.find('=');
                if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
                    return Diagnostic{fmt::format("'{}': a setting is written key=value", word),
                                      {where.file, number, static_cast<int>(line.find(word)) + 1},
                                      line};
                row.settings[word.substr(0, equals)] = word.substr(equals + 1);
            }
            if (row.head.empty()) return Diagnostic{"the first row begins with a name", here, line};
            row.name = row.word("name", row.head);
            rows.push_back(std::move(row));
            if (rows.size() > most_parallel_rows)
                return Diagnostic{fmt::format("at most {} rows", most_parallel_rows), here, line};
        }
    }
    if (rows.empty()) return Diagnostic{"nothing stands here: a row such as 1f1b ranks=4 is missing", where, text};
    return rows;
}

Result<std::shared_ptr<const ParallelScene>> run_parallel_scene(const std::string& kind, const std::string& text,
                                                                const SourceLocation& where,
                                                                const ParallelSceneOptions& options) {
    const auto row_of =
        std::find_if(std::begin(kind_rows), std::end(kind_rows), [&](const ParallelKind& one) { return one.name == kind; });
    if (row_of == std::end(kind_rows)) return Diagnostic{fmt::format("there are no scenes of the kind '{}'", kind), where};
    Result<std::vector<ParallelText>> rows = parse_parallel(text, where);
    if (!rows) return rows.error();
    auto scene = std::make_shared<ParallelScene>();
    scene->kind = kind;
    std::vector<ParallelText> texts = std::move(rows).value();
    for (ParallelText& row : texts) {
        throw_if_stopped(options.stop);
        try {
            scene->rows.push_back(row_of->run(row, options));
        } catch (const Cancelled&) {
            throw;
        } catch (const Failure& failure) {
            if (failure.status == ExitStatus::missing) throw;
            Diagnostic d = failure.diagnostic;
            if (d.where.file.empty()) {
                d.where = row.where;
                d.where.column = column_of(row, d.message);
                d.source_line = row.line;
            }
            return d;
        }
        ParallelRow& made = scene->rows.back();
        made.name = row.name;
        made.settings = row.settings;
        if (options.progress) options.progress(static_cast<double>(scene->rows.size()) / static_cast<double>(texts.size()));
    }
    const std::vector<double>&first_losses = scene->rows.front().losses, &first = scene->rows.front().parameters;
    for (ParallelRow& row : scene->rows) {
        if (row.losses.empty() || row.losses.size() != first_losses.size()) continue;
        double off = 0;
        for (size_t i = 0; i < row.losses.size(); ++i) {
            const double one = std::fabs(row.losses[i] - first_losses[i]) / std::fabs(first_losses[i]);
            off = one <= off ? off : one;  // a NaN is the worst
        }
        row.figures["losses_off"] = off;
    }
    for (ParallelRow& row : scene->rows) {
        if (first.empty() || row.parameters.size() != first.size()) continue;
        double off = 0;
        for (size_t i = 0; i < first.size(); ++i) {
            const double one = std::fabs(row.parameters[i] - first[i]);
            off = one <= off ? off : one;
        }
        row.figures["weights_off"] = off;
    }
    return std::shared_ptr<const ParallelScene>(std::move(scene));
}

std::vector<FigureText> shared_row_figures() {
    return {{"rows", "", "How many there are."}};
}

// Of the first row, or with @row:NAME of another; what is neither letter nor digit is '_' in NAME: total@row:zb_h1.
Result<double> figure_of(const ParallelScene& scene, const FigureName& name) {
    if (name.text == "rows") return static_cast<double>(scene.rows.size());
    const std::string wanted = name.place("row");
    const ParallelRow* row = wanted.empty() ? &scene.rows.front() : nullptr;
    std::vector<std::string> known;
    for (const ParallelRow& one : scene.rows) {
        known.push_back(figure_word(one.name));
        if (known.back() == wanted) row = &one;
    }
    if (!row) return Diagnostic{fmt::format("no row is called '{}'; there are {}", wanted, fmt::join(known, ", "))};
    if (const auto found = row->figures.find(name.without("row").text); found != row->figures.end()) return found->second;
    std::vector<std::string> left;
    for (const auto& [figure, value] : row->figures)
        if (figure.find('@') == std::string::npos) left.push_back(figure);
    return unknown_figure(name, fmt::format("the row '{}'", row->name), {}, left);
}

}  // namespace lockstep::scene
