// The drawing vocabulary of all views. Coordinates are LAYOUT units (pixels at 100 % text scale, origin at the window's
// top left); Ui multiplies by the scale and snaps to whole pixels, so views never mention it. Text is placed by its
// BASELINE. Everything is rectangles, lines, text and hatch: at most 8 k quads a frame, a glyph being one.
// Interaction: chip(), button(), segmented(), slider() and area() can be reached with Tab and pressed with Enter or
// Space; hovered() and clicked() are for pictures whose cells have their own keys.
#pragma once
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/widgets/theme.h"
#include "core/base/units.h"

struct ImDrawList;

namespace lockstep::gui {

struct Point {
    float x = 0, y = 0;
};
struct Rect {
    float x = 0, y = 0, w = 0, h = 0;
    float right() const { return x + w; }
    float bottom() const { return y + h; }
    bool contains(Point p) const { return p.x >= x && p.x < x + w && p.y >= y && p.y < y + h; }
};

enum class Align : uint8_t { left, center, right };
enum class Hatch : uint8_t { solid, diagonal, dots, cross, horizontal, vertical };
// times_derived: of ranks that really ran, on a virtual clock whose times are formulas.
enum class Provenance : uint8_t { executed, measured, simulated, derived, times_derived, none };
enum class Way : uint8_t { left, right, up, down };
enum class Icon : uint8_t { maximise, restore, check, close, play, pause, help, warning, lock, caret_down };

struct TextStyle {
    float size = 14;  // 12 13 14 15 16 18 20 24 32 (mono: 12 13 14 15)
    Color color = 0;  // 0: the theme's ink
    Align align = Align::left;
    int weight = 400;  // 400, 600, 700 (mono: 400, 700)
    bool mono = false;
    float width = 0;  // > 0: shortened with an ellipsis to this width
};
struct Run {  // of a paragraph
    std::string_view text = {};
    TextStyle style = {};
    bool code = false;  // drawn on the code background
};

// What pictures of a kernel say while there is none.
constexpr std::string_view no_kernel_yet = "No kernel has run yet.";

struct PanelText {
    std::string_view title = {};
    std::string_view right = {};  // second text at the right end of the header
    Provenance header_badge = Provenance::none;
    Provenance badge = Provenance::none;  // in front of the caption
    std::string_view caption = {};        // wraps to two lines; empty: no caption strip
};

enum class Key : uint8_t {
    left,
    right,
    up,
    down,
    home,
    end,
    enter,
    w,
    a,
    s,
    d,
    plus,
    minus,
    page_up,
    page_down,
    c,
    v,
    count
};

struct Drag {
    bool active = false, started = false, ended = false;
    Point at, from, delta;  // now, where it began, since the last frame
};

struct UiState;  // lives across frames: keyboard focus, drag, scroll offsets, textures (ui_state.h)

struct Ui {
    ImDrawList* list = nullptr;
    const Theme* theme = nullptr;
    const Fonts* fonts = nullptr;
    UiState* state = nullptr;
    float scale = 1;    // text scale times the screen's
    double now = 0;     // seconds, for animation; call animate() to be drawn again soon
    float opacity = 1;  // multiplies every colour (see Faded)
    Point mouse{-1, -1};
    bool enabled = true;               // false under an open menu: nothing is hovered or clicked
    std::vector<int>* told = nullptr;  // terms of the glossary that were marked; null: none is (see Telling)

    // Text. Returns the x where it ends (left aligned) or begins (right aligned).
    float text(float x, float baseline_at, std::string_view text, const TextStyle& style = {});
    float text_width(std::string_view text, const TextStyle& style = {}) const;
    // Wraps to the box's width; returns the height used (`draw` false: only measures). line_height 0: 1.6 x size. Text
    // between backticks is drawn as code.
    float paragraph(const Rect& box, std::string_view text, const TextStyle& style = {}, float line_height = 0,
                    bool draw = true);
    float paragraph(const Rect& box, std::span<const Run> runs, float line_height = 24, bool draw = true);
    // Underlines the terms of the glossary in a text that stands on one line.
    void mark_terms(float x, float baseline, std::string_view text, const TextStyle& style);
    void icon(float x, float baseline, Icon icon, const TextStyle& style = {});

    // Shapes. `radius` rounds corners (rounded shapes cost more: not for cells).
    void rect(const Rect& rect, Color fill, float radius = 0);
    void frame(const Rect& rect, Color stroke, float width = 1, float radius = 0);  // inside the rectangle
    void dashed(const Rect& rect, Color stroke, float on = 4, float off = 4);
    void line(Point a, Point b, Color color, float width = 1);
    void polyline(std::span<const Point> points, Color color, float width = 1, float dash = 0, float gap = 0);
    void polygon(std::initializer_list<Point> convex, Color fill);
    void circle(Point centre, float radius, Color fill);
    void ring(Point centre, float radius, Color stroke, float width = 1);
    void hatch(const Rect& rect, Color color, Hatch hatch);  // one quad up to 440 wide and 56 high
    void arrow_head(Point tip, Way way, Color color, float size = 5);
    void outline(const Rect& rect, float inset = 0);                    // selection: white over black, reads on any fill
    void halo_line(std::span<const Point> points, float width = 1.5f);  // selection line on a black halo
    void cursor_line(float x, float top, float bottom);                 // the 2-px time cursor
    void clip(const Rect& rect);
    void unclip();

    // Furniture.
    Rect panel_body(const Rect& area, const PanelText& text);     // what panel() will return
    Rect panel(const Rect& area, const PanelText& text);          // frame, header 30, caption 36 or 52; returns the body
    float badge(float x, float baseline, Provenance provenance);  // returns its width
    void caption(float x, float baseline, float right, Provenance provenance, std::string_view sentence);
    float legend(float x, float baseline, Color color, Hatch hatch, std::string_view label);        // returns the next x
    float legend_line(float x, float baseline, Color color, bool dash, std::string_view label);     // returns the next x
    void say_nothing_yet(const Rect& body, std::string_view sentence, std::string_view hint = {});  // empty state

    // Controls, 26 high. `x` advances past the control. Ids are made from the label and the open scope().
    bool chip(float& x, float y, std::string_view label, bool on = false, bool able = true);
    int segmented(float& x, float y, std::span<const std::string_view> labels, int selected);  // the new choice
    int segmented(float& x, float y, std::initializer_list<std::string_view> labels, int selected) {
        return segmented(x, y, std::span<const std::string_view>(labels.begin(), labels.size()), selected);
    }
    bool button(const Rect& rect, std::string_view label, bool primary = false, bool able = true);
    bool link(float x, float baseline, std::string_view label, const TextStyle& style = {.size = 13});
    // Track of 4 px centred in `rect`, knob, ticks; value 0..1; `steps` > 1 snaps to that many positions.
    float slider(std::string_view id, const Rect& rect, float value, int steps = 0);
    // Between two panels: by how much it is moved in this frame, by the mouse or, while it has the keyboard, by arrows;
    // `reset`: a double click or Enter asked for the place that the layout gives it.
    struct Moved {
        float by = 0;
        bool reset = false;
    };
    Moved splitter(std::string_view id, const Rect& gap, bool across);
    bool calm() const;  // reduced motion was asked for: nothing that only decorates moves
    float chip_width(std::string_view label) const;
    float segmented_width(std::span<const std::string_view> labels) const;

    // Interaction.
    bool hovered(const Rect& rect) const;
    bool clicked(const Rect& rect) const;  // pressed inside it in this frame
    bool double_clicked(const Rect& rect) const;
    bool area(std::string_view id, const Rect& rect);  // clickable and focusable; draws the focus outline when focused
    // True while a text control has the keyboard: what is typed is then in the state's typed_keys.
    void opens_menu(std::string_view id);  // of the control just drawn: with the keyboard on it, Down opens its menu
    bool takes_text(std::string_view id, bool tab);
    Drag drag(std::string_view id, const Rect& rect);  // begins inside the rectangle, goes on anywhere
    float wheel(const Rect& rect);                     // notches over the rectangle, taken: nobody else sees them
    bool pressed(Key key, const Rect& part);           // while its view is the active one; outside of views over `part`
    float scroll(std::string_view id, const Rect& view, float content_height);  // offset to subtract; draws a thin bar
    float scroll_lines(std::string_view id, const Rect& view, size_t lines,
                       float pitch);                    // by whole lines, the last in full
    void scroll_to(std::string_view id, float offset);  // wish for the next frame
    void tooltip(std::string_view text);                // beside the pointer, above everything; '\n' breaks lines
    void animate();                                     // please draw the next frame too
    void push_scope(std::string_view name);
    void pop_scope();

    // Pictures from numbers: `fill` writes w*h colours, row by row, only when `version` changed for that slot.
    void picture(std::string_view slot, uint64_t version, int w, int h, const Rect& to,
                 const std::function<void(std::span<Color>)>& fill);
};

// Everything drawn while it lives is fainter.
struct Faded {
    Ui& ui;
    float before;
    Faded(Ui& u, float opacity) : ui(u), before(u.opacity) { ui.opacity *= opacity; }
    ~Faded() { ui.opacity = before; }
    Faded(const Faded&) = delete;
    Faded& operator=(const Faded&) = delete;
};

// In paragraphs that are drawn while it lives the terms of the glossary are underlined by dots, each where it comes first,
// and told where the pointer or the keyboard is on them.
struct Telling {
    Ui& ui;
    std::vector<int> terms;
    std::vector<int>* before;
    explicit Telling(Ui& u) : ui(u), before(u.told) { ui.told = &terms; }
    ~Telling() { ui.told = before; }
    Telling(const Telling&) = delete;
    Telling& operator=(const Telling&) = delete;
};

// Everything drawn while it lives is drawn in `to` instead of in `from`, larger or smaller, and cut off at `clip`. For what
// moves from one size to another: nothing in it can be pressed, and letters get blurred.
struct Scaled {
    Ui& ui;
    Rect from, to, clip;
    int first_vertex = 0, first_command = 0;
    bool enabled;
    void* written;
    Scaled(Ui& u, const Rect& from, const Rect& to, const Rect& clip);
    ~Scaled();
    Scaled(const Scaled&) = delete;
    Scaled& operator=(const Scaled&) = delete;
};

// Colour maps, `t` in 0..1 (clamped).
Color sequential(float t, const Theme& theme);  // one blue hue; more is further from the background
Color diverging(float t, const Theme& theme);   // sky - dark or white - orange, 0.5 is zero
Color grey_image(float t);                      // black to white, drawn digits

std::string readable_number(const std::string& text);  // "163840" so too: 163,840; other text as it is
std::string bytes_text(double bytes);                  // "196 KiB", "2.5 KiB"
std::string_view name_of(Provenance provenance);
Color color_of(Provenance provenance, const Theme& theme);

}  // namespace lockstep::gui
