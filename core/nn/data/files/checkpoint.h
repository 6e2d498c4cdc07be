// Checkpoints: a folder with checkpoint.json (what was trained and how far) and step-N-HASH.safetensors (every tensor).
//
//     {"format": "lockstep checkpoint 1", "model": "lenet5", "step": 400, "seed": "1",
//      "options": {"batch": "64", ...}, "state": {"rng.dropout": "1234", ...},
//      "tensors": {"file": "step-400-0123456789abcdef.safetensors", "bytes": 246824, "fnv1a64": "0123456789abcdef"}}
//
// The json's rename is the moment at which a new checkpoint replaces the old: the tensors stand on the disk by then, and
// the old ones are deleted only afterwards. So whenever the machine stops, and whatever the disk has no room for, the
// folder holds one whole checkpoint. One process at a time writes to a folder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/base/result.h"
#include "core/base/rng.h"
#include "core/nn/data/files/named_array.h"

namespace lockstep::nn {

struct Checkpoint {
    std::string model;  // as `--model` takes it
    int64_t step = 0;   // the next one to run
    uint64_t seed = 0;
    std::map<std::string, std::string> options;  // what the model and its training were asked for
    std::map<std::string, std::string> state;    // what must come back to the bit and is no tensor
    NamedArrays tensors;                         // parameters, moments of the optimizer, running statistics

    // Into and out of `state`, exactly. The getters throw Failure where there is no such entry or it reads otherwise.
    void keep(const std::string& name, const Rng& rng);
    void keep(const std::string& name, double value);
    Rng rng(const std::string& name) const;
    double number(const std::string& name) const;
    const Array& tensor(const std::string& name) const;  // throws Failure with the nearest name
};

// Throws Failure; the checkpoint that stood there before is then still there, whole.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint);
// A Diagnostic where there is none, or where a file of it is cut, changed or hostile.
Result<Checkpoint> load_checkpoint(const std::filesystem::path& folder);

struct CheckpointHead {     // what checkpoint.json says
    Checkpoint checkpoint;  // without tensors
    std::string file;       // of the tensors, a plain name
    uint64_t bytes = 0, hash = 0;
};
Result<CheckpointHead> parse_checkpoint_head(std::string_view bytes, const std::string& name);

}  // namespace lockstep::nn
