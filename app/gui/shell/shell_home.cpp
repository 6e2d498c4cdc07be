// What happens behind Home while one looks at it, one thing after the other, each once: the training run of its tile goes on
// a few steps, then the kernel on the desk runs, and the pictures are those of the training run again.
#include <utility>

#include "app/gui/shell/shell.h"

namespace lockstep::gui {

void Shell::drive_home() {
    HomeLook& home = session.home;
    const Snapshot& now = *snapshot_;
    if (!now.busy.empty() || now.version == 0) return;
    const bool trained = now.source == Source::training && now.training.step != nullptr;
    if (session.steps_later > 0 && trained) {
        home.trains_until = now.training.step->step + session.steps_later;
        return session.post(ask::Train{std::exchange(session.steps_later, 0)});
    }
    if (trained && now.training.step->step < home.trains_until) return;
    if (home.own == HomeLook::Own::wanted) {
        const KernelDocument& document = session.desk.document();
        // A whole program does what it likes: it waits until somebody asks for it.
        if (document.is_program() || document.is_host() || document.is_tape() || !document.launch.run_on_change)
            home.own = HomeLook::Own::done;
        else if (trained)
            home.own = HomeLook::Own::asked;
    }
    if (home.own != HomeLook::Own::asked) return;
    if (now.own.compiled) {
        home.own = HomeLook::Own::done;
        if (now.source == Source::own) session.post(ask::Bring{Source::training});
    } else if (session.desk.update(session, now, now_)) {
        state.animate = true;
    }
}

}  // namespace lockstep::gui
