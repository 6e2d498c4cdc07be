// D15, network and machine room: nodes, GPUs and switches with their links, drawn as wide as their bandwidth and coloured by
// how long an all-reduce keeps them busy; what every algorithm takes on this network; power, energy and cost of one
// exchange.
#include "core/comm/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/gui/views/cluster_controls.h"
#include "app/gui/views/cluster_data.h"
#include "app/gui/views/cluster_views.h"
#include "app/gui/views/collective_data.h"
#include "core/base/diagnostic.h"
#include "core/parallel/energy.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view network_title = "Network and machine room";
constexpr std::string_view network_hidden = "The network's use stays hidden until you lock an answer.";

struct Cable {  // both directions of a link between two nodes
    int a = 0, b = 0;
    double gigabytes = 0, busy = 0;  // GB/s one way; the busier direction's share of the exchange
    int64_t bytes = 0;
};

std::vector<Cable> cables_of(const comm::CollectiveRun& run) {
    std::vector<Cable> cables;
    std::map<std::pair<int, int>, size_t> known;
    for (size_t i = 0; i < run.network->links.size(); ++i) {
        const comm::NetworkLink& link = run.network->links[i];
        if (link.to < 0) continue;
        const auto key = std::minmax(link.from, link.to);
        const auto [at, fresh] = known.try_emplace(key, cables.size());
        if (fresh) cables.push_back({key.first, key.second, link.link.bytes_per_us / 1000, 0, 0});
        Cable& cable = cables[at->second];
        if (i < run.use.links.size()) {
            cable.bytes += run.use.links[i].bytes;
            if (run.total_us > 0) cable.busy = std::max(cable.busy, run.use.links[i].busy_us / run.total_us);
        }
    }
    return cables;
}

class NetworkView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& scene = snapshot->cluster;
        if (!scene) {
            const Rect body = ui.panel(area, {.title = network_title});
            return ui.say_nothing_yet(body, "No network has been built yet.", snapshot->busy);
        }
        const bool hidden = session.reveal_steps >= 0;
        const lessons::NetworkSetup& setup = scene->setup.network;
        const std::string right = fmt::format("{}, one all-reduce of {}", scene->network.title, bytes_si(setup.bytes)),
                          caption = hidden ? std::string(network_hidden) : caption_of(*scene);
        const Rect body =
            ui.panel(area, {.title = network_title, .right = right, .badge = Provenance::simulated, .caption = caption});
        ui.push_scope("network");
        controls(ui, session, body, false);
        const float used = controls(ui, session, body, true);
        Rect rest{body.x, body.y + used, body.w, body.h - used};
        if (hidden || !scene->network.refusal.empty()) {
            ui.paragraph({rest.x, rest.y + 8, rest.w, 80},
                         hidden ? std::string("Hidden until you lock an answer.") : scene->network.refusal,
                         {.size = 14, .color = hidden ? ui.theme->ink2 : ui.theme->wrong}, 22);
            return ui.pop_scope();
        }
        if (scene != seen_) {
            seen_ = scene;
            cables_ = cables_of(scene->network.run);
        }
        const std::string power = power_text(*scene);
        if (rest.h > 150) {
            ui.text(rest.x, rest.bottom() - 4, power, {.size = 13, .color = ui.theme->ink2, .width = rest.w});
            rest.h -= 22;
        }
        const bool table = rest.w > 430;
        const float side = table ? 168.0f : 0.0f;
        draw_machine(ui, focus, *scene, {rest.x, rest.y, rest.w - side - (table ? 14 : 0), rest.h});
        if (table) draw_times(ui, *scene, {rest.right() - side, rest.y, side, rest.h});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->cluster) return std::string(network_title) + ": nothing has been built yet.\n";
        const lessons::ClusterScene& scene = *snapshot->cluster;
        const lessons::NetworkSetup& setup = scene.setup.network;
        std::string text = fmt::format("{} (simulated): {}, {} ranks, {} between, {} inside nodes of {}\n", network_title,
                                       scene.network.title, setup.ranks, setup.link, setup.inner, setup.node_size);
        if (session.reveal_steps >= 0) return text + "  " + std::string(network_hidden) + "\n";
        if (!scene.network.refusal.empty()) return text + "  " + scene.network.refusal + "\n";
        const comm::CollectiveRun& run = scene.network.run;
        text += fmt::format("  {} all-reduce of {}: {}, bus bandwidth {:.3g} GB/s\n", setup.algorithm, bytes_si(setup.bytes),
                            time_si(run.total_us), run.bus_gigabytes_per_s);
        for (const auto& [name, us] : scene.network.others) text += fmt::format("  {}: {}\n", name, time_si(us));
        auto cables = cables_of(run);
        std::stable_sort(cables.begin(), cables.end(), [](const Cable& a, const Cable& b) { return a.busy > b.busy; });
        for (size_t i = 0; i < cables.size() && i < 8; ++i)
            text += fmt::format("  {} - {}: {:.3g} GB/s, busy {:.0f} %, {} in both directions\n",
                                run.network->nodes[static_cast<size_t>(cables[i].a)].name,
                                run.network->nodes[static_cast<size_t>(cables[i].b)].name, cables[i].gigabytes,
                                100 * cables[i].busy, bytes_si(static_cast<double>(cables[i].bytes)));
        return text + "  " + power_text(scene) + "\n  " + caption_of(scene) + "\n";
    }

  private:
    std::shared_ptr<const lessons::ClusterScene> seen_;
    std::vector<Cable> cables_;

    static std::string caption_of(const lessons::ClusterScene& scene) {
        const lessons::NetworkShown& shown = scene.network;
        if (!shown.refusal.empty()) return "This network cannot be built of these numbers.";
        const auto cables = cables_of(shown.run);
        const auto busiest =
            std::max_element(cables.begin(), cables.end(), [](const Cable& a, const Cable& b) { return a.busy < b.busy; });
        const auto best = std::min_element(shown.others.begin(), shown.others.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        std::string text = fmt::format("{} takes {}", scene.setup.network.algorithm, time_si(shown.run.total_us));
        if (busiest != cables.end())
            text += fmt::format("; busiest, {:.0f} % of it: {} to {}", 100 * busiest->busy,
                                shown.run.network->nodes[static_cast<size_t>(busiest->a)].name,
                                shown.run.network->nodes[static_cast<size_t>(busiest->b)].name);
        if (best != shown.others.end() && best->first != scene.setup.network.algorithm &&
            best->second < shown.run.total_us * 0.995)
            text += fmt::format(". {} would take {}", best->first, time_si(best->second));
        std::replace(text.begin(), text.end(), '_', ' ');
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
        return text + ".";
    }

    static std::string power_text(const lessons::ClusterScene& scene) {
        const auto gpu = model::gpu_named(scene.setup.memory.gpu);
        if (!gpu.ok() || scene.network.run.total_us <= 0) return {};
        try {
            const parallel::StepPower power =
                parallel::step_power(gpu.value(), scene.setup.network.ranks, scene.network.run.total_us, 0, {});
            const double wh = power.kwh * 1000;
            return fmt::format("derived: {} x {} draw {:.3g} kW while they exchange: {:.2g} Wh, {:.2g} cents at 0.10 a kWh",
                               scene.setup.network.ranks, gpu.value().title, power.megawatts * 1000, wh, power.cost * 100);
        } catch (const Failure& failure) {
            return failure.diagnostic.message;
        }
    }

    float controls(Ui& ui, Session& session, const Rect& body, bool draw) {
        lessons::ClusterSetup wanted = cluster_setup(session);
        lessons::NetworkSetup& setup = wanted.network;
        const lessons::NetworkSetup before = setup;
        ControlRow row(ui, body, draw);
        const auto turn = [&](std::string_view label, auto&& table, std::string& name, std::string shown,
                              std::string_view tip) {
            int at = 0, count = static_cast<int>(table.size());
            for (int i = 0; i < count; ++i)
                if (table[static_cast<size_t>(i)] == name) at = i;
            std::replace(shown.begin(), shown.end(), '_', ' ');
            at += row.number(label, shown, tip);
            name = table[static_cast<size_t>((at % count + count) % count)];
        };
        std::vector<std::string> topologies, links, algorithms;
        for (const comm::TopologyRow& one : comm::topologies()) topologies.emplace_back(one.name);
        for (const comm::LinkRow& one : comm::links()) links.emplace_back(one.name);
        for (const comm::CollectiveRow& one : comm::collectives())
            if (one.operation == "all_reduce") algorithms.emplace_back(one.algorithm);
        turn("network", topologies, setup.topology, setup.topology, "how ranks and switches are joined");
        setup.ranks += row.number("ranks", std::to_string(setup.ranks), "1 to 64");
        turn("link", links, setup.link, setup.link, "between nodes, or ranks");
        if (setup.topology == "two_level") {
            setup.node_size += row.number("a node", std::to_string(setup.node_size), "ranks of a node");
            turn("inside", links, setup.inner, setup.inner, "inside a node");
        }
        turn("by", algorithms, setup.algorithm, setup.algorithm, "the algorithm of the all-reduce");
        setup.bytes *= std::pow(2.0, row.number("size", bytes_si(setup.bytes), "of the buffer, by doubling"));
        if (draw && !(setup == before)) ask_cluster(session, wanted);
        return row.height() + 2;
    }

    // Where every node stands: ranks below, switches above, by how far they are from a rank. Rings and tori round.
    static std::vector<Point> places_of(const comm::Network& network, const std::vector<Cable>& cables, const Rect& area) {
        const size_t count = network.nodes.size();
        std::vector<Point> places(count);
        const int ranks = network.ranks();
        const bool switches = static_cast<size_t>(ranks) < count;
        if (!switches) {
            if (network.topology == "torus2d" || network.topology == "torus3d") {
                const int columns = std::max(1, network.extent[0]), rows = std::max(1, (ranks + columns - 1) / columns);
                for (int i = 0; i < ranks; ++i)
                    places[static_cast<size_t>(i)] = {
                        area.x + area.w * (static_cast<float>(i % columns) + 0.5f) / static_cast<float>(columns),
                        area.y + area.h * (static_cast<float>(i / columns) + 0.5f) / static_cast<float>(rows)};
                return places;
            }
            for (int i = 0; i < ranks; ++i) {
                const double angle = -1.5707963 + 6.2831853 * i / std::max(1, ranks);
                places[static_cast<size_t>(i)] = {
                    area.x + area.w / 2 + area.w * 0.44f * static_cast<float>(std::cos(angle)),
                    area.y + area.h / 2 + area.h * 0.42f * static_cast<float>(std::sin(angle))};
            }
            return places;
        }
        std::vector<int> level(count, -1);
        for (int i = 0; i < ranks; ++i) level[static_cast<size_t>(i)] = 0;
        int top = 0;
        for (bool again = true; again;) {
            again = false;
            for (const Cable& cable : cables)
                for (const auto& [from, to] : {std::pair{cable.a, cable.b}, {cable.b, cable.a}})
                    if (level[static_cast<size_t>(from)] == top && level[static_cast<size_t>(to)] < 0)
                        level[static_cast<size_t>(to)] = top + 1, again = true;
            if (again) ++top;
        }
        std::vector<int> wide(static_cast<size_t>(top) + 1, 0), at(static_cast<size_t>(top) + 1, 0);
        for (const int one : level) ++wide[static_cast<size_t>(std::max(0, one))];
        for (size_t i = 0; i < count; ++i) {
            const auto l = static_cast<size_t>(std::max(0, level[i]));
            places[i] = {area.x + area.w * (static_cast<float>(at[l]++) + 0.5f) / static_cast<float>(wide[l]),
                         area.bottom() - 12 - (area.h - 26) * static_cast<float>(l) / static_cast<float>(std::max(1, top))};
        }
        return places;
    }

    void draw_machine(Ui& ui, Focus& focus, const lessons::ClusterScene& scene, const Rect& whole) const {
        const Theme& theme = *ui.theme;
        const comm::Network& network = *scene.network.run.network;
        float legend = whole.x;
        legend = ui.text(legend, whole.y + 12, "wide: bandwidth; busy:", {.size = 12, .color = theme.ink2}) + 8;
        if (legend + 110 < whole.right()) {
            for (int i = 0; i < 5; ++i)
                ui.rect({legend + 14 * static_cast<float>(i), whole.y + 2, 14, 11},
                        sequential(0.15f + 0.2f * static_cast<float>(i), theme));
            ui.text(legend + 76, whole.y + 12, "0-100 %", {.size = 12, .color = theme.ink2});
        }
        const Rect area{whole.x, whole.y + 22, whole.w, whole.h - 22};
        if (area.h < 50) return;
        const auto places = places_of(network, cables_, area);
        double widest = 1e-9;
        for (const Cable& cable : cables_) widest = std::max(widest, cable.gigabytes);
        const size_t drawn = std::min<size_t>(cables_.size(), 600);
        for (size_t i = 0; i < drawn; ++i) {
            const Cable& cable = cables_[i];
            const Point a = places[static_cast<size_t>(cable.a)], b = places[static_cast<size_t>(cable.b)];
            const float width = 1 + 5 * static_cast<float>(std::sqrt(cable.gigabytes / widest));
            const Color color = sequential(0.15f + 0.8f * static_cast<float>(cable.busy), theme);
            const Point ends[] = {a, b};
            ui.polyline(ends, cable.bytes > 0 ? color : theme.grid, cable.bytes > 0 ? width : 1.0f);
        }
        const int ranks = network.ranks();
        const float half = std::clamp(area.w / static_cast<float>(std::max(1, ranks)) / 2 - 1.5f, 2.0f, 16.0f);
        for (size_t i = 0; i < network.nodes.size() && i < 400; ++i) {
            const bool rank = !network.nodes[i].is_switch;
            const float w = rank ? half : std::clamp(half * 1.6f, 10.0f, 30.0f), h = rank ? std::min(half, 10.0f) : 9.0f;
            const Rect box{places[i].x - w, places[i].y - h, 2 * w, 2 * h};
            const bool picked = rank && focus.rank == static_cast<int32_t>(i);
            ui.rect(box, rank ? theme.selected : theme.panel2, rank ? 0.0f : 4.0f);
            ui.frame(box, picked ? theme.ink : rank ? theme.accent : theme.ink3, picked ? 2.0f : 1.0f, rank ? 0.0f : 4.0f);
            const std::string name = rank ? std::to_string(i) : network.nodes[i].name;
            if (ui.text_width(name, {.size = 12}) + 4 <= box.w && box.h >= 14)
                ui.text(places[i].x, places[i].y + 4.5f, name, {.size = 12, .align = Align::center});
            if (ui.hovered(box)) {
                std::string tip = network.nodes[i].name;
                for (const Cable& cable : cables_)
                    if ((cable.a == static_cast<int>(i) || cable.b == static_cast<int>(i)) &&
                        std::count(tip.begin(), tip.end(), '\n') < 6)
                        tip += fmt::format(
                            "\nto {}: {:.3g} GB/s, busy {:.0f} %, {}",
                            network.nodes[static_cast<size_t>(cable.a == static_cast<int>(i) ? cable.b : cable.a)].name,
                            cable.gigabytes, 100 * cable.busy, bytes_si(static_cast<double>(cable.bytes)));
                ui.tooltip(tip);
            }
            if (rank && ui.clicked(box)) focus.rank = static_cast<int32_t>(i);
        }
    }

    static void draw_times(Ui& ui, const lessons::ClusterScene& scene, const Rect& area) {
        const Theme& theme = *ui.theme;
        ui.text(area.x, area.y + 12, "what each algorithm takes", {.size = 12, .color = theme.ink2});
        double most = 1e-9;
        for (const auto& [name, us] : scene.network.others) most = std::max(most, us);
        float y = area.y + 22;
        for (const auto& [name, us] : scene.network.others) {
            if (y + 32 > area.bottom()) return;
            const bool on = name == scene.setup.network.algorithm;
            std::string words = name;
            std::replace(words.begin(), words.end(), '_', ' ');
            ui.text(area.x, y + 13, words,
                    {.size = 13, .color = on ? theme.ink : theme.ink2, .weight = on ? 600 : 400, .width = area.w - 64});
            ui.text(area.right(), y + 13, time_si(us), {.size = 13, .align = Align::right, .weight = on ? 600 : 400});
            ui.rect({area.x, y + 18, area.w, 6}, theme.panel2);
            ui.rect({area.x, y + 18, area.w * static_cast<float>(us / most), 6}, on ? theme.accent : theme.ink3);
            y += 32;
        }
    }
};

}  // namespace

std::unique_ptr<View> make_network_view() {
    return std::make_unique<NetworkView>();
}

}  // namespace lockstep::gui
