// "What limits it", as text and JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/model/advice/verdict.h"

namespace lockstep::cli {

// What --what-if asks for: "", "none", "all", or names with commas between. Throws Failure for an unknown one.
model::VerdictOptions what_ifs_asked(const std::string& list);
std::string verdict_text(const model::Verdict& verdict);
nlohmann::ordered_json verdict_json(const model::Verdict& verdict);

}  // namespace lockstep::cli
