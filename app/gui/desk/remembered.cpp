// Reading is forgiving and says what it left out; writing goes by way of a lock, so that two windows keep both their
// changes.
#include "app/gui/desk/remembered.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/gui/desk/state_keeper.h"
#include "app/gui/scenes.h"
#include "app/gui/widgets/theme.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/model/gpus/gpu_file.h"
#include "core/system/lock.h"

namespace lockstep::gui {

namespace {

using RememberedJson = nlohmann::ordered_json;
constexpr size_t most_remembered = size_t{1} << 20, most_panels = 256, most_parts = 16;

bool is_theme(const std::string& name) {
    try {
        theme_named(name);
        return true;
    } catch (const Failure&) {
        return false;
    }
}

// Takes the values that are there and can be; `wrong` gets the name of each that cannot.
struct RememberedReader {
    const RememberedJson& from;
    std::vector<std::string> wrong = {};

    void text(const char* key, std::string& value, bool (*good)(const std::string&)) {
        const auto found = from.find(key);
        if (found == from.end()) return;
        if (found->is_string() && good(found->get<std::string>()))
            value = found->get<std::string>();
        else
            wrong.emplace_back(key);
    }
    void number(const RememberedJson& in, const char* key, double least, double most, double& value) {
        const auto found = in.find(key);
        if (found == in.end()) return;
        if (found->is_number() && found->get<double>() >= least && found->get<double>() <= most)
            value = found->get<double>();
        else
            wrong.emplace_back(key);
    }
    template <typename T>
    void whole(const RememberedJson& in, const char* key, double least, double most, T& value) {
        double read = static_cast<double>(value);
        number(in, key, least, most, read);
        value = static_cast<T>(std::llround(read));
    }
    void flag(const char* key, bool& value) {
        const auto found = from.find(key);
        if (found == from.end()) return;
        if (found->is_boolean())
            value = found->get<bool>();
        else
            wrong.emplace_back(key);
    }
    const RememberedJson* part(const char* key) {
        const auto found = from.find(key);
        if (found == from.end()) return nullptr;
        if (found->is_object()) return &*found;
        wrong.emplace_back(key);
        return nullptr;
    }
};

void read_panels(RememberedReader& reader, Remembered& kept) {
    const RememberedJson* const panels = reader.part("panels");
    if (panels == nullptr) return;
    for (const auto& [id, shares] : panels->items()) {
        bool good = shares.is_array() && shares.size() >= 2 && shares.size() <= most_parts;
        std::vector<double> read;
        for (size_t i = 0; good && i < shares.size(); ++i) {
            good = shares[i].is_number() && shares[i].get<double>() > 0 && shares[i].get<double>() <= 1;
            if (good) read.push_back(shares[i].get<double>());
        }
        if (!good)
            reader.wrong.push_back("panels: " + id.substr(0, 60));
        else if (kept.panels.size() < most_panels)
            kept.panels[id] = std::move(read);
    }
}

}  // namespace

Remembered parse_remembered(const std::string& text, std::string& problem) {
    Remembered kept;
    const RememberedJson all = RememberedJson::parse(text, nullptr, false);
    if (!all.is_object()) {
        problem = "is no JSON object";
        return kept;
    }
    RememberedReader reader{all};
    const auto any = [](const std::string& word) { return word.size() < 200; };
    reader.text("theme", kept.theme, is_theme);
    reader.number(all, "text_size", 0.75, 2.5, kept.text_size);
    reader.text("motion", kept.motion, [](const std::string& word) { return word == "full" || word == "reduced"; });
    reader.text("gpu", kept.gpu, [](const std::string& name) { return model::gpu_named(name).ok(); });
    reader.text("workspace", kept.workspace, [](const std::string& name) { return workspace_named(name).has_value(); });
    if (const RememberedJson* const window = reader.part("window")) {
        reader.whole(*window, "width", 320, 16384, kept.width);
        reader.whole(*window, "height", 240, 16384, kept.height);
        if (const auto found = window->find("whole_screen"); found != window->end() && found->is_boolean())
            kept.whole_screen = found->get<bool>();
    }
    read_panels(reader, kept);
    if (const RememberedJson* const lesson = reader.part("lesson")) {
        RememberedReader of{*lesson};
        of.text("id", kept.lesson, any);
        reader.whole(*lesson, "step", 0, 1000, kept.lesson_step);
    }
    if (const RememberedJson* const head = reader.part("play_head")) {
        RememberedReader of{*head};
        of.text("kernel", kept.kernel, any);
        reader.whole(*head, "cycles", 0, 1e15, kept.cycles);
        reader.whole(*head, "cycle", 0, 1e15, kept.cycle);
    }
    reader.number(all, "speed", 0, 1e12, kept.speed);
    reader.flag("line_heat", kept.line_heat);
    reader.flag("line_values", kept.line_values);
    for (const std::string& name : reader.wrong) problem += (problem.empty() ? "" : ", ") + name;
    if (!problem.empty()) problem = "says what cannot be about: " + problem;
    return kept;
}

RememberedRead read_remembered(const std::filesystem::path& file) {
    std::error_code error;
    if (file.empty() || !std::filesystem::exists(file, error)) return {};
    RememberedRead read;
    const auto text = read_file(file, most_remembered);
    if (!text.ok()) {
        read.problem = "what was remembered of the last time cannot be read: " + render(text.error());
        return read;
    }
    std::string wrong;
    read.kept = parse_remembered(text.value(), wrong);
    if (wrong.empty()) return read;
    // Not ours any more, or in part: it is kept for its owner rather than written over.
    std::filesystem::path aside = file;
    aside += ".unreadable";
    std::filesystem::copy_file(file, aside, std::filesystem::copy_options::overwrite_existing, error);
    const bool none = read.kept == Remembered();
    read.problem = fmt::format("'{}' {}{}; {}", file.filename().string(), wrong,
                               error ? "" : fmt::format(" and was set aside as '{}'", aside.filename().string()),
                               none ? "nothing of the last time is taken from it" : "the rest of it is taken");
    return read;
}

std::string text_of(const Remembered& kept) {
    RememberedJson all = RememberedJson::object();
    if (!kept.theme.empty()) all["theme"] = kept.theme;
    if (kept.text_size > 0) all["text_size"] = std::round(kept.text_size * 100) / 100;
    if (!kept.motion.empty()) all["motion"] = kept.motion;
    if (!kept.gpu.empty()) all["gpu"] = kept.gpu;
    if (!kept.workspace.empty()) all["workspace"] = kept.workspace;
    if (kept.width > 0 && kept.height > 0)
        all["window"] = {{"width", kept.width}, {"height", kept.height}, {"whole_screen", kept.whole_screen}};
    if (!kept.panels.empty()) {
        RememberedJson panels = RememberedJson::object();
        for (const auto& [id, shares] : kept.panels) {
            RememberedJson rounded = RememberedJson::array();
            for (const double share : shares) rounded.push_back(std::round(share * 1e4) / 1e4);
            panels[id] = rounded;
        }
        all["panels"] = panels;
    }
    if (!kept.lesson.empty()) all["lesson"] = {{"id", kept.lesson}, {"step", std::max(0, kept.lesson_step)}};
    if (!kept.kernel.empty() && kept.cycle >= 0)
        all["play_head"] = {{"kernel", kept.kernel}, {"cycles", kept.cycles}, {"cycle", kept.cycle}};
    if (kept.speed > 0) all["speed"] = kept.speed;
    if (!kept.line_heat) all["line_heat"] = false;
    if (!kept.line_values) all["line_values"] = false;
    return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Remembered merged(const Remembered& theirs, const Remembered& before, const Remembered& mine) {
    Remembered all = theirs;
    const auto take = [](auto& to, const auto& was, const auto& is) {
        if (!(was == is)) to = is;
    };
    take(all.theme, before.theme, mine.theme);
    take(all.text_size, before.text_size, mine.text_size);
    take(all.motion, before.motion, mine.motion);
    take(all.gpu, before.gpu, mine.gpu);
    take(all.workspace, before.workspace, mine.workspace);
    if (before.width != mine.width || before.height != mine.height || before.whole_screen != mine.whole_screen)
        all.width = mine.width, all.height = mine.height, all.whole_screen = mine.whole_screen;
    for (const auto& [id, shares] : mine.panels)
        if (const auto was = before.panels.find(id); was == before.panels.end() || was->second != shares)
            all.panels[id] = shares;
    for (const auto& [id, shares] : before.panels)
        if (!mine.panels.contains(id)) all.panels.erase(id);
    if (before.lesson != mine.lesson || before.lesson_step != mine.lesson_step)
        all.lesson = mine.lesson, all.lesson_step = mine.lesson_step;
    if (before.kernel != mine.kernel || before.cycles != mine.cycles || before.cycle != mine.cycle)
        all.kernel = mine.kernel, all.cycles = mine.cycles, all.cycle = mine.cycle;
    take(all.speed, before.speed, mine.speed);
    take(all.line_heat, before.line_heat, mine.line_heat);
    take(all.line_values, before.line_values, mine.line_values);
    return all;
}

RememberedKeeper::RememberedKeeper(std::filesystem::path file, Remembered read)
    : file_(std::move(file)),
      written_(read),
      now_(std::move(read)),
      keeper_(std::make_unique<StateKeeper>("what you chose")) {}

RememberedKeeper::~RememberedKeeper() {
    if (!(now_ == written_)) write();
}

bool RememberedKeeper::note(const Remembered& now, double seconds) {
    if (!(now == now_)) now_ = now, changed_at_ = seconds;
    if (now_ == written_) return false;
    if (changed_at_ > seconds) changed_at_ = seconds;
    if (seconds - changed_at_ < quiet_seconds) return true;
    write();
    return false;
}

void RememberedKeeper::write() {
    keeper_->keep([file = file_, before = std::exchange(written_, now_), mine = now_]() -> std::string {
        const system::FileLock lock(std::filesystem::path(file) += ".lock");
        std::error_code error;
        Remembered theirs = before;
        if (std::filesystem::exists(file, error))
            if (const auto text = read_file(file, most_remembered); text.ok()) {
                std::string wrong;
                theirs = parse_remembered(text.value(), wrong);
            }
        try {
            write_file(file, text_of(merged(theirs, before, mine)));
        } catch (const Failure& failure) {
            return failure.diagnostic.message;
        }
        return {};
    });
}

std::string RememberedKeeper::problem() {
    return keeper_->problem();
}

}  // namespace lockstep::gui
