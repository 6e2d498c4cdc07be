// What the kinds of sketches share. Internal to lessons/player/sketch.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/simt/history/history.h"
#include "lessons/player/sketch/sketch.h"

namespace lockstep::lessons {

// The rows of sketch_kinds(), a function a file.
SketchKind sectors_kind();
SketchKind bar_kind();
SketchKind typed_kind();
SketchKind lanes_kind();
SketchKind banks_kind();
SketchKind blocks_kind();
SketchKind order_kind();
SketchKind curve_kind();
SketchKind dot_kind();
SketchKind shares_kind();
SketchKind barrier_kind();
SketchKind elements_kind();

// The kernel run of the step's scene, or of the scene with that id.
Result<std::shared_ptr<const scene::KernelResult>> kernel_asked(SceneRuns& runs, size_t step, const std::string& id = {});
int line_asked(const Predict& predict);  // of `of`: the number behind "@line:"; 0: none
// Source, line, values of the scalar arguments: what every board of a kernel begins with.
Result<SketchBoard> kernel_board(SceneRuns& runs, size_t step, const Predict& predict);
// The known cases: a row of the table each, and where `as_places` a place each.
std::optional<Diagnostic> add_known(SceneRuns& runs, size_t step, const Predict& predict, bool as_places,
                                    SketchBoard& board);
Result<double> value_of(SceneRuns& runs, size_t step, const Predict& predict, const scene::Expression& expression);
void fit_axis(const Predict& predict, SketchBoard& board);

// What the scene's warp did at the line, the first time; of its accesses the first one, or the first in that space.
struct WarpAtLine {
    simt::WarpHistory history;
    const simt::WarpStep* step = nullptr;
    const simt::WarpAccess* access = nullptr;
};
Result<std::shared_ptr<const WarpAtLine>> warp_at(SceneRuns& runs, size_t step, const std::string& scene_id, int line,
                                                  const scene::KernelResult& kernel, ptx::Space space = ptx::Space::none);

SketchScore score_cells(const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth, std::string_view cell,
                        std::string_view cells, std::string_view done);
SketchScore score_amounts(const Predict& predict, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth,
                          std::string_view did);
double cells_painted(const SketchBoard& board, const Sketch& sketch);
Sketch blank(const SketchBoard& board, double value);
std::string counted(size_t count, std::string_view one, std::string_view many);
std::string listed(const std::vector<std::string>& words, size_t most = 4);

}  // namespace lockstep::lessons
