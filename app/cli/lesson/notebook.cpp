#include "app/cli/lesson/notebook.h"

#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

namespace lockstep::cli {

namespace {

// A cell's source is a string or a list of lines.
std::string source_of_cell(const nlohmann::json& cell) {
    const auto source = cell.find("source");
    if (source == cell.end()) return {};
    if (source->is_string()) return source->get<std::string>();
    std::string text;
    if (source->is_array())
        for (const auto& line : *source)
            if (line.is_string()) text += line.get<std::string>();
    return text;
}

NotebookCell cell_of(const std::string& source, size_t number) {
    NotebookCell cell{number, {}, source};
    const size_t begin = source.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos || source.compare(begin, 2, "%%") != 0) return cell;
    const size_t end = std::min(source.find('\n', begin), source.size());
    std::istringstream words(source.substr(begin + 2, end - begin - 2));
    std::string magic;
    words >> magic;
    if (magic == "writefile" || magic == "file")
        for (std::string word; words >> word;)
            if (word.front() != '-') cell.name = word;
    const bool cuda = magic == "cu" || magic.starts_with("cuda") || !cell.name.empty();
    // Lines keep their numbers within the cell: the magic's becomes empty.
    cell.text = cuda ? source.substr(0, begin) + source.substr(end) : "";
    return cell;
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether __global__ stands before a function of that name.
bool defines(const std::string& text, const std::string& kernel) {
    for (size_t at = text.find("__global__"); at != std::string::npos; at = text.find("__global__", at + 1)) {
        const size_t open = text.find('(', at);
        if (open == std::string::npos) return false;
        size_t end = open;
        while (end > at && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
        size_t begin = end;
        while (begin > at && is_word(text[begin - 1])) --begin;
        if (text.substr(begin, end - begin) == kernel) return true;
    }
    return false;
}

}  // namespace

Result<std::vector<NotebookCell>> cuda_cells(const std::string& notebook, const std::string& file) {
    const auto json = nlohmann::json::parse(notebook, nullptr, false);
    const auto cells = json.is_object() ? json.find("cells") : json.end();
    if (!json.is_object() || cells == json.end() || !cells->is_array())
        return Diagnostic{"this is no notebook: its JSON has no list of cells", {file}};
    std::vector<NotebookCell> found;
    size_t number = 0;
    for (const auto& cell : *cells) {
        if (!cell.is_object() || cell.value("cell_type", "") != "code") continue;
        NotebookCell made = cell_of(source_of_cell(cell), ++number);
        if (!made.name.empty() || made.text.find("__global__") != std::string::npos) found.push_back(std::move(made));
    }
    return found;
}

std::optional<NotebookCell> cell_for(const std::vector<NotebookCell>& cells, const std::string& file,
                                     const std::string& kernel) {
    for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell)
        if (cell->name == file || cell->name.ends_with("/" + file)) return *cell;
    for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell)
        if (!kernel.empty() && defines(cell->text, kernel)) return *cell;
    return std::nullopt;
}

}  // namespace lockstep::cli
