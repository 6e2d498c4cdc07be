// The machine above a GPU: what its nodes do is what the schedule says, packets travel when they were sent, a late GPU holds
// up its neighbours, and 16,384 GPUs fit in the budget. Planned, in units, and of ranks that have trained.
#include <algorithm>
#include <cmath>
#include <set>

#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/many/cluster_level.h"
#include "app/gui/views/machine/many/step_way.h"
#include "app/gui/window/record.h"
#include "core/scene/cluster/cluster_training.h"
#include "tests/gui/desk.h"

namespace gui_machine_cluster_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<const Snapshot> snapshot_of(const scene::ClusterSetup& setup) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->cluster = std::make_shared<const scene::ClusterScene>(scene::run_cluster(setup));
    return snapshot;
}

scene::ClusterSetup published(size_t row) {
    scene::ClusterSetup setup;
    setup.plan = scene::published_plans()[row].setup();
    return setup;
}

scene::ClusterSetup of_schedule(const char* schedule, int chunks, double late = 2) {
    scene::ClusterSetup setup = scene::machine_cluster();
    setup.plan.plan.schedule = schedule;
    setup.plan.plan.chunks = chunks;
    setup.plan.plan.pp = 4;
    setup.plan.batch = 32;
    setup.plan.late_factor = late;
    return setup;
}

std::shared_ptr<const ClusterStep> step_for(const scene::ClusterSetup& setup) {
    const auto step = make_cluster_step(*snapshot_of(setup));
    REQUIRE(step);
    INFO(step->refusal);
    REQUIRE(step->refusal.empty());
    return step;
}

struct StepDesk : Desk {
    explicit StepDesk(const scene::ClusterSetup& setup, Stop stop = Stop::cluster, const char* theme = "dark")
        : Desk({.start = false}, theme) {
        session.workspace = Workspace::machine;
        session.machine.zoom = session.machine.wanted = static_cast<double>(stop);
        show(snapshot_of(setup));
    }
    std::shared_ptr<const ClusterStep> step() const { return session.cluster_step(*session.snapshot()); }
    void at_rest() {
        for (int i = 0; i < 200 && session.machine.zoom != session.machine.wanted; ++i) frame();
        frames(3);
    }
};

const parallel::ActionRun* action_at(const parallel::ScheduleRun& run, size_t rank, double time) {
    for (const parallel::ActionRun& ran : run.actions[rank])
        if (parallel::computes(ran.action.kind) && ran.begin <= time && time < ran.end) return &ran;
    return nullptr;
}

}  // namespace

TEST_CASE("What the GPUs of a node do at a moment is the schedule's action then") {
    for (const auto& [schedule, chunks] : {std::pair{"1f1b", 1}, {"zb-h1", 1}, {"interleaved", 2}, {"gpipe", 1}}) {
        const auto snapshot = snapshot_of(of_schedule(schedule, chunks));
        const scene::PlannedStep& planned = *snapshot->cluster->planned;
        INFO(schedule << ": " << planned.refusal);
        const auto step = make_cluster_step(*snapshot);
        REQUIRE(step->replicas == 4);
        REQUIRE(step->stages == 4);
        for (int k = 0; k < 300; ++k) {
            const double time = planned.end * (k + 0.37) / 300;
            for (int replica = 0; replica < step->replicas; ++replica) {
                const parallel::ScheduleRun& run = replica == step->late.replica ? planned.delayed : planned.on_time;
                for (int stage = 0; stage < step->stages; ++stage) {
                    const parallel::ActionRun* const ran = action_at(run, static_cast<size_t>(stage), time);
                    const GpuNow now = stage_at(*step, replica, stage, time);
                    const bool passes = now.span != nullptr && now.span->work <= StepWork::recompute;
                    REQUIRE(passes == (ran != nullptr));
                    if (ran == nullptr) continue;
                    CHECK(now.span->text() == parallel::text_of(ran->action));
                    CHECK(now.share == Approx((time - ran->begin) / (ran->end - ran->begin)));
                }
            }
        }
    }
}

TEST_CASE("A packet leaves when its action has ended, arrives when its sending has, and waits until it is taken") {
    for (const auto& [schedule, chunks] : {std::pair{"1f1b", 1}, {"zb-h1", 1}, {"interleaved", 2}}) {
        const auto step = step_for(of_schedule(schedule, chunks));
        size_t packets = 0;
        for (int replica = 0; replica < 2; ++replica) {
            const StepColumn& column = step->column(replica);
            for (const StepPacket& packet : column.packets) {
                ++packets;
                const auto& spans = column.lanes[static_cast<size_t>(packet.from)].spans;
                const auto made = std::find_if(spans.begin(), spans.end(), [&](const StepSpan& span) {
                    const bool back = span.work == StepWork::backward || span.work == StepWork::input;
                    return span.microbatch == packet.microbatch && span.stage == packet.stage &&
                           (packet.gradient ? back : span.work == StepWork::forward);
                });
                REQUIRE(made != spans.end());
                CHECK(packet.sent >= made->end - 1e-9);
                CHECK(packet.arrives > packet.sent);
                CHECK(packet.taken >= packet.arrives);
                for (const double least : {0.0, 1.0, 1000.0}) {
                    CHECK(way_of(packet, packet.sent, least) == 0);
                    CHECK(way_of(packet, packet.sent + (packet.arrives - packet.sent) * 0.999, least) < 1);
                    CHECK(way_of(packet, packet.taken, least) == 1);
                }
                CHECK(way_of(packet, packet.arrives, 0) == 1);
            }
            for (int k = 0; k < 200; ++k) {  // who is on the way
                const double time = step->end * k / 200;
                size_t there = 0;
                for (const StepPacket& packet : column.packets) there += packet.sent <= time && time < packet.taken;
                REQUIRE(packets_at(*step, replica, time).size() == there);
            }
        }
        const auto messages = static_cast<size_t>(2 * 2 * 8 * (4 * chunks - 1));  // replicas, ways, micro-batches, hops
        CHECK(packets == messages);
    }
}

TEST_CASE("A packet's mark stands between the doors of its stages") {
    const ClusterPlaces p = place_cluster({8, 100, 1584, 500}, 4, 8, 8);
    CHECK(p.detail == TileDetail::packets);
    for (const bool gradient : {false, true}) {
        const auto way = gradient ? packet_way(p, 1, 4, 3, true) : packet_way(p, 1, 3, 4, false);
        const Rect left = p.tile(1, 3), right = p.tile(1, 4);
        for (int k = 0; k <= 10; ++k) {
            const Point at = along(way, k / 10.0);
            CHECK(at.x >= left.right() - 0.01f);
            CHECK(at.x <= right.x + 0.01f);
            CHECK(at.y > left.y);
            CHECK(at.y < left.bottom());
        }
        CHECK(along(way, 0).x == Approx(gradient ? right.x : left.right()));
    }
}

TEST_CASE("A late GPU works alone while its neighbours wait, and holds up the stages beside it") {
    const auto step = step_for(scene::machine_cluster());
    const LateGpu& late = step->late;
    REQUIRE(late.replica >= 0);
    REQUIRE(late.until > late.from);
    CHECK(late.lost > 0);
    for (const double share : {0.01, 0.5, 0.99}) {
        const double time = late.from + (late.until - late.from) * share;
        int works = 0, waits = 0;
        for (int gpu = 0; gpu < step->group; ++gpu) {
            const GpuNow now = gpu_at(*step, late.replica, late.stage, gpu, time);
            (now.does == GpuDoes::late ? works : waits) += 1;
            CHECK((now.does == GpuDoes::late) == (gpu == late.gpu));
            CHECK((now.does == GpuDoes::late || now.does == GpuDoes::held_up));
        }
        CHECK(works == 1);
        CHECK(waits == 7);
    }
    // Before, all work.
    CHECK(gpu_at(*step, late.replica, late.stage, late.gpu, late.from - 1e-6).does == GpuDoes::works);
    // The stage before waits for its gradients longer than in the other replicas, and only in this one until the sum.
    bool stuck = false;
    for (int k = 0; k < 1000; ++k) {
        const double time = step->end * k / 1000;
        for (int stage = 0; stage < step->stages; ++stage) {
            const GpuNow here = stage_at(*step, late.replica, stage, time);
            if (here.does == GpuDoes::held_up && !here.span) {
                stuck = stuck || stage == late.stage - 1;
                CHECK(time >= late.from - 1e-6);
            }
            const GpuNow other = stage_at(*step, (late.replica + 1) % step->replicas, stage, time);
            if (other.does == GpuDoes::held_up) CHECK((!other.next || other.next->work == StepWork::sum));
        }
    }
    CHECK(stuck);
    // Nobody is late: nobody is held up.
    scene::ClusterSetup plain = scene::machine_cluster();
    plain.plan.late_factor = 0;
    const auto even = step_for(plain);
    CHECK(even->late.replica < 0);
    for (const StepColumn& column : even->columns)
        for (const StepLane& lane : column.lanes) CHECK(lane.held_up.empty());
    CHECK(even->end < step->end);
    CHECK(step->end - even->end == Approx(late.lost));
}

TEST_CASE("Without a late GPU the step takes what the planner says") {
    scene::ClusterSetup setup = scene::machine_cluster();
    setup.plan.late_factor = 0;
    for (const int zero : {0, 1, 2}) {
        setup.plan.plan.zero = zero;
        const auto snapshot = snapshot_of(setup);
        const scene::PlannedStep& planned = *snapshot->cluster->planned;
        INFO(planned.refusal);
        CHECK(planned.end * 1000 == Approx(planned.plan.step_us).epsilon(0.02));
        const auto step = make_cluster_step(*snapshot);
        double last = 0;
        for (const StepLane& lane : step->columns[0].lanes) last = std::max(last, lane.spans.back().end);
        CHECK(last == Approx(step->end));
    }
}

TEST_CASE("All GPUs are counted once, and every rank has one place") {
    for (size_t row = 0; row < scene::published_plans().size(); ++row) {
        const auto step = step_for(published(row));
        CHECK(step->gpus() == (row == 0 ? 256 : 16'384));
        CHECK(step->nodes() * step->node_gpus == step->gpus());
        CHECK(step->column_of.size() == static_cast<size_t>(step->replicas));
        for (int rank = 0; rank < step->gpus(); rank += 7) {
            CHECK(step->rank_of(step->replica_of(rank), step->stage_of(rank), step->gpu_of(rank)) == rank);
            CHECK(step->node_of(step->replica_of(rank), step->stage_of(rank)) == rank / step->node_gpus);
        }
        for (const StepColumn& column : step->columns)
            for (const StepLane& lane : column.lanes)
                for (size_t i = 1; i < lane.spans.size(); ++i) REQUIRE(lane.spans[i].begin >= lane.spans[i - 1].end - 1e-9);
    }
}

TEST_CASE("A ring of N replicas takes N - 1 rounds, or twice as many, and begins once the late one is there") {
    const auto step = step_for(scene::machine_cluster());
    REQUIRE(!step->rings.empty());
    for (const StepRing& ring : step->rings) {
        CHECK(ring.rounds == step->replicas - 1);  // ZeRO-1: scattered, then gathered
        CHECK(ring.round_at(ring.begin - 1e-6) == -1);
        CHECK(ring.round_at(ring.begin + 1e-9) == 0);
        CHECK(ring.round_at(ring.end - 1e-9) == ring.rounds - 1);
        CHECK(ring.round_at(ring.end) == -1);
        if (ring.gathers) continue;
        for (int replica = 0; replica < step->replicas; ++replica) {
            double last = 0;
            for (const StepSpan& span : step->lane(replica, ring.stage).spans)
                if (span.work <= StepWork::recompute) last = std::max(last, span.end);
            CHECK(ring.end >= last);
        }
    }
    scene::ClusterSetup plain = scene::machine_cluster();
    plain.plan.plan.zero = 0;
    CHECK(step_for(plain)->rings.front().rounds == 2 * 3);
}

TEST_CASE("Tiles lie apart and inside, their cells inside them, for any cluster and any size") {
    for (const auto& [replicas, stages, group] : {std::tuple{4, 8, 8},
                                                  {128, 16, 8},
                                                  {1, 1, 8},
                                                  {32, 1, 8},
                                                  {2, 2, 2},
                                                  {16, 4, 1},
                                                  {3, 5, 7},
                                                  {8, 1, 1},
                                                  {64, 64, 4}})
        for (const auto& [w, h] : {std::pair{1584.0f, 520.0f}, {1264.0f, 300.0f}, {2544.0f, 900.0f}, {760.0f, 280.0f}}) {
            INFO(replicas << " x " << stages << " x " << group << " in " << w << " x " << h);
            const ClusterPlaces p = place_cluster({8, 100, w, h}, replicas, stages, group);
            const Rect grid = p.grid();
            CHECK(grid.x >= 8);
            CHECK(grid.right() <= 8.5f + w);
            CHECK(grid.y >= 100);
            CHECK(grid.bottom() <= 100.5f + h);
            CHECK(p.pitch_x >= p.tile_w);
            CHECK(p.pitch_y >= p.tile_h - 0.01f);
            if (p.detail == TileDetail::texture) continue;
            for (int gpu = 0; gpu < group; ++gpu) {
                const Rect tile = p.tile(replicas - 1, stages - 1), cell = p.cell(replicas - 1, stages - 1, gpu);
                CHECK(cell.x >= tile.x - 0.01f);
                CHECK(cell.right() <= tile.right() + 0.51f);
                CHECK(cell.y >= tile.y - 0.01f);
                CHECK(cell.bottom() <= tile.bottom() + 0.51f);
                CHECK(p.replica_at({cell.x + cell.w / 2, cell.y + cell.h / 2}) == replicas - 1);
                CHECK(p.stage_at({cell.x + cell.w / 2, cell.y + cell.h / 2}) == stages - 1);
            }
        }
}

TEST_CASE("A few GPUs fill a large picture and stand in its middle") {
    for (const int replicas : {2, 4, 8}) {
        const ClusterPlaces p = place_cluster({8, 100, 2544, 1040}, replicas, 1, 1);
        const Rect grid = p.grid();
        INFO(replicas << " GPUs: " << grid.w << " x " << grid.h);
        CHECK(std::max(grid.w / 2544, grid.h / 1040) > (replicas == 2 ? 0.5f : 0.75f));  // two do not grow without end
        CHECK(grid.y + grid.h / 2 == Approx(100 + 1040 / 2.0).margin(8));
        CHECK(grid.x + grid.w / 2 == Approx(8 + 2544 / 2.0).margin(24));
        const Rect tile = p.tile(0, 0), cell = p.cell(0, 0, 0);
        CHECK(cell.h > 0.75f * tile.h);  // its line of words stays one line
    }
}

TEST_CASE("Cluster and node read at any size and moment, within the budget of quads") {
    for (size_t row = 0; row < scene::published_plans().size(); ++row)
        for (const Stop stop : {Stop::cluster, Stop::node}) {
            StepDesk desk(published(row), stop);
            for (const auto& [w, h, scale] : {std::tuple{1600.0f, 1000.0f, 1.0f},
                                              {1280.0f, 720.0f, 1.0f},
                                              {1600.0f, 1000.0f, 2.0f},
                                              {2560.0f, 1440.0f, 1.0f}}) {
                desk.size(w, h, scale);
                for (const double share : {-1.0, 0.0, 0.2, 0.61, 0.93, 1.0}) {
                    desk.session.cluster.time = share < 0 ? -1 : share * desk.step()->end;
                    desk.frames(3);
                    INFO(scene::published_plans()[row].name << " stop " << static_cast<int>(stop) << " at " << w << "x" << h
                                                            << " x" << scale << ", " << share);
                    for (const std::string& clash : desk.clashes()) UNSCOPED_INFO(clash);
                    CHECK(desk.clashes().empty());
                    CHECK(desk.quads <= 8'000);
                }
            }
        }
}

TEST_CASE("The clock of the cluster is the step's: it plays smoothly, begins again, and follows the strip and the arrows") {
    StepDesk desk(scene::machine_cluster());
    const double end = desk.step()->end;
    desk.session.cluster.time = 10;
    desk.session.machine.cluster_speed = 1e4;  // 10 ms a second
    desk.session.playing = true;
    desk.pace = 0.1;
    desk.frames(2);
    double before = desk.session.cluster.time;
    for (int i = 0; i < 10; ++i) {
        desk.frame();
        CHECK(desk.session.cluster.time == Approx(before + 1));
        before = desk.session.cluster.time;
    }
    desk.session.machine.cluster_speed = 1e6;
    desk.session.cluster.time = end - 10;
    desk.frames(2);
    CHECK(desk.session.playing);
    CHECK(desk.session.cluster.time < end / 2);
    desk.session.playing = false;
    desk.key(KeyCode::home);
    CHECK(desk.session.cluster.time == 0);
    desk.key(KeyCode::right);
    CHECK(desk.session.cluster.time > 0);
    desk.key(KeyCode::end);
    CHECK(desk.session.cluster.time == Approx(end));
    desk.drag(700, 860, 800, 860);
    CHECK(desk.session.cluster.time > 0.3 * end);
    CHECK(desk.session.cluster.time < 0.6 * end);
    CHECK(desk.click_on("10 ms"));
    CHECK(desk.session.machine.cluster_speed == 1e4);
}

TEST_CASE("A click looks at a node, another goes in, and a GPU of it leads to the kernel's") {
    StepDesk desk(scene::machine_cluster());
    REQUIRE(desk.click_on("node 5"));
    CHECK(desk.session.machine.rank / 8 == 5);
    CHECK(desk.session.machine.wanted == 0);
    REQUIRE(desk.click_on("node 5"));
    desk.at_rest();
    CHECK(desk.session.machine.zoom == 1);
    CHECK(desk.shows("NVSwitch"));
    REQUIRE(desk.click_on("GPU 2"));
    CHECK(desk.session.machine.rank == 5 * 8 + 2);
    REQUIRE(desk.click_on("GPU 2"));
    CHECK(desk.session.machine.wanted == 2);
    desk.at_rest();
    desk.key(KeyCode::escape);
    desk.at_rest();
    CHECK(desk.session.machine.zoom == 1);
}

TEST_CASE("Nothing of the cluster is asked for before the zoom comes there") {
    Desk desk;
    desk.session.workspace = Workspace::machine;
    desk.show(std::make_shared<Snapshot>());
    desk.frames(3);
    CHECK(desk.session.machine.zoom == 2);
    CHECK(!desk.session.cluster.asked);
    desk.session.machine.wanted = 0;
    desk.frames(4);
    REQUIRE(desk.session.cluster.asked);
    CHECK(desk.session.cluster.asked->plan.on);
    desk.show(snapshot_of(*desk.session.cluster.asked));
    for (int i = 0; i < 60; ++i) desk.frame();
    CHECK(!desk.session.cluster.asked);
    CHECK(desk.shows("node 0"));
}

TEST_CASE("Schedules in units and ranks that have trained stand there too, and what cannot be says why") {
    {
        StepDesk units({});
        CHECK(units.step()->source == ClusterStep::Source::units);
        CHECK(units.clashes().empty());
        CHECK(units.step()->end == 33);
        CHECK_THAT(units.shell.describe("machine"), Contains("33 units"));
    }
    {
        scene::ClusterSetup training;
        training.training = scene::training_named("dp=2 pp=2 zero=1 schedule=1f1b");
        training.training.on = true;
        StepDesk trained(training);
        REQUIRE(trained.step()->source == ClusterStep::Source::trained);
        CHECK(trained.step()->gpus() == 4);
        for (const std::string& clash : trained.clashes()) UNSCOPED_INFO(clash);
        CHECK(trained.clashes().empty());
        for (const StepColumn& column : trained.step()->columns)
            for (const StepLane& lane : column.lanes) {
                CHECK(!lane.spans.empty());
                for (size_t i = 1; i < lane.spans.size(); ++i) REQUIRE(lane.spans[i].begin >= lane.spans[i - 1].end - 1e-6);
            }
    }
    scene::ClusterSetup impossible = scene::machine_cluster();
    impossible.plan.model = "no such model";
    StepDesk refused(impossible);
    CHECK((refused.shows("This") && refused.shows("step")));  // a word at a time
    CHECK(refused.clashes().empty());
}

TEST_CASE("The Cluster workspace shows the same planned step on the same clock, and goes back to bare schedules") {
    Desk desk;
    desk.session.workspace = Workspace::cluster;
    const auto snapshot = snapshot_of(scene::machine_cluster());
    desk.show(snapshot);
    desk.frames(3);
    for (const std::string& clash : desk.clashes()) UNSCOPED_INFO(clash);
    CHECK(desk.clashes().empty());
    CHECK(desk.shows("planned step"));
    CHECK(schedule_end(*snapshot->cluster) == Approx(snapshot->cluster->planned->end));
    REQUIRE(snapshot->cluster->schedules.size() == 2);
    CHECK(snapshot->cluster->schedules[0].run.total > snapshot->cluster->schedules[1].run.total);
    REQUIRE(desk.click_on("schedules"));
    REQUIRE(desk.session.cluster.asked);
    CHECK(!desk.session.cluster.asked->plan.on);
    CHECK(scene::run_cluster(*desk.session.cluster.asked).planned == nullptr);
}

TEST_CASE("A chip plans the step of 16,384 GPUs, and the clock goes to where it is late") {
    StepDesk desk(scene::machine_cluster());
    desk.session.cluster.time = 5;
    REQUIRE(desk.click_on("405 B on 16,384"));
    REQUIRE(desk.session.cluster.asked);
    desk.show(snapshot_of(*desk.session.cluster.asked));
    CHECK(desk.step()->gpus() == 16'384);
    CHECK(desk.shows("16,384 GPUs"));
    const double now = cluster_time(desk.session, *desk.step());
    CHECK(now > desk.step()->late.from);
    CHECK(now < desk.step()->late.until);
    CHECK_THAT(desk.shell.describe("machine"), Contains("128 replicas x 16 stages x 8 GPUs, 2,048 nodes"));
}

TEST_CASE("A step on several ranks is preferred, and its GPUs stand in one node") {
    parallel::ParallelOptions options;
    options.training.model = "mlp";
    options.training.batch = 64;
    options.plan.dp = 4;
    parallel::ParallelTrainer trainer(options);
    auto snapshot = std::make_shared<Snapshot>(*snapshot_of(scene::machine_cluster()));
    snapshot->training.on_ranks = std::make_shared<const parallel::ParallelStepRecord>(trainer.step());
    Desk desk;
    desk.session.workspace = Workspace::machine;
    desk.session.machine.zoom = desk.session.machine.wanted = 1;
    desk.show(snapshot);
    const auto step = desk.session.cluster_step(*snapshot);
    CHECK(step->source == ClusterStep::Source::ranks);
    CHECK(step->gpus() == 4);
    CHECK(step->nodes() == 1);
    CHECK(desk.shows("GPU 3"));
    CHECK(desk.clashes().empty());
    double last = 0;
    for (const parallel::RankStep& rank : snapshot->training.on_ranks->ranks)
        for (const parallel::RankSpan& span : rank.spans) last = std::max(last, span.end_us);
    CHECK(step->end <= last + 1e-6);
    desk.session.machine.zoom = desk.session.machine.wanted = 0;
    desk.frames(3);
    CHECK(desk.clashes().empty());
}

TEST_CASE("A sum's parts travel only while a layer is summed") {
    const auto step = step_for(scene::machine_cluster());
    REQUIRE(step->sums.share > 0);
    REQUIRE(step->sums.share < 1);
    int on = 0, all = 0;
    for (int k = 0; k < 20'000; ++k) {
        const double time = step->end * k / 20'000;
        const GpuNow now = stage_at(*step, 1, 3, time);
        const SumNow sum = sum_at(*step, 3, now);
        if (now.span == nullptr || now.span->work > StepWork::recompute) {
            CHECK(!sum.on);
            continue;
        }
        ++all;
        on += sum.on;
        CHECK(sum.layer >= 0);
        CHECK(sum.layer < sum.of);
        CHECK(sum.share >= 0);
        CHECK(sum.share <= 1);
    }
    CHECK(static_cast<double>(on) / all == Approx(step->sums.share).margin(0.03));
}

TEST_CASE("A micro-batch's way leaves out nothing: it works where the schedule says, and what is between is a wait") {
    for (const auto& [schedule, chunks] : {std::pair{"1f1b", 1}, {"zb-h1", 1}, {"interleaved", 2}, {"gpipe", 1}}) {
        const auto step = step_for(of_schedule(schedule, chunks));
        for (const int replica : {0, 1})
            for (const int microbatch : {0, 3, 7}) {
                INFO(schedule << " replica " << replica << " micro-batch " << microbatch);
                const StepWay way = way_through(*step, {FollowedPacket::Kind::microbatch, replica, microbatch, -1});
                REQUIRE(!way.empty());
                CHECK(way.legs.front().is == WayLeg::Is::works);
                CHECK(way.legs.back().is == WayLeg::Is::works);
                CHECK((way.legs.front().from == 0 && way.legs.back().to == 0));  // out and home
                double works = 0;
                for (size_t i = 0; i < way.legs.size(); ++i) {
                    const WayLeg& leg = way.legs[i];
                    CHECK(leg.end > leg.begin);
                    if (i > 0) CHECK(leg.begin == Approx(way.legs[i - 1].end));
                    if (leg.is != WayLeg::Is::works) continue;
                    works += leg.end - leg.begin;
                    const GpuNow now = stage_at(*step, replica, leg.from, (leg.begin + leg.end) / 2);
                    REQUIRE(now.span != nullptr);
                    CHECK(now.span->microbatch == microbatch);
                }
                CHECK(works + way.waited(way.end) <= way.end - way.begin + 1e-9);
                size_t passes = 0;
                for (const StepLane& lane : step->column(replica).lanes)
                    for (const StepSpan& span : lane.spans)
                        passes += span.microbatch == microbatch &&
                                  (span.work == StepWork::forward || span.work == StepWork::backward ||
                                   span.work == StepWork::input);
                CHECK(passes == static_cast<size_t>(std::count_if(way.legs.begin(), way.legs.end(), [](const WayLeg& leg) {
                          return leg.is == WayLeg::Is::works;
                      })));
            }
    }
}

TEST_CASE("A chunk goes round its ring, a replica a round, as the ring draws it") {
    const auto step = step_for(of_schedule("1f1b", 1));
    REQUIRE(!step->rings.empty());
    const StepRing& ring = step->rings.front();
    for (int chunk = 0; chunk < step->replicas; ++chunk) {
        const StepWay way = way_through(*step, {FollowedPacket::Kind::chunk, 0, 0, chunk});
        REQUIRE(static_cast<int>(way.legs.size()) == ring.rounds);
        CHECK(way.begin == Approx(ring.begin));
        CHECK(way.end == Approx(ring.end));
        for (int round = 0; round < ring.rounds; ++round) {
            const WayLeg& leg = way.legs[static_cast<size_t>(round)];
            CHECK(leg.to == (leg.from + 1) % step->replicas);
            CHECK(((leg.from - round) % step->replicas + step->replicas) % step->replicas == chunk);
            CHECK(ring.round_at((leg.begin + leg.end) / 2) == round);
        }
    }
}

TEST_CASE("Follow stops the clock where the micro-batch is done, and skip waits leaves out what nobody waits through") {
    StepDesk desk(of_schedule("1f1b", 1));
    const auto step = desk.step();
    desk.session.machine.packet = {FollowedPacket::Kind::microbatch, 1, 2, -1};
    desk.session.machine.follow = true;
    desk.session.machine.cluster_speed = step->end * step->unit_us / 5;
    const StepWay way = way_through(*step, desk.session.machine.packet);
    desk.session.cluster.time = way.begin;
    desk.frames(2);
    CHECK(desk.shows("micro-batch 3 of replica 1"));
    const auto seconds = [&] {
        desk.session.cluster.time = way.begin;
        desk.session.playing = true;
        desk.pace = 0.01;
        int frames = 0;
        for (; frames < 4000 && desk.session.playing; ++frames) {
            desk.frame();
            if (!desk.session.machine.skip_waits) continue;
            const double now = desk.session.cluster.time;  // it stands within no long wait
            CHECK(wait_over(*step, way, 0, now) - now <= 0.02 * step->end / 5 + 1e-9);
        }
        CHECK(desk.session.cluster.time == Approx(way.end));
        return frames * 0.01;
    };
    const double whole = seconds();
    desk.session.machine.skip_waits = true;
    CHECK(seconds() < whole - 4 * way.waited(way.end) / step->end);
}

TEST_CASE("A planned step's times are derived in the machine and in the pipeline's picture alike") {
    StepDesk desk(scene::machine_cluster());
    desk.at_rest();
    CHECK(desk.shows("derived"));
    CHECK_FALSE(desk.shows("simulated"));
    desk.session.workspace = Workspace::cluster;
    desk.shell.show_alone("pipeline");
    desk.frames(3);
    CHECK(desk.shows("derived"));
    CHECK_FALSE(desk.shows("simulated"));
    CHECK(desk.shell.describe("pipeline").find("(derived)") != std::string::npos);
}

TEST_CASE("A packet on its way is followed by a click, and by the chip of the transport") {
    StepDesk desk(of_schedule("1f1b", 1));
    std::string tag;
    for (int k = 1; k < 1000 && tag.empty(); ++k) {  // where one alone is on its way
        desk.session.cluster.time = desk.step()->end * k / 1000;
        const auto there = packets_at(*desk.step(), 1, desk.session.cluster.time);
        if (there.size() == 1) tag = desk.step()->column(1).packets[there.front()].text();
    }
    desk.frames(3);
    REQUIRE(!tag.empty());
    Point at;  // of the tag, which is drawn after the nodes' heads and before the strip
    for (const UiState::Written& text : desk.written)
        if (text.text == tag && text.ink.y < 600) at = {text.ink.x + text.ink.w / 2, text.ink.y + text.ink.h / 2};
    REQUIRE(at.x > 0);
    desk.click(at.x, at.y);
    REQUIRE(desk.session.machine.packet.kind == FollowedPacket::Kind::microbatch);
    CHECK("F" + std::to_string(desk.session.machine.packet.number + 1) == "F" + tag.substr(1));
    CHECK(desk.shows("Followed"));
    CHECK(desk.shell.describe("machine").find("followed: Micro-batch") != std::string::npos);
    CHECK(desk.clashes().empty());
    REQUIRE(desk.click_on("let go"));
    CHECK(desk.session.machine.packet.kind == FollowedPacket::Kind::none);
    REQUIRE(desk.click_on("follow"));
    CHECK(desk.session.machine.follow);
    CHECK(desk.session.machine.packet.kind != FollowedPacket::Kind::none);
    desk.session.machine.zoom = desk.session.machine.wanted = 1;
    desk.frames(3);
    CHECK(desk.shows("Followed"));
    CHECK(desk.clashes().empty());
}

TEST_CASE("The step's clock is recorded in its own unit, and a stretch that is none of it is refused") {
    StepDesk desk(of_schedule("1f1b", 1));
    const double end = desk.step()->end;
    const Moments moments = moments_of_step(desk.shell, {.from = 10.5, .to = 60.5, .speed = 25}, 10);
    REQUIRE(moments.frames == 21);
    for (int k = 0; k < moments.frames; ++k) {
        moments.show(k, desk.session, desk.shell.focus);
        CHECK(desk.session.cluster.time == Approx(10.5 + 2.5 * k));
    }
    CHECK(moments_of_step(desk.shell, {}, 20).frames == 201);  // ten seconds of it all
    const auto refused = [&](const Stretch& stretch) -> std::string {
        try {
            moments_of_step(desk.shell, stretch, 20);
        } catch (const Failure& failure) {
            return failure.what();
        }
        return "";
    };
    CHECK(refused({.from = 5, .to = end * 2}).find("takes " + fmt::format("{:.6g} ms", end)) != std::string::npos);
    CHECK(refused({.from = 50, .to = 20}).find("no stretch of this step") != std::string::npos);
    CHECK(refused({.from = 0, .to = 100, .speed = 0.001}).find("frames") != std::string::npos);
    CHECK(refused({.from = 0, .to = 10}).empty());
}

TEST_CASE("What GPUs of a few pixels do is told by a stroke as well as by colour") {
    const Theme& theme = theme_named("dark");
    const StepSpan forward{StepWork::forward}, backward{StepWork::backward}, sum{StepWork::sum};
    const std::vector<GpuNow> states = {{GpuDoes::works, &forward, nullptr, 0},
                                        {GpuDoes::works, &backward, nullptr, 0},
                                        {GpuDoes::works, &sum, nullptr, 0},
                                        {GpuDoes::held_up, nullptr, nullptr, 0},
                                        {GpuDoes::idle, nullptr, nullptr, 0}};
    std::set<std::vector<bool>> patterns;  // which pixels are of the stroke, whatever the colour
    for (const GpuNow& state : states) {
        std::vector<bool> pattern;
        std::set<Color> colors;
        const Color first = texel_of(state, 2, 3, theme);
        for (int y = 0; y < texel_period; ++y)
            for (int x = 0; x < texel_period; ++x) {
                const Color color = texel_of(state, x, y, theme);
                colors.insert(color);
                pattern.push_back(color != first);
                CHECK(color == texel_of(state, x + texel_period, y + 3 * texel_period, theme));
            }
        CHECK(colors.size() <= 2);
        CHECK(patterns.insert(pattern).second);
    }
    StepDesk desk(published(1));
    desk.session.cluster.time = desk.step()->end * 0.5;
    desk.frames(3);
    CHECK(std::count_if(desk.written.begin(), desk.written.end(), [](const UiState::Written& text) {
              return text.text == "F" || text.text == "B";
          }) >= 10);  // and by a letter where many do the same
    CHECK(desk.clashes().empty());
}

}  // namespace gui_machine_cluster_test
