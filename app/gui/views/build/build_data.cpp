#include "app/gui/views/build/build_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "core/model/gpus/gpu_fields.h"

namespace lockstep::gui {
namespace {

using model::PartGroup;

struct KitField {
    std::string_view field, label;
    PartGroup group;
    std::string_view unit;  // behind the value
    double of_unit = 1;     // so many of the field's own are one
    bool aside = false;     // a row of its own only where a puzzle leaves it free
};
constexpr KitField kit_fields[] = {{"sms", "SMs", PartGroup::sms, ""},
                                   {"sub_cores", "sub-cores an SM", PartGroup::sms, ""},
                                   {"fp32_lanes", "FP32 lanes a sub-core", PartGroup::sms, ""},
                                   {"fp64_lanes", "FP64 lanes a sub-core", PartGroup::sms, ""},
                                   {"tensor_fmas", "tensor products a sub-core", PartGroup::sms, ""},
                                   {"warps_per_sm", "resident warps an SM", PartGroup::sms, ""},
                                   {"blocks_per_sm", "block places an SM", PartGroup::sms, ""},
                                   {"registers_per_sm", "registers an SM", PartGroup::sms, " KiB", 256},
                                   {"l1_bytes", "L1 and shared, an SM", PartGroup::sms, " KiB", 1024},
                                   {"int_lanes", "integer lanes a sub-core", PartGroup::sms, "", 1, true},
                                   {"sfu_lanes", "special lanes a sub-core", PartGroup::sms, "", 1, true},
                                   {"lsu_lanes", "load/store lanes a sub-core", PartGroup::sms, "", 1, true},
                                   {"l1_bytes_per_cycle", "L1's pipe, an SM", PartGroup::sms, " B/cycle", 1, true},
                                   {"l1_mshrs", "misses under way, an SM", PartGroup::sms, "", 1, true},
                                   {"sm_read_bytes_per_cycle", "an SM's port", PartGroup::sms, " B/cycle", 1, true},
                                   {"texture_lanes", "texture units an SM", PartGroup::sms, "", 1, true},
                                   {"boost_mhz", "clock", PartGroup::sms, " MHz"},
                                   {"l2_bytes", "L2", PartGroup::l2, " MiB", 1048576},
                                   {"l2_slices", "L2 slices", PartGroup::l2, "", 1, true},
                                   {"l2_latency", "what if: L2 latency", PartGroup::l2, " cycles"},
                                   {"dram_channels", "memory channels", PartGroup::memory, ""},
                                   {"dram_latency", "what if: DRAM latency", PartGroup::memory, " cycles"}};

const KitField* kit_field(std::string_view name) {
    const model::GpuField* const field = model::field_named(name).first;
    const std::string_view wanted = field != nullptr ? field->name : name;
    for (const KitField& row : kit_fields)
        if (row.field == wanted) return &row;
    return nullptr;
}

// Tensor products follow from a published peak: 127.7 of them are 128.
double shown_value(const KitField& row, double own) {
    const double value = own / row.of_unit;
    return row.field == "tensor_fmas" && std::fabs(value - std::round(value)) <= 0.005 * value ? std::round(value) : value;
}

std::string value_text(const KitField& row, double own) {
    return fmt::format("{:.4g}{}", shown_value(row, own), row.unit);
}

// In the unit that the table of GPUs has.
double own_value(std::string_view field, double value) {
    const double unit = model::field_named(field).second;
    return unit > 0 ? value * unit : value;
}

}  // namespace

model::AreaEstimate with_watts_of(model::AreaEstimate estimate, const BuiltDesign& design) {
    estimate.watts = 0;
    for (model::PartArea& part : estimate.rows) {
        part.watts = 0;
        for (size_t i = 0; i < design.part_watts.size(); ++i)
            if (design.area.rows[i].part == part.part) part.watts += design.part_watts[i];
        estimate.watts += part.watts;
    }
    return estimate;
}

std::vector<KitGroup> kit_of(const BuildTask& task, const model::GpuSpec& gpu, const model::AreaEstimate& area) {
    std::vector<KitGroup> groups;
    for (const PartGroup group : {PartGroup::sms, PartGroup::l2, PartGroup::memory, PartGroup::rest}) {
        KitGroup kit{group, area.of(group), area.watts_of(group), {}};
        KitRow others{"", group == PartGroup::l2 ? "its slices" : "ports, pipes, other lanes", "", 0, 0, nullptr};
        for (const KitField& field : kit_fields) {
            if (field.group != group || (field.aside && task.free_named(field.field) == nullptr)) continue;
            const double value = figure_of(gpu, field.field);
            KitRow row{field.field, std::string(field.label), value_text(field, value), 0, 0, task.free_named(field.field)};
            for (const model::PartArea& part : area.rows)
                if (part.group == group && part.field == field.field) row.mm2 += part.mm2, row.watts += part.watts;
            if (row.free != nullptr || row.mm2 > 0) kit.rows.push_back(std::move(row));
        }
        for (const model::PartArea& part : area.rows) {
            const KitField* const own = kit_field(part.field);
            if (part.group != group || (own != nullptr && (!own->aside || task.free_named(own->field) != nullptr))) continue;
            if (group == PartGroup::rest && part.mm2 > 0)
                kit.rows.push_back({part.field, std::string(part.part), "", part.mm2, part.watts, nullptr});
            else
                others.mm2 += part.mm2, others.watts += part.watts, others.of.push_back(part.field);
        }
        if (others.mm2 > 0) kit.rows.push_back(std::move(others));
        groups.push_back(std::move(kit));
    }
    return groups;
}

bool is_limit(const KitRow& row, const BuiltDesign* shown) {
    if (shown == nullptr || !shown->ran() || shown->limits.empty()) return false;
    return row.field == shown->limits || std::ranges::find(row.of, shown->limits) != row.of.end();
}

GroupCode code_of(PartGroup group) {
    switch (group) {
        case PartGroup::sms:
            return {data::green, Hatch::solid, 'S'};
        case PartGroup::l2:
            return {data::sky, Hatch::horizontal, 'L'};
        case PartGroup::memory:
            return {data::blue, Hatch::solid, 'M'};
        default:
            return {data::grey, Hatch::diagonal, 'R'};
    }
}

void group_box(Ui& ui, const Rect& box, PartGroup group) {
    const GroupCode code = code_of(group);
    for (float x = box.x; x < box.right(); x += 440)
        ui.hatch({x, box.y, std::min(440.0f, box.right() - x), box.h}, code.color, code.hatch);
    if (box.w < 16 || box.h < 14) return;
    const Rect ground{box.x + box.w / 2 - 7, box.y + box.h / 2 - 7, 14, 14};
    if (code.hatch != Hatch::solid) ui.rect(ground, code.color);
    ui.text(box.x + box.w / 2, box.y + box.h / 2 + 4.5f, std::string_view(&code.letter, 1),
            {.size = 12, .color = text_on(code.color), .align = Align::center, .weight = 700});
}

const BuiltDesign* shown_design(const Session& session, const Snapshot& snapshot) {
    if (!snapshot.build || snapshot.build->task != session.build.task()) return nullptr;
    return snapshot.build->numbered(session.build.number());
}

const BuiltDesign* earlier_design(const Session& session, const Snapshot& snapshot) {
    if (!snapshot.build || snapshot.build->task != session.build.task()) return nullptr;
    const BuildDesk& desk = session.build;
    const BuiltDesign* found = nullptr;
    for (const auto& design : snapshot.build->designs) {
        if (!design->ran() || design->sampled > 0 || design->number == desk.number()) continue;  // what has run whole
        const bool takes = desk.against == BuildDesk::Against::before ? design->number < desk.number()
                           : desk.against == BuildDesk::Against::first
                               ? found == nullptr
                               : design->within(*desk.task()) && (!found || design->time_us < found->time_us);
        if (takes) found = design.get();
    }
    return found;
}

std::string label_of(std::string_view field) {
    const KitField* const row = kit_field(field);
    return row != nullptr ? std::string(row->label) : std::string(field);
}

std::pair<std::string, std::string_view> value_of_row(const model::GpuSpec& gpu, std::string_view field) {
    const KitField* const row = kit_field(field);
    if (row == nullptr) return {fmt::format("{:.4g}", figure_of(gpu, field)), ""};
    return {fmt::format("{:.4g}", shown_value(*row, figure_of(gpu, row->field))), row->unit};
}

const BuiltDesign* proposed_design(const Session& session, const Snapshot& snapshot) {
    if (!snapshot.build || snapshot.build->task != session.build.task() || !snapshot.build->next) return nullptr;
    return snapshot.build->next_of == session.build.number() ? snapshot.build->next.get() : nullptr;
}

bool tells_values(const BuildDesk& desk) {
    return desk.shows_values || !desk.task() || !desk.task()->puzzle;
}

std::vector<GroupShare> shares_of_groups(const std::vector<KitGroup>& groups, bool watts, double total, double most) {
    double all = 0, sum = 0;
    for (const KitGroup& group : groups) all += watts ? group.watts : group.mm2;
    std::vector<GroupShare> shares;
    for (const KitGroup& group : groups) {
        const double part = all > 0 ? (watts ? group.watts : group.mm2) * total / all : 0;
        shares.push_back({group.group, sum / most, (sum + part) / most});
        sum += part;
    }
    return shares;
}

std::string change_words(const BuildTask& task, const lessons::Figures& from, const lessons::Figures& to, bool values) {
    const auto value_in = [&](const lessons::Figures& figures, const std::string& field) {
        for (const auto& [name, value] : figures)
            if (name == field) return own_value(field, value);
        return own_value(field, figure_of(task.base, field));
    };
    std::string words;
    for (const lessons::Puzzle::Free& free : task.free) {
        const double before = value_in(from, free.field), after = value_in(to, free.field);
        const KitField* const row = kit_field(free.field);
        if (before == after || row == nullptr) continue;
        if (!words.empty()) words += ", ";
        words += values ? fmt::format("{} {:.4g} to {}", row->label, shown_value(*row, before), value_text(*row, after))
                        : fmt::format("{} {}", row->label, after > before ? "up" : "down");
    }
    return words.empty() ? "nothing is other" : words;
}

std::string limit_sentence(const BuiltDesign& design) {
    if (!design.ran()) return design.refused;
    if (design.part == "latency")
        return fmt::format(
            "No part is busier than {:.0f} %: its warps wait, and a run with room for more of them gains nothing.",
            100 * design.busy);
    if (design.part == "waiting" && design.limits.empty())
        return fmt::format(
            "No part is busier than {:.0f} %: its warps wait, and the launch has no more of them to wait beside.",
            100 * design.busy);
    if (design.part == "waiting" || design.part == "barriers")
        return fmt::format("No part is busier than {:.0f} %: its warps wait, and {} bounds how many wait beside each other.",
                           100 * design.busy, label_of(design.limits));
    return fmt::format("{} {} busy {:.0f} % of what there is: the other parts wait for {}.",
                       design.part.starts_with("the ")    ? "T" + std::string(design.part.substr(1))
                       : design.limits == "dram_channels" ? std::string("Memory")
                                                          : std::string(design.part),
                       design.part.ends_with("s") ? "are" : "is", 100 * design.busy,
                       design.part.ends_with("s") ? "them" : "it");
}

std::string limit_sentence(const BuildTask& task, const BuiltDesign& design) {
    std::string sentence = limit_sentence(design);
    // A warp has 32 lanes: 24 take it in two goes, as 16 do.
    if (design.ran() && design.limits == "fp32_lanes" && design.part == "the lanes") {
        const auto lanes = static_cast<int>(figure_of(design.gpu, "fp32_lanes"));
        const int cycles = lanes > 0 ? (32 + lanes - 1) / lanes : 1, fewest = (32 + cycles - 1) / cycles;
        if (fewest < lanes)
            sentence += fmt::format(" {} lanes take a warp's 32 in {}, as {} do.", lanes, counted(cycles, "cycle"), fewest);
    }
    if (!design.ran() || design.limits.empty() || task.free_named(design.limits) != nullptr) return sentence;
    if (design.part == "waiting" || design.part == "barriers") return sentence + " No handle here changes that.";
    return sentence + " No handle here widens it: ask it for less.";
}

Color medal_color(lessons::Medal medal, const Theme& theme) {
    switch (medal) {
        case lessons::Medal::bronze:
            return theme.dark ? rgb(0xC98A54) : rgb(0x8A5322);
        case lessons::Medal::silver:
            return theme.dark ? rgb(0xB9C1CC) : rgb(0x5B6470);
        case lessons::Medal::gold:
            return theme.dark ? rgb(0xE3C33F) : rgb(0x7A6200);
        default:
            return theme.quiet;
    }
}

}  // namespace lockstep::gui
