// The one job of part A, made faster from lesson to lesson: lessons/story holds it as host programs, a version a lesson that
// changes it, all with the same outputs. What a version takes is simulated on the story's GPU whenever somebody asks.
//
//   title = "..."                what the job is
//   gpu = "v100"
//   [[version]] lesson = "A08", file = "a08_....host", what = "neighbours read neighbours"
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/scene/run.h"
#include "lessons/player/challenge/medal.h"
#include "lessons/player/lesson.h"

namespace lockstep::lessons {

struct Story : scene::SceneHome {
    std::string title;
    struct Version {
        std::string lesson, file, what;
    };
    std::vector<Version> versions;  // in the order of their lessons
};
Result<Story> parse_story(const std::string& text, const std::filesystem::path& file);
Result<Story> story();  // of lessons/story
// The versions that somebody knows who has done the lesson, the first one's included; none outside the story's part.
std::vector<Story::Version> versions_until(const Story& story, const std::string& lesson);
Result<scene::SceneResult> run_version(const Story& story, const Story::Version& version,
                                       const scene::RunOptions& options = {});

// What stands on a lesson's last page and is worked out when it is asked for.
struct Ending {
    std::optional<MedalLimits> limits;  // of the lesson's challenge
    struct Bar {
        std::string lesson, what;
        double us = 0;  // from the first copy to the last, simulated
    };
    std::string job, gpu;
    std::vector<Bar> bars;  // of the story, up to the lesson
    std::string problem;    // why something of it could not be worked out
    double times() const { return bars.empty() ? 1 : bars.front().us / bars.back().us; }
    std::string words() const;  // "This job: 12.4 ms in A01, 3.1 ms now: 4 times as fast (simulated)."; "" no story
};
Ending ending_of(const Lesson& lesson, const scene::RunOptions& options = {});

}  // namespace lockstep::lessons
