// Where Lockstep is a library inside of somebody else's program (Python), "this program" is not the one that the library's
// files lie beside, and cannot run tasks: another program stands in for it, which serves them (serve_task).
#pragma once
#include <filesystem>

namespace lockstep::system {

// From here on own_executable() is `program`, and tasks run in it. To be called before anything else is.
void stand_in(const std::filesystem::path& program);
const std::filesystem::path& stands_in();  // empty: nobody does

}  // namespace lockstep::system
