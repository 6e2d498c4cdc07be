// "What limits it": what a timed launch shows, as sentences with a line, the evidence and what to change, the largest gain
// first. Every rule is a row in rules.cpp with its threshold and where that comes from; a rule reads counters alone. What a
// change would gain is simulated where the model can idealise it (what_if.h), else derived from the counters, and says
// which.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/advice/what_if.h"
#include "core/model/metrics/bound.h"

namespace lockstep::model {

struct Finding {
    std::string_view rule;  // "bank-conflicts": of a RuleRow
    std::string sentence;   // what is so, with its numbers
    std::string evidence;   // "shared_passes_per_request@line:12 is 32; 1 is normal"
    std::string change;     // what to change, a full sentence
    std::string file;       // with the line that it is about; line 0: the whole launch
    int32_t line = 0;
    std::vector<int32_t> more_lines;  // of the same file, of which the same is so
    std::string_view what_if = {};    // that idealises it; "": none can
    double gain = 0;                  // share of the launch's cycles that the change saves, about
    bool simulated = false;           // else derived from counters
    bool at_most = false;             // derived, and a bound: what stays depends on how it is changed
    bool gain_unknown = false;        // neither: told whatever it saves
};

struct Verdict {
    Bound bound = Bound::latency;
    std::string limit;  // one sentence: what the launch spends its time with
    std::vector<Finding> findings;
    std::vector<WhatIfTime> what_ifs;  // that were simulated
    std::string note;                  // why some were not; "" where all were
};

struct VerdictOptions {
    // What-ifs run by themselves where all of them together have at most so many warp instructions: a share of a second.
    uint64_t most_instructions = 1'000'000;
    bool what_if_none = false, what_if_all = false;  // all: those that findings name, whatever they cost
    std::vector<WhatIf> asked;                       // simulated in any case
    std::stop_token stop;
    std::function<void(double)> progress;  // 0..1, of all what-ifs together
};

// Of a launch that ended. Without `run.before` nothing is simulated.
Verdict verdict_of(const KernelRun& run, const VerdictOptions& options = {});

std::string lines_text(const Finding& finding);  // "6, 8 and 9"; "" where no line is known
// "about 42 % of the time (simulated: no-conflicts)"
std::string gain_text(const Finding& finding);

struct RuleRow {
    std::string_view name, title;
    std::string_view threshold, source;  // of the threshold
};
std::vector<RuleRow> advice_rules();
std::string_view title_of(std::string_view rule);  // "Bank conflicts in shared memory"

}  // namespace lockstep::model
