#include "core/nn/data/files/checkpoint.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/nearest.h"
#include "core/nn/data/files/safetensors.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
using nlohmann::json;
constexpr const char* format_name = "lockstep checkpoint 1";
constexpr const char* head_name = "checkpoint.json";
constexpr size_t largest_head = size_t{1} << 20;

// "step-400-0123456789abcdef.safetensors", and no other file of the folder.
bool names_tensors(std::string_view name) {
    constexpr std::string_view begin = "step-", end = ".safetensors";
    if (!name.starts_with(begin) || !name.ends_with(end) || name.size() < begin.size() + end.size()) return false;
    name = name.substr(begin.size(), name.size() - begin.size() - end.size());
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// A temporary of write_durably that a killed process left: a name of ours and six characters.
bool is_left_over(const std::string& name) {
    if (name.size() < 8 || name[name.size() - 7] != '.') return false;
    const std::string whole = name.substr(0, name.size() - 7);
    return whole == head_name || names_tensors(whole);
}

void delete_others(const std::filesystem::path& folder, const std::string& kept) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if ((names_tensors(name) && name != kept) || is_left_over(name)) std::filesystem::remove(entry.path(), ignored);
    }
}

template <class Number>
bool read_number(std::string_view text, Number& value, int base = 10) {
    std::from_chars_result got;
    if constexpr (std::is_integral_v<Number>)
        got = std::from_chars(text.data(), text.data() + text.size(), value, base);
    else
        got = std::from_chars(text.data(), text.data() + text.size(), value);
    return got.ec == std::errc() && got.ptr == text.data() + text.size() && !text.empty();
}

const std::string& entry_of(const Checkpoint& checkpoint, const std::string& name) {
    const auto found = checkpoint.state.find(name);
    if (found == checkpoint.state.end()) throw Failure(fmt::format("the checkpoint keeps no state {}", in_quotes(name)));
    return found->second;
}
}  // namespace

void Checkpoint::keep(const std::string& name, const Rng& generator) {
    static_assert(sizeof(Rng) == sizeof(uint64_t) && std::is_trivially_copyable_v<Rng>);
    state[name] = fmt::format("{}", std::bit_cast<uint64_t>(generator));
}

void Checkpoint::keep(const std::string& name, double value) {
    state[name] = fmt::format("{}", value);  // the shortest text that reads back as the same double
}

Rng Checkpoint::rng(const std::string& name) const {
    uint64_t bits = 0;
    if (!read_number(entry_of(*this, name), bits))
        throw Failure(fmt::format("the checkpoint's state {} is no random state", in_quotes(name)));
    return std::bit_cast<Rng>(bits);
}

double Checkpoint::number(const std::string& name) const {
    double value = 0;
    if (!read_number(entry_of(*this, name), value))
        throw Failure(fmt::format("the checkpoint's state {} is no number", in_quotes(name)));
    return value;
}

const Array& Checkpoint::tensor(const std::string& name) const {
    if (const Array* array = find(tensors, name)) return *array;
    std::vector<std::string> names;
    for (const NamedArray& row : tensors) names.push_back(row.name);
    const std::string nearest = nearest_name(name, names);
    throw Failure(fmt::format("the checkpoint has no tensor {}{}", in_quotes(name),
                              nearest.empty() ? "" : fmt::format(", only one like it: {}", in_quotes(nearest))));
}

void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint) {
    const std::string tensors = format_safetensors({.tensors = checkpoint.tensors});
    const std::string hash = fmt::format("{:016x}", fnv1a64(tensors));
    const std::string file = fmt::format("step-{}-{}.safetensors", std::max<int64_t>(checkpoint.step, 0), hash);
    json head;
    head["format"] = format_name;
    head["model"] = checkpoint.model;
    head["step"] = checkpoint.step;
    head["seed"] = fmt::format("{}", checkpoint.seed);  // JSON's readers lose bits of numbers beyond 2^53
    head["options"] = checkpoint.options;
    head["state"] = checkpoint.state;
    head["tensors"] = {{"file", file}, {"bytes", tensors.size()}, {"fnv1a64", hash}};
    std::string text;
    try {
        text = head.dump(2) + "\n";
    } catch (const json::exception&) {
        throw Failure("an option or a state of the checkpoint is not UTF-8");
    }
    if (text.size() > largest_head || !parse_checkpoint_head(text, head_name).ok())
        throw Failure("the checkpoint's options and state cannot be read back: over 1 MiB, or a step below zero");
    bool whole = false;
    try {
        write_durably(folder / file, tensors);
        whole = true;
        write_durably(folder / head_name, text);
    } catch (const Failure& failure) {
        const auto earlier = read_file(folder / head_name, largest_head);
        const auto head_there = earlier.ok() ? parse_checkpoint_head(earlier.value(), head_name) : Diagnostic{};
        if (whole && (!earlier.ok() || earlier.value().find(file) == std::string::npos)) {  // tensors that belong to nothing
            std::error_code ignored;
            std::filesystem::remove(folder / file, ignored);
        }
        Diagnostic told = failure.diagnostic;
        if (head_there.ok())
            told.message +=
                fmt::format("; the checkpoint of step {} that is there is untouched", head_there.value().checkpoint.step);
        throw Failure(told, failure.status);
    }
    delete_others(folder, file);
}

Result<CheckpointHead> parse_checkpoint_head(std::string_view bytes, const std::string& name) {
    const auto bad = [&](uint64_t at, const std::string& what) {
        return refusal(name, at, "not a readable checkpoint: " + what);
    };
    if (bytes.size() > largest_head) return bad(largest_head, "it is larger than 1 MiB");
    json head;
    try {
        head = json::parse(bytes);
    } catch (const json::parse_error& error) {
        return bad(std::min<uint64_t>(error.byte > 0 ? error.byte - 1 : 0, bytes.size()), "it is not JSON from here on");
    } catch (const json::exception&) {
        return bad(0, "it holds a number that no computer number is near to");
    }
    if (!head.is_object()) return bad(0, "it is not a JSON object");
    // Where a field stands: where its name does, or the end where it is missing.
    const auto place = [&](const char* field) {
        return std::min<uint64_t>(bytes.find(fmt::format("\"{}\"", field)), bytes.size());
    };
    const auto text = [](const json& object, const char* field) -> const std::string* {
        const auto found = object.find(field);
        return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
    };
    const std::string* format = text(head, "format");
    if (!format || *format != format_name) return bad(place("format"), fmt::format("its format is not '{}'", format_name));
    CheckpointHead out;
    const std::string* model = text(head, "model");
    if (!model) return bad(place("model"), "it names no model");
    out.checkpoint.model = *model;
    const auto step = head.find("step");
    if (step == head.end() || !step->is_number_unsigned() || step->get<uint64_t>() > (uint64_t{1} << 53))
        return bad(place("step"), "its step is not a whole number from 0 to 2^53");
    out.checkpoint.step = step->get<int64_t>();
    const std::string* seed = text(head, "seed");
    if (!seed || !read_number(*seed, out.checkpoint.seed))
        return bad(place("seed"), "its seed is not a number in quotation marks");
    for (const auto& [field, texts] :
         {std::pair("options", &out.checkpoint.options), std::pair("state", &out.checkpoint.state)}) {
        const auto found = head.find(field);
        if (found == head.end() || !found->is_object())
            return bad(place(field), fmt::format("its {} are not an object", field));
        for (const auto& [key, value] : found->items()) {
            const auto* content = value.get_ptr<const std::string*>();
            if (!content) return bad(place(field), fmt::format("{} of its {} is not a text", in_quotes(key), field));
            (*texts)[key] = *content;
        }
    }
    const auto tensors = head.find("tensors");
    if (tensors == head.end() || !tensors->is_object())
        return bad(place("tensors"), "it does not say where its tensors are");
    const std::string *file = text(*tensors, "file"), *hash = text(*tensors, "fnv1a64");
    if (!file || !names_tensors(*file))
        return bad(place("file"), "its tensors' file has no name of the form step-N-HASH.safetensors");
    if (!hash || !read_number(*hash, out.hash, 16))
        return bad(place("fnv1a64"), "its tensors' hash is no hexadecimal number");
    const auto size = tensors->find("bytes");
    if (size == tensors->end() || !size->is_number_unsigned())
        return bad(place("bytes"), "its tensors' size is not a whole number");
    out.file = *file;
    out.bytes = size->get<uint64_t>();
    return out;
}

Result<Checkpoint> load_checkpoint(const std::filesystem::path& folder) {
    const auto text = read_file(folder / head_name, largest_head);
    if (!text) return text.error();
    auto head = parse_checkpoint_head(text.value(), (folder / head_name).string());
    if (!head) return head.error();
    const auto path = folder / head.value().file;
    const auto bytes = read_file(path, size_t{16} << 30);
    if (!bytes) return bytes.error();
    if (bytes.value().size() != head.value().bytes)
        return refusal(path.string(), std::min<uint64_t>(bytes.value().size(), head.value().bytes),
                       fmt::format("it has {} bytes, but {} says {}", bytes.value().size(), head_name, head.value().bytes));
    if (fnv1a64(bytes.value()) != head.value().hash)
        return refusal(path.string(), 0, fmt::format("its bytes are not those that {} was written for", head_name));
    auto tensors = parse_safetensors(bytes.value(), path.string());
    if (!tensors) return tensors.error();
    Checkpoint checkpoint = std::move(head.value().checkpoint);
    checkpoint.tensors = std::move(tensors.value().tensors);
    return checkpoint;
}

}  // namespace lockstep::nn
