// "What limits it", as text.
#pragma once
#include <string>

#include "core/model/advice/verdict.h"

namespace lockstep::cli {

std::string verdict_text(const model::Verdict& verdict);

}  // namespace lockstep::cli
