// What was handed in: files, folders, zip archives, notebooks, and folders or archives that hold one of these a student.
// Internal to app/cli/lesson.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "lessons/player/lesson.h"

namespace lockstep::cli {

struct HandedIn {      // one submission
    std::string name;  // as it is told: the path that was given, or one below it
    std::filesystem::path place;
    std::string problem;  // why nothing of it can be judged: there is no such path, an archive that cannot be read
};

struct HandedInWanted {
    std::vector<const lessons::Exercise*> exercises;
    bool programs = false;  // whole programs: a folder with sources is one, whatever they are called
};

// One submission a path; but a folder or an archive without an answer of its own, which holds folders, archives or files of
// many, is as many. Archives are unpacked into `scratch`. A path that cannot be read is a submission with a problem.
std::vector<HandedIn> find_handed_in(const std::vector<std::string>& paths, const HandedInWanted& wanted,
                                     const std::filesystem::path& scratch);

struct Answer {  // to one exercise
    const lessons::Exercise* exercise = nullptr;
    std::filesystem::path file;    // to be read
    std::filesystem::path folder;  // whose headers it may include
    std::string shown;             // "window.cu"; "nb.ipynb, cell 3"
    std::string note;              // "my_window.cu is taken as window.cu"
    std::string problem;           // why there is none
};
// What of a submission answers which exercise: a folder all of them, a file the one that it is called like.
std::vector<Answer> answers_in(const HandedIn& submission, const HandedInWanted& wanted,
                               const std::filesystem::path& scratch);

}  // namespace lockstep::cli
