// D15, network and machine room: nodes, GPUs and switches with their links, drawn as wide as their bandwidth and coloured by
// how long they are busy: by one all-reduce, with what every algorithm would take; or, of a training run, by all messages of
// its step, with those under way at the step's clock, the bytes by what they were for, and the links by time. Power, energy
// and cost of either. Dragging on the links' time moves the clock; a click picks a rank.
#include "core/comm/network/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/collective/collective_data.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/parallel/plan/energy.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view network_title = "Network and machine room";
constexpr std::string_view network_hidden = "The network's use stays hidden until you lock an answer.";

struct Cable {  // both directions of a link between two nodes
    int a = 0, b = 0;
    double gigabytes = 0, busy = 0;  // GB/s one way; the busier direction's share of the exchange
    int64_t bytes = 0;
};

struct Machine {  // whose links are shown, and what used them in how long
    const comm::Network* network = nullptr;
    const comm::NetworkUse* use = nullptr;
    double total_us = 0;
};

Machine machine_of(const scene::ClusterScene& scene) {
    if (trained(scene) && scene.training->traffic.network)
        return {scene.training->traffic.network.get(), &scene.training->traffic.use,
                scene.training->end_us - scene.training->begin_us};
    return {scene.network.run.network.get(), &scene.network.run.use, scene.network.run.total_us};
}

std::vector<Cable> cables_of(const Machine& machine) {
    std::vector<Cable> cables;
    std::map<std::pair<int, int>, size_t> known;
    if (machine.network == nullptr) return cables;
    for (size_t i = 0; i < machine.network->links.size(); ++i) {
        const comm::NetworkLink& link = machine.network->links[i];
        if (link.to < 0) continue;
        const auto key = std::minmax(link.from, link.to);
        const auto [at, fresh] = known.try_emplace(key, cables.size());
        if (fresh) cables.push_back({key.first, key.second, link.link.bytes_per_us / 1000, 0, 0});
        Cable& cable = cables[at->second];
        if (i < machine.use->links.size()) {
            cable.bytes += machine.use->links[i].bytes;
            if (machine.total_us > 0) cable.busy = std::max(cable.busy, machine.use->links[i].busy_us / machine.total_us);
        }
    }
    return cables;
}

std::string cable_name(const comm::Network& network, const Cable& cable) {
    return network.nodes[static_cast<size_t>(cable.a)].name + " - " + network.nodes[static_cast<size_t>(cable.b)].name;
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
        const bool hidden = session.learn.reveal_steps >= 0;
        const scene::NetworkSetup& setup = scene->setup.network;
        const bool ran = trained(*scene);
        const std::string right = ran ? fmt::format("{}, all messages of the training step", scene->training->traffic.title)
                                      : fmt::format("{}, one all-reduce of {}", scene->network.title, bytes_si(setup.bytes)),
                          caption = hidden ? std::string(network_hidden) : caption_of(*scene, tells_others(session));
        const Rect body = ui.panel(area, {.title = network_title,
                                          .right = right,
                                          .badge = ran ? Provenance::times_derived : Provenance::simulated,
                                          .caption = caption});
        ui.push_scope("network");
        float used = 0;
        if (!has_room_to_itself(session, body.h)) {
            controls(ui, session, ran, body, false);
            used = controls(ui, session, ran, body, true);
        }
        Rect rest{body.x, body.y + used, body.w, body.h - used};
        if (scene != seen_) {
            seen_ = scene;
            cables_ = cables_of(machine_of(*scene));
        }
        if (const std::string says = hidden ? std::string() : headline_of(*scene); !says.empty() && rest.h > 210) {
            const bool fits = ui.text_width(says, {.size = 20, .weight = 700}) <= rest.w;
            ui.text(rest.x, rest.y + 18, says, {.size = fits ? 20.0f : 16.0f, .weight = 700, .width = rest.w});
            rest = {rest.x, rest.y + 30, rest.w, rest.h - 30};
        }
        if (hidden)
            draw_hidden_place(ui, rest);
        else if (!ran && !scene->network.refusal.empty())
            ui.paragraph({rest.x, rest.y + 8, rest.w, 80}, scene->network.refusal, {.size = 14, .color = ui.theme->wrong},
                         22);
        else
            draw_body(ui, session, focus, *scene, rest);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->cluster) return std::string(network_title) + ": nothing has been built yet.\n";
        const scene::ClusterScene& scene = *snapshot->cluster;
        const scene::NetworkSetup& setup = scene.setup.network;
        std::string text = fmt::format("{} (simulated): {}, {} ranks, {} between, {} inside nodes of {}\n", network_title,
                                       scene.network.title, setup.ranks, setup.link, setup.inner, setup.node_size);
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(network_hidden) + "\n";
        if (trained(scene)) return describe_step(session, focus, scene);
        if (!scene.network.refusal.empty()) return text + "  " + scene.network.refusal + "\n";
        const comm::CollectiveRun& run = scene.network.run;
        text += fmt::format("  {} all-reduce of {}: {}, bus bandwidth {:.3g} GB/s\n", setup.algorithm, bytes_si(setup.bytes),
                            time_text(run.total_us), run.bus_gigabytes_per_s);
        for (const auto& [name, us] : scene.network.others)
            if (tells_others(session)) text += fmt::format("  {}: {}\n", name, time_text(us));
        text += busiest_cables(machine_of(scene));
        return text + "  " + power_text(scene) + "\n  " + caption_of(scene, tells_others(session)) + "\n";
    }

  private:
    std::shared_ptr<const scene::ClusterScene> seen_;
    std::vector<Cable> cables_;

    static std::string busiest_cables(const Machine& machine) {
        std::string text;
        auto cables = cables_of(machine);
        std::stable_sort(cables.begin(), cables.end(), [](const Cable& a, const Cable& b) { return a.busy > b.busy; });
        for (size_t i = 0; i < cables.size() && i < 8; ++i)
            text += fmt::format("  {}: {:.3g} GB/s, busy {:.2g} %, {} in both directions\n",
                                cable_name(*machine.network, cables[i]), cables[i].gigabytes, 100 * cables[i].busy,
                                bytes_si(static_cast<double>(cables[i].bytes)));
        return text;
    }

    static std::string describe_step(const Session& session, const Focus& focus, const scene::ClusterScene& scene) {
        const scene::TrainingShown& run = *scene.training;
        std::string text =
            fmt::format("{} (executed, times derived): {}, {} ranks; all messages of {} {}\n", network_title,
                        run.traffic.title, run.mesh.ranks(), run.flushes ? "training step" : "update", run.loss.size());
        for (const parallel::Traffic& row : run.sent)
            text += fmt::format("  {} along {}: {} in {}\n", row.purpose, row.axis, counted(row.bytes, "byte"),
                                counted(row.messages, "message"));
        text += busiest_cables(machine_of(scene));
        const double now = schedule_time(session, focus, scene);
        int shown = 0;
        for (const scene::RunMessage& one : run.traffic.messages)
            if (one.begin_us <= now + 1e-9 && one.arrival_us > now + 1e-9 && ++shown <= 8)
                text += fmt::format("  at {} µs under way: {} from rank {} to {}, {}\n", amount(now),
                                    run.sent[static_cast<size_t>(one.kind)].purpose, one.from, one.to,
                                    bytes_si(static_cast<double>(one.bytes)));
        if (shown == 0) text += fmt::format("  at {} µs nothing is under way\n", amount(now));
        return text + "  " + step_share_words(run) + "\n  " + power_text(scene) + "\n  " + caption_of(scene, true) + "\n";
    }

    static size_t links_used(const scene::ClusterScene& scene) {
        size_t used = 0;
        for (const comm::LinkUse& use : scene.training->traffic.use.links) used += use.bytes > 0;
        return used;
    }

    static std::string link_name(const comm::Network& network, size_t at) {
        const comm::NetworkLink& link = network.links[at];
        const auto name = [&](int node) {
            return node < 0 ? std::string("all") : network.nodes[static_cast<size_t>(node)].name;
        };
        return name(link.from) + " → " + name(link.to);
    }

    // A row a link, those with most bytes first; a span is busy time, by what the message was for.
    static void draw_links_by_time(Ui& ui, Session& session, const scene::ClusterScene& scene, double now,
                                   const Rect& area) {
        const Theme& theme = *ui.theme;
        const scene::TrainingShown& run = *scene.training;
        std::vector<size_t> order;
        for (size_t i = 0; i < run.traffic.use.links.size(); ++i)
            if (run.traffic.use.links[i].bytes > 0) order.push_back(i);
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return run.traffic.use.links[a].bytes > run.traffic.use.links[b].bytes;
        });
        const float names = std::min(150.0f, area.w * 0.3f);
        const Rect plot{area.x + names, area.y + 4, area.w - names - 8, area.h - 26};
        const auto rows = std::min(order.size(), static_cast<size_t>(std::max(1.0f, plot.h / 15)));
        const float pitch = std::min(22.0f, plot.h / static_cast<float>(std::max<size_t>(1, rows))), bar = pitch - 4;
        const double begin = run.begin_us, end = std::max(run.end_us, begin + 1e-9);
        const auto x_of = [&](double time) {
            return plot.x + plot.w * static_cast<float>(std::clamp((time - begin) / (end - begin), 0.0, 1.0));
        };
        std::vector<int> row_of(run.traffic.use.links.size(), -1);
        for (size_t i = 0; i < rows; ++i) {
            row_of[order[i]] = static_cast<int>(i);
            const float y = plot.y + pitch * static_cast<float>(i);
            ui.text(area.x, y + bar / 2 + 4.5f, link_name(*run.traffic.network, order[i]),
                    {.size = 12, .color = theme.ink2, .width = names - 8});
            ui.rect({plot.x, y + bar, plot.w, 1}, theme.grid);
        }
        std::vector<float> drawn(rows, -1e9f);
        for (const comm::LinkSpan& span : run.traffic.spans) {
            const int row = row_of[static_cast<size_t>(span.link)];
            if (row < 0) continue;
            const float x0 = x_of(span.begin_us), x1 = x_of(span.end_us), y = plot.y + pitch * static_cast<float>(row);
            if (x1 < drawn[static_cast<size_t>(row)] + 1.5f) continue;
            drawn[static_cast<size_t>(row)] = x1;
            const scene::RunMessage& message = run.traffic.messages[static_cast<size_t>(span.message)];
            const PurposeLook look = look_of_purpose(run.sent[static_cast<size_t>(message.kind)].purpose);
            const Rect box{x0, y, std::max(1.5f, x1 - x0), bar};
            ui.rect(box, look.fill);
            if (look.twin != Hatch::solid && box.w > 8) ui.hatch(box, faded(text_on(look.fill), 0.6f), look.twin);
            if (ui.hovered({box.x - 2, box.y, box.w + 4, box.h}))
                ui.tooltip(fmt::format("{} from rank {} to {}, {}\n{} to {} µs",
                                       run.sent[static_cast<size_t>(message.kind)].purpose, message.from, message.to,
                                       bytes_si(static_cast<double>(message.bytes)), amount(message.begin_us),
                                       amount(message.arrival_us)));
        }
        const float bottom = plot.y + pitch * static_cast<float>(rows) + 1;
        const std::string left = rows < order.size() ? fmt::format("{} more links", order.size() - rows) : std::string("µs");
        ui.text(area.x, bottom + 15, left, {.size = 12, .color = theme.quiet, .width = names - 8});
        ui.text(plot.x, bottom + 15, fmt::format("{:.0f}", begin), {.size = 12, .color = theme.quiet});
        ui.text(plot.right(), bottom + 15, fmt::format("{:.0f}", end),
                {.size = 12, .color = theme.quiet, .align = Align::right});
        if (now >= begin && now <= end) {
            ui.cursor_line(x_of(now), plot.y - 3, bottom + 3);
            const std::string flag = fmt::format("{:.0f}", now);
            const float half = ui.text_width(flag, {.size = 12, .weight = 600}) / 2 + 6;
            const float at = std::clamp(x_of(now), plot.x + 60, plot.right() - 60);
            if (plot.w > 200) {
                ui.rect({at - half, bottom + 3, 2 * half, 17}, theme.ink, 3);
                ui.text(at, bottom + 16, flag, {.size = 12, .color = theme.panel, .align = Align::center, .weight = 600});
            }
        }
        const Rect time_area{plot.x - 4, plot.y, plot.w + 8, bottom + 18 - plot.y};
        if (const Drag drag = ui.drag("step", time_area); drag.active) {
            const double to = std::clamp(static_cast<double>((drag.at.x - plot.x) / plot.w), 0.0, 1.0);
            session.cluster.time = begin + to * (end - begin);
            session.cluster.collective = false;
        }
    }

    // What the step's messages were for.
    static void draw_traffic(Ui& ui, const scene::ClusterScene& scene, const Rect& area) {
        const Theme& theme = *ui.theme;
        const scene::TrainingShown& run = *scene.training;
        ui.text(area.x, area.y + 12, "what the step sent, by axis", {.size = 12, .color = theme.ink2});
        double most = 1;
        for (const parallel::Traffic& row : run.sent) most = std::max(most, static_cast<double>(row.bytes));
        float y = area.y + 22;
        for (const parallel::Traffic& row : run.sent) {
            if (y + 32 > area.bottom()) return;
            const PurposeLook look = look_of_purpose(row.purpose);
            const std::string bytes = bytes_si(static_cast<double>(row.bytes));
            const float room = area.w - ui.text_width(bytes, {.size = 13, .weight = 600}) - 10;
            ui.text(area.x, y + 13, fmt::format("{} {}", row.axis, row.purpose),
                    {.size = 13, .color = theme.ink2, .width = room});
            ui.text(area.right(), y + 13, bytes, {.size = 13, .align = Align::right, .weight = 600});
            ui.rect({area.x, y + 18, area.w, 8}, theme.panel2);
            const Rect bar{area.x, y + 18,
                           std::max(1.0f, area.w * static_cast<float>(static_cast<double>(row.bytes) / most)), 8};
            ui.rect(bar, look.fill);
            if (look.twin != Hatch::solid && bar.w > 8) ui.hatch(bar, faded(text_on(look.fill), 0.6f), look.twin);
            if (ui.hovered({area.x, y, area.w, 30}))
                ui.tooltip(fmt::format("{} along {}: {} in {}", row.purpose, row.axis, counted(row.bytes, "byte"),
                                       counted(row.messages, "message")));
            y += 32;
        }
        const std::string share = step_share_words(run);
        if (y + 40 < area.bottom()) ui.paragraph({area.x, y + 6, area.w, 60}, share, {.size = 13, .color = theme.ink2}, 18);
    }

    // What other algorithms take is told, but not by the case before one that is asked about.
    static bool tells_others(const Session& session) {
        return session.workspace != Workspace::learn || !shows_case_before(session.lesson);
    }

    // Of nodes with a wall between them: how busy the links across it are, and how busy those within.
    static std::string headline_of(const scene::ClusterScene& scene) {
        const scene::NetworkSetup& setup = scene.setup.network;
        if (trained(scene) || !scene.network.refusal.empty() || setup.topology != "two_level") return {};
        const Machine machine = machine_of(scene);
        double across = 0, within = 0;
        for (const Cable& cable : cables_of(machine)) {
            const int ranks = machine.network->ranks();
            double& most = cable.a < ranks || cable.b < ranks ? within : across;
            most = std::max(most, cable.busy);
        }
        std::string algorithm = setup.algorithm;
        std::replace(algorithm.begin(), algorithm.end(), '_', ' ');
        algorithm.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(algorithm.front())));
        const auto percent = [](double share) {
            return share < 0.095 ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
        };
        return fmt::format("{}: {}. Links between nodes are busy {} of it, in a node {}", algorithm,
                           time_text(scene.network.run.total_us), percent(across), percent(within));
    }

    static std::string caption_of(const scene::ClusterScene& scene, bool others) {
        const scene::NetworkShown& shown = scene.network;
        if (trained(scene)) {
            const Machine machine = machine_of(scene);
            const auto all = cables_of(machine);
            const auto most =
                std::max_element(all.begin(), all.end(), [](const Cable& a, const Cable& b) { return a.bytes < b.bytes; });
            int64_t sent = 0;
            for (const parallel::Traffic& row : scene.training->sent) sent += row.bytes;
            std::string text = fmt::format("The step sent {}", bytes_si(static_cast<double>(sent)));
            if (most != all.end() && most->bytes > 0)
                text += fmt::format("; the cable {} carried most, {}, and was busy {:.2g} % of it",
                                    cable_name(*machine.network, *most), bytes_si(static_cast<double>(most->bytes)),
                                    100 * most->busy);
            return text + ".";
        }
        if (!shown.refusal.empty()) return "This network cannot be built of these numbers.";
        const auto cables = cables_of(machine_of(scene));
        const auto busiest =
            std::max_element(cables.begin(), cables.end(), [](const Cable& a, const Cable& b) { return a.busy < b.busy; });
        const auto best = std::min_element(shown.others.begin(), shown.others.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        std::string text = fmt::format("{} takes {}", scene.setup.network.algorithm, time_text(shown.run.total_us));
        if (busiest != cables.end())
            text += fmt::format("; busiest, {:.0f} % of it: {} to {}", 100 * busiest->busy,
                                shown.run.network->nodes[static_cast<size_t>(busiest->a)].name,
                                shown.run.network->nodes[static_cast<size_t>(busiest->b)].name);
        if (others && best != shown.others.end() && best->first != scene.setup.network.algorithm &&
            best->second < shown.run.total_us * 0.995)
            text += fmt::format(". {} would take {}", best->first, time_text(best->second));
        std::replace(text.begin(), text.end(), '_', ' ');
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
        return text + ".";
    }

    static std::string power_text(const scene::ClusterScene& scene) {
        const bool ran = trained(scene);
        const auto gpu = model::gpu_named(ran                               ? std::string("h100")
                                          : scene.setup.network.gpu.empty() ? scene.setup.memory.gpu
                                                                            : scene.setup.network.gpu);
        const double us = ran ? scene.training->end_us - scene.training->begin_us : scene.network.run.total_us;
        const int ranks = ran ? scene.training->mesh.ranks() : scene.setup.network.ranks;
        if (!gpu.ok() || us <= 0) return {};
        try {
            const parallel::StepPower power = parallel::step_power(gpu.value(), ranks, us, 0, {});
            const double wh = power.kwh * 1000;
            if (ran)
                return fmt::format(
                    "derived: {} x {} draw {:.3g} kW; a million such steps take {:.3g} kWh, {:.3g} at 0.10 a kWh", ranks,
                    gpu.value().title, power.megawatts * 1000, power.kwh * 1e6, power.cost * 1e6);
            return fmt::format("derived: {} x {} draw {:.3g} kW while they exchange: {:.2g} Wh, {:.2g} cents at 0.10 a kWh",
                               ranks, gpu.value().title, power.megawatts * 1000, wh, power.cost * 100);
        } catch (const Failure& failure) {
            return failure.diagnostic.message;
        }
    }

    // The machine with a table beside it, the links by time where a training step ran, and the power below.
    void draw_body(Ui& ui, Session& session, Focus& focus, const scene::ClusterScene& scene, Rect rest) {
        const bool ran = trained(scene);
        if (rest.h > 150) {
            ui.text(rest.x, rest.bottom() - 4, power_text(scene), {.size = 13, .color = ui.theme->ink2, .width = rest.w});
            rest.h -= 22;
        }
        const double now = ran ? schedule_time(session, focus, scene) : -1;
        if (ran && rest.h > 300) {
            const float high = std::min(rest.h * 0.45f, 30 + 20 * static_cast<float>(links_used(scene)));
            draw_links_by_time(ui, session, scene, now, {rest.x, rest.bottom() - high, rest.w, high});
            rest.h -= high + 8;
        }
        const bool table = rest.w > 430 && (ran || tells_others(session));
        const float side = !table ? 0.0f : ran ? std::min(rest.w * 0.42f, 320.0f) : 168.0f;
        draw_machine(ui, focus, scene, now, {rest.x, rest.y, rest.w - side - (table ? 14 : 0), rest.h});
        const Rect beside{rest.right() - side, rest.y, side, rest.h};
        if (table && ran)
            draw_traffic(ui, scene, beside);
        else if (table)
            draw_times(ui, scene, beside);
    }

    static std::vector<std::string> all_reduce_algorithms() {
        std::vector<std::string> names;
        for (const comm::CollectiveRow& row : comm::collectives())
            if (row.operation == "all_reduce") names.emplace_back(row.algorithm);
        return names;
    }

    float controls(Ui& ui, Session& session, bool ran, const Rect& body, bool draw) {
        scene::ClusterSetup wanted = cluster_setup(session);
        scene::NetworkSetup& setup = wanted.network;
        const scene::NetworkSetup before = setup;
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
        std::vector<std::string> topologies, links;
        for (const comm::TopologyRow& topology : comm::topologies()) topologies.emplace_back(topology.name);
        for (const comm::LinkRow& link : comm::links()) links.emplace_back(link.name);
        turn("network", topologies, setup.topology, setup.topology, "how ranks and switches are joined");
        if (!ran) setup.ranks += row.number("ranks", std::to_string(setup.ranks), "1 to 64");
        turn("link", links, setup.link, setup.link, "between nodes, or ranks");
        if (setup.topology == "two_level") {
            const int most = std::max(1, wanted.training.plan.ranks() / 2);  // of a training run: two nodes at least
            const int shown = ran ? std::min(setup.node_size, most) : setup.node_size;
            if (const int by = row.number("a node", std::to_string(shown), "ranks of a node"); by != 0)
                setup.node_size = std::clamp(shown + by, 1, ran ? most : 16);
            turn("inside", links, setup.inner, setup.inner, "inside a node");
        }
        if (!ran) {
            turn("by", all_reduce_algorithms(), setup.algorithm, setup.algorithm, "the algorithm of the all-reduce");
            setup.bytes *= std::pow(2.0, row.number("size", bytes_si(setup.bytes), "of the buffer, by doubling"));
        }
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

    void draw_machine(Ui& ui, Focus& focus, const scene::ClusterScene& scene, double now, const Rect& whole) const {
        const comm::Network& network = *machine_of(scene).network;
        draw_machine_legend(ui, whole);
        const Rect area{whole.x, whole.y + 22, whole.w, whole.h - 22};
        if (area.h < 50) return;
        const auto places = places_of(network, cables_, area);
        draw_cables(ui, places);
        if (now >= 0) draw_messages(ui, scene, network, places, now);
        const float half = std::clamp(area.w / static_cast<float>(std::max(1, network.ranks())) / 2 - 1.5f, 2.0f, 16.0f);
        std::map<float, int> across;  // by height: how many nodes stand there
        for (const Point& place : places) ++across[place.y];
        for (size_t i = 0; i < network.nodes.size() && i < 400; ++i)
            draw_node(ui, focus, network, i, places[i], half,
                      area.w / static_cast<float>(std::max(1, across[places[i].y])) / 2 - 2);
    }

    static void draw_machine_legend(Ui& ui, const Rect& whole) {
        const Theme& theme = *ui.theme;
        const float x = ui.text(whole.x, whole.y + 12, "wide: bandwidth; busy:", {.size = 12, .color = theme.ink2}) + 8;
        if (x + 110 >= whole.right()) return;
        for (int i = 0; i < 5; ++i)
            ui.rect({x + 14 * static_cast<float>(i), whole.y + 2, 14, 11},
                    sequential(0.15f + 0.2f * static_cast<float>(i), theme));
        ui.text(x + 76, whole.y + 12, "0-100 %", {.size = 12, .color = theme.ink2});
    }

    void draw_cables(Ui& ui, const std::vector<Point>& places) const {
        double widest = 1e-9;
        for (const Cable& cable : cables_) widest = std::max(widest, cable.gigabytes);
        for (size_t i = 0; i < std::min<size_t>(cables_.size(), 600); ++i) {
            const Cable& cable = cables_[i];
            const float width = 1 + 5 * static_cast<float>(std::sqrt(cable.gigabytes / widest));
            const Color color = sequential(0.15f + 0.8f * static_cast<float>(cable.busy), *ui.theme);
            const Point ends[] = {places[static_cast<size_t>(cable.a)], places[static_cast<size_t>(cable.b)]};
            ui.polyline(ends, cable.bytes > 0 ? color : ui.theme->grid, cable.bytes > 0 ? width : 1.0f);
        }
    }

    // Messages under way, along their routes.
    static void draw_messages(Ui& ui, const scene::ClusterScene& scene, const comm::Network& network,
                              const std::vector<Point>& places, double now) {
        std::vector<int> way;
        int drawn = 0;
        for (const scene::RunMessage& message : scene.training->traffic.messages) {
            if (message.begin_us > now + 1e-9 || message.arrival_us <= now + 1e-9 || ++drawn > 64) continue;
            network.route(message.from, message.to, way);
            const PurposeLook look = look_of_purpose(scene.training->sent[static_cast<size_t>(message.kind)].purpose);
            const auto share =
                static_cast<float>((now - message.begin_us) / std::max(1e-9, message.arrival_us - message.begin_us));
            const float at = share * static_cast<float>(way.size());
            for (size_t i = 0; i < way.size(); ++i) {
                const comm::NetworkLink& link = network.links[static_cast<size_t>(way[i])];
                const int end_node = link.to < 0 ? message.to : link.to;
                const Point a = places[static_cast<size_t>(link.from)], b = places[static_cast<size_t>(end_node)];
                const Point ends[] = {a, b};
                ui.polyline(ends, look.fill, 3, 5, 4);
                const float part = at - static_cast<float>(i);
                if (part < 0 || part > 1) continue;
                const Point spot{a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part};
                ui.rect({spot.x - 5, spot.y - 5, 10, 10}, look.fill);
                ui.frame({spot.x - 5, spot.y - 5, 10, 10}, ui.theme->ink, 1);
            }
        }
    }

    void draw_node(Ui& ui, Focus& focus, const comm::Network& network, size_t i, Point place, float half, float room) const {
        const Theme& theme = *ui.theme;
        const bool rank = !network.nodes[i].is_switch, picked = rank && focus.rank == static_cast<int32_t>(i);
        const std::string name = rank ? std::to_string(i) : network.nodes[i].name;
        const float wanted =
            ui.text_width(name, {.size = 12}) / 2 + 7;  // a switch is as wide as its name where there is room
        const Point half_size = rank ? Point{half, std::min(half, 10.0f)}
                                     : Point{std::max(4.0f, std::min(std::max(10.0f, wanted), room)), 10.0f};
        const Rect box{place.x - half_size.x, place.y - half_size.y, 2 * half_size.x, 2 * half_size.y};
        const float round = rank ? 0.0f : 4.0f;
        ui.rect(box, rank ? theme.selected : theme.panel2, round);
        ui.frame(box, picked ? theme.ink : rank ? theme.accent : theme.ink3, picked ? 2.0f : 1.0f, round);
        // Ranks of as many digits have their number all, or none has.
        const std::string measured = rank ? std::string(name.size(), '0') : name;
        if (ui.text_width(measured, {.size = 12}) + (rank ? 1.0f : 4.0f) <= box.w && box.h >= 14)
            ui.text(place.x, place.y + 4.5f, name, {.size = 12, .align = Align::center});
        if (ui.hovered(box)) ui.tooltip(tip_of(network, static_cast<int>(i)));
        if (rank && ui.clicked(box)) focus.rank = static_cast<int32_t>(i);
    }

    std::string tip_of(const comm::Network& network, int node) const {
        std::string tip = network.nodes[static_cast<size_t>(node)].name;
        int listed = 0;
        for (const Cable& cable : cables_)
            if ((cable.a == node || cable.b == node) && ++listed <= 6)
                tip += fmt::format("\nto {}: {:.3g} GB/s, busy {:.0f} %, {}",
                                   network.nodes[static_cast<size_t>(cable.a == node ? cable.b : cable.a)].name,
                                   cable.gigabytes, 100 * cable.busy, bytes_si(static_cast<double>(cable.bytes)));
        return tip;
    }

    static void draw_times(Ui& ui, const scene::ClusterScene& scene, const Rect& area) {
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
            ui.text(area.right(), y + 13, time_text(us), {.size = 13, .align = Align::right, .weight = on ? 600 : 400});
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
