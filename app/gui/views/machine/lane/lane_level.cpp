// The machine at its nearest stop: one lane of the warp. What the instruction finds and leaves there, bit by bit and as
// numbers, how the one becomes the other, the unit's belt by the clock, and the lane's registers; of a memory access the
// address, taken apart.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/gui/views/machine/lane/lane_number.h"
#include "app/gui/views/machine/machine_motion.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float least_bit = 9.5f;
constexpr float narrow_lane = 1050, least_work = 430, low_registers = 420;  // registers stand below the work
constexpr float own_work = 560, own_access = 420, least_lanes = 160,
                most_lanes = 640;  // heights: this lane's, that of all lanes

Color part_color(BitPart part) {
    return part == BitPart::sign       ? data::purple
           : part == BitPart::exponent ? data::orange
           : part == BitPart::fraction ? data::sky
                                       : data::lanes;
}

struct BitPlaces {  // of one value
    float pitch = 20, gap = 6, high = 26;
    bool labels = true;  // of the parts, below the bits
    size_t a_row = 64;   // cells in a row
    size_t rows(size_t cells) const { return (cells + a_row - 1) / a_row; }
    float height(size_t cells) const { return (high + 4) * static_cast<float>(rows(cells)) + (labels ? 16.0f : 0.0f); }
};
BitPlaces place_bits(float width, size_t most) {
    BitPlaces p;
    p.a_row = width / static_cast<float>(std::max<size_t>(1, most)) < least_bit + 1 ? 32 : 64;
    const auto cells = static_cast<float>(std::min(p.a_row, std::max<size_t>(1, most)));
    p.pitch = std::min(44.0f, (width - 3 * p.gap) / cells);
    return p;
}

// Where the parts of a float end; else every eight bits.
bool begins_part(const std::vector<BitCell>& cells, size_t i) {
    if (i == 0) return false;
    if (cells[i].part != cells[i - 1].part) return true;
    return cells[i].part == BitPart::plain && (cells.size() - i) % 8 == 0 && cells.size() <= 32;
}

// `hidden`: a result that is not there yet: its places alone.
void draw_bits(Ui& ui, const Rect& r, const LaneValue& value, const BitPlaces& p, bool hidden) {
    const Theme& t = *ui.theme;
    const std::vector<BitCell> cells = bit_cells(value.bits, value.type);
    float x = r.x, y = r.y;
    struct Span {
        float from, to;
        BitPart part;
        float y;
        int count;
    };
    std::vector<Span> spans;
    for (size_t i = 0; i < cells.size(); ++i) {
        if (i > 0 && i % p.a_row == 0)
            x = r.x, y += p.high + 4;
        else if (begins_part(cells, i))
            x += p.gap / (cells.size() > 40 ? 2 : 1);
        const Rect cell{x, y, p.pitch - 1.5f, p.high};
        if (hidden) {
            ui.dashed(cell, t.ink3, 3, 3);
            ui.rect({cell.x, cell.bottom() - 3, cell.w, 3}, faded(part_color(cells[i].part), 0.35f));
            x += p.pitch;
            continue;
        }
        const Color color = cells[i].set ? part_color(cells[i].part) : t.grid;
        ui.rect(cell, color);
        if (!cells[i].set && cells[i].part != BitPart::plain)
            ui.rect({cell.x, cell.bottom() - 3, cell.w, 3}, faded(part_color(cells[i].part), 0.55f));
        ui.text(cell.x + cell.w / 2, cell.y + p.high / 2 + 4.5f, cells[i].set ? "1" : "0",
                {.size = p.pitch >= 30 ? 15.0f : 12.0f,
                 .color = cells[i].set ? text_on(color) : t.quiet,
                 .align = Align::center,
                 .weight = cells[i].set ? 700 : 400,
                 .mono = true});
        if (spans.empty() || spans.back().part != cells[i].part || begins_part(cells, i))
            spans.push_back({x, x, cells[i].part, y, 0});
        spans.back().to = cell.right(), spans.back().y = y, ++spans.back().count;
        x += p.pitch;
    }
    const auto shape = float_shape(value.type);
    const float base = y + p.high + 14;
    if (!p.labels) return;
    if (hidden) {
        ui.text(r.x, base, "on its way", {.size = 12, .color = t.quiet});
        return;
    }
    if (!shape) {
        ui.text(r.x, base, fmt::format("bit {}", cells.size() - 1), {.size = 12, .color = t.quiet});
        if (cells.size() > 1) ui.text(x - 2, base, "bit 0", {.size = 12, .color = t.quiet, .align = Align::right});
        return;
    }
    const FloatParts parts = parts_of(value.bits, *shape);
    const uint64_t field = value.bits >> shape->fraction & ((uint64_t{1} << shape->exponent_bits()) - 1);
    const std::string sign = parts.negative ? "−" : "+";
    const std::string exponent =
        parts.nan || parts.infinite ? "all ones: no finite number"
        : field == 0                ? parts.zero() ? "0" : fmt::format("0: subnormal, 2^{}", shape->least())
                     : fmt::format("{} − {} = {}", field, shape->bias(), static_cast<int>(field) - shape->bias());
    const std::string fraction = parts.nan         ? "NaN"
                                 : parts.infinite  ? "infinity"
                                 : parts.zero()    ? "0"
                                 : parts.subnormal ? "no leading 1"
                                                   : fmt::format("1 + fraction = {:.9g}", parts.lead());
    ui.text(r.x, base, sign, {.size = 12, .color = t.ink2, .weight = 700});
    float end = r.x + 12;
    for (const Span& span : spans) {
        if (span.part != BitPart::exponent) continue;
        end = ui.text(std::max(end + 6, span.from), base, exponent, {.size = 12, .color = t.ink2});
        break;
    }
    // The fraction's words stand at its right end, where there is room.
    if (x - 2 - ui.text_width(fraction, {.size = 12}) > end + 12)
        ui.text(x - 2, base, fraction, {.size = 12, .color = t.ink2, .align = Align::right});
}

struct LanePlaces {
    Rect picture, body, work, registers;  // w 0: no room
    Rect lanes;                           // all of the warp; h 0: no room
    bool beside = false;                  // the registers stand beside the work
};
LanePlaces place_lane(Ui& ui, const Rect& area, float own) {
    LanePlaces p;
    p.picture = area;
    p.body = ui.panel_body(area, {.title = " ", .badge = Provenance::simulated, .caption = " "});
    p.work = p.body;
    if (p.body.w > narrow_lane) {
        const float registers = std::clamp(p.body.w * 0.25f, 400.0f, 600.0f);
        p.work.w = p.body.w - registers - 24;
        p.registers = {p.work.right() + 24, p.body.y, registers, p.body.h};
        p.beside = true;
    } else if (p.body.h > least_work + 150) {  // below
        const float h = std::clamp(p.body.h - least_work, 150.0f, low_registers);
        p.work.h = p.body.h - h - 16;
        p.registers = {p.body.x, p.work.bottom() + 16, p.body.w, h};
    }
    if (p.work.w >= 700 && p.work.h >= own + least_lanes) {
        const float h = std::min(p.work.h - own, most_lanes);
        p.work.h -= h + 12;
        p.lanes = {p.work.x, p.work.bottom() + 12, p.work.w, h};
    }
    return p;
}

bool shows_result(const MachineFrame& frame, const LaneNow& l) {
    return l.issue != nullptr && frame.cycle() + 1 >= l.issue->ready;
}

std::string type_text(ptx::Type type) {
    return std::string(ptx::name_of(type));
}

// The unit as a belt of the instruction's latency, the instruction a chip on it.
void draw_belt(const MachineFrame& frame, const Rect& r, const LaneNow& l, float label_w) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const std::string name = pipe_name(*l.instruction);
    ui.text(r.x + label_w - 12, r.y + r.h / 2 + 5, name,
            {.size = 13, .color = t.ink2, .align = Align::right, .width = label_w - 14});
    const Rect track{r.x + label_w, r.y, r.w - label_w, r.h};
    ui.rect(track, t.panel2, r.h / 2);
    ui.frame(track, t.line, 1, r.h / 2);
    const auto cells = static_cast<float>(l.latency);
    if (l.latency <= 40)
        for (int64_t k = 1; k < l.latency; ++k) {
            const float x = track.x + track.w * static_cast<float>(k) / cells;
            ui.line({x, track.y + 6}, {x, track.bottom() - 6}, t.ink3);
        }
    const double age = frame.clock - static_cast<double>(l.issue->cycle);
    const bool done = l.age >= l.latency;
    const std::string text = l.issue->folded ? std::string("folded into another")
                             : done          ? fmt::format("done after {}", counted(l.latency, "cycle"))
                                             : fmt::format("cycle {} of {}", with_commas(l.age + 1), with_commas(l.latency));
    const float w = std::max(ui.text_width(text, {.size = 13, .weight = 600}) + 24, std::min(track.w / cells, 150.0f));
    const auto share = static_cast<float>(std::clamp(age / static_cast<double>(l.latency), 0.0, 1.0));
    const Rect chip{track.x + (track.w - w) * share, track.y + 3, w, track.h - 6};
    ui.rect(chip, done ? mix(t.panel2, data::green, 0.35f) : data::green, chip.h / 2);
    ui.text(chip.x + chip.w / 2, chip.y + chip.h / 2 + 4.5f, text,
            {.size = 13, .color = done ? t.ink : text_on(data::green), .align = Align::center, .weight = 600});
}

void draw_value(const MachineFrame& frame, const Rect& r, const LaneValue& value, const std::string& sign,
                const BitPlaces& p, float label_w, bool hidden) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const std::string number = hidden ? "..." : number_text(value.bits, value.type);
    const float room = label_w - 16;
    float size = 20;
    for (const float s : {20.0f, 16.0f, 14.0f, 12.0f}) {
        size = s;
        if (ui.text_width(sign + " " + number, {.size = s, .weight = 700}) <= room) break;
    }
    ui.text(r.x + label_w - 14, r.y + p.high / 2 + 7, sign.empty() ? number : sign + " " + number,
            {.size = size, .color = hidden ? t.quiet : t.ink, .align = Align::right, .weight = 700, .width = room});
    const std::string under = fmt::format("{} {}", value.constant ? "constant" : value.name, type_text(value.type));
    if (p.labels)
        ui.text(r.x + label_w - 14, r.y + p.high + 14, under,
                {.size = 12, .color = t.quiet, .align = Align::right, .width = room});
    draw_bits(ui, {r.x + label_w, r.y, r.w - label_w, r.h}, value, p, hidden);
}

// The steps, as far as they have come by the clock; those to come step back.
void draw_steps(const MachineFrame& frame, const Rect& r, const LaneNow& l, float label_w) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    float y = r.y;
    const std::vector<ArithmeticStep>& steps = l.arithmetic->steps;
    const int64_t done = static_cast<int64_t>(steps.size()) * (l.age + 1) / std::max<int64_t>(1, l.latency);
    for (size_t k = 0; k < steps.size(); ++k) {
        const ArithmeticStep& step = steps[k];
        const bool reached = static_cast<int64_t>(k) < done;
        if (y + 20 > r.bottom()) break;
        if (reached) ui.rect({r.x + label_w - 8, y + 2, 3, 16}, data::green);
        ui.text(r.x + label_w - 14, y + 14, step.what,
                {.size = 13, .color = t.ink2, .align = Align::right, .width = label_w - 16});
        ui.text(r.x + label_w, y + 14, step.how,
                {.size = 14, .color = reached ? t.ink : t.quiet, .mono = true, .width = r.w - label_w});
        y += 21;
    }
}

void draw_arithmetic(const MachineFrame& frame, const Rect& r, const LaneNow& l) {
    const LaneArithmetic& a = *l.arithmetic;
    const float label_w = r.w > 800 ? 200.0f : r.w > 560 ? 140.0f : 104.0f;
    size_t most = bit_cells(a.result.bits, a.result.type).size();
    for (const LaneValue& v : a.sources) most = std::max(most, bit_cells(v.bits, v.type).size());
    BitPlaces p = place_bits(r.w - label_w, most);
    // What is left over makes the bits higher.
    float needed = 46 + 21 * static_cast<float>(a.steps.size()) + 20;
    for (const LaneValue& v : a.sources) needed += p.height(static_cast<size_t>(width_of(v.type))) + 6;
    needed += p.height(static_cast<size_t>(width_of(a.result.type)));
    if (needed - 21 * static_cast<float>(a.steps.size()) > r.h)
        p.labels = false, p.high = 20;  // all of them, closer
    else
        p.high = std::clamp(p.high + (r.h - needed) / (2 * static_cast<float>(a.sources.size() + 1)), 26.0f, 46.0f);
    float y = r.y;
    // Where it is low, the operands whose bits do not fit stand as numbers alone.
    const float result_h = p.height(bit_cells(a.result.bits, a.result.type).size()) + 46;
    for (size_t k = 0; k < a.sources.size(); ++k) {
        const float h = p.height(static_cast<size_t>(width_of(a.sources[k].type))) + 6;
        if (y + h + result_h > r.bottom()) break;
        draw_value(frame, {r.x, y, r.w, h}, a.sources[k], operator_of(a.operation, k), p, label_w, false);
        y += h;
    }
    const float wide = label_w + p.pitch * static_cast<float>(std::min(p.a_row, most)) + 2 * p.gap;
    draw_belt(frame, {r.x, y + 2, std::min(r.w, std::max(wide, 560.0f)), p.labels ? 32.0f : 28.0f}, l, label_w);
    y += p.labels ? 46 : 38;
    if (y + result_h - 46 > r.bottom() + 4) return;
    const Rect result{r.x, y, r.w, result_h};
    if (shows_result(frame, l))  // the cycle before others may read it
        draw_glow(frame.ui, {r.x + label_w, y, std::min(r.w, wide) - label_w, p.high},
                  lights_of(frame).glow(frame.clock, static_cast<double>(l.issue->ready - 1)));
    draw_value(frame, result, a.result, "=", p, label_w, !shows_result(frame, l));
    y += result_h - 46 + 10;
    if (y + 24 > r.bottom()) return;
    if (!a.steps.empty()) draw_steps(frame, {r.x, y, r.w, r.bottom() - y}, l, label_w);
}

// --- memory

struct AddressText {
    std::string what, value;
};
std::vector<AddressText> address_texts(const LaneNow& l) {
    const uint64_t address = l.access->addresses[l.lane];
    std::vector<AddressText> texts;
    if (l.access->space == ptx::Space::shared) {
        texts = {{"address", fmt::format("{} of the block's shared memory", with_commas(static_cast<int64_t>(address)))},
                 {"word", fmt::format("{} ÷ 4 = {}", with_commas(static_cast<int64_t>(address)),
                                      with_commas(static_cast<int64_t>(address / 4)))},
                 {"bank", fmt::format("{} mod 32 = {}", with_commas(static_cast<int64_t>(address / 4)), address / 4 % 32)},
                 {"byte in it", fmt::format("{}, {}", address % 4, counted(l.access->bytes, "byte"))}};
        return texts;
    }
    return {{"address", fmt::format("0x{:x}", address)},
            {"line", fmt::format("0x{:x} ÷ 128 = 0x{:x}", address, address / 128)},
            {"sector", fmt::format("{} of 4: bytes {} to {} of the line", address % 128 / 32, address % 128 / 32 * 32,
                                   address % 128 / 32 * 32 + 31)},
            {"byte in it", fmt::format("{}, {}", address % 32, counted(l.access->bytes, "byte"))}};
}

// The 128 bytes around the address, in words: this lane's, those of other lanes, those that come along.
void draw_line(const MachineFrame& frame, const Rect& r, const LaneNow& l) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const bool shared = l.access->space == ptx::Space::shared;
    const uint64_t address = l.access->addresses[l.lane], line = address / 128;
    const float pitch = r.w / 32;
    for (uint64_t word = 0; word < 32; ++word) {
        const Rect cell{r.x + pitch * static_cast<float>(word), r.y, pitch - (word % 8 == 7 ? 5.0f : 1.5f), r.h};
        const uint64_t from = line * 128 + word * 4;
        const bool own = address < from + 4 && address + l.access->bytes > from;
        bool others = false;
        for (int lane = 0; lane < 32; ++lane)
            others |= (l.access->lanes >> lane & 1) != 0 && l.access->addresses[lane] < from + 4 &&
                      l.access->addresses[lane] + l.access->bytes > from;
        ui.rect(cell, own ? data::sky : others ? mix(t.panel, data::sky, 0.32f) : t.grid);
        if (others && !own) ui.hatch(cell, faded(data::sky, 0.7f), Hatch::diagonal);
        if (own) ui.outline(cell, -1);
        if (word % 8 == 0)
            ui.text(cell.x, r.bottom() + 15, shared ? fmt::format("bank {}", word) : fmt::format("sector {}", word / 8),
                    {.size = 12, .color = t.quiet});
    }
}

void draw_memory(const MachineFrame& frame, const Rect& whole, const LaneNow& l) {
    const Rect r = whole;
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const float label_w = r.w > 800 ? 200.0f : r.w > 560 ? 140.0f : 104.0f;
    float y = r.y;
    for (const AddressText& line : address_texts(l)) {
        if (y + 20 > r.bottom() - 40) break;
        ui.text(r.x + label_w - 14, y + 14, line.what,
                {.size = 13, .color = t.ink2, .align = Align::right, .width = label_w - 16});
        ui.text(r.x + label_w, y + 14, line.value, {.size = 14, .mono = true, .width = r.w - label_w});
        y += 22;
    }
    y += 6;
    if (y + 50 < r.bottom() - 40) {
        draw_line(frame, {r.x + label_w, y, r.w - label_w, 26}, l);
        y += 26 + 22;
        if (y + 20 < r.bottom() - 40) {
            float x = r.x + label_w;
            ui.rect({x, y + 4, 14, 11}, data::sky);
            x = ui.text(x + 20, y + 14, "this lane", {.size = 12, .color = t.ink2}) + 18;
            ui.hatch({x, y + 4, 14, 11}, faded(data::sky, 0.7f), Hatch::diagonal);
            ui.text(x + 20, y + 14, "other lanes of the warp", {.size = 12, .color = t.ink2});
            y += 28;
        }
    }
    draw_belt(frame, {r.x, y, r.w, 32}, l, label_w);
    y += 44;
    const ptx::Program& program = *frame.scene->run->program;
    const bool store = l.access->is_store;
    const int32_t offset = store ? l.instruction->source[0] : l.instruction->destination[0];
    const KeptLanes::Values values = store ? (l.before ? l.before : l.after) : l.after;
    if (!values || offset < 0 || offset == ptx::no_operand) return;
    const simt::LaneValues* v = values_of(*values, offset);
    if (v == nullptr) return;
    const LaneValue value{v->reg.name, type_of_use(program, v->reg), v->bits[l.lane]};
    const BitPlaces p = place_bits(r.w - label_w, static_cast<size_t>(width_of(value.type)));
    if (y + p.height(static_cast<size_t>(width_of(value.type))) > r.bottom()) return;
    draw_value(frame, {r.x, y, r.w, 60}, value, "", p, label_w, !store && !shows_result(frame, l));
    y += p.height(static_cast<size_t>(width_of(value.type))) + 8;
    if (y + 18 < r.bottom())
        ui.text(r.x + label_w, y + 12,
                store                    ? "this is what it writes"
                : shows_result(frame, l) ? "this is what it brought"
                                         : fmt::format("it brings its value at cycle {}", with_commas(l.issue->ready)),
                {.size = 13, .color = t.ink2, .width = r.w - label_w});
}

// What computes nothing lane by lane, or whose values are not here.
void draw_plain(const MachineFrame& frame, const Rect& whole, const LaneNow& l, std::string_view why) {
    const Rect r{whole.x, whole.y, std::min(whole.w, 1500.0f), whole.h};
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const float label_w = r.w > 800 ? 200.0f : r.w > 560 ? 140.0f : 104.0f;
    if (l.instruction->opcode != nullptr)
        ui.text(r.x + label_w, r.y + 16, l.instruction->opcode->summary, {.size = 16, .width = r.w - label_w});
    draw_belt(frame, {r.x, r.y + 34, r.w, 32}, l, label_w);
    ui.text(r.x + label_w, r.y + 92, why, {.size = 13, .color = t.ink2, .width = r.w - label_w});
    if (!l.after || l.arithmetic || l.instruction->destination[0] < 0 || l.instruction->destination[0] == ptx::no_operand)
        return;
    const simt::LaneValues* v = values_of(*l.after, l.instruction->destination[0]);
    if (v == nullptr) return;
    const LaneValue value{v->reg.name, type_of_use(*frame.scene->run->program, v->reg), v->bits[l.lane]};
    const BitPlaces p = place_bits(r.w - label_w, static_cast<size_t>(width_of(value.type)));
    if (r.y + 108 + p.height(static_cast<size_t>(width_of(value.type))) < r.bottom())
        draw_value(frame, {r.x, r.y + 108, r.w, 60}, value, "=", p, label_w, !shows_result(frame, l));
}

// The same instruction in all lanes of the warp: what each found (or where it reads and writes) and what it left. A click
// goes to that lane.
void draw_all_lanes(const MachineFrame& frame, const Rect& r, const LaneNow& l) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const ptx::Program& program = *frame.scene->run->program;
    ui.line({r.x, r.y}, {r.right(), r.y}, t.line);
    ui.text(r.x, r.y + 22, "the same instruction in all 32 lanes", {.size = 13, .weight = 600});
    const bool there = shows_result(frame, l);
    std::string key = "what it finds, and what it leaves";
    if (l.access != nullptr)
        key = fmt::format("address and {}, and what it {}",
                          l.access->space == ptx::Space::shared ? "bank" : "sector of its line",
                          l.access->is_store ? "writes" : "brings");
    ui.text(r.right(), r.y + 22, key, {.size = 12, .color = t.ink2, .align = Align::right});
    const int columns = r.w >= 1100 ? 8 : 4, rows = 32 / columns;
    const float top = r.y + 34, pitch_x = r.w / static_cast<float>(columns),
                pitch_y = std::min(150.0f, (r.bottom() - top) / static_cast<float>(rows));
    const bool store = l.access != nullptr && l.access->is_store;
    const int32_t offset = store ? l.instruction->source[0] : l.instruction->destination[0];
    const KeptLanes::Values values = store ? (l.before ? l.before : l.after) : l.after;
    const simt::LaneValues* const result =
        values && offset >= 0 && offset != ptx::no_operand ? values_of(*values, offset) : nullptr;
    for (int lane = 0; lane < 32; ++lane) {
        const Rect cell{r.x + pitch_x * static_cast<float>(lane % columns),
                        top + pitch_y * static_cast<float>(lane / columns), pitch_x - 6, pitch_y - 6};
        const bool on = (l.issue->active >> lane & 1) != 0;
        ui.rect(cell, on ? t.panel2 : t.panel, 3);
        ui.frame(cell, t.line, 1, 3);
        if (lane == l.lane) ui.outline(cell);
        ui.text(cell.x + 8, cell.y + 17, std::to_string(lane),
                {.size = 12, .color = lane == l.lane ? t.ink : t.quiet, .weight = lane == l.lane ? 700 : 400, .mono = true});
        if (!frame.still && ui.clicked(cell)) frame.focus.lane = lane;
        if (!on) {
            ui.text(cell.x + 34, cell.y + 17, "off", {.size = 12, .color = t.quiet});
            continue;
        }
        std::vector<std::string> found;
        if (l.access != nullptr && (l.access->lanes >> lane & 1) != 0) {
            const uint64_t address = l.access->addresses[lane];
            const bool shared = l.access->space == ptx::Space::shared;
            found = {shared ? with_commas(static_cast<int64_t>(address)) : fmt::format("0x{:x}", address),
                     shared ? fmt::format("bank {}", address / 4 % 32)
                            : fmt::format("line \xE2\x80\xA6{:x}, sector {}", address / 128 & 0xffff, address % 128 / 32)};
        } else if (l.arithmetic && l.before) {
            if (const auto a = arithmetic_of(program, l.issue->pc, *l.before, lane))
                for (size_t k = 0; k < a->sources.size(); ++k) {
                    const std::string sign = operator_of(a->operation, k);
                    found.push_back((sign.empty() ? "" : sign + " ") + number_text(a->sources[k].bits, a->sources[k].type));
                }
        }
        float room = cell.right() - 8;
        if (result != nullptr)
            room = ui.text(cell.right() - 8, cell.y + 17,
                           store || there ? number_text(result->bits[lane], type_of_use(program, result->reg)) : "...",
                           {.size = 13, .align = Align::right, .weight = 600, .mono = true, .width = cell.w - 44}) -
                   10;
        // A line each where there is room, else as one.
        if (!found.empty() && cell.h < 24 + 17 * static_cast<float>(found.size())) {
            std::string all = found.front();
            for (size_t k = 1; k < found.size(); ++k) all += " " + found[k];
            found = {all};
        }
        if (constexpr float second_line = 42; cell.h < second_line && !found.empty()) {  // beside what it leaves
            if (room > cell.x + 60)
                ui.text(cell.x + 30, cell.y + 17, found.front(),
                        {.size = 12, .color = t.ink2, .mono = true, .width = room - cell.x - 30});
            continue;
        }
        for (size_t k = 0; k < found.size() && cell.y + 34 + 17 * static_cast<float>(k) < cell.bottom() - 3; ++k)
            ui.text(cell.x + 8, cell.y + 34 + 17 * static_cast<float>(k), found[k],
                    {.size = 12, .color = t.ink2, .mono = true, .width = cell.w - 14});
    }
}

// What the warp issues next, where there is room: a line each.
void draw_next(const MachineFrame& frame, const Rect& r, const WarpNow& w) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const auto most = static_cast<size_t>(std::max(0.0f, (r.h - 26) / 20));
    const std::vector<NextIssue> next = next_issues(frame, w, std::min<size_t>(most, 12));
    if (next.empty()) return;
    ui.text(r.x, r.y + 14, "what comes next", {.size = 12, .color = t.quiet});
    float y = r.y + 22;
    for (const NextIssue& issue : next) {
        ui.text(r.x + 70, y + 14, with_commas(issue.cycle),
                {.size = 12, .color = t.quiet, .align = Align::right, .mono = true});
        ui.text(r.x + 82, y + 14, issue.text, {.size = 12, .color = t.ink2, .mono = true, .width = r.w - 84});
        y += 20;
    }
}

void draw_lane_registers(const MachineFrame& frame, const Rect& r, const WarpNow& w, const LaneNow& l, bool beside) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    if (beside)
        ui.line({r.x - 12, r.y}, {r.x - 12, r.bottom()}, t.line);
    else
        ui.line({r.x, r.y - 8}, {r.right(), r.y - 8}, t.line);
    ui.text(r.x, r.y + 14, fmt::format("registers of lane {}", l.lane), {.size = 13, .weight = 600});
    const KeptLanes::Values values = frame.kept != nullptr ? frame.kept->at(w.step) : nullptr;
    if (!values || !w.state.resident) {
        ui.text(r.x, r.y + 38,
                !w.state.resident                     ? "The warp holds none now."
                : frame.scene->run->before != nullptr ? "Values are being fetched ..."
                                                      : "This run keeps no values.",
                {.size = 13, .color = t.quiet});
        return;
    }
    ui.text(r.right(), r.y + 14, "ready", {.size = 12, .color = t.quiet, .align = Align::right});
    const Lights lights = lights_of(frame);
    float y = r.y + 26;
    const auto most = static_cast<size_t>(std::max(1.0f, (r.h - 60) / 26));
    const float holds = 130 + std::max(0.0f, r.w - 400) * 0.6f;
    for (const LaneRow& row :
         lane_rows(frame, w, l.instruction, *values, l.lane, std::min<size_t>(r.h > 900 ? 24 : 16, most))) {
        const bool pending = row.ready > frame.cycle();
        const Rect line{r.x - 4, y, r.w + 8, 24};
        if (row.read || row.written) ui.rect(line, t.panel2, 3);
        if (row.ready > 0 && !row.unwritten) draw_glow(ui, line, lights.glow(frame.clock, static_cast<double>(row.ready)));
        ui.text(r.x, y + 16, row.name,
                {.size = 12,
                 .color = row.read || row.written ? t.ink : t.ink2,
                 .weight = row.read || row.written ? 700 : 400,
                 .mono = true,
                 .width = 62});
        ui.text(r.x + 68, y + 16, row.holds, {.size = 12, .color = t.quiet, .width = holds});
        const float ready = r.right() - 70;
        if (row.unwritten)
            ui.text(ready - 4, y + 16, "not written yet", {.size = 12, .color = t.quiet, .align = Align::right});
        else if (pending)
            draw_state(ui, {ready - 60, y + 6, 56, 12}, row.waits);
        else
            ui.text(ready - 4, y + 16, row.value,
                    {.size = 12, .align = Align::right, .mono = true, .width = ready - r.x - 74 - holds});
        ui.text(r.right(), y + 16,
                pending                                       ? with_commas(row.ready)
                : row.ready > 0 && row.ready == frame.cycle() ? "now"
                : row.written && !row.read                    ? "written"
                                                              : "yes",
                {.size = 12, .color = t.ink2, .align = Align::right, .mono = true, .width = 66});
        y += 26;
    }
    if (r.bottom() - y < 40) return;
    ui.paragraph({r.x, y + 8, r.w, 40},
                 l.instruction == nullptr
                     ? "As they are at the clock."
                     : "As they are at the clock; shaded: the pictured instruction reads or writes them.",
                 {.size = 12, .color = t.quiet}, 17);
    y += 56;
    if (r.bottom() - y > 70) draw_next(frame, {r.x, y, r.w, r.bottom() - y}, w);
}

std::string why_plain(const MachineFrame& frame, const LaneNow& l) {
    if (!l.worked) return "This lane is off: it keeps what it has.";
    if (frame.scene->run->before == nullptr) return "This run keeps no values.";
    const bool lane_wise = l.instruction->kind == ptx::Kind::lane_wise || l.instruction->kind == ptx::Kind::lane_wise_many;
    if (!l.before && !l.after) return "Its values are being fetched ...";
    if (lane_wise && !l.arithmetic) return "What it found is being fetched ...";
    return "It computes nothing within a lane.";
}

bool lane_is_kept(const MachineFrame& frame) {
    return frame.scene != nullptr && frame.scene->timeline->kept(frame.cycle());
}

}  // namespace

std::string lane_label(const MachineFrame& frame) {
    return frame.scene == nullptr ? "lane" : fmt::format("lane {}", picked_lane(frame, warp_now(frame)));
}
std::string lane_detail(const MachineFrame&) {
    return "one thread";
}

void draw_lane_strip(const MachineFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    ui.rect(area, t.panel, 4);
    ui.frame(area, t.line, 1, 4);
    const WarpNow w = warp_now(frame);
    const LaneNow l = lane_now(frame, w);
    const float x = area.x + 12, right = area.right() - 12,
                end = ui.text(x, area.y + 20, fmt::format("lane {}, bit by bit", l.lane), {.size = 13, .weight = 600});
    const auto say = [&](std::string_view words) {
        ui.text(x, area.y + 44, words, {.size = 13, .color = t.quiet, .width = area.w - 24});
    };
    if (is_hidden(frame, w)) return say("It stays hidden until you lock an answer.");
    if (l.issue == nullptr || l.instruction == nullptr) return say("No instruction of its warp has issued yet.");
    const ptx::Program& program = *frame.scene->run->program;
    ui.text(right, area.y + 20, short_text(program, l.issue->pc),
            {.size = 12, .color = t.ink2, .align = Align::right, .mono = true, .width = right - end - 14});
    if (!frame.still && ui.hovered(area)) ui.tooltip("click to look into this lane");
    if (!frame.still && ui.clicked(area)) frame.focus.lane = l.lane, zoom_to(frame.session, Stop::lane);
    std::optional<LaneValue> value;
    const int32_t to = l.instruction->destination[0];
    if (l.arithmetic)
        value = l.arithmetic->result;
    else if (const simt::LaneValues* v = l.after && to >= 0 && to != ptx::no_operand ? values_of(*l.after, to) : nullptr)
        value = LaneValue{v->reg.name, type_of_use(program, v->reg), v->bits[l.lane]};
    if (!l.worked) return say("This lane is off.");
    if (!value) return say(l.after || l.before ? "It leaves no number in a register." : "Its values are being fetched.");
    const bool there = shows_result(frame, l);
    BitPlaces p = place_bits(area.w - 24, static_cast<size_t>(width_of(value->type)));
    p.high = 19;
    draw_bits(ui, {x, area.y + 30, area.w - 24, p.high}, *value, p, !there);
    const float y = area.y + 30 + p.height(static_cast<size_t>(width_of(value->type))) + 16;
    const std::string result = there ? "= " + number_text(value->bits, value->type) : std::string("= ?");
    const float from = right - ui.text_width(result, {.size = 15, .weight = 700, .mono = true});
    ui.text(right, y, result, {.size = 15, .align = Align::right, .weight = 700, .mono = true});
    std::string sum = value->name;
    if (l.arithmetic) {
        sum.clear();
        for (size_t i = 0; i < l.arithmetic->sources.size(); ++i) {
            const LaneValue& source = l.arithmetic->sources[i];
            const std::string sign = operator_of(l.arithmetic->operation, i);
            sum += (sum.empty() ? "" : " ") + (sign.empty() ? "" : sign + " ") + number_text(source.bits, source.type);
        }
    }
    ui.text(x, y, sum, {.size = 13, .color = t.ink2, .mono = true, .width = std::max(1.0f, from - x - 12)});
}

float needs_lane(const MachineFrame& frame, const Rect& room) {
    if (frame.scene == nullptr) return 0;
    constexpr float panel = 102;
    if (room.w - 24 > narrow_lane) return 0;
    return panel + least_work + 16 + low_registers;
}

void draw_lane(const MachineFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const WarpNow w = warp_now(frame);
    const LaneNow l = lane_now(frame, w);
    const LanePlaces p = place_lane(ui, area, l.access != nullptr ? own_access : own_work);
    std::string right;
    if (w.track != nullptr) right = fmt::format("warp {} of block {}", w.track->warp_in_block, with_commas(w.track->block));
    machine_panel(frame, p.picture, Stop::lane, right);
    if (frame.scene == nullptr) return ui.say_nothing_yet(p.body, "No kernel has run yet.");
    if (w.track == nullptr) return ui.say_nothing_yet(p.body, "No warp is chosen.");
    if (!lane_is_kept(frame))
        return ui.say_nothing_yet(p.body, fmt::format("Cycle {} is not kept in full.", with_commas(frame.cycle())),
                                  "It is being replayed.");
    if (is_hidden(frame, w)) return ui.say_nothing_yet(p.body, "Hidden until you lock an answer.");
    if (p.registers.w > 0) draw_lane_registers(frame, p.registers, w, l, p.beside);
    if (l.instruction == nullptr) {
        ui.text(p.work.x, p.work.y + 20, "This lane has computed nothing yet.", {.size = 14, .color = t.ink2});
        return;
    }
    if (!frame.still && l.needs_before && frame.kept != nullptr)
        frame.kept->ask(frame.session, frame.focus, frame.snapshot, l.step);
    if (p.lanes.h > 0) draw_all_lanes(frame, p.lanes, l);
    const Rect head{p.work.x, p.work.y, p.work.w, 30};
    const Rect box{head.x, head.y + 4, 20, 18};
    const Lights lights = lights_of(frame);
    const float flash = lights.flash(frame.clock, static_cast<double>(l.issue->cycle));
    letter_box(ui, box, letter_of(*frame.scene->timeline, l.issue->pc), lit(data::green, flash, t));
    const std::string when = l.age == 0 ? "issues now" : fmt::format("issued {} ago", counted(l.age, "cycle"));
    const float begin = ui.text(head.right(), head.y + 18, when,
                                {.size = 13, .color = l.age == 0 ? t.right : t.ink2, .align = Align::right, .weight = 600});
    ui.text(box.right() + 10, head.y + 18, short_text(*frame.scene->run->program, l.issue->pc),
            {.size = 14, .weight = 700, .mono = true, .width = begin - box.right() - 24});
    float y = head.bottom() + 6;
    const int32_t line = line_of_pc(*frame.scene->run->program, l.issue->pc);
    if (line > 0 && p.work.h > 330) {
        const float x = ui.text(box.right() + 10, y + 8, fmt::format("line {}", line), {.size = 12, .color = t.quiet}) + 12;
        ui.text(x, y + 8, source_line(frame, line),
                {.size = 13, .color = t.ink2, .mono = true, .width = p.work.right() - x});
        y += 28;
    }
    const Rect work{p.work.x, y + (p.work.h > 330 ? 8.0f : 0.0f), p.work.w,
                    p.work.bottom() - y - (p.work.h > 330 ? 8.0f : 0.0f)};
    if (!l.worked)
        draw_plain(frame, work, l, why_plain(frame, l));
    else if (l.access != nullptr && (l.access->lanes >> l.lane & 1) != 0)
        draw_memory(frame, work, l);
    else if (l.arithmetic)
        draw_arithmetic(frame, work, l);
    else
        draw_plain(frame, work, l, why_plain(frame, l));
}

std::string lane_sentence(const MachineFrame& frame) {
    const WarpNow w = warp_now(frame);
    if (frame.scene == nullptr || w.track == nullptr || !lane_is_kept(frame) || is_hidden(frame, w)) return "";
    const LaneNow l = lane_now(frame, w);
    if (l.instruction == nullptr) return "";
    if (!l.worked) return fmt::format("Lane {} is off in this instruction.", l.lane);
    if (l.access != nullptr)
        return fmt::format("Lane {} {} {} bytes of {} memory, and {} later they are there.", l.lane,
                           l.access->is_store ? "writes" : "reads", l.access->bytes, ptx::name_of(l.access->space),
                           counted(l.latency, "cycle"));
    const std::string_view name = l.instruction->opcode != nullptr ? l.instruction->opcode->name : "";
    if (name == "fma" || name == "mad")
        return fmt::format("One lane multiplies two numbers and adds a third; {} later the answer is there.",
                           counted(l.latency, "cycle"));
    if (name == "mul")
        return fmt::format("One lane multiplies two numbers; {} later the answer is there.", counted(l.latency, "cycle"));
    if (name == "add" || name == "sub")
        return fmt::format("One lane {} two numbers; {} later the answer is there.", name == "add" ? "adds" : "subtracts",
                           counted(l.latency, "cycle"));
    return fmt::format("Lane {} takes part in {}; {} later the next may use what it left.", l.lane,
                       operation_of(*frame.scene->run->program, l.issue->pc), counted(l.latency, "cycle"));
}

std::string lane_described(const MachineFrame& frame) {
    if (frame.scene == nullptr) return "no kernel has run yet\n";
    const WarpNow w = warp_now(frame);
    if (w.track == nullptr) return "no warp is chosen\n";
    if (!lane_is_kept(frame)) return "this cycle is not kept in full\n";
    if (is_hidden(frame, w)) return "hidden until an answer is locked\n";
    const LaneNow l = lane_now(frame, w);
    std::string text = fmt::format("cycle {}, lane {} of warp {} of block {}\n", with_commas(frame.cycle()), l.lane,
                                   w.track->warp_in_block, w.track->block);
    if (l.instruction == nullptr) return text + "it has computed nothing yet\n";
    text += fmt::format("{}, {}\n", short_text(*frame.scene->run->program, l.issue->pc),
                        l.age >= l.latency ? fmt::format("done after {}", counted(l.latency, "cycle"))
                                           : fmt::format("cycle {} of {}", l.age + 1, l.latency));
    if (!l.worked) return text + "the lane is off\n";
    if (l.access != nullptr && (l.access->lanes >> l.lane & 1) != 0)
        for (const AddressText& line : address_texts(l)) text += fmt::format("{}: {}\n", line.what, line.value);
    else if (l.arithmetic) {
        for (size_t k = 0; k < l.arithmetic->sources.size(); ++k) {
            const LaneValue& v = l.arithmetic->sources[k];
            text += fmt::format("{} {} = {}\n", operator_of(l.arithmetic->operation, k), v.constant ? "constant" : v.name,
                                number_text(v.bits, v.type));
        }
        if (shows_result(frame, l))
            text += fmt::format("= {} {}\n", l.arithmetic->result.name,
                                number_text(l.arithmetic->result.bits, l.arithmetic->result.type));
        for (const ArithmeticStep& step : l.arithmetic->steps) text += fmt::format("{}: {}\n", step.what, step.how);
    } else {
        text += why_plain(frame, l) + "\n";
    }
    const KeptLanes::Values values = frame.kept != nullptr ? frame.kept->at(w.step) : nullptr;
    if (!values || !w.state.resident) return text;
    for (const LaneRow& row : lane_rows(frame, w, l.instruction, *values, l.lane, 16))
        text += fmt::format("{} ({}): {}\n", row.name, row.holds,
                            row.ready > frame.cycle() ? fmt::format("ready at {}", row.ready) : row.value);
    return text;
}

}  // namespace lockstep::gui
