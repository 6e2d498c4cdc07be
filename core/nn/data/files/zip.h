// Zip archives (PKWARE's APPNOTE 6.3): members that are stored or deflated, whole in one file below 4 GiB, not encrypted.
// Every number of the file is held against the file's own size before it is used, and what it unpacks to against a limit.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace lockstep::nn {

struct ZipReading {
    std::string_view what = "zip archive";      // for messages: "not a readable npz file: ..."
    std::string_view larger = "what it holds";  // "makes the arrays larger than 4.0 GiB"
    uint64_t limit = uint64_t{1} << 30;         // bytes, of all members unpacked together
    size_t most_members = 65534;
    // Why the archive is refused for a member of this name ("is not an npy file"); "": it is not.
    std::function<std::string(std::string_view name)> objection = {};
    std::function<bool(std::string_view name)> wanted = {};  // null: all; others are not unpacked
    // A member's contents, in the directory's order; a Diagnostic ends the reading.
    std::function<std::optional<Diagnostic>(std::string_view name, std::string_view contents)> take;
};
// Nothing: it was read. `name`: of the archive, for messages.
std::optional<Diagnostic> read_zip(std::string_view bytes, const std::string& name, const ZipReading& how);

}  // namespace lockstep::nn
