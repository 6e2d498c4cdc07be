// The machine at the stop of an SM, and of one of its sub-cores: warp slots with what each did in the last cycles and does
// now, the scheduler's pick, the registers that it reads and writes, the units as belts that move a cell a cycle, the lanes;
// below them the memory side with the requests that are out.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "app/gui/views/machine/machine_motion.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/sm/warp_facts.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"
#include "core/ptx/analyse/dataflow.h"

namespace lockstep::gui {
namespace {

constexpr float memory_height = 150, most_memory = 240;
constexpr float column_rest = 242, least_row = 10, named_row = 14, low_column = 84;  // of a column beside its rows of warps
constexpr float with_lane = 780;                       // height from which on a lane's bits stand beside
constexpr float least_column = 168, panel_rest = 102;  // panel_rest: header, caption and margins

struct SmSplit {
    Rect picture, warp, code;
    Rect lane;  // h 0: there is no room for it
};
SmSplit split_sm(const Rect& area) {
    SmSplit s{area, {}, {}, {}};
    if (area.w < 1180) return s;
    const float side = side_width(area);
    s.picture.w = area.w - side - 8;
    const float lane = area.h >= with_lane ? lane_strip_height + 8 : 0;
    s.warp = {area.right() - side, area.y, side, area.h * 0.56f - lane * 0.6f};
    float y = s.warp.bottom() + 8;
    if (lane > 0) s.lane = {s.warp.x, y, side, lane_strip_height}, y += lane;
    s.code = {s.warp.x, y, side, area.bottom() - y};
    return s;
}

struct BeltRow {
    std::string_view name;
    std::array<ptx::Unit, 2> units;
    bool queue;
};
constexpr BeltRow belts[] = {
    {"FP32", {ptx::Unit::fma, ptx::Unit::fma}, false},   {"INT", {ptx::Unit::alu, ptx::Unit::uniform}, false},
    {"FP64", {ptx::Unit::fp64, ptx::Unit::fp64}, false}, {"SFU", {ptx::Unit::xu, ptx::Unit::xu}, false},
    {"LD/ST", {ptx::Unit::lsu, ptx::Unit::lsu}, true},   {"tensor", {ptx::Unit::tensor, ptx::Unit::tensor}, false}};

const ptx::DecodedInstruction* instruction_of(const MachineFrame& frame, uint32_t pc) {
    const auto& program = frame.scene->run->program;
    return program && pc < program->instructions.size() ? &program->instructions[pc] : nullptr;
}

bool runs_on(const MachineFrame& frame, uint32_t pc, const BeltRow& belt) {
    const ptx::DecodedInstruction* i = instruction_of(frame, pc);
    return i != nullptr && i->opcode != nullptr && (i->opcode->unit == belt.units[0] || i->opcode->unit == belt.units[1]);
}

std::string slot_name(const WarpTrack& warp) {
    return fmt::format("w{}", warp.slot);
}

// What a sub-core did around now, from the trace.
struct SubCoreFacts {
    struct Row {
        const SlotRow* slot = nullptr;
        int warp = -1;  // in it now
        WarpState state;
    };
    std::vector<Row> rows;
    const IssueRecord* issued = nullptr;     // in this cycle
    std::vector<const IssueRecord*> recent;  // of its warps, in the last cycles, the newest first; none that is folded
    std::vector<const IssueRecord*>
        early;                       // loads that ptxas moves up: they are under way, their place in the text is to come
    int64_t issues = 0, window = 0;  // cycles with an issue, of the last so many
    int ready = 0;                   // warps that could issue now
};

SubCoreFacts facts_of(const MachineFrame& frame, uint32_t s, int64_t window) {
    SubCoreFacts facts;
    const MachineScene& scene = *frame.scene;
    const KernelTrace& trace = scene.trace();
    const int64_t cycle = frame.cycle(), begin = std::max<int64_t>(0, cycle + 1 - window);
    facts.window = cycle + 1 - begin;
    for (const SlotRow& row : scene.timeline->rows) {
        if (row.scheduler != s) continue;
        SubCoreFacts::Row r;
        r.slot = &row;
        r.warp = warp_at(trace, row, cycle);
        if (r.warp >= 0) r.state = state_at(trace, trace.warps[static_cast<size_t>(r.warp)], cycle);
        facts.ready += r.state.resident && r.state.reason() == StallReason::not_selected;
        facts.rows.push_back(r);
    }
    auto at = std::upper_bound(trace.issues.begin(), trace.issues.end(), cycle,
                               [](int64_t c, const IssueRecord& issue) { return c < issue.cycle; });
    constexpr int64_t looks_ahead = 512;
    for (auto next = at; next != trace.issues.end() && next->cycle <= cycle + looks_ahead; ++next)
        if (!next->folded && next->sent() <= cycle && trace.warps[next->warp].scheduler == s) facts.early.push_back(&*next);
    int64_t last = -1;
    while (at != trace.issues.begin()) {
        --at;
        if (at->cycle < begin) break;
        if (at->folded || trace.warps[at->warp].scheduler != s) continue;
        facts.recent.push_back(&*at);
        if (at->cycle != last) ++facts.issues, last = at->cycle;
        if (at->cycle == cycle && facts.issued == nullptr) facts.issued = &*at;
    }
    return facts;
}

void draw_past(const MachineFrame& frame, const Rect& r, const WarpTrack& warp, int64_t begin, int64_t end, float cell) {
    Ui& ui = frame.ui;
    const KernelTrace& trace = frame.scene->trace();
    const auto x_of = [&](int64_t cycle) { return r.x + cell * static_cast<float>(cycle - begin); };
    {
        const Faded past(ui, 0.62f);
        for (const StallRun& run : runs_in(warp, begin, end)) {
            const float x0 = x_of(std::max(begin, run.begin)), x1 = x_of(std::min(end, run.end));
            draw_state(ui, {x0, r.y, std::max(1.0f, x1 - x0 - 1), r.h}, run.reason);
        }
    }
    for (const uint32_t i : issues_in(trace, warp, begin, end)) {
        const IssueRecord& issue = trace.issues[i];
        if (issue.folded) continue;
        const Rect box{x_of(issue.cycle), r.y, cell - 1, r.h};
        letter_box(ui, box, letter_of(*frame.scene->timeline, issue.pc), data::green);
    }
}

// Where the parts of an SM stand: sub-cores side by side, in two or more bands where it is narrow, the memory side and the
// key below them. Where there is no room for all, the memory side is folded: it takes the units' place when asked for.
struct SmPlaces {
    std::vector<Rect> column;
    std::array<Rect, 4> memory{};  // L1, shared memory, waiting misses, the door
    Rect key;
    bool folds = false, low = false;  // low: columns show their warps alone
    bool shows_memory = false;
    float needs = 0;  // height in which nothing folds
};
size_t slots_of(const MachineScene& scene) {  // of warps in a sub-core, at most
    std::array<size_t, 16> count{};
    for (const SlotRow& row : scene.timeline->rows) ++count[row.scheduler % count.size()];
    return std::max<size_t>(1, *std::max_element(count.begin(), count.end()));
}
SmPlaces place_sm(const Rect& body, uint32_t n, size_t rows, float key_height, bool memory_there, bool wants_memory) {
    SmPlaces p;
    const float gap = 8;
    auto across = static_cast<uint32_t>(std::clamp((body.w + gap) / (least_column + gap), 1.0f, static_cast<float>(n)));
    while (n % across != 0) --across;
    const uint32_t bands = n / across;
    const float column_h = column_rest + least_row * static_cast<float>(rows);
    const uint32_t boxes = !memory_there ? 0 : body.w >= 720 ? 4 : body.w >= 340 ? 2 : 1;
    const auto memory_of = [&](float h) { return boxes == 0 ? 0 : (h + gap) * static_cast<float>(4 / boxes); };
    float memory_h = memory_of(memory_height);
    const auto bands_of = [&](float h) { return h * static_cast<float>(bands) + gap * static_cast<float>(bands - 1); };
    p.needs = bands_of(column_h) + memory_h + key_height;
    p.folds = boxes > 0 && body.h < p.needs - 0.5f;
    p.shows_memory = boxes > 0 && (!p.folds || wants_memory);
    p.low = p.folds && wants_memory;
    const float box_h =
        p.folds ? memory_height : std::clamp(memory_height + (body.h - p.needs) * 0.25f, memory_height, most_memory);
    memory_h = memory_of(box_h);
    const float below = (p.shows_memory ? memory_h : 0) + key_height;
    const float h = std::max(60.0f, (body.h - below - gap * static_cast<float>(bands - 1)) / static_cast<float>(bands));
    const float pitch = (body.w + gap) / static_cast<float>(across);
    for (uint32_t s = 0; s < n; ++s)
        p.column.push_back({body.x + pitch * static_cast<float>(s % across),
                            body.y + (h + gap) * static_cast<float>(s / across), pitch - gap, h});
    p.key = {body.x, body.bottom() - key_height + 4, body.w, key_height};
    if (!p.shows_memory) return p;
    const float y = body.bottom() - below + gap, door = boxes == 4 ? 110.0f : 0;
    if (boxes == 4) {
        const float rest = body.w - door - 3 * gap, a = rest * 0.30f, c = rest - 2 * a;
        p.memory = {Rect{body.x, y, a, box_h}, Rect{body.x + a + gap, y, a, box_h},
                    Rect{body.x + 2 * (a + gap), y, c, box_h}, Rect{body.right() - door, y, door, box_h}};
        return p;
    }
    const float box = (body.w + gap) / static_cast<float>(boxes);
    for (uint32_t i = 0; i < 4; ++i)
        p.memory[i] = {body.x + box * static_cast<float>(i % boxes), y + (box_h + gap) * static_cast<float>(i / boxes),
                       box - gap, box_h};
    return p;
}

struct ColumnPlaces {
    Rect all;
    float pitch = 16, cell = 8, past_x = 0, now_x = 0, now_w = 24, rows_y = 0, below = 0;
    int64_t past = 15;
};
// `low`: without what stands below the warps.
ColumnPlaces place_column(const Rect& r, size_t rows, int64_t past, bool low = false) {
    ColumnPlaces p;
    p.all = r;
    p.past = past;
    const float rest = low ? low_column : column_rest;
    const auto all = static_cast<float>(std::max<size_t>(1, rows));
    // Of a tall column nearly half of what is left over goes to the rows, the rest to what stands below them.
    const float spare = std::max(0.0f, r.h - rest - 26 * all);
    p.pitch = std::clamp((r.h - rest) / all, 9.0f, std::min(44.0f, 26 + (low ? 1.0f : 0.45f) * spare / all));
    // A film does not scroll: in a low window it shows the rows alone, however thin.
    if (r.h < low_column + 9 * all) p.pitch = std::clamp((r.h - 40) / all, 1.5f, 9.0f);
    p.past_x = r.x + 40;
    p.now_w = 24;
    p.cell = std::max(1.0f, (r.w - 40 - p.now_w - 12 - 22) / static_cast<float>(past));
    p.now_x = p.past_x + p.cell * static_cast<float>(past) + 6;
    p.rows_y = r.y + 36;
    p.below = p.rows_y + p.pitch * static_cast<float>(rows) + 8;
    return p;
}

void draw_warp_rows(const MachineFrame& frame, const ColumnPlaces& p, const SubCoreFacts& facts) {
    Ui& ui = frame.ui;
    const KernelTrace& trace = frame.scene->trace();
    const int64_t cycle = frame.cycle();
    const uint32_t focused = focused_warp(frame);
    const float flash = lights_of(frame).flash(frame.clock, static_cast<double>(cycle));
    for (size_t i = 0; i < facts.rows.size(); ++i) {
        const SubCoreFacts::Row& row = facts.rows[i];
        const float y = p.rows_y + p.pitch * static_cast<float>(i);
        const float h = p.pitch < 6 ? p.pitch - 0.5f : p.pitch - 2;
        const bool here = row.warp >= 0 && static_cast<uint32_t>(row.warp) == focused;
        if (p.pitch >= 13)
            ui.text(p.past_x - 6, y + h / 2 + 4.5f, fmt::format("w{}", row.slot->slot),
                    {.size = 12,
                     .color = here ? ui.theme->ink : ui.theme->quiet,
                     .align = Align::right,
                     .weight = here ? 700 : 400,
                     .mono = true});
        const Rect past{p.past_x, y, p.cell * static_cast<float>(p.past), h};
        ui.rect({past.x, y, past.w - 1, h}, ui.theme->grid);
        for (const uint32_t w : row.slot->warps)
            if (trace.warps[w].begin < cycle && trace.warps[w].end > cycle - p.past)
                draw_past(frame, past, trace.warps[w], cycle - p.past, cycle, p.cell);
        const Rect now{p.now_x, y, p.now_w, h};
        if (!row.state.resident) {
            ui.rect(now, ui.theme->grid);
            continue;
        }
        if (row.state.issue != nullptr)
            letter_box(ui, now, letter_of(*frame.scene->timeline, row.state.issue->pc), lit(data::green, flash, *ui.theme));
        else
            draw_state(ui, now, row.state.reason());
        if (p.pitch >= 13 && row.state.issue == nullptr) {
            const char letter[] = {letter_of(*frame.scene->timeline, row.state.pc()), 0};
            ui.text(now.right() + 6, y + h / 2 + 4.5f, letter, {.size = 12, .color = ui.theme->ink2, .mono = true});
        }
        const Rect line{p.past_x - 34, y - 1, p.now_x + p.now_w - p.past_x + 36, p.pitch};
        if (here) ui.frame({p.past_x - 1, y - 1, p.now_x + p.now_w - p.past_x + 2, h + 2}, ui.theme->ink, 1.5f);
        if (frame.still) continue;
        if (ui.hovered(line)) {
            std::string text = fmt::format("warp {} of block {}", trace.warps[static_cast<size_t>(row.warp)].warp_in_block,
                                           trace.warps[static_cast<size_t>(row.warp)].block);
            text += row.state.issue ? "\nissues " + short_text(*frame.scene->run->program, row.state.pc())
                                    : "\n" + std::string(row_of(row.state.reason()).label) + ": " +
                                          std::string(row_of(row.state.reason()).explanation);
            ui.tooltip(text);
        }
        if (!ui.clicked(line)) continue;
        if (here) zoom_to(frame.session, Stop::warp);
        focus_on(frame.session, frame.focus, *frame.scene->timeline, static_cast<uint32_t>(row.warp), cycle);
        if (const int64_t awaited = awaited_request(*frame.scene, static_cast<uint32_t>(row.warp), cycle); awaited >= 0)
            frame.session.machine.followed = awaited;
    }
}

// Registers of the warp slots as one strip; the warp that issues, and below it which of its registers are read and written.
void draw_registers(const MachineFrame& frame, const Rect& r, const SubCoreFacts& facts) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    std::vector<int32_t> reads, writes;
    if (facts.issued != nullptr)
        if (const ptx::DecodedInstruction* i = instruction_of(frame, facts.issued->pc)) {
            ptx::each_read(frame.scene->run->program->lists, *i, [&](int32_t reg) { reads.push_back(reg); });
            ptx::each_written(frame.scene->run->program->lists, *i, [&](int32_t reg) { writes.push_back(reg); });
        }
    const auto tidy = [](std::vector<int32_t>& v) {
        std::erase_if(v, [](int32_t reg) { return reg < 0; });
        std::sort(v.begin(), v.end());
        v.erase(std::unique(v.begin(), v.end()), v.end());
    };
    tidy(reads), tidy(writes);
    ui.text(r.x, r.y + 11, "registers", {.size = 12, .color = t.quiet});
    const std::string text = facts.issued == nullptr ? counted(facts.rows.size(), "warp") + " × 32 lanes"
                                                     : fmt::format("{} reads {}, writes {}",
                                                                   slot_name(frame.scene->trace().warps[facts.issued->warp]),
                                                                   reads.size(), writes.size());
    ui.text(r.right(), r.y + 11, text, {.size = 12, .color = t.ink2, .align = Align::right});
    const auto n = static_cast<float>(std::max<size_t>(1, facts.rows.size()));
    const float pitch = r.w / n, slots = 8 * r.h / 42, low = r.y + 16 + slots + 7, bits = r.bottom() - low - 2;
    size_t picked = SIZE_MAX;
    for (size_t i = 0; i < facts.rows.size(); ++i) {
        const bool issues = facts.issued != nullptr && facts.rows[i].warp == static_cast<int>(facts.issued->warp);
        if (issues) picked = i;
        ui.rect({r.x + pitch * static_cast<float>(i), r.y + 16, pitch - 1, slots}, issues                    ? data::green
                                                                                   : facts.rows[i].warp >= 0 ? t.ink3
                                                                                                             : t.grid);
    }
    if (picked == SIZE_MAX) return;
    const uint32_t count =
        std::clamp<uint32_t>(ptx::registers_on(*frame.scene->run->program, frame.scene->run->gpu.compute.number), 8, 64);
    const float cell = r.w / static_cast<float>(count);
    const float from = r.x + pitch * (static_cast<float>(picked) + 0.5f);
    ui.line({from - pitch / 2, low - 7}, {r.x, low}, faded(data::green, 0.6f));
    ui.line({from + pitch / 2, low - 7}, {r.right(), low}, faded(data::green, 0.6f));
    for (uint32_t k = 0; k < count; ++k) ui.rect({r.x + cell * static_cast<float>(k), low, cell - 1, bits}, t.grid);
    // Virtual registers have numbers of their own: each stands in a place by its number.
    const auto mark = [&](int32_t reg, Color color) {
        ui.rect({r.x + cell * static_cast<float>(static_cast<uint32_t>(reg) % count), low, std::max(2.0f, cell - 1), bits},
                color);
    };
    for (const int32_t reg : reads) mark(reg, data::sky);
    for (const int32_t reg : writes) mark(reg, data::green);
}

// What is on a belt at the clock, the first that came to it first.
std::vector<const IssueRecord*> on_belt(const MachineFrame& frame, const SubCoreFacts& facts, const BeltRow& belt,
                                        int cells) {
    std::vector<const IssueRecord*> there;
    const auto take = [&](const IssueRecord* issue) {
        if (!runs_on(frame, issue->pc, belt)) return;
        const int64_t until = belt.queue ? std::min<int64_t>(issue->ready, issue->sent() + cells) : issue->ready;
        const double length = std::max<double>(1, static_cast<double>(until - issue->sent())),
                     age = frame.clock - static_cast<double>(issue->sent());
        if (age >= 0 && age < std::min<double>(length, cells)) there.push_back(issue);
    };
    for (const IssueRecord* issue : facts.recent) take(issue);
    for (const IssueRecord* issue : facts.early) take(issue);
    std::stable_sort(there.begin(), there.end(),
                     [](const IssueRecord* a, const IssueRecord* b) { return a->sent() < b->sent(); });
    return there;
}

void draw_belts(const MachineFrame& frame, const Rect& r, const SubCoreFacts& facts, int cells) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const float pitch = std::min(44.0f, r.h / static_cast<float>(std::size(belts)));
    const Lights lights = lights_of(frame);
    for (size_t b = 0; b < std::size(belts); ++b) {
        const BeltRow& belt = belts[b];
        const float y = r.y + pitch * static_cast<float>(b), h = pitch - 5;
        ui.text(r.x, y + h / 2 + 4.5f, belt.name, {.size = 12, .color = t.ink2});
        const Rect track{r.x + 48, y, r.w - 48, h};
        ui.rect(track, t.dark ? t.panel2 : t.grid, h / 2);
        const float cell = track.w / static_cast<float>(cells);
        for (int k = 1; k < cells; k += 4)
            ui.line({track.x + cell * static_cast<float>(k), y + 4}, {track.x + cell * static_cast<float>(k), y + h - 4},
                    t.dark ? t.line : t.ink3);
        float older = track.right() + 1;  // where the chip in front of it begins
        for (const IssueRecord* const one : on_belt(frame, facts, belt, cells)) {
            const IssueRecord& issue = *one;
            const double age = frame.clock - static_cast<double>(issue.sent());
            const float w = std::max(cell * 3, 22.0f);
            const float x = track.x + static_cast<float>(age / cells) * (track.w - w);
            const Rect box{x, y + 1, std::min(w, older - x - 1), h - 2};
            older = x;
            if (box.w < 1) continue;
            const Color fill = lit(data::green, lights.flash(frame.clock, static_cast<double>(issue.sent())), t);
            ui.rect(box, fill, 3);
            const std::string text = fmt::format("{}{}", letter_of(*frame.scene->timeline, issue.pc),
                                                 frame.scene->trace().warps[issue.warp].slot);
            if (h >= 14 && box.w >= ui.text_width(text, {.size = 12, .mono = true}) + 2)
                ui.text(box.x + box.w / 2, box.y + box.h / 2 + 4.5f, text,
                        {.size = 12, .color = text_on(fill), .align = Align::center, .mono = true});
        }
    }
}

// What the scheduler issued last, the newest first: a line each, where there is room.
void draw_issued(const MachineFrame& frame, const Rect& r, uint32_t s) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const auto most = static_cast<size_t>(std::max(0.0f, (r.h - 24) / 18));
    if (most < 3) return;
    constexpr int64_t cycles_back = 1000;
    const SubCoreFacts facts = facts_of(frame, s, cycles_back);
    ui.text(r.x, r.y + 13, facts.recent.empty() ? "nothing was issued lately" : "issued last",
            {.size = 12, .color = t.quiet});
    float y = r.y + 18;
    for (size_t i = 0; i < std::min(most, facts.recent.size()); ++i, y += 18) {
        const IssueRecord& issue = *facts.recent[i];
        ui.text(r.x + 62, y + 13, with_commas(issue.cycle),
                {.size = 12, .color = t.quiet, .align = Align::right, .mono = true});
        ui.text(r.x + 72, y + 13, slot_name(frame.scene->trace().warps[issue.warp]),
                {.size = 12, .color = t.ink2, .mono = true});
        ui.text(r.x + 108, y + 13, short_text(*frame.scene->run->program, issue.pc),
                {.size = 12, .mono = true, .width = r.w - 112});
    }
}

void draw_column(const MachineFrame& frame, const Rect& r, uint32_t s, int64_t past, bool low = false) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const SubCoreFacts facts = facts_of(frame, s, past + 1);
    ui.frame(r, s == focused_sub_core(frame) ? t.accent : t.line, 1, 4);
    const Rect in{r.x + 8, r.y + 4, r.w - 16, r.h - 8};
    const float title = ui.text(in.x, in.y + 15, fmt::format("sub-core {}", s), {.size = 13, .weight = 600});
    for (const std::string& text :
         {fmt::format("issues {} of {}", facts.issues, facts.window), fmt::format("{}/{}", facts.issues, facts.window)}) {
        if (title + 8 + ui.text_width(text, {.size = 12}) > in.right()) continue;
        ui.text(in.right(), in.y + 15, text, {.size = 12, .color = t.ink2, .align = Align::right});
        break;
    }
    const ColumnPlaces p = place_column(in, facts.rows.size(), past, low);
    const int64_t cycle = frame.cycle();
    for (int64_t c = cycle - past; c < cycle; ++c) {  // the scheduler's slots: issued, or lost
        const bool issued =
            std::any_of(facts.recent.begin(), facts.recent.end(), [&](const IssueRecord* i) { return i->cycle == c; });
        ui.rect({p.past_x + p.cell * static_cast<float>(c - cycle + past), p.rows_y - 8, p.cell - 1, 5},
                issued ? data::green : t.grid);
    }
    draw_warp_rows(frame, p, facts);
    float y = p.below;
    const Rect box{in.x, y, in.w, 24};
    if (box.bottom() > in.bottom() + 4) return;
    const float flash = facts.issued == nullptr ? 0 : lights_of(frame).flash(frame.clock, static_cast<double>(cycle));
    if (facts.issued != nullptr) {
        ui.rect(box, faded(data::green, 0.22f + 0.3f * flash), 3);
        ui.frame(box, data::green, 1, 3);
        const float end = ui.text(box.x + 8, box.y + 17,
                                  "picks " + slot_name(frame.scene->trace().warps[facts.issued->warp]), {.size = 13});
        ui.text(box.right() - 8, box.y + 17, operation_of(*frame.scene->run->program, facts.issued->pc),
                {.size = 13, .color = t.right, .align = Align::right, .mono = true, .width = box.right() - end - 20});
    } else {
        ui.rect(box, t.panel2, 3);
        ui.frame(box, t.line, 1, 3);
        ui.text(box.x + 8, box.y + 17, "no warp is ready: this slot is lost",
                {.size = 13, .color = t.quiet, .width = box.w - 14});
    }
    y = box.bottom() + 6;
    if (low || in.bottom() - y < 60) return;
    const float spare = std::max(0.0f, in.bottom() - y - 198), registers = 42 + std::min(26.0f, spare * 0.15f);
    draw_registers(frame, {in.x, y, in.w, registers}, facts);
    y += registers + 6;
    const float lane_h = 10 + std::min(26.0f, spare * 0.15f), room = in.bottom() - y - lane_h - 8;
    const bool many = past > 30;
    const float belts_h = std::min({room, 132 + spare * 0.4f, 216.0f});
    if (room > 40) draw_belts(frame, {in.x, y, in.w, belts_h}, facts, many ? 48 : 20);
    if (room - belts_h > 90) draw_issued(frame, {in.x, y + belts_h + 6, in.w, room - belts_h - 14}, s);
    const float lane_y = in.bottom() - lane_h - 3;
    ui.text(in.x, lane_y + lane_h / 2 + 5, "lanes", {.size = 12, .color = t.ink2});
    const float pitch = (in.w - 48) / 32;
    const uint32_t active = facts.issued != nullptr ? facts.issued->active : 0;
    for (uint32_t lane = 0; lane < 32; ++lane)
        ui.rect({in.x + 48 + pitch * static_cast<float>(lane), lane_y, pitch - 1, lane_h},
                (active >> lane & 1) != 0 ? lit(data::green, flash, t) : t.grid);
}

// The states that occur around now, and the letters of what issues, line by line as the width allows. Returns the height.
float draw_sm_key(const MachineFrame& frame, const Rect& r, bool draw) {
    Ui& ui = frame.ui;
    const KernelTrace& trace = frame.scene->trace();
    const int64_t cycle = frame.cycle();
    bool seen[state_count] = {};
    for (const WarpTrack& warp : trace.warps)
        for (const StallRun& run : runs_in(warp, std::max<int64_t>(0, cycle - 16), cycle + 1))
            seen[static_cast<size_t>(run.reason)] = true;
    float x = r.x, y = r.y + 15;
    const auto fit = [&](float w) {
        if (x + w > r.right() && x > r.x) x = r.x, y += 20;
    };
    if (draw) ui.legend(x, y, data::green, Hatch::solid, "issued");
    x += ui.text_width("issued", {.size = 12}) + 38;
    for (const StallRow& row : stall_reasons()) {
        const auto s = static_cast<size_t>(row.reason);
        if (!seen[s] || row.reason == StallReason::selected) continue;
        const float w = ui.text_width(row.label, {.size = 12});
        fit(w + 20);
        if (draw) {
            draw_state(ui, {x, y - 11, 13, 13}, row.reason);
            ui.text(x + 19, y, row.label, {.size = 12, .color = ui.theme->ink2});
        }
        x += w + 33;
    }
    x = r.x, y += 20;
    for (const auto& [letter, meaning] : frame.scene->letters) {
        const float w = ui.text_width(meaning, {.size = 12});
        fit(w + 14);
        const char text[] = {letter, 0};
        if (draw) {
            ui.text(x, y, text, {.size = 12, .color = ui.theme->right, .weight = 700, .mono = true});
            ui.text(x + 13, y, meaning, {.size = 12, .color = ui.theme->ink2});
        }
        x += w + 29;
    }
    return y + 9 - r.y;
}

// Its height in any cycle: what is seen changes, and the picture shall not jump.
float key_height_of(const MachineFrame& frame, float width) {
    Ui& ui = frame.ui;
    float states = ui.text_width("issued", {.size = 12}) + 38, letters = 0;
    int lines = 2;
    for (const StallRow& row : stall_reasons()) {
        if (row.reason == StallReason::selected) continue;
        const bool seen = (frame.scene->reasons_seen >> static_cast<uint32_t>(row.reason) & 1) != 0;
        const float w = ui.text_width(row.label, {.size = 12});
        if (!seen) continue;
        if (states + w + 20 > width) states = 0, ++lines;
        states += w + 33;
    }
    for (const auto& [letter, meaning] : frame.scene->letters) {
        const float w = ui.text_width(meaning, {.size = 12});
        if (letters + w + 14 > width && letters > 0) letters = 0, ++lines;
        letters += w + 29;
    }
    return 4 + 20 * static_cast<float>(lines);
}

std::string warps_text(const MachineFrame& frame) {
    const KernelTrace& trace = frame.scene->trace();
    int64_t warps = 0, blocks = 0;
    for (const WarpTrack& w : trace.warps) warps += w.begin <= frame.cycle() && frame.cycle() < w.end;
    for (const uint32_t b : blocks_on(*frame.scene, trace.sm, frame.cycle()).resident) blocks += b != TileState::nobody;
    return fmt::format("{}, {} of {} warps", counted(blocks, "block"), warps, trace.warp_slots);
}

bool has_stretch(const MachineFrame& frame) {
    return frame.scene->timeline->kept(frame.cycle());
}

}  // namespace

namespace {

SmPlaces sm_places(const MachineFrame& frame, const Rect& body) {
    const float key = key_height_of(frame, body.w);
    return place_sm(body, std::max(1u, frame.scene->trace().schedulers), slots_of(*frame.scene), key,
                    frame.scene->machine != nullptr, frame.session.machine.memory_side);
}

// What there is no room for, in words, and the chip that brings the memory side.
void draw_folded(const MachineFrame& frame, const Rect& area, const SmPlaces& p, bool alone) {
    Ui& ui = frame.ui;
    bool& memory = frame.session.machine.memory_side;
    float right = area.right() - 40;
    if (p.folds) {
        const std::string_view label = memory ? "units" : "memory side";
        float x = right - ui.chip_width(label);
        right = x - 8;
        if (ui.chip(x, area.y + 2, label) && !frame.still) memory = !memory;
    }
    if (!alone) return;
    const std::string_view words = "a warp's registers and code: further in";
    if (right - ui.text_width(words, {.size = 12}) > area.x + 120)
        ui.text(right, area.y + 20, words, {.size = 12, .color = ui.theme->quiet, .align = Align::right});
}

Rect sm_body(const MachineFrame& frame, const Rect& picture) {
    return frame.ui.panel_body(picture, {.title = " ", .badge = Provenance::simulated, .caption = " "});
}

}  // namespace

float needs_sm(const MachineFrame& frame, const Rect& room) {
    if (frame.scene == nullptr) return 0;
    const Rect picture = split_sm(room).picture;
    const Rect body{picture.x + 12, picture.y, picture.w - 24, room.h - panel_rest};
    const SmPlaces p = sm_places(frame, body);
    // A window in which the sub-cores fit folds the memory side; where even they don't, the page scrolls and holds it all.
    const float memory = frame.scene->machine != nullptr ? memory_height + 8 : 0;
    const bool one_band = p.column.front().y == p.column.back().y;
    if (one_band && body.h >= p.needs - memory - 0.5f) return panel_rest + p.needs - memory;
    const auto bands = static_cast<float>(p.column.size()) * (p.column.front().w + 8) / (body.w + 8);
    return panel_rest + p.needs + std::round(bands) * (named_row - least_row) * static_cast<float>(slots_of(*frame.scene));
}

void draw_machine_sm(const MachineFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const SmSplit parts = split_sm(area);
    const bool kept = frame.scene != nullptr && has_stretch(frame);
    const SmPlaces before = kept ? sm_places(frame, sm_body(frame, parts.picture)) : SmPlaces{};
    const bool words_there = before.folds || (kept && parts.warp.w <= 0);
    const std::string right = frame.scene != nullptr && !words_there ? warps_text(frame) : "";
    const Rect body = machine_panel(frame, parts.picture, Stop::sm, right);
    if (frame.scene == nullptr)
        return ui.say_nothing_yet(body, "No kernel has run yet.", "Its warps stand here, slot by slot.");
    if (parts.warp.w > 0) frame.show("warp", parts.warp);
    if (parts.lane.h > 0) draw_lane_strip(frame, parts.lane);
    if (parts.code.w > 0 && parts.code.h > 120) draw_warp_lines(frame, parts.code);
    if (!kept)
        return ui.say_nothing_yet(body, fmt::format("Cycle {} is not kept in full.", with_commas(frame.cycle())),
                                  "It is being replayed.");
    const SmPlaces p = sm_places(frame, body);
    if (words_there) draw_folded(frame, parts.picture, p, parts.warp.w <= 0);
    for (uint32_t s = 0; s < p.column.size(); ++s) {
        const auto past = static_cast<int64_t>(std::clamp((p.column[s].w - 98) / 20, 15.0f, 28.0f));
        draw_column(frame, p.column[s], s, past, p.low);
    }
    if (p.shows_memory) draw_sm_memory(frame, p.memory);
    draw_sm_key(frame, p.key, true);
}

Rect inside_sm(const MachineFrame& frame, const Rect& area) {
    if (frame.scene == nullptr) return area;
    const SmPlaces p = sm_places(frame, sm_body(frame, split_sm(area).picture));
    return p.column[std::min<size_t>(focused_sub_core(frame), p.column.size() - 1)];
}

std::string sm_sentence(const MachineFrame& frame) {
    if (frame.scene == nullptr || !has_stretch(frame)) return "";
    if (const std::string fault = fault_sentence(*frame.scene, frame.cycle()); !fault.empty()) return fault;
    const uint32_t n = frame.scene->trace().schedulers;
    int issue = 0, ready = 0;
    std::array<int, state_count> states{};
    int resident = 0;
    for (uint32_t s = 0; s < n; ++s) {
        const SubCoreFacts facts = facts_of(frame, s, 1);
        issue += facts.issued != nullptr;
        ready += facts.ready;
        for (const SubCoreFacts::Row& row : facts.rows)
            if (row.state.resident) ++states[static_cast<size_t>(row.state.reason())], ++resident;
    }
    std::string text =
        fmt::format("{} of {} schedulers issue{}", issue, n,
                    ready > 0 ? fmt::format(", {} more warp{} ready", ready, ready == 1 ? " is" : "s are") : "");
    size_t most = static_cast<size_t>(StallReason::long_scoreboard);
    for (size_t s = 2; s < state_count; ++s)
        if (states[s] > states[most]) most = s;
    if (states[most] > 0)
        text += fmt::format("; {} of {} warps {}", states[most], resident, code_of(static_cast<StallReason>(most)).doing);
    return text + ".";
}

std::string sm_described(const MachineFrame& frame) {
    if (frame.scene == nullptr) return "no kernel has run yet\n";
    std::string text = fmt::format("cycle {}, {}\n", with_commas(frame.cycle()), warps_text(frame));
    if (!has_stretch(frame)) return text + "this cycle is not kept in full\n";
    for (uint32_t s = 0; s < frame.scene->trace().schedulers; ++s) {
        const SubCoreFacts facts = facts_of(frame, s, 16);
        text += fmt::format("sub-core {}: issues in {} of the last {} cycles; ", s, facts.issues, facts.window);
        text += facts.issued != nullptr
                    ? fmt::format("picks {}, {}\n", slot_name(frame.scene->trace().warps[facts.issued->warp]),
                                  operation_of(*frame.scene->run->program, facts.issued->pc))
                    : "no warp is ready\n";
    }
    if (frame.scene->machine == nullptr) return text;
    const std::vector<uint32_t> own = own_requests(frame);
    return text + fmt::format("{} requests are out\n", own.size());
}

namespace {

int64_t past_of(float width) {  // cycles that a sub-core shows of each warp: a letter needs nine units
    return std::clamp<int64_t>(static_cast<int64_t>((width - 120) / 13), 15, 60);
}

}  // namespace

float needs_sub_core(const MachineFrame& frame, const Rect& room) {
    if (frame.scene == nullptr) return 0;
    const float width = split_sm(room).picture.w - 24;
    return panel_rest + column_rest + 13 * static_cast<float>(slots_of(*frame.scene)) + key_height_of(frame, width);
}

void draw_sub_core(const MachineFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const SmSplit parts = split_sm(area);
    const Rect body = machine_panel(frame, parts.picture, Stop::sub_core);
    if (frame.scene == nullptr) return ui.say_nothing_yet(body, "No kernel has run yet.");
    if (parts.warp.w > 0) frame.show("warp", parts.warp);
    if (parts.lane.h > 0) draw_lane_strip(frame, parts.lane);
    if (parts.code.w > 0 && parts.code.h > 120) draw_warp_lines(frame, parts.code);
    if (!has_stretch(frame))
        return ui.say_nothing_yet(body, fmt::format("Cycle {} is not kept in full.", with_commas(frame.cycle())),
                                  "It is being replayed.");
    const float key = key_height_of(frame, body.w);
    draw_column(frame, {body.x, body.y, body.w, body.h - key}, focused_sub_core(frame), past_of(body.w));
    draw_sm_key(frame, {body.x, body.bottom() - key + 4, body.w, key}, true);
}

Rect inside_sub_core(const MachineFrame& frame, const Rect& area) {
    if (frame.scene == nullptr) return area;
    const SmSplit parts = split_sm(area);
    const Rect body = sm_body(frame, parts.picture);
    const SubCoreFacts facts = facts_of(frame, focused_sub_core(frame), 1);
    const ColumnPlaces p = place_column({body.x + 8, body.y + 4, body.w - 16, body.h - key_height_of(frame, body.w) - 8},
                                        facts.rows.size(), past_of(body.w));
    const uint32_t warp = focused_warp(frame);
    for (size_t i = 0; i < facts.rows.size(); ++i)
        if (facts.rows[i].warp >= 0 && static_cast<uint32_t>(facts.rows[i].warp) == warp)
            return {p.past_x, p.rows_y + p.pitch * static_cast<float>(i), p.now_x + p.now_w - p.past_x, p.pitch};
    return {p.past_x, p.rows_y, p.now_x + p.now_w - p.past_x, p.pitch};
}

std::string sub_core_sentence(const MachineFrame& frame) {
    if (frame.scene == nullptr || !has_stretch(frame)) return "";
    const uint32_t s = focused_sub_core(frame);
    const SubCoreFacts facts = facts_of(frame, s, 61);
    std::string text = fmt::format("Its scheduler used {} of the last {} issue slots", facts.issues, facts.window);
    if (facts.issued != nullptr)
        return text + fmt::format(" and now picks {} for {}.", slot_name(frame.scene->trace().warps[facts.issued->warp]),
                                  operation_of(*frame.scene->run->program, facts.issued->pc));
    return text + "; now no warp is ready.";
}

std::string sub_core_described(const MachineFrame& frame) {
    if (frame.scene == nullptr) return "no kernel has run yet\n";
    if (!has_stretch(frame)) return "this cycle is not kept in full\n";
    const SubCoreFacts facts = facts_of(frame, focused_sub_core(frame), 61);
    std::string text = fmt::format("cycle {}, sub-core {}, issues in {} of the last {} cycles\n", with_commas(frame.cycle()),
                                   focused_sub_core(frame), facts.issues, facts.window);
    for (const SubCoreFacts::Row& row : facts.rows)
        if (row.state.resident)
            text += fmt::format("w{}: {}, {}\n", row.slot->slot, row_of(row.state.reason()).label,
                                operation_of(*frame.scene->run->program, row.state.pc()));
    return text;
}

}  // namespace lockstep::gui
