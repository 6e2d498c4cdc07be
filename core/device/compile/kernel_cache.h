// PTX of sources that were compiled before, in the user's cache: a source that includes nothing of its own, and compiles
// without a word, is the same PTX every time that the same compiler gets it with the same options.
#pragma once
#include <optional>
#include <string>

#include "core/device/compile/compilers.h"

namespace lockstep::device {

// The name of the source's entry; "": it is not kept, because it includes what may change beside it.
// `compilers`: which of them may be taken, with their versions.
std::string kernel_cache_key(const CompileRequest& request, const std::string& compilers);
struct CachedPtx {
    std::string ptx, compiler;  // "nvcc 13.0"
};
std::optional<CachedPtx> cached_ptx(const std::string& key);
void keep_ptx(const std::string& key, const CachedPtx& kept);  // where the cache cannot be written, nothing happens

}  // namespace lockstep::device
