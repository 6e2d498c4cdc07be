// The panels of the workspace: where they stand, their maximise marks, and the tabs of what does not fit side by side.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/gui/shell/panels.h"
#include "app/gui/shell/shell.h"
#include "app/gui/views/kernel/reports.h"

namespace lockstep::gui {

// Keys go to the panel that the pointer came into or clicked last, or Tab. The keyboard works without the pointer: until
// then they go to the one that the workspace is about.
void Shell::give_keys(const Ui& ui, const std::vector<Placed>& panels, const std::vector<ScrolledPage>& pages) {
    const bool moved = ui.mouse.x != pointer_.x || ui.mouse.y != pointer_.y;
    pointer_ = ui.mouse;
    for (const Placed& panel : panels)
        if ((moved || state.mouse_clicked) && ui.enabled && state.dragging == 0 && panel.area.contains(ui.mouse) &&
            (panel.page < 0 || pages[static_cast<size_t>(panel.page)].area.contains(ui.mouse)))
            state.active_view = panel.view;
    const ViewRow* first = nullptr;
    for (const Placed& panel : panels) {
        if (panel.view == state.active_view) return;
        const ViewRow* const row = view_named(panel.view);
        if (row != nullptr && row->keyboard > 0 && (first == nullptr || row->keyboard < first->keyboard)) first = row;
    }
    if (first != nullptr) state.active_view = first->name;
}

// One view in its place, with its maximise mark.
void Shell::panel(Ui& ui, std::string_view name, const Rect& where) {
    Shown* view = shown(name);
    if (view == nullptr || where.w < 1 || where.h < 1) return;  // large text in a small window leaves it no room
    const bool page = row_of(session.workspace).page;
    if (!page) {
        ui.rect({where.right(), where.y, desk_margin, where.h + desk_margin}, theme->background);
        ui.rect({where.x, where.bottom(), where.w, desk_margin}, theme->background);
    }
    ui.push_scope(name);
    ui.clip(where);
    // A panel too low for its picture scrolls it: the wheel, Page Up and Page Down, the bar.
    const float least =
        std::max(view->row->least, view->view->needs(ui, session, focus, {where.x, where.y, where.w - 8, where.h}));
    const bool low = where.h < least - 0.5f;
    if (!low) view->scrolled = 0;
    Rect whole_view = where;
    if (low) whole_view = {where.x, where.y - view->scrolled, where.w - 8, least};
    const size_t controls = state.ring.size();
    if (low) scrolls(ui, "whole", where, view->scrolled);
    state.drawn_view = name;
    if (state.active_view == name) active_area_ = where;
    {  // what belongs to an older run is grey: the strip above says whose it is
        const bool of_run = shows_run(name);
        const Faded older(ui, of_run && older_ ? 0.5f : 1.0f);
        view->view->draw(ui, session, focus, whole_view);
        if (of_run && before_step_ && !snapshot_->busy.empty()) say_older(ui, where);
    }
    const auto control =  // a word that is explained is none
        std::find_if(state.ring.begin() + static_cast<std::ptrdiff_t>(controls), state.ring.end(),
                     [&](uint32_t id) { return std::ranges::find(state.words_in_ring, id) == state.words_in_ring.end(); });
    panel_stops_.push_back({std::string(name), controls, control == state.ring.end() ? 0 : *control});
    // Tab came into this panel: the view's own keys follow it, and its frame says so.
    if (state.focus_moved && std::find(state.ring.begin() + static_cast<std::ptrdiff_t>(controls), state.ring.end(),
                                       state.focused) != state.ring.end())
        state.active_view = name;
    if (keyboard_ && !page && menu_ == Menu::none && state.active_view == name) ui.frame(where, theme->accent, 1.5f, 5);
    if (low) {
        for (const auto& [key, way] : {std::pair{Key::page_up, -1.0f}, {Key::page_down, 1.0f}})
            if (ui.pressed(key, whole_view)) ui.scroll_to("whole", view->scrolled + way * where.h * 0.8f);
        const float before = view->scrolled;
        view->scrolled = ui.scroll("whole", where, least);
        if (view->scrolled != before) ui.animate();
    }
    state.drawn_view.clear();
    if (presenter.on || page) return ui.unclip(), ui.pop_scope();
    if (where.h < 60) return ui.unclip(), ui.pop_scope();  // a strip
    const Rect mark{whole_view.right() - 30, whole_view.y + 4, 24, 22};
    const bool whole = maximised_ == name;
    if (ui.area("maximise", mark)) maximised_ = whole ? std::string() : std::string(name);
    ui.icon(whole_view.right() - 17, whole_view.y + 20, whole ? Icon::restore : Icon::maximise,
            {.size = 11, .color = ui.hovered(mark) ? theme->ink : theme->ink3, .align = Align::center});
    if (ui.hovered(mark)) ui.tooltip(whole ? "back to the workspace" : "this picture alone");
    ui.unclip();
    ui.pop_scope();
}

Shell::PanelPlace Shell::panel_place() const {
    const std::string workspace(row_of(session.workspace).name);
    const float scale = fonts.scale;
    const bool all = presenter.on || row_of(session.workspace).page || active_area_.w <= 0;
    if (all) return {workspace, 0, 0, width_ * scale, height_ * scale};
    return {std::string(state.active_view), active_area_.x * scale, active_area_.y * scale, active_area_.w * scale,
            active_area_.h * scale};
}

constexpr std::string_view reports_page = "Reports";  // its tab in the Kernel workspace

// The words of a strip's tabs; where they are too wide together, the widest get shorter.
std::vector<std::string> Shell::tab_titles(const Ui& ui, const TabStrip& strip) {
    std::vector<std::string> titles;
    for (const std::string& names : strip.titles) {
        const int inner = static_cast<int>(titles.size()) - strip.inner_begin;
        const bool words = strip.plain || (inner >= 0 && inner < strip.inner_count);
        std::string title = words ? names : std::string();
        if (words && names == reports_page) {
            const ReportCount count = count_reports(session, *snapshot_);
            if (count.errors + count.warnings > 0) title += fmt::format(" ({})", count.errors + count.warnings);
        }
        for (size_t at = title.empty() ? 0 : names.size(); at < names.size();) {
            const size_t end = std::min(names.find('+', at), names.size());
            const Shown* view = shown(std::string_view(names).substr(at, end - at));
            if (view != nullptr) title += (title.empty() ? "" : ", ") + std::string(view->row->title);
            at = end + 1;
        }
        titles.push_back(std::move(title));
    }
    for (;;) {
        float all = 0;
        for (const std::string& title : titles) all += ui.chip_width(title) + 4;
        const auto widest = std::max_element(titles.begin(), titles.end(), [&](const std::string& a, const std::string& b) {
            return ui.chip_width(a) < ui.chip_width(b);
        });
        if (all <= strip.area.w + 4 || widest->size() < 8) return titles;
        if (const size_t comma = widest->rfind(','); comma != std::string::npos) {
            widest->resize(comma);
        } else {
            if (widest->ends_with("…")) widest->resize(widest->size() - 3);
            widest->pop_back();
            while (widest->ends_with(' ')) widest->pop_back();
            *widest += "…";
        }
    }
}

// Over a picture of a lesson whose next step's run is still under way.
void Shell::say_older(Ui& ui, const Rect& where) const {
    const std::string_view words = "the step before; this step's run is under way";
    const TextStyle style{.size = 13, .weight = 600};
    const float w = std::min(where.w - 16, ui.text_width(words, style) + 24);
    const Rect box{where.x + (where.w - w) / 2, where.y + where.h / 2 - 15, w, 30};
    ui.rect(box, theme->panel2, 5);
    ui.frame(box, theme->line, 1, 5);
    ui.text(box.x + w / 2, box.y + 20, words,
            {.size = 13, .color = theme->ink, .align = Align::center, .weight = 600, .width = w - 8});
}

// What stopped a run is not left behind a tab: the reports come to the front when the first error stands among them.
void Shell::bring_reports() {
    const auto& result = snapshot_->own.result;
    if (session.workspace != Workspace::kernel || result == reported_of_) return;
    reported_of_ = result;
    const bool errors = result != nullptr && count_reports(session, *snapshot_).errors > 0;
    if (errors && !reported_errors_) brought_page_ = reports_page;
    reported_errors_ = errors;
}

void Shell::bring_pages(const std::vector<TabStrip>& strips) {
    for (const TabStrip& strip : strips) {
        const auto found = std::find(strip.titles.begin(), strip.titles.end(), brought_page_);
        if (brought_page_.empty() || found == strip.titles.end()) continue;
        const int page = static_cast<int>(found - strip.titles.begin()), inner = page - strip.inner_begin;
        const bool joined = inner >= 0 && inner < strip.inner_count;
        if (!strip.plain && !joined) continue;
        tabs_[strip.id] = page;
        if (joined && !strip.inner.empty()) tabs_[strip.inner] = inner;
        state.animate = true;
    }
    brought_page_ = {};
}

void Shell::body(Ui& ui, const Rect& whole) {
    Rect area = whole;
    panel_stops_.clear();
    older_ = !older_run(*snapshot_).empty() || awaits_step(*snapshot_);
    if (session.workspace != workspace_ && workspace_ && shown(maximised_) != nullptr &&
        shown(maximised_)->row->workspace != session.workspace)
        maximised_.clear();  // a view opened another workspace
    workspace_ = session.workspace;
    const std::string_view above_all = row_of(session.workspace).strip;  // of the run: it stays in sight
    if (!above_all.empty() && whole.h > 120 && maximised_ != above_all) {
        panel(ui, above_all, {whole.x, whole.y, whole.w, 40});
        area = {whole.x, whole.y + 48, whole.w, whole.h - 48};
        if (session.training.setting_menu.kind != TrainingLook::SettingMenu::Kind::none && menu_ == Menu::none &&
            !setting_open_)
            menu_ = Menu::setting, setting_open_ = true;
    }
    if (menu_ == Menu::none)
        setting_open_ = false, session.training.setting_menu.kind = TrainingLook::SettingMenu::Kind::none;
    if (!maximised_.empty()) {
        state.active_view = maximised_;
        return panel(ui, maximised_, area);
    }
    const auto chosen = [&](const std::string& id) {
        const auto tab = tabs_.find(id);
        return tab == tabs_.end() ? -1 : tab->second;
    };
    // A step of a lesson opens on the picture that it is about.
    const std::string_view front = session.workspace == Workspace::learn ? front_view_of(session) : std::string_view();
    const Arrangement plan = arrange(scene_on_show(session).tree, area, chosen, front, &panel_shares);
    bring_reports();
    bring_pages(plan.tabs);
    for (const TabStrip& tabs : plan.tabs) {
        const float above = tabs.area.y > area.y + 1 ? 0 : desk_margin;  // another strip stands there, or the bar
        ui.rect({tabs.area.x, tabs.area.y - above, tabs.area.w + desk_margin, tabs.area.h + above + 4}, theme->background);
        ui.push_scope(tabs.id);
        std::vector<std::string> titles = tab_titles(ui, tabs);
        float x = tabs.area.x;
        for (size_t i = 0; i < titles.size(); ++i)
            if (ui.chip(x, tabs.area.y, titles[i], static_cast<int>(i) == tabs.selected)) {
                const int page = static_cast<int>(i), inner = page - tabs.inner_begin;
                tabs_[tabs.id] = page;
                if (!tabs.inner.empty() && inner >= 0 && inner < tabs.inner_count) tabs_[tabs.inner] = inner;
            }
        ui.pop_scope();
    }
    std::vector<Placed> panels = plan.panels;
    for (Placed& placed : panels)
        if (placed.page >= 0) placed.area.y -= page_scrolls_[plan.scrolled[static_cast<size_t>(placed.page)].id];
    give_keys(ui, panels, plan.scrolled);
    for (const Placed& placed : panels)
        if (placed.page < 0) panel(ui, placed.view, placed.area);
    for (size_t i = 0; i < plan.scrolled.size(); ++i) scrolled_page(ui, plan.scrolled[i], static_cast<int>(i), panels);
    for (const Splitter& splitter : plan.splitters) split(ui, splitter);
}

// Panels under each other that scroll together, by the wheel and the bar.
void Shell::scrolled_page(Ui& ui, const ScrolledPage& page, int number, const std::vector<Placed>& panels) {
    float& scrolled = page_scrolls_[page.id];
    ui.push_scope("page " + page.id);
    ui.rect({page.area.right() - desk_margin, page.area.y, 2 * desk_margin, page.area.h + desk_margin}, theme->background);
    ui.clip(page.area);
    scrolls(ui, "page", page.area, scrolled);
    float below = page.area.y - scrolled;
    for (const Placed& placed : panels) {
        if (placed.page != number) continue;
        ui.rect({placed.area.x, below, placed.area.w, placed.area.y - below}, theme->background);
        panel(ui, placed.view, placed.area);
        below = placed.area.bottom();
    }
    ui.rect({page.area.right() - desk_margin, page.area.y, desk_margin, page.area.h}, theme->background);
    const bool has_keys = std::ranges::any_of(
        panels, [&](const Placed& placed) { return placed.page == number && placed.view == state.active_view; });
    for (const auto& [key, way] : {std::pair{Key::page_up, -1.0f}, {Key::page_down, 1.0f}})
        if (has_keys && std::exchange(state.keys[static_cast<size_t>(key)], false))
            ui.scroll_to("page", scrolled + way * page.area.h * 0.8f);
    const float before = scrolled;
    scrolled = ui.scroll("page", page.area, page.height);
    if (scrolled != before) ui.animate();
    ui.unclip();
    ui.pop_scope();
}

// A gap between two panels: where it is moved to stays, for this person, until it is asked back.
void Shell::split(Ui& ui, const Splitter& splitter) {
    ui.push_scope(splitter.id);
    const Ui::Moved moved = ui.splitter(std::to_string(splitter.index), splitter.area, splitter.across);
    ui.pop_scope();
    if (moved.reset)
        panel_shares.erase(splitter.id);
    else if (moved.by != 0)
        panel_shares[splitter.id] = moved_shares(splitter, moved.by);
}

}  // namespace lockstep::gui
