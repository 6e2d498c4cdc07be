// Generations of GPUs as a table: what each row of core/model/gpus/gpus.cpp promises (derived), and how long the scene's
// kernel takes there (simulated), with a bar a figure, as long as its share of the column's largest. A bar of time is a bar
// of speed, so that longer is better in every column. The headline is of the two neighbours whose peak and bandwidth grew
// apart the most: which of both the kernel followed. Without a scene that names GPUs it shows five of them, without runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/roofline/measured_data.h"
#include "core/model/metrics/roofline.h"

namespace lockstep::gui {
namespace {

constexpr std::array<std::string_view, 5> usual = {"jetson-nano", "p100", "v100", "a100", "h100"};

struct Column {
    std::string_view title, unit;
    double (*value)(const model::GpuSpec&);
    int digits = 0;
    int goes = 0;                   // in a narrow panel the columns with the lowest number go first; 0: stays
    std::string_view answers = {};  // a question about this figure, while it is open, and before it
};
constexpr Column all_columns[] = {
    {"SMs", "", [](const model::GpuSpec& g) { return double(g.sms.value); }, 0, 2},
    {"FP32", "lanes", [](const model::GpuSpec& g) { return g.sms.value * g.sub_cores.value * g.fp32_lanes.value; }, 0, 4},
    {"clock", "MHz", [](const model::GpuSpec& g) { return g.boost_mhz.value; }, 0, 3},
    {"DRAM", "GB/s", [](const model::GpuSpec& g) { return g.dram_gb_per_second.value; }},
    {"FP64", "TFLOP/s", [](const model::GpuSpec& g) { return g.fp64_tflops.value; }, 1, 0, "gpu.fp64_lanes"},
    {"FP32", "TFLOP/s", [](const model::GpuSpec& g) { return g.fp32_tflops.value; }, 1},
    {"TF32 tensor", "TFLOP/s", [](const model::GpuSpec& g) { return g.tf32_tensor_tflops.value; }, 0, 1},
    {"FP16", "TFLOP/s", [](const model::GpuSpec& g) { return std::max(g.fp16_tflops.value, g.fp16_tensor_tflops.value); },
     1},
};

struct Row {
    model::GpuSpec gpu;
    double time_us = 0;                                   // of the kernel; 0: it did not run there
    double dram_share = 0;                                // percent of the DRAM's peak
    double slots = 0;                                     // percent of the issue slots
    std::optional<device::MeasuredKernel> measured = {};  // the same launch on the real GPU
};

double metric(const scene::GpuRun& run, std::string_view name) {
    for (const model::Metric& m : run.metrics)
        if (m.name == name) return m.value;
    return 0;
}

std::vector<Row> rows_of(const Session& session, const Snapshot& snapshot) {
    std::vector<Row> rows;
    if (snapshot.kernel.generations)
        for (const scene::GpuRun& run : *snapshot.kernel.generations)
            rows.push_back({run.gpu, run.time_us, metric(run, "dram_utilization"), metric(run, "issue_slot_utilization")});
    if (snapshot.kernel.run && !session.measured->gpus.empty())
        for (Row& row : rows)
            row.measured = session.measured->find(*snapshot.kernel.run->program, snapshot.kernel.run->config, row.gpu.name);
    if (rows.empty())
        for (const std::string_view name : usual)
            if (const auto gpu = model::gpu_named(name); gpu) rows.push_back({gpu.value()});
    return rows;
}

std::string number(double value, int digits) {
    if (value == 0) return "-";
    if (value < 1 && digits > 0) return fmt::format("{:.2g}", value);
    if (value >= 100) digits = 0;
    return value >= 1000 ? with_commas(static_cast<int64_t>(std::llround(value))) : fmt::format("{:.{}f}", value, digits);
}

std::string time_of(double us) {
    return time_text(us, {.decimals = us >= 100 && us < 1000 ? 0 : 2});
}

// What held the kernel back, as far as two shares can tell.
std::string bound(const Row& row) {
    return row.dram_share >= row.slots ? fmt::format("{:.0f} % of DRAM", row.dram_share)
                                       : fmt::format("{:.0f} % of issue slots", row.slots);
}

// The peak that the kernel's arithmetic has on a GPU.
struct OwnPeak {
    std::string_view name = "FP32";
    double (*value)(const model::GpuSpec&) = [](const model::GpuSpec& g) { return g.fp32_tflops.value; };
};
OwnPeak own_peak(const Snapshot& snapshot, const std::vector<Row>& rows) {
    if (!snapshot.kernel.run || !snapshot.kernel.run->program) return {};
    const std::string_view units = model::point_of(*snapshot.kernel.run).peak;
    OwnPeak peak;
    if (units == "fp64") peak = {"FP64", [](const model::GpuSpec& g) { return g.fp64_tflops.value; }};
    if (units == "tensor fp16") peak = {"FP16 tensor", [](const model::GpuSpec& g) { return g.fp16_tensor_tflops.value; }};
    return peak.value(rows.front().gpu) > 0 && peak.value(rows.back().gpu) > 0 ? peak : OwnPeak();
}

std::string times_as(double factor) {
    return factor >= 999.5 ? with_commas(std::llround(factor)) : fmt::format("{:.3g}", factor);
}

// Of whom the FP32 peak is more than lanes times the clock beside it: " H100's, H200's FP32 peak is that of 1,980 MHz."
std::string other_clock(const std::vector<Row>& rows) {
    std::string whose;
    double mhz = 0;
    for (const Row& row : rows)
        if (const double other = row.gpu.fp32_peak_mhz.value; other > 0 && (mhz == 0 || other == mhz)) {
            whose += fmt::format("{}{}", whose.empty() ? "" : ", ", row.gpu.title);
            mhz = other;
        }
    return whose.empty() ? std::string() : fmt::format(" FP32 peak at {} MHz: {}.", number(mhz, 0), whose);
}

std::string caption_of(const std::vector<Row>& rows, const std::string& kernel, bool hidden, const OwnPeak& peak) {
    const Row& first = rows.front();
    const Row& last = rows.back();
    if (first.time_us <= 0 || last.time_us <= 0)
        return fmt::format("From {} to {} the FP32 peak grew {:.0f} times, the memory bandwidth {:.0f} times.",
                           first.gpu.title, last.gpu.title, last.gpu.fp32_tflops / first.gpu.fp32_tflops,
                           last.gpu.dram_gb_per_second / first.gpu.dram_gb_per_second);
    if (hidden) return "The times of the kernel stay hidden until a question about them is answered." + other_clock(rows);
    std::string text = fmt::format("{} runs {} times as fast on {} as on {}; the {} peak grew {} times, the bandwidth {}.",
                                   kernel, times_as(first.time_us / last.time_us), last.gpu.title, first.gpu.title,
                                   peak.name, times_as(peak.value(last.gpu) / peak.value(first.gpu)),
                                   times_as(last.gpu.dram_gb_per_second / first.gpu.dram_gb_per_second));
    for (const Row& row : rows)
        if (row.measured) text += fmt::format(" {}: {}.", row.gpu.title, measured_sentence(*row.measured, row.time_us));
    return text + other_clock(rows);
}

// "From A100 to H100 1.54 times as fast: FP32 grew 3.43 times, the memory 2.15"; `hidden`: without what the kernel gained.
std::string headline_of(const std::vector<Row>& rows, bool hidden, const OwnPeak& peak) {
    size_t at = 0;
    double most = 0;
    const auto grew = [&](size_t row) { return peak.value(rows[row].gpu) / peak.value(rows[row - 1].gpu); };
    const auto faster = [&](size_t row) {
        return rows[row].gpu.dram_gb_per_second.value / rows[row - 1].gpu.dram_gb_per_second.value;
    };
    for (size_t row = 1; row < rows.size(); ++row) {
        const double apart = std::fabs(std::log(grew(row) / faster(row)));
        if (std::isfinite(apart) && apart > most) most = apart, at = row;
    }
    if (at == 0) return {};
    const auto name = [](const Row& row) {  // "P100" of "Tesla P100 SXM2"
        std::string text(row.gpu.title);
        for (const std::string_view maker : {"Tesla ", "GeForce "})
            if (text.starts_with(maker)) text.erase(0, maker.size());
        for (const std::string_view form : {" SXM", " PCIe", " ("}) text = text.substr(0, text.find(form));
        return text;
    };
    const std::string gained = hidden || rows[at].time_us <= 0
                                   ? ""
                                   : fmt::format(" {} times as fast:", times_as(rows[at - 1].time_us / rows[at].time_us));
    return fmt::format("From {} to {}{} {} grew {} times, the memory's rate {}", name(rows[at - 1]), name(rows[at]), gained,
                       peak.name, times_as(grew(at)), times_as(faster(at)));
}

std::string kernel_name(const Snapshot& snapshot) {
    return snapshot.kernel.run ? snapshot.kernel.run->program->shown_name() : std::string("The kernel");
}

bool column_hidden(const Session& session, const Column& column) {
    return !column.answers.empty() && waits_for(session, column.answers);
}

// A peak whose column is hidden is not told.
OwnPeak peak_told(const Session& session, const Snapshot& snapshot, const std::vector<Row>& rows) {
    const auto step = static_cast<size_t>(std::max(0, session.lesson.step));  // an exercise may be to find out which it is
    if (const auto& lesson = session.lesson.lesson; session.workspace == Workspace::learn && lesson &&
                                                    step < lesson->steps.size() && !lesson->steps[step].exercises.empty())
        return {};
    const OwnPeak peak = own_peak(snapshot, rows);
    for (const Column& column : all_columns)
        if (column.title == peak.name && column_hidden(session, column)) return {};
    return peak;
}

// Before a question about this scene's times is answered, and while any is open in this step.
bool times_hidden(const Session& session) {
    return session.learn.reveal_steps >= 0 || asks_for(session, "time_us") || asks_for(session, "cycles");
}

// The columns that fit beside the GPUs' names and the kernel's time, and how high a row is.
struct Table {
    Rect body;
    std::vector<Column> columns;
    float name = 0, head = 0, time = 0;  // time: the width of its column; 0: no kernel ran
    float pitch = 0, height = 0;
    double most_speed = 0;

    bool bars() const { return height >= 23; }
    // In low rows the bars move up.
    bool close() const { return height < 38; }
    bool closer() const { return height < 33; }
    bool closest() const { return height < 29; }
    float text_y(const Rect& line) const {
        return line.y + (closest() ? 13.0f : closer() ? 15.0f : close() ? 17.0f : 20.0f);
    }
    float bar_y(const Rect& line) const { return line.y + (closest() ? 17.0f : closer() ? 20.0f : close() ? 23.0f : 28.0f); }
    float bar_height() const {
        return closest() ? 4.0f : close() ? 5.0f : height < 52 ? 7.0f : tall() ? height * 0.22f : 9.0f;
    }
    bool tall() const { return height >= 68; }  // with how many times the row above's a figure is, below its bar
    float below(const Rect& line) const { return bar_y(line) + bar_height() + 13; }
    float right_of(size_t column) const { return body.x + name + pitch * static_cast<float>(column) + pitch - 10; }
};

Table place_table(const Ui& ui, const std::vector<Row>& rows, const Rect& body, bool ran) {
    Table table{.body = body};
    float widest = 124;
    for (const Row& row : rows) widest = std::max(widest, ui.text_width(row.gpu.title, {.size = 13, .weight = 700}));
    table.name = std::min(widest + 8, std::max(128.0f, body.w * 0.18f));
    table.head = body.h < 240 ? 37 : 40;
    table.time = ran ? std::clamp(body.w * 0.22f, 120.0f, 240.0f) : 0;
    table.columns.assign(std::begin(all_columns), std::end(all_columns));
    const float room = body.w - table.name - table.time;
    for (int go = 1; go <= 4 && room / static_cast<float>(table.columns.size()) < 62; ++go)
        std::erase_if(table.columns, [go](const Column& column) { return column.goes == go; });
    table.pitch = room / static_cast<float>(table.columns.size());
    table.height = std::min(104.0f, (body.h - table.head) / static_cast<float>(rows.size()));
    for (const Row& row : rows) {
        if (row.time_us > 0) table.most_speed = std::max(table.most_speed, 1 / row.time_us);
        if (row.measured) table.most_speed = std::max(table.most_speed, 1 / row.measured->time_us);  // a mark at its end
    }
    return table;
}

void draw_heads(Ui& ui, const Table& table) {
    const Theme& theme = *ui.theme;
    const Rect& body = table.body;
    for (size_t c = 0; c < table.columns.size(); ++c) {
        const float right = table.right_of(c);
        std::string_view title = table.columns[c].title;  // one that leaves no gap gives up its last word
        if (ui.text_width(title, {.size = 12}) > table.pitch - 12) title = title.substr(0, title.rfind(' '));
        ui.text(right, body.y + 14, title,
                {.size = 12, .color = theme.ink2, .align = Align::right, .width = table.pitch - 4});
        ui.text(right, body.y + 30, table.columns[c].unit,
                {.size = 12, .color = theme.quiet, .align = Align::right, .width = table.pitch - 4});
    }
    if (table.time <= 0) return;
    ui.text(body.right(), body.y + 14, "this kernel", {.size = 12, .align = Align::right, .weight = 600});
    ui.text(body.right(), body.y + 30, "time; bar: speed",
            {.size = 12, .color = theme.quiet, .align = Align::right, .width = table.time - 6});
}

void bar(Ui& ui, const Rect& r, double share, Color color) {
    ui.rect(r, ui.theme->grid);
    if (share > 0) ui.rect({r.x, r.y, std::max(1.0f, r.w * static_cast<float>(share)), r.h}, color);
}

// A GPU's name and figures; shown: the pictures show the run on it.
void draw_row(Ui& ui, const Session& session, const Table& table, const std::vector<Row>& rows, const Row& row,
              const Rect& line, bool shown) {
    const Theme& theme = *ui.theme;
    if (shown) ui.rect({line.x - 4, line.y, line.w + 8, line.h - 2}, theme.grid);
    ui.line({line.x, line.y}, {line.right(), line.y}, theme.line);
    ui.text(line.x, line.y + (table.closer() ? 17 : 18), row.gpu.title,
            {.size = 13, .weight = shown ? 700 : 600, .width = table.name - 4});
    if (table.height >= 42)
        ui.text(line.x, line.y + 34, fmt::format("{}, cc {}", row.gpu.year.value, row.gpu.compute.text()),
                {.size = 12, .color = theme.quiet, .width = table.name - 4});
    for (size_t c = 0; c < table.columns.size(); ++c) {
        const Column& column = table.columns[c];
        double most = 0;
        for (const Row& each : rows) most = std::max(most, column.value(each.gpu));
        const double value = column.value(row.gpu);
        const float right = table.right_of(c), width = table.pitch - 20;
        if (column_hidden(session, column)) {
            ui.text(right, table.text_y(line), "?", {.size = 13, .align = Align::right, .weight = 700, .mono = true});
            continue;
        }
        ui.text(right, table.text_y(line), number(value, column.digits), {.size = 13, .align = Align::right, .mono = true});
        if (table.bars())
            bar(ui, {right - width, table.bar_y(line), width, table.bar_height()}, most > 0 ? value / most : 0,
                sequential(0.6f, theme));
        const double before = &row == &rows.front() ? 0 : column.value((&row - 1)->gpu);
        if (table.tall() && before > 0 && value > 0)
            ui.text(right, table.below(line), "x " + times_as(value / before),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .width = table.pitch - 4});
    }
}

// What was measured on such a GPU: where its bar would end, and its time.
void draw_measured(Ui& ui, const Table& table, const Row& row, const Rect& line) {
    const Theme& theme = *ui.theme;
    const float x = table.body.right() - table.time + 8;
    if (table.bars()) {
        const float reach = (table.time - 8) * static_cast<float>(1 / row.measured->time_us / table.most_speed);
        const float mark = x + std::min(reach, table.time - 8);
        ui.rect({mark - 1.5f, table.bar_y(line) - 4, 3, table.bar_height() + 8}, theme.ink);
    }
    if (table.time < 170) return;
    const bool real = row.measured->gpu->real();
    ui.text(x, table.text_y(line), fmt::format("{} {}", real ? "measured" : "made up", time_of(row.measured->time_us)),
            {.size = 12,
             .color = real ? color_of(Provenance::measured, theme) : theme.ink2,
             .weight = 600,
             .width = table.time - 76});
}

void draw_time(Ui& ui, const Table& table, const Row& row, const Rect& line, bool hidden) {
    const float right = table.body.right();
    ui.text(right, table.text_y(line), hidden ? "?" : time_of(row.time_us),
            {.size = 13, .align = Align::right, .weight = 700, .mono = true});
    if (hidden) return;
    if (table.bars())
        bar(ui, {right - table.time + 8, table.bar_y(line), table.time - 8, table.bar_height()},
            1 / row.time_us / table.most_speed, data::green);
    if (row.measured) draw_measured(ui, table, row, line);
    if (table.height >= 52)
        ui.text(right, table.tall() ? table.below(line) : line.y + 49, bound(row),
                {.size = 12, .color = ui.theme->quiet, .align = Align::right, .width = table.time - 4});
}

std::string tip_of(const Row& row, bool hidden, bool shown) {
    return (row.measured && !hidden ? measured_sentence(*row.measured, row.time_us) + "\n" : std::string()) +
           (shown ? "the pictures show the run on this GPU" : "click: run the scene on this GPU in all pictures");
}

class GenerationsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const std::vector<Row> rows = rows_of(session, *snapshot);
        const bool ran = rows.front().time_us > 0, hidden = times_hidden(session);
        const OwnPeak peak = peak_told(session, *snapshot, rows);
        const std::string sentence = caption_of(rows, kernel_name(*snapshot), hidden, peak);
        Rect body = ui.panel(area, {.title = "Generations of GPUs",
                                    .right = ran && !hidden ? "bars: share of the column's largest; longer is faster"
                                                            : "bars: share of the column's largest",
                                    .badge = ran ? Provenance::simulated : Provenance::derived,
                                    .caption = sentence});
        ui.push_scope("generations");
        if (const std::string says = headline_of(rows, hidden, peak); body.h >= 300 && !says.empty()) {
            const bool fits = ui.text_width(says, {.size = 20, .weight = 700}) <= body.w;
            ui.text(body.x, body.y + 20, says, {.size = fits ? 20.0f : 16.0f, .weight = 700, .width = body.w});
            body = {body.x, body.y + 38, body.w, body.h - 38};
        } else if (body.h >= 190 && body.h < 300 && !says.empty()) {  // half a panel
            ui.text(body.x, body.y + 12, says, {.size = 15, .weight = 700, .width = body.w});
            body = {body.x, body.y + 18, body.w, body.h - 18};
        }
        const Table table = place_table(ui, rows, body, ran);
        draw_heads(ui, table);
        for (size_t i = 0; i < rows.size(); ++i) {
            const Row& row = rows[i];
            const Rect line{body.x, body.y + table.head + table.height * static_cast<float>(i), body.w, table.height};
            const bool shown = snapshot->kernel.run && snapshot->kernel.run->gpu.name == row.gpu.name;
            draw_row(ui, session, table, rows, row, line, shown);
            if (ran) draw_time(ui, table, row, line, hidden);
            if (ui.hovered(line)) ui.tooltip(tip_of(row, hidden, shown));
            if (ui.area(row.gpu.name, line) && !shown) session.post(ask::SetGpu{std::string(row.gpu.name)});
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const std::vector<Row> rows = rows_of(session, *snapshot);
        const bool hidden = times_hidden(session);
        std::string text = "Generations of GPUs (derived from the GPU table";
        text += rows.front().time_us > 0 ? "; times simulated)\n" : ")\n";
        for (const Row& row : rows) {
            text += fmt::format("  {} ({}):", row.gpu.title, row.gpu.year.value);
            for (const Column& column : all_columns)
                text += column_hidden(session, column)
                            ? fmt::format(" {} hidden;", column.title)
                            : fmt::format(" {} {}{}{};", column.title, number(column.value(row.gpu), column.digits),
                                          column.unit.empty() ? "" : " ", column.unit);
            if (row.time_us > 0) text += hidden ? " time hidden" : fmt::format(" {}, {}", time_of(row.time_us), bound(row));
            if (row.measured && !hidden) text += "; " + measured_sentence(*row.measured, row.time_us);
            text += "\n";
        }
        const OwnPeak peak = peak_told(session, *snapshot, rows);
        if (const std::string says = headline_of(rows, hidden, peak); !says.empty()) text += "  " + says + "\n";
        return text + "  " + caption_of(rows, kernel_name(*snapshot), hidden, peak) + "\n";
    }
};

}  // namespace

std::unique_ptr<View> make_generations_view() {
    return std::make_unique<GenerationsView>();
}

}  // namespace lockstep::gui
