// What `lockstep validate silicon` needs of silicon.cpp.
#pragma once
#include <string>
#include <vector>

namespace lockstep::cli {

std::vector<std::string> stored_silicon();  // the files of assets/silicon, by name
// Sets the model against each file's measurements and prints or writes it; gpu: "" takes each file's own. Throws Failure.
void validate_silicon(const std::vector<std::string>& files, const std::string& gpu, const std::string& json);

}  // namespace lockstep::cli
