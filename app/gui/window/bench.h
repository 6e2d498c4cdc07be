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

}  // namespace lockstep::gui
