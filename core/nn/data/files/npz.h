// NumPy's npz: a zip archive (PKWARE APPNOTE 6.3) of npy files, stored or deflated, as np.savez and np.savez_compressed
// write it. Not read: encrypted, split and zip64 archives (over 4 GiB).
#pragma once
#include <filesystem>

#include "core/base/result.h"
#include "core/nn/data/files/named_array.h"

namespace lockstep::nn {

// The arrays in the archive's order, names without ".npy"; their unpacked sizes may sum to at most `limit` bytes.
Result<NamedArrays> parse_npz(std::string_view bytes, const std::string& name, uint64_t limit = uint64_t{1} << 32);
Result<NamedArrays> read_npz(const std::filesystem::path& path);

// Stored, as np.savez does. Throws Failure on a name that is empty or used twice, and beyond 4 GiB.
std::string format_npz(const NamedArrays& arrays);

}  // namespace lockstep::nn
