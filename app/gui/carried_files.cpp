// Saving collects, opening checks: both read the source's #include lines by the same function.
#include "app/gui/carried_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/model/gpus/gpu_file.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/system/system.h"

namespace lockstep::gui {

namespace fs = std::filesystem;

namespace {

// The text as the compiler's preprocessor sees its lines: lines that go on are one, comments are gone.
std::string without_comments(const std::string& text) {
    std::string spliced, plain;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && text.compare(i + 1, 1, "\n") == 0)
            ++i;
        else if (text[i] == '\\' && text.compare(i + 1, 2, "\r\n") == 0)
            i += 2;
        else
            spliced += text[i];
    }
    for (size_t i = 0; i < spliced.size(); ++i) {
        if (spliced.compare(i, 2, "/*") == 0) {
            const size_t end = spliced.find("*/", i + 2);
            i = end == std::string::npos ? spliced.size() : end + 1;
        } else {
            plain += spliced[i];
        }
    }
    return plain;
}

bool is_plain_part(const std::string& part) {
    return !part.empty() && part[0] != '.' && part.size() <= 100 && std::ranges::all_of(part, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    });
}
// "x.npy", "util/common.h": nothing that leads out of a folder.
bool is_plain_name(const std::string& name) {
    if (name.empty() || name.front() == '/' || name.back() == '/' || std::ranges::count(name, '/') > 4) return false;
    for (const fs::path& part : fs::path(name))
        if (!is_plain_part(part.string())) return false;
    return true;
}

struct Included {
    std::string line;                 // without blanks, for messages
    std::optional<std::string> name;  // "x.h"; nothing: the line names its file otherwise
};
// All directives that read a file.
std::vector<Included> includes_of(const std::string& text) {
    std::vector<Included> found;
    const std::string plain = without_comments(text);
    for (size_t at = 0; at < plain.size();) {
        const size_t end = std::min(plain.find('\n', at), plain.size());
        std::string line;
        for (const char c : std::string_view(plain).substr(at, end - at))
            if (c != ' ' && c != '\t' && c != '\r') line += c;
        at = end + 1;
        for (const std::string_view sign : {"%:", "?\?="})
            if (line.starts_with(sign)) line.replace(0, sign.size(), "#");
        if (!line.starts_with("#") || (line.find("include") == std::string::npos &&
                                       line.find("import") == std::string::npos && line.find("embed") == std::string::npos))
            continue;
        Included one{line.substr(0, 80), {}};
        const bool quoted = line.starts_with("#include\""), angled = line.starts_with("#include<");
        const size_t close = quoted || angled ? line.find(quoted ? '"' : '>', 9) : std::string::npos;
        if (close != std::string::npos) one.name = line.substr(9, close - 9);
        found.push_back(std::move(one));
    }
    return found;
}

// The files that an argument names: "in:x.npy", "out:f32[4]=y.npy,expect=z.npy".
void files_of(const scene::KernelArgument& argument, std::vector<std::string>& read, std::vector<std::string>& written) {
    if (!argument.file.empty()) read.push_back(argument.file);
    if (argument.expected && !argument.expected->file.empty()) read.push_back(argument.expected->file);
    if (!argument.output_file.empty()) written.push_back(argument.output_file);
    for (const scene::KernelArgument& part : argument.parts) files_of(part, read, written);
}

std::string bytes_of(const fs::path& file, const std::vector<CarriedFile>& files) {
    size_t room = most_carried_bytes;
    for (const CarriedFile& one : files) room -= std::min(room, one.bytes.size());
    std::error_code error;
    if (fs::file_size(file, error) > room && !error)
        throw Failure(fmt::format("the files that it reads are larger than {} MiB together ('{}')", most_carried_bytes >> 20,
                                  file.filename().string()));
    if (files.size() >= most_carried) throw Failure(fmt::format("it reads more than {} files", most_carried));
    auto bytes = read_file(file);
    if (!bytes.ok()) throw Failure(fmt::format("'{}' cannot be read, and it reads that file", file.string()));
    return bytes.value();
}

// A name that no other of the files has, made of the file's own.
std::string name_for(const fs::path& file, const std::string& bytes, const std::vector<CarriedFile>& files) {
    std::string stem = file.stem().string(), ending = file.extension().string();
    for (char& c : stem)
        if (!is_plain_part("a" + std::string(1, c))) c = '_';
    if (stem.empty() || stem[0] == '.') stem = "array" + stem;
    std::string name = stem + ending;
    const auto taken = [&] {
        return std::ranges::any_of(files, [&](const CarriedFile& one) { return one.name == name && one.bytes != bytes; });
    };
    for (int i = 2; taken(); ++i) name = fmt::format("{}-{}{}", stem, i, ending);
    return name;
}

void put(std::vector<CarriedFile>& files, CarriedFile file) {
    if (!is_carried(files, file.name)) files.push_back(std::move(file));
}

void carry_headers(const std::string& text, const fs::path& folder, const fs::path& below, std::vector<CarriedFile>& files) {
    for (const Included& include : includes_of(text)) {
        if (!include.name) throw Failure("the source reads a file that is not in it: " + include.line);
        for (const fs::path& beside : {below, fs::path()}) {
            const std::string name = (beside / *include.name).lexically_normal().generic_string();
            std::error_code error;
            if (!fs::is_regular_file(folder / name, error)) continue;
            if (!is_plain_name(name))
                throw Failure(fmt::format("the source includes '{}', which lies outside of its folder", *include.name));
            if (is_carried(files, name)) break;
            files.push_back({name, bytes_of(folder / name, files)});
            const std::string header = files.back().bytes;
            carry_headers(header, folder, fs::path(name).parent_path(), files);
            break;
        }
    }
}

void carry_arrays(LaunchSettings& launch, const fs::path& folder, std::vector<CarriedFile>& files) {
    for (ArgumentText& argument : launch.arguments) {
        const auto parsed = scene::parse_argument(argument.text);
        if (!parsed.ok()) continue;
        std::vector<std::string> read, written;
        files_of(parsed.value(), read, written);
        for (const std::string& file : written)  // who opens the run has nothing written
            if (const size_t at = argument.text.find("=" + file); at != std::string::npos)
                argument.text.erase(at, file.size() + 1);
        for (const std::string& file : read) {
            std::string bytes = bytes_of(folder / file, files);
            const std::string name = name_for(file, bytes, files);
            put(files, {name, std::move(bytes)});
            if (const size_t at = argument.text.find(file); at != std::string::npos)
                argument.text.replace(at, file.size(), name);
        }
    }
}

}  // namespace

bool is_carried(const std::vector<CarriedFile>& files, const std::string& name) {
    return std::ranges::any_of(files, [&](const CarriedFile& file) { return file.name == name; });
}

void carry_gpu(std::string& gpu, std::vector<CarriedFile>& files) {
    if (!model::is_gpu_file(gpu)) return;
    const fs::path first = gpu, folder = first.parent_path();
    for (fs::path name = first.filename(); !name.empty();) {
        const std::string plain = name.lexically_normal().generic_string();
        if (!is_plain_name(plain))
            throw Failure(
                fmt::format("the GPU's file inherits from '{}', which lies outside of its folder or has letters in "
                            "its name that not every computer takes",
                            plain));
        if (is_carried(files, plain)) break;
        files.push_back({plain, bytes_of(folder / plain, files)});
        const std::string next = model::inherited_file(files.back().bytes);
        name = next.empty() ? fs::path() : fs::path(plain).parent_path() / next;
    }
    gpu = first.filename().string();
}

std::vector<CarriedFile> carry(KernelDocument& document) {
    if (!document.launch.build.empty())
        throw Failure("the run has further sources or options of its compiler, which are not in the file");
    std::vector<CarriedFile> files;
    const fs::path folder = fs::path(document.path).parent_path();
    const bool other_text = !document.is_ptx() && (document.is_host() || document.is_tape());
    if (other_text && (document.text.find(".npy") != std::string::npos || document.text.find(".cu") != std::string::npos))
        throw Failure("the program names other files, which are not in it");
    if (!other_text) {
        if (!document.is_ptx()) carry_headers(document.text, folder, {}, files);
        carry_arrays(document.launch, folder, files);
    }
    carry_gpu(document.launch.gpu, files);
    return files;
}

void check_carried(const KernelDocument& document, const std::vector<CarriedFile>& files) {
    size_t bytes = 0;
    if (files.size() > most_carried) throw Failure(fmt::format("it carries more than {} files", most_carried));
    for (const CarriedFile& file : files) {
        bytes += file.bytes.size();
        if (!is_plain_name(file.name))
            throw Failure(fmt::format("it carries a file of the name '{}', which may not be", file.name.substr(0, 60)));
        if (file.name == document.shown_name())
            throw Failure(fmt::format("it carries a file of the source's own name, '{}'", file.name));
    }
    if (bytes > most_carried_bytes)
        throw Failure(fmt::format("the files that it carries are larger than {} MiB together", most_carried_bytes >> 20));
    const auto check_text = [](const std::string& text) {
        for (const Included& include : includes_of(text))
            if (!include.name || !is_plain_name(*include.name))
                throw Failure("the source reads a file that is not in it: " + include.line);
    };
    check_text(document.text);
    for (const CarriedFile& file : files)
        if (!file.name.ends_with(".npy") && !model::is_gpu_file(file.name)) check_text(file.bytes);
    if (!document.is_ptx() && (document.is_host() || document.is_tape())) {
        if (document.text.find(".npy") != std::string::npos || document.text.find(".cu") != std::string::npos)
            throw Failure("the program names other files, which are not in it");
        return;
    }
    for (const ArgumentText& argument : document.launch.arguments) {
        const auto parsed = scene::parse_argument(argument.text);
        if (!parsed.ok()) continue;
        std::vector<std::string> read, written;
        files_of(parsed.value(), read, written);
        std::erase_if(read, [&](const std::string& file) { return is_carried(files, file); });
        if (!read.empty() || !written.empty())
            throw Failure(fmt::format("argument '{}' names a file ({}), which is not in it", argument.parameter,
                                      argument.text.substr(0, 60)));
    }
}

fs::path unpack(const std::vector<CarriedFile>& files, const std::string& source_name, const std::string& source) {
    std::string all = source;
    for (const CarriedFile& file : files) all += '\0' + file.name + '\0' + file.bytes;
    const fs::path folder = system::state_folder() / "runs" /
                            fmt::format("{}-{:012x}", fs::path(source_name).stem().string(), fnv1a64(all) & 0xffffffffffffu);
    for (const CarriedFile& file : files) write_durably(folder / file.name, file.bytes);
    if (!source.empty()) write_durably(folder / source_name, source);
    return folder;
}

}  // namespace lockstep::gui
