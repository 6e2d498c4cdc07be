// The file of a puzzle, checked with line and caret.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/model/gpus/gpu_fields.h"
#include "lessons/player/puzzles/design_file.h"
#include "lessons/player/puzzles/puzzle.h"

namespace lockstep::lessons {
namespace {

class PuzzleReader {
  public:
    PuzzleReader(const std::string& text, std::filesystem::path file) : text_(text) {
        puzzle_.file = std::move(file);
        puzzle_.id = puzzle_.file.stem().string();
    }

    Puzzle read() {
        try {
            table_ = toml::parse(text_);
        } catch (const toml::parse_error& error) {
            throw Failure(
                at(error.source(), "the puzzle is not valid TOML: " + std::string(error.description()).substr(0, 200)));
        }
        const std::vector<std::string> known = {"title", "question", "kernel", "grid",  "block", "arguments",
                                                "gpu",   "process",  "hints",  "recap", "start", "budget",
                                                "free",  "bronze",   "silver", "gold",  "cheat"};
        refuse_others(table_, known);
        puzzle_.title = word("title");
        puzzle_.question = word("question");
        puzzle_.recap = word("recap");
        puzzle_.kernel = word("kernel");
        const bool step = puzzle_.kernel.starts_with(scene::step_prefix);
        if (!step) {
            puzzle_.grid = word("grid");
            puzzle_.block = word("block");
            puzzle_.arguments = words("arguments");
        } else {
            for (const char* key : {"grid", "block", "arguments"})
                if (const toml::node* const node = table_.get(key))
                    refuse(*node, "a training step has launches of its own: no grid, block or arguments");
        }
        puzzle_.gpu = word("gpu");
        puzzle_.process = model::process_named(word("process"));
        if (puzzle_.process == nullptr)
            refuse(*table_.get("process"), "unknown process: there are 16nm, 12nm, 8nm, 7nm, 4nm");
        puzzle_.hints = words("hints");
        puzzle_.start = figures("start");
        read_free();
        read_budget();
        for (const auto& [name, medal] :
             {std::pair{"bronze", Medal::bronze}, {"silver", Medal::silver}, {"gold", Medal::gold}}) {
            puzzle_.reference[medal] = figures(name);
            for (const auto& [field, value] : puzzle_.reference[medal])
                if (std::ranges::find(puzzle_.free, field, &Puzzle::Free::field) == puzzle_.free.end())
                    refuse(*table_[name].as_table()->get(field),
                           fmt::format("'{}' is not [free]: no design may change it", field));
        }
        read_cheat();
        return std::move(puzzle_);
    }

  private:
    Diagnostic at(const toml::source_region& region, std::string message) const {
        const int line = static_cast<int>(region.begin.line);
        return Diagnostic{
            std::move(message), {puzzle_.file.string(), line, static_cast<int>(region.begin.column)}, line_of(text_, line)};
    }
    [[noreturn]] void refuse(const toml::node& node, std::string message) const {
        throw Failure(at(node.source(), std::move(message)));
    }
    void refuse_others(const toml::table& table, const std::vector<std::string>& known) const {
        for (const auto& [key, node] : table)
            if (const std::string name(key.str()); std::ranges::find(known, name) == known.end())
                throw Failure(at(key.source(), fmt::format("unknown key '{}'{}", name, did_you_mean(name, known))));
    }
    const toml::node& needed(std::string_view key) const {
        const toml::node* const node = table_.get(key);
        if (node == nullptr)
            throw Failure(Diagnostic{fmt::format("the puzzle lacks '{}'", key), {puzzle_.file.string(), 1, 1}});
        return *node;
    }
    std::string word(std::string_view key) const {
        const toml::node& node = needed(key);
        const auto value = node.value<std::string>();
        if (!node.is_string() || !value || value->empty()) refuse(node, fmt::format("'{}' is a text in quotes", key));
        return *value;
    }
    std::vector<std::string> words(std::string_view key) const {
        const toml::node& node = needed(key);
        const toml::array* const list = node.as_array();
        if (list == nullptr) refuse(node, fmt::format("'{}' is a list of texts in quotes", key));
        std::vector<std::string> found;
        for (const toml::node& text : *list) {
            if (!text.is_string()) refuse(text, fmt::format("'{}' is a list of texts in quotes", key));
            found.push_back(*text.value<std::string>());
        }
        return found;
    }
    const toml::table& table(std::string_view key) const {
        const toml::node& node = needed(key);
        if (node.as_table() == nullptr) refuse(node, fmt::format("[{}] is a table of figures", key));
        return *node.as_table();
    }
    double number(const toml::node& node) const {
        const auto value = node.value<double>();
        if (!node.is_number() || !value) refuse(node, "a number is needed here");
        return *value;
    }
    void known_figure(const toml::key& key) const {
        const std::string name(key.str());
        if (model::field_named(name).first == nullptr && name != "tensor_fmas")
            throw Failure(at(key.source(), fmt::format("unknown figure '{}' of a GPU{}", name,
                                                       did_you_mean(name, model::gpu_field_names(), ""))));
    }
    Figures figures(std::string_view key) const {
        Figures found;
        for (const auto& [name, node] : table(key)) {
            known_figure(name);
            found.emplace_back(name.str(), number(node));
        }
        return found;
    }
    void read_free() {
        for (const auto& [name, node] : table("free")) {
            known_figure(name);
            const toml::array* const bounds = node.as_array();
            if (bounds == nullptr || bounds->size() != 2) refuse(node, "a free figure has two bounds, as in sms = [1, 16]");
            const double least = number(*bounds->get(0)), most = number(*bounds->get(1));
            if (most < least) refuse(node, "the bounds are in the wrong order");
            puzzle_.free.push_back({std::string(name.str()), least, most});
        }
        if (puzzle_.free.empty()) refuse(needed("free"), "nothing is free: there is no puzzle");
    }
    // It may be left out.
    void read_cheat() {
        if (table_.get("cheat") == nullptr) return;
        for (const auto& [name, node] : table("cheat")) {
            if (name.str() != "what") {
                known_figure(name);
                puzzle_.cheat.emplace_back(name.str(), number(node));
                continue;
            }
            if (!node.is_string()) refuse(node, "'what' is a text in quotes");
            puzzle_.cheat_text = *node.value<std::string>();
        }
        if (puzzle_.cheat_text.empty() || puzzle_.cheat.empty())
            refuse(*table_.get("cheat"), "a cheat is what it does, in 'what', and the figures that do it");
    }
    void read_budget() {
        const toml::table& budget = table("budget");
        refuse_others(budget, {"mm2", "watts"});
        for (const auto& [name, node] : budget) {
            const double value = number(node);
            if (value <= 0) refuse(node, "a budget is above 0");
            (name.str() == "mm2" ? puzzle_.most_mm2 : puzzle_.most_watts) = value;
        }
        if (budget.empty()) refuse(budget, "a puzzle has a budget: mm2, watts or both");
    }

    const std::string& text_;
    Puzzle puzzle_;
    toml::table table_;
};

}  // namespace

Result<Puzzle> parse_puzzle(const std::string& text, const std::filesystem::path& file) {
    try {
        return PuzzleReader(text, file).read();
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

std::vector<std::filesystem::path> puzzle_files() {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(resource_root() / "lessons" / "puzzles", error))
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

Result<Puzzle> puzzle_named(const std::string& id) {
    const auto read = [](const std::filesystem::path& file) -> Result<Puzzle> {
        const Result<std::string> text = read_text(file, size_t{1} << 20);
        if (!text) return text.error();
        return parse_puzzle(text.value(), file);
    };
    if (id.ends_with(".toml")) return read(id);
    std::vector<std::string> known;
    std::vector<std::filesystem::path> fitting;
    const bool number = !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
    for (const std::filesystem::path& file : puzzle_files()) {
        known.push_back(file.stem().string());
        if (known.back() == id) return read(file);
        // "3" is the third, and "10" not the one whose name ends in v100.
        if (number && id.size() < 4 && known.back().starts_with(fmt::format("{:02}_", std::stoi(id)))) return read(file);
        if (!id.empty() && known.back().find(id) != std::string::npos) fitting.push_back(file);
    }
    if (fitting.size() == 1) return read(fitting.front());
    return Diagnostic{fmt::format("unknown puzzle '{}'{}", id, did_you_mean(id, known))};
}

std::filesystem::path puzzle_of_design(const std::string& gpu_file) {
    constexpr std::string_view words = "# lockstep puzzle check ";
    const Result<std::string> text = read_text(gpu_file, size_t{1} << 20);
    const size_t at = text ? text.value().find(words) : std::string::npos;
    if (at == std::string::npos) return {};
    const size_t begin = at + words.size();
    const std::string id = text.value().substr(begin, text.value().find_first_of(" \r\n", begin) - begin);
    for (std::filesystem::path& file : puzzle_files())
        if (file.stem().string() == id) return file;
    return {};
}

}  // namespace lockstep::lessons
