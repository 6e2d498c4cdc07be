// What the fuzzer does with tensor programs: parse and run them on the host, within small bounds. What ran has the figures
// that its text promises; what was refused was so in a sentence.
#pragma once
#include "core/scene/figures/figures.h"
#include "core/scene/tape/tape_program.h"
#include "tests/fuzz/arguments_target.h"

namespace lockstep::fuzz {

inline size_t try_tape(std::string_view input) {  // how many steps ran
    const auto text = scene::parse_tape(std::string(input), "fuzz/program.tape");
    if (!text) {
        must_be_a_sentence(text.error());
        return 0;
    }
    scene::TapeRunOptions options;
    options.most_bytes = 16 << 20;
    options.most_work = 20'000'000;
    options.watch = true;
    const auto ran = scene::run_tape(text.value(), options);
    if (!ran) {
        must_be_a_sentence(ran.error());
        return 0;
    }
    const scene::TapeRun& run = *ran.value();
    const auto steps = static_cast<size_t>(text.value().steps);
    must(run.loss.size() == steps && run.history.size() == steps + 1, "a step without its values");
    must(run.step != nullptr, "a run without its last step");
    must(scene::figure_of(run, "steps").ok() && scene::figure_of(run, "ops").ok(), "a run without figures");
    for (const scene::TapeHessian& hessian : run.hessians)
        must(hessian.values.size() == hessian.in.size() * hessian.in.size(), "a Hessian that is not square");
    if (run.anomaly) must(!scene::anomaly_text(run).empty(), "an anomaly without words");
    return steps;
}

}  // namespace lockstep::fuzz
