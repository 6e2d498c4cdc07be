// The desktop app's front door. With no display and no picture asked for, it renders the default scene to a PNG,
// says where, and prints the step's summary.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace lockstep::gui {

struct AppOptions {
    std::string lesson = {};      // "B04"; empty: the training scene
    int step = 0;                 // of the lesson, from 1; 0: its first step; of the training scene: the step to reach
    std::string open = {};        // a .cu, .ptx, .host or .tape file: opens it in the Kernel workspace; or a .lockstep
    std::string view = {};        // a workspace ("sm") or one view of views.cpp ("warps"), drawn alone
    std::string model = {};       // what the Training workspace trains; empty: the opening scene
    std::string gpu = {};         // that kernels run on: a name or a file; empty: as the scene says
    int ranks = 1;                // that its step on show is run on too
    std::string plan = {};        // "dp=2 pp=2 zero=1": the Cluster workspace trains on ranks split like that
    int moment = 0;               // of the autograd tape, from 1, for pictures; 0: where the scene opens
    int64_t cycle = -1;           // of the kernel on show, where its pictures and values stand; -1: where its scene opens
    int sm = -1;                  // that is traced; -1: as the scene says
    bool tour = false;            // through the machine, in twenty seconds
    std::string zoom = {};        // of the machine: the stop that it stands at, such as "sm"; empty: the GPU
    bool follow = false;          // the machine follows the next request that goes far, half of its way
    std::string screenshot = {};  // F.png or F.svg: render without a window
    std::string sheet = {};       // "B04": all its steps on one picture, `screenshot` or B04.png
    std::string save_run = {};    // F.lockstep: the run that is on show, with where it stands, and leave
    // Of these 0 and "" stand for what was remembered of the last time, else for 1600, 1000, 1 and "dark".
    int width = 0, height = 0;
    double scale = 0;  // text scale, 0.75 .. 2.5
    std::string theme = {};
    std::string renderer = {};          // of pictures and recordings: "gl", "cpu"; empty: OpenGL where it is
    bool less_motion = false;           // nothing flashes
    bool present = false;               // presenter mode
    bool paper = false;                 // with it and a folder of a lesson's steps: their pictures alone, for a page
    std::string certificate = {};       // a progress file: a picture of what it says was done, and nothing else
    std::string certificate_name = {};  // whose it is
    bool describe = false;              // print the views' facts as text and leave
    struct Film {
        std::string file = {};      // F.gif or F.mp4: record without a window; empty: nothing is recorded
        double from = -1, to = -1;  // cycles of the kernel on show, or the step's unit of time; -1: its begin, its end
        double speed = 0;           // of these a second; 0: so that it lasts ten seconds
        double frames_a_second = 20;
        std::function<bool(double share)> goes_on = {};  // hears how much is done; false ends it
    } film = {};
};

constexpr int interrupted = 130;  // a recording that `goes_on` ended
// Exit status as in the command line's contract. Throws Failure on a bad option.
int run_app(const AppOptions& options);

}  // namespace lockstep::gui
