// Where the members of a struct lie, read from the text of a CUDA file: for people, who know them by name.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::scene {

// Of a struct or class that the text defines: its members as C++ lays them out, those of structs in it as "row.next".
// Empty where the text has no such struct, or something in it is not understood: templates, bit fields, bases, unions.
std::vector<simt::ParameterName::Member> struct_members(const std::string& text, const std::string& type);

// The parameters of a kernel as the text declares them; empty when it is not found there.
std::vector<simt::ParameterName> named_parameters(const std::string& source, const std::string& kernel);

}  // namespace lockstep::scene
