// The file is checked as it is read: every mistake is one sentence with its line.
#include "lessons/player/glossary/glossary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "lessons/player/companion/toml_reader.h"

namespace lockstep::lessons {

namespace {

char small(char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}
std::string lower(std::string_view text) {
    std::string low(text);
    std::transform(low.begin(), low.end(), low.begin(), small);
    return low;
}
bool in_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}
std::string first_word(std::string_view text) {
    size_t end = 0;
    while (end < text.size() && in_word(text[end])) ++end;
    return std::string(text.substr(0, std::max<size_t>(end, 1)));
}

class GlossaryReader {
  public:
    GlossaryReader(const std::string& text, std::string file) : toml_(text, std::move(file)) {}

    std::vector<Term> read() {
        toml_.refuse_other_keys(toml_.table(), {"term"});
        const toml::array* const list = toml_.table()["term"].as_array();
        if (list == nullptr) throw Failure(Diagnostic{"the file has no [[term]]", {toml_.file(), 1, 1}});
        std::vector<Term> terms;
        for (const toml::node& node : *list) terms.push_back(term(node));
        return terms;
    }

  private:
    void spell(const toml::node& node, const std::string& word) {
        const auto [known, fresh] = spelled_.emplace(lower(word), static_cast<int>(node.source().begin.line));
        if (!fresh) toml_.refuse(node, fmt::format("'{}' stands in line {} already", word, known->second));
    }
    Term term(const toml::node& node) {
        const toml::table& table = toml_.as_table(node, "a term");
        toml_.refuse_other_keys(table, {"name", "also", "says", "see"});
        for (const char* key : {"name", "says", "see"}) toml_.needed(table, key);
        Term term;
        term.where = {toml_.file(), static_cast<int>(node.source().begin.line), 1};
        term.name = toml_.words(*table.get("name"), "name");
        spell(*table.get("name"), term.name);
        if (const toml::node* also = table.get("also")) {
            if (also->as_array() == nullptr) toml_.refuse(*also, "'also' is a list of texts in quotes");
            for (const toml::node& one : *also->as_array()) {
                term.also.push_back(toml_.words(one, "also"));
                spell(one, term.also.back());
            }
        }
        term.says = toml_.words(*table.get("says"), "says");
        if (const size_t count = words_of(term.says); count > most_words_of_a_term)
            toml_.refuse(*table.get("says"),
                         fmt::format("a sentence has at most {} words, not {}", most_words_of_a_term, count));
        see(*table.get("see"), term);
        return term;
    }
    void see(const toml::node& node, Term& term) const {
        const std::string place = toml_.words(node, "see");
        if (place.starts_with("view:") && place.size() > 5) {
            term.view = place.substr(5);
            return;
        }
        const size_t dot = place.find('.');
        const std::string step = dot == std::string::npos ? std::string() : place.substr(dot + 1);
        term.lesson = place.substr(0, dot);
        const bool number = !step.empty() && step.size() <= 3 && step.find_first_not_of("0123456789") == std::string::npos;
        if (number) term.step = std::stoi(step);
        if (term.lesson.empty() || term.lesson.find_first_of(" :") != std::string::npos ||
            (dot != std::string::npos && term.step < 1))
            toml_.refuse(node, "'see' is a lesson (\"A04\"), a step of one (\"A04.3\") or a view (\"view:warps\")");
    }

    TomlReader toml_;
    std::map<std::string, int> spelled_;  // by the word in lower case: its line
};

struct GlossaryRead {
    Glossary glossary{{}};
    std::string problem;
};
const GlossaryRead& glossary_read() {
    static const GlossaryRead read = [] {
        GlossaryRead made;
        const std::filesystem::path file = resource_root() / "assets" / "glossary" / "terms.toml";
        const Result<std::string> text = read_text(file, size_t{1} << 20);
        if (!text) return made.problem = render(text.error()), made;
        Result<Glossary> parsed = parse_glossary(text.value(), file);
        if (parsed)
            made.glossary = std::move(parsed.value());
        else
            made.problem = render(parsed.error());
        return made;
    }();
    return read;
}

}  // namespace

size_t words_of(std::string_view sentence) {
    size_t count = 0;
    bool inside = false;
    for (const char c : sentence) {
        const bool blank = c == ' ' || c == '\n' || c == '\t';
        count += !blank && !inside;
        inside = !blank;
    }
    return count;
}

std::string Term::see() const {
    if (!view.empty()) return "view:" + view;
    return step > 0 ? fmt::format("{}.{}", lesson, step) : lesson;
}

static bool is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

Glossary::Glossary(std::vector<Term> terms) : terms_(std::move(terms)) {
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return lower(a.name) < lower(b.name); });
    const auto add = [&](const std::string& word, size_t term) {
        const std::string low = lower(word);
        const bool letters =
            std::all_of(word.begin(), word.end(), [](char c) { return is_capital(c) || (c >= 'a' && c <= 'z'); });
        const bool capitals = letters && word.size() > 1 && std::any_of(word.begin() + 1, word.end(), is_capital);
        by_first_word_[first_word(low)].push_back({low, term, capitals});
    };
    for (size_t i = 0; i < terms_.size(); ++i) {
        add(terms_[i].name, i);
        for (const std::string& other : terms_[i].also) add(other, i);
    }
    for (auto& [word, spellings] : by_first_word_)
        std::sort(spellings.begin(), spellings.end(),
                  [](const Spelling& a, const Spelling& b) { return a.text.size() > b.text.size(); });
}

const Term* Glossary::find(std::string_view word) const {
    const std::string low = lower(word);
    const auto found = by_first_word_.find(first_word(low));
    if (low.empty() || found == by_first_word_.end()) return nullptr;
    for (const Spelling& one : found->second)
        if (one.text == low) return &terms_[one.term];
    return nullptr;
}

std::vector<std::string> Glossary::near(std::string_view word, size_t most) const {
    const std::string low = lower(word);
    std::vector<std::pair<int, std::string>> all;
    for (const Term& term : terms_) {
        int best = INT32_MAX;
        const auto look = [&](const std::string& name) {
            const std::string other = lower(name);
            const int edits = edit_distance(low, other);
            if (!low.empty() &&
                (other.find(low) != std::string::npos || (other.size() > 3 && low.find(other) != std::string::npos)))
                best = std::min(best, 0);
            if (edits <= std::max<int>(2, static_cast<int>(low.size()) / 3)) best = std::min(best, edits);
        };
        look(term.name);
        for (const std::string& other : term.also) look(other);
        if (best < INT32_MAX) all.emplace_back(best, term.name);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(most, all.size()); ++i) names.push_back(all[i].second);
    return names;
}

std::vector<Glossary::Found> Glossary::in(std::string_view text) const {
    std::vector<Found> found;
    std::string word;
    for (size_t at = 0; at < text.size();) {
        if (!in_word(text[at])) {
            ++at;
            continue;
        }
        size_t end = at;
        word.clear();
        while (end < text.size() && in_word(text[end])) word += small(text[end++]);
        size_t next = end;
        if (const auto spellings = by_first_word_.find(word); spellings != by_first_word_.end())
            for (const Spelling& one : spellings->second) {
                const size_t after = at + one.text.size();
                if (after > text.size() || (after < text.size() && in_word(text[after]) && in_word(text[after - 1])))
                    continue;
                const bool same =
                    std::equal(one.text.begin(), one.text.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                               [](char a, char b) { return a == small(b == '\n' ? ' ' : b); });
                const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
                if (!same ||
                    (one.capitals && std::none_of(begin, begin + static_cast<std::ptrdiff_t>(one.text.size()), is_capital)))
                    continue;
                found.push_back({at, after, one.term});
                next = after;
                break;
            }
        at = next;
    }
    return found;
}

Result<Glossary> parse_glossary(const std::string& text, const std::filesystem::path& file) {
    try {
        return Glossary(GlossaryReader(text, file.string()).read());
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

const Glossary& glossary() {
    return glossary_read().glossary;
}
const std::string& glossary_problem() {
    return glossary_read().problem;
}

}  // namespace lockstep::lessons
