#include "app/cli/kernel/area_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "core/base/nearest.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;
using model::PartGroup;
constexpr PartGroup groups[] = {PartGroup::sms, PartGroup::l2, PartGroup::memory, PartGroup::rest};

std::string joules_text(double joules) {
    return joules >= 1      ? fmt::format("{:.3g} J", joules)
           : joules >= 1e-3 ? fmt::format("{:.3g} mJ", 1e3 * joules)
                            : fmt::format("{:.3g} µJ", 1e6 * joules);
}

double error_of(const model::RealDie& die) {
    return model::area_of(die.gpu).mm2 / die.mm2 - 1;
}

}  // namespace

const model::Process* process_asked(const std::string& name) {
    if (name.empty()) return nullptr;
    if (const model::Process* const found = model::process_named(name)) return found;
    std::vector<std::string> known;
    for (const model::Process& row : model::processes()) known.emplace_back(row.name);
    throw Failure(fmt::format("unknown process '{}'{}", name, did_you_mean(name, known)));
}

std::string price_text(const model::AreaEstimate& area) {
    std::string text =
        fmt::format("\nMoney, without design, board and margin (estimates; a part of the die by its area):\n");
    text += fmt::format("  {:<34} {:>9} {:>18}  source\n", "", "USD", "from, to");
    for (const model::PricePart& row : area.prices)
        text += fmt::format("  {:<34} {:>9.2f} {:>9.2f} {:>8.2f}  {}\n", row.part, row.usd, row.low, row.high, row.source);
    text += "Beside what others have estimated and published:\n";
    for (const model::RealPrice& row : model::real_prices())
        text += fmt::format("  {:<34} {:>9.0f} {:>10.0f} {:>+6.0f} %  {}\n", row.what, row.estimate, row.usd,
                            100 * (row.estimate / row.usd - 1), row.source);
    return text;
}

std::string area_text(const model::GpuSpec& gpu, const model::AreaEstimate& area) {
    std::string text = fmt::format("{} in {} (estimate): {:.0f} mm2, {:.0f} to {:.0f}; {:.0f} W with all of it busy\n",
                                   gpu.title, area.process->name, area.mm2, area.low, area.high, area.watts);
    text += fmt::format("  {:.0f} USD in all, {:.0f} to {:.0f} (estimate)\n\n", area.usd, area.usd_low, area.usd_high);
    text += fmt::format("  {:<34} {:>9} {:<14} {:>8} {:>16} {:>7} {:>7}  source\n", "part", "count", "", "mm2", "from, to",
                        "W", "USD");
    for (const PartGroup group : groups) {
        text += fmt::format("{:<59} {:>9.2f} {:>16} {:>7.1f} {:>7.2f}\n", model::title_of(group), area.of(group), "",
                            area.watts_of(group), area.usd_of(group));
        for (const model::PartArea& row : area.rows)
            if (row.group == group)
                text += fmt::format("  {:<34} {:>9.6g} {:<14} {:>7.2f} {:>7.2f} {:>8.2f} {:>7.1f} {:>7.2f}  {}\n", row.part,
                                    row.count, row.unit, row.mm2, row.low, row.high, row.watts, row.usd, row.source);
    }
    text += price_text(area);
    text += "\nThe same table for dies whose size is published (with all SMs that they have; boards leave some out):\n";
    text += fmt::format("  {:<7} {:<12} {:>9} {:>10} {:>7}   {:>8} {:>9}\n", "die", "board", "estimate", "published",
                        "error", "all busy", "limit, W");
    for (const model::RealDie& die : model::real_dies()) {
        text += fmt::format("  {:<7} {:<12} {:>9.0f} {:>10.0f} {:>+6.1f} %", die.name, die.board,
                            model::area_of(die.gpu).mm2, die.mm2, 100 * error_of(die));
        if (die.board_watts > 0)
            text += fmt::format("   {:>8.0f} {:>9.0f}", model::area_of(model::gpu_named(die.board_gpu).value()).watts,
                                die.board_watts);
        text += "\n";
    }
    text += fmt::format("The table was brought near these dies; one that is left out of that is up to {:.0f} % off.\n",
                        100 * model::area_spread);
    return text;
}

Json price_json(const model::AreaEstimate& area) {
    Json rows = Json::array();
    for (const model::PricePart& row : area.prices)
        rows.push_back(
            {{"part", row.part}, {"usd", row.usd}, {"usd_low", row.low}, {"usd_high", row.high}, {"source", row.source}});
    return rows;
}

Json area_json(const model::GpuSpec& gpu, const model::AreaEstimate& area) {
    Json json = {{"gpu", gpu.name},
                 {"title", gpu.title},
                 {"estimate", true},
                 {"process", area.process->name},
                 {"mm2", area.mm2},
                 {"mm2_low", area.low},
                 {"mm2_high", area.high},
                 {"watts", area.watts},
                 {"usd", area.usd},
                 {"usd_low", area.usd_low},
                 {"usd_high", area.usd_high},
                 {"die_usd", area.die_usd},
                 {"memory_usd", area.memory_usd},
                 {"prices", price_json(area)}};
    for (const PartGroup group : groups)
        json["groups"][std::string(model::name_of(group))] = {{"mm2", area.of(group)}, {"watts", area.watts_of(group)}};
    json["parts"] = Json::array();
    for (const model::PartArea& row : area.rows)
        json["parts"].push_back({{"part", row.part},
                                 {"group", model::name_of(row.group)},
                                 {"field", row.field},
                                 {"count", row.count},
                                 {"unit", row.unit},
                                 {"mm2", row.mm2},
                                 {"mm2_low", row.low},
                                 {"mm2_high", row.high},
                                 {"watts", row.watts},
                                 {"usd", row.usd},
                                 {"source", row.source}});
    json["real_prices"] = Json::array();
    for (const model::RealPrice& row : model::real_prices())
        json["real_prices"].push_back({{"what", row.what},
                                       {"usd", row.estimate},
                                       {"published_usd", row.usd},
                                       {"error", row.estimate / row.usd - 1},
                                       {"source", row.source}});
    json["real_dies"] = Json::array();
    for (const model::RealDie& die : model::real_dies())
        json["real_dies"].push_back({{"die", die.name},
                                     {"board", die.board},
                                     {"mm2", model::area_of(die.gpu).mm2},
                                     {"published_mm2", die.mm2},
                                     {"error", error_of(die)},
                                     {"source", die.source}});
    return json;
}

std::string energy_text(const model::LaunchEnergy& energy) {
    std::string text = fmt::format("  energy (estimate, {}): {}, {:.3g} W on average\n", energy.process->name,
                                   joules_text(energy.joules), energy.watts);
    for (const model::EnergyRow& row : energy.rows)
        if (row.count > 0)
            text += fmt::format("    {:<22} {:>10} {:>5.1f} %  {:>14.6g} {:<9} {:>9.4g} pJ  {}\n", row.name,
                                joules_text(row.joules), 100 * row.joules / energy.joules, row.count, row.unit, row.pj,
                                row.source);
    return text;
}

Json energy_json(const model::LaunchEnergy& energy) {
    Json json = {{"estimate", true},
                 {"process", energy.process->name},
                 {"joules", json_number(energy.joules)},
                 {"watts", json_number(energy.watts)},
                 {"rows", Json::array()}};
    for (const model::EnergyRow& row : energy.rows)
        json["rows"].push_back({{"name", row.name},
                                {"count", row.count},
                                {"unit", row.unit},
                                {"pj", row.pj},
                                {"joules", json_number(row.joules)},
                                {"source", row.source}});
    return json;
}

}  // namespace lockstep::cli
