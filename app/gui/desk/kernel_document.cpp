// The guesses of a launch form: from the parameter's size, from its C++ declaration, and from how the text uses it.
#include "app/gui/desk/kernel_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/base/hash.h"
#include "core/device/compile/program.h"
#include "core/device/compile/source_tokens.h"
#include "core/ptx/ptx.h"
#include "lessons/player/lesson.h"

namespace lockstep::gui {

namespace {

struct Element {
    DType type = DType::f32;
    int64_t width = 1;  // of a vector: 4 of float4
};

Element element_of(const std::string& declaration) {
    const auto has = [&](std::string_view word) { return device::has_name(declaration, word); };
    static constexpr struct {
        std::string_view word;
        DType type;
    } exact[] = {{"double", DType::f64},   {"float", DType::f32},    {"half", DType::f16},
                 {"__half", DType::f16},   {"half2", DType::f16},    {"__nv_bfloat16", DType::bf16},
                 {"int8_t", DType::i8},    {"uint8_t", DType::u8},   {"int16_t", DType::i16},
                 {"uint16_t", DType::u16}, {"uint32_t", DType::u32}, {"int32_t", DType::i32},
                 {"uint64_t", DType::u64}, {"int64_t", DType::i64},  {"size_t", DType::u64},
                 {"bool", DType::u8},      {"uint", DType::u32},     {"uchar", DType::u8}};
    for (const auto& row : exact)
        if (has(row.word)) return {row.type, row.word == "half2" ? 2 : 1};
    static constexpr std::pair<std::string_view, DType> of_vectors[] = {
        {"float", DType::f32}, {"double", DType::f64}, {"uint", DType::u32}, {"int", DType::i32}, {"uchar", DType::u8}};
    for (int width = 2; width <= 4; ++width)
        for (const auto& [word, type] : of_vectors)
            if (has(fmt::format("{}{}", word, width))) return {type, width};
    const bool is_unsigned = has("unsigned");
    static constexpr struct {
        std::string_view word;
        DType with_sign, without;
    } plain[] = {{"char", DType::i8, DType::u8},
                 {"short", DType::i16, DType::u16},
                 {"long", DType::i64, DType::u64},
                 {"int", DType::i32, DType::u32}};
    for (const auto& row : plain)
        if (has(row.word)) return {is_unsigned ? row.without : row.with_sign, 1};
    return is_unsigned ? Element{DType::u32, 1} : Element{};
}

// PTX alone says no element type of a pointer: what the program loads and stores most.
Element element_of(const ptx::Program& program) {
    int counts[4] = {};  // f32, i32, f64, u8
    for (const auto& i : program.instructions) {
        if (i.kind != ptx::Kind::load && i.kind != ptx::Kind::store && i.kind != ptx::Kind::atomic) continue;
        if (i.space == ptx::Space::shared || i.space == ptx::Space::local) continue;
        const size_t bytes = ptx::size_of(i.type);
        ++counts[i.type == ptx::Type::f32 ? 0 : i.type == ptx::Type::f64 ? 2 : bytes == 1 ? 3 : bytes == 8 ? 2 : 1];
    }
    static constexpr DType types[] = {DType::f32, DType::i32, DType::f64, DType::u8};
    const auto most = std::max_element(std::begin(counts), std::end(counts));
    return {*most == 0 ? DType::f32 : types[most - counts], 1};
}

struct Use {
    bool read = false, written = false, atomic = false;
};

bool stands_alone(const std::string& text, size_t at, size_t length) {  // no part of a longer name
    return (at == 0 || !device::in_name(text[at - 1])) &&
           (at + length >= text.size() || !device::in_name(text[at + length]));
}

size_t next_word(const std::string& text, size_t from) {
    return std::min(text.find_first_not_of(" \t\n", from), text.size());
}

// Behind the subscript that begins at `open`, and behind a member of what stands there: x[i].y.
size_t behind_subscript(const std::string& text, size_t open) {
    size_t next = open;
    int depth = 0;
    for (; next < text.size(); ++next) {
        depth += text[next] == '[' ? 1 : text[next] == ']' ? -1 : 0;
        if (depth == 0) break;
    }
    next = next_word(text, next + 1);
    if (next >= text.size() || text[next] != '.') return next;
    ++next;
    while (next < text.size() && device::in_name(text[next])) ++next;
    return next_word(text, next);
}

// By what stands behind an element: "= 1" writes it, "+= 1" and "++" read and write it, anything else reads it.
void note_operator(std::string_view after, Use& use) {
    const bool plain = after.starts_with("=") && !after.starts_with("==");
    const bool with =
        after.size() > 1 && after[1] == '=' && std::string_view("+-*/%&|^").find(after[0]) != std::string_view::npos;
    const bool step =
        after.starts_with("++") || after.starts_with("--") || after.starts_with("<<=") || after.starts_with(">>=");
    if (plain || with || step) use.written = true;
    if (!plain) use.read = true;
}

// How the kernel's text uses the buffer `name`.
Use use_of(const std::string& text, const std::string& name) {
    Use use;
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        if (!stands_alone(text, at, name.size())) continue;
        const size_t line = text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at) + 1;
        if (text.substr(line, at - line).find("atomic") != std::string::npos) use.atomic = true;
        const size_t next = text.find_first_not_of(" \t\n", at + name.size());
        if (next == std::string::npos) continue;
        const bool star = at > 0 && text[at - 1] == '*' && text[next] == '=';
        if (!star && text[next] != '[') continue;
        note_operator(std::string_view(text).substr(star ? next : behind_subscript(text, next), 3), use);
    }
    return use;
}

// The type of a scalar: as declared, else by the parameter's type; one that has not the parameter's size is no type of it.
DType scalar_type(const ptx::Parameter& p, const std::string& declaration) {
    DType type = p.type == ptx::Type::f32   ? DType::f32
                 : p.type == ptx::Type::f64 ? DType::f64
                 : p.bytes == 8             ? DType::i64
                                            : DType::i32;
    if (!declaration.empty()) type = element_of(declaration).type;
    if (size_of(type) == p.bytes) return type;
    return p.bytes == 1 ? DType::i8 : p.bytes == 2 ? DType::i16 : p.bytes == 8 ? DType::i64 : DType::i32;
}

std::string scalar_guess(const ptx::Parameter& p, const std::string& declaration, const std::string& name, int64_t count,
                         bool plane) {
    const DType type = scalar_type(p, declaration);
    if (type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16)
        return fmt::format("{}:2", name_of(type));
    std::string lower;
    for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto about = [&](std::initializer_list<std::string_view> words) {
        return std::any_of(words.begin(), words.end(),
                           [&](std::string_view w) { return lower.find(w) != std::string::npos; });
    };
    if (about({"offset", "shift", "seed", "start", "begin"})) return fmt::format("{}:0", name_of(type));
    if (about({"stride", "step", "radius"})) return fmt::format("{}:2", name_of(type));
    if (about({"iter", "bins", "rounds", "repeat"})) return fmt::format("{}:16", name_of(type));
    int64_t value = plane ? 64 : count;
    if (type == DType::i8 || type == DType::u8) value = std::min<int64_t>(value, 100);
    return fmt::format("{}:{}", name_of(type), value);
}

// "tex2d:f32[64,64]" of a texture that the text reads by tex2D<float>; empty: the parameter is neither texture nor surface.
std::string texture_guess(const std::string& declaration, const std::string& text) {
    const bool surface = device::has_name(declaration, "cudaSurfaceObject_t");
    if (!surface && !device::has_name(declaration, "cudaTextureObject_t")) return {};
    static constexpr struct {
        std::string_view call, name, extents;
    } shapes[] = {{"2D", "2d", "64,64"}, {"1D", "1d", "4096"}, {"3D", "3d", "16,16,16"}};
    const std::string kind = surface ? "surf" : "tex";
    for (const auto& shape : shapes) {
        const size_t call = text.find(kind + std::string(shape.call));
        if (call == std::string::npos) continue;
        const size_t open = text.find('<', call), close = text.find('>', call);
        const Element element = open < close && close != std::string::npos
                                    ? element_of(text.substr(open + 1, close - open - 1))
                                    : Element{DType::f32, 1};
        return fmt::format("{}{}:{}[{}{}]", kind, shape.name, name_of(element.type), shape.extents,
                           element.width > 1 ? fmt::format(",{}", element.width) : "");
    }
    return kind + "2d:f32[64,64]";
}

// The number that `word` stands for: digits, or a name that the text defines. 0: unknown.
int64_t number_of(const std::string& text, const std::string& word) {
    if (word.empty() || word.size() > 60) return 0;
    if (word[0] >= '0' && word[0] <= '9') return word.size() < 8 ? std::stoll(word) : 0;
    for (const std::string& before : {"#define " + word + " ", "int " + word + " = ", word + " = "}) {
        size_t at = text.find(before);
        while (at != std::string::npos && at > 0 && device::in_name(text[at - 1])) at = text.find(before, at + 1);
        if (at == std::string::npos) continue;  // or a part of a longer name
        const size_t digits = text.find_first_not_of(' ', at + before.size());
        if (digits != std::string::npos && text[digits] >= '0' && text[digits] <= '9')
            return std::stoll(text.substr(digits, 7));
    }
    return 0;
}

// The block that a __shared__ array is made for, one thread an element; 0: none that could be a block's width.
int64_t block_of_shared(const std::string& text) {
    int64_t width = 0;
    for (size_t at = text.find("__shared__"); at != std::string::npos; at = text.find("__shared__", at + 1)) {
        const size_t end = std::min(text.find(';', at), text.size()), open = text.find('[', at);
        if (open >= end) continue;
        const size_t close = std::min(text.find(']', open), end);
        std::string word;
        for (size_t i = open + 1; i < close && (device::in_name(text[i]) || word.empty()); ++i)
            if (device::in_name(text[i])) word += text[i];
        const int64_t n = number_of(text, word);
        if (n >= 8 && n <= 1024) width = width == 0 ? n : std::min(width, n);
    }
    return width;
}

// The number that an index multiplies `block` by: 32 of "blockIdx.y * 32 + threadIdx.y", that of TILE in
// "TILE * blockIdx.x"; 0: it counts with blockDim, or not at all.
int64_t factor_of(const std::string& text, const std::string& block) {
    for (size_t at = text.find(block); at != std::string::npos; at = text.find(block, at + 1)) {
        std::string word;
        size_t behind = next_word(text, at + block.size());
        if (behind < text.size() && text[behind] == '*') {
            for (size_t i = next_word(text, behind + 1); i < text.size() && device::in_name(text[i]); ++i) word += text[i];
        } else {
            size_t before = at;
            while (before > 0 && text[before - 1] == ' ') --before;
            if (before == 0 || text[before - 1] != '*') continue;
            for (--before; before > 0 && text[before - 1] == ' ';) --before;
            size_t begin = before;
            while (begin > 0 && device::in_name(text[begin - 1])) --begin;
            word = text.substr(begin, before - begin);
        }
        if (const int64_t n = number_of(text, word); n >= 1 && n <= 1024) return n;
    }
    return 0;
}

// The step of a loop that goes over a tile of `extent` rows, "j += 8"; `extent` where there is none.
int64_t step_within(const std::string& text, int64_t extent) {
    for (size_t at = text.find("+="); at != std::string::npos; at = text.find("+=", at + 1)) {
        std::string word;
        for (size_t i = next_word(text, at + 2); i < text.size() && device::in_name(text[i]); ++i) word += text[i];
        if (const int64_t n = number_of(text, word); n > 1 && n < extent && extent % n == 0) return n;
    }
    return extent;
}

}  // namespace

bool KernelDocument::is_host() const {
    return scene::is_host_program(name);
}

bool KernelDocument::is_program() const {
    if (launch.kernels_alone || is_host() || is_tape() || is_ptx()) return false;
    if (main_sought_in_ != text) {
        main_sought_in_ = text;
        has_main_ = device::has_main(text);
    }
    return has_main_;
}

bool KernelDocument::is_header() const {
    const auto extension = std::filesystem::path(name).extension();
    return extension == ".h" || extension == ".hpp";
}

bool KernelDocument::is_lesson_text() const {
    return !is_tape() && (scene::is_engine_program(name) || scene::is_parallel_program(name));
}

bool KernelDocument::is_tape() const {
    return scene::is_tensor_program(name);
}

bool KernelDocument::is_ptx() const {
    return std::filesystem::path(shown_name()).extension() == ".ptx";
}

bool KernelDocument::saved() const {
    return !path.empty() && on_disk == fnv1a64(text);
}

std::vector<simt::Fault> KernelResult::reports() const {
    std::vector<simt::Fault> all;
    if (!run) return all;
    if (run->result.fault) all.push_back(*run->result.fault);
    all.insert(all.end(), run->result.reports.begin(), run->result.reports.end());
    all.insert(all.end(), run->result.warnings.begin(), run->result.warnings.end());
    return all;
}

std::string guessed_sizes(const LaunchSettings& settings) {
    std::string guessed = settings.grid_chosen ? "" : "grid " + settings.grid + ", block " + settings.block;
    for (const ArgumentText& argument : settings.arguments)
        if (!argument.chosen && (argument.text.find('[') != std::string::npos || argument.text.ends_with(":1024")))
            guessed += (guessed.empty() ? "" : ", ") + argument.parameter + " = " + argument.text;
    return guessed;
}

bool same_sizes(const LaunchSettings& a, const LaunchSettings& b) {
    return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block && a.shared == b.shared &&
           a.symbols == b.symbols &&
           std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                      [](const ArgumentText& x, const ArgumentText& y) { return x.text == y.text && x.chosen == y.chosen; });
}

std::string_view name_of(simt::WarpOrder order) {
    static constexpr std::string_view names[] = {"round robin", "greedy", "reverse", "random"};
    return names[static_cast<size_t>(order)];
}

bool has_lines_of(const model::KernelRun& run, std::string_view document) {
    if (document.ends_with(".ptx") || !run.program || run.program->source_file.empty()) return true;
    return std::filesystem::path(run.program->source_file).filename() == std::filesystem::path(document).filename();
}

namespace {

// A grid and a block for the kernel's text; plane: it has a second axis.
void fit_grid(LaunchSettings& settings, const ptx::Program& program, const std::string& text, bool plane) {
    settings.grid = plane ? "4,4" : "4";
    settings.block = plane ? "16,16" : "256";
    int64_t shared = block_of_shared(text);                // one element a thread fits; a row more is no thread's
    if (!plane && shared > 32) shared = shared / 32 * 32;  // nor is a halo: tile[258] is of 256 threads
    if (!plane && shared >= 32) {
        settings.block = std::to_string(shared);
        settings.grid = std::to_string(std::max<int64_t>(1, 1024 / shared));
    } else if (plane && (shared == 8 || shared == 16 || shared == 32)) {
        settings.block = fmt::format("{},{}", shared, shared);
        settings.grid = fmt::format("{},{}", 64 / shared, 64 / shared);
    }
    const int64_t across = factor_of(text, "blockIdx.x"), down = plane ? factor_of(text, "blockIdx.y") : 0;
    const int64_t each = std::max<int64_t>(1, factor_of(text, "threadIdx.x"));  // elements a thread
    if (!plane && across / each >= 8 && across % each == 0) {
        settings.block = std::to_string(across / each);
        settings.grid = std::to_string(std::max<int64_t>(1, 1024 / across));
    } else if (plane && across >= 4 && down >= 2 && across <= 64 && down <= 64) {
        const int64_t threads_down = step_within(text, down);
        if (across * threads_down <= 1024) {
            settings.block = fmt::format("{},{}", across, threads_down);
            settings.grid = fmt::format("{},{}", std::max<int64_t>(1, 64 / across), std::max<int64_t>(1, 64 / down));
        }
    }
    if (program.required_threads[0] != 0)
        settings.block = fmt::format("{},{},{}", program.required_threads[0], std::max(1u, program.required_threads[1]),
                                     std::max(1u, program.required_threads[2]));
    else if (program.max_threads != 0 && program.max_threads < 256)
        settings.block = plane ? "8,8" : std::to_string(program.max_threads);
}

std::string buffer_guess(const ptx::Program& program, const std::string& declaration, const std::string& text,
                         const std::string& name, int64_t count, bool plane) {
    const Element element = declaration.empty() ? element_of(program) : element_of(declaration);
    const int64_t elements = count * element.width;
    const Use use = declaration.empty() ? Use{true, true, false} : use_of(text, name);
    const bool read_only = device::has_name(declaration, "const") && declaration.find("const") < declaration.find('*');
    const std::string type(name_of(element.type));
    const std::string extents = plane && element.width == 1 ? "64,64" : std::to_string(elements);
    if (read_only || (use.read && !use.written && !use.atomic)) return fmt::format("in:{}[{}]", type, extents);
    if (use.atomic) return fmt::format("inout:{}[{} zero]", type, extents);
    return fmt::format("{}:{}[{}]", use.read ? "inout" : "out", type, extents);
}

std::string struct_guess(uint32_t bytes) {  // of zeros
    const bool words = bytes % 4 == 0;
    std::string guess = "struct:";
    for (uint32_t k = 0; k < (words ? bytes / 4 : bytes) && k < 64; ++k)
        guess += std::string(k == 0 ? "" : ",") + (words ? "i32:0" : "u8:0");
    return guess;
}

// Of two sizes the second counts something else, as columns beside rows: 64, so that both together are no million.
std::string argument_guess(const ptx::Program& program, const ptx::Parameter& p, const std::string& declaration,
                           const std::string& text, const std::string& name, bool plane, bool further_size) {
    const int64_t count = plane ? 4096 : 1024;
    const bool by_value_struct = p.type != ptx::Type::none && p.bytes != ptx::size_of(p.type);
    const bool pointer = p.pointer || declaration.find('*') != std::string::npos ||
                         (declaration.empty() && p.bytes == 8 && !by_value_struct && p.type != ptx::Type::f64);
    if (pointer) return buffer_guess(program, declaration, text, name, count, plane);
    if (by_value_struct) return struct_guess(p.bytes);
    if (const std::string texels = texture_guess(declaration, text); p.bytes == 8 && !texels.empty()) return texels;
    return scalar_guess(p, declaration, name, further_size ? 64 : count, plane);
}

bool is_count(const std::string& guess, bool plane) {
    const size_t colon = guess.find(':');
    return !plane && colon != std::string::npos && guess.find('[') == std::string::npos && guess.substr(colon) == ":1024";
}

}  // namespace

void fit_launch(LaunchSettings& settings, const KernelEntry& entry, const std::string& source) {
    if (!entry.program) return;
    const ptx::Program& program = *entry.program;
    std::vector<std::string> declarations = parameter_declarations(source, program.kernel);
    if (declarations.size() != program.parameters.size()) declarations.assign(program.parameters.size(), "");
    std::string text = device::without_comments(source);
    if (text.find("#define") != std::string::npos) text = scene::without_macros(source);
    const bool plane = text.find("threadIdx.y") != std::string::npos || text.find("blockIdx.y") != std::string::npos;
    if (!settings.grid_chosen) fit_grid(settings, program, text, plane);
    std::vector<ArgumentText> fitted;
    int sizes = 0;  // numbers so far that stand for as many as there are threads
    for (size_t i = 0; i < program.parameters.size(); ++i) {
        const std::string name = i < entry.parameters.size() ? entry.parameters[i] : fmt::format("argument {}", i + 1);
        const auto known = std::find_if(settings.arguments.begin(), settings.arguments.end(),
                                        [&](const ArgumentText& a) { return a.chosen && a.parameter == name; });
        if (known != settings.arguments.end()) {
            fitted.push_back(*known);
            continue;
        }
        const std::string guess =
            argument_guess(program, program.parameters[i], declarations[i], text, name, plane, sizes > 0 && !plane);
        if (is_count(guess, plane)) ++sizes;
        const auto told = std::find_if(settings.arguments.begin(), settings.arguments.end(), [&](const ArgumentText& a) {
            return !a.chosen && a.parameter == name && a.guess == guess;
        });
        if (told != settings.arguments.end())
            fitted.push_back(*told);
        else
            fitted.push_back({name, guess, false});
    }
    settings.arguments = std::move(fitted);
}

}  // namespace lockstep::gui
