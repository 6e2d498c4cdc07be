// How notes are set: paragraphs at the largest size at which all fit, else lines of the least size by pages.
#include "app/gui/shell/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace lockstep::gui {

namespace {

constexpr float largest = 18, least_text = 12, line_of_least = 18;

std::vector<std::string> paragraphs_of(const std::string& notes) {
    std::vector<std::string> found;
    for (size_t at = 0; at < notes.size();) {
        const size_t end = std::min(notes.find('\n', at), notes.size());
        if (end > at) found.push_back(notes.substr(at, end - at));
        at = end + 1;
    }
    return found;
}

TextStyle style_of(const Theme& theme, const std::vector<std::string>& all, size_t i, float size) {
    const bool title = i == 0, next = i > 0 && i + 1 == all.size() && all[i].starts_with("Next: ");
    return {.size = title ? std::max(least_text, size * 0.9f) : size,
            .color = title  ? theme.accent
                     : next ? theme.ink2
                            : theme.ink,
            .weight = title ? 600 : 400};
}

struct NoteLine {
    std::string text;
    TextStyle style;
};

// A paragraph's words in lines that are no wider than that; a word that is wider has a line of its own, shortened.
void add_lines(const Ui& ui, const std::string& paragraph, const TextStyle& style, float width, std::vector<NoteLine>& to) {
    std::string line;
    for (size_t at = 0; at < paragraph.size();) {
        const size_t end = std::min(paragraph.find(' ', at), paragraph.size());
        const std::string word = paragraph.substr(at, end - at), longer = line.empty() ? word : line + " " + word;
        if (!line.empty() && ui.text_width(longer, style) > width) {
            to.push_back({std::move(line), style});
            line = word;
        } else {
            line = longer;
        }
        at = end + 1;
    }
    if (!line.empty()) to.push_back({std::move(line), style});
}

int draw_by_pages(Ui& ui, const std::vector<std::string>& all, const Rect& in, int& turned) {
    std::vector<NoteLine> lines;
    for (size_t i = 0; i < all.size(); ++i) add_lines(ui, all[i], style_of(*ui.theme, all, i, least_text), in.w, lines);
    const TextStyle quiet{.size = least_text, .color = ui.theme->ink2, .align = Align::right};
    const auto a_page = static_cast<size_t>(std::max(1.0f, in.h / line_of_least - 1));  // a line for which page it is
    const auto pages = static_cast<int>((lines.size() + a_page - 1) / a_page);
    turned = std::clamp(turned, 0, std::max(0, pages - 1));
    const size_t begin = static_cast<size_t>(turned) * a_page, end = std::min(lines.size(), begin + a_page);
    float y = in.y + 12;
    for (size_t i = begin; i < end; ++i, y += line_of_least) {
        TextStyle style = lines[i].style;
        style.width = in.w + 1;
        ui.text(in.x, y, lines[i].text, style);
    }
    const std::string where = fmt::format("{} of {}, Page Down and Page Up", turned + 1, pages);
    const bool short_of_room = ui.text_width(where, {.size = least_text}) > in.w;
    if (in.h >= 2 * line_of_least)
        ui.text(in.right(), in.bottom() - 3, short_of_room ? fmt::format("{} of {}", turned + 1, pages) : where, quiet);
    return pages;
}

}  // namespace

int draw_notes(Ui& ui, const std::string& notes, const Rect& page, int& turned) {
    const std::vector<std::string> all = paragraphs_of(notes);
    const float top = page.h < 200 ? 6 : 12;
    const Rect in{page.x + 16, page.y + top, page.w - 32, page.h - 2 * top};
    const auto draw = [&](float size, bool really) {
        float y = in.y;
        for (size_t i = 0; i < all.size(); ++i) {
            const TextStyle style = style_of(*ui.theme, all, i, size);
            const float line = size * 1.5f;
            if (ui.text_width(all[i], style) <= in.w) {
                if (really) ui.text(in.x, y + line / 2 + size * 0.36f, all[i], style);
                y += line;
            } else {
                y += ui.paragraph({in.x, y, in.w, 4000}, all[i], style, line, really);
            }
            if (i + 1 < all.size()) y += size * 0.6f;
        }
        return y;
    };
    float size = largest;
    while (size > least_text && draw(size, false) > in.bottom()) size -= 1;
    if (draw(size, false) > in.bottom()) return draw_by_pages(ui, all, in, turned);
    draw(size, true);
    turned = 0;
    return 1;
}

}  // namespace lockstep::gui
