#include "app/gui/views/memory/coalesce_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

namespace {

std::string several(uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", with_commas(static_cast<int64_t>(count)), what, count == 1 ? "" : "s");
}

}  // namespace

std::string efficiency_text(double share) {
    const double hundred = 100 * share;
    return hundred == std::round(hundred) ? fmt::format("{:.0f} %", hundred) : fmt::format("{:.1f} %", hundred);
}

std::string place_of(const CoalesceScene& scene, const Snapshot& snapshot) {
    if (!scene.history || !snapshot.kernel.run) return snapshot.kernel.label;
    return fmt::format("block {} · warp {}{}{}", with_commas(scene.history->block), scene.history->warp_in_block,
                       scene.name.empty() ? "" : " · ", scene.name);
}

std::string caption_of(const CoalesceScene& scene, const PinnedPattern& ghost) {
    if (scene.hidden) return "Its sectors stay hidden until you lock an answer.";
    if (!scene.nothing.empty()) return {};
    const RequestFacts& f = scene.facts;
    std::string what = "load touches";
    std::string subject = scene.name;
    if (!scene.sandbox) {
        const MemoryRow& row = scene.rows[static_cast<size_t>(scene.picked.row)];
        what = row.is_atomic ? "atomic touches" : row.is_store ? "store touches" : "load touches";
    }
    if (!subject.empty()) subject[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(subject[0])));
    std::string text = fmt::format("{}: one {} {} in {}: {} B move and {} B are used, so {} efficiency", subject, what,
                                   several(f.sectors, "sector"), several(f.lines.size(), "line"), with_commas(f.moved),
                                   f.used, efficiency_text(f.efficiency()));
    if (ghost.shown)
        text += fmt::format(" ({}: {}, {})", ghost.name, several(ghost.facts.sectors, "sector"),
                            efficiency_text(ghost.facts.efficiency()));
    return text + "." + (scene.sandbox || scene.stopped.empty() ? "" : " " + scene.stopped + ".");
}

std::string lane_text(const CoalesceScene& scene, int lane) {
    if (!(scene.pattern.lanes >> lane & 1)) return fmt::format("lane {} is off", lane);
    const uint64_t address = scene.pattern.address[static_cast<size_t>(lane)];
    uint32_t sector = 0;
    for (const TouchedLine& line : scene.facts.lines)
        for (uint32_t s = 0; s < 4; ++s)
            if ((line.sectors >> s & 1) && line.line * 4 + s < address / 32) ++sector;
    return fmt::format("lane {} asks for {} B at 0x{:X}: sector {}, word {}", lane, scene.pattern.bytes, address, sector,
                       address % 32 / 4);
}

std::string facts_text(const CoalesceScene& scene, const PinnedPattern& ghost, const Session& session,
                       const std::string& what) {
    std::string text = fmt::format("Coalescing ({}), {}\n", scene.sandbox ? "derived" : "simulated", what);
    if (!scene.nothing.empty()) text += "  " + scene.nothing + "\n";
    if (scene.nothing.empty() && !scene.hidden) {
        const RequestFacts& f = scene.facts;
        text += fmt::format("  {} in {}, {} B used, {} B moved, efficiency {}\n", several(f.sectors, "sector"),
                            several(f.lines.size(), "line"), f.used, f.moved, efficiency_text(f.efficiency()));
        uint32_t number = 0;
        for (size_t i = 0; i < std::min<size_t>(f.lines.size(), 8); ++i) {
            text += fmt::format("  line 0x{:X}:", f.lines[i].line * 128);
            for (uint32_t s = 0; s < 4; ++s)
                if (f.lines[i].sectors >> s & 1) text += fmt::format(" sector {} {} of 32 B,", number++, f.lines[i].used(s));
            text.back() = '\n';
        }
    }
    if (ghost.shown)
        text += fmt::format("  pinned: {}, {}, efficiency {}\n", ghost.name, several(ghost.facts.sectors, "sector"),
                            efficiency_text(ghost.facts.efficiency()));
    for (const MemoryRow& row : scene.rows) {
        const bool hidden = is_hidden(row, session, scene.history.get());
        text += fmt::format(
            "  line {} pc {} {}: {}\n", row.line, row.pc, row.text,
            hidden ? std::string("hidden until you lock an answer")
                   : fmt::format("{}, {:.4g} sector{} each, {} moved", several(row.requests, "request"), row.per_request(),
                                 row.per_request() == 1 ? "" : "s", bytes_text(static_cast<double>(row.units) * 32)));
    }
    return text + "  " + caption_of(scene, ghost) + "\n";
}

}  // namespace lockstep::gui
