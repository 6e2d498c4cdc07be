// safetensors: a u64 length N, N bytes of JSON, then the tensors' bytes without a gap. Everything little-endian, row-major.
//   {"__metadata__": {"key": "text", ...},                                    optional
//    "fc1.weight": {"dtype": "F32", "shape": [128, 784], "data_offsets": [begin, end]}, ...}   offsets from the end of the
//    JSON
// The JSON begins with '{' and may end in spaces. Refused, with the offset of the byte and the reason: a header cut off or
// over 100 MB, anything else in the JSON, names twice, an unknown dtype, a shape that does not fill its bytes, offsets that
// overlap, leave a hole or reach beyond the file. The same checks as those of the format's reference reader.
#pragma once
#include <filesystem>
#include <map>

#include "core/base/result.h"
#include "core/nn/data/files/named_array.h"

namespace lockstep::nn {

struct SafeTensors {
    std::map<std::string, std::string> metadata;
    NamedArrays tensors;  // in the order of their bytes
};

// BOOL is read as u8. F8_E4M3, F8_E5M2 and younger types are refused by name.
Result<SafeTensors> parse_safetensors(std::string_view bytes, const std::string& name);
Result<SafeTensors> read_safetensors(const std::filesystem::path& path);

// The tensors in the order given, each at a multiple of its element's size as long as larger elements come first; the JSON
// is padded to a multiple of eight. Throws Failure on a name used twice, an empty one or "__metadata__".
std::string format_safetensors(const SafeTensors& file);
// By way of write_durably: a failed write leaves an earlier file as it was. Throws Failure.
void write_safetensors(const std::filesystem::path& path, const SafeTensors& file);

}  // namespace lockstep::nn
