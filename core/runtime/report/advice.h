// "What limits it" of a whole program: what its timeline shows, as sentences, the largest gain first. Each rule is a row of
// a table in advice.cpp. What limits a single kernel is core/model/advice.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/report/report.h"

namespace lockstep::runtime {

struct Advice {
    std::string rule;  // "copy-bound"
    std::string sentence, evidence, change;
    CallSite site;    // that it is about; line 0: the whole program
    double gain = 0;  // share of the model's clock that the change saves at most: derived from the timeline
};

std::vector<Advice> advice_on(const Report& report);

struct ProgramRule {
    std::string_view name, title, threshold;
};
std::vector<ProgramRule> program_rules();
std::string_view title_of_program_rule(std::string_view name);  // "Copies take most of the time"

// The kernels that take a tenth of the kernels' time or more and of which something is told, the longest first.
struct LimitedKernel {
    std::string kernel;
    double share = 0;                      // of the kernels' time
    const LaunchRecord* launch = nullptr;  // of the report: the one that the findings are of
};
std::vector<LimitedKernel> limited_kernels(const Report& report);

// Advice on the program, then what limits the kernels with most of its time; several lines.
std::string advice_words(const Report& report);

}  // namespace lockstep::runtime
