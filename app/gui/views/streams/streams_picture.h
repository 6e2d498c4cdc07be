// The picture of D8 apart from what the pointer and the keys do: where rows and bars lie, and drawing them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "app/gui/views/streams/streams_data.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct StreamRow {
    enum class Kind { host, stream, engine } kind = Kind::host;
    uint32_t stream = 0;
    model::Engine engine = model::Engine::none;
    std::string label;
    float y = 0, h = 0;
};

struct StreamPlaces {
    Rect plot;                      // under the ruler, right of the gutter
    Rect rows;                      // the same with the gutter
    float gutter = 0, content = 0;  // height that the rows need at least
    float head = 0;                 // of the controls above; 0: there are none
    bool legend = true;
    std::vector<StreamRow> rows_list;
    double begin = 0, end = 1;  // us in view
    float at(double us) const { return plot.x + static_cast<float>((us - begin) / std::max(end - begin, 1e-9)) * plot.w; }
    double us(float x) const { return begin + static_cast<double>((x - plot.x) / std::max(1.f, plot.w)) * (end - begin); }
    const StreamRow* stream_row(uint32_t stream) const {
        for (const StreamRow& row : rows_list)
            if (row.kind == StreamRow::Kind::stream && row.stream == stream) return &row;
        return nullptr;
    }
};

// What the view shows, and how; the view changes it.
class StreamsPicture {
  protected:
    StreamBoard board_;
    int chosen_ = -1, dragged_ = -1, hovered_ = -1;  // operations; -1: none
    uint32_t drop_ = 0;                              // the stream that the dragged one would go to
    double begin_ = 0, end_ = 1;                     // microseconds in view
    double cursor_ = -1;
    float scrolled_ = 0;

    StreamPlaces place(const Ui& ui, const Rect& body) const;
    // The bar of an operation in a row; width 0: it has none there.
    Rect bar_in(const StreamPlaces& p, const StreamRow& row, int operation) const;
    // Which of how many lanes of the SMs' row a kernel takes: the first that is free when it begins.
    std::pair<int, int> lane_of(int operation) const;
    double tick_step(const StreamPlaces& p) const;
    void draw_ruler(Ui& ui, const StreamPlaces& p) const;
    void draw_band(Ui& ui, const StreamPlaces& p) const;
    void draw_rows(Ui& ui, const StreamPlaces& p) const;
    void draw_bars(Ui& ui, const StreamPlaces& p) const;
    void draw_call(Ui& ui, const StreamPlaces& p, const StreamRow& row, int operation, const Rect& bar) const;
    void draw_work(Ui& ui, const StreamRow& row, int operation, const Rect& bar) const;
    static void label(Ui& ui, const Rect& bar, const std::string& name, const std::string& letter, Color fill);
    // From where an event was recorded to where a stream went on.
    void draw_arrows(Ui& ui, const StreamPlaces& p) const;
    void draw_path(Ui& ui, const StreamPlaces& p) const;
    // What the line that is looked at in the program does, and the operation that was chosen.
    void draw_chosen(Ui& ui, const StreamPlaces& p, int32_t line) const;
    void draw_cursor(Ui& ui, const StreamPlaces& p) const;
    Rect cursor_box(Ui& ui, const StreamPlaces& p) const;  // of its time, above the plot
    std::string cursor_text() const;
    void legend(Ui& ui, const Rect& body) const;

  private:
    mutable std::vector<int> lanes_;
    mutable int lane_count_ = 1;
    mutable double lanes_for_ = -1;
};

float streams_head(const Rect& body);  // height of the controls, which go where the rows would not fit beside them

}  // namespace lockstep::gui
