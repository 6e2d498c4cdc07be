// A run as one file, F.lockstep: what ran, and where one stood in it. Nothing of the run itself is kept: the engine is
// deterministic, so that the same source, launch and GPU come to the same cycle on any machine, and what stood on screen is
// made again. It opens by its name, dropped onto the window, or from the search.
//   {"lockstep_run": 1, "kernel": {"name","text","launch":{...}}, "place": {"workspace","cycle","sm","block","warp", ...}}
// or, instead of a kernel, {"lesson": {"id","step"}} or {"training": {"model","device", ...,"step"}}; headers of one's own,
// arrays of arguments and a GPU's file go along: "files": [{"name": "x.npy", "base64": ...}, {"name": "common.h", "text":
// ...}]. Such files come from strangers: they are checked value by value, and read no file but those that they carry; a
// program with main() is opened, but runs only when somebody presses Run.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/gui/carried_files.h"
#include "app/gui/desk/kernel_document.h"
#include "app/gui/session.h"
#include "core/base/result.h"

namespace lockstep::gui {

struct RunPlace {                 // where one stood; -1 and "": not said
    std::string workspace, view;  // rows of scenes.h and views.cpp; view: the one that was shown alone
    int64_t cycle = -1;           // of a kernel that took `cycles`
    int64_t cycles = -1;
    int64_t sm = -1, block = -1, warp = -1;  // traced; linear; in its block
    int64_t lane = -1, line = -1;
    double zoom = -1;       // of the machine
    std::string plan;       // above a GPU: one of published_plans(); "": another step, or none
    int64_t rank = -1;      // there, the GPU that is looked at
    double step_time = -1;  // in the step's unit
    struct Request {        // that was followed; found again by when it begins, who asks and which line of memory it wants
        int64_t begin = -1, sm = -1, line = -1;
        bool operator==(const Request&) const = default;
    } request;
    FollowedPacket packet;  // that was followed above a GPU
    bool stops = false;     // the clock, where what is followed arrives
    bool operator==(const RunPlace&) const = default;
};

struct RunFile {
    std::optional<KernelDocument> kernel;  // or a host, tensor or whole program: its name says which
    std::string lesson;                    // id; "": none
    int64_t step = 0;                      // of the lesson, or of the training run, from 0
    std::optional<TrainingSetup> training;
    int64_t launch = -1;  // of the training step: which of its kernels is on show
    std::string gpu;      // that lesson and training ran on
    RunPlace place;
    std::vector<CarriedFile> files;
};

constexpr size_t largest_run_file = size_t{48} << 20;

bool is_run_file(const std::filesystem::path& file);  // by its name
// A Diagnostic says in one sentence what is wrong.
Result<RunFile> parse_run_file(const std::string& text, const std::string& name);
Result<RunFile> read_run_file(const std::filesystem::path& file);
std::string text_of(const RunFile& run);
// The plan that stood above the GPU, to be asked for again; nothing: none of the published ones.
std::optional<scene::ClusterSetup> plan_of(const RunPlace& place);
// What the run carries along is written into a folder of its own, and the run names it there. Throws Failure.
void unpack(RunFile& run);
// The session's run as it is on show. Throws Failure where it cannot be put into one file.
RunFile run_on_show(const Session& session, const Focus& focus, const std::string& alone);

// "sum.lockstep", "sum-2.lockstep": the first name in the folder that no file has.
std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& stem, const std::string& ending);

}  // namespace lockstep::gui
