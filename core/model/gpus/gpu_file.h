// A GPU of one's own: a TOML file that says what is other than on the GPU that it inherits from.
//
//   inherits = "h100"                                   a GPU's name, or another such file beside this one
//   name = "my first"                                   what it is called on screen; else the file's own name
//   source = "chosen for the exercise"                  where the values below come from; else the file's name
//   sms = 4                                             figures by the names that `lockstep gpus h100 --json -` prints
//   l2_mb = 4                                           sizes also in _kb and _mb; tensor_fmas for the tensor cores
//   fp32_lanes = { value = 8, source = "a guess" }      a source of its own
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/model/gpus/gpu_spec.h"

namespace lockstep::model {

// Whether gpu_named() takes it for a file: it ends in ".toml".
bool is_gpu_file(std::string_view name);

// What a GPU is called where room is short: the name of a row, a file's name without its folder and ending.
std::string short_name(std::string_view gpu);

// The GPU of a file. Its `name` is the path, so that gpu_named() finds it again. A file that has not changed is not read
// twice.
Result<GpuSpec> read_gpu_file(const std::filesystem::path& file);
// The same of a text; `file`: what it is called in diagnostics, and beside which inherited files lie. `within`: a folder
// that nothing may be inherited from outside of, as of designs that are handed in; empty: any.
Result<GpuSpec> parse_gpu_file(const std::string& text, const std::string& file, const std::filesystem::path& within = {});

// The file that a GPU's file of this text inherits from, as it names it; "": none, or it cannot be read.
std::string inherited_file(const std::string& text);

// A file that inherits from the GPU and lists its figures, each behind a comment sign.
// `inherits`: how the file names it; `name`: what it is called itself.
std::string new_gpu_file(const GpuSpec& from, std::string_view inherits, std::string_view name);

// The rows of gpus.cpp: gpus() without the teaching GPU, which needs its file.
std::span<const GpuSpec> real_gpus();
// The GPU of assets/gpus/teaching.toml. Throws Failure where it is missing.
const GpuSpec& teaching_gpu();

}  // namespace lockstep::model
