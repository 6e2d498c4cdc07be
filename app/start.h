// The whole program but for main(): the command line in front, the app behind it, and the tasks that run in child processes.
#pragma once

namespace lockstep {
int start(int argc, char** argv);  // its exit status
}
