// What stands in the reports, counted: for their tab, and for whoever brings it to the front.
#pragma once
#include "app/gui/session.h"

namespace lockstep::gui {

struct ReportCount {
    int errors = 0, warnings = 0;
};
// Of the text as it is on the desk; what is said of an earlier one does not count.
ReportCount count_reports(const Session& session, const Snapshot& snapshot);

}  // namespace lockstep::gui
