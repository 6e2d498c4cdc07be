// What `lockstep validate silicon` does, apart from the other tables of `validate`.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::cli {

struct SiliconChoice {
    std::string file, gpu, json;  // file: "" takes those of assets/silicon; gpu: "" each file's own
    bool fit = false;
    std::vector<std::string> figures;  // to fit; empty: all that may
    int threads = 0;                   // 0: as many as the machine has
    bool again = false;                // without what this program kept of earlier runs
};
// Sets the model against the measurements and prints or writes it. False: no file is stored. Throws Failure.
bool validate_silicon(const SiliconChoice& choice);

}  // namespace lockstep::cli
