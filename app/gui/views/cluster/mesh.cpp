// D14, devices and layouts: the ranks on their mesh of named axes, what each of them does in a plan with those axes, and a
// matrix cut over them before and after a redistribution, whose collectives and bytes are named. Chips change an axis' size
// and its placement before and after; a click or Up and Down pick a rank; "move" plays the redistribution.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/cluster/mesh_groups.h"
#include "app/gui/views/collective/collective_data.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view mesh_partners =
    "Framed: the picked rank and whom it works with. Of the mesh's axes the last one counts fastest.";
constexpr std::string_view mesh_title = "Devices and layout";
constexpr std::string_view mesh_hidden = "The layout stays hidden until you lock an answer.";
constexpr std::string_view all_work = "all of the work", no_work = "its part of the matrix";
constexpr double mesh_move_seconds = 0.8;
constexpr Color shard_fills[] = {data::sky,    data::orange, data::green,      data::purple,
                                 data::yellow, data::blue,   data::vermillion, data::grey};
constexpr Hatch shard_twins[] = {Hatch::solid,    Hatch::diagonal, Hatch::horizontal,
                                 Hatch::vertical, Hatch::dots,     Hatch::cross};

std::string mesh_text(const parallel::Mesh& mesh) {
    std::string text;
    for (const parallel::MeshAxis& axis : mesh.axes)
        text += fmt::format("{}{}:{}", text.empty() ? "" : "  ", axis.name, axis.size);
    return text;
}

bool has_axis(const parallel::Mesh& mesh, std::string_view name) {
    return std::any_of(mesh.axes.begin(), mesh.axes.end(),
                       [&](const auto& axis) { return axis.name == name && axis.size > 1; });
}

// A rank's part of the pipeline: its layers or stages, and whom activations come from and go to.
std::string stage_role(const scene::ClusterScene& scene, int rank) {
    const parallel::Mesh& mesh = scene.mesh.mesh;
    const bool trained_run = !scene.mesh.parameter.empty();
    const int stages = mesh.size("pp"), stage = mesh.coordinate(rank, "pp"), layers = scene.setup.mesh.layers;
    if (trained_run && !scene.schedules.empty()) {
        const parallel::Schedule& ran = scene.schedules[0].run.schedule;
        if (ran.chunks > 1 && stage < static_cast<int>(ran.stages_of.size()))  // its ranks hold several stages
            return fmt::format("stages {} of {}", fmt::join(ran.stages_of[static_cast<size_t>(stage)], " and "),
                               ran.stages());
    }
    const auto column = mesh.group(rank, "pp");
    std::string words =
        trained_run || scene.ran  // of a lesson's layout nobody said how many layers there are
            ? fmt::format("stage {} of {}", stage, stages)
            : fmt::format("layers {}-{} of {}", layers * stage / stages + 1, layers * (stage + 1) / stages, layers);
    if (stage > 0) words += fmt::format(", activations from rank {}", column[static_cast<size_t>(stage - 1)]);
    if (stage + 1 < stages) words += fmt::format(", to rank {}", column[static_cast<size_t>(stage + 1)]);
    return words;
}

std::string others_along(const parallel::Mesh& mesh, int rank, std::string_view axis) {  // "1, 2, 3, ..."
    std::string names;
    int listed = 0;
    for (const int other : mesh.group(rank, axis))
        if (other != rank && ++listed <= 3) names += fmt::format("{}{}", names.empty() ? "" : ", ", other);
    return listed > 3 ? names + ", ..." : names;
}

// What a rank does in a plan with these axes.
std::string role_of(const scene::ClusterScene& scene, int rank) {
    static constexpr std::pair<std::string_view, std::string_view> shared[] = {{"tp", "shares every product with rank"},
                                                                               {"cp", "shares the sequence with rank"},
                                                                               {"dp", "averages gradients with rank"}};
    const parallel::Mesh& mesh = scene.mesh.mesh;
    std::string text;
    if (has_axis(mesh, "pp")) text = stage_role(scene, rank);
    for (const auto& [axis, words] : shared)
        if (has_axis(mesh, axis))
            text += fmt::format("{}{} {}", text.empty() ? "" : "; ", words, others_along(mesh, rank, axis));
    // Axes that a lesson calls x and y say nothing of work: they cut a matrix.
    if (text.empty() && mesh.ranks() > 1) return std::string(no_work);
    return text.empty() ? std::string(all_work) : text;
}

// Along which of a plan's axes, alone, two ranks differ: it says at what they work together. Null: along none, or several.
const AxisLook* works_along(const parallel::Mesh& mesh, int rank, int other) {
    const auto at = mesh.coordinates(rank), there = mesh.coordinates(other);
    const AxisLook* look = nullptr;
    for (size_t axis = 0; axis < at.size(); ++axis) {
        if (at[axis] == there[axis]) continue;
        if (look != nullptr) return nullptr;
        look = look_of_axis(mesh.axes[axis].name);
        if (look == nullptr) return nullptr;
    }
    return look;
}

// "Rank 2: products with 3, sequence with 0, gradients with 6, stages with 10"; empty: the axes say nothing of work.
std::string partners_words(const parallel::Mesh& mesh, int rank) {
    static constexpr std::pair<std::string_view, std::string_view> shared[] = {
        {"tp", "products"}, {"cp", "sequence"}, {"dp", "gradients"}, {"pp", "stages"}};
    std::string text;
    for (const auto& [axis, what] : shared)
        if (has_axis(mesh, axis))
            text += fmt::format("{} {} with {}", text.empty() ? fmt::format("Rank {}:", rank) : ",", what,
                                others_along(mesh, rank, axis));
    return text;
}

// Equal pieces have one number, in the order of the first rank that holds them.
std::vector<int> piece_numbers(const std::vector<scene::ShardShown>& shards) {
    std::vector<int> numbers;
    int next = 0;
    for (size_t rank = 0; rank < shards.size(); ++rank) {
        const auto same = std::find(shards.begin(), shards.begin() + static_cast<std::ptrdiff_t>(rank), shards[rank]);
        const auto at = static_cast<size_t>(same - shards.begin());
        numbers.push_back(at < rank ? numbers[at] : next++);
    }
    return numbers;
}

// Of which rectangles a shard is: one; of a run of elements, row by row, up to three.
std::vector<scene::ShardShown> rectangles_of(const scene::ShardShown& shard) {
    if (shard.rows.count == 0 || shard.columns.count == 0 || shard.flat.count == 0) return {};
    if (shard.flat.count < 0) return {shard};
    const int64_t width = shard.columns.count;
    std::vector<scene::ShardShown> all;
    const auto add = [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
        if (rows > 0 && columns > 0)
            all.push_back({{shard.rows.begin + row, rows}, {shard.columns.begin + column, columns}, shard.partial});
    };
    int64_t begin = shard.flat.begin;
    const int64_t end = begin + shard.flat.count;
    if (begin % width != 0) {
        const int64_t most = std::min(width - begin % width, end - begin);
        add(begin / width, 1, begin % width, most);
        begin += most;
    }
    add(begin / width, (end - begin) / width, 0, width);
    begin += (end - begin) / width * width;
    add(begin / width, 1, 0, end - begin);
    return all;
}

std::string range_words(std::string_view what, const comm::Piece& piece) {  // "row 2", "columns 0-3"
    return piece.count == 1 ? fmt::format("{} {}", what, piece.begin)
                            : fmt::format("{}s {}-{}", what, piece.begin, piece.begin + piece.count - 1);
}

std::string holds(const scene::ShardShown& shard) {
    if (shard.rows.count == 0 || shard.columns.count == 0 || shard.flat.count == 0) return "nothing of it";
    if (shard.flat.count > 0)
        return fmt::format("{} of {}, from number {}", with_commas(shard.flat.count),
                           counted(shard.rows.count * shard.columns.count, "element"), with_commas(shard.flat.begin));
    return fmt::format("{}, {}{}", range_words("row", shard.rows), range_words("column", shard.columns),
                       shard.partial ? ", a summand" : "");
}

int picked_on_mesh(const Focus& focus, const scene::ClusterScene& scene) {  // of a training run the first, as elsewhere
    const auto ranks = static_cast<int>(scene.mesh.before.size());
    return !scene.mesh.parameter.empty() && (focus.rank < 0 || focus.rank >= ranks) ? 0 : picked_rank(focus, ranks);
}

class MeshView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& scene = snapshot->cluster;
        if (!scene || scene->mesh.before.empty()) {
            const Rect body = ui.panel(area, {.title = mesh_title});
            return ui.say_nothing_yet(body, "No mesh has been laid out yet.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const bool ran = !scene->mesh.parameter.empty();
        const bool large = !hidden && lies_still(session, *scene) && area.h > 340;  // what it finds, above the picture
        const std::string right = "mesh  " + mesh_text(scene->mesh.mesh), caption = hidden  ? std::string(mesh_hidden)
                                                                                    : large ? std::string(mesh_partners)
                                                                                    : lies_still(session, *scene)
                                                                                        ? pieces_words(*scene)
                                                                                        : caption_of(*scene);
        const Rect body = ui.panel(area, {.title = mesh_title,
                                          .right = right,
                                          .badge = ran ? Provenance::executed : Provenance::derived,
                                          .caption = caption});
        ui.push_scope("mesh");
        float used = 0;
        if (!has_room_to_itself(session, body.h)) {
            controls(ui, session, *scene, body, false);
            used = controls(ui, session, *scene, body, true);
        }
        Rect rest{body.x, body.y + used, body.w, body.h - used};
        if (large) {
            rest = draw_finding(ui, *scene, picked_on_mesh(focus, *scene), rest);
        }
        if (hidden && (ran || rest.h < 80)) {
            draw_hidden_place(ui, rest);
            return ui.pop_scope();
        }
        if (scene != seen_) {
            if (seen_ && !ran && !(seen_->setup.mesh == scene->setup.mesh)) since_ = ui.now;
            seen_ = scene;
            numbers(*scene);
        }
        if (hidden) {
            draw_set_up(ui, focus, *scene, rest);
            return ui.pop_scope();
        }
        const int ranks = static_cast<int>(scene->mesh.before.size());
        if (const int by = (ui.pressed(Key::down, area) ? 1 : 0) - (ui.pressed(Key::up, area) ? 1 : 0); by != 0)
            focus.rank = std::clamp(picked_on_mesh(focus, *scene) + by, 0, ranks - 1);
        const int picked = picked_on_mesh(focus, *scene);
        const bool text = rest.h > 120;
        const float grid = std::floor(rest.w * 0.52f), height = rest.h - (text ? 26.0f : 0.0f);
        draw_devices(ui, focus, *scene, picked, true, {rest.x, rest.y, grid - 12, height});
        const Rect sheets{rest.x + grid, rest.y, rest.w - grid, height};
        if (lies_still(session, *scene))
            draw_one_sheet(ui, *scene, picked, sheets);
        else
            draw_sheets(ui, *scene, picked, sheets);
        if (text) {
            const float y = rest.bottom() - 6;
            const float x = ui.text(rest.x, y, fmt::format("rank {}", picked), {.size = 14, .weight = 700});
            const std::string role = role_of(*scene, picked);
            const bool plain = role == no_work || (lies_still(session, *scene) && role == all_work);
            ui.text(x + 12, y, plain ? held(session, *scene, static_cast<size_t>(picked)) : role,
                    {.size = 13, .color = ui.theme->ink2, .width = rest.right() - x - 12});
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->cluster || snapshot->cluster->mesh.before.empty())
            return std::string(mesh_title) + ": nothing has been laid out yet.\n";
        const scene::ClusterScene& scene = *snapshot->cluster;
        const scene::MeshSetup& setup = scene.setup.mesh;
        const auto ranks = static_cast<int>(scene.mesh.before.size());
        if (!scene.mesh.parameter.empty()) return describe_run(session, focus, scene);
        std::string text = fmt::format("{} (derived): {}, {} ranks; a matrix of {} x {}, {} bytes an element\n", mesh_title,
                                       mesh_text(scene.mesh.mesh), ranks, setup.rows, setup.columns, size_of(setup.type));
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(mesh_hidden) + "\n";
        for (size_t axis = 0; axis < setup.axes.size(); ++axis)
            text += fmt::format("  along {}: {} before, {} after\n", setup.axes[axis].name,
                                scene::name_of(setup.before[axis]), scene::name_of(setup.after[axis]));
        for (int rank = 0; rank < ranks && rank < 64; ++rank)
            text += fmt::format("  rank {}{}: {}; before {}; after {}\n", rank,
                                rank == picked_on_mesh(focus, scene) ? " (picked)" : "", role_of(scene, rank),
                                holds(scene.mesh.before[static_cast<size_t>(rank)]),
                                holds(scene.mesh.after[static_cast<size_t>(rank)]));
        for (const parallel::RedistributionStep& step : scene.mesh.plan.steps)
            text += fmt::format("  along {}: {}, {} sent a rank\n", axis_name(scene, step), step.collective,
                                counted(step.bytes, "byte"));
        return text + "  " + caption_of(scene) + "\n";
    }

  private:
    std::shared_ptr<const scene::ClusterScene> seen_;
    std::vector<int> before_, after_;  // by rank: which piece it holds
    double since_ = -1;

    void numbers(const scene::ClusterScene& scene) {
        before_ = piece_numbers(scene.mesh.before);
        after_ = piece_numbers(scene.mesh.after);
    }

    // Of a plan's axes the picked rank's partners, else how many pieces there are; returns what is left of the room.
    static Rect draw_finding(Ui& ui, const scene::ClusterScene& scene, int picked, const Rect& r) {
        std::string pieces = pieces_words(scene);
        if (pieces.ends_with('.')) pieces.pop_back();
        const std::string partners = partners_words(scene.mesh.mesh, picked);
        const std::string& says = partners.empty() ? pieces : partners;
        const bool fits = ui.text_width(says, {.size = 20, .weight = 700}) <= r.w;
        ui.text(r.x, r.y + 18, says, {.size = fits ? 20.0f : 16.0f, .weight = 700, .width = r.w});
        float taken = 32;
        if (!partners.empty() && r.h > 240) {
            float x = ui.text(r.x, r.y + 42, pieces, {.size = 13, .color = ui.theme->ink2, .width = r.w}) + 24;
            for (const parallel::MeshAxis& axis : scene.mesh.mesh.axes)
                if (const AxisLook* look = look_of_axis(axis.name); look != nullptr && axis.size > 1 && x + 110 < r.right())
                    x = ui.legend(x, r.y + 42, look->fill, look->twin, fmt::format("{} {}", look->letter, look->title));
            taken = 56;
        }
        return {r.x, r.y + taken, r.w, r.h - taken};
    }

    // What a rank holds, and what it will hold where it is laid out anew.
    static std::string held(const Session& session, const scene::ClusterScene& scene, size_t rank) {
        const std::string before = holds(scene.mesh.before[rank]), after = holds(scene.mesh.after[rank]);
        return lies_still(session, scene) || before == after ? "holds " + before
                                                             : fmt::format("holds {}; then {}", before, after);
    }

    // A lesson's layout that nothing is asked to change: one sheet tells it, with the numbers that stand in it.
    static bool lies_still(const Session& session, const scene::ClusterScene& scene) {
        return session.workspace == Workspace::learn && scene.mesh.parameter.empty() && scene.mesh.refusal.empty() &&
               scene.mesh.plan.steps.empty();
    }

    // "6 ranks hold 3 different pieces, each on 2 of them."
    static std::string pieces_words(const scene::ClusterScene& scene) {
        const std::vector<int> numbers = piece_numbers(scene.mesh.before);
        const auto ranks = static_cast<int>(numbers.size());
        const int pieces = ranks > 0 ? *std::max_element(numbers.begin(), numbers.end()) + 1 : 0;
        if (pieces <= 1) return fmt::format("Not cut: all of {} ranks hold all of it.", ranks);
        if (pieces == ranks) return fmt::format("{} ranks hold {} different pieces.", ranks, pieces);
        return fmt::format("{} ranks hold {} different pieces, each on {} of them.", ranks, pieces, ranks / pieces);
    }

    // A training run's parameter: who keeps its weights, and who its gradients or Adam's moments.
    static std::string describe_run(const Session& session, const Focus& focus, const scene::ClusterScene& scene) {
        const scene::MeshShown& mesh = scene.mesh;
        const auto ranks = static_cast<int>(mesh.before.size());
        std::string text =
            fmt::format("{} (executed): {}, {} ranks; parameter {} of {}, {}: {} x {}\n", mesh_title, mesh_text(mesh.mesh),
                        ranks, mesh.at + 1, mesh.of, mesh.parameter, mesh.rows, mesh.columns);
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(mesh_hidden) + "\n";
        for (int rank = 0; rank < ranks && rank < 64; ++rank)
            text += fmt::format("  rank {}{}: keeps of its weights {}; of {} {}\n", rank,
                                rank == picked_on_mesh(focus, scene) ? " (picked)" : "",
                                holds(mesh.before[static_cast<size_t>(rank)]), mesh.beside,
                                holds(mesh.after[static_cast<size_t>(rank)]));
        for (const std::string& words : mesh.moved) text += "  " + words + "\n";
        return text + "  " + caption_of(scene) + "\n";
    }

    static const std::string& axis_name(const scene::ClusterScene& scene, const parallel::RedistributionStep& step) {
        return scene.mesh.mesh.axes[static_cast<size_t>(step.axis)].name;
    }

    static std::string caption_of(const scene::ClusterScene& scene) {
        if (!scene.mesh.refusal.empty()) return scene.mesh.refusal;
        if (!scene.mesh.parameter.empty()) {
            const auto copies = [](const std::vector<scene::ShardShown>& shards) {
                double sum = 0;
                for (const scene::ShardShown& one : shards)
                    sum += static_cast<double>(one.flat.count < 0 ? one.rows.count * one.columns.count : one.flat.count);
                return sum;
            };
            const double whole = std::max(1.0, static_cast<double>(scene.mesh.rows * scene.mesh.columns));
            return fmt::format(
                "All ranks together keep {} {} of its weights and {} of {}.", amount(copies(scene.mesh.before) / whole),
                copies(scene.mesh.before) == whole ? "copy" : "copies", amount(copies(scene.mesh.after) / whole),
                scene.mesh.beside == "Adam" ? "Adam's moments" : scene.mesh.beside);
        }
        if (scene.mesh.plan.steps.empty()) return "Before and after are the same layout: nothing moves.";
        std::string names;
        for (const parallel::RedistributionStep& step : scene.mesh.plan.steps)
            names += fmt::format("{}{} along {}", names.empty() ? "" : ", then ",
                                 step.collective == "local" ? "no exchange" : step.collective, axis_name(scene, step));
        const int64_t bytes = scene.mesh.bytes();
        return fmt::format("From before to after: {}; {}.", names,
                           bytes > 0 ? "a rank sends " + bytes_si(static_cast<double>(bytes)) : "nothing is sent");
    }

    static void choose_parameter(ControlRow& row, const scene::ClusterScene& scene, scene::MeshSetup& setup) {
        const int by = row.number("parameter", fmt::format("{} of {}", scene.mesh.at + 1, scene.mesh.of),
                                  "of the model that is trained");
        row.words(scene.mesh.parameter, true);
        if (row.chip("gradients", setup.gradients)) setup.gradients = true;
        if (row.chip("Adam", !setup.gradients)) setup.gradients = false;
        if (by != 0) setup.parameter = std::clamp(scene.mesh.at + by, 0, scene.mesh.of - 1);
    }

    float controls(Ui& ui, Session& session, const scene::ClusterScene& scene, const Rect& body, bool draw) {
        scene::ClusterSetup wanted = cluster_setup(session);
        scene::MeshSetup& setup = wanted.mesh;
        const scene::MeshSetup before = setup;
        ControlRow row(ui, body, draw);
        if (!scene.mesh.parameter.empty()) {
            choose_parameter(row, scene, setup);
            if (draw && !(setup == before)) ask_cluster(session, wanted);
            return row.height() + 2;
        }
        static constexpr std::string_view signs[] = {"whole", "rows", "columns", "sum"};
        for (size_t axis = 0; axis < setup.axes.size(); ++axis) {
            const int by = row.number(setup.axes[axis].name, std::to_string(setup.axes[axis].size), "ranks along this axis");
            setup.axes[axis].size = std::clamp(setup.axes[axis].size + by, 1, 64);
            if (draw) ui.push_scope(setup.axes[axis].name);
            static const parallel::Placement placements[] = {parallel::replicate(), parallel::shard(0), parallel::shard(1),
                                                             parallel::partial()};
            const auto place = [](const parallel::Placement& placement) {
                return static_cast<size_t>(std::find(std::begin(placements), std::end(placements), placement) - placements) %
                       4;
            };
            const auto next = [&](parallel::Placement& placement) { placement = placements[(place(placement) + 1) % 4]; };
            if (row.chip(signs[place(setup.before[axis])], false)) next(setup.before[axis]);
            if (draw) ui.push_scope("after");
            row.words("→");
            if (row.chip(signs[place(setup.after[axis])], false)) next(setup.after[axis]);
            if (draw) ui.pop_scope(), ui.pop_scope();
            row.gap(8);
        }
        if (row.chip("move", false, !scene.mesh.plan.steps.empty())) since_ = ui.now;
        if (draw && !(setup == before)) ask_cluster(session, wanted);
        return row.height() + 2;
    }

    // While it is asked who holds what: the devices and the matrix, whole.
    void draw_set_up(Ui& ui, Focus& focus, const scene::ClusterScene& scene, const Rect& area) const {
        const float grid = std::floor(area.w * 0.52f), head = 18;
        draw_devices(ui, focus, scene, -1, false, {area.x, area.y, grid - 12, area.h});
        const auto rows = static_cast<float>(scene.mesh.rows), columns = static_cast<float>(scene.mesh.columns);
        const float h = area.h - head - 4, w = std::min(area.w - grid - 4, h * std::clamp(columns / rows, 1.4f, 2.5f));
        const Rect sheet{area.x + grid, area.y + head, w, h};
        ui.text(sheet.x, area.y + 12, fmt::format("{} x {}, to be shared out", scene.mesh.rows, scene.mesh.columns),
                {.size = 13, .weight = 600, .width = area.w - grid});
        ui.rect(sheet, ui.theme->panel2);
        if (w / columns >= 6 && h / rows >= 6) {
            for (float r = 1; r < rows; ++r) ui.rect({sheet.x, sheet.y + h * r / rows, w, 1}, ui.theme->line);
            for (float c = 1; c < columns; ++c) ui.rect({sheet.x + w * c / columns, sheet.y, 1, h}, ui.theme->line);
        }
        ui.frame(sheet, ui.theme->ink3, 1);
    }

    // `told`: with what each holds.
    void draw_devices(Ui& ui, Focus& focus, const scene::ClusterScene& scene, int picked, bool told,
                      const Rect& area) const {
        const parallel::Mesh& mesh = scene.mesh.mesh;
        const size_t dims = mesh.axes.size();
        const int columns = mesh.axes.back().size, rows = dims > 1 ? mesh.axes[dims - 2].size : 1,
                  planes = std::max(1, mesh.ranks() / std::max(1, columns * rows));
        // Planes stand side by side while they are narrow, else under each other.
        const int across = columns * planes <= 8 ? planes : std::max(1, 8 / columns);
        const int down = (planes + across - 1) / across;
        const float head = 18, gap = 14;
        const float w = (area.w - gap * static_cast<float>(across - 1)) / static_cast<float>(across),
                    h = (area.h - gap * static_cast<float>(down - 1)) / static_cast<float>(down);
        const float cell_w = w / static_cast<float>(columns),
                    cell_h = std::min(columns * rows * planes > 8 ? 190.0f : 76.0f, (h - head) / static_cast<float>(rows));
        if (cell_w < 3 || cell_h < 3) return;
        for (int plane = 0; plane < planes; ++plane) {
            const float x = area.x + (w + gap) * static_cast<float>(plane % across),
                        y = area.y + (h + gap) * static_cast<float>(plane / across);
            draw_plane_head(ui, mesh, plane, x, y, w);
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < columns; ++c) {
                    const int rank = (plane * rows + r) * columns + c;
                    const Rect box{x + cell_w * static_cast<float>(c) + 2, y + head + cell_h * static_cast<float>(r) + 2,
                                   cell_w - 5, cell_h - 5};
                    draw_device(ui, scene, rank, picked, told, box);
                    if (!told) continue;
                    if (ui.hovered(box)) ui.tooltip(tip_of(scene, rank));
                    if (ui.clicked(box)) focus.rank = rank;
                }
        }
    }

    // Where the plane lies along the axes beyond the last two, and which way those two go.
    static void draw_plane_head(Ui& ui, const parallel::Mesh& mesh, int plane, float x, float y, float w) {
        const size_t dims = mesh.axes.size();
        std::string name;
        int rest = plane;
        for (size_t axis = dims > 2 ? dims - 2 : 0; axis-- > 0;) {
            name =
                fmt::format("{} = {}{}", mesh.axes[axis].name, rest % mesh.axes[axis].size, name.empty() ? "" : ", " + name);
            rest /= mesh.axes[axis].size;
        }
        const std::string axes = dims > 1 ? fmt::format("{} → {} ↓", mesh.axes.back().name, mesh.axes[dims - 2].name)
                                          : mesh.axes.back().name + " →";
        float left = x;
        if (!name.empty()) left = ui.text(x, y + 12, name, {.size = 13, .weight = 600, .width = w}) + 8;
        if (x + w - left > ui.text_width(axes, {.size = 12}) + 2)
            ui.text(x + w, y + 12, axes, {.size = 12, .color = ui.theme->quiet, .align = Align::right});
    }

    void draw_device(Ui& ui, const scene::ClusterScene& scene, int rank, int picked, bool told, const Rect& box) const {
        const Theme& theme = *ui.theme;
        const auto at = static_cast<size_t>(rank);
        const bool related = told && shares_axis(scene.mesh.mesh, rank, picked);
        ui.rect(box, related ? theme.selected : theme.panel2);
        ui.frame(box, related ? theme.accent : theme.line, 1);
        // The piece that it holds, as the sheet before colours it.
        const Rect chip{box.x + 3, box.y + 3, std::min(10.0f, box.w - 6), std::max(2.0f, box.h - 6)};
        if (!told || rectangles_of(scene.mesh.before[at]).empty())
            ui.dashed(chip, theme.ink3);
        else
            piece(ui, chip, before_[at], scene.mesh.before[at].partial);
        const std::string label = box.w > 64 ? fmt::format("rank {}", rank) : std::to_string(rank);
        const float baseline = box.h >= 34 ? std::min(box.h / 2, 15.0f) + 1 : box.h / 2 + 5;
        if (box.h >= 14 && box.w > ui.text_width(label, {.size = 13, .weight = 600}) + 20)
            ui.text(box.x + 18, box.y + baseline, label, {.size = 13, .weight = 600, .width = box.w - 20});
        if (box.h >= 34 && box.w > 50) {
            const std::string where = told ? place_text(scene, rank) : coordinates_text(scene.mesh.mesh, rank);
            if (ui.text_width(where, {.size = 12}) + 22 <= box.w)
                ui.text(box.x + 18, box.y + 32, where, {.size = 12, .color = theme.ink2});
        }
        if (rank == picked) ui.outline(box, 1);
        const AxisLook* look = told && rank != picked && related ? works_along(scene.mesh.mesh, picked, rank) : nullptr;
        if (look != nullptr && box.w >= 36 && box.h >= 44)
            axis_letter(ui, box.right() - 21, box.bottom() - 21, look->letter, look->fill, look->twin);
    }

    // Its stage, else the piece that it holds; of a training run's parameter its coordinates.
    std::string place_text(const scene::ClusterScene& scene, int rank) const {
        const parallel::Mesh& mesh = scene.mesh.mesh;
        for (const parallel::MeshAxis& axis : mesh.axes)
            if (axis.name == "pp" && axis.size > 1) return fmt::format("stage {}", mesh.coordinate(rank, "pp"));
        if (scene.mesh.parameter.empty()) return fmt::format("piece {}", before_[static_cast<size_t>(rank)]);
        return coordinates_text(mesh, rank);
    }

    static std::string tip_of(const scene::ClusterScene& scene, int rank) {
        const auto at = static_cast<size_t>(rank);
        const bool ran = !scene.mesh.parameter.empty();
        return fmt::format("rank {}: {}\n{}: {}\n{}: {}", rank, role_of(scene, rank), ran ? "weights" : "before",
                           holds(scene.mesh.before[at]), ran ? scene.mesh.beside : "after", holds(scene.mesh.after[at]));
    }

    static std::string coordinates_text(const parallel::Mesh& mesh, int rank) {  // "dp 0, tp 1"
        std::string text;
        for (const parallel::MeshAxis& axis : mesh.axes)
            if (axis.size > 1)
                text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name, mesh.coordinate(rank, axis.name));
        return text;
    }

    static bool shares_axis(const parallel::Mesh& mesh, int a, int b) {  // they differ along one axis at most
        const auto at = mesh.coordinates(a), other = mesh.coordinates(b);
        int differ = 0;
        for (size_t i = 0; i < at.size(); ++i) differ += at[i] != other[i];
        return differ <= 1;
    }

    static void piece(Ui& ui, const Rect& box, int number, bool partial) {
        const Color fill = shard_fills[static_cast<size_t>(number) % std::size(shard_fills)];
        ui.rect(box, fill);
        const Hatch twin = shard_twins[static_cast<size_t>(number / static_cast<int>(std::size(shard_fills)) +
                                                           number % static_cast<int>(std::size(shard_fills))) %
                                       std::size(shard_twins)];
        if (twin != Hatch::solid) ui.hatch(box, faded(text_on(fill), 0.35f), twin);
        if (partial) ui.hatch(box, faded(text_on(fill), 0.6f), Hatch::cross);
    }

    static Rect place_on(const scene::ClusterScene& scene, const scene::ShardShown& shard, const Rect& sheet) {
        const float rows = static_cast<float>(scene.mesh.rows), columns = static_cast<float>(scene.mesh.columns);
        return Rect{sheet.x + sheet.w * static_cast<float>(shard.columns.begin) / columns,
                    sheet.y + sheet.h * static_cast<float>(shard.rows.begin) / rows,
                    sheet.w * static_cast<float>(shard.columns.count) / columns,
                    sheet.h * static_cast<float>(shard.rows.count) / rows};
    }

    static Color fill_of_piece(int number) { return shard_fills[static_cast<size_t>(number) % std::size(shard_fills)]; }

    // The ranks that hold a piece: "0 2 4", or how many they are.
    static std::string owners_of(const std::vector<int>& pieces, int number) {
        std::string owners;
        int count = 0;
        for (size_t rank = 0; rank < pieces.size(); ++rank)
            if (pieces[rank] == number && ++count <= 8) owners += fmt::format("{}{}", owners.empty() ? "" : " ", rank);
        return count > 8 ? fmt::format("{} ranks", count) : owners;
    }

    static void draw_piece(Ui& ui, const scene::ClusterScene& scene, const scene::ShardShown& shard, int number,
                           const std::string& owners, const Rect& sheet, bool written = true) {
        const std::vector<scene::ShardShown> parts = rectangles_of(shard);
        if (parts.empty()) return;
        Rect largest = place_on(scene, parts.front(), sheet);
        for (const scene::ShardShown& part : parts) {
            const Rect box = place_on(scene, part, sheet);
            piece(ui, {box.x + 0.5f, box.y + 0.5f, box.w - 1, box.h - 1}, number, part.partial);
            if (box.w * box.h > largest.w * largest.h) largest = box;
        }
        const TextStyle style{.size = 12, .color = text_on(fill_of_piece(number)), .align = Align::center, .weight = 600};
        const float width = ui.text_width(owners, style);
        if (written && width + 8 <= largest.w && largest.h >= 16) {
            const Point middle{largest.x + largest.w / 2, largest.y + largest.h / 2};
            ui.rect({middle.x - width / 2 - 3, middle.y - 8, width + 6, 16}, fill_of_piece(number));
            ui.text(middle.x, middle.y + 4.5f, owners, style);
        }
        if (ui.hovered(largest)) ui.tooltip("ranks " + owners + "\n" + holds(shard));
    }

    // A small matrix counts 0, 1, 2 ..., row by row.
    static void draw_numbers(Ui& ui, const scene::ClusterScene& scene, const std::vector<int>& pieces, const Rect& sheet) {
        const auto rows = static_cast<float>(scene.mesh.rows), columns = static_cast<float>(scene.mesh.columns);
        const float w = sheet.w / columns, h = sheet.h / rows;
        for (size_t rank = 0; rank < scene.mesh.before.size(); ++rank) {
            if (already_drawn(pieces, rank)) continue;
            const TextStyle style{.size = 12, .color = text_on(fill_of_piece(pieces[rank])), .mono = true};
            for (const scene::ShardShown& part : rectangles_of(scene.mesh.before[rank]))
                for (int64_t r = part.rows.begin; r < part.rows.begin + part.rows.count; ++r)
                    for (int64_t c = part.columns.begin; c < part.columns.begin + part.columns.count; ++c) {
                        const Point at{sheet.x + w * static_cast<float>(c), sheet.y + h * static_cast<float>(r)};
                        const std::string number = std::to_string(r * scene.mesh.columns + c);
                        ui.rect({at.x + 3, at.y + 2, ui.text_width(number, style) + 4, 14}, fill_of_piece(pieces[rank]));
                        ui.text(at.x + 5, at.y + 13, number, style);
                    }
        }
    }
    static bool already_drawn(const std::vector<int>& pieces, size_t rank) {
        return std::find(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(rank), pieces[rank]) !=
               pieces.begin() + static_cast<std::ptrdiff_t>(rank);
    }

    void draw_one_sheet(Ui& ui, const scene::ClusterScene& scene, int picked, const Rect& area) const {
        const auto rows = static_cast<float>(scene.mesh.rows), columns = static_cast<float>(scene.mesh.columns);
        const float head = 18, h = area.h - head - 4, w = std::min(area.w - 4, h * std::clamp(columns / rows, 1.4f, 2.5f));
        if (w < 30 || h < 20) return;
        const Rect sheet{area.x, area.y + head, w, h};
        ui.text(sheet.x, area.y + 12, fmt::format("{} x {}, by who holds it", scene.mesh.rows, scene.mesh.columns),
                {.size = 13, .weight = 600, .width = area.w});
        const bool numbers = w / columns >= 30 && h / rows >= 16;
        int most = -1;
        for (size_t rank = 0; rank < scene.mesh.before.size(); ++rank) {
            if (before_[rank] <= most) continue;  // drawn already
            most = before_[rank];
            draw_piece(ui, scene, scene.mesh.before[rank], before_[rank], owners_of(before_, before_[rank]), sheet,
                       !numbers);
        }
        if (numbers) draw_numbers(ui, scene, before_, sheet);
        ui.frame(sheet, ui.theme->line, 1);
        for (const scene::ShardShown& part : rectangles_of(scene.mesh.before[static_cast<size_t>(picked)])) {
            const Rect box = place_on(scene, part, sheet);
            if (box.w > 6 && box.h > 6) ui.outline(box, 2);
        }
    }

    static void draw_sheet(Ui& ui, const scene::ClusterScene& scene, const std::vector<scene::ShardShown>& shards,
                           const std::vector<int>& pieces, int picked, const Rect& sheet) {
        int most = -1;
        for (size_t rank = 0; rank < shards.size(); ++rank) {
            if (pieces[rank] <= most) continue;  // drawn already
            most = pieces[rank];
            draw_piece(ui, scene, shards[rank], pieces[rank], owners_of(pieces, pieces[rank]), sheet);
        }
        ui.frame(sheet, ui.theme->line, 1);
        for (const scene::ShardShown& part : rectangles_of(shards[static_cast<size_t>(picked)])) {
            const Rect box = place_on(scene, part, sheet);
            if (box.w > 6 && box.h > 6) ui.outline(box, 2);
        }
    }

    // The picked rank's piece and its group's on their way, at the share t of it.
    void draw_moving(Ui& ui, const scene::ClusterScene& scene, int picked, const Rect& first, const Rect& second,
                     double t) const {
        for (size_t rank = 0; rank < scene.mesh.before.size() && rank < 64; ++rank) {
            if (!shares_axis(scene.mesh.mesh, static_cast<int>(rank), picked)) continue;
            const Rect a = place_on(scene, scene.mesh.before[rank], first),
                       b = place_on(scene, scene.mesh.after[rank], second);
            const auto between = [&](float p, float q) { return p + (q - p) * static_cast<float>(t); };
            const Rect box{between(a.x, b.x), between(a.y, b.y), between(a.w, b.w), between(a.h, b.h)};
            ui.rect(box, faded(fill_of_piece(before_[rank]), 0.35f));
            ui.frame(box, ui.theme->ink, 1);
        }
    }

    static void draw_plan(Ui& ui, const scene::ClusterScene& scene, const Rect& area,
                          float y) {  // which collectives move it
        float x = area.x;
        for (const parallel::RedistributionStep& step : scene.mesh.plan.steps) {
            const std::string words = fmt::format("{}: {}{}", axis_name(scene, step), step.collective,
                                                  step.bytes > 0 ? ", " + bytes_si(static_cast<double>(step.bytes)) : "");
            if (x > area.x && x + ui.text_width(words, {.size = 13, .weight = 600}) > area.right()) break;
            x = ui.text(x, y, words, {.size = 13, .weight = 600, .width = area.right() - x}) + 16;
        }
        if (scene.mesh.plan.steps.empty())
            ui.text(area.x, y, "nothing moves", {.size = 13, .color = ui.theme->ink2, .width = area.w});
    }

    // The sheet before, after, and between them while it moves.
    void draw_sheets(Ui& ui, const scene::ClusterScene& scene, int picked, const Rect& area) {
        const Theme& theme = *ui.theme;
        const bool ran = !scene.mesh.parameter.empty();
        const float head = 18, gap = 30;
        const float most_w = (area.w - gap) / 2,
                    aspect = std::clamp(
                        static_cast<float>(scene.mesh.columns) / static_cast<float>(std::max<int64_t>(1, scene.mesh.rows)),
                        0.4f, 2.5f);
        const float lines = area.h < 150 ? 0.0f : 17.0f * static_cast<float>(scene.mesh.moved.size());
        const float foot = ran ? 8.0f + lines : 22.0f;
        const float w = std::min(most_w, (area.h - head - foot) * aspect), h = w / aspect;
        if (w < 30 || h < 20) return;
        double t = since_ < 0 || ui.calm() ? 1 : std::clamp((ui.now - since_) / mesh_move_seconds, 0.0, 1.0);
        if (t >= 1) since_ = -1;
        if (since_ >= 0) ui.animate();
        t = t * t * (3 - 2 * t);
        const Rect first{area.x, area.y + head, w, h}, second{area.x + most_w + gap, area.y + head, w, h};
        ui.text(first.x, area.y + 12, ran ? "weights" : "before", {.size = 13, .weight = 600, .width = most_w});
        ui.text(second.x, area.y + 12, ran ? scene.mesh.beside : "after", {.size = 13, .weight = 600, .width = most_w});
        draw_sheet(ui, scene, scene.mesh.before, before_, picked, first);
        draw_sheet(ui, scene, scene.mesh.after, after_, picked, second);
        float y = first.bottom() + 17;
        if (ran) {
            for (const std::string& words : scene.mesh.moved) {
                if (lines <= 0 || y > area.bottom()) break;
                ui.text(area.x, y, words, {.size = 12, .color = theme.ink2, .width = area.w});
                y += 17;
            }
            return;
        }
        const float middle = first.right() + (second.x - first.right()) / 2;
        ui.rect({middle - 8, first.y + h / 2 - 0.75f, 14, 1.5f}, theme.ink2);
        ui.arrow_head({middle + 10, first.y + h / 2}, Way::right, theme.ink2, 5);
        if (t < 1) draw_moving(ui, scene, picked, first, second, t);
        draw_plan(ui, scene, area, y);
    }
};

}  // namespace

std::unique_ptr<View> make_mesh_view() {
    return std::make_unique<MeshView>();
}

}  // namespace lockstep::gui
