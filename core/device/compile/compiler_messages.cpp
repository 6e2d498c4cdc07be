// Compilers' messages, as they print them:
//   nvcc, NVRTC   source.cu(3): error: identifier "yy" is undefined        clang   source.cu:3:12: error: use of undeclared
//   ...
//                       x[i] = yy + 1;                                             x[i] = yy + 1;
//                              ^                                                          ^
// nvcc gives the column by its caret alone, under a line whose indentation is its own and whose macros are expanded.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>

#include "core/base/files.h"
#include "core/device/compile/compilers.h"
#include "core/device/compile/confined.h"
#include "core/device/compile/source_tokens.h"
#include "core/device/kernels/kernel_library.h"

namespace lockstep::device {

namespace {
// Position of the first character that is neither blank nor tab.
size_t indentation(std::string_view line) {
    return std::min(line.find_first_not_of(" \t"), line.size());
}

// "__global__" for the "__attribute__((global))" that nvcc prints.
std::string as_written(std::string text) {
    constexpr std::string_view open = "__attribute__((", close = "))";
    for (size_t at = 0; (at = text.find(open, at)) != std::string::npos; ++at) {
        const size_t end = text.find(close, at);
        if (end == std::string::npos) break;
        const std::string name = text.substr(at + open.size(), end - at - open.size());
        if (name == "global" || name == "device" || name == "host" || name == "shared" || name == "constant")
            text.replace(at, end + close.size() - at, "__" + name + "__");
    }
    return text;
}

int column_by_caret(const std::vector<std::string>& lines, size_t message, const std::string& source_line) {
    for (size_t i = message + 1; i + 1 < lines.size() && i < message + 8; ++i) {
        const size_t caret = lines[i + 1].find('^');
        if (caret == std::string::npos || lines[i + 1].find_first_not_of(" \t^~") != std::string::npos) continue;
        const size_t printed = indentation(lines[i]);
        if (caret < printed || caret > lines[i].size()) return 0;
        // nvcc prints the line with its macros expanded, __global__ too: what stands behind the place is mostly as written.
        const std::string rest = lines[i].substr(caret);
        const std::string before = as_written(lines[i].substr(printed, caret - printed));
        const std::string_view source = std::string_view(source_line).substr(indentation(source_line));
        const auto column = [&](size_t at) { return static_cast<int>(indentation(source_line) + at) + 1; };
        size_t same = static_cast<size_t>(std::mismatch(before.begin(), before.end(), source.begin(), source.end()).first -
                                          before.begin());
        if (same == before.size()) return column(same);
        if (!rest.empty() && source.ends_with(rest)) return column(source.size() - rest.size());
        const size_t word = std::min(rest.find_first_of(" \t()[]{};,.+-*/<>=&|!?:"), rest.size());
        if (const size_t found = source.find(rest.substr(0, word)); word && found != source.npos) return column(found);
        while (same > 0 && (std::isalnum(static_cast<unsigned char>(source[same - 1])) || source[same - 1] == '_')) --same;
        return column(same);  // inside the expansion of the macro that stands here
    }
    return 0;
}

// A header's path as a reader of `file` would write it: below the same folder, relative to the same place.
std::string shown_path(const std::string& header, const std::string& file) {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::path(file).parent_path();
    const std::string folder =
        (std::filesystem::absolute(parent.empty() ? "." : parent, error).lexically_normal() / "").string();
    const std::string path = std::filesystem::path(header).lexically_normal().string();
    return path.starts_with(folder) ? (parent / path.substr(folder.size())).string() : header;
}

// A header of the compiler's, or in a folder that was given. Whatever else a source includes or names by #line, such as a
// file of the host that is no business of a stranger's kernel, or a solution, is named and not shown.
bool may_be_quoted(const std::string& header, const std::vector<std::string>& include) {
    if (is_solution(header)) return false;
    std::error_code error;
    const std::string path = std::filesystem::weakly_canonical(header, error).string();
    std::vector<std::string> folders{"/usr", "/opt", resource_root().string()};
    folders.insert(folders.end(), include.begin(), include.end());
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
        return path.starts_with((std::filesystem::weakly_canonical(folder, error) / "").string());
    });
}
}  // namespace

std::vector<Diagnostic> all_messages(const std::string& messages, const std::string& source, const std::string& file,
                                     const std::vector<std::string>& include) {
    static const std::regex place(
        R"(^(.*?)(?:\((\d{1,9})\)|:(\d{1,9}):(\d{1,9})): (?:fatal |catastrophic )?(error|warning)(?: #[0-9A-Za-z-]+)?: (.*)$)");
    constexpr size_t most = 200, largest_header = size_t{4} << 20;
    std::vector<Diagnostic> found_messages;
    std::vector<std::string> lines;
    std::istringstream text(messages);
    for (std::string line; std::getline(text, line);) {
        if (line.ends_with('\r')) line.pop_back();  // Windows
        lines.push_back(line.substr(0, 2000));
    }
    for (size_t i = 0; i < lines.size(); ++i) {
        std::smatch found;
        if (lines[i].find("error") == std::string::npos && lines[i].find("warning") == std::string::npos) continue;
        if (!std::regex_match(lines[i], found, place)) continue;
        if (found_messages.size() >= most && found[5] != "error") continue;
        if (found_messages.size() >= 2 * most) break;
        const bool by_caret = found[2].matched;
        const std::string where = found[1];
        const int line = std::stoi(by_caret ? found[2] : found[3]);
        Diagnostic diagnostic{found[6]};
        diagnostic.severity = found[5] == "error" ? Severity::error : Severity::warning;
        while (diagnostic.message.ends_with('.')) diagnostic.message.pop_back();
        if (where == source_name || where.ends_with("/" + std::string(source_name)) ||
            where.ends_with("\\" + std::string(source_name))) {
            diagnostic.source_line = line_of(source, line);
            diagnostic.where = {file, line,
                                by_caret ? column_by_caret(lines, i, diagnostic.source_line) : std::stoi(found[4])};
        } else {
            if (const Result<std::string> header = read_file(where, largest_header); header && may_be_quoted(where, include))
                diagnostic.source_line = line_of(header.value(), line).substr(0, 2000);
            diagnostic.where = {shown_path(where, file), line,
                                by_caret ? column_by_caret(lines, i, diagnostic.source_line) : std::stoi(found[4])};
        }
        found_messages.push_back(std::move(diagnostic));
    }
    return found_messages;
}

std::optional<Diagnostic> first_error(const std::string& messages, const std::string& source, const std::string& file,
                                      const std::vector<std::string>& include) {
    for (Diagnostic& message : all_messages(messages, source, file, include))
        if (message.severity == Severity::error) return std::move(message);
    return std::nullopt;
}

Diagnostic in_source(Diagnostic problem, const std::string& source, const std::string& file) {
    if (problem.message.starts_with("there is no kernel (.entry)"))
        return {"there is no kernel here: a kernel is a __global__ function, and a template is one only where it is used",
                {file}};
    if (problem.where.file == file + ".ptx" && problem.where.line == 0) problem.where.file = file;
    // "'far' is declared here, but its code is elsewhere, on line 2 of own.cu"
    const std::string behind = " of " + file, marker = ", on line ";
    const size_t at = problem.message.rfind(marker);
    if (at == std::string::npos || !problem.message.ends_with(behind)) return problem;
    const int line = std::atoi(problem.message.c_str() + at + marker.size());
    const std::string text = line_of(source, line);
    if (text.empty()) return problem;
    const size_t open = problem.message.find('\''), close = problem.message.find('\'', open + 1);
    size_t column = close < at ? text.find(problem.message.substr(open + 1, close - open - 1)) : std::string::npos;
    if (column == std::string::npos) column = indentation(text);
    return {problem.message.substr(0, at), {file, line, static_cast<int>(column) + 1}, text};
}

namespace {

// The name in the compilers' ways of saying that device code calls what it cannot; empty: they say something else.
std::string_view called_name(std::string_view message) {
    constexpr std::pair<std::string_view, char> ways[] = {
        {"identifier \"", '"'},                        // NVRTC, of kernels alone: ... is undefined
        {"calling a __host__ function(\"", '('},       // nvcc: ... square(int)") from a __global__ function
        {"no matching function for call to '", '\''},  // clang
        {"use of undeclared identifier '", '\''},      // clang, of kernels alone
        {"reference to __host__ function '", '\''}};
    for (const auto& [begin, end] : ways) {
        const size_t at = message.find(begin);
        if (at == std::string_view::npos) continue;
        std::string_view name = message.substr(at + begin.size());
        name = name.substr(0, name.find_first_of(end == '(' ? "(\"<" : std::string_view(&end, 1)));
        return name.substr(name.find_last_of(" :*&") + 1);  // of "T1  ::square"; npos + 1 is 0
    }
    return {};
}

}  // namespace

Diagnostic with_host_function(Diagnostic error, const std::string& source, const std::string& file) {
    const std::string_view name = called_name(error.message);
    if (name.empty()) return error;
    const std::vector<SourceToken> tokens = tokens_of(source);
    size_t first = 0;  // token of the declaration
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
        if (tokens[i].is(";") || tokens[i].is("{") || tokens[i].is("}") || tokens[i].kind == SourceToken::Kind::directive)
            first = i + 1;
        if (tokens[i].text != name || i == first || !tokens[i + 1].is("(")) continue;
        bool host = true;  // "int square(" and not "return square(", "x = square("
        for (size_t k = first; k < i; ++k) {
            const std::string_view word = tokens[k].text;
            const bool of_type = tokens[k].kind == SourceToken::Kind::name
                                     ? word != "return" && word != "else" && word != "case"
                                     : std::string_view("*&:<>,[]").find(word) != std::string_view::npos;
            host = host && of_type && word != "__device__" && word != "__global__" && word != "constexpr";
        }
        size_t close = i + 1;
        for (int depth = 0; close < tokens.size(); ++close) {
            depth += tokens[close].is("(") ? 1 : tokens[close].is(")") ? -1 : 0;
            if (depth == 0) break;
        }
        while (close + 1 < tokens.size() && (tokens[close + 1].is("noexcept") || tokens[close + 1].is("const"))) ++close;
        if (!host || close + 1 >= tokens.size() || !tokens[close + 1].is("{")) continue;
        const std::string_view text = source;
        const auto line =
            static_cast<int>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(tokens[i].begin), '\n')) + 1;
        const size_t begin = text.rfind('\n', tokens[i].begin) + 1;  // npos + 1 is 0
        return {fmt::format("'{}' is a host function: put __device__ in front of it", name),
                {file, line, static_cast<int>(tokens[i].begin - begin) + 1},
                line_of(source, line),
                error.severity};
    }
    return error;
}

Diagnostic with_removed_name(Diagnostic error) {
    struct Removed {
        std::string_view name, since, instead;
    };
    constexpr Removed removed[] = {
        {"__shfl", "CUDA 13", "__shfl_sync(0xffffffff, value, lane)"},
        {"__shfl_up", "CUDA 13", "__shfl_up_sync(0xffffffff, value, by)"},
        {"__shfl_down", "CUDA 13", "__shfl_down_sync(0xffffffff, value, by)"},
        {"__shfl_xor", "CUDA 13", "__shfl_xor_sync(0xffffffff, value, mask)"},
        {"__any", "CUDA 13", "__any_sync(0xffffffff, condition)"},
        {"__all", "CUDA 13", "__all_sync(0xffffffff, condition)"},
        {"__ballot", "CUDA 13", "__ballot_sync(0xffffffff, condition)"},
        {"cudaThreadSynchronize", "CUDA 13", "cudaDeviceSynchronize()"},
        {"cudaThreadExit", "CUDA 13", "cudaDeviceReset()"},
        {"cudaReadModeElementType", "CUDA 12", "a parameter 'cudaTextureObject_t t', read by tex2D<float>(t, x, y)"},
        {"cudaBindTexture", "CUDA 12", "cudaCreateTextureObject"},
        {"cudaUnbindTexture", "CUDA 12", "cudaDestroyTextureObject"}};
    const bool texture = error.message.find("texture is not a template") != std::string::npos ||
                         error.message.find("no template named 'texture'") != std::string::npos;
    if (texture || error.message.find("surface is not a template") != std::string::npos) {
        error.message = fmt::format("CUDA 12 took away {0}<>: a parameter 'cuda{1}Object_t t', read by {2}, replaces it",
                                    texture ? "texture" : "surface", texture ? "Texture" : "Surface",
                                    texture ? "tex2D<float>(t, x, y)" : "surf2Dread<float>(t, 4 * x, y)");
        return error;
    }
    const std::string_view name = called_name(error.message);
    for (const Removed& each : removed)
        if (each.name == name)
            error.message = fmt::format("{} took away {}: {} replaces it", each.since, name, each.instead);
    return error;
}

std::string with_file_name(std::string messages, const std::string& file) {
    std::string result;
    std::istringstream text(messages);
    for (std::string line; std::getline(text, line);) {
        const size_t at = line.find(source_name);
        if (at != std::string::npos && (at == 0 || line[at - 1] == '/' || line[at - 1] == '"')) {
            const size_t begin = line.find_last_of(" \"", at) + 1;  // npos + 1 is 0
            line = line.substr(0, begin) + file + line.substr(at + source_name.size());
        }
        result += line + "\n";
    }
    return result;
}

std::string with_source_file(const std::string& ptx, const std::string& file) {
    std::string name;
    for (const char c : file)
        if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= ' ') name += c;
    const std::string end = std::string(source_name) + "\"";
    std::string result;
    result.reserve(ptx.size());
    size_t position = 0;
    while (position < ptx.size()) {
        const size_t newline = std::min(ptx.find('\n', position), ptx.size() - 1) + 1;
        const std::string_view line(ptx.data() + position, newline - position);
        const size_t at = line.find(end), quote = line.find('"');
        if (line.find(".file") != std::string_view::npos && at != std::string_view::npos && quote < at)
            result.append(line.substr(0, quote + 1)).append(name).append(line.substr(at + end.size() - 1));
        else
            result.append(line);
        position = newline;
    }
    return result;
}

}  // namespace lockstep::device
