// A scene as it is asked for: a kernel of a file, a host program, a tensor program, training, or rows of many ranks. A
// lesson's `::: scene` line is read into one; run.h runs it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace lockstep::scene {

struct Scene {       // what runs: a kernel of a file in the lesson's folder, a host program, a tensor program, or training
    std::string id;  // for `of="cycles@scene:four"`; "" none
    std::string file, kernel;  // "even_odd.cu", "even_odd"; empty when train or host is set
    std::string grid = "1", block = "32";
    std::vector<std::string> arguments;  // as `--arg`, in order
    uint32_t dynamic_shared = 0;
    std::string gpu;                // empty: the lesson's
    std::vector<std::string> gpus;  // a kernel scene: other GPUs that run it too, for `time_us@gpu:a100`
    std::string host;               // "overlap.host": a host program of the lesson's folder
    std::string train;              // "mlp data=digits batch=64 lr=0.1", or "rates.train": a training scene
    std::string tape;               // "chain_rule.tape": a tensor program of the lesson's folder
    std::string parallel_kind;      // of many ranks: "schedule", "collective" ... (cluster/parallel_scene.h); "" none
    std::string parallel;           // its rows: "gpipe ranks=4; 1f1b", or a file's name: "own.schedule"
    std::string view;               // what stands beside the lesson: "divergence", "threads", "blocks", "training"
    std::string compare;            // id of the scene beside this one in "compare", of tensor programs ids; "" none
    std::string focus;              // "warp:0@line:7", "launch:3", "step:0"
    std::string expect;             // the kind of fault or report that this scene is there to show: "memcheck",
                                    // "racecheck" (which is then looked for); "" none
    bool guess = false;             // of the view "roofline": where the run stands is guessed before it appears
    SourceLocation where;
};

struct SceneHome {                 // what all scenes of a lesson share
    std::filesystem::path folder;  // of its files
    std::string gpu;               // where the scene names none
    uint64_t seed = 0;             // of random values
};

// Whether a file of a scene is a host program (by its name's end) and not a kernel.
bool is_host_program(const std::string& file);
bool is_tensor_program(const std::string& file);  // *.tape
// Whether it is a tensor program or training runs (*.train).
bool is_engine_program(const std::string& file);
// Whether it holds rows of a scene of many ranks (*.schedule, *.plan ...: the kinds of cluster/parallel_scene.h).
bool is_parallel_program(const std::string& file);

}  // namespace lockstep::scene
