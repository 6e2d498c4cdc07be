// What the text of a CUDA file says of a kernel's parameters, for people: compilers do not keep the names.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"

namespace lockstep::scene {

// The text as a compiler reads it, as far as the file alone tells: comments and `#` lines gone, its macros put in. Both
// sides of an #if are there, but nothing of an #if 0. A text whose macros come to more than 100,000 expansions keeps the
// others as they are written.
std::string without_macros(const std::string& source);
// A kernel's parameters as they are declared: "const float *x"; empty when the kernel is not found there. `kernel` may be
// mangled, and kernel and parameters may come from the file's macros.
std::vector<std::string> parameter_declarations(const std::string& source, const std::string& kernel);
// Their names; of one without a name "argument 2".
std::vector<std::string> parameter_names(const std::string& source, const std::string& kernel);

// What "const float *__restrict__ x" points to, and its name in `type`; nothing where it is no pointer to a type whose
// elements are known.
std::optional<DType> pointed_to(std::string declaration, std::string& type);

}  // namespace lockstep::scene
