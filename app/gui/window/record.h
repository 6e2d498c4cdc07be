// Moving pictures of the app, drawn without a window: a GIF by our own encoder, or an MP4 by ffmpeg. What moves is said by
// Moments, so that anything with a clock can be recorded.
#pragma once
#include <functional>
#include <string>

#include "app/gui/window/canvas.h"

namespace lockstep::gui {

struct Moments {
    int frames = 0;
    // Puts session and focus where frame k of them is taken, from 0 in order; a caller's lambda may move the shell as well.
    std::function<void(int k, Session& session, Focus& focus)> show;
};

struct RecordOptions {
    int width = 1280, height = 800;
    double frames_a_second = 20;
    Drawing drawing = Drawing::whichever;
};

// The share that is done, 0..1; false: stop, and leave no file.
using GoesOn = std::function<bool(double share)>;

// Throws Failure on a name or a rate that cannot be recorded, with what would be right; `record` does so first.
void check_recording(const std::string& file, const RecordOptions& options);
// Draws every moment once the worker has done what it asks for, and writes the file as its name says: F.gif or F.mp4. False:
// `goes_on` ended it. Throws Failure where it cannot be written, and Failure(missing) where ffmpeg is not there.
bool record(Shell& shell, const RecordOptions& options, const Moments& moments, const std::string& file,
            const GoesOn& goes_on = {});

struct Stretch {       // of the clock of what is on show, in its unit: a kernel's cycles, the unit of a step of many GPUs
    double from = -1;  // -1: its begin
    double to = -1;    // -1: the last that may be seen
    double speed = 0;  // of these a second; 0: so that it lasts ten seconds
};
constexpr int most_frames = 12'000;
// The clock of the kernel on show, its first and last cycle included. Throws Failure where no kernel's clock moves what is
// on show, or the stretch is not one of it.
Moments moments_of_kernel(Shell& shell, const Stretch& stretch, double frames_a_second);
// The same of the step of many GPUs that the machine shows at a cluster and at a node.
Moments moments_of_step(Shell& shell, const Stretch& stretch, double frames_a_second);

// The tour through the machine, from its beginning, and a second on its last picture.
Moments moments_of_tour(Shell& shell, double frames_a_second);

}  // namespace lockstep::gui
