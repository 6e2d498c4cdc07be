#include "app/gui/desk/program_run.h"

#include <fmt/format.h>

#include "core/base/units.h"

namespace lockstep::gui {

bool ProgramRun::is_own_line(const std::string& file) const {
    return std::filesystem::path(file).filename() == source.filename();
}

std::string ProgramRun::unreported() const {
    if (running || reported || (!cancelled && !crashed())) return {};
    return fmt::format("The program was {} before its report: what it did with the GPU is not known.",
                       cancelled ? "stopped" : "ended by a signal");
}

std::string ProgramRun::label_of(int64_t launch) const {
    if (launch < 0 || static_cast<size_t>(launch) >= report.launches.size()) return "";
    return fmt::format("{}  (launch {} of {})", report.launches[static_cast<size_t>(launch)].kernel, with_commas(launch + 1),
                       with_commas(static_cast<int64_t>(report.launches.size())));
}

}  // namespace lockstep::gui
