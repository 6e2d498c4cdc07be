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
    for (const scene::BoundArgument& one : snapshot.own.run->bound.arguments)
        if (one.role != scene::KernelArgument::Role::scalar && one.bytes > 0)
            places.push_back(
                {one.name, false, one.address, one.bytes, one.type, one.role == scene::KernelArgument::Role::out});
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
        if (follow_ && touched >= 0 && (seen_step_ != snapshot->kernel.lanes_step || seen_run_ != snapshot->own.run)) {
            chosen_ = places[static_cast<size_t>(touched)].name;
            scroll_to_access_ = true;
        }
        seen_step_ = snapshot->kernel.lanes_step;
        seen_run_ = snapshot->own.run;
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
        float x = body.x, y = body.y - 4;
        for (const Place& one : places) {
            if (x > body.x && x + ui.chip_width(one.name) > body.right()) x = body.x, y += 30;
            if (ui.chip(x, y, one.name, one.name == place.name)) chosen_ = one.name, ui.scroll_to("rows", 0);
        }
        static constexpr std::string_view types[] = {"as it is", "f32", "i32", "u8", "hex"};
        static constexpr std::string_view times[] = {"now", "after the run"};
        x += 12;
        if (x + ui.segmented_width(types) > body.right()) x = body.x, y += 30;
        type_ = ui.segmented(x, y, types, type_);
        const bool gone = place_gone(*snapshot, place);
        if (!place.shared) {  // shared memory is gone when its block has ended
            if (x + ui.segmented_width(times) > body.right()) x = body.x, y += 30;
            if (const int time = ui.segmented(x, y, times, after_ || gone ? 1 : 0); !gone) after_ = time == 1;
        }
        if (x + ui.chip_width("follow") > body.right()) x = body.x, y += 30;
        if (ui.chip(x, y, "follow", follow_)) follow_ = !follow_, scroll_to_access_ = true;
        bool jump = false;
        if (x + 96 > body.right()) x = body.x, y += 30;
        const bool wrong = !index_.empty() && !element_in(index_, place, size_of(type));
        text_field(ui, "index", {x, y, std::min(110.0f, body.right() - x), 26}, index_,
                   {.hint = "to index", .wrong = wrong, .submitted = &jump});
        x += std::min(110.0f, body.right() - x) + 14;
        if (wrong) {
            const std::string why = fmt::format("an index below {}{}", with_commas(elements_of(place, size_of(type))),
                                                place.shared ? "" : ", or an address");
            if (x + ui.text_width(why, {.size = 12}) <= body.right())
                x = ui.text(x, y + 18, why, {.size = 12, .color = ui.theme->wrong}) + 14;
        }
        const auto legend = [&](const char* text, Color color, bool filled) {
            const float width = ui.text_width(text, {.size = 12}) + 22;
            if (x + width > body.right()) return;
            const Rect mark{x, y + 7, 14, 12};
            if (filled)
                ui.rect(mark, ui.theme->selected);
            else
                ui.frame(mark, color, 2);
            ui.text(x + 19, y + 18, text, {.size = 12, .color = ui.theme->ink2});
            x += width + 10;
        };
        legend("read next", data::sky, false);
        legend("written next", data::orange, false);
        legend("changed", 0, true);
        y += 34;
        paint(ui, *snapshot, place, type, access, jump, !place.shared && (after_ || gone), focus,
              {body.x, y, body.w, body.bottom() - y});
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
    std::string chosen_, index_;
    int type_ = 0;
    bool after_ = false, follow_ = true, scroll_to_access_ = false;
    int64_t seen_step_ = -1;
    std::shared_ptr<const KernelResult> seen_run_;

    const Place& chosen(const std::vector<Place>& places) const {
        for (const Place& one : places)
            if (one.name == chosen_) return one;
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
        const bool beside = snapshot.kernel.history && snapshot.kernel.history->beside;
        const char* now = snapshot.kernel.lanes_timed ? "the memory at this cycle"
                          : beside                    ? "what this block sees when the others run beside it"
                                                      : "what this block sees when it runs alone";
        return fmt::format("Next, {} lane{} {}{} {}, {} B each. \"now\" is {}.", lanes, lanes == 1 ? "" : "s", verb,
                           lanes == 1 ? "s" : "", places[static_cast<size_t>(touched)].name, access->bytes, now);
    }

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
        const bool hex = type_ == 4;
        const float wanted = hex ? 78.0f : size == 1 ? 36.0f : size == 8 ? 92.0f : 68.0f, index_width = 74;
        size_t columns = 1;
        while (columns * 2 <= 32 && wanted * static_cast<float>(columns) * 2 <= r.w - index_width - 12) columns *= 2;
        const float pitch = (r.w - index_width - 12) / static_cast<float>(columns), row_height = 20;
        const size_t rows = (count + columns - 1) / columns;
        for (size_t c = 0; c < columns; ++c)
            ui.text(r.x + index_width + pitch * static_cast<float>(c + 1) - 6, r.y + 12, fmt::format("+{}", c),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        ui.text(r.x, r.y + 12, "index", {.size = 12, .color = theme.quiet});
        const Rect list{r.x, r.y + 18, r.w, r.h - 18};
        // Which lane touches which element.
        std::map<size_t, uint32_t> touched;
        size_t first_touched = SIZE_MAX;
        const bool here = access != nullptr && !after && place.shared == (access->space == ptx::Space::shared) &&
                          access->space != ptx::Space::local;
        for (uint32_t lane = 0; here && lane < 32; ++lane) {
            if ((access->lanes >> lane & 1) == 0) continue;
            const uint64_t at = access->addresses[lane];
            if (at < place.address || at >= place.address + place.bytes) continue;
            for (uint64_t b = 0; b < access->bytes; b += size) {
                const auto element = static_cast<size_t>((at + b - place.address) / size);
                touched[element] |= 1u << lane;
                first_touched = std::min(first_touched, element);
            }
        }
        if (const auto index = element_in(index_, place, size); jump && index) {
            ui.scroll_to("rows", std::max(0.0f, static_cast<float>(*index / columns) - 1) * row_height);
            ui.animate();
        }
        if (scroll_to_access_ && first_touched != SIZE_MAX) {
            ui.scroll_to("rows", std::max(0.0f, static_cast<float>(first_touched / columns) - 1) * row_height);
            scroll_to_access_ = false;
            ui.animate();
        }
        const float offset =
            std::floor(ui.scroll("rows", {list.x, list.y, list.w + 10, list.h}, static_cast<float>(rows) * row_height + 4) /
                       row_height) *
            row_height;
        ui.clip({list.x - 4, list.y, list.w + 8, list.h});
        const auto first = static_cast<size_t>(offset / row_height);
        for (size_t row = first; row < rows; ++row) {
            const float y = list.y + static_cast<float>(row - first) * row_height;
            if (y > list.bottom()) break;
            ui.text(r.x + index_width - 16, y + 14, std::to_string(row * columns),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
            for (size_t c = 0; c < columns && row * columns + c < count; ++c) {
                const size_t i = row * columns + c;
                const Rect cell{r.x + index_width + pitch * static_cast<float>(c), y + 1, pitch - 2, row_height - 2};
                const std::byte* at = bytes + i * size;
                const bool changed = before != nullptr && std::memcmp(at, before + i * size, size) != 0;
                const auto hit = touched.find(i);
                if (changed) ui.rect({cell.x, cell.y, cell.w, cell.h}, theme.selected);
                const bool unset = place.out && !changed && is_unset(type, at);
                const std::string text = hex ? hex_text(at, size) : unset ? "unset" : text_at(type, at);
                ui.text(cell.right() - 4, y + 14, text,
                        {.size = 12,
                         .color = changed || hit != touched.end() ? theme.ink
                                  : unset                         ? theme.quiet
                                                                  : theme.ink2,
                         .align = Align::right,
                         .weight = changed ? 700 : 400,
                         .mono = true,
                         .width = cell.w - 2});
                if (hit != touched.end()) {
                    const Color color = access->is_store || access->is_atomic ? data::orange : data::sky;
                    ui.frame(cell, color, 2);
                    const int lanes = std::popcount(hit->second);
                    if (cell.w > 54)
                        ui.text(cell.x + 4, y + 14,
                                lanes == 1 ? fmt::format("L{}", std::countr_zero(hit->second)) : fmt::format("x{}", lanes),
                                {.size = 12, .color = theme.dark ? color : theme.ink2});
                    if (focus.lane >= 0 && (hit->second >> focus.lane & 1) != 0) ui.outline(cell, 1);
                }
                if (ui.hovered(cell)) {
                    std::string tip = fmt::format("{}[{}], {} 0x{:x}", place.name, i, place.shared ? "offset" : "address",
                                                  place.address + i * size);
                    if (before != nullptr) tip += fmt::format("\nbefore the launch {}", text_at(type, before + i * size));
                    tip += fmt::format("\n{} {}", after ? "after the run" : "now", text_at(type, at));
                    if (hit != touched.end()) {
                        tip += fmt::format("\n{} by lane", access->is_atomic  ? "updated"
                                                           : access->is_store ? "written next"
                                                                              : "read next");
                        for (uint32_t lane = 0; lane < 32; ++lane)
                            if ((hit->second >> lane & 1) != 0) tip += fmt::format(" {}", lane);
                    }
                    ui.tooltip(tip);
                    if (ui.clicked(cell)) {
                        focus.address = static_cast<int64_t>(place.address + i * size);
                        if (hit != touched.end()) focus.lane = std::countr_zero(hit->second);
                    }
                }
            }
        }
        ui.unclip();
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
