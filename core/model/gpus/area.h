// What a GPU would take of a die, of power and of money: a row a part, each with its source and spread. All of it is an
// estimate; real_dies() says how far off the sum is for chips whose size is published.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gpus/gpu_spec.h"
#include "core/model/gpus/process.h"

namespace lockstep::model {

enum class PartGroup : uint8_t { sms, l2, memory, rest };
std::string_view name_of(PartGroup);   // "sms"
std::string_view title_of(PartGroup);  // "the SMs and their crossbar"

struct PartArea {
    std::string_view part;  // "FP32 lanes"
    PartGroup group = PartGroup::sms;
    std::string_view field;  // of the GPU, on which it hangs: "fp32_lanes"
    double count = 0;        // of all SMs
    std::string_view unit;   // "lanes"
    double mm2 = 0, low = 0, high = 0;
    double watts = 0;  // static and, at the boost clock, busy in every cycle
    double usd = 0;    // its share of the die's price, by area
    std::string_view source;
};

struct PricePart {  // of a board's money: the die, its memory, what holds them together
    std::string_view part;
    double usd = 0, low = 0, high = 0;
    std::string source;
};

struct AreaEstimate {
    const Process* process = nullptr;
    std::vector<PartArea> rows;
    double mm2 = 0, low = 0, high = 0;  // sums of the rows; the bounds are those of whole chips, see below
    double watts = 0;                   // of the rows, the tensor cores or the FP32 lanes busy, whichever take more
    std::vector<PricePart> prices;      // die, memory, package
    double usd = 0, usd_low = 0, usd_high = 0;
    double die_usd = 0, memory_usd = 0;
    double of(PartGroup) const;  // mm2
    double watts_of(PartGroup) const;
    double usd_of(PartGroup) const;
};

// A good die: its part of a wafer over the yield. `repaired`: the share of defects that leaving a part out makes good.
double die_price(double mm2, double wafer_usd, double defects_cm2, double repaired);

// `process`: null takes that of the GPU's generation.
AreaEstimate area_of(const GpuSpec&, const Process* process = nullptr);

// How far a chip was off that had been left out when the table was made: the worst of eight.
constexpr double area_spread = 0.13;

struct RealDie {
    std::string_view name;   // "GV100"
    std::string_view board;  // "V100"
    GpuSpec gpu;             // as the whole die has it, of which boards leave some SMs out
    double mm2 = 0;          // published
    double board_watts = 0;  // of `board_gpu`, from the data sheet; 0: no row of such a board
    std::string_view board_gpu;
    std::string_view source;
};
const std::vector<RealDie>& real_dies();

struct RealPrice {  // what others have estimated and published
    std::string_view what;
    double usd = 0;       // published
    double estimate = 0;  // by the table
    std::string_view source;
};
std::vector<RealPrice> real_prices();

}  // namespace lockstep::model
