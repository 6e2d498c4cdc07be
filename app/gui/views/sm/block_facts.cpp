#include "app/gui/views/sm/block_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.h"

namespace lockstep::gui {
WaveFacts wave_facts(int64_t blocks, int64_t sms, int64_t resident) {
    WaveFacts facts;
    facts.blocks = blocks;
    facts.at_once = sms * resident;
    if (blocks <= 0 || facts.at_once <= 0) return facts;
    facts.waves = (blocks + facts.at_once - 1) / facts.at_once;
    facts.exact = static_cast<double>(blocks) / static_cast<double>(facts.at_once);
    facts.last_share = static_cast<double>(blocks - facts.at_once * (facts.waves - 1)) / static_cast<double>(facts.at_once);
    facts.efficiency = static_cast<double>(blocks) / static_cast<double>(facts.waves * facts.at_once);
    return facts;
}

std::vector<BlockCounts> count_blocks(const KernelTrace& trace, const WaveFacts& facts, int64_t cycle) {
    std::vector<BlockCounts> waves(static_cast<size_t>(std::max<int64_t>(facts.waves, 0)));
    for (const BlockRun& block : trace.blocks) {
        const auto wave = static_cast<size_t>(block.block / std::max<int64_t>(facts.at_once, 1));
        if (wave >= waves.size()) continue;
        BlockCounts& counts = waves[wave];
        ++(block.end <= cycle ? counts.done : block.begin <= cycle ? counts.running : counts.to_come);
    }
    return waves;
}

std::string stop_text(const model::KernelRun& run) {
    if (!run.result.fault) return {};
    const simt::Fault& fault = *run.result.fault;
    return fmt::format("{} stopped here{}", fault.kind, fault.line > 0 ? fmt::format(", line {}", fault.line) : "");
}

std::string stop_sentence(const model::KernelRun& run) {
    if (!run.result.fault) return {};
    const simt::Fault& fault = *run.result.fault;
    std::string text = fmt::format("{} stopped the kernel{} at cycle {}", fault.kind,
                                   fault.line > 0 ? fmt::format(" in line {}", fault.line) : "",
                                   with_commas(std::max<int64_t>(0, run.result.trace.cycles - 1)));
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

int64_t most_at_once(const KernelTrace& trace) {
    std::vector<std::pair<uint64_t, int>> events;  // SM and cycle in one key; an end comes before a begin
    for (const BlockRun& block : trace.blocks) {
        if (block.end <= block.begin) continue;
        events.emplace_back(uint64_t{block.sm} << 48 | static_cast<uint64_t>(block.begin), 1);
        events.emplace_back(uint64_t{block.sm} << 48 | static_cast<uint64_t>(block.end), -1);
    }
    std::sort(events.begin(), events.end());
    int64_t now = 0, most = 0;
    for (const auto& [when, change] : events) most = std::max(most, now += change);
    return most;
}

std::vector<size_t> waves_shown(const std::vector<BlockCounts>& waves, size_t most) {
    std::vector<size_t> shown;
    const auto add = [&](size_t wave) {
        if (wave < waves.size() && shown.size() < most && std::find(shown.begin(), shown.end(), wave) == shown.end())
            shown.push_back(wave);
    };
    const auto running = std::find_if(waves.begin(), waves.end(), [](const BlockCounts& wave) { return wave.running > 0; });
    add(waves.size() - 1);
    add(0);
    if (running != waves.end()) {
        const auto at = static_cast<size_t>(running - waves.begin());
        add(at);
        add(at + 1);
        if (at > 0) add(at - 1);
    }
    for (size_t wave = 1; wave < waves.size() && shown.size() < most; ++wave) add(wave);
    std::sort(shown.begin(), shown.end());
    return shown;
}

std::vector<LimiterRow> limiter_rows(std::span<const model::OccupancyLimit> limits) {
    std::vector<LimiterRow> rows;
    for (const model::OccupancyLimit& limit : limits) {
        std::string each = fmt::format("{} of {}{} a block", with_commas(static_cast<int64_t>(limit.a_block)),
                                       with_commas(static_cast<int64_t>(limit.of)), limit.unit == "B" ? " B" : "");
        if (limit.name == "shared memory" && limit.a_block == 0) each = "none used";
        if (limit.name == "your limit") each = "chosen by hand";
        rows.push_back({std::string(limit.name), limit.blocks, std::move(each), limit.limiter});
    }
    for (const model::OccupancyLimit& limit : limits)
        for (LimiterRow& row : rows) row.limiter = row.limiter || (limit.limiter && row.blocks == limit.blocks);
    for (LimiterRow& row : rows) row.limiter = row.limiter && row.each != "none used";  // what is not used stops nothing
    return rows;
}

std::string limiter_names(std::span<const LimiterRow> rows) {
    std::vector<std::string_view> names;
    for (const LimiterRow& row : rows)
        if (row.limiter) names.push_back(row.name);
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    return text;
}

std::vector<LimiterRow> limiter_rows(const model::KernelRun& run) {
    const uint32_t registers = run.program ? ptx::registers_on(*run.program, run.gpu.compute.number) : 0;
    const uint64_t shared =
        run.program ? ptx::shared_bytes(*run.program, run.config.dynamic_shared) : run.config.dynamic_shared;
    return limiter_rows(model::occupancy_limits(run.gpu, static_cast<uint32_t>(run.config.block.count()), registers, shared,
                                                run.result.occupancy.by_choice));
}

void draw_limits(Ui& ui, const Rect& r, std::span<const LimiterRow> rows, int64_t resident) {
    const Theme& theme = *ui.theme;
    const Color used = sequential(0.65f, theme);
    float y = r.y + 14;
    for (const LimiterRow& row : rows) {
        ui.text(r.x, y, row.name,
                {.size = 13, .color = row.limiter ? theme.ink : theme.ink2, .weight = row.limiter ? 600 : 400});
        const float x = r.x + 108;
        const auto boxes = std::min<int64_t>(row.blocks, 32);
        const float pitch = std::min(8.0f, (r.w - 108 - 76) / 32);
        for (int64_t i = 0; i < boxes; ++i) {
            const Rect box{x + pitch * static_cast<float>(i), y - 10, pitch - 1, 11};
            if (i < resident)
                ui.rect(box, used);
            else
                ui.frame(box, theme.ink3);
        }
        const std::string count = counted(row.blocks, "block");
        const float right =
            ui.text(r.right(), y, count,
                    {.size = 12, .color = row.limiter ? theme.ink : theme.quiet, .align = Align::right, .mono = true});
        const float after = x + pitch * static_cast<float>(boxes) + 10;
        if (row.limiter) ui.frame({x - 3, y - 13, pitch * static_cast<float>(boxes) + 5, 17}, theme.ink, 1.5f);
        const TextStyle style{.size = row.limiter ? 13.0f : 12.0f,
                              .color = row.limiter ? theme.ink : theme.quiet,
                              .weight = row.limiter ? 600 : 400,
                              .width = right - after - 10};
        const std::string lead = row.limiter ? "limiter: " : "", each = row.each.substr(0, row.each.find(" a block"));
        std::string words = lead + row.each;  // in a narrow panel: fewer words, but no number cut
        for (const std::string& shorter : {lead + each, each, std::string(row.limiter ? "limiter" : "")})
            if (ui.text_width(words, {.size = style.size, .weight = style.weight}) > style.width) words = shorter;
        if (after + 60 < right) ui.text(after, y, words, style);
        y += 16;
    }
}

}  // namespace lockstep::gui
