// Tasks of the tests: functions that a test program runs in a child process of its own (core/system/system.h). A test file
// lists them at namespace scope; tests/main.cpp serves them.
#pragma once
#include <vector>

#include "core/system/system.h"

inline std::vector<lockstep::system::ChildTask>& test_tasks() {
    static std::vector<lockstep::system::ChildTask> all;
    return all;
}
struct TestTasks {
    TestTasks(std::initializer_list<lockstep::system::ChildTask> tasks) { test_tasks().insert(test_tasks().end(), tasks); }
};
