// The runs that this session has put on the roofline, oldest first: lesson scenes, kernels of a training step, edits of the
// learner's own kernel. A run that is shown again is the same one, also when it was run again and nothing changed. State of
// the interface, owned by the frame's thread.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metrics/roofline.h"

namespace lockstep::gui {

struct RoofGuess {  // where the learner expects the run
    double intensity = 0, flop_per_second = 0;
};

struct RoofRun {
    int number = 1;     // counted over the session; 0: it faulted, and leaves with the next run
    std::string name;   // "vector_add"
    std::string label;  // the same; of another launch of that kernel "vector_add, 64 blocks" or "polynomial, 64"; of an
                        // edit "transpose, line 7"
    uint64_t blocks = 0, threads = 0;  // threads: of a block
    std::vector<int32_t> numbers;      // of its arguments
    std::string source;
    std::string gpu;
    model::RoofPoint point;
    RoofGuess guess;
    bool guessing = false;  // the point stays hidden until the guess is locked
    bool guessed = false;
    std::weak_ptr<const model::KernelRun> run;
};

class RoofTrail {
  public:
    static constexpr size_t most_runs = 12;

    // The run on show; called once a frame. A new one stays hidden for a guess where that is wanted.
    void adopt(const std::shared_ptr<const model::KernelRun>& run, std::string_view label, bool guess);
    const std::vector<RoofRun>& runs() const { return runs_; }
    const RoofRun* current() const { return current_ < runs_.size() ? &runs_[current_] : nullptr; }
    RoofRun* current() { return current_ < runs_.size() ? &runs_[current_] : nullptr; }
    void show_without_guess() {
        if (current() != nullptr) current()->guessing = false;
    }
    // The run on show waits for a guess: nothing beside the roofline may give its time or traffic away either.
    bool guessing() const { return current() != nullptr && current()->guessing; }
    void forget_others();  // all but the run on show

    bool guess_first = false;  // what the learner chose for runs to come

  private:
    std::vector<RoofRun> runs_;
    size_t current_ = 0;
    int last_number_ = 0;
};

// "x2.7", "x1,120"
std::string times_text(double factor);
// "x2.1 too far left, x3.0 too high"; "close: within 10 %".
std::string distance_words(const RoofGuess& guess, const model::RoofPoint& point, model::RoofLevel level);

}  // namespace lockstep::gui
