// Two schedules are drawn at most: the first row's, and that of the row that is asked about, else the last one's. Of
// collectives and layouts one is drawn.
#include "core/scene/cluster/parallel_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/comm/network/timing.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/scene/figures/figure_table.h"

namespace lockstep::scene {
namespace {

double setting_of(const ParallelRow& row, const std::string& key, double otherwise) {
    const auto found = row.figures.find(key);
    return found == row.figures.end() ? otherwise : found->second;
}

bool goes_by(const ParallelRow& row, std::string_view asked) {
    return std::equal(row.name.begin(), row.name.end(), asked.begin(), asked.end(),
                      [](char a, char b) { return (a == '-' ? '_' : a) == b; });
}

// Of collectives and layouts one is drawn: the row that is asked about, else the first.
const ParallelRow& drawn_row(const ParallelScene& scene, std::string_view asked) {
    const auto found =
        std::find_if(scene.rows.begin(), scene.rows.end(), [&](const ParallelRow& row) { return goes_by(row, asked); });
    return found != scene.rows.end() ? *found : scene.rows.front();
}

// The first row, and beside it the one that is asked about, else the last.
std::vector<const ParallelRow*> drawn_rows(const ParallelScene& scene, std::string_view asked) {
    std::vector<const ParallelRow*> rows = {&scene.rows.front()};
    if (scene.rows.size() < 2) return rows;
    const auto found = std::find_if(scene.rows.begin() + 1, scene.rows.end(),
                                    [&](const ParallelRow& row) { return row.schedule && goes_by(row, asked); });
    rows.push_back(found != scene.rows.end() ? &*found : &scene.rows.back());
    return rows;
}

void show_schedules(const std::vector<const ParallelRow*>& rows, const ParallelScene& scene, ClusterScene& picture) {
    picture.schedules.clear();
    for (const ParallelRow* row : rows) {
        if (!row->schedule) continue;
        ScheduleShown shown;
        shown.kind = row->schedule->schedule.kind;
        shown.title = row->name == shown.kind ? row->title : fmt::format("{}: {}", row->title, row->name);
        std::replace(shown.title.begin(), shown.title.end(), '_', ' ');
        for (const parallel::ScheduleRow& kind : parallel::schedules())
            if (kind.name == shown.kind) shown.summary = kind.summary, shown.takes_chunks = kind.chunks == 0;
        shown.run = *row->schedule;
        shown.executed = scene.kind == "parallel";
        picture.schedules.push_back(std::move(shown));
    }
}

void set_up_pipeline(const std::vector<const ParallelRow*>& rows, PipelineSetup& setup) {
    const ParallelRow& row = *rows.front();
    setup.kinds.clear();
    for (const ParallelRow* one : rows)
        if (one->schedule)
            setup.kinds.push_back(one->schedule->schedule.kind == "own" ? "1f1b" : one->schedule->schedule.kind);
    if (setup.kinds.empty()) setup.kinds = {"1f1b"};
    setup.ranks = static_cast<int>(setting_of(row, "ranks", 4));
    setup.microbatches = static_cast<int>(setting_of(row, "microbatches", 8));
    setup.forward = setting_of(row, "forward", 1);
    setup.input = setting_of(row, "input", 1);
    setup.weight = setting_of(row, "weight", 1);
    setup.hop = setting_of(row, "hop", 0);
}

std::string written(const ParallelRow& row, const std::string& key, const std::string& otherwise) {
    const auto found = row.settings.find(key);
    return found == row.settings.end() ? otherwise : found->second;
}

void set_up_collective(const ParallelRow& row, CollectiveSetup& setup) {
    setup.operation = row.collective->collective->operation;
    setup.algorithm = row.collective->collective->algorithm;
    setup.ranks = row.collective->collective->ranks;
    setup.servers = row.collective->collective->shape.servers;
    setup.bytes = static_cast<double>(row.collective->bytes());
    setup.link = written(row, "link", "nvlink4");
    setup.late_rank = -1;
    setup.late_us = 0;
}

// The machine that a collective runs on, where the row says which.
void set_up_network(const ParallelRow& row, NetworkSetup& setup) {
    const std::string topology = written(row, "topology", "ideal");
    if (topology == "ideal") return;
    setup.topology = topology;
    setup.ranks = row.collective->collective->ranks;
    setup.node_size = static_cast<int>(setting_of(row, "node_size", setup.node_size));
    setup.link = written(row, "link", setup.link);
    setup.inner = written(row, "inner", "nvlink4");
    setup.algorithm = row.collective->collective->algorithm;
    setup.bytes = static_cast<double>(row.collective->bytes());
}

void show_collective(const ParallelRow& row, ClusterScene& picture) {
    CollectiveShown& shown = picture.collective;
    shown = {};
    shown.run = *row.collective;
    shown.operation = shown.run.collective->operation;
    shown.algorithm = row.title == "own" ? "your" : shown.run.collective->algorithm;
    shown.on_time_us = shown.run.total_us;
    shown.messages = shown.run.transfers;
    std::stable_sort(shown.messages.begin(), shown.messages.end(),
                     [](const comm::Transfer& a, const comm::Transfer& b) { return a.begin_us < b.begin_us; });
    for (const int64_t sent : shown.run.bytes_sent) {
        shown.most_sent = std::max(shown.most_sent, sent);
        shown.all_sent += sent;
    }
    if (written(row, "topology", "ideal") == "two_level")
        shown.node_size = static_cast<int>(setting_of(row, "node_size", std::min(8, shown.ranks())));
    shown.link = fmt::format("{}, {:g} GB/s, {:g} µs", comm::link_named(written(row, "link", "nvlink4")).title,
                             setting_of(row, "gigabytes", 0), setting_of(row, "latency", 0));
}

void set_up_mesh(const ParallelRow& row, MeshSetup& setup) {
    const parallel::Mesh mesh = parallel::mesh_named(written(row, "mesh", "x:4"));
    std::vector<int64_t> extents;
    for (const char c : written(row, "shape", row.title == "product" ? "6x4x6" : "6x6") + "x") {
        if (extents.empty()) extents.push_back(0);
        if (c == 'x')
            extents.push_back(0);
        else
            extents.back() = extents.back() * 10 + (c - '0');
    }
    if (extents.size() < 3) return;
    extents.pop_back();
    setup.axes = mesh.axes;
    setup.rows = extents.front();
    setup.columns = extents.back();
    setup.type = DType::f32;
    const auto layout = [&](const std::string& key, const std::string& otherwise) {
        return parallel::layout_named(mesh, written(row, key, otherwise), 2);
    };
    if (row.title == "product")
        setup.before = parallel::matrix_product(mesh, {{extents[0], extents[1]}, layout("a", "-,-")},
                                                {{extents[1], extents[2]}, layout("b", "-,-")})
                           .layout.along;
    else
        setup.before = layout("layout", "-,-").along;
    setup.after = written(row, "to", "").empty() ? setup.before : layout("to", "").along;
}

// The axes that cut a layer, a sequence or the stack of layers: "TP 2, PP 4"; empty: the batch alone is cut.
std::string cuts_of_model(const ParallelRow& row) {
    std::string text;
    const parallel::ParallelPlan& split = row.split;
    for (const auto& [name, size] : {std::pair("TP", split.tp), {"PP", split.pp}, {"CP", split.cp}})
        if (size > 1) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, size);
    return text;
}

void show_memory(const ParallelScene& scene, ClusterScene& picture) {
    static constexpr std::string_view kinds[] = {"weights", "gradients", "optimizer", "activations", "buffers"};
    static constexpr std::string_view sharded[] = {"nothing", "Adam", "+ gradients", "+ weights"};
    MemoryShown& shown = picture.memory;
    shown.columns.clear();
    shown.counted = true;
    shown.capacity = 0;
    shown.gpu.clear();
    for (const ParallelRow& row : scene.rows) {
        MemoryColumn& column = shown.columns.emplace_back();
        column.name = row.name;
        std::replace(column.name.begin(), column.name.end(), '_', ' ');
        column.zero = std::clamp(static_cast<int>(setting_of(row, "zero", 0)), 0, 3);
        column.sharded = sharded[column.zero];
        const double n = setting_of(row, "dp", 1);
        if (const std::string cuts = cuts_of_model(row); cuts.empty()) {
            column.sends = (column.zero == 3 ? 3 : 2) * (n - 1) / n;
        } else {  // messages of layers as well: no multiple of the parameters
            column.sharded = column.zero > 0 ? cuts + ", " + column.sharded : cuts;
            column.sent = static_cast<int64_t>(setting_of(row, "bytes_sent", 0));
        }
        for (size_t kind = 0; kind < std::size(kinds); ++kind)
            column.bytes[kind] = static_cast<int64_t>(std::llround(setting_of(row, std::string(kinds[kind]), 0)));
    }
    const ParallelRow& last = scene.rows.back();
    if (!last.step || last.step->ranks.empty() || last.step->ranks.front().memory.empty()) return;
    const parallel::RankStep& rank = last.step->ranks.front();
    const double step = std::max(1e-9, rank.end_us - rank.begin_us);
    shown.over_step.clear();
    for (parallel::MemoryPoint point : rank.memory) {
        point.time_us = std::clamp((point.time_us - rank.begin_us) / step, 0.0, 1.0);
        shown.over_step.push_back(point);
    }
    if (!shown.over_step.empty()) shown.over_step.push_back({1, shown.over_step.back().bytes});
    shown.step_of = shown.columns.back().name;
}

}  // namespace

std::shared_ptr<const ClusterScene> cluster_picture(const SceneResult& result, const std::string& source,
                                                    std::string_view asked, const std::string& gpu) {
    auto table = figure_table(result);
    if (!table) return nullptr;
    const auto rows = result.as<ParallelScene>();
    if (!rows) {
        auto picture = std::make_shared<ClusterScene>(run_cluster(ClusterSetup()));
        picture->source = source;
        picture->table = std::move(table);
        return picture;
    }
    const ParallelScene& scene = *rows;
    const std::vector<const ParallelRow*> drawn = drawn_rows(scene, asked);
    const ParallelRow& one = drawn_row(scene, asked);
    ClusterSetup setup;
    if (scene.rows.front().schedule) set_up_pipeline(drawn, setup.pipeline);
    if (one.collective) {
        set_up_collective(one, setup.collective);
        set_up_network(one, setup.network);
        setup.network.gpu = gpu;
    }
    if (scene.rows.front().title == "state") {  // its memory is what the picture works out
        setup.memory.parameters = setting_of(scene.rows.front(), "parameters", setup.memory.parameters);
        setup.memory.gpus = static_cast<int>(setting_of(scene.rows.front(), "dp", setup.memory.gpus));
        if (scene.rows.size() == 1) setup.memory.only = static_cast<int>(setting_of(scene.rows.front(), "zero", 0));
        if (model::gpu_named(gpu).ok()) setup.memory.gpu = gpu;
    }
    if (scene.kind == "mesh") set_up_mesh(one, setup.mesh);
    auto picture = std::make_shared<ClusterScene>(run_cluster(setup));
    picture->source = source;
    picture->table = std::move(table);
    picture->ran = rows;
    picture->asked = asked;
    if (scene.rows.front().schedule) show_schedules(drawn, scene, *picture);
    if (one.collective) show_collective(one, *picture);
    if (scene.kind == "parallel") show_memory(scene, *picture);
    for (const ParallelRow& row : scene.rows)
        if (row.lanes) picture->workers.push_back(row.lanes);
    return picture;
}

}  // namespace lockstep::scene
