// "k << <1, 32 >> > (p)": so Visual Studio formats a launch, and nvcc takes it. clang wants "<<<" and ">>>".
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::device {

// The source with its launches' brackets joined: of the same length.
std::string with_joined_launches(std::string_view source);

// clang's options that put joined text, written into `folder`, in the place of the files that need it: of the source itself
// and of headers of its own, "beside.cuh" or in folders of `include`. None where no file needs it.
std::vector<std::string> joined_launch_options(const std::filesystem::path& source, std::span<const std::string> include,
                                               const std::filesystem::path& folder);

}  // namespace lockstep::device
