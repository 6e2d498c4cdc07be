// An output's values as JSON has them.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "core/base/array.h"

namespace lockstep::cli {

constexpr uint64_t most_in_json = uint64_t{1} << 24;  // elements of one output

// An array of numbers; 64-bit integers are strings, NaN and infinities too. Null when there are more than most_in_json.
nlohmann::ordered_json output_json(const Array& array);

}  // namespace lockstep::cli
