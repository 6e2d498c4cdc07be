// Launching: ranks fill a server after the other and local ranks begin at 0 on each, as mpirun and torchrun number them; the
// picture reads at any size and leaves local ranks out while they are asked for.
#include <tuple>

#include "app/gui/views/cluster/launch/launch_places.h"
#include "tests/gui/rows_desk.h"

namespace gui_processes_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {
constexpr const char* two_servers = "tensor name=world mesh=host:2,slot:4 shape=8x4 layout=host*slot,-";
}

TEST_CASE("ranks fill server after server, local ranks begin at 0 again, and the network lies between two of them") {
    for (const int servers : {1, 2, 3, 4})
        for (const int slots : {1, 2, 4}) {
            const LaunchPlaces places = launch_places({{{"host", servers}, {"slot", slots}}});
            REQUIRE(places.world() == servers * slots);
            int crossing = 0;
            for (int rank = 0; rank < places.world(); ++rank) {
                CHECK(places.processes[size_t(rank)].server == rank / slots);
                CHECK(places.processes[size_t(rank)].local == rank % slots);
                crossing += rank / slots != (rank + 1) % places.world() / slots;
            }
            CHECK(places.hops_over_network() == crossing);
            CHECK(places.hops_over_network() == (servers > 1 ? servers : 0));
            CHECK(places.hops_turn_by_turn() == (servers > 1 ? places.world() : 0));
        }
    CHECK(launch_places({{{"room", 2}, {"host", 2}, {"slot", 4}}}).processes[13].server == 3);
    const LaunchPlaces dealt = launch_places({{{"slot", 4}, {"host", 3}}});
    CHECK(dealt.by_turns);
    CHECK(dealt.processes[7].server == 1);
    CHECK(dealt.processes[7].local == 2);
    CHECK(dealt.hops_over_network() == 12);
    CHECK(mpirun_words(dealt).starts_with("mpirun -np 12 --map-by node -H server1:4,"));
    // 400 Gb/s are 50 GB/s: 8 MB take 160 µs and the latency.
    CHECK(hop_us("ib-ndr", 8e6) == Approx(161));
    CHECK(hop_us("nvlink4", 8e6) == Approx(8e6 / 450e3 + 0.6));
}

TEST_CASE("ranks dealt out turn by turn stand on their servers, and a bar says which rows each holds") {
    RowsDesk desk("mesh", "tensor mesh=slot:4,host:3 shape=24x1 layout=slot,-", "processes", false);
    CHECK(rows_headline(desk.session.snapshot()->cluster->mesh) == "Each process holds 6 of the 24 rows: each row 3 times");
    CHECK(desk.shows("12 of 12 hops cross the network"));
    CHECK(desk.shows("both behind the network"));
    CHECK(desk.shows("3 of 12"));  // server by server
    for (const auto& [w, h, scale] :
         {std::tuple{1600.0f, 1000.0f, 1.0f}, {1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 2.0f}}) {
        desk.size(w, h, scale);
        desk.frames(3);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("a lesson's mesh stands as servers and processes that can be picked; the figures are the engine's") {
    RowsDesk desk("mesh", two_servers, "processes", false);
    const auto& figures = desk.result.as<scene::ParallelScene>()->rows.front().figures;
    const LaunchPlaces places = launch_places(desk.session.snapshot()->cluster->mesh.mesh);
    for (int rank = 0; rank < 8; ++rank) {
        CHECK(places.processes[size_t(rank)].local == figures.at(fmt::format("coordinate@axis:slot@rank:{}", rank)));
        CHECK(places.processes[size_t(rank)].server == figures.at(fmt::format("coordinate@axis:host@rank:{}", rank)));
    }
    CHECK(desk.shows("2 of 8 hops cross the network: 3 → 4, 7 → 0"));
    CHECK(desk.shows("$ mpirun -np 8 -H server1:4,server2:4 train"));
    CHECK(desk.shows("What rank 6 is told"));
    CHECK(desk.shows("takes GPU 2 of server 2"));
    CHECK(desk.shows("2 of 8"));
    CHECK(desk.shows("8 of 8"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    // No clock runs in a layout: the arrows are the picture's too.
    desk.key(KeyCode::left);
    CHECK(desk.shows("What rank 5 is told"));
    desk.key(KeyCode::right);
    CHECK(desk.shows("What rank 6 is told"));
    desk.shell.show_alone("processes");
    desk.frames(3);
    desk.key(KeyCode::d);
    CHECK(desk.shows("What rank 7 is told"));
    REQUIRE(desk.click_on("the meeting"));
    CHECK(desk.shows("MASTER_ADDR:MASTER_PORT, rank 0 listens: 7 call, all learn WORLD_SIZE 8"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("while a local rank is asked for, only the first server's are told") {
    RowsDesk desk("mesh", two_servers, "processes", true);
    const std::string said = desk.shell.describe("processes");
    CHECK(said.find("RANK=3 LOCAL_RANK=3") != std::string::npos);
    CHECK(said.find("RANK=4") == std::string::npos);
    CHECK(said.find("rank 6: server 2\n") != std::string::npos);
    CHECK(!desk.shows("takes GPU 2"));
    CHECK(!desk.shows("begin at 0 again"));
    CHECK(desk.shows("GPU ?"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("no text of servers and processes clashes at any size", "[long]") {
    for (const char* rows : {two_servers, "tensor mesh=host:3,slot:4 shape=24x1 layout=-,-"})
        for (const auto& [width, height, scale] :
             {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
            RowsDesk desk("mesh", rows, "processes", false);
            desk.size(width, height, scale);
            desk.frames(6);
            INFO(rows << ": " << width << " x " << height << " at " << scale);
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
}

}  // namespace gui_processes_test
