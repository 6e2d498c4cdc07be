// Two results of `lockstep run --json` side by side. Internal to `lockstep compare`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep::cli {

// Whether it is the report of a whole program, as `run program.cu --json` and `exec --json` write it.
bool is_program_report(const nlohmann::ordered_json& json);
// `text` takes the same in words.
nlohmann::ordered_json compare_programs(const nlohmann::ordered_json& before, const nlohmann::ordered_json& after,
                                        std::string& text);

}  // namespace lockstep::cli
