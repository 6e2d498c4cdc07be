// The whole interface without a window, showing a kernel run made by hand.
#pragma once
#include "tests/gui/desk.h"
#include "tests/gui/sm_scene.h"

namespace lockstep::gui::test {

struct SmDesk : Desk {
    explicit SmDesk(Workspace workspace, const SceneOptions& options = {}) {
        session.workspace = workspace;
        session.grain = Grain::cycle;
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->kernel.run = small_run(options);
        snapshot->kernel.history = even_odd_history();
        show(snapshot);
        frame();
    }
    const KernelTrace& trace() const { return session.snapshot()->kernel.run->result.trace; }
};

}  // namespace lockstep::gui::test
