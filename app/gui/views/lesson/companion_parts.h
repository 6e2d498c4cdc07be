// What a lesson's companion adds to the lesson panel: under a step the same in today's tools, closed until it is asked for,
// and after the last step what was found, how sure one was against how often right, questions, and the way back and on.
#pragma once
#include <set>
#include <string>

#include "app/gui/session.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

// How sure the learner was on average, in percent, and how often right, of the predictions that asked for it.
struct Calibration {
    int asked = 0, right = 0;
    double sure = 0;
    std::string words() const;  // "" where nothing was asked
};
Calibration calibration_of(const LessonState& state);

// The challenge's exercise, its step from 0; null: the lesson has none.
const lessons::Exercise* challenge_exercise(const LessonState& state, int& step, size_t& index);
// Where its medals begin, as the last check or the last page has it, and what the learner has of them, a sentence each; ""
// not known yet.
std::string medal_limits_words(const LessonState& state);
std::string medal_won_words(const LessonState& state);

// Asks the worker for the last page's medals and bars, and once more where another wish came in between.
class EndingAsked {
  public:
    void ask(const Ui& ui, Session& session);

  private:
    const lessons::Lesson* of_ = nullptr;
    double at_ = 0;  // when it was asked last
};

class CompanionParts {
  public:
    void begin_step();  // everything is closed again
    // Both return where they end.
    float draw_same(Ui& ui, const LessonState& state, float x, float w, float y);
    float draw_ending(Ui& ui, Session& session, float x, float w, float y);
    static bool has_ending(const LessonState& state);  // the last step is on show and done
    static std::string describe(const LessonState& state);

  private:
    std::set<size_t> same_open_, answers_open_;
    std::string certificate_;  // where it was written
    size_t copied_ = ~size_t{0};
    EndingAsked asked_;
    float draw_challenge(Ui& ui, Session& session, float x, float w, float y);
    static float draw_story(Ui& ui, const LessonState& state, float x, float w, float y);
    float draw_code(Ui& ui, const std::string& code, float x, float w, float y) const;
};

}  // namespace lockstep::gui
