// The picture that a sketch stands below: of the case before, so that nobody thinks in front of an empty page.
#pragma once
#include <string_view>

#include "lessons/player/predict.h"

namespace lockstep::lessons {

inline constexpr std::string_view alone = "none";        // what base= says where no picture is to stand there
inline constexpr std::string_view first_row = "@first";  // and behind an id: that scene with its first row alone

// The scene whose picture stands above the sketch until it is answered: base='s, else of an amount or an order that of the
// nearest step before with the same view, for what changes is asked. Of a question in words base='s stands in place of the
// step's own. Null: the sketch stands alone, and the step's own picture waits for the answer.
const scene::Scene* picture_before(const Lesson& lesson, size_t step, const Predict& predict);

}  // namespace lockstep::lessons
