// Bronze, silver, gold: of the challenge at a lesson's end, and of a puzzle. Where a medal begins is what reference files
// reach, which are run; less is better.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::lessons {

enum class Medal : uint8_t { none, bronze, silver, gold };
std::string_view name_of(Medal);  // "gold"
Medal medal_named(std::string_view name);

std::string limit_words(double value, const std::string& unit);  // "24,504 cycles"

struct MedalLimits {  // of a challenge: the most that earns each medal
    double bronze = 0, silver = 0, gold = 0;
    std::string unit;  // "cycles"
    Medal of(double figure) const;
    double of(Medal medal) const;
    std::string words() const;  // "bronze to 24,504 cycles, silver to 18,000, gold to 13,222"
};

struct MedalWon {
    Medal medal = Medal::none;
    double figure = 0;  // 0: it was not measured
    MedalLimits limits;
    std::string problem;  // why there is none: the outputs are wrong at the challenge's size
    std::string words() const;
};

}  // namespace lockstep::lessons
