// Which of a lesson's runs a picture may show: while a question asks how some of them end, the others are given. A run that
// a later step asks about waits for that step. Tested without a window.
#pragma once
#include <memory>
#include <string_view>

#include "app/gui/session.h"

namespace lockstep::gui {

// The run of that name is kept back: an open question of the step on show asks about it, or one of a later step about the
// same scene that nobody has answered. A run whose figure a question itself tells (known=) is not.
bool keeps_back(const Session& session, std::string_view curve);
// The run learns by a loss that no other one has, as a student does from its teacher's answers: on their axis it would
// mislead.
bool has_other_loss(const Session& session, std::string_view curve);
// The snapshot, with nothing but the beginning of those runs that are kept back, and without those of another loss.
std::shared_ptr<const Snapshot> without_kept_back(const Session& session, const std::shared_ptr<const Snapshot>& snapshot);

}  // namespace lockstep::gui
