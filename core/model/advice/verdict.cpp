#include "core/model/advice/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "core/model/advice/facts.h"

namespace lockstep::model {
namespace {

using advice::Facts;
constexpr double least_gain = 0.02;  // what saves less is not worth a line

// What the launch spends its time with, in one sentence.
std::string limit_of(const Facts& facts, Bound bound) {
    const auto m = [&](std::string_view name) { return facts.metric(name); };
    const auto busy = [&](std::string_view what, double percent) {
        return fmt::format("Bound by {}: {:.0f} % of what the GPU can do.", what, percent);
    };
    switch (bound) {
        case Bound::dram:
            return fmt::format("Bound by DRAM: {:.4g} of {:.4g} GB/s, {:.0f} %.", m("dram_bytes_per_second"),
                               facts.run.gpu.dram_gb_per_second.value, m("dram_throughput"));
        case Bound::l2:
            return busy("L2's bandwidth", m("l2_throughput"));
        case Bound::l1:
            return busy("the data pipe of L1 and shared memory", m("l1_throughput"));
        case Bound::tensor:
            return busy("the tensor cores", m("pipe_tensor"));
        case Bound::fp64:
            return busy("the FP64 lanes", m("pipe_fp64"));
        case Bound::arithmetic:
            return busy("arithmetic", std::max({m("issue_slot_utilization"), m("pipe_fma"), m("pipe_alu"), m("pipe_xu")}));
        case Bound::atomics:
            return "Bound by atomics.";
        case Bound::barriers:
            return fmt::format("Bound by barriers: warps wait there in {:.0f} % of their cycles.",
                               100 * facts.share(StallReason::barrier));
        case Bound::start:
            return fmt::format("Over at once: {} cycles, much of which is the start of blocks and the first trip to memory.",
                               with_commas(facts.result.cycles));
        default:
            return fmt::format("Bound by latency: no unit is busier than {:.0f} %.", 100 * facts.busiest());
    }
}

// Findings of one what-if share its gain by what each was thought to gain.
void give_gain(std::vector<Finding>& findings, const WhatIfTime& time) {
    double sum = 0;
    for (const Finding& finding : findings)
        if (finding.what_if == time.name) sum += finding.gain;
    for (Finding& finding : findings) {
        if (finding.what_if != time.name) continue;
        finding.gain = sum > 0 ? time.gain * finding.gain / sum : time.gain;
        finding.simulated = true;
    }
}

// What a finding makes appear beside it: where the cause saves `gain` at least and is told, its symptoms are not.
struct Symptoms {
    std::string_view cause;
    double gain;
    std::string_view rules[9];
};
constexpr Symptoms symptom_rows[] = {
    // A queue is full of what has a cause of its own.
    {"uncoalesced", 0.1, {"full-queues"}},
    {"bank-conflicts", 0.1, {"full-queues"}},
    {"local-memory", 0.1, {"full-queues"}},
    // However blocks are cut and spread, they wait in one queue, and those that came late into it end late.
    {"atomics",
     0.4,
     {"small-grid", "uneven-wave", "tail", "imbalance", "persistent-grid", "persistent-waves", "occupancy-registers",
      "occupancy-shared", "small-blocks"}},
    {"locks",
     0.4,
     {"small-grid", "uneven-wave", "tail", "imbalance", "atomics", "latency", "divergence", "fences", "small-blocks"}},
};

void leave_out_symptoms(std::vector<Finding>& findings) {
    for (const Symptoms& row : symptom_rows) {
        const bool told = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
            return finding.rule == row.cause && finding.gain >= row.gain;
        });
        if (told)
            std::erase_if(findings, [&](const Finding& finding) {
                return std::find(std::begin(row.rules), std::end(row.rules), finding.rule) != std::end(row.rules);
            });
    }
}

bool saves_little(const Finding& finding) {
    return !finding.gain_unknown && !(finding.gain >= least_gain);
}

void sort_by_gain(std::vector<Finding>& findings) {
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.gain > b.gain; });
}

}  // namespace

std::vector<RuleRow> advice_rules() {
    std::vector<RuleRow> rows;
    for (const advice::Rule& rule : advice::rules()) rows.push_back(rule.row);
    return rows;
}

std::string_view title_of(std::string_view rule) {
    for (const advice::Rule& row : advice::rules())
        if (row.row.name == rule) return row.row.title;
    return rule;
}

std::string lines_text(const Finding& finding) {
    if (finding.line <= 0) return {};
    std::vector<int32_t> lines = finding.more_lines;
    lines.push_back(finding.line);
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (size_t k = 0; k < lines.size(); ++k)
        text += (k == 0 ? "" : k + 1 == lines.size() ? " and " : ", ") + std::to_string(lines[k]);
    return text;
}

std::string gain_text(const Finding& finding) {
    if (finding.gain_unknown) return "not known: the model has no such launch";
    if (finding.at_most) return fmt::format("at most {:.0f} % of the time (derived from counters)", 100 * finding.gain);
    return finding.simulated ? fmt::format("about {:.0f} % of the time (simulated: {})", 100 * finding.gain, finding.what_if)
                             : fmt::format("about {:.0f} % of the time (derived from counters)", 100 * finding.gain);
}

Verdict verdict_of(const KernelRun& run, const VerdictOptions& options) {
    Verdict verdict;
    const Facts facts(run);
    verdict.bound = bound_of(run.result);
    verdict.limit = limit_of(facts, verdict.bound);
    std::vector<Finding>& findings = verdict.findings;
    for (const advice::Rule& rule : advice::rules())
        if (rule.find != nullptr) rule.find(facts, findings);
    std::erase_if(findings, saves_little);
    sort_by_gain(findings);

    std::vector<WhatIf> wanted = options.asked;
    std::vector<WhatIf> named;
    const auto has = [](const std::vector<WhatIf>& list, std::string_view name) {
        return std::any_of(list.begin(), list.end(), [&](const WhatIf& row) { return row.name == name; });
    };
    for (const Finding& finding : findings)
        if (!finding.what_if.empty() && !has(wanted, finding.what_if) && !has(named, finding.what_if))
            named.push_back(what_if_named(finding.what_if).value());
    const uint64_t cost = run.result.warp_instructions * std::max<size_t>(1, named.size());
    if (options.what_if_all || (!options.what_if_none && cost <= options.most_instructions))
        wanted.insert(wanted.end(), named.begin(), named.end());
    else if (!named.empty() && !options.what_if_none && run.before != nullptr)
        verdict.note =
            fmt::format("gains are derived from counters; --what-if all simulates them ({} more launches)", named.size());
    if (run.before == nullptr) wanted.clear();
    for (const WhatIf& what_if : wanted) {
        const auto done = static_cast<double>(verdict.what_ifs.size()), of = static_cast<double>(wanted.size());
        const auto time = simulate(run, what_if, options.stop, [&](double share) {
            if (options.progress) options.progress((done + share) / of);
        });
        if (!time) {
            verdict.note = time.error().message;
            continue;
        }
        verdict.what_ifs.push_back(time.value());
        verdict.what_ifs.back().asked = has(options.asked, what_if.name);
        give_gain(findings, time.value());
    }
    std::erase_if(findings, saves_little);
    leave_out_symptoms(findings);
    sort_by_gain(findings);
    return verdict;
}

}  // namespace lockstep::model
