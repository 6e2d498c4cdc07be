// The search that Ctrl+K opens: ranking, keys and its picture.
#include "app/gui/shell/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "app/gui/shell/shell.h"
#include "app/gui/widgets/text_buffer.h"

namespace lockstep::gui {

namespace {

constexpr size_t longest_query = 120;

char small(char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}
std::string lower(std::string_view text) {
    std::string low(text);
    std::transform(low.begin(), low.end(), low.begin(), small);
    return low;
}
bool begins_word(std::string_view text, size_t at) {
    const auto letter = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c & 0x80) != 0; };
    return at == 0 || (letter(text[at]) && !letter(text[at - 1]));
}

// Each word of the query begins a word of the text, in any order.
bool words_begin_words(std::string_view text, std::string_view query) {
    for (size_t at = 0; at < query.size();) {
        const size_t end = std::min(query.find(' ', at), query.size());
        const std::string_view word = query.substr(at, end - at);
        bool found = word.empty();
        for (size_t in = text.find(word); !found && in != std::string_view::npos; in = text.find(word, in + 1))
            found = begins_word(text, in);
        if (!found) return false;
        at = end + 1;
    }
    return true;
}

// What lies between the letters of the query in the text, at least; -1: they are not there in order.
int gaps(std::string_view text, std::string_view query) {
    size_t at = 0, begin = std::string_view::npos;
    for (const char c : query) {
        if (c == ' ') continue;
        at = text.find(c, at);
        if (at == std::string_view::npos) return -1;
        if (begin == std::string_view::npos) begin = at;
        ++at;
    }
    return begin == std::string_view::npos ? -1 : static_cast<int>(at - begin - query.size());
}

// A question's words that say nothing of what is looked for.
bool says_little(std::string_view word) {
    constexpr std::string_view little[] = {"the", "and",  "are", "for",  "how",  "why",  "what", "when", "where",
                                           "who", "does", "can", "with", "this", "that", "from", "into", "mine"};
    return word.size() < 3 || std::find(std::begin(little), std::end(little), word) != std::end(little);
}

// How many of the query's words the text's or the note's words begin with: those in the text count more. A plural's s is
// left out.
int words_found(std::string_view text, std::string_view note, std::string_view query) {
    int found = 0;
    for (size_t at = 0; at < query.size();) {
        const size_t end = std::min(query.find(' ', at), query.size());
        std::string_view word = query.substr(at, end - at);
        at = end + 1;
        while (!word.empty() && !((word.back() >= 'a' && word.back() <= 'z') || (word.back() >= '0' && word.back() <= '9')))
            word.remove_suffix(1);
        if (says_little(word)) continue;
        if (word.size() > 3 && word.ends_with('s')) word.remove_suffix(1);
        found += words_begin_words(text, word) ? 4 : words_begin_words(note, word) ? 3 : 0;
    }
    return found;
}

constexpr int least_together = 400;  // of what has all of the query's letters beside each other

}  // namespace

int palette_score(std::string_view text, std::string_view query) {
    if (query.empty()) return 1;
    const int shorter = 40 - static_cast<int>(std::min<size_t>(40, text.size() / 2));
    if (text.starts_with('%') && !query.starts_with('%')) text.remove_prefix(1);  // a register's name
    if (text == query) return 1000;
    const bool whole_word = text.size() > query.size() && text[query.size()] == ' ';
    const bool numbered = text.size() > query.size() && text[query.size()] == '.';  // "a08.3 ...": steps stay in order
    if (text.starts_with(query)) return numbered ? 840 : (whole_word ? 850 : 800) + shorter;
    if (words_begin_words(text, query)) return 600 + shorter;
    if (text.find(query) != std::string_view::npos) return least_together + shorter;
    if (query.size() < 3) return 0;
    const int between = gaps(text, query);
    return between < 0 || between > 24 ? 0 : 200 + shorter - between;
}

void PaletteSearch::open(Shell& shell, std::string begins_with) {
    entries.clear();
    for (const PaletteRow& row : palette_rows()) {
        if (row.of_query) continue;
        const size_t before = entries.size();
        row.add(shell, {}, entries);
        for (size_t i = before; i < entries.size(); ++i) {
            entries[i].group = row.group;
            entries[i].weight = row.weight;
            entries[i].low = lower(entries[i].text);
        }
    }
    type(shell, std::move(begins_with));
}

void PaletteSearch::type(Shell& shell, std::string changed) {
    query = std::move(changed);
    whole = false;
    if (query.size() > longest_query) query.resize(longest_query);
    std::string low = lower(query);
    while (low.ends_with(' ')) low.pop_back();
    low.erase(0, std::min(low.size(), low.find_first_not_of(' ')));
    typed.clear();
    for (const PaletteRow& row : palette_rows()) {
        if (!row.of_query || low.empty()) continue;
        const size_t before = typed.size();
        row.add(shell, low, typed);
        for (size_t i = before; i < typed.size(); ++i) typed[i].group = row.group, typed[i].weight = row.weight;
    }
    std::vector<std::pair<int, const PaletteEntry*>> ranked;
    for (const PaletteEntry& entry : typed) ranked.emplace_back(990 + entry.weight, &entry);
    // Letters with others between them are a guess at what was meant: only where nothing has them together.
    std::vector<std::pair<int, const PaletteEntry*>> guessed;
    for (const PaletteEntry& entry : entries)
        if (const int score = palette_score(entry.low, low); score > 0)
            (low.empty() || score >= least_together ? ranked : guessed).emplace_back(score + entry.weight, &entry);
    if (ranked.empty()) ranked = std::move(guessed);
    by_words = ranked.empty();
    if (by_words)
        for (const PaletteEntry& entry : entries)
            if (const int score = words_found(entry.low, lower(entry.note), low); score > 0)
                ranked.emplace_back(100 * score + entry.weight, &entry);
    const size_t kept = std::min(most, ranked.size());
    std::partial_sort(
        ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept), ranked.end(),
        [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    found.clear();
    for (size_t i = 0; i < kept; ++i) found.push_back(ranked[i].second);
    selected = 0;
}

void Shell::open_palette(std::string begins_with) {
    palette_.open(*this, std::move(begins_with));
    menu_ = Menu::palette;
}

// Letters are the query's, whatever they mean elsewhere.
bool Shell::palette_key(const KeyPress& key) {
    keyboard_ = true;
    PaletteSearch& search = palette_;
    const auto last = static_cast<std::ptrdiff_t>(search.found.size()) - 1;
    const auto select = [&](std::ptrdiff_t by) {
        search.selected = static_cast<size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(search.selected) + by,
                                                                         0, std::max<std::ptrdiff_t>(0, last)));
    };
    if (key.character >= 32) {
        if (!key.control)
            search.type(*this, (std::exchange(search.whole, false) ? std::string() : search.query) + utf8_of(key.character));
        return true;
    }
    switch (key.code) {
        case KeyCode::escape:
            menu_ = Menu::none;
            return true;
        case KeyCode::enter:
            choose_found(search.selected);
            return true;
        case KeyCode::down:
        case KeyCode::tab:
            return select(key.shift ? -1 : 1), true;
        case KeyCode::up:
            return select(-1), true;
        case KeyCode::page_down:
            return select(8), true;
        case KeyCode::page_up:
            return select(-8), true;
        case KeyCode::home:
            if (key.shift) return search.whole = !search.query.empty(), true;
            return select(-100), true;
        case KeyCode::end:
            return select(100), true;
        case KeyCode::backspace: {
            std::string shorter = search.query;
            while (!shorter.empty() && (shorter.back() & 0xC0) == 0x80) shorter.pop_back();
            if (!shorter.empty()) shorter.pop_back();
            if (key.control || std::exchange(search.whole, false)) shorter.clear();
            return search.type(*this, shorter), true;
        }
        default:
            break;
    }
    if (!key.control) return true;
    if (key.code == KeyCode::a) search.whole = !search.query.empty();
    if (key.code == static_cast<KeyCode>('K')) menu_ = Menu::none;
    if (key.code == static_cast<KeyCode>('V') && state.clipboard) {
        std::string pasted = state.clipboard();
        pasted.resize(std::min(pasted.find('\n'), pasted.size()));
        search.type(*this, search.query + pasted);
    }
    return key.code != KeyCode::plus && key.code != KeyCode::minus && key.code != KeyCode::zero;  // the text's size
}

void Shell::choose_found(size_t index) {
    if (index >= palette_.found.size()) return;
    const auto act = palette_.found[index]->act;
    if (!act) return;  // a sentence
    menu_ = Menu::none;
    menu_from_ = 0;
    state.focused = 0;
    state.animate = true;
    act(*this);
}

int Shell::palette_menu(Ui& ui) {
    const Theme& t = *theme;
    ui.rect({0, 0, width_, height_}, faded(data::black, 0.45f));
    constexpr float row_height = 30, field = 46;
    const float width = std::min(720.0f, width_ - 24);
    const float room = height_ - 40 - field - 34;
    const auto rows =
        static_cast<size_t>(std::max(1.0f, std::min(room / row_height, static_cast<float>(PaletteSearch::most))));
    const size_t count = palette_.found.size(), shown = std::min(rows, count);
    const float list = count == 0 ? 66.0f : row_height * static_cast<float>(shown);
    const Rect box{(width_ - width) / 2, std::max(12.0f, std::min(96.0f, (height_ - list - field - 34) / 3)), width,
                   field + list + 34};
    ui.rect({box.x + 3, box.y + 5, box.w, box.h}, faded(data::black, 0.35f), 8);
    ui.rect(box, t.panel, 8);
    ui.frame(box, t.ink3, 1, 8);
    draw_search_glass(ui, {box.x + 22, box.y + field / 2 - 1}, t.ink2);
    float x = box.x + 44;
    if (palette_.query.empty())
        ui.text(x + 4, box.y + 29, "A lesson, a word, a kernel, line 41, cycle 1200, r12 ...",
                {.size = 16, .color = t.quiet, .width = box.w - 60});
    else if (palette_.whole)
        ui.rect({x - 2, box.y + 12, ui.text_width(palette_.query, {.size = 16}) + 4, 23}, t.selected, 3);
    if (!palette_.query.empty()) x = ui.text(x, box.y + 29, palette_.query, {.size = 16, .width = box.w - 60});
    if (ui.calm() || std::fmod(ui.now, 1.0) < 0.6) ui.rect({x + 1, box.y + 14, 1.5f, 19}, t.accent);
    ui.line({box.x, box.y + field}, {box.right(), box.y + field}, t.line);
    int pressed = -1;
    // Where not all fit, the selected one is in sight.
    const size_t first = palette_.selected >= shown ? palette_.selected - shown + 1 : 0;
    for (size_t i = first; i < first + shown; ++i) {
        const PaletteEntry& entry = *palette_.found[i];
        const Rect row{box.x + 6, box.y + field + row_height * static_cast<float>(i - first), box.w - 12, row_height};
        const bool on = i == palette_.selected;
        if (on)
            ui.rect({row.x, row.y + 1, row.w, row.h - 2}, t.selected, 4),
                ui.rect({row.x, row.y + 5, 3, row.h - 10}, t.accent);
        else if (ui.hovered(row))
            ui.rect({row.x, row.y + 1, row.w, row.h - 2}, t.panel2, 4);
        const float group = ui.text(row.right() - 10, row.y + 20, entry.group,
                                    {.size = 12, .color = on ? t.ink : t.ink2, .align = Align::right});
        const float end =
            ui.text(row.x + 14, row.y + 20, entry.text, {.size = 14, .weight = on ? 600 : 400, .width = group - row.x - 30});
        if (group - end > 90)
            ui.text(end + 14, row.y + 20, entry.note, {.size = 13, .color = on ? t.ink : t.ink2, .width = group - end - 34});
        if (ui.clicked(row)) pressed = static_cast<int>(i);
    }
    if (count == 0)
        ui.paragraph({box.x + 20, box.y + field + 12, box.w - 40, 50},
                     fmt::format("Nothing here is called '{}'. Try a lesson (A08), a word (warp), line 41, cycle 1200, a "
                                 "register (r12), a GPU (h100) or a setting (theme).",
                                 palette_.query),
                     {.size = 14, .color = t.ink2}, 22);
    ui.text(box.x + 20, box.bottom() - 11,
            count > 0 && palette_.by_words
                ? "Nothing is called so; these have some of the words. Up and Down choose, Enter goes there"
                : "Up and Down choose, Enter goes there, Escape closes",
            {.size = 12, .color = t.quiet, .width = box.w - 40});
    if (pressed >= 0) choose_found(static_cast<size_t>(pressed));
    if (pressed < 0 && !box.contains(ui.mouse) && ui.clicked({0, 0, width_, height_})) menu_ = Menu::none;
    return -1;
}

void draw_search_glass(Ui& ui, Point centre, uint32_t color) {
    ui.ring({centre.x - 1, centre.y - 1}, 5, color, 1.6f);
    ui.line({centre.x + 3, centre.y + 3}, {centre.x + 7, centre.y + 7}, color, 1.6f);
}

}  // namespace lockstep::gui
