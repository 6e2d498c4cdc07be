// The line is read as text: every name[...] at any depth, which of them an assignment writes, which only give an address.
#include "app/gui/views/kernel/lines/subscripts.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/device/compile/source_tokens.h"

namespace lockstep::gui {
namespace {

struct Subscript {  // text[begin, end) = name[...]...
    size_t begin = 0, end = 0;
    std::string text;
    bool address = false;  // &name[...]: read only through the pointer
    std::string name() const { return text.substr(0, text.find('[')); }
    bool holds(const Subscript& other) const { return begin < other.begin && other.end < end; }
};

size_t last_sign(std::string_view text, size_t before) {  // npos: none
    return before == 0 ? std::string_view::npos : text.find_last_not_of(" \t", before - 1);
}

// Whether the operator at `at` has no left operand: the * of *p and of *(float4 *)p, not that of a * b.
bool is_prefix(std::string_view text, size_t at) {
    const size_t before = last_sign(text, at);
    if (before == std::string_view::npos) return true;
    if (text[before] == ')') return before > 0 && text[before - 1] == '*';
    return !device::in_name(text[before]) && text[before] != ']';
}

bool takes_address(std::string_view text, size_t at) {
    const size_t sign = last_sign(text, at);
    return sign != std::string_view::npos && text[sign] == '&' && is_prefix(text, sign) &&
           (sign == 0 || text[sign - 1] != '&');
}

// Brackets balanced, `a[i][j]` as one; those inside brackets too.
std::vector<Subscript> subscripts(std::string_view text) {
    std::vector<Subscript> found;
    for (size_t i = 1; i < text.size(); ++i) {
        if (text[i] != '[' || !device::in_name(text[i - 1])) continue;
        const size_t begin = device::begin_of_name(text, i);
        int depth = 0;
        size_t end = i;
        for (; end < text.size(); ++end) {
            depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
            if (depth == 0 && (end + 1 >= text.size() || text[end + 1] != '[')) break;
        }
        if (end >= text.size()) break;
        found.push_back({begin, end + 1, std::string(text.substr(begin, end + 1 - begin)), takes_address(text, begin)});
    }
    return found;
}

struct Line {
    std::string text;
    std::vector<Subscript> all;
    const Subscript* assigned = nullptr;
    bool also_read = false;  // by += and its like
    size_t right = 0;        // where the right side begins
};

Line line_parts(const std::string& source, int number) {
    Line line{line_of(source, number), {}, nullptr, false, 0};
    line.text = device::without_comments(line.text);
    const std::string_view text = line.text;
    line.all = subscripts(text);
    for (size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] != '=' || text[i + 1] == '=' || std::string_view("=!<>").find(text[i - 1]) != std::string_view::npos)
            continue;
        line.also_read = std::string_view("+-*/%&|^").find(text[i - 1]) != std::string_view::npos;
        line.right = i + 1;
        const size_t left = i - (line.also_read ? 1 : 0);
        for (const Subscript& subscript : line.all)  // a[i] =, a[i].x =
            if (subscript.end <= left && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(subscript.end),
                                                     text.begin() + static_cast<std::ptrdiff_t>(left),
                                                     [](char c) { return device::in_name(c) || c == '.' || c == ' '; }))
                line.assigned = line.assigned && line.assigned->holds(subscript) ? line.assigned : &subscript;
        break;
    }
    return line;
}

bool reads_through_pointer(const Line& line) {
    const std::string_view text = line.text;
    for (size_t i = line.also_read ? 0 : line.right; i + 1 < text.size(); ++i)
        if (text[i] == '*' && is_prefix(text, i) && text[i + 1] != '=') return true;
    return false;
}

std::vector<Subscript> reads_of(const Line& line) {
    std::vector<Subscript> reads, addresses;
    for (const Subscript& subscript : line.all) {
        if (&subscript == line.assigned && !line.also_read) continue;
        auto& those = subscript.address ? addresses : reads;
        if (std::none_of(those.begin(), those.end(), [&](const Subscript& r) { return r.text == subscript.text; }))
            those.push_back(subscript);
    }
    const bool called = line.text.find("atomic") != std::string::npos;
    if (reads.empty() && addresses.size() == 1 && !called) return addresses;
    if (reads_through_pointer(line)) return {};
    return reads;
}

// Whether a kernel gets its memory under that name.
bool is_kernel_pointer(std::string_view source, std::string_view name) {
    for (size_t at = source.find(name); at != std::string_view::npos; at = source.find(name, at + 1)) {
        const size_t kernel = source.rfind("__global__", at), after = source.find_first_not_of(' ', at + name.size());
        if (kernel == std::string_view::npos || after == std::string_view::npos || at == 0) continue;
        std::string_view head = source.substr(kernel, at - kernel);
        const bool ends = source[after] == ',' || source[after] == ')';
        if (!ends || head.find('{') != std::string_view::npos) continue;
        head = head.substr(0, head.find_last_not_of(' ') + 1);
        if (head.ends_with('*') || head.ends_with("__restrict__")) return true;
    }
    return false;
}

// Where the source declares an array of that name: in shared memory, as constants, as a thread's own, in what a kernel
// gets; none: it does not.
ptx::Space declared_in(std::string_view source, std::string_view name) {
    for (size_t at = source.find(name); at != std::string_view::npos; at = source.find(name, at + 1)) {
        const size_t end = at + name.size();
        if (end >= source.size() || source[end] != '[' || at == 0 || device::in_name(source[at - 1])) continue;
        const size_t start = source.find_last_of(";{}\n", at - 1) + 1;  // npos + 1 is 0
        const std::string_view head = source.substr(start, at - start);
        if (head.find("__shared__") != std::string_view::npos) return ptx::Space::shared;
        if (head.find("__constant__") != std::string_view::npos) return ptx::Space::constant;
        const bool types =
            head.find_first_not_of(" \t") != std::string_view::npos &&
            std::all_of(head.begin(), head.end(), [](char c) { return device::in_name(c) || c == ' ' || c == '\t'; });
        const size_t after = source.find_first_of(";=,)\n", end);
        const bool ends = after != std::string_view::npos && (source[after] == ';' || source[after] == '=');
        if (types && ends && head.find("return") == std::string_view::npos && head.find("else") == std::string_view::npos)
            return ptx::Space::local;
    }
    return is_kernel_pointer(source, name) ? ptx::Space::global : ptx::Space::none;
}

}  // namespace

std::string line_of(const std::string& source, int line) {
    size_t begin = 0;
    for (int i = 1; i < line; ++i) {
        begin = source.find('\n', begin);
        if (begin == std::string::npos) return {};
        ++begin;
    }
    if (line < 1 || begin >= source.size()) return {};
    const size_t text = source.find_first_not_of(" \t", begin), end = source.find('\n', begin);
    if (text == std::string::npos || text >= std::min(end, source.size())) return {};
    return source.substr(text, end == std::string::npos ? end : end - text);
}

std::string subscript_of(const std::string& source, int number, bool store) {
    const Line line = line_parts(source, number);
    if (!store) {
        const auto reads = reads_of(line);
        return reads.size() == 1 ? reads.front().text : std::string{};
    }
    if (line.assigned) return line.assigned->text;
    return line.right == 0 && line.all.size() == 1 ? line.all.front().text : std::string{};
}

std::string loaded_by(const ptx::Program& program, const std::string& source, uint32_t pc) {
    const ptx::DecodedInstruction& load = program.instructions[pc];
    if (load.line <= 0 || load.space == ptx::Space::param) return {};
    const Line line = line_parts(source, load.line);
    std::vector<Subscript> reads = reads_of(line), here;
    for (const Subscript& subscript : reads) {
        const ptx::Space space = declared_in(source, subscript.name());
        if (space == ptx::Space::none || load.space == ptx::Space::generic || space == load.space) here.push_back(subscript);
    }
    if (here.size() == 1) return here.front().text;
    // Each inside the brackets of the next: the address of the outer one waits for the inner one.
    std::sort(reads.begin(), reads.end(), [](const Subscript& a, const Subscript& b) { return a.begin > b.begin; });
    for (size_t i = 1; i < reads.size(); ++i)
        if (!reads[i].holds(reads[i - 1])) return {};
    size_t loads = 0, place = 0;
    for (uint32_t other = 0; other < program.instructions.size(); ++other) {
        const auto& one = program.instructions[other];
        if (one.kind != ptx::Kind::load || one.line != load.line || one.space == ptx::Space::param) continue;
        if (other < pc) ++place;
        ++loads;
    }
    return loads == reads.size() && !reads.empty() ? reads[place].text : std::string{};
}

}  // namespace lockstep::gui
