// In the place of llvm.cpp, where this build has no LLVM: nothing is translated.
#include "core/simt/native/native.h"

namespace lockstep::simt {

bool is_native_built() {
    return false;
}

NativeCode compile_native(const std::string&, std::string& problem) {
    problem = no_compiler;
    return nullptr;
}

}  // namespace lockstep::simt
