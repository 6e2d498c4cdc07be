// A learner's progress: one JSON object a line, appended when a step is done, a prediction answered, or an exercise
// passed. Steps are named by their titles and the rest by ids, so that an edited lesson keeps what still fits. A line that
// cannot be read, or names what is no longer there, is skipped. The file stays on this machine.
//   {"lesson":"A02","event":"step","step":"Which thread is mine?"}
//   {"lesson":"A02","event":"prediction","predict":"whose","answer":"1","confidence":70,"truth":1.0,"right":true}
//   {"lesson":"A08","event":"prediction","predict":"shifted","sketch":[1,1,1,1,1,0,0,0],"truth":5.0,"right":true}
//   {"lesson":"A02","event":"exercise","exercise":"guard","points":2.0}
//   {"lesson":"A08","event":"medal","exercise":"pieces","medal":"gold"}
//   {"lesson":"AX","event":"exam","points":9.0,"of":14.0,"passed":true}
// Each ends in "on":"2026-11-27", the day by the clock of the world.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lockstep::lessons {
struct Lesson;
}

namespace lockstep::gui {

struct LessonState;

// Fills in what the file says about the state's lesson. A file that is not there says nothing.
void restore_progress(const std::filesystem::path& file, LessonState& state);
struct LessonProgress {
    size_t done = 0, steps = 0;  // steps of the lesson
    int next = 0;                // the first that is not done, from 0; its last where all are
    bool whole() const { return steps > 0 && done == steps; }
};
LessonProgress progress_in(const LessonState& state);
// What the file says about each of the lessons that it speaks of, by id: read once for all of them.
std::map<std::string, LessonProgress> progress_of(const std::filesystem::path& file,
                                                  std::span<const std::shared_ptr<const lessons::Lesson>> course);
// The id of the lesson that the file's last readable line is about; empty: there is none.
std::string last_lesson_in(const std::filesystem::path& file);

class ProgressLog {
  public:
    explicit ProgressLog(std::filesystem::path file) : file_(std::move(file)) {}
    // From here on only what is new is written.
    void follow(const LessonState& state);
    // Appends what is new; returns a sentence the first time that the file cannot be written. Called once a frame.
    std::string note(const LessonState& state);

  private:
    std::filesystem::path file_;
    std::shared_ptr<const lessons::Lesson> lesson_;
    std::vector<bool> done_;
    std::vector<std::vector<bool>> answered_;
    int medal_ = 0;  // lessons::Medal
    bool handed_in_ = false;
    bool complained_ = false;
};

}  // namespace lockstep::gui
