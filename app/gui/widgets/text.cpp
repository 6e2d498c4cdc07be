// Text: one quad a glyph, each at a quarter of a pixel, advances and kerning exact. A paragraph wraps runs of several styles
// by words.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/draw.h"
#include "app/gui/widgets/fonts.h"
#include "app/gui/widgets/svg.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

uint32_t next_code(std::string_view text, size_t& at) {
    const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
    const uint8_t first = byte(at++);
    if (first < 0x80) return first;
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    if (more == 0) return 0xFFFD;
    uint32_t code = first & (0x3F >> more);
    for (int i = 0; i < more; ++i) {
        if ((byte(at) & 0xC0) != 0x80) return 0xFFFD;
        code = (code << 6) | (byte(at++) & 0x3F);
    }
    return code;
}

namespace {

// The transpose sign is a small raised T: few fonts have it.
constexpr uint32_t transposed = 0x1D40;
constexpr float small = 0.68f;

float advance_pixels(const Fonts& fonts, const Face& face, float stretch, uint32_t code) {
    if (code == transposed) return small * advance_pixels(fonts, face, stretch, 'T');
    return (fonts.sheet->advance(face.letters, code) + face.tracking) * stretch;
}

// Walks over a text; `each` gets the letter and where its pen stands, from 0.
template <typename Each>
float walk(const Fonts& fonts, const Face& face, float stretch, std::string_view text, const Each& each) {
    float pen = 0;
    uint32_t before = 0;
    for (size_t at = 0; at < text.size();) {
        const uint32_t code = next_code(text, at);
        if (before != 0 && !face.mono && code != transposed)
            pen += fonts.sheet->kerning(face.letters, before, code) * stretch;
        each(code, pen);
        pen += advance_pixels(fonts, face, stretch, code);
        before = code == transposed ? 0 : code;
    }
    return pen;
}

float pixels_wide(const Fonts& fonts, const Face& face, float stretch, std::string_view text) {
    return walk(fonts, face, stretch, text, [](uint32_t, float) {});
}

// Where a letter is drawn: as it is at its quarter of a pixel, or larger or smaller than it was made.
struct Drawn {
    const Glyph* glyph;
    float x0, y0, x1, y1;
};
Drawn drawn_at(const Fonts& fonts, const Face& face, float stretch, uint32_t code, float pen, float baseline) {
    const bool as_made = std::abs(stretch - 1) < 1e-4f && code != transposed;
    const float quarter = std::floor(pen * GlyphSheet::phases + 0.5f), whole = std::floor(quarter / GlyphSheet::phases);
    const int phase = as_made ? static_cast<int>(quarter - whole * GlyphSheet::phases) : 0;
    const Glyph& glyph = fonts.sheet->glyph(face.letters, code == transposed ? 'T' : code, phase);
    const float left = as_made ? whole : std::floor(pen + 0.5f), size = code == transposed ? small * stretch : stretch;
    // A transposed T stands as high as a full one.
    const float top = baseline + static_cast<float>(glyph.y) * (code == transposed ? stretch : size);
    return {&glyph, left + static_cast<float>(glyph.x) * size, top, left + static_cast<float>(glyph.x + glyph.w) * size,
            top + static_cast<float>(glyph.h) * size};
}

float stretch_of(const Face& face, float size) {
    return face.size > 0 ? size / face.size : 1.0f;
}

// Notes where the glyphs' ink will lie, for tests.
void note_text(UiState& state, const ImDrawList& list, const Fonts& fonts, const Face& face, float stretch, float pen,
               float baseline, std::string_view text, float size, bool shortened, float opacity) {
    float x0 = 1e9f, y0 = 1e9f, x1 = -1e9f, y1 = -1e9f;
    walk(fonts, face, stretch, text, [&](uint32_t code, float at) {
        const Drawn drawn = drawn_at(fonts, face, stretch, code, pen + at, baseline);
        if (drawn.glyph->w == 0) return;
        x0 = std::min(x0, drawn.x0);
        x1 = std::max(x1, drawn.x1);
        y0 = std::min(y0, drawn.y0);
        y1 = std::max(y1, drawn.y1);
    });
    if (x1 <= x0) return;
    const Rect ink{x0, y0, x1 - x0, y1 - y0};
    const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
    const Rect clip{low.x, low.y, high.x - low.x, high.y - low.y};
    if (ink.x >= high.x || ink.right() <= low.x || ink.y >= high.y || ink.bottom() <= low.y) return;
    state.written->push_back({ink, clip, std::string(text), size, opacity, shortened, false});
}

struct Word {
    std::string_view text;
    const Run* run;
    float width;  // layout units
    bool space_before;
    float before = 0, after = 0;  // of a piece of code: the ends of its box
};
constexpr float chip_end = 3;

}  // namespace

float Ui::text_width(std::string_view text, const TextStyle& style) const {
    const Face& face = fonts->face(style);
    return pixels_wide(*fonts, face, stretch_of(face, style.size), text) / scale;
}

float Ui::text(float x, float baseline_at, std::string_view text, const TextStyle& style) {
    const Face& face = fonts->face(style);
    const float stretch = stretch_of(face, style.size);
    std::string shortened;
    if (style.width > 0 && text_width(text, style) > style.width + 0.5f) {
        const float dots = pixels_wide(*fonts, face, stretch, "…");
        float width = dots;
        size_t cut = 0;
        for (size_t at = 0; at < text.size(); cut = at) {
            const uint32_t code = next_code(text, at);
            width += advance_pixels(*fonts, face, stretch, code);
            if (width > style.width * scale) break;
        }
        while (cut > 0 && text[cut - 1] == ' ') --cut;
        shortened = std::string(text.substr(0, cut)) + "…";
        text = shortened;
    }
    const float width = style.align == Align::left ? 0 : pixels_wide(*fonts, face, stretch, text);
    const float begin = x * scale - (style.align == Align::right ? width : style.align == Align::center ? width / 2 : 0);
    const float baseline = std::floor(baseline_at * scale + 0.5f), em = style.size * scale;
    const Color color = faded(style.color == 0 ? theme->ink : style.color, opacity);
    if (state->written != nullptr)
        note_text(*state, *list, *fonts, face, stretch, begin, baseline, text, em, !shortened.empty(), opacity);
    const ImVec2 low = list->GetClipRectMin(), high = list->GetClipRectMax();
    if (baseline - 1.2f * em > high.y || baseline + 0.4f * em < low.y || (color >> 24) == 0)
        return (style.align == Align::left ? begin + pixels_wide(*fonts, face, stretch, text) : begin) / scale;
    if (state->svg != nullptr) {
        state->svg->set_clip({low.x, low.y, high.x, high.y});
        state->svg->text(begin, baseline, text, color,
                         {.size = em,
                          .weight = face.weight,
                          .mono = face.mono,
                          .tracking = tracking_of(face),
                          .length = pixels_wide(*fonts, face, stretch, text)});
    }
    const auto u = 1 / static_cast<float>(fonts->atlas_width), v = 1 / static_cast<float>(fonts->atlas_height);
    const float end =
        begin + walk(*fonts, face, stretch, text, [&](uint32_t code, float at) {
            const Drawn drawn = drawn_at(*fonts, face, stretch, code, begin + at, baseline);
            const Glyph& glyph = *drawn.glyph;
            if (glyph.w == 0 || drawn.x0 >= high.x || drawn.x1 <= low.x) return;
            const auto left = static_cast<float>(fonts->sheet_x + glyph.sheet_x),
                       top = static_cast<float>(fonts->sheet_y + glyph.sheet_y);
            list->PrimReserve(6, 4);
            list->PrimRectUV(ImVec2(drawn.x0, drawn.y0), ImVec2(drawn.x1, drawn.y1), ImVec2(left * u, top * v),
                             ImVec2((left + static_cast<float>(glyph.w)) * u, (top + static_cast<float>(glyph.h)) * v),
                             color);
        });
    return (style.align == Align::left ? end : begin) / scale;
}

float Ui::paragraph(const Rect& box, std::string_view text, const TextStyle& style, float line_height, bool draw) {
    std::vector<Run> runs;  // what stands between backticks is code
    bool code = false;
    for (size_t at = 0; at <= text.size();) {
        const size_t tick = std::min(text.find('`', at), text.size());
        if (tick > at) {
            runs.push_back({text.substr(at, tick - at), style, code});
            runs.back().style.mono = code;
            if (code) runs.back().style.size = std::min(style.size, 14.0f);
        }
        code = !code;
        at = tick + 1;
    }
    return paragraph(box, runs, line_height > 0 ? line_height : std::round(style.size * 1.6f), draw);
}

namespace {

struct MarkedTerm {  // that comes first here
    const Run* run = nullptr;
    UiState::TermSpan span;
};

void find_terms(const Ui& ui, const Run& run, std::vector<MarkedTerm>& marked) {
    if (ui.told == nullptr || run.code || !ui.state->find_terms) return;
    for (const UiState::TermSpan& span : ui.state->find_terms(run.text)) {
        if (std::find(ui.told->begin(), ui.told->end(), span.term) != ui.told->end()) continue;
        ui.told->push_back(span.term);
        marked.push_back({&run, span});
    }
}

// Dots below the part of `word` that belongs to a term; the pointer on it, or the keyboard, tells what it means.
void mark_word(Ui& ui, const MarkedTerm& marked, std::string_view word, float x, float baseline, const TextStyle& style) {
    const auto begin = static_cast<size_t>(word.data() - marked.run->text.data());
    const size_t from = std::max(begin, marked.span.begin), to = std::min(begin + word.size(), marked.span.end);
    if (from >= to) return;
    const float left = x + ui.text_width(word.substr(0, from - begin), style),
                width = ui.text_width(word.substr(from - begin, to - from), style);
    for (float dot = left; dot + 1 < left + width; dot += 4) ui.rect({dot, baseline + 2.5f, 1.5f, 1.5f}, ui.theme->ink2);
    const Rect box{left - 1, baseline - style.size, width + 2, style.size + 5};
    UiState& state = *ui.state;
    const bool first = from == marked.span.begin;
    const std::string id = "term " + std::to_string(marked.span.term);
    if (first) state.words_in_ring.push_back(state.id_of(id));
    const bool pressed = first ? ui.area(id, box) : ui.clicked(box);
    const bool by_key = first && ui.enabled && state.focused == state.id_of(id);
    if (pressed || by_key || ui.hovered(box)) state.term = {marked.span.term, box, pressed, by_key};
}

}  // namespace

void Ui::mark_terms(float x, float baseline, std::string_view words, const TextStyle& style) {
    const Run run{words, style};
    std::vector<MarkedTerm> marked;
    find_terms(*this, run, marked);
    for (const MarkedTerm& one : marked) mark_word(*this, one, words, x, baseline, style);
}

float Ui::paragraph(const Rect& box, std::span<const Run> runs, float line_height, bool draw) {
    std::vector<MarkedTerm> marked;
    if (draw)
        for (const Run& run : runs) find_terms(*this, run, marked);
    std::vector<Word> words;
    bool space = false;
    for (const Run& run : runs) {
        size_t at = 0;
        const size_t first = words.size();
        while (at < run.text.size()) {
            if (run.text[at] == ' ' || run.text[at] == '\n') {
                space = true;
                ++at;
                continue;
            }
            size_t end = run.text.find_first_of(" \n", at);
            if (end == std::string_view::npos) end = run.text.size();
            const bool number = run.text[end - 1] >= '0' && run.text[end - 1] <= '9';
            if (run.code && run.text.size() <= 16 && run.text.front() != ' ')  // a short piece of code is one word
                end = run.text.find_last_not_of(" \n") + 1;
            else if (number && run.text.substr(end, 2) == " %")  // "75 %" stays on one line
                end = std::min(run.text.find_first_of(" \n", end + 1), run.text.size());
            const std::string_view word = run.text.substr(at, end - at);
            words.push_back({word, &run, text_width(word, run.style), space});
            space = false;
            at = end;
        }
        if (!run.code || words.size() == first) continue;
        words[first].before = chip_end;
        words.back().after = chip_end;
    }
    // A word that is glued to the one before it (punctuation after code) wraps with it.
    float x = box.x, baseline = box.y + line_height * 0.72f;
    for (size_t i = 0; i < words.size();) {
        const auto whole = [&](size_t w) { return words[w].before + words[w].width + words[w].after; };
        float together = whole(i);
        size_t end = i + 1;
        while (end < words.size() && !words[end].space_before) together += whole(end++);
        const Run& spaced = words[i].before > 0 && i > 0 ? *words[i - 1].run : *words[i].run;  // a box's own space is wide
        const float gap = words[i].space_before && x > box.x ? text_width(" ", spaced.style) : 0;
        if (x > box.x && x + gap + together > box.right() + 0.5f)
            x = box.x, baseline += line_height;
        else
            x += gap;
        for (; i < end; ++i) {
            const Word& word = words[i];
            x += word.before;
            if (draw && word.run->code) {
                const float size = word.run->style.size;
                // Words of one piece of code that stand on one line share one box.
                const bool joined = i > 0 && words[i - 1].run == word.run && x > box.x + 1;
                const float back = joined ? text_width(" ", word.run->style) : 0;
                const float left = joined ? chip_end - back : -chip_end;  // the word before has its own end already
                rect({x + left, baseline - size, word.width + chip_end - left, size + 5}, theme->selected,
                     joined ? 0.0f : 3.0f);
            }
            if (draw) this->text(x, baseline, word.text, word.run->style);
            for (const MarkedTerm& one : marked)
                if (one.run == word.run) mark_word(*this, one, word.text, x, baseline, word.run->style);
            x += word.width + word.after;
        }
    }
    return words.empty() ? 0 : baseline - box.y - line_height * 0.72f + line_height;
}

void Ui::icon(float x, float baseline, Icon which, const TextStyle& style) {
    static constexpr ImWchar codes[] = {0xF065, 0xF066, 0xF00C, 0xF00D, 0xF04B, 0xF04C, 0xF059, 0xF071, 0xF023, 0xF0D7};
    const Face& face = fonts->icon_face(style.size);
    if (!face.icons) return;
    const ImFontGlyph* glyph = icon_glyph(face, codes[static_cast<size_t>(which)]);
    if (glyph == nullptr) return;
    const float width = glyph->AdvanceX;
    const float left = std::floor(x * scale -
                                  (style.align == Align::right    ? width
                                   : style.align == Align::center ? width / 2
                                                                  : 0) +
                                  0.5f);
    const float top = std::floor(baseline * scale + 0.5f) - icon_ascent(face);
    const Color color = faded(style.color == 0 ? theme->ink : style.color, opacity);
    if (state->svg != nullptr) {
        const ImVec2 low = list->GetClipRectMin(), high = list->GetClipRectMax();
        state->svg->set_clip({low.x, low.y, high.x, high.y});
        state->svg->icon(left, std::floor(baseline * scale + 0.5f), codes[static_cast<size_t>(which)], face.size * scale,
                         color, icon_file());
    }
    list->PrimReserve(6, 4);
    list->PrimRectUV(ImVec2(left + glyph->X0, top + glyph->Y0), ImVec2(left + glyph->X1, top + glyph->Y1),
                     ImVec2(glyph->U0, glyph->V0), ImVec2(glyph->U1, glyph->V1), color);
}

}  // namespace lockstep::gui
