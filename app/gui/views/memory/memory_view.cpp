// A buffer or the block's shared memory as typed rows: as it is before the focused warp's current instruction, or as the run
// left it. What the instruction reads or writes is outlined with its lane; what differs from before the launch is marked.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "app/gui/view.h"
#include "app/gui/views/kernel/kernel_values.h"
#include "app/gui/widgets/text_editor.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

struct Place {  // one thing that can be looked at
    std::string name;
    bool shared = false;
    uint64_t address = 0;  // 0 for shared memory: offsets in the block
    uint64_t bytes = 0;
    DType type = DType::f32;
    bool out = false;  // filled with 0xCD before the launch
};

// The type of the shared memory's accesses: what the program stores there most.
DType shared_type(const ptx::Program& program) {
    int real = 0, whole = 0, wide = 0;
    for (const auto& i : program.instructions) {
        if (i.space != ptx::Space::shared || (i.kind != ptx::Kind::store && i.kind != ptx::Kind::load)) continue;
        (ptx::size_of(i.type) == 8                                          ? wide
         : i.type == ptx::Type::f32 || i.destination_type == ptx::Type::f32 ? real
                                                                            : whole) += 1;
    }
    return wide > real + whole ? DType::f64 : whole > real ? DType::i32 : DType::f32;
}

std::vector<Place> places_of(const Snapshot& snapshot) {
    std::vector<Place> places;
    if (!snapshot.own.run || !snapshot.own.run->run) return places;
    const model::KernelRun& run = *snapshot.own.run->run;
    for (const scene::BoundArgument& buffer : snapshot.own.run->bound.arguments)
        if (buffer.role != scene::KernelArgument::Role::scalar && buffer.bytes > 0)
            places.push_back({buffer.name, false, buffer.address, buffer.bytes, buffer.type,
                              buffer.role == scene::KernelArgument::Role::out});
    const uint64_t shared = ptx::shared_bytes(*run.program, run.config.dynamic_shared);
    if (shared > 0) places.push_back({"shared", true, 0, shared, shared_type(*run.program), false});
    return places;
}

int64_t elements_of(const Place& place, size_t size) {
    return static_cast<int64_t>(place.bytes / size);
}

// What "12" or "0x7f0000000010" means in a buffer of elements of `size` bytes; none: it lies outside, or is no number.
std::optional<size_t> element_in(const std::string& text, const Place& place, size_t size) {
    const bool hex = text.starts_with("0x");
    size_t number = 0;
    const char *const begin = text.data() + (hex ? 2 : 0), *const end = text.data() + text.size();
    if (const auto [at, error] = std::from_chars(begin, end, number, hex ? 16 : 10); error != std::errc() || at != end)
        return std::nullopt;
    if (hex && !place.shared && number >= place.address) number = (number - place.address) / size;
    return number < place.bytes / size ? std::optional(number) : std::nullopt;
}

class MemoryView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const std::vector<Place> places = places_of(*snapshot);
        if (places.empty()) {
            const Rect body = ui.panel(area, {.title = "Memory"});
            const bool ran = snapshot->own.run && snapshot->own.run->run;
            return ui.say_nothing_yet(
                body, ran ? "This kernel has neither buffers nor shared memory." : "The kernel has not run yet.",
                "Its buffers and its block's shared memory stand here, value by value.");
        }
        const simt::AccessAt* access = access_of(*snapshot);
        const int touched = place_touched(places, access);
        follow(*snapshot, places, touched);
        const Place& place = chosen(places);
        const DType type = type_ == 0 ? place.type : type_of(type_);
        const std::string sentence = caption(*snapshot, places, access, touched);
        const Rect body =
            ui.panel(area, {.title = "Memory",
                            .right = fmt::format("{}{}", bytes_text(static_cast<double>(place.bytes)),
                                                 place.shared ? " a block" : fmt::format(" at 0x{:x}", place.address)),
                            .badge = Provenance::executed,
                            .caption = area.h < 190 ? std::string_view() : sentence});
        ui.push_scope("bytes");
        Pen pen{body, body.x, body.y - 4};
        for (const Place& other : places) {
            if (pen.x > body.x) pen.wrap(ui.chip_width(other.name));
            if (ui.chip(pen.x, pen.y, other.name, other.name == place.name)) chosen_ = other.name, ui.scroll_to("rows", 0);
        }
        const bool gone = place_gone(*snapshot, place);
        choose_type_and_time(ui, pen, place, gone);
        const bool jump = index_field(ui, pen, place, size_of(type));
        draw_legend(ui, pen);
        paint(ui, *snapshot, place, type, access, jump, !place.shared && (after_ || gone), focus,
              {body.x, pen.y + 34, body.w, body.bottom() - pen.y - 34});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const std::vector<Place> places = places_of(*snapshot);
        if (places.empty()) return "Memory: nothing to show yet.";
        std::string text = "Memory (executed)\n";
        for (const Place& place : places) {
            text += fmt::format("  {}, {}:", place.name, bytes_text(static_cast<double>(place.bytes)));
            const std::byte* bytes = bytes_of(*snapshot, place, place_gone(*snapshot, place));
            const size_t size = size_of(place.type);
            for (size_t i = 0; bytes != nullptr && i < std::min<size_t>(8, place.bytes / size); ++i)
                text += " " + text_at(place.type, bytes + i * size);
            text += "\n";
        }
        const simt::AccessAt* access = access_of(*snapshot);
        return text + "  " + caption(*snapshot, places, access, place_touched(places, access)) + "\n";
    }

  private:
    // Where the next control stands; a row that is full is followed by another.
    struct Pen {
        Rect body;
        float x = 0, y = 0;
        bool has_room(float width) const { return x + width <= body.right(); }
        void wrap(float width) {
            if (!has_room(width)) x = body.x, y += 30;
        }
    };

    // To the memory that the next instruction touches, once a step.
    void follow(const Snapshot& snapshot, const std::vector<Place>& places, int touched) {
        if (follow_ && touched >= 0 && (seen_step_ != snapshot.kernel.lanes_step || seen_run_ != snapshot.own.run)) {
            chosen_ = places[static_cast<size_t>(touched)].name;
            scroll_to_access_ = true;
        }
        seen_step_ = snapshot.kernel.lanes_step;
        seen_run_ = snapshot.own.run;
    }

    void choose_type_and_time(Ui& ui, Pen& pen, const Place& place, bool gone) {
        static constexpr std::string_view types[] = {"as it is", "f32", "i32", "u8", "hex"};
        static constexpr std::string_view times[] = {"now", "after the run"};
        pen.x += 12;
        pen.wrap(ui.segmented_width(types));
        type_ = ui.segmented(pen.x, pen.y, types, type_);
        if (!place.shared) {  // shared memory is gone when its block has ended
            pen.wrap(ui.segmented_width(times));
            if (const int time = ui.segmented(pen.x, pen.y, times, after_ || gone ? 1 : 0); !gone) after_ = time == 1;
        }
        pen.wrap(ui.chip_width("follow"));
        if (ui.chip(pen.x, pen.y, "follow", follow_)) follow_ = !follow_, scroll_to_access_ = true;
    }

    bool index_field(Ui& ui, Pen& pen, const Place& place, size_t size) {  // whether to jump to the index
        bool jump = false;
        pen.wrap(96);
        const bool wrong = !index_.empty() && !element_in(index_, place, size);
        const float width = std::min(110.0f, pen.body.right() - pen.x);
        text_field(ui, "index", {pen.x, pen.y, width, 26}, index_, {.hint = "to index", .wrong = wrong, .submitted = &jump});
        pen.x += width + 14;
        if (!wrong) return jump;
        const std::string why =
            fmt::format("an index below {}{}", with_commas(elements_of(place, size)), place.shared ? "" : ", or an address");
        if (pen.has_room(ui.text_width(why, {.size = 12})))
            pen.x = ui.text(pen.x, pen.y + 18, why, {.size = 12, .color = ui.theme->wrong}) + 14;
        return jump;
    }

    static void draw_legend(Ui& ui, Pen& pen) {
        const auto legend = [&](const char* text, Color color, bool filled) {
            const float width = ui.text_width(text, {.size = 12}) + 22;
            if (!pen.has_room(width)) return;
            const Rect mark{pen.x, pen.y + 7, 14, 12};
            if (filled)
                ui.rect(mark, ui.theme->selected);
            else
                ui.frame(mark, color, 2);
            ui.text(pen.x + 19, pen.y + 18, text, {.size = 12, .color = ui.theme->ink2});
            pen.x += width + 10;
        };
        legend("read next", data::sky, false);
        legend("written next", data::orange, false);
        legend("changed", 0, true);
    }

    std::string chosen_, index_;
    int type_ = 0;
    bool after_ = false, follow_ = true, scroll_to_access_ = false;
    int64_t seen_step_ = -1;
    std::shared_ptr<const KernelResult> seen_run_;

    const Place& chosen(const std::vector<Place>& places) const {
        for (const Place& place : places)
            if (place.name == chosen_) return place;
        return places.back().shared && places.size() > 1 ? places[places.size() - 2] : places.front();
    }

    static DType type_of(int chip) {
        static constexpr DType types[] = {DType::f32, DType::f32, DType::i32, DType::u8, DType::u32};
        return types[chip];
    }

    // The memory "now" is there once the worker has replayed the warp.
    static bool has_now(const Snapshot& snapshot) { return snapshot.kernel.memory && shows_own_run(snapshot); }
    static bool place_gone(const Snapshot& snapshot, const Place& place) { return !has_now(snapshot) && !place.shared; }
    static const std::byte* bytes_of(const Snapshot& snapshot, const Place& place, bool after) {
        if (place.shared)
            return has_now(snapshot) && snapshot.kernel.memory->shared.size() >= place.bytes
                       ? snapshot.kernel.memory->shared.data()
                       : nullptr;
        if (after) return snapshot.own.run->after->read(place.address, place.bytes);
        return has_now(snapshot) ? snapshot.kernel.memory->global.read(place.address, place.bytes) : nullptr;
    }
    static const simt::AccessAt* access_of(const Snapshot& snapshot) {
        return has_now(snapshot) && snapshot.kernel.memory->access.any ? &snapshot.kernel.memory->access : nullptr;
    }
    static int place_touched(const std::vector<Place>& places, const simt::AccessAt* access) {
        if (access == nullptr || access->lanes == 0) return -1;
        const auto lane = static_cast<size_t>(std::countr_zero(access->lanes));
        for (size_t i = 0; i < places.size(); ++i) {
            if (places[i].shared != (access->space == ptx::Space::shared)) continue;
            if (access->space == ptx::Space::local) continue;
            if (access->addresses[lane] >= places[i].address &&
                access->addresses[lane] < places[i].address + places[i].bytes)
                return static_cast<int>(i);
        }
        return -1;
    }

    std::string caption(const Snapshot& snapshot, const std::vector<Place>& places, const simt::AccessAt* access,
                        int touched) const {
        if (!has_now(snapshot)) return "The memory at this instruction is being worked out.";
        if (snapshot.kernel.memory->access.faults) return "The current instruction stops the kernel: the reports say why.";
        if (access == nullptr)
            return "The current instruction touches no memory; marked values differ from before the launch.";
        if (access->space == ptx::Space::param || access->space == ptx::Space::constant)
            return "The current instruction reads the launch's parameters or constants.";
        if (access->space == ptx::Space::local) return "The current instruction uses each thread's own local memory.";
        if (touched < 0)
            return fmt::format("The current instruction {} memory outside these buffers.",
                               access->is_store ? "writes" : "reads");
        const char* verb = access->is_atomic ? "update" : access->is_store ? "write" : "read";
        const int lanes = std::popcount(access->lanes);
        return fmt::format("Next, {} {}{} {}, {} B each. \"now\" is {}.", counted(lanes, "lane"), verb,
                           lanes == 1 ? "s" : "", places[static_cast<size_t>(touched)].name, access->bytes,
                           meaning_of_now(snapshot));
    }

    static const char* meaning_of_now(const Snapshot& snapshot) {
        if (snapshot.kernel.lanes_timed) return "the memory at this cycle";
        const bool beside = snapshot.kernel.history && snapshot.kernel.history->beside;
        return beside ? "what this block sees when the others run beside it" : "what this block sees when it runs alone";
    }

    // The elements that the next instruction touches, each with its lanes.
    using TouchedElements = std::map<size_t, uint32_t>;
    static TouchedElements elements_touched(const Place& place, const simt::AccessAt* access, size_t size) {
        TouchedElements touched;
        if (access == nullptr || access->space == ptx::Space::local) return touched;
        if (place.shared != (access->space == ptx::Space::shared)) return touched;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if ((access->lanes >> lane & 1) == 0) continue;
            const uint64_t at = access->addresses[lane];
            if (at < place.address || at >= place.address + place.bytes) continue;
            for (uint64_t b = 0; b < access->bytes; b += size)
                touched[static_cast<size_t>((at + b - place.address) / size)] |= 1u << lane;
        }
        return touched;
    }

    // An element of the table, with all that is said of it.
    struct Element {
        const Place& place;
        DType type;
        size_t index, size;
        const std::byte *now, *before;  // before: the launch; none of shared memory
        uint32_t lanes;                 // that touch it next
        const simt::AccessAt* access;   // theirs
        bool after;                     // the run: not "now"

        bool changed() const { return before != nullptr && std::memcmp(now, before, size) != 0; }
    };

    void paint(Ui& ui, const Snapshot& snapshot, const Place& place, DType type, const simt::AccessAt* access, bool jump,
               bool after, Focus& focus, const Rect& r) {
        const Theme& theme = *ui.theme;
        const std::byte* bytes = bytes_of(snapshot, place, after);
        if (bytes == nullptr) {
            ui.text(r.x, r.y + 18, "It is being worked out ...", {.size = 13, .color = theme.ink2});
            return;
        }
        const std::byte* before = place.shared ? nullptr : snapshot.own.run->run->before->read(place.address, place.bytes);
        const size_t size = size_of(type);
        const auto count = static_cast<size_t>(place.bytes / size);
        constexpr float index_width = 74, row_height = 20;
        const size_t columns = columns_that_fit(size, r.w - index_width - 12);
        const float pitch = (r.w - index_width - 12) / static_cast<float>(columns);
        const size_t rows = (count + columns - 1) / columns;
        for (size_t c = 0; c < columns; ++c)
            ui.text(r.x + index_width + pitch * static_cast<float>(c + 1) - 6, r.y + 12, fmt::format("+{}", c),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        ui.text(r.x, r.y + 12, "index", {.size = 12, .color = theme.quiet});
        const Rect list{r.x, r.y + 18, r.w, r.h - 18};
        const TouchedElements touched = after ? TouchedElements() : elements_touched(place, access, size);
        if (const auto wanted = scrolled_to(touched, jump ? element_in(index_, place, size) : std::nullopt)) {
            ui.scroll_to("rows", std::max(0.0f, static_cast<float>(*wanted / columns) - 1) * row_height);
            ui.animate();
        }
        const float offset = ui.scroll_lines("rows", {list.x, list.y, list.w + 10, list.h}, rows, row_height);
        ui.clip({list.x - 4, list.y, list.w + 8, list.h});
        const auto first = static_cast<size_t>(offset / row_height);
        for (size_t row = first; row < rows; ++row) {
            const float y = list.y + static_cast<float>(row - first) * row_height;
            if (y > list.bottom()) break;
            ui.text(r.x + index_width - 16, y + 14, std::to_string(row * columns),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
            for (size_t c = 0; c < columns && row * columns + c < count; ++c) {
                const size_t i = row * columns + c;
                const auto hit = touched.find(i);
                const Element element{place,
                                      type,
                                      i,
                                      size,
                                      bytes + i * size,
                                      before == nullptr ? nullptr : before + i * size,
                                      hit == touched.end() ? 0 : hit->second,
                                      access,
                                      after};
                const Rect cell{r.x + index_width + pitch * static_cast<float>(c), y + 1, pitch - 2, row_height - 2};
                draw_element(ui, element, focus, cell);
                if (ui.hovered(cell)) point_at(ui, element, focus, cell);
            }
        }
        ui.unclip();
    }

    // The element that the table is scrolled to: that of the next access, once, else the index that was typed.
    std::optional<size_t> scrolled_to(const TouchedElements& touched, std::optional<size_t> typed) {
        if (!scroll_to_access_ || touched.empty()) return typed;
        scroll_to_access_ = false;
        return touched.begin()->first;
    }

    static void point_at(Ui& ui, const Element& element, Focus& focus, const Rect& cell) {
        ui.tooltip(tip_of(element));
        if (!ui.clicked(cell)) return;
        focus.address = static_cast<int64_t>(element.place.address + element.index * element.size);
        if (element.lanes != 0) focus.lane = std::countr_zero(element.lanes);
    }

    size_t columns_that_fit(size_t size, float width) const {  // a power of two
        const float wanted = type_ == 4 ? 78.0f : size == 1 ? 36.0f : size == 8 ? 92.0f : 68.0f;
        size_t columns = 1;
        while (columns * 2 <= 32 && wanted * static_cast<float>(columns) * 2 <= width) columns *= 2;
        return columns;
    }

    void draw_element(Ui& ui, const Element& element, const Focus& focus, const Rect& cell) const {
        const Theme& theme = *ui.theme;
        const bool changed = element.changed();
        if (changed) ui.rect({cell.x, cell.y, cell.w, cell.h}, theme.selected);
        const bool unset = element.place.out && !changed && is_unset(element.type, element.now);
        const std::string text = type_ == 4 ? hex_text(element.now, element.size)
                                 : unset    ? "unset"
                                            : text_at(element.type, element.now);
        const float baseline = cell.y + 13;
        ui.text(cell.right() - 4, baseline, text,
                {.size = 12,
                 .color = changed || element.lanes != 0 ? theme.ink
                          : unset                       ? theme.quiet
                                                        : theme.ink2,
                 .align = Align::right,
                 .weight = changed ? 700 : 400,
                 .mono = true,
                 .width = cell.w - 2});
        if (element.lanes != 0) draw_lanes(ui, element, focus, cell, baseline);
    }

    static void draw_lanes(Ui& ui, const Element& element, const Focus& focus, const Rect& cell, float baseline) {
        const Theme& theme = *ui.theme;
        const Color color = element.access->is_store || element.access->is_atomic ? data::orange : data::sky;
        ui.frame(cell, color, 2);
        const int lanes = std::popcount(element.lanes);
        if (cell.w > 54)
            ui.text(cell.x + 4, baseline,
                    lanes == 1 ? fmt::format("L{}", std::countr_zero(element.lanes)) : fmt::format("x{}", lanes),
                    {.size = 12, .color = theme.dark ? color : theme.ink2});
        if (focus.lane >= 0 && (element.lanes >> focus.lane & 1) != 0) ui.outline(cell, 1);
    }

    static std::string tip_of(const Element& element) {
        const Place& place = element.place;
        std::string tip = fmt::format("{}[{}], {} 0x{:x}", place.name, element.index, place.shared ? "offset" : "address",
                                      place.address + element.index * element.size);
        if (element.before != nullptr) tip += fmt::format("\nbefore the launch {}", text_at(element.type, element.before));
        tip += fmt::format("\n{} {}", element.after ? "after the run" : "now", text_at(element.type, element.now));
        if (element.lanes == 0) return tip;
        tip += fmt::format("\n{} by lane", element.access->is_atomic  ? "updated"
                                           : element.access->is_store ? "written next"
                                                                      : "read next");
        for (uint32_t lane = 0; lane < 32; ++lane)
            if ((element.lanes >> lane & 1) != 0) tip += fmt::format(" {}", lane);
        return tip;
    }

    static std::string hex_text(const std::byte* bytes, size_t size) {
        std::string text;
        for (size_t i = size; i-- > 0;) text += fmt::format("{:02x}", static_cast<unsigned>(bytes[i]));
        return text;
    }
};

}  // namespace

std::unique_ptr<View> make_memory_view() {
    return std::make_unique<MemoryView>();
}

}  // namespace lockstep::gui
