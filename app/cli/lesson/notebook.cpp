#include "app/cli/lesson/notebook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/files.h"
#include "core/device/compile/program.h"

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
    NotebookCell cell{number, {}, source, false};
    const size_t begin = source.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos || source.compare(begin, 2, "%%") != 0) return cell;
    const size_t end = std::min(source.find('\n', begin), source.size());
    cell.magic = true;
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

}  // namespace

bool defines_kernel(const std::string& text, const std::string& kernel) {
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
        if (!made.name.empty() || made.text.find("__global__") != std::string::npos || device::has_main(made.text))
            found.push_back(std::move(made));
    }
    return found;
}

bool is_notebook(const std::filesystem::path& file) {
    std::string ending = file.extension().string();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return ending == ".ipynb";
}

namespace {

bool is_compiled(const std::string& name) {
    const std::string ending = std::filesystem::path(name).extension().string();
    return ending == ".cu" || ending == ".cpp" || ending == ".cc" || ending == ".c";
}

// Of a name with folders the last part: a cell may not write outside of the folder.
std::string own_name(const NotebookCell& cell) {
    return cell.name.empty() ? fmt::format("cell{}.cu", cell.number) : std::filesystem::path(cell.name).filename().string();
}

}  // namespace

namespace {

bool holds_code(const std::string& name) {
    const std::string ending = std::filesystem::path(name).extension().string();
    return is_compiled(name) || ending == ".h" || ending == ".hpp" || ending == ".cuh";
}

// A cell's lines are told as those of the notebook's cell, wherever its text is compiled.
std::string numbered(const std::filesystem::path& notebook, const NotebookCell& cell, const std::string& text) {
    std::string name;
    for (const char c : notebook.filename().string()) {
        if (c == '"' || c == '\\') name += '\\';
        name += c;
    }
    return fmt::format("#line 1 \"{}, cell {}\"\n{}", name, cell.number, text);
}

}  // namespace

Result<NotebookProgram> unpack_notebook(const std::filesystem::path& notebook, const std::filesystem::path& folder) {
    const std::string shown = notebook.filename().string();
    const Result<std::string> text = read_text(notebook, size_t{64} << 20);
    if (!text) return text.error();
    Result<std::vector<NotebookCell>> read = cuda_cells(text.value(), notebook.string());
    if (!read) return read.error();
    const std::vector<NotebookCell>& cells = read.value();
    // The newest of each name; the last that can be compiled, one with main() before all others.
    std::map<std::string, const NotebookCell*> written;
    const NotebookCell* chosen = nullptr;
    bool program = false;
    for (const NotebookCell& cell : cells) {
        if (!cell.name.empty()) written[own_name(cell)] = &cell;
        const bool has_main = device::has_main(cell.text);
        if (!is_compiled(own_name(cell)) || (program && !has_main)) continue;
        if (!has_main && cell.text.find("__global__") == std::string::npos) continue;
        chosen = &cell;
        program = has_main;
    }
    if (!chosen)
        return Diagnostic{
            "no cell of this notebook is CUDA: one that begins with %%cu or %%writefile NAME.cu, or holds __global__ or "
            "main()",
            {notebook.string()}};
    if (!chosen->name.empty() && written.at(own_name(*chosen)) != chosen) chosen = written.at(own_name(*chosen));
    NotebookProgram made;
    std::string with;
    for (const auto& [name, cell] : written) {
        write_file(folder / name, holds_code(name) ? numbered(notebook, *cell, cell->text) : cell->text);
        if (cell == chosen) continue;
        const bool needed = chosen->name.empty() ? !is_compiled(name) : true;
        if (needed) with += (with.empty() ? "" : ", ") + name;
        // A written program is compiled with the written sources; those with a main() of their own are other programs.
        if (!chosen->name.empty() && program && is_compiled(name) && !device::has_main(cell->text))
            made.sources.push_back((folder / name).string());
    }
    std::string source = numbered(notebook, *chosen, chosen->text);
    if (chosen->name.empty() && !chosen->magic) {
        std::string before;
        for (const NotebookCell& cell : cells) {
            if (&cell == chosen) break;
            if (!cell.name.empty() || cell.magic || device::has_main(cell.text)) continue;
            before += numbered(notebook, cell, cell.text) + "\n";
            with += fmt::format("{}cell {}", with.empty() ? "" : ", ", cell.number);
        }
        source = before + source;
    }
    if (chosen->name.empty()) write_file(folder / own_name(*chosen), source);
    made.sources.insert(made.sources.begin(), (folder / own_name(*chosen)).string());
    made.told = fmt::format("code cell {} of {}{}", chosen->number, shown, with.empty() ? "" : ", with " + with);
    return made;
}

std::optional<NotebookCell> cell_for(const std::vector<NotebookCell>& cells, const std::string& file,
                                     const std::string& kernel) {
    for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell)
        if (cell->name == file || cell->name.ends_with("/" + file)) return *cell;
    for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell)
        if (!kernel.empty() && defines_kernel(cell->text, kernel)) return *cell;
    return std::nullopt;
}

}  // namespace lockstep::cli
