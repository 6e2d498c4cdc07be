// Estimates of area, power and energy: what they are sums of, and how far they are off.
#include "core/model/gpus/area.h"

#include <cmath>
#include <map>

#include "core/model/gpus/gpu_fields.h"
#include "core/model/gpus/gpu_file.h"
#include "core/model/metrics/energy.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace model_area_test {

using namespace lockstep;
using namespace lockstep::model;

namespace {
GpuSpec mine(const std::string& text) {
    return parse_gpu_file(text, "mine.toml").value();
}
constexpr const char* kernel = R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry k()
{
    .reg .f32 %f<4>;
    mov.f32 %f1, 0f3f800000;
    fma.rn.f32 %f2, %f1, %f1, %f1;
    fma.rn.f32 %f3, %f2, %f2, %f1;
    ret;
}
)";
bool near(double a, double b) {
    return std::fabs(a - b) <= 1e-9 * std::max(1.0, std::fabs(b));
}
}  // namespace

TEST_CASE("the rows of an area sum to its groups, and the groups to the die") {
    for (const GpuSpec& gpu : gpus())
        for (const Process& process : processes()) {
            INFO(gpu.name << " in " << process.name);
            const AreaEstimate area = area_of(gpu, &process);
            double rows = 0, groups = 0, watts = 0;
            for (const PartArea& row : area.rows) {
                INFO(row.part);
                rows += row.mm2;
                watts += row.watts;
                CHECK_FALSE(row.source.empty());
                CHECK(row.low <= row.mm2);
                CHECK(row.mm2 <= row.high);
                CHECK(row.watts >= 0);
                CHECK((row.mm2 > 0) == (row.count > 0));
            }
            for (const PartGroup group : {PartGroup::sms, PartGroup::l2, PartGroup::memory, PartGroup::rest})
                groups += area.of(group);
            CHECK(near(rows, area.mm2));
            CHECK(near(groups, area.mm2));
            CHECK(area.low < area.mm2);
            CHECK(area.mm2 < area.high);
            CHECK(area.watts <= watts);
            CHECK(area.watts > 0);
            CHECK(area.die_usd > 0);
        }
}

TEST_CASE("eight real dies come out within 5 % of their published size, and all parts busy are above a board's limit") {
    REQUIRE(real_dies().size() == 8);
    for (const RealDie& die : real_dies()) {
        const double error = area_of(die.gpu).mm2 / die.mm2 - 1;
        INFO(die.name << " is off by " << error);
        CHECK(std::fabs(error) < 0.05);
        if (die.board_watts == 0) continue;
        const double watts = area_of(gpu_named(die.board_gpu).value()).watts;
        INFO(watts << " W of " << die.board_watts);
        CHECK(watts > die.board_watts);  // no board lets all of it be busy at once
        CHECK(watts < 3.5 * die.board_watts);
    }
}

TEST_CASE("the money is the die's by area, its memory's and its package's, each with bounds and a source") {
    for (const GpuSpec& gpu : gpus()) {
        INFO(gpu.name);
        const AreaEstimate area = area_of(gpu);
        double parts = 0, all = 0, groups = 0;
        for (const PartArea& row : area.rows) parts += row.usd;
        for (const PartGroup group : {PartGroup::sms, PartGroup::l2, PartGroup::memory, PartGroup::rest})
            groups += area.usd_of(group);
        for (const PricePart& row : area.prices) {
            INFO(row.part);
            CHECK(row.low < row.usd);
            CHECK(row.usd < row.high);
            CHECK(row.source.size() > 20);
            all += row.usd;
        }
        CHECK(near(parts, area.die_usd));
        CHECK(near(groups, area.die_usd));
        CHECK(near(all, area.usd));
        CHECK(area.usd_low < area.usd);
        CHECK(area.usd < area.usd_high);
        CHECK(area.prices.size() == (gpu.dram_kind == DramKind::hbm ? 4 : gpu.memory_gb > 0 ? 3 : 2));
    }
    // A larger die costs more than its share, as more of them are spoilt.
    CHECK(die_price(800, 9346, 0.09, 0.5) > 2.1 * die_price(400, 9346, 0.09, 0.5));
    CHECK(die_price(400, 9346, 0.09, 1) < die_price(400, 9346, 0.09, 0));
}

TEST_CASE("prices stand beside published estimates, and one die's comes out near its own") {
    const std::vector<RealPrice> prices = real_prices();
    REQUIRE(prices.size() == 3);
    for (const RealPrice& price : prices) {
        INFO(price.what << ": " << price.estimate << " USD of " << price.usd);
        CHECK(price.source.size() > 10);
        CHECK(price.estimate > price.usd / 2.5);
        CHECK(price.estimate < price.usd * 2.5);
    }
    CHECK(std::fabs(prices.front().estimate / prices.front().usd - 1) < 0.05);
}

TEST_CASE("each part that can be bought has its row: more of it takes more area, and none of it none") {
    const std::map<std::string, double> twice = {{"sms", 8},
                                                 {"sub_cores", 4},
                                                 {"warps_per_sm", 64},
                                                 {"fp32_lanes", 32},
                                                 {"int_lanes", 32},
                                                 {"fp64_lanes", 16},
                                                 {"sfu_lanes", 8},
                                                 {"lsu_lanes", 16},
                                                 {"tensor_fmas", 256},
                                                 {"l2_mb", 12},
                                                 {"l2_slices", 128},
                                                 {"dram_channels", 64},
                                                 {"l1_mshrs", 1024},
                                                 {"texture_lanes", 8},
                                                 {"registers_per_sm", 131072},
                                                 {"l1_bytes_per_cycle", 256},
                                                 {"nvlink_gb_per_second", 600},
                                                 {"sm_read_bytes_per_cycle", 128}};
    const std::string base = "inherits = \"v100\"\nsms = 4\nsub_cores = 2\nwarps_per_sm = 32\n";
    const double before = area_of(mine(base)).mm2;
    for (const auto& [field, value] : twice) {
        INFO(field);
        GpuDesign design(mine(base));
        REQUIRE_FALSE(design.set(field, value, "test"));
        REQUIRE_FALSE(design.finish("test"));
        design.gpu().name = "mine.toml";
        CHECK(area_of(design.gpu()).mm2 > before);
    }
    for (const char* field :
         {"fp64_lanes", "sfu_lanes", "tensor_fmas", "l2_bytes", "texture_lanes", "nvlink_gb_per_second"}) {
        INFO(field);
        const AreaEstimate area = area_of(mine(base + field + " = 0\n"));
        for (const PartArea& row : area.rows)
            if (row.field == field) CHECK(row.mm2 == 0);
        CHECK(area.mm2 < before);
    }
}

TEST_CASE("a launch's energy is the sum of what was counted times its price, and more work takes more") {
    const GpuSpec gpu = gpu_named("v100").value();
    const auto run = [&](uint32_t blocks) {
        const auto program = ptx::decode(ptx::parse(kernel, "k.ptx").value(), "k").value();
        simt::Memory memory;
        simt::LaunchConfig config;
        config.grid = {blocks, 1, 1};
        config.block = {64, 1, 1};
        const TimedResult result = launch(gpu, *program, config, memory);
        return energy_of(gpu, *program, result);
    };
    const LaunchEnergy one = run(1), many = run(64);
    double sum = 0;
    for (const EnergyRow& row : one.rows) {
        INFO(row.name);
        CHECK_FALSE(row.source.empty());
        CHECK(near(row.joules, row.count * row.pj * 1e-12));
        sum += row.joules;
    }
    CHECK(near(sum, one.joules));
    // By part of the die they are the same joules, and no part without ground takes any.
    const AreaEstimate area = area_of(gpu);
    const std::vector<double> parts = joules_by_part(many, area);
    REQUIRE(parts.size() == area.rows.size());
    double by_part = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
        INFO(area.rows[i].part);
        CHECK((parts[i] > 0) == (area.rows[i].mm2 > 0));
        by_part += parts[i];
    }
    CHECK(near(by_part, many.joules));
    CHECK(many.joules > one.joules);
    CHECK(one.rows[0].count > 0);
    CHECK(many.rows[0].count == 64 * one.rows[0].count);
}

}  // namespace model_area_test
