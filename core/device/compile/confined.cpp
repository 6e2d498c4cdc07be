#include "core/device/compile/confined.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/files.h"
#include "core/device/compile/compilers.h"
#include "core/device/compile/source_tokens.h"

namespace lockstep::device {
namespace {

namespace fs = std::filesystem;

// The directive in one line, without comments: "#include <a.h>".
std::string plain_directive(std::string_view text) {
    std::string spliced, plain;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\') {
            size_t end = at + 1;
            while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
            if (end < text.size() && text[end] == '\n') {
                at = end;
                continue;
            }
        }
        spliced += text[at];
    }
    for (size_t at = 0; at < spliced.size(); ++at) {
        if (spliced.compare(at, 2, "/*") != 0) {
            plain += spliced[at];
            continue;
        }
        at = std::min(spliced.find("*/", at + 2), spliced.size() - 1) + 1;
        plain += ' ';
    }
    return plain;
}

class Search {
  public:
    explicit Search(const std::vector<fs::path>& folders) {
        std::error_code error;
        for (const fs::path& folder : folders) folders_.push_back(fs::weakly_canonical(fs::absolute(folder, error), error));
        allowed_ = folders_;
        allowed_.push_back(fs::weakly_canonical(standard_headers().parent_path(), error));
    }

    // `here`: the folder of the text; of the submission itself, which the compiler gets in a place of its own, empty.
    std::optional<Diagnostic> outside(const std::string& text, const std::string& file, const fs::path& here) {
        for (const SourceToken& token : tokens_of(text)) {
            if (token.kind != SourceToken::Kind::directive) continue;
            const std::string directive = plain_directive(token.text);
            const std::string_view word = directive_name(directive);
            if (!word.starts_with("include") && word != "import") continue;
            const auto refused = [&](const std::string& why) {
                const auto line =
                    static_cast<int>(1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(token.begin), '\n'));
                const size_t begin = text.rfind('\n', token.begin) + 1;  // npos + 1 is 0
                return Diagnostic{why, {file, line, static_cast<int>(token.begin - begin) + 1}, line_of(text, line)};
            };
            const size_t open =
                directive.find_first_not_of(" \t\f\v", static_cast<size_t>(word.data() - directive.data()) + word.size());
            const char close = open == std::string::npos ? ' '
                               : directive[open] == '<'  ? '>'
                               : directive[open] == '"'  ? '"'
                                                         : ' ';
            const size_t end = close == ' ' ? std::string::npos : directive.find(close, open + 1);
            if (end == std::string::npos)
                return refused("in a submission the name of a file to include is written out, as in #include \"own.h\"");
            const fs::path name = directive.substr(open + 1, end - open - 1);
            const bool leads_up = std::find(name.begin(), name.end(), fs::path("..")) != name.end();
            const std::optional<fs::path> found = find(name, here);
            if (found ? !allowed(*found) : name.is_absolute() || leads_up)
                return refused(
                    found && is_solution(*found)
                        ? "a solution is not included: a submission is code of one's own"
                        : "this file is outside of the submission, which includes its own files, the lesson's and the "
                          "compiler's alone");
            if (!found || seen_.size() >= most_headers || !seen_.insert(found->string()).second) continue;
            if (const Result<std::string> header = read_text(*found, largest_source))
                if (auto problem = outside(header.value(), shown(*found), found->parent_path())) return problem;
        }
        return std::nullopt;
    }

  private:
    static constexpr size_t most_headers = 500;

    std::optional<fs::path> find(const fs::path& name, const fs::path& here) const {
        std::vector<fs::path> places = folders_;
        if (!here.empty()) places.insert(places.begin(), here);
        std::error_code error;
        for (const fs::path& place : places)
            if (fs::is_regular_file(place / name, error)) return fs::canonical(place / name, error);
        return std::nullopt;
    }
    bool allowed(const fs::path& file) const {
        return !is_solution(file) && std::any_of(allowed_.begin(), allowed_.end(), [&](const fs::path& folder) {
            return file.string().starts_with((folder / "").string());
        });
    }
    // A header as the submission names it.
    std::string shown(const fs::path& header) const {
        for (const fs::path& folder : folders_)
            if (header.string().starts_with((folder / "").string())) return header.lexically_relative(folder).string();
        return header.string();
    }

    std::vector<fs::path> folders_, allowed_;
    std::set<std::string> seen_;
};

}  // namespace

bool is_solution(const fs::path& file) {
    std::error_code error;
    const fs::path path = fs::weakly_canonical(fs::absolute(file, error), error);
    for (fs::path folder = path.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
        if ((folder.filename() == "solution" || folder.filename() == "proof") &&
            fs::exists(folder.parent_path() / "lesson.md", error))
            return true;
    return false;
}

std::optional<Diagnostic> include_outside(const std::string& text, const std::string& file,
                                          const std::vector<fs::path>& folders) {
    return Search(folders).outside(text, file, {});
}

std::optional<Diagnostic> code_of_solution(const std::string& ptx, const std::string& file) {
    for (size_t at = 0; at < ptx.size();) {
        const size_t end = std::min(ptx.find('\n', at), ptx.size());
        const std::string_view line(ptx.data() + at, end - at);
        at = end + 1;
        const size_t dot = line.find(".file"), open = line.find('"'), close = line.find('"', open + 1);
        if (dot == std::string_view::npos || line.find_first_not_of(" \t") != dot || close == std::string_view::npos)
            continue;
        if (is_solution(line.substr(open + 1, close - open - 1)))
            return Diagnostic{"code of a solution is in it: a submission is code of one's own", {file}};
    }
    return std::nullopt;
}

}  // namespace lockstep::device
