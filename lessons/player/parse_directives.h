// ::: lines as data: what their attributes say, each value looked at. What a step or a lesson may hold of them is the
// parser's (parse.cpp). Internal to lessons/player.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "lessons/player/attributes.h"
#include "lessons/player/lesson.h"

namespace lockstep::lessons {

// All throw Failure, with the place of the attribute that is wrong.
scene::Scene scene_of(const Directive& d);
Predict predict_of(const Directive& d);
Exercise exercise_of(const Directive& d);
Challenge challenge_of(const Directive& d);
std::string until_of(const Directive& d);
int whole_of(const Directive& d, std::string_view key, int otherwise, int least, int most);

std::string without_spaces(const std::string& text);                   // without spaces and tabs at its ends
std::optional<double> number_of(const std::string& text);              // nothing: it is none, or more than that
std::optional<double> number_with_thousands(const std::string& text);  // 101,770 too

}  // namespace lockstep::lessons
