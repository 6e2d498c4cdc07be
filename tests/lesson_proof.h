// A lesson's folder proves itself: scenes run, predictions hold, starters fail, solutions pass.
#pragma once
#include <filesystem>

#include "lessons/player/check.h"
#include "tests/catch.h"

// All lessons of a part, of which there are at least `least`; under sanitizers every third.
inline void prove_lessons(char part, size_t least) {
    size_t lessons = 0;
    for (const std::filesystem::path& folder : lockstep::lessons::lesson_folders()) {
        if (folder.filename().string().front() != part) continue;
        if (lessons++ % 3 != 0 && sanitized) continue;
        const lockstep::lessons::LessonCheck check = lockstep::lessons::check_lesson(folder);
        for (const lockstep::lessons::CheckItem& item : check.items) {
            INFO(check.id << " " << item.what << ": " << item.detail);
            CHECK(item.passed);
        }
        CHECK(check.passed());
    }
    CHECK(lessons >= least);
}
