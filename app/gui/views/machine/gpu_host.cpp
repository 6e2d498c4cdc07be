// The host's side of a GPU in the machine's picture: the kernels and copies that it asks for, and the blocks that wait for
// an SM, wave by wave. Also the marks of requests and blocks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/machine/machine_view.h"

namespace lockstep::gui {

void fill_wave(Ui& ui, const Rect& box, int64_t wave, float opacity) {
    static constexpr Color wave_colors[] = {rgb(0x2F6690), rgb(0x4286B5), rgb(0x86C3EA), rgb(0xD3EAF8)};
    const Color color = faded(wave_colors[static_cast<size_t>(wave) % std::size(wave_colors)], opacity);
    if (wave % 2 == 1 || box.w < 5 || box.h < 5) return ui.rect(box, color);
    ui.rect(box, faded(color, 0.35f));
    ui.hatch(box, color, Hatch::diagonal);
}

// Load a circle, store a square, atomic a diamond, copy a triangle; filled on the way out, hollow on the way back.
void draw_mark(Ui& ui, Point at, RequestKind kind, bool back, float r) {
    switch (kind) {
        case RequestKind::store:
            if (back) return ui.frame({at.x - r, at.y - r, 2 * r, 2 * r}, data::yellow, 1.5f);
            return ui.rect({at.x - r, at.y - r, 2 * r, 2 * r}, data::yellow);
        case RequestKind::atomic: {
            const float d = r * 1.3f;
            ui.polygon({{at.x, at.y - d}, {at.x + d, at.y}, {at.x, at.y + d}, {at.x - d, at.y}}, data::purple);
            if (back)
                ui.polygon(
                    {{at.x, at.y - d + 2.5f}, {at.x + d - 2.5f, at.y}, {at.x, at.y + d - 2.5f}, {at.x - d + 2.5f, at.y}},
                    ui.theme->panel);
            return;
        }
        case RequestKind::copy:
            ui.polygon({{at.x - r, at.y - r * 1.1f}, {at.x + r * 1.3f, at.y}, {at.x - r, at.y + r * 1.1f}}, data::orange);
            return;
        case RequestKind::load:
        case RequestKind::constant:
            break;
    }
    if (!back) return ui.circle(at, r, data::sky);
    ui.circle(at, r, ui.theme->panel);
    ui.ring(at, r - 0.5f, data::sky, 1.5f);
}

void draw_block_queue(const MachineFrame& frame, const Rect& column) {
    Ui& ui = frame.ui;
    const MachineScene& scene = *frame.scene;
    const WaitingBlocks queue = blocks_waiting(scene, frame.cycle());
    float y = column.y + 18;
    ui.text(column.x, y, "block queue", {.size = 13, .weight = 600});
    ui.text(column.right(), y, fmt::format("{} wait", with_commas(queue.waiting)),
            {.size = 13, .color = ui.theme->ink2, .align = Align::right});
    y += 10;
    const int columns = 24;
    const float pitch = column.w / columns, size = pitch - 1.2f;
    const float room = column.bottom() - 30;
    for (int64_t wave = queue.begun / scene.at_once; wave * scene.at_once < scene.blocks && y + 22 < room; ++wave) {
        const int64_t first = std::max(queue.begun, wave * scene.at_once),
                      last = std::min(scene.blocks, (wave + 1) * scene.at_once);
        const int64_t waiting = last - first;
        if (waiting <= 0) continue;
        y += 12;
        ui.text(column.x, y, fmt::format("wave {}", wave + 1), {.size = 12, .color = ui.theme->quiet});
        ui.text(column.right(), y, with_commas(waiting), {.size = 12, .color = ui.theme->quiet, .align = Align::right});
        y += 5;
        const int64_t rows = (waiting + columns - 1) / columns;
        const auto fit = static_cast<int64_t>((room - y) / pitch);
        for (int64_t k = 0; k < std::min(rows, fit); ++k) {  // a row at a time: a quad where its cells are all alike
            const int64_t cells = std::min<int64_t>(columns, waiting - k * columns);
            const Rect strip{column.x, y + pitch * static_cast<float>(k), pitch * static_cast<float>(cells) - 1.2f, size};
            fill_wave(ui, strip, wave, 0.5f);
            for (int64_t c = 1; c < cells; ++c)
                ui.rect({column.x + pitch * static_cast<float>(c) - 1.2f, strip.y, 1.2f, size}, ui.theme->panel);
        }
        y += pitch * static_cast<float>(std::min(rows, fit)) + 6;
        if (rows > fit) {
            ui.text(column.x, std::min(y + 10, column.bottom() - 8),
                    fmt::format("and {} more", with_commas((rows - fit) * columns)), {.size = 12, .color = ui.theme->quiet});
            return;
        }
    }
    if (queue.waiting == 0)
        ui.text(column.x, y + 14, "empty: all have begun", {.size = 12, .color = ui.theme->quiet, .width = column.w});
}

namespace {

struct HostRow {  // a kernel or a copy that the host asks the GPU for
    std::string top, below;
    bool runs = false, copies = false;
    float share = 0;  // of a copy that is under way
};

// Of a whole program: what it asked for before and after the launch on show, by the model's clock.
std::vector<HostRow> rows_of_program(const MachineFrame& frame) {
    const ProgramState& program = frame.snapshot.program;
    const runtime::Report& report = program.run->report;
    const runtime::LaunchRecord& shown = report.launches[static_cast<size_t>(program.launch)];
    const double now = shown.begin_us + (shown.end_us - shown.begin_us) * frame.clock /
                                            static_cast<double>(std::max<int64_t>(1, frame.scene->trace().cycles));
    struct Asked {
        double begin, end;
        HostRow row;
    };
    std::vector<Asked> all;
    const auto add = [&](double begin, double end, std::string top, std::string bytes, bool is_shown) {
        const std::string_view when = is_shown ? "runs" : now < begin ? "later" : now >= end ? "done" : "runs";
        HostRow row{std::move(top), bytes.empty() ? std::string(when) : fmt::format("{}, {}", bytes, when)};
        row.runs = when == "runs";
        row.copies = !bytes.empty();
        if (row.copies && row.runs) row.share = static_cast<float>((now - begin) / std::max(1e-9, end - begin));
        all.push_back({begin, end, std::move(row)});
    };
    for (size_t i = 0; i < report.launches.size(); ++i)
        add(report.launches[i].begin_us, report.launches[i].end_us, report.launches[i].kernel, "",
            static_cast<int64_t>(i) == program.launch);
    for (const runtime::CopyRecord& copy : report.copies)
        add(copy.begin_us, copy.end_us,
            copy.direction == "host to device"   ? "copy in"
            : copy.direction == "device to host" ? "copy out"
                                                 : "copy",
            bytes_text(static_cast<double>(copy.bytes)), false);
    std::stable_sort(all.begin(), all.end(), [](const Asked& a, const Asked& b) { return a.begin < b.begin; });
    const auto at = std::find_if(all.begin(), all.end(), [&](const Asked& a) {
        return !a.row.copies && a.begin == shown.begin_us && a.row.top == shown.kernel && a.row.runs;
    });
    std::vector<HostRow> rows;
    for (auto k = at - std::min<std::ptrdiff_t>(3, at - all.begin()); k != all.end() && rows.size() < 12; ++k)
        rows.push_back(std::move(k->row));
    return rows;
}

std::vector<HostRow> host_rows(const MachineFrame& frame) {
    const ProgramState& program = frame.snapshot.program;
    if (frame.snapshot.source == Source::own && program.run && program.launch >= 0 &&
        static_cast<size_t>(program.launch) < program.run->report.launches.size())
        return rows_of_program(frame);
    const auto& step = frame.snapshot.training.step;
    if (!step || frame.focus.launch < 0 || shows_own_run(frame.snapshot))
        return {{frame.scene->run->program ? frame.scene->run->program->shown_name() : "kernel", "runs", true}};
    const auto at = static_cast<size_t>(frame.focus.launch);
    std::vector<HostRow> rows;
    for (size_t i = at > 0 ? at - 1 : 0; i < step->launches.size() && i < at + 6; ++i)
        rows.push_back({step->launches[i].kernel,
                        i < at        ? "has run"
                        : i == at     ? "runs"
                        : i == at + 1 ? "is next"
                                      : "enqueued",
                        i == at});
    return rows;
}

}  // namespace

void draw_host(const MachineFrame& frame, const Rect& column) {
    Ui& ui = frame.ui;
    ui.text(column.x, column.y + 18, "host", {.size = 13, .weight = 600});
    float y = column.y + 34;
    ui.text(column.x, y, "asks for", {.size = 12, .color = ui.theme->quiet});
    y += 8;
    for (const HostRow& row : host_rows(frame)) {
        if (y + 42 > column.bottom()) break;
        const Rect r{column.x, y, column.w, 38};
        const Color color = row.copies ? data::orange : data::green;
        ui.rect(r, ui.theme->panel2, 3);
        ui.frame(r, row.runs ? color : ui.theme->line, 1, 3);
        if (row.share > 0) ui.hatch({r.x + 1, r.bottom() - 5, (r.w - 2) * row.share, 4}, color, Hatch::diagonal);
        const float text = row.copies ? r.x + 17 : r.x + 7;
        if (row.copies) draw_mark(ui, {r.x + 9, r.y + 12}, RequestKind::copy, false, 3.5f);
        ui.text(text, r.y + 16, row.top, {.size = 12, .width = r.right() - text - 4});
        ui.text(r.x + 7, r.y + 31, row.below, {.size = 12, .color = ui.theme->quiet, .width = r.w - 12});
        if (row.runs) {
            ui.line({r.right(), r.y + 19}, {r.right() + 18, r.y + 19}, color, 2);
            ui.arrow_head({r.right() + 22, r.y + 19}, Way::right, color, 4);
        }
        y += 44;
    }
}

}  // namespace lockstep::gui
