#include "app/cli/kernel/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/cli.h"

namespace lockstep::cli {
namespace {
constexpr size_t told = 6;  // findings as text; JSON has all

// Lines of at most 110 characters, each behind `indent`.
std::string wrapped(const std::string& text, std::string_view indent) {
    std::istringstream in(text);
    std::string out, line;
    for (std::string word; in >> word;) {
        if (word == "%" || word == "%," || word == "%:" || word == "%;") {  // belongs to its number
            line += " " + word;
            continue;
        }
        if (!line.empty() && line.size() + 1 + word.size() + indent.size() > 110) {
            out += std::string(indent) + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return line.empty() ? out : out + std::string(indent) + line + "\n";
}
}  // namespace

std::string verdict_text(const model::Verdict& verdict) {
    std::string text = wrapped("What limits it: " + verdict.limit, "  ");
    size_t number = 0;
    for (const model::Finding& finding : verdict.findings) {
        if (++number > told) break;
        const std::string place =
            finding.line > 0 ? fmt::format("{}:{}: ", finding.file,
                                           finding.more_lines.empty() ? std::to_string(finding.line) : lines_text(finding))
                             : std::string();
        std::string words = wrapped(place + finding.sentence, "     ");
        words.replace(2, 2, fmt::format("{}.", number));
        text += words;
        text += wrapped((finding.gain_unknown ? "gain " : "saves ") + model::gain_text(finding) + "; " + finding.evidence,
                        "       ");
        text += wrapped(finding.change, "       ");
    }
    if (verdict.findings.size() > told) text += fmt::format("     {} more in --json\n", verdict.findings.size() - told);
    if (verdict.findings.empty()) text += "     Nothing of the rules for slow kernels applies.\n";
    for (const model::WhatIfTime& time : verdict.what_ifs) {
        if (!time.asked) continue;
        text += fmt::format("     what if {}: {} cycles, {:+.1f} % (simulated)\n",
                            model::what_if_named(time.name).value().words, time.cycles, -100 * time.gain);
    }
    if (!verdict.note.empty()) text += wrapped(verdict.note, "     ");
    return text;
}

}  // namespace lockstep::cli
