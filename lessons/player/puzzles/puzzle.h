// Puzzles: build a GPU for a kernel, within a budget. A puzzle is a file of lessons/puzzles; its medals are what reference
// designs reach, which are run, not written down.
//
//   title = "Feed the lanes"
//   question = "..."
//   kernel = "vector_add"             vector_add.cu and ptx/vector_add.ptx beside the file; or "step:mlp", the kernels of
//                                     a training step of that model, without the next line
//   grid = "64", block = "128", arguments = ["in:f32[8192]", ...]
//   gpu = "teaching"                  what the player begins with, with the figures of [start]
//   process = "7nm"                   of the estimates
//   hints = ["..."], recap = "..."
//   [start]   sms = 1 ...             figures of the first design
//   [budget]  mm2 = 40, watts = 5     either may be left out
//   [free]    sms = [1, 16] ...       the figures that may change, from and to; every other one has to stay
//   [bronze], [silver], [gold]        the figures of the reference designs, where they differ from [start]
//   [cheat]   what = "...", sms = 99  a way around the question that would pay, with gold's other figures: tests hold that
//                                     it earns nothing
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/scene/designs/designs.h"
#include "lessons/player/challenge/medal.h"

namespace lockstep::lessons {

using Figures = std::vector<std::pair<std::string, double>>;  // of a design, by their names

struct Puzzle {
    std::string id, title, question, recap;  // id: the file's name
    std::vector<std::string> hints;
    std::filesystem::path file;
    std::string gpu, kernel, grid, block;
    std::vector<std::string> arguments;
    const model::Process* process = nullptr;
    Figures start;
    struct Free {
        std::string field;
        double least = 0, most = 0;
    };
    std::vector<Free> free;
    double most_mm2 = 0, most_watts = 0;  // 0: any
    std::map<Medal, Figures> reference;
    std::string cheat_text;  // what somebody may try instead; empty: the file names none
    Figures cheat;           // and the figures of it
};

std::vector<std::filesystem::path> puzzle_files();  // in the order of their names
Result<Puzzle> parse_puzzle(const std::string& text, const std::filesystem::path& file);
Result<Puzzle> puzzle_named(const std::string& id);  // its name, a part of it that only one has, or a file

// The design with these figures of the puzzle's GPU: [start], and what stands in `figures`. Throws Failure.
model::GpuSpec design_of(const Puzzle&, const Figures& figures);
// The time with as many digits as tell it from the others.
std::string time_apart(double us, const std::vector<double>& others);
// A design of one's own, whatever its file is called: no graphics in its area.
model::GpuSpec as_design(model::GpuSpec gpu);
// The figures of [start], and those that are free as the first design has them.
Figures first_figures(const Puzzle&);
// A file for the player, which comes to the first design.
std::string start_file(const Puzzle&);
std::string design_file(const Puzzle&, const Figures& figures);  // the same, to the design with these figures
scene::DesignLaunch launch_of(const Puzzle&);                    // throws Failure

struct Thresholds {  // simulated times of the reference designs
    double bronze_us = 0, silver_us = 0, gold_us = 0;
};
Thresholds thresholds_of(const Puzzle&, const scene::DesignLaunch&, const std::stop_token& = {});

struct PuzzleResult {
    scene::DesignRun run;
    Thresholds thresholds;
    Medal medal = Medal::none;
    std::string why;  // there is no medal, or no better one
};
// Why the design may not take part: a figure was changed that is not free, or is out of its bounds; empty: it may.
std::string against_the_rules(const Puzzle&, const model::GpuSpec&);
PuzzleResult judge(const Puzzle&, const model::GpuSpec&, const std::stop_token& = {});
// The same of a design that has run.
PuzzleResult judge_run(const Puzzle&, const model::GpuSpec&, scene::DesignRun run, const Thresholds& thresholds);
// The same of many designs, whose launch and thresholds are those of launch_of() and thresholds_of(). What is against the
// rules is not run.
PuzzleResult judge_for(const Puzzle&, const scene::DesignLaunch&, const Thresholds&, const model::GpuSpec&,
                       const std::stop_token& = {});

}  // namespace lockstep::lessons
