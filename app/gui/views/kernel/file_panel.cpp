#include "app/gui/views/kernel/file_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "app/gui/widgets/text_editor.h"
#include "app/gui/widgets/ui_state.h"
#include "core/system/system.h"

namespace lockstep::gui {
namespace {

constexpr size_t most_listed = 200;

std::string folder_part(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string with_home(const std::string& path) {
    const std::string home = system::home_folder().string();
    return path.starts_with("~/") && !home.empty() ? home + path.substr(1) : path;
}

}  // namespace

std::vector<std::string> completions(const std::string& path) {
    namespace fs = std::filesystem;
    const std::string folder = folder_part(path), begin = path.substr(folder.size());
    std::vector<std::string> folders, files;
    std::error_code error;
    fs::directory_iterator entries(folder.empty() ? fs::path(".") : fs::path(with_home(folder)),
                                   fs::directory_options::skip_permission_denied, error);
    for (size_t seen = 0; !error && entries != fs::directory_iterator() && seen < 20'000; entries.increment(error), ++seen) {
        const std::string name = entries->path().filename().string();
        if (!name.starts_with(begin) || (begin.empty() && name.starts_with("."))) continue;
        std::error_code why;
        const std::string extension = entries->path().extension().string();
        if (entries->is_directory(why))
            folders.push_back(folder + name + "/");
        else if (extension == ".cu" || extension == ".h" || extension == ".hpp" || extension == ".cuh" ||
                 extension == ".ptx" || extension == ".host" || extension == ".tape")
            files.push_back(folder + name);
    }
    std::sort(folders.begin(), folders.end());
    std::sort(files.begin(), files.end());
    files.insert(files.end(), folders.begin(), folders.end());
    if (files.size() > most_listed) files.resize(most_listed);
    return files;
}

void FilePanel::show(Mode mode, const std::string& path) {
    mode_ = mode;
    problem_.clear();
    picked_ = -1;
    fresh_ = true;
    std::error_code error;
    std::string here = std::filesystem::current_path(error).string();
    if (here.empty() || here.back() != '/') here += '/';
    path_ = mode == Mode::save ? (path.find('/') == std::string::npos ? here + path : path)
            : path.empty()     ? here
                               : folder_part(path);
    listed_path_ = "?";
}

std::optional<FileChoice> FilePanel::draw(Ui& ui, Session& session, const Rect& body) {
    const bool saving = mode_ == Mode::save;
    std::optional<FileChoice> chosen;
    ui.push_scope("files");
    ui.text(body.x, body.y + 14, saving ? "Save as" : "Open a kernel or a program", {.size = 16, .weight = 600});
    float chip_x = body.right() - ui.chip_width("Back to the text");
    if (ui.chip(chip_x, body.y - 4, "Back to the text")) chosen = FileChoice{};
    if (listed_path_ != path_) {
        listed_path_ = path_;
        found_ = completions(path_);
        picked_ = -1;
    }
    const Rect field{body.x, body.y + 30, body.w - 84, 26};
    if (path_field(ui, field)) {
        if (auto entered = enter(*ui.state)) chosen = entered;
    }
    if (left_) chosen = FileChoice{};
    float y = field.bottom() + 8;
    if (!problem_.empty())
        y += ui.paragraph({body.x, y, body.w, 60}, problem_, {.size = 13, .color = ui.theme->wrong}, 19) + 4;
    else {
        ui.text(body.x, y + 12,
                saving ? "Tab completes, Up and Down choose, Enter saves."
                       : "Tab completes, Up and Down choose, Enter opens; or drop a file onto the window.",
                {.size = 12, .color = ui.theme->quiet, .width = body.w});
        y += 22;
    }
    // Left: the folder. Right: the desk and what to begin with.
    const float column = saving ? body.w : std::floor(body.w * 0.5f) - 8;
    if (auto entry = entries(ui, {body.x, y, column, body.bottom() - y})) chosen = entry;
    if (!saving) {
        const float x = body.x + column + 16;
        const Rect right{x, y, body.right() - x, body.bottom() - y};
        ui.line({x - 8, y}, {x - 8, body.bottom()}, ui.theme->grid);
        const size_t rows = kernel_templates().size() + session.desk.documents().size();
        float under = y - ui.scroll("begin with", right, 54 + 24 * static_cast<float>(rows));
        ui.clip({right.x - 4, right.y, right.w + 4, right.h});
        if (auto begun = templates(ui, right, under)) chosen = begun;
        if (auto document = documents(ui, session, right, under + 10)) chosen = document;
        ui.unclip();
    }
    ui.pop_scope();
    return chosen;
}

// The field of the path and its button; whether the path was submitted.
bool FilePanel::path_field(Ui& ui, const Rect& field) {
    UiState& state = *ui.state;
    bool submitted = false, focused = false, escaped = false;
    if (text_field(ui, "path", field, path_,
                   {.hint = "path of a .cu, .ptx, .host or .tape file",
                    .wrong = !problem_.empty(),
                    .tab = true,
                    .submitted = &submitted,
                    .has_keyboard = &focused,
                    .escaped = &escaped,
                    .take_keyboard = fresh_}))
        problem_.clear();
    if (fresh_) state.field_to_end = true;
    fresh_ = false;
    left_ = escaped;
    for (const KeyPress& key : state.typed_keys) {
        const int count = static_cast<int>(found_.size());
        if (key.code == KeyCode::down && count > 0) picked_ = std::min(picked_ + 1, count - 1);
        if (key.code == KeyCode::up) picked_ = std::max(picked_ - 1, -1);
        if (key.code != KeyCode::tab) continue;
        if (!key.shift && count > 0)
            complete();
        else
            state.move_focus(key.shift ? -1 : 1);
    }
    if (focused) state.typed_keys.clear();
    const std::string_view label = mode_ == Mode::save ? "Save" : "Open";
    return ui.button({field.right() + 8, field.y, 76, 26}, label, true, !path_.empty()) || submitted;
}

// Tab: the entry that is picked, or as far as all agree.
void FilePanel::complete() {
    std::string common = found_.front();
    for (const std::string& entry : found_)
        while (!entry.starts_with(common)) common.pop_back();
    if (picked_ >= 0)
        path_ = found_[static_cast<size_t>(picked_)];
    else if (common.size() > path_.size())
        path_ = common;
}

// Into a folder, or the file itself.
std::optional<FileChoice> FilePanel::enter(UiState& state) {
    if (picked_ >= 0 && picked_ < static_cast<int>(found_.size())) path_ = found_[static_cast<size_t>(picked_)];
    if (!path_.ends_with("/"))
        return FileChoice{mode_ == Mode::save ? FileChoice::Kind::save : FileChoice::Kind::open, with_home(path_), 0};
    picked_ = -1;
    state.field_to_end = true;
    return std::nullopt;
}

std::optional<FileChoice> FilePanel::entries(Ui& ui, const Rect& list) {
    const Theme& theme = *ui.theme;
    std::optional<FileChoice> chosen;
    const float offset = ui.scroll_lines("entries", list, found_.size(), 24);
    ui.clip(list);
    if (found_.empty())
        ui.text(list.x, list.y + 18, "No kernel or program begins so here.", {.size = 13, .color = theme.quiet});
    for (size_t i = 0; i < found_.size(); ++i) {
        const Rect row{list.x, list.y + 24 * static_cast<float>(i) - offset, list.w - 10, 24};
        if (row.bottom() < list.y || row.y > list.bottom()) continue;
        const bool folder = found_[i].back() == '/', on = static_cast<int>(i) == picked_;
        if (on || ui.hovered(row)) ui.rect(row, on ? theme.selected : theme.panel2, 3);
        const std::string name =
            found_[i].substr(folder_part(folder ? found_[i].substr(0, found_[i].size() - 1) : found_[i]).size());
        ui.text(row.x + 6, row.y + 17, name,
                {.size = 13, .color = folder ? theme.ink2 : theme.ink, .mono = true, .width = row.w - 8});
        if (!ui.area(found_[i], row)) continue;
        path_ = found_[i];
        if (!folder && mode_ != Mode::save)
            chosen = FileChoice{FileChoice::Kind::open, with_home(path_), 0};
        else
            fresh_ = true;
    }
    ui.unclip();
    return chosen;
}

std::optional<FileChoice> FilePanel::templates(Ui& ui, const Rect& room, float& y) {
    std::optional<FileChoice> chosen;
    ui.text(room.x, y + 14, "Begin with", {.size = 13, .color = ui.theme->ink2, .weight = 600});
    y += 22;
    for (size_t i = 0; i < kernel_templates().size(); ++i, y += 24) {
        const Rect row{room.x - 4, y, room.w - 4, 24};
        if (row.bottom() < room.y || row.y > room.bottom()) continue;
        if (ui.hovered(row)) ui.rect(row, ui.theme->panel2, 3);
        ui.text(room.x, y + 17, kernel_templates()[i].title, {.size = 14, .color = ui.theme->accent, .width = room.w});
        if (ui.area(kernel_templates()[i].name, row)) chosen = FileChoice{FileChoice::Kind::made, {}, i};
    }
    return chosen;
}

// The first line of a text that says something.
static std::string first_words(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (const size_t begin = line.find_first_not_of(" \t/*");
            begin != std::string::npos && !line.starts_with("#include"))
            return line.substr(begin, 80);
    return "empty";
}

std::optional<FileChoice> FilePanel::documents(Ui& ui, Session& session, const Rect& room, float y) {
    const Theme& theme = *ui.theme;
    const auto& documents = session.desk.documents();
    std::optional<FileChoice> chosen;
    ui.text(room.x, y + 14, "On your desk", {.size = 13, .color = theme.ink2, .weight = 600});
    y += 22;
    for (size_t i = 0; i < documents.size(); ++i, y += 24) {
        const KernelDocument& document = documents[i];
        const Rect row{room.x - 4, y, room.w - 4, 24};
        if (row.bottom() < room.y || row.y > room.bottom()) continue;
        if (ui.hovered(row)) {
            ui.rect(row, theme.panel2, 3);
            ui.tooltip(document.path.empty() ? "not in a file yet; kept here" : document.path);
        }
        const std::string note = i == 0 ? "open now" : document.saved() ? "" : "not saved";
        const float end =
            ui.text(room.x + room.w - 14, y + 17, note, {.size = 12, .color = theme.quiet, .align = Align::right});
        const float name =
            ui.text(room.x, y + 17, document.shown_name(), {.size = 13, .mono = true, .width = end - room.x - 8});
        // Of several with one name: where it lies, or how its text begins.
        const bool twice = std::count_if(documents.begin(), documents.end(), [&](const KernelDocument& other) {
                               return other.shown_name() == document.shown_name();
                           }) > 1;
        const std::string more =
            document.path.empty() ? first_words(document.text) : std::filesystem::path(document.path).parent_path().string();
        if (twice && end - name > 60)
            ui.text(name + 10, y + 17, more, {.size = 12, .color = theme.quiet, .width = end - name - 20});
        if (ui.area(fmt::format("document {}", i), row))
            chosen = FileChoice{i == 0 ? FileChoice::Kind::none : FileChoice::Kind::document, {}, i};
    }
    return chosen;
}

}  // namespace lockstep::gui
