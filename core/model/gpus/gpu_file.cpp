// Reading: the table by toml++, each key to GpuDesign with its place, then what the whole comes to. Writing: figures_of().
#include "core/model/gpus/gpu_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/gpus/gpu_file_words.h"

namespace lockstep::model {
namespace {

constexpr std::string_view ending = ".toml";
constexpr size_t most_inherited = 8;
constexpr size_t most_bytes = 1 << 20;

std::string lower(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return text;
}

// Files that inherit from one another: first the one that was asked for, then the one that it inherits from, and so on.
using Chain = std::vector<std::filesystem::path>;

// `within`: a folder that nothing may be inherited from outside of; empty: any. `above`: the files that led to this one.
Result<GpuSpec> read_file_at(const std::filesystem::path& file, const Chain& above, const std::filesystem::path& within);

// A file that is only handed in as a text lies nowhere, but has a name too.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code error;
    if (std::filesystem::equivalent(a, b, error) && !error) return true;
    const auto absolute_a = std::filesystem::absolute(a, error), absolute_b = std::filesystem::absolute(b, error);
    return absolute_a.lexically_normal() == absolute_b.lexically_normal();
}

// "a.toml inherits b.toml inherits a.toml": from the file at `from` round to itself, each as it lies beside that one.
std::string circle_of(const Chain& files, size_t from) {
    const auto absolute = [](const std::filesystem::path& file) {
        std::error_code error;
        return std::filesystem::absolute(file, error).lexically_normal();
    };
    const std::filesystem::path folder = absolute(files[from]).parent_path(), first = absolute(files[from]).filename();
    std::string words;
    for (size_t i = from; i < files.size(); ++i)
        words += absolute(files[i]).lexically_proximate(folder).generic_string() + " inherits ";
    return words + first.string();
}

bool lies_in(const std::filesystem::path& file, const std::filesystem::path& folder) {
    std::error_code error;
    const auto whole = std::filesystem::weakly_canonical(file, error),
               root = std::filesystem::weakly_canonical(folder, error);
    const auto [at, end] = std::mismatch(whole.begin(), whole.end(), root.begin(), root.end());
    return !error && end == root.end();
}

class Reader {
  public:
    Reader(const std::string& text, std::string file, Chain files, const std::filesystem::path& within)
        : text_(text), file_(std::move(file)), files_(std::move(files)), within_(within) {}

    GpuSpec read() {
        try {
            table_ = toml::parse(text_);
        } catch (const toml::parse_error& error) {
            const auto place = error.source().begin;
            const GpuFileFault fault =
                gpu_file_fault(text_, static_cast<int>(place.line), static_cast<int>(place.column), error.description());
            throw Failure(Diagnostic{fault.message, {file_, fault.line, fault.column}, line_of(text_, fault.line)});
        }
        refuse_unknown();
        const auto source = word("source");
        source_ = kept_text(source ? *source : "set in " + std::filesystem::path(file_).filename().string());
        GpuDesign design(base());
        refuse_twice();
        for (const auto& [key, node] : table_) set(design, key.str(), node);
        if (!inherits()) refuse_incomplete(design);
        const auto follows = kept_text("follows from what is " + std::string(source ? "set in " : "") +
                                       (source ? std::filesystem::path(file_).filename().string() : std::string(source_)));
        if (const auto impossible = design.finish(inherits() ? follows : source_)) refuse(*impossible);
        GpuSpec& gpu = design.gpu();
        gpu.name = kept_text(file_);
        const auto title = word("name");
        constexpr size_t longest = 80;
        if (title &&
            (title->size() > longest || std::ranges::any_of(*title, [](unsigned char c) { return c < 32 || c == 127; })))
            refuse(*table_.get("name"), fmt::format("'name' is one line of at most {} letters", longest));
        gpu.title = kept_text(title ? *title : std::filesystem::path(file_).stem().string());
        return gpu;
    }

  private:
    Diagnostic at(const toml::source_region& region, std::string message) const {
        const int line = static_cast<int>(region.begin.line);
        return Diagnostic{std::move(message), {file_, line, static_cast<int>(region.begin.column)}, line_of(text_, line)};
    }
    [[noreturn]] void refuse(const toml::node& node, std::string message) const {
        throw Failure(at(node.source(), std::move(message)));
    }
    // At the value that comes last of those that do not go together.
    [[noreturn]] void refuse(const GpuDesign::Impossible& impossible) const {
        const toml::node* last = nullptr;
        for (const auto& [key, node] : table_) {
            const auto [field, unit] = field_named(key.str());
            const std::string_view name = field != nullptr ? field->name : std::string_view(key.str());
            if (std::ranges::find(impossible.fields, name) == impossible.fields.end()) continue;
            if (last == nullptr || node.source().begin > last->source().begin) last = &node;
        }
        if (last != nullptr) refuse(*last, impossible.message);
        throw Failure(Diagnostic{impossible.message, {file_}});
    }

    void refuse_unknown() const {
        std::vector<std::string> known = gpu_field_names();
        for (const char* word : {"inherits", "name", "source"}) known.emplace_back(word);
        for (const auto& [key, node] : table_) {
            const std::string name(key.str());
            if (field_named(name).first != nullptr || std::ranges::find(known, name) != known.end()) continue;
            const std::string otherwise = "; 'lockstep gpus v100 --json -' names them all";
            throw Failure(
                at(key.source(), fmt::format("unknown figure '{}' of a GPU{}", name, did_you_mean(name, known, otherwise))));
        }
    }

    // l2_mb and l2_bytes are one figure, and tensor_fmas and the tensor peak.
    void refuse_twice() const {
        std::map<std::string_view, std::pair<std::string_view, const toml::node*>> before;
        for (const auto& [key, node] : table_) {
            const GpuField* const field = field_named(key.str()).first;
            const std::string_view name = field != nullptr             ? field->name
                                          : key.str() == "tensor_fmas" ? std::string_view("fp16_tensor_tflops")
                                                                       : std::string_view(key.str());
            const auto [at, first] = before.try_emplace(name, std::string_view(key.str()), &node);
            if (first) continue;
            const auto& [other, earlier] = at->second;
            const bool later = node.source().begin > earlier->source().begin;
            refuse(later ? node : *earlier, fmt::format("'{}' and '{}' are one figure: set one of them", other, key.str()));
        }
    }

    const toml::node* inherits() const { return table_.get("inherits"); }
    std::optional<std::string> word(std::string_view key) const {
        const toml::node* const node = table_.get(key);
        if (node == nullptr) return std::nullopt;
        const auto value = node->value<std::string>();
        if (!node->is_string() || !value || value->empty()) refuse(*node, fmt::format("'{}' is a text in quotes", key));
        return *value;
    }

    void refuse_circle(const std::filesystem::path& next) const {
        if (same_file(next, file_))
            refuse(*inherits(), "this file inherits from itself: it needs a GPU to begin with, as \"h100\"");
        for (size_t i = 0; i < files_.size(); ++i)
            if (same_file(next, files_[i]))
                refuse(*inherits(),
                       fmt::format("{}: one of them needs a GPU to begin with, as \"h100\"", circle_of(files_, i)));
    }

    GpuSpec base() const {
        const auto name = word("inherits");
        if (!name) return GpuSpec{};
        std::filesystem::path path = *name;
        if (is_gpu_file(*name) && path.is_relative()) path = std::filesystem::path(file_).parent_path() / path;
        if (is_gpu_file(*name)) refuse_circle(path);
        if (files_.size() > most_inherited)
            refuse(*inherits(), fmt::format("more than {} files inherit from one another here", most_inherited));
        if (is_gpu_file(*name) && !within_.empty() && !lies_in(path, within_))
            refuse(*inherits(), "a design that is handed in inherits from a GPU by name, or from a file handed in with it");
        const Result<GpuSpec> gpu = is_gpu_file(*name) ? read_file_at(path, files_, within_) : gpu_named(*name);
        if (gpu) return gpu.value();
        if (gpu.error().where.line != 0) throw Failure(gpu.error());  // in the file that this one inherits from
        refuse(*inherits(),
               gpu.error().where.file.empty() ? gpu.error().message : gpu.error().where.file + ": " + gpu.error().message);
    }

    void refuse_incomplete(const GpuDesign& design) const {
        constexpr std::string_view optional[] = {"registers_per_block", "l2_far_latency", "dram_far_latency",
                                                 "fp32_peak_mhz",       "lecture_mhz",    "tensor_fmas"};
        for (const std::string& name : gpu_field_names()) {
            if (std::ranges::find(optional, name) != std::end(optional)) continue;
            if (std::ranges::find(design.chosen(), name) == design.chosen().end() && table_.get(name) == nullptr)
                throw Failure(Diagnostic{
                    table_.empty()
                        ? std::string("there is nothing in this file: a GPU's begins with inherits = \"v100\", as one")
                        : fmt::format("the GPU's file lacks '{}': it says inherits = \"v100\", as one, or sets every figure",
                                      name),
                    {file_, 1, 1},
                    line_of(text_, 1)});
        }
    }

    double number(std::string_view name, const toml::node& node, bool whole) const {
        const GpuField* const field = field_named(name).first;
        const bool yes_or_no = field != nullptr && field->whole() && field->least == 0 && field->most == 1;
        if (const auto* yes = node.as_boolean(); yes != nullptr && yes_or_no) return yes->get() ? 1 : 0;
        if (const auto* count = node.as_integer()) return static_cast<double>(count->get());
        if (const auto* figure = node.as_floating_point()) {
            if (whole && std::isfinite(figure->get()) && figure->get() != std::floor(figure->get()))
                refuse(node, fmt::format("'{}' is a whole number, not {}", name, figure->get()));
            return figure->get();
        }
        refuse(node, fmt::format("'{}' is a number{}", name, node.is_string() ? ", without quotes" : ""));
    }

    void set(GpuDesign& design, std::string_view key, const toml::node& whole_node) {
        if (key == "inherits" || key == "name" || key == "source") return;
        const toml::node* node = &whole_node;
        std::string_view source = source_;
        if (const toml::table* both = node->as_table()) {
            for (const auto& [inner, ignored] : *both)
                if (inner.str() != "value" && inner.str() != "source")
                    throw Failure(at(inner.source(), fmt::format("a figure is a number, or {{ value = ..., source = \"...\" "
                                                                 "}}: '{}' is neither",
                                                                 inner.str())));
            const toml::node* const said = both->get("source");
            if (said != nullptr) {
                const auto text = said->value<std::string>();
                if (!said->is_string() || !text || text->empty()) refuse(*said, "'source' is a text in quotes");
                source = kept_text(*text);
            }
            node = both->get("value");
            if (node == nullptr) refuse(whole_node, fmt::format("'{}' lacks its value", key));
        }
        if (key == "scheduler") return set_scheduler(design, *node, source);
        if (key == "dram_kind") return set_dram(design, *node, source);
        if (key == "compute") return set_compute(design, *node);
        std::optional<Diagnostic> refused;
        if (key == "shared_carveouts") {
            const toml::array* const list = node->as_array();
            if (list == nullptr) refuse(*node, "'shared_carveouts' is a list of bytes, as in [0, 8192, 16384]");
            std::vector<double> sizes;
            for (const toml::node& size : *list) sizes.push_back(number(key, size, true));
            refused = design.choose_carveouts(sizes, source);
        } else {
            const auto [field, unit] = field_named(key);
            refused = design.set(key, number(key, *node, field != nullptr && field->whole() && unit == 1), source);
        }
        if (refused) refuse(*node, refused->message);
    }

    std::string name_in(const toml::node& node, std::string_view key, std::string_view example) const {
        const auto value = node.value<std::string>();
        if (!node.is_string() || !value) refuse(node, fmt::format("'{}' is a text in quotes, such as \"{}\"", key, example));
        return lower(*value);
    }
    void set_scheduler(GpuDesign& design, const toml::node& node, std::string_view source) const {
        std::vector<std::string> known;
        for (uint8_t i = 0; !name_of(SchedulerPolicy{i}).empty(); ++i) known.emplace_back(name_of(SchedulerPolicy{i}));
        const std::string name = name_in(node, "scheduler", known.front());
        const auto policy = scheduler_named(name);
        if (!policy) refuse(node, fmt::format("unknown scheduler '{}'{}", name, did_you_mean(name, known)));
        design.choose(*policy, source);
    }
    void set_dram(GpuDesign& design, const toml::node& node, std::string_view source) const {
        const std::string name = name_in(node, "dram_kind", "hbm");
        std::vector<std::string> known;
        for (const DramKind kind : {DramKind::ddr, DramKind::lpddr, DramKind::gddr, DramKind::hbm}) {
            known.push_back(lower(std::string(name_of(kind))));
            if (known.back() == name) return design.choose(kind, source);
        }
        refuse(node, fmt::format("unknown kind of DRAM '{}'{}", name, did_you_mean(name, known)));
    }
    void set_compute(GpuDesign& design, const toml::node& node) const {
        const std::string text = node.is_floating_point() ? fmt::format("{:.1f}", node.value<double>().value_or(0))
                                                          : name_in(node, "compute", "8.0");
        std::vector<std::string> known;
        for (const uint32_t compute : {53, 60, 61, 70, 75, 80, 86, 87, 89, 90}) {
            known.push_back(ComputeCapability{compute}.text());
            if (known.back() == text) return design.choose(ComputeCapability{compute});
        }
        refuse(node, fmt::format("unknown compute capability '{}': there are {}", text, fmt::join(known, ", ")));
    }

    const std::string& text_;
    std::string file_;
    Chain files_;  // that inherit from one another, this one last
    const std::filesystem::path& within_;
    toml::table table_;
    std::string_view source_;
};

Result<GpuSpec> parsed(const std::string& text, const std::string& file, Chain files, const std::filesystem::path& within) {
    files.emplace_back(file);
    try {
        return Reader(text, file, std::move(files), within).read();
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

Result<GpuSpec> read_file_at(const std::filesystem::path& file, const Chain& above, const std::filesystem::path& within) {
    const Result<std::string> text = read_text(file, most_bytes);
    if (!text) return text.error();
    return parsed(text.value(), file.string(), above, within);
}

}  // namespace

bool is_gpu_file(std::string_view name) {
    return name.size() > ending.size() && lower(std::string(name.substr(name.size() - ending.size()))) == ending;
}

std::string short_name(std::string_view gpu) {
    return is_gpu_file(gpu) ? std::filesystem::path(gpu).stem().string() : std::string(gpu);
}

Result<GpuSpec> parse_gpu_file(const std::string& text, const std::string& file, const std::filesystem::path& within) {
    return parsed(text, file, {}, within);
}

// The app asks for its GPU in every frame. What a file inherits from is looked at again when the file itself has changed.
Result<GpuSpec> read_gpu_file(const std::filesystem::path& file) {
    struct Read {
        std::filesystem::file_time_type time;
        uintmax_t size = 0;
        GpuSpec gpu;
    };
    static std::mutex mutex;
    static std::map<std::string, Read> known;
    std::error_code error;
    const auto time = std::filesystem::last_write_time(file, error);
    const uintmax_t size = error ? 0 : std::filesystem::file_size(file, error);
    if (!error) {
        const std::lock_guard lock(mutex);
        const auto at = known.find(file.string());
        if (at != known.end() && at->second.time == time && at->second.size == size) return at->second.gpu;
    }
    Result<GpuSpec> gpu = read_file_at(file, {}, {});
    if (gpu && !error) {
        const std::lock_guard lock(mutex);
        known[file.string()] = {time, size, gpu.value()};
    }
    return gpu;
}

std::string inherited_file(const std::string& text) {
    try {
        const auto name = toml::parse(text)["inherits"].value<std::string>();
        return name && is_gpu_file(*name) ? *name : std::string();
    } catch (const toml::parse_error&) {
        return {};
    }
}

std::string new_gpu_file(const GpuSpec& from, std::string_view inherits, std::string_view name) {
    std::string text = fmt::format(
        "# A GPU of your own: {} but for what stands below without a # in front. Each figure is as that GPU has it, with "
        "its\n"
        "# unit and source. Peaks follow from lanes and clock, bandwidths from channels and slices, where you do not set "
        "them.\n"
        "# `lockstep gpus FILE` prints what it comes to, `lockstep gpus FILE --area` what it would take of a die.\n"
        "inherits = \"{}\"\nname = \"{}\"\n\n"
        "# compute = \"{}\"\n# tensor_fmas = {:.0f}  # multiply-adds of FP16 in the tensor cores of a sub-core, per cycle\n",
        from.title, inherits, name, from.compute.text(), tensor_fmas(from));
    for (const SpecFigure& figure : figures_of(from)) {
        std::string value = fmt::format("{:.10g}", figure.value);
        if (figure.name == "scheduler") value = fmt::format("\"{}\"", name_of(from.scheduler.value));
        if (figure.name == "dram_kind") value = fmt::format("\"{}\"", lower(std::string(name_of(from.dram_kind.value))));
        if (figure.name == "shared_carveouts") continue;
        text += fmt::format("# {:<32} # {}{}{}: {}\n", fmt::format("{} = {}", figure.name, value), figure.label,
                            figure.unit.empty() ? "" : ", ", figure.unit, figure.source);
    }
    std::string sizes;
    for (const uint32_t size : from.shared_carveouts.value)
        if (size != 0 || sizes.empty()) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    if (from.shared_carveouts.value[1] == 0) sizes.clear();
    return text + fmt::format(
                      "# shared_carveouts = [{}]  # bytes that shared memory may take of l1_bytes; []: it is a memory "
                      "of its own\n",
                      sizes);
}

const GpuSpec& teaching_gpu() {
    static const GpuSpec gpu = [] {
        GpuSpec read = read_file_at(resource_root() / "assets" / "gpus" / "teaching.toml", {}, {}).value();
        read.name = "teaching";
        return read;
    }();
    return gpu;
}

}  // namespace lockstep::model
