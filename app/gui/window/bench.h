// Rates of the app itself, for `lockstep bench app`: rendered off screen, so that they can be measured without a display.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::gui {

struct AppRate {
    std::string name;  // "app/first_picture", "app/frames/warps"
    double value = 0;
    std::string unit, config;
};

// Rows whose name begins with `name`; empty where this build has no app.
std::vector<AppRate> bench_app(std::string_view name);
std::vector<AppRate> bench_manners(std::string_view name);  // the same of memory, steps, keys and frames

// A task of a child process: megabytes that the app holds, after its start, or, with the word "session", after some use.
constexpr std::string_view memory_task_name = "app-memory";
std::string memory_of_app(const std::vector<std::string>& words);

}  // namespace lockstep::gui
