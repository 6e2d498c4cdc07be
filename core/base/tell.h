// A line for whoever reads stderr. Where nobody can (the disk behind it is full, the pipe is closed, there is no stderr),
// the work goes on: fmt::print would throw, and an error told from a handler of errors would end the program by abort().
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace lockstep {

template <typename... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace lockstep
