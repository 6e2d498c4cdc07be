// D3 and D4: what one request touches, against plain definitions; rows of a run against its counters; clicks and keys in the
// whole interface without a window.
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "app/gui/views/memory/bank_picture.h"
#include "app/gui/views/memory/chart_data.h"
#include "app/gui/views/memory/request_data.h"
#include "core/base/rng.h"
#include "core/model/memory/coalescer.h"
#include "core/ptx/ptx.h"
#include "tests/gui/desk.h"

namespace gui_memory_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

// Lanes load in[i * stride], write it to column `column` of a shared tile of 32 x 32 words, and read row `lane` back.
constexpr const char* kernel_text = R"(
.version 6.4
.target sm_70
.address_size 64
.visible .entry touch(.param .u64 in, .param .u64 out, .param .u32 stride)
{
    .reg .b32 %r<12>;
    .reg .b64 %rd<12>;
    .reg .f32 %f<6>;
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    ld.param.u32 %r1, [stride];
    mov.u32 %r2, %tid.x;
    mul.lo.u32 %r3, %r2, %r1;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd1];
    add.f32 %f1, %f1, %f2;
    shl.b32 %r4, %r2, 7;
    mov.u32 %r5, tile;
    add.u32 %r6, %r5, %r4;
    st.shared.f32 [%r6], %f1;
    ld.shared.f32 %f3, [tile];
    add.f32 %f1, %f1, %f3;
    mul.wide.u32 %rd5, %r2, 4;
    add.u64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f1;
    ret;
}
)";

std::shared_ptr<Snapshot> run_of(uint32_t stride, const char* text = kernel_text) {
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = model::gpu_named("v100").value();
    const auto module = ptx::parse(text, "touch.ptx");
    run->program = ptx::decode(module.value(), "touch").value();
    simt::Memory memory;
    const uint64_t in = memory.allocate(uint64_t{32} * stride * 4, "in"), out = memory.allocate(128, "out");
    run->config.grid = {1, 1, 1};
    run->config.block = {32, 1, 1};
    run->config.parameters.resize(run->program->parameter_bytes);
    std::memcpy(run->config.parameters.data() + run->program->parameters[0].offset, &in, 8);
    std::memcpy(run->config.parameters.data() + run->program->parameters[1].offset, &out, 8);
    std::memcpy(run->config.parameters.data() + run->program->parameters[2].offset, &stride, 4);
    run->before = std::make_shared<simt::Memory>(memory);
    run->result = model::launch(run->gpu, *run->program, run->config, memory);
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run;
    snapshot->kernel.label = "touch";
    snapshot->kernel.history =
        std::make_shared<simt::WarpHistory>(simt::record_warp(*run->program, run->config, *run->before, 0, 0));
    return snapshot;
}

Pattern scattered(Rng& rng, uint32_t bytes, uint64_t range) {
    Pattern pattern;
    pattern.bytes = bytes;
    pattern.lanes = rng.below(4) == 0 ? static_cast<uint32_t>(rng.next()) : 0xffffffffu;
    for (uint64_t& address : pattern.address) address = rng.below(range / bytes) * bytes;
    return pattern;
}

struct Desk : test::Desk {
    explicit Desk(std::shared_ptr<Snapshot> snapshot, float text_scale = 1)
        : test::Desk({.start = false}, "light", text_scale) {
        session.workspace = Workspace::memory;
        session.grain = Grain::instruction;
        show(std::move(snapshot));
    }
    bool says(std::string_view view, std::string_view words) {
        return shell.describe(view).find(words) != std::string::npos;
    }
};

}  // namespace

TEST_CASE("Memory opens on a request of the training step that the app begins with") {
    test::Desk desk({.training_steps = 1});
    desk.session.workspace = Workspace::memory;
    desk.settle();
    REQUIRE(desk.session.snapshot()->kernel.run);
    const std::string said = desk.shell.describe("coalesce");
    INFO(said);
    CHECK(said.find("sector") != std::string::npos);
    CHECK(said.find("no kernel") == std::string::npos);
    CHECK(desk.shell.describe("chart").find("No kernel") == std::string::npos);
}

TEST_CASE("a kernel that touches no memory is said to, and the head names its warp and nothing behind it") {
    Desk desk(run_of(1, R"(.version 6.4
.target sm_70
.address_size 64
.visible .entry touch(.param .u64 in, .param .u64 out, .param .u32 stride)
{
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    ret;
}
)"));
    REQUIRE(desk.shell.show_alone("coalesce"));
    desk.frames(3);
    std::string words;
    for (const UiState::Written& text : desk.written) words += text.text + " ";
    CHECK(words.find("This kernel touches no global memory.") != std::string::npos);
    CHECK(desk.shows("block 0 · warp 0"));
    CHECK_FALSE(desk.shows("warp 0 · "));
}

TEST_CASE("the memory chart's sentence counts what is written to shared memory, too") {
    Desk desk(run_of(1));
    CHECK(desk.says("chart", "DRAM moves only 128 B; 256 B more go to and from shared memory, a store in 32 passes."));
}

TEST_CASE("a stride of n words touches 4 n sectors, at most one a lane") {
    for (int stride = 1; stride <= 32; ++stride) {
        const RequestFacts facts = facts_of(pattern_of(StrideChoice{.stride = stride}));
        INFO("stride " << stride);
        CHECK(facts.sectors == (stride >= 8 ? 32u : 4u * static_cast<uint32_t>(stride)));
        CHECK(facts.used == 128);
        CHECK(facts.moved == 32 * facts.sectors);
    }
    CHECK(facts_of(pattern_of(StrideChoice{.stride = 1, .offset = 1})).sectors == 5);
    CHECK(facts_of(pattern_of(StrideChoice{.stride = 1, .element = 16})).sectors == 16);
    CHECK(facts_of(pattern_of(StrideChoice{.stride = 7, .records = false})).sectors == 4);
}

TEST_CASE("sectors of any request are the distinct ones, and no more bytes are used than moved") {
    Rng rng(5);
    for (int round = 0; round < 400; ++round) {
        const uint32_t bytes = 1u << rng.below(5);
        const Pattern pattern = scattered(rng, bytes, uint64_t{256} << rng.below(12));
        std::set<uint64_t> sectors, used;
        for (uint32_t lane = 0; lane < 32; ++lane)
            for (uint64_t k = 0; k < bytes && (pattern.lanes >> lane & 1); ++k) {
                used.insert(pattern.address[lane] + k);
                sectors.insert((pattern.address[lane] + k) / 32);
            }
        const RequestFacts facts = facts_of(pattern);
        CHECK(facts.sectors == sectors.size());
        CHECK(facts.used == used.size());
        CHECK(facts.used <= facts.moved);
        if (pattern.lanes != 0 && bytes == 4) CHECK((facts.sectors >= 1 && facts.sectors <= 32));
        uint32_t by_line = 0, by_sector = 0;
        for (const TouchedLine& line : facts.lines)
            for (uint32_t s = 0; s < 4; ++s) {
                by_line += line.sectors >> s & 1;
                by_sector += line.used(s);
                CHECK((line.used(s) > 0) == ((line.sectors >> s & 1) != 0));
            }
        CHECK(by_line == facts.sectors);
        CHECK(by_sector == facts.used);
    }
}

TEST_CASE("a column of a tile of 32 x 32 words is a 32-way conflict, with padding or a swizzle none") {
    const auto ways = [](TilePattern pattern, Remedy remedy) {
        return bank_facts(tile_pattern({.pattern = pattern}, remedy)).ways;
    };
    CHECK(ways(TilePattern::column, Remedy::none) == 32);
    CHECK(ways(TilePattern::column, Remedy::padding) == 1);
    CHECK(ways(TilePattern::column, Remedy::swizzle) == 1);
    CHECK(ways(TilePattern::row, Remedy::none) == 1);
    CHECK(ways(TilePattern::row, Remedy::swizzle) == 1);
    CHECK(ways(TilePattern::diagonal, Remedy::none) == 1);
    CHECK(bank_facts(tile_pattern({.pattern = TilePattern::column}, Remedy::none)).passes.size() == 32);
}

TEST_CASE("one word read by many lanes is a broadcast, not a conflict; atomics on it queue") {
    Pattern same;
    same.lanes = 0xffffffffu;
    same.address.fill(4 * 77);
    const BankFacts facts = bank_facts(same);
    CHECK(facts.ways == 1);
    CHECK(facts.passes.size() == 1);
    CHECK(facts.broadcasts == 1);
    CHECK(facts.words.size() == 1);
    CHECK(bank_facts(same, true).passes.size() == 32);
}

TEST_CASE("the passes drawn are as many as the model counts, and serve every lane") {
    Rng rng(9);
    for (int round = 0; round < 400; ++round) {
        const uint32_t bytes = 4u << rng.below(3);
        const Pattern pattern = scattered(rng, bytes, uint64_t{512} << rng.below(6));
        const BankFacts facts = bank_facts(pattern);
        if (pattern.lanes == 0) continue;
        INFO(bytes << " bytes, round " << round);
        CHECK(facts.passes.size() == model::shared_passes(pattern.address.data(), pattern.lanes, bytes));
        CHECK(bank_facts(pattern, true).passes.size() ==
              model::shared_atomic_passes(pattern.address.data(), pattern.lanes, bytes));
        uint32_t served = 0, twice = 0;
        for (const BankPass& pass : facts.passes) {
            CHECK(pass.banks != 0);
            twice |= served & pass.lanes;
            served |= pass.lanes;
        }
        CHECK(served == pattern.lanes);
        if (bytes == 4) CHECK(twice == 0);
    }
}

TEST_CASE("what a warp's history touched adds up to the counters of the run") {
    for (const uint32_t stride : {1u, 2u, 5u, 32u}) {
        const auto snapshot = run_of(stride);
        const auto& history = *snapshot->kernel.history;
        REQUIRE_FALSE(snapshot->kernel.run->result.fault);
        for (const bool shared : {false, true}) {
            const auto rows = memory_rows(*snapshot->kernel.run, &history, shared);
            REQUIRE(rows.size() == (shared ? 2u : 3u));
            for (const MemoryRow& row : rows) {
                uint64_t units = 0;
                for (const size_t access : row.accesses) {
                    const Pattern pattern = pattern_of(history.accesses[access]);
                    units += shared ? bank_facts(pattern).passes.size() : facts_of(pattern).sectors;
                    CHECK(history.steps[history.accesses[access].step].pc == row.pc);
                }
                INFO(row.text << ", stride " << stride);
                CHECK(row.accesses.size() == row.requests);
                CHECK(units == row.units);
            }
        }
    }
}

TEST_CASE("the Memory workspace shows the request of the picked row; keys and clicks pick another") {
    Desk desk(run_of(2));
    CHECK(desk.says("coalesce", "8 sectors in 2 lines, 128 B used, 256 B moved, efficiency 50 %"));
    const int32_t first = static_cast<int32_t>(memory_rows(*desk.session.snapshot()->kernel.run, nullptr, false)[0].pc);
    desk.shell.focus.pc = first;
    desk.key(KeyCode::down);  // the load that all lanes share
    CHECK(desk.shell.focus.pc == first + 1);
    CHECK(desk.says("coalesce", "1 sector in 1 line, 4 B used, 32 B moved"));
    desk.key(KeyCode::up);
    CHECK(desk.shell.focus.pc == first);
    std::set<int32_t> picked;
    for (float y = 380; y < 475; y += 13) {  // above the caption, whose words lead elsewhere
        desk.click(200, y);
        picked.insert(desk.shell.focus.pc);
    }
    CHECK(picked.size() == 3);
    desk.input.mouse_y = 110;  // the last click was below this picture: keys go where the pointer is
    desk.frame();
    for (int i = 0; i < 3; ++i) desk.key(KeyCode::d);
    CHECK(desk.shell.focus.lane == 2);
    desk.key(KeyCode::a);
    CHECK(desk.shell.focus.lane == 1);
    std::set<int32_t> lanes;
    for (float y = 120; y < 220; y += 9)
        for (float x = 30; x < 780; x += 24) {
            desk.shell.focus.lane = -1;
            desk.click(x, y);
            lanes.insert(desk.shell.focus.lane);
        }
    CHECK(lanes.size() == 33);
}

TEST_CASE("a remedy stands beside a request that has a conflict, and beside no other until one is chosen") {
    Desk desk(run_of(2));
    const auto rows = memory_rows(*desk.session.snapshot()->kernel.run, nullptr, true);
    REQUIRE(rows.size() == 2);
    desk.shell.focus.pc = static_cast<int32_t>(rows[0].pc);  // a column of the tile
    desk.frame();
    CHECK(desk.says("banks", "32-way"));
    CHECK(desk.says("banks", "what if: padded rows"));
    desk.shell.focus.pc = static_cast<int32_t>(rows[1].pc);  // one word for all lanes
    desk.frame();
    CHECK(desk.says("banks", "no bank has a second word to deliver"));
    CHECK(!desk.says("banks", "what if"));
}

TEST_CASE("a narrow half of the bank picture keeps the result of its formula") {
    for (const float scale : {1.0f, 1.1f, 1.2f}) {
        Desk desk(std::make_shared<Snapshot>(), scale);  // no kernel: the sandbox
        desk.frames(3);
        INFO(scale);
        CHECK(desk.shows("bank = (0*32 + 5) mod 32 = 5"));
        CHECK(desk.shows("bank = (0*33 + 5) mod 32 = 5"));
    }
}

TEST_CASE("in a low panel the passes stand beside the tile, and its 32 rows are still rows") {
    const BankFacts column = bank_facts(tile_pattern({.pattern = TilePattern::column}, Remedy::none), false);
    const BankFacts padded = bank_facts(tile_pattern({.pattern = TilePattern::column}, Remedy::padding), false);
    for (const float height : {215.0f, 250.0f, 400.0f}) {
        INFO(height);
        const Rect area{10, 20, 408, height};
        for (const BankFacts* facts : {&column, &padded}) {
            const BankPicture picture(area, *facts, facts == &column ? padded : column);
            CHECK(picture.bottom() <= area.bottom());
            for (const BankWord& word : facts->words) {
                const Rect box = picture.word_box(word.word);
                CHECK(box.h >= 2.5f);
                CHECK(box.bottom() <= picture.bottom());
                CHECK(box.right() <= area.right());
            }
        }
    }
}

TEST_CASE("while a prediction is open neither sectors nor banks are told") {
    const auto snapshot = run_of(2);
    Desk desk(snapshot);
    auto lesson = std::make_shared<lessons::Lesson>();
    lessons::Step step;
    lessons::Predict predict;
    predict.of = scene::Expression::parse("sectors_per_request").value();
    step.predicts = {predict};
    lesson->steps = {step};
    desk.session.lesson.lesson = lesson;
    desk.session.lesson.predictions = {{LessonState::Prediction{}}};
    desk.session.lesson.done = {false};
    desk.frame();
    for (const char* view : {"coalesce", "banks", "chart"}) {
        const std::string text = desk.shell.describe(view);
        INFO(text);
        CHECK(text.find("hidden until you lock") != std::string::npos);
        CHECK(text.find("of peak") == std::string::npos);
        CHECK(text.find("moved,") == std::string::npos);
        CHECK(text.find(" each\n") == std::string::npos);
    }
    desk.session.lesson.predictions[0][0].locked = true;
    desk.frame();
    CHECK(desk.says("coalesce", "8 sectors in 2 lines"));
}

TEST_CASE("the memory chart's links carry what the run's instructions asked for") {
    for (const uint32_t stride : {1u, 2u, 32u}) {
        const auto snapshot = run_of(stride);
        const auto& history = *snapshot->kernel.history;
        const Chart chart = chart_of(model::traffic_of(*snapshot->kernel.run));
        REQUIRE(chart.spaces.size() == 3);  // nothing was fetched from a texture
        const ChartSpace &global = chart.spaces[0], &local = chart.spaces[1], &shared = chart.spaces[2];
        REQUIRE(global.rows.size() == 2);
        uint64_t asked[2] = {}, sectors[2] = {}, on_board = 0;
        for (const simt::WarpAccess& access : history.accesses) {
            const uint64_t bytes = uint64_t{static_cast<uint32_t>(std::popcount(access.lanes))} * access.bytes;
            if (access.space == ptx::Space::shared) on_board += bytes;
            if (access.space != ptx::Space::global) continue;
            asked[access.is_store] += bytes;
            sectors[access.is_store] += facts_of(pattern_of(access)).sectors;
        }
        INFO("stride " << stride);
        for (size_t store = 0; store < 2; ++store) {
            CHECK(global.rows[store].asked.bytes == asked[store]);
            CHECK(global.rows[store].handled.bytes == 32 * sectors[store]);
            CHECK(global.rows[store].to_kernel == (store == 0));
        }
        CHECK(shared.bytes() == on_board);
        CHECK_FALSE(local.used());
        CHECK(chart.from_l2.bytes <= global.rows[0].handled.bytes);
        CHECK(chart.l1_hits <= chart.l1_sectors);
        CHECK(chart.l2_hits <= chart.l2_sectors);
        for (const model::Link& link : {chart.from_l2, chart.to_l2, chart.dram_read, chart.dram_write})
            CHECK((link.percent_of_peak >= 0 && link.percent_of_peak <= 100));
    }
}

TEST_CASE("a link grows with its bytes and is absent without any") {
    CHECK(thickness_of(0) == 0);
    float before = 0;
    for (uint64_t bytes = 1; bytes < uint64_t{1} << 50; bytes *= 4) {
        const float thickness = thickness_of(bytes);
        CHECK(thickness >= before);
        CHECK((thickness >= 2 && thickness <= 16));
        before = thickness;
    }
}

TEST_CASE("the memory chart switches between the whole kernel and the cycles in view") {
    Desk desk(run_of(4));
    CHECK(desk.says("chart", "whole kernel"));
    desk.session.sm.cycles_begin = 0;
    desk.session.sm.cycles_end = 1;
    int changed = 0;
    for (float x = 30; x < 300 && changed == 0; x += 20) {
        for (float y = 530; y < 620 && changed == 0; y += 8) {
            desk.click(x, y);
            changed += desk.says("chart", "cycles 0 to");
        }
    }
    CHECK(changed == 1);
    const auto& kernel = *desk.session.snapshot()->kernel.run;
    const Chart window = chart_of(model::traffic_between(kernel, 0, 1)), whole = chart_of(model::traffic_of(kernel));
    CHECK(window.end <= whole.end);
    CHECK(window.spaces[0].bytes() <= whole.spaces[0].bytes());

    desk.session.sm.cycles_end = 50;  // a clock that runs out of the window takes it along, with no time picture in sight
    desk.frame();
    desk.shell.focus.time = kernel.result.cycles - 1;
    desk.frame();
    CHECK(desk.session.sm.cycles_end == kernel.result.cycles);
    CHECK(desk.session.sm.cycles_end - desk.session.sm.cycles_begin == 50);
}

TEST_CASE("the Memory workspace stays within eight thousand quads at every stride and size") {
    for (const uint32_t stride : {1u, 4u, 32u})
        for (const float scale : {1.0f, 2.0f}) {
            Desk desk(run_of(stride), scale);
            INFO("stride " << stride << ", scale " << scale);
            CHECK(desk.quads > 300);
            CHECK(desk.quads < 8000);
            desk.width = 1280, desk.height = 720;
            desk.frame();
            CHECK(desk.quads < 8000);
        }
}

TEST_CASE("more of the common memory for shared memory leaves less L1, and one block fits whatever is asked for") {
    const auto shown = run_of(1);
    model::KernelRun run = *shown->kernel.run;  // 4096 bytes of shared memory a block
    const CarveOut before = carve_out_of(run, 8 * 1024);
    REQUIRE(before.sizes.size() == 6);
    CHECK(before.sizes.back() == 96 * 1024);  // of a V100's 128 KiB, by its documentation
    CHECK(before.at == 2 - 1);
    CHECK_FALSE(before.by_hand);
    CHECK(before.nearest(50 * 1024) == 4);  // 64 KiB is nearer than 32
    uint32_t least_l1 = ~0u;
    for (const uint32_t size : before.sizes) {
        run.gpu = with_carve_out(run, size);
        simt::Memory memory = *run.before;
        run.result = model::launch(run.gpu, *run.program, run.config, memory);
        const auto traffic = model::traffic_of(run);
        INFO(size);
        CHECK(run.result.occupancy.blocks >= 1);
        CHECK(run.result.occupancy.blocks <= std::max(2u, size / 4096));  // 8 KiB is the least that holds one
        CHECK(traffic.shared_bytes >= size);
        CHECK(traffic.l1_bytes + traffic.shared_bytes == 128 * 1024);
        CHECK(traffic.l1_bytes <= least_l1);
        least_l1 = traffic.l1_bytes;
        if (size > 8 * 1024) CHECK(carve_out_of(run, traffic.shared_bytes).by_hand);
    }
    CHECK(least_l1 == 32 * 1024);
    run.gpu = with_carve_out(run, -1);
    CHECK_FALSE(carve_out_of(run, 0).by_hand);
    run.gpu = model::gpu_named("p100").value();  // its shared memory is apart
    CHECK(carve_out_of(run, 64 * 1024).sizes.empty());
    CHECK(with_carve_out(run, 1024).shared_per_sm.value == run.gpu.shared_per_sm.value);
}

TEST_CASE("the carve-out is dragged, or moved with the arrows, and the kernel runs again with it") {
    test::Desk desk({.lesson = "A09", .lesson_step = 0}, "light");
    desk.settle();
    REQUIRE(desk.session.snapshot()->kernel.run);
    REQUIRE(desk.shell.show_alone("chart"));
    desk.session.learn.reveal_steps = -1;
    desk.settle();
    REQUIRE(desk.shows("drag the carve-out"));
    const auto first = desk.session.snapshot()->kernel.run;
    Rect words;
    for (const auto& text : desk.written)
        if (text.text == "drag the carve-out") words = text.ink;
    desk.drag(words.x + words.w * 1.2f, words.y - 50, words.x + 12, words.y - 50);  // the bar is above its words
    desk.settle();
    const auto second = desk.session.snapshot()->kernel.run;
    REQUIRE(second != first);
    CHECK(model::traffic_of(*second).l1_bytes < model::traffic_of(*first).l1_bytes);
    CHECK(desk.shell.describe("chart").find("chosen by hand") != std::string::npos);
    CHECK(second->config.grid == first->config.grid);
    REQUIRE(desk.click_on("as the GPU chooses"));
    desk.settle();
    CHECK(model::traffic_of(*desk.session.snapshot()->kernel.run).l1_bytes == model::traffic_of(*first).l1_bytes);
    for (int i = 0; i < 60 && !desk.shell.state.slider_focused; ++i) desk.key(KeyCode::tab);
    REQUIRE(desk.shell.state.slider_focused);
    desk.key(KeyCode::left);
    desk.settle();
    CHECK(model::traffic_of(*desk.session.snapshot()->kernel.run).l1_bytes < model::traffic_of(*first).l1_bytes);
}

TEST_CASE("what no lane asked for is counted request by request: a broadcast does not hide another's waste") {
    const Chart chart = chart_of(*run_of(2)->kernel.run);
    // 8 sectors of which half is used, and one sector for a single word.
    CHECK(chart.unasked == 128 + 28);
    const std::string sentence = sentence_of(chart);
    INFO(sentence);
    CHECK(sentence.find("156 B of it no lane asked for in that request.") != std::string::npos);
    CHECK(chart_of(*run_of(1)->kernel.run).unasked == 28);
    const auto run = run_of(2)->kernel.run;
    CHECK(chart_of(*run, 0, run->result.cycles).unasked == chart.unasked);
}

TEST_CASE("a copy past the registers goes from global to shared memory, not to the kernel") {
    model::MemoryTraffic traffic;
    traffic.links = {{"global_copy", 32, 16384, 0.2}, {"l1_global_copy", 32, 16384, 0.2}};
    const Chart chart = chart_of(traffic);
    for (const ChartSpace& space : chart.spaces)
        for (const ChartRow& row : space.rows) CHECK(row.to_shared == (row.label == "copy"));
}

TEST_CASE("coalescing and banks follow the clock, until a line is chosen") {
    const auto snapshot = run_of(2);
    Desk desk(snapshot);
    const auto rows = memory_rows(*snapshot->kernel.run, snapshot->kernel.history.get(), false);
    const auto banks = memory_rows(*snapshot->kernel.run, snapshot->kernel.history.get(), true);
    const auto shows = [&](const std::vector<MemoryRow>& all, const char* view, size_t row) {
        const std::string name = fmt::format("warp 0 · pc {}", all[row].pc);
        INFO(desk.shell.describe(view));
        return desk.says(view, name);
    };
    const auto step_of = [&](const MemoryRow& row) {
        return static_cast<int64_t>(snapshot->kernel.history->accesses[row.accesses.front()].step);
    };
    desk.key(KeyCode::home);
    while (desk.session.sm.history_step < step_of(rows[1])) desk.key(KeyCode::right);
    CHECK(shows(rows, "coalesce", 1));
    while (desk.session.sm.history_step < step_of(banks[0])) desk.key(KeyCode::right);
    CHECK(shows(rows, "coalesce", 1));  // nothing global since
    CHECK(shows(banks, "banks", 0));
    desk.shell.focus.pc = static_cast<int32_t>(rows[0].pc);  // chosen in the source
    desk.frame();
    CHECK(shows(rows, "coalesce", 0));
    desk.key(KeyCode::end);
    CHECK(shows(rows, "coalesce", 2));
    CHECK(shows(banks, "banks", 1));

    desk.session.grain = Grain::cycle;  // the clock counts cycles: what is not issued yet does not show
    const KernelTrace& trace = snapshot->kernel.run->result.trace;
    const WarpTrack& warp = trace.warps.front();
    const auto cycle_of = [&](const MemoryRow& row) {
        return trace.issues[warp.issues[static_cast<size_t>(step_of(row))]].cycle;
    };
    for (const size_t row : {size_t{2}, size_t{1}}) {
        desk.shell.focus.time = cycle_of(rows[row]);
        desk.frames(2);
        CHECK(shows(rows, "coalesce", row));
        desk.shell.focus.time = cycle_of(rows[row]) - 1;
        desk.frames(2);
        CHECK(shows(rows, "coalesce", row - 1));
    }
}

TEST_CASE("the pinned pattern keeps its place beside a long table, and says so where not all of it is drawn") {
    Desk desk(run_of(32));
    for (const float height : {1000.0f, 900.0f}) {
        desk.height = height;
        desk.frames(2);
        CHECK(desk.shows("ghost: stride 1, pinned"));
    }
    desk.height = 1000;
    desk.key(KeyCode::enter);  // 32 lines are pinned
    REQUIRE(desk.shell.show_alone("coalesce"));
    desk.frames(2);
    CHECK(desk.shows("of its 32 lines"));
}

TEST_CASE("at twice the text size coalescing keeps the table of instructions") {
    Desk desk(run_of(2), 2);
    desk.size(1280, 720, 2);
    REQUIRE(desk.shell.show_alone("coalesce"));
    desk.frames(2);
    CHECK(desk.shows("mean sectors"));
    CHECK(desk.shows("ld.global.f32"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("a low picture of coalescing keeps two rows of its table whole, the picked one among them") {
    Desk desk(run_of(2));
    REQUIRE(desk.shell.show_alone("coalesce"));
    const auto rows = memory_rows(*desk.session.snapshot()->kernel.run, nullptr, false);
    REQUIRE(rows.size() == 3);
    for (const float height : {440.0f, 452.0f, 470.0f, 500.0f, 560.0f, 720.0f})
        for (const MemoryRow& row : {rows.front(), rows.back()}) {
            desk.size(1280, height, 1);
            desk.shell.focus.pc = static_cast<int32_t>(row.pc);
            desk.frames(4);
            INFO(height << ", " << row.text);
            int whole = 0, cut = 0;
            bool picked = false;
            for (const UiState::Written& text : desk.written) {
                if (!text.text.ends_with(".global.f32")) continue;
                if (text.text.find("pc ") != std::string::npos) continue;  // over the picture
                const bool inside = text.ink.y >= text.clip.y && text.ink.bottom() <= text.clip.bottom();
                ++(inside ? whole : cut);
                picked = picked || (inside && text.text == row.text);
            }
            CHECK(whole >= 2);
            CHECK(cut == 0);
            CHECK(picked);
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
}

TEST_CASE("the tiles of coalescing say efficiency at every height, and all of them what was pinned, or none") {
    Desk desk(run_of(2));
    REQUIRE(desk.shell.show_alone("coalesce"));
    for (const float height : {460.0f, 560.0f, 720.0f, 1000.0f}) {
        desk.size(1280, height, 1);
        desk.frames(3);
        INFO(height);
        CHECK_FALSE(desk.shows("useful"));
        const auto tiles = std::count_if(desk.written.begin(), desk.written.end(), [](const UiState::Written& text) {
            return text.ink.x > 1140 && (text.text == "128" || text.text == "100 %" || text.text == "4");  // of stride 1
        });
        CHECK(tiles == (height < 600 ? 0 : 4));
    }
}

TEST_CASE("rows of an unrolled loop are told apart by their pc") {
    std::vector<MemoryRow> rows(3);
    rows[0] = {.pc = 4, .line = 6, .text = "ld.global.f32", .accesses = {}};
    rows[1] = {.pc = 9, .line = 6, .text = "ld.global.f32", .accesses = {}};
    rows[2] = {.pc = 11, .line = 6, .text = "st.global.f32", .accesses = {}};
    CHECK(has_twin(rows, rows[0]));
    CHECK(has_twin(rows, rows[1]));
    CHECK_FALSE(has_twin(rows, rows[2]));
}

TEST_CASE("the bracket below many lines is no wider than they are") {
    Pattern pattern;
    pattern.lanes = 0xffffffffu;
    for (uint64_t lane = 0; lane < 32; ++lane) pattern.address[lane] = 0x7F0000011000 + lane / 2 * 256;
    auto snapshot = run_of(2);
    auto history = std::make_shared<simt::WarpHistory>(*snapshot->kernel.history);
    for (simt::WarpAccess& access : history->accesses)
        std::copy(pattern.address.begin(), pattern.address.end(), std::begin(access.addresses));
    snapshot->kernel.history = history;
    for (const float width : {900.0f, 720.0f, 600.0f}) {
        Desk desk(snapshot);
        REQUIRE(desk.shell.show_alone("coalesce"));
        desk.size(width, 720, 1);
        desk.frames(3);
        INFO(width);
        bool found = false;
        for (const UiState::Written& text : desk.written) {
            if (text.text.find("16 lines") == std::string::npos || text.text.find("load") != std::string::npos) continue;
            found = true;
            CHECK(text.ink.x >= 20);
            CHECK(text.ink.right() <= width - 20 - (width > 600 ? 124 : 0));
        }
        CHECK(found);
    }
}

TEST_CASE("while a lesson asks how many passes, no remedy stands beside the request until one is chosen") {
    Desk desk(run_of(2));
    const auto rows = memory_rows(*desk.session.snapshot()->kernel.run, nullptr, true);
    auto lesson = std::make_shared<lessons::Lesson>();
    lessons::Step first, second;
    lessons::Predict predict;
    predict.of = scene::Expression::parse("shared_passes_per_request@line:6").value();
    second.predicts = {predict};
    lesson->steps = {first, second};
    desk.session.lesson.lesson = lesson;
    desk.session.lesson.predictions = {{}, {LessonState::Prediction{}}};
    desk.session.lesson.done = {false, false};
    desk.session.lesson.step = 0;
    desk.shell.focus.pc = static_cast<int32_t>(rows[0].pc);  // a column of the tile
    desk.frame();
    CHECK(desk.says("banks", "32-way"));
    CHECK_FALSE(desk.says("banks", "what if"));
    CHECK_FALSE(desk.says("banks", "1-way"));
    desk.session.lesson.predictions[1][0].locked = true;
    desk.frame();
    CHECK(desk.says("banks", "what if: padded rows"));
}

TEST_CASE("the lanes that a pass serves are those that are on") {
    auto snapshot = run_of(2);
    auto history = std::make_shared<simt::WarpHistory>(*snapshot->kernel.history);
    for (simt::WarpAccess& access : history->accesses) access.lanes = 0xff;
    snapshot->kernel.history = history;
    Desk desk(snapshot);
    REQUIRE(desk.shell.show_alone("banks"));
    desk.frames(3);
    CHECK(desk.shows("lanes 0 to 7 served"));
    CHECK_FALSE(desk.shows("lanes 0 to 31 served"));
}

TEST_CASE("the memory chart keeps shares of peak and requests at 150 % in a window of 1280 x 720") {
    Desk desk(run_of(2), 1.5f);
    REQUIRE(desk.shell.show_alone("chart"));
    desk.size(1280, 720, 1.5f);
    desk.frames(3);
    const auto count = [&](std::string_view end) {
        return std::count_if(desk.written.begin(), desk.written.end(),
                             [&](const UiState::Written& text) { return text.text.ends_with(end); });
    };
    CHECK(count(" req") + count(" passes") + count(" passes each") == 4);  // global and shared loads and stores
    CHECK(count(" %") >= 11);
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("the memory chart tells conflicts by their passes, and what several lanes ask for is counted once") {
    const Chart chart = chart_of(*run_of(2)->kernel.run);
    for (const ChartSpace& space : chart.spaces)
        for (const ChartRow& row : space.rows)
            if (space.name == "Shared") CHECK(row.passes_each() == (row.label == "store" ? 32 : 1));
    CHECK(sentence_of(chart_of(*run_of(1)->kernel.run)).find("shared memory, a store in 32 passes.") != std::string::npos);
    CHECK(sentence_of(chart).find("The lanes ask for 384 B (260 B: some ask for the same bytes), and L1 handles 416 B") !=
          std::string::npos);
}

TEST_CASE("the sandbox names the units of stride and offset, and no offset that it does not use") {
    Desk desk(run_of(1));
    REQUIRE(desk.shell.show_alone("coalesce"));
    desk.frames(2);
    REQUIRE(desk.click_on("sandbox"));
    desk.frames(2);
    CHECK(desk.shows("2 words"));
    CHECK(desk.shows("0 words"));
    REQUIRE(desk.click_on("16 B"));
    desk.frames(2);
    CHECK(desk.shows("2 x 16 B"));
    CHECK(desk.shows("by stride of 16 B"));
}

TEST_CASE("a run that was stopped is said to be, in the chart and beside its requests") {
    const auto sound = run_of(2);
    auto run = std::make_shared<model::KernelRun>(*sound->kernel.run);
    run->result.fault.emplace();
    run->result.fault->kind = "memcheck";
    run->result.fault->line = 3;
    auto snapshot = std::make_shared<Snapshot>(*sound);
    snapshot->kernel.run = run;
    Desk desk(snapshot);
    CHECK(desk.says("coalesce", "Stopped by memcheck at line 3."));
    CHECK(desk.says("chart", "Stopped by memcheck at line 3. The lanes ask for"));
    auto early = std::make_shared<model::KernelRun>(*run);
    for (auto& counters : early->result.instructions) counters = {};
    auto nothing = std::make_shared<Snapshot>(*snapshot);
    nothing->kernel.run = early;
    desk.show(nothing);
    CHECK(desk.says("chart", "Stopped by memcheck at line 3, before any lane asked for memory."));
    CHECK(desk.says("coalesce", "Stopped by memcheck at line 3, before it touched global memory."));
}

TEST_CASE("banks take what is stored") {
    Desk desk(run_of(2));
    const auto rows = memory_rows(*desk.session.snapshot()->kernel.run, nullptr, true);
    desk.shell.focus.pc = static_cast<int32_t>(rows[0].pc);  // st.shared, a column
    desk.frame();
    CHECK(desk.says("banks", "different words to take"));
}

TEST_CASE("a remedy that changes nothing is said to change nothing, and no word of the bank sandbox lies on another") {
    Desk desk(std::make_shared<Snapshot>());
    REQUIRE(desk.shell.show_alone("banks"));
    desk.frames(2);
    REQUIRE(desk.click_on("row"));
    desk.frames(2);
    CHECK(desk.says("banks", "Padding changes nothing: still 1-way"));
    for (const char* bytes : {"8 B", "16 B"}) {
        REQUIRE(desk.click_on("column"));
        REQUIRE(desk.click_on(bytes));
        desk.frames(2);
        INFO(bytes);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("a texture argument of one's own kernel is guessed by how it is read") {
    const auto guess = [](const std::string& type, const std::string& body) {
        KernelEntry entry;
        entry.program = ptx::decode(ptx::parse(".version 6.4\n.target sm_70\n.address_size 64\n"
                                               ".visible .entry k(.param .u64 k_param_0)\n{\n    ret;\n}\n",
                                               "k.ptx")
                                        .value(),
                                    "k")
                            .value();
        entry.name = "k";
        entry.parameters = {"t"};
        LaunchSettings settings;
        fit_launch(settings, entry, "__global__ void k(" + type + " t) { " + body + " }");
        return settings.arguments.at(0).text;
    };
    CHECK(guess("cudaTextureObject_t", "float a = tex2D<float>(t, 0, 0);") == "tex2d:f32[64,64]");
    CHECK(guess("cudaTextureObject_t", "float4 a = tex1Dfetch<float4>(t, 0);") == "tex1d:f32[4096,4]");
    CHECK(guess("cudaSurfaceObject_t", "int a = surf2Dread<int>(t, 0, 0);") == "surf2d:i32[64,64]");
    CHECK(guess("long long", "") == "i64:1024");
}

TEST_CASE("the bar names the GPU of the run on show, and choosing another runs that again") {
    const auto folder = std::filesystem::temp_directory_path() / "lockstep-memory-test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "touch.ptx") << ".version 6.4\n.target sm_70\n.address_size 64\n"
                                           ".visible .entry touch(.param .u64 touch_param_0)\n{\n    .reg .b64 %rd<3>;\n"
                                           "    ld.param.u64 %rd1, [touch_param_0];\n    st.global.u64 [%rd1], %rd1;\n"
                                           "    ret;\n}\n";
    test::Desk desk({.own_kernel = true}, "light");
    desk.session.workspace = Workspace::memory;
    REQUIRE(!desk.session.desk.open(folder / "touch.ptx"));
    desk.shell.run_own();
    desk.settle();
    REQUIRE(desk.session.snapshot()->kernel.run);
    CHECK(desk.session.snapshot()->kernel.run->gpu.name == "v100");
    REQUIRE(desk.click_on("GPU  V100"));
    desk.frames(2);
    std::string title;
    for (const GpuChoice& choice : gpu_choices())
        if (choice.name == "a100") title = choice.title;
    REQUIRE(desk.click_on(title));
    desk.settle();
    CHECK(desk.session.snapshot()->kernel.run->gpu.name == "a100");
    CHECK(desk.session.desk.document().launch.gpu == "a100");
    CHECK(desk.shows("GPU  A100"));
    desk.session.workspace = Workspace::kernel;  // and the other way round
    desk.session.desk.document().launch.gpu = "p100";
    desk.session.desk.touch();
    desk.settle();
    desk.session.workspace = Workspace::memory;
    desk.settle();
    CHECK(desk.shows("GPU  P100"));
    // A GPU of one's own: its file's name in the bar, its title in the menu, and no view is at a loss without an L2.
    const std::string own = (folder / "tiny.toml").string();
    std::ofstream(own) << "inherits = \"a100\"\nname = \"Tiny one\"\nsms = 2\nl2_bytes = 0\n";
    desk.session.workspace = Workspace::kernel;
    desk.session.desk.document().launch.gpu = own;
    desk.session.desk.touch();
    desk.settle();
    for (const Workspace place : {Workspace::sm, Workspace::memory}) {
        desk.session.workspace = place;
        desk.settle();
    }
    CHECK(desk.session.snapshot()->kernel.run->gpu.title == "Tiny one");
    CHECK(desk.session.snapshot()->kernel.run->gpu.sms == 2);
    REQUIRE(desk.shows("GPU  TINY"));
    REQUIRE(desk.click_on("GPU  TINY"));
    desk.frames(2);
    CHECK(desk.shows("Tiny one"));
    std::filesystem::remove_all(folder);
}

}  // namespace gui_memory_test
