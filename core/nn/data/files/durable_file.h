// Files that survive: what stood at a path stays there, whole, until its successor is on the disk.
#pragma once
#include <filesystem>
#include <string_view>

namespace lockstep::nn {

// Writes into a temporary file in the same folder, flushes it to the disk (fsync), renames it over `path` and flushes the
// folder. On any failure (a full disk, a limit, no permission) the temporary is removed, an earlier file at `path` is as it
// was, and Failure says which step failed and why. Folders are made where missing.
void write_durably(const std::filesystem::path& path, std::string_view contents);

}  // namespace lockstep::nn
