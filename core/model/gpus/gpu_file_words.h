// What is wrong with a GPU's file that is no TOML, in our own words: the place where a person mends it, and one sentence.
#pragma once
#include <string>
#include <string_view>

namespace lockstep::model {

struct GpuFileFault {
    int line = 1, column = 1;  // from 1; columns in bytes
    std::string message;
};

// `line` and `column`: where the parser gave up; `said`: its own description, by which two values of one name are known.
GpuFileFault gpu_file_fault(const std::string& text, int line, int column, std::string_view said);

}  // namespace lockstep::model
