#include "app/gui/views/kernel/file_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

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
        else if (extension == ".cu" || extension == ".cuh" || extension == ".ptx" || extension == ".host" ||
                 extension == ".tape")
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
    const Theme& theme = *ui.theme;
    UiState& state = *ui.state;
    const bool saving = mode_ == Mode::save;
    std::optional<FileChoice> chosen;
    ui.push_scope("files");
    ui.text(body.x, body.y + 14, saving ? "Save as" : "Open a kernel or a program", {.size = 16, .weight = 600});
    float cx = body.right() - ui.chip_width("Back to the text");
    if (ui.chip(cx, body.y - 4, "Back to the text")) chosen = FileChoice{};
    if (listed_path_ != path_) {
        listed_path_ = path_;
        found_ = completions(path_);
        picked_ = -1;
    }
    bool submitted = false, focused = false;
    const Rect box{body.x, body.y + 30, body.w - (saving ? 84.0f : 84.0f), 26};
    if (text_field(ui, "path", box, path_,
                   {.hint = "path of a .cu, .ptx, .host or .tape file",
                    .wrong = !problem_.empty(),
                    .tab = true,
                    .submitted = &submitted,
                    .has_keyboard = &focused,
                    .take_keyboard = fresh_}))
        problem_.clear();
    if (fresh_) state.field_to_end = true;
    fresh_ = false;
    for (const KeyPress& key : state.typed_keys) {
        const int count = static_cast<int>(found_.size());
        if (key.code == KeyCode::down && count > 0) picked_ = std::min(picked_ + 1, count - 1);
        if (key.code == KeyCode::up) picked_ = std::max(picked_ - 1, -1);
        if (key.code == KeyCode::tab && !key.shift && count > 0) {  // as far as all agree
            std::string common = found_.front();
            for (const std::string& one : found_)
                while (!one.starts_with(common)) common.pop_back();
            path_ = picked_ >= 0 ? found_[static_cast<size_t>(picked_)] : common.size() > path_.size() ? common : path_;
        } else if (key.code == KeyCode::tab) {
            state.move_focus(key.shift ? -1 : 1);
        }
    }
    if (focused) state.typed_keys.clear();
    if (ui.button({box.right() + 8, box.y, 76, 26}, saving ? "Save" : "Open", true, !path_.empty())) submitted = true;
    if (submitted) {
        if (picked_ >= 0 && picked_ < static_cast<int>(found_.size())) path_ = found_[static_cast<size_t>(picked_)];
        if (path_.ends_with("/")) {
            picked_ = -1;  // into the folder
            state.field_to_end = true;
        } else {
            chosen = FileChoice{saving ? FileChoice::Kind::save : FileChoice::Kind::open, with_home(path_), 0};
        }
    }
    float y = box.bottom() + 8;
    if (!problem_.empty())
        y += ui.paragraph({body.x, y, body.w, 60}, problem_, {.size = 13, .color = theme.wrong}, 19) + 4;
    else {
        ui.text(body.x, y + 12, "Tab completes, Up and Down choose, Enter opens; or drop a file onto the window.",
                {.size = 12, .color = theme.quiet, .width = body.w});
        y += 22;
    }
    // Left: the folder. Right: the desk and what to begin with.
    const float column = saving ? body.w : std::floor(body.w * 0.5f) - 8;
    const Rect list{body.x, y, column, body.bottom() - y};
    const float offset = std::floor(ui.scroll("entries", list, static_cast<float>(found_.size()) * 24 + 8) / 24) * 24;
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
        if (!folder && !saving)
            chosen = FileChoice{FileChoice::Kind::open, with_home(path_), 0};
        else
            fresh_ = true;
    }
    ui.unclip();
    if (!saving) {
        const float x = body.x + column + 16, w = body.right() - x;
        ui.line({x - 8, y}, {x - 8, body.bottom()}, theme.grid);
        ui.text(x, y + 14, "Begin with", {.size = 13, .color = theme.ink2, .weight = 600});
        y += 22;
        for (size_t i = 0; i < kernel_templates().size() && y + 24 < body.bottom(); ++i, y += 24) {
            const Rect row{x - 4, y, w + 4, 24};
            if (ui.hovered(row)) ui.rect(row, theme.panel2, 3);
            ui.text(x, y + 17, kernel_templates()[i].title, {.size = 14, .color = theme.accent, .width = w});
            if (ui.area(kernel_templates()[i].name, row)) chosen = FileChoice{FileChoice::Kind::made, {}, i};
        }
        y += 10;
        const auto& documents = session.desk.documents();
        ui.text(x, y + 14, "On your desk", {.size = 13, .color = theme.ink2, .weight = 600});
        y += 22;
        for (size_t i = 0; i < documents.size() && y + 24 < body.bottom(); ++i, y += 24) {
            const KernelDocument& one = documents[i];
            const Rect row{x - 4, y, w + 4, 24};
            if (ui.hovered(row)) {
                ui.rect(row, theme.panel2, 3);
                ui.tooltip(one.path.empty() ? "not in a file yet; kept here" : one.path);
            }
            const std::string note = i == 0 ? "open now" : one.saved() ? "" : "not saved";
            const float end = ui.text(x + w - 6, y + 17, note, {.size = 12, .color = theme.quiet, .align = Align::right});
            ui.text(x, y + 17, one.shown_name(), {.size = 13, .mono = true, .width = end - x - 8});
            if (ui.area(fmt::format("document {}", i), row))
                chosen = FileChoice{i == 0 ? FileChoice::Kind::none : FileChoice::Kind::document, {}, i};
        }
    }
    ui.pop_scope();
    return chosen;
}

}  // namespace lockstep::gui
