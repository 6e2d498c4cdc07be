// The host's side of a GPU in the machine's picture: the kernels and copies that it asks for, the blocks that wait for an
// SM, wave by wave, and what the chip's copy engines and its links to other GPUs do. Also the marks of requests and blocks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/host_work.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/machine/many/cluster_step.h"
#include "core/base/units.h"

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

// Presses of a kernel open it: of a training step its own run, of a program the launch.
void open_work(const MachineFrame& frame, const HostClock& clock, const HostWork& work) {
    if (clock.of_program) return frame.session.post(ask::OpenLaunch{work.launch});
    frame.focus.launch = static_cast<int32_t>(work.launch);
    frame.session.post(ask::OpenKernel{work.launch});
}

void draw_work(const MachineFrame& frame, const Rect& r, const HostClock& clock, const HostWork& work, size_t number) {
    Ui& ui = frame.ui;
    const std::string_view when = work.shown                     ? "runs"
                                  : clock.now_us < work.begin_us ? number == clock.shown + 1 ? "is next" : "later"
                                  : clock.now_us >= work.end_us  ? "done"
                                                                 : "runs";
    const bool runs = when == "runs", opens = work.launch >= 0 && !work.shown;
    const Color color = work.copies() ? data::orange : data::green;
    if (opens && !frame.still && ui.area(fmt::format("work {}", number), r)) open_work(frame, clock, work);
    const bool under = opens && !frame.still && ui.hovered(r);
    ui.rect(r, under ? ui.theme->selected : ui.theme->panel2, 3);
    ui.frame(r, runs ? color : ui.theme->line, 1, 3);
    if (runs && work.copies())
        ui.hatch({r.x + 1, r.bottom() - 5, (r.w - 2) * static_cast<float>(work.share_at(clock.now_us)), 4}, color,
                 Hatch::diagonal);
    const float text = work.copies() ? r.x + 17 : r.x + 7;
    if (work.copies()) draw_mark(ui, {r.x + 9, r.y + 12}, RequestKind::copy, false, 3.5f);
    ui.text(text, r.y + 16, work.name, {.size = 12, .width = r.right() - text - 4});
    ui.text(r.x + 7, r.y + 31, work.copies() ? fmt::format("{}, {}", bytes_text(work.bytes), when) : std::string(when),
            {.size = 12, .color = ui.theme->quiet, .width = r.w - 12});
    if (under)
        ui.tooltip(fmt::format("{}{}, {}\nclick to look into this launch", work.name,
                               work.kernel == work.name ? "" : ": " + work.kernel,
                               time_text(work.end_us - work.begin_us, {})));
    if (!work.shown) return;
    ui.line({r.right(), r.y + 19}, {r.right() + 18, r.y + 19}, color, 2);
    ui.arrow_head({r.right() + 22, r.y + 19}, Way::right, color, 4);
}

// What an engine, or a link, does: a name, a word or how many bytes, and how far it is.
void draw_engine(Ui& ui, const Rect& r, std::string_view name, std::string_view word, float share) {
    ui.rect(r, ui.theme->panel2, 3);
    ui.frame(r, share >= 0 ? data::orange : ui.theme->line, 1, 3);
    if (share > 0) ui.hatch({r.x + 1, r.bottom() - 6, (r.w - 2) * share, 5}, data::orange, Hatch::diagonal);
    const float end = ui.text(r.x + 7, r.y + 16, name, {.size = 12});
    ui.text(r.right() - 7, r.y + 16, word,
            {.size = 12,
             .color = share >= 0 ? ui.theme->ink2 : ui.theme->quiet,
             .align = Align::right,
             .width = std::max(1.0f, r.right() - end - 16)});
}

struct EngineRow {
    std::string_view name;
    std::initializer_list<CopyWay> ways;
};
// As the model has them: one for all, one a direction, or one more for copies within the memory.
std::span<const EngineRow> engine_rows(uint32_t engines) {
    static constexpr EngineRow all[] = {{"in and out", {CopyWay::in, CopyWay::out, CopyWay::within}}};
    static constexpr EngineRow two[] = {{"in", {CopyWay::in, CopyWay::within}}, {"out", {CopyWay::out}}};
    static constexpr EngineRow three[] = {{"in", {CopyWay::in}}, {"out", {CopyWay::out}}, {"within", {CopyWay::within}}};
    if (engines <= 1) return all;
    if (engines == 2) return two;
    return three;
}

// Marks that move from the host to the engine, or back, as far as the copy is.
void draw_copy_marks(Ui& ui, float from, float to, float y, const HostWork& copy, double us) {
    if (copy.way == CopyWay::within) return;
    for (int k = 0; k < 3; ++k) {
        const double at = copy.share_at(us) * 6 + k / 3.0, way = at - std::floor(at);
        const auto share = static_cast<float>(copy.way == CopyWay::in ? way : 1 - way);
        draw_mark(ui, {from + (to - from) * share, y}, RequestKind::copy, false, 3.5f);
    }
}

constexpr float engine_height = 26, engine_pitch = 30, engines_head = 22;

}  // namespace

void draw_host(const MachineFrame& frame, const Rect& column) {
    Ui& ui = frame.ui;
    ui.text(column.x, column.y + 18, "host", {.size = 13, .weight = 600});
    float y = column.y + 34;
    ui.text(column.x, y, "asks for", {.size = 12, .color = ui.theme->quiet});
    y += 8;
    const HostClock clock = host_clock(frame);
    const auto fit = static_cast<size_t>(std::max(1.0f, (column.bottom() - y - 2) / 44));
    const size_t before = std::min<size_t>(clock.shown, std::min<size_t>(3, fit / 3));
    for (size_t i = clock.shown - before; i < clock.work.size() && y + 42 <= column.bottom(); ++i, y += 44)
        draw_work(frame, {column.x, y, column.w, 38}, clock, clock.work[i], i);
}

float engines_height(const MachineFrame& frame, float most) {
    const model::GpuSpec& gpu = frame.scene->run->gpu;
    const auto rows = static_cast<float>(engine_rows(gpu.copy_engines).size());
    const float engines = engines_head + rows * engine_pitch, links = engines_head + engine_pitch + 18;
    if (engines > most) return 0;
    return engines + (gpu.nvlink_gb_per_second > 0 && engines + links <= most ? links : 0);
}

void draw_engines(const MachineFrame& frame, const Rect& column) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const model::GpuSpec& gpu = frame.scene->run->gpu;
    const HostClock clock = host_clock(frame);
    float y = column.y + 14;
    ui.text(column.x, y, "copy engines", {.size = 13, .weight = 600});
    ui.text(column.right(), y, fmt::format("{:g} GB/s", double{gpu.pcie_gb_per_second.value}),
            {.size = 12, .color = t.ink2, .align = Align::right});
    y = column.y + engines_head;
    for (const EngineRow& row : engine_rows(gpu.copy_engines)) {
        const EngineNow engine = engine_at(clock, row.ways);
        const Rect box{column.x, y, column.w, engine_height};
        const auto told = [](const HostWork& copy) {  // a program's copies have no name of their own
            return (copy.name.starts_with("copy") ? "" : copy.name + ", ") + bytes_text(copy.bytes);
        };
        const std::string word = engine.runs != nullptr     ? told(*engine.runs)
                                 : engine.before != nullptr ? "had " + told(*engine.before)
                                 : engine.next != nullptr   ? "then " + told(*engine.next)
                                                            : std::string("idle");
        draw_engine(ui, box, row.name, word,
                    engine.runs != nullptr ? static_cast<float>(engine.runs->share_at(clock.now_us)) : -1);
        if (engine.runs != nullptr)
            draw_copy_marks(ui, column.x - 24, column.x - 4, y + engine_height / 2, *engine.runs, clock.now_us);
        const HostWork* const copy = engine.runs != nullptr ? engine.runs : engine.before;
        if (!frame.still && ui.hovered(box))
            ui.tooltip(copy == nullptr ? "copies between the host and this GPU's memory: none was made before this moment"
                                       : fmt::format("{}: {} in {}, {:.1f} GB/s", copy->name, bytes_text(copy->bytes),
                                                     time_text(copy->end_us - copy->begin_us, {}),
                                                     copy->bytes / std::max(1e-9, copy->end_us - copy->begin_us) / 1e3));
        y += engine_pitch;
    }
    if (column.bottom() - y < engines_head + engine_pitch) return;
    ui.text(column.x, y + 14, "NVLink", {.size = 13, .weight = 600});
    ui.text(column.right(), y + 14, fmt::format("{:g} GB/s", double{gpu.nvlink_gb_per_second.value}),
            {.size = 12, .color = t.ink2, .align = Align::right});
    y += engines_head;
    const Rect box{column.x, y, column.w, engine_height};
    const auto step = frame.session.cluster_step(frame.snapshot);
    if (!step || !(step->end > 0)) {
        draw_engine(ui, box, "other GPUs", "none", -1);
        ui.text(column.x, y + engine_height + 15, "this GPU is alone", {.size = 12, .color = t.quiet, .width = column.w});
        return;
    }
    const int rank = picked_gpu(frame.session, *step), stage = step->stage_of(rank);
    const double time = cluster_time(frame.session, *step);
    const GpuNow now = gpu_at(*step, step->replica_of(rank), stage, step->gpu_of(rank), time);
    const SumNow sum = sum_at(*step, stage, now);
    const bool sums = sum.on && step->inside.starts_with("NVLink");
    draw_engine(ui, box, "other GPUs", sums ? fmt::format("sum layer {}", sum.layer + 1) : std::string("idle"),
                sums ? static_cast<float>(sum.share) : -1);
    ui.text(column.x, y + engine_height + 15, fmt::format("of the step above, {}", step_time_text(*step, time)),
            {.size = 12, .color = t.quiet, .width = column.w});
}

}  // namespace lockstep::gui
