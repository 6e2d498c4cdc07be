// The twin of app.cpp in a build without the app (LOCKSTEP_APP=OFF).
#include <cstdio>

#include "app/gui/app.h"
#include "app/gui/window/bench.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

int run_app(const AppOptions&) {
    std::fputs("lockstep: this build has no app; configure with -DLOCKSTEP_APP=ON (package libimgui-dev and its friends)\n",
               stderr);
    return static_cast<int>(ExitStatus::missing);
}

std::vector<AppRate> bench_app(std::string_view) {
    return {};
}
std::vector<AppRate> bench_manners(std::string_view) {
    return {};
}
std::string memory_of_app(const std::vector<std::string>&) {
    return {};
}

}  // namespace lockstep::gui
