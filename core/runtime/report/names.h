// Names of allocations: of a program that was compiled here its own words, of a binary what its source says at the line.
#pragma once
#include <string>

#include "core/runtime/report/report.h"

namespace lockstep::runtime {

// "&d_x" and "(void**)&d_x, bytes" name d_x; an array's element keeps its index.
std::string name_in(const std::string& arguments);

// "allocation 2", of a site whose line is known and whose file is here, gets the name that the line has in its call, if
// the line leaves no doubt which call it is; and so does every sentence that speaks of it.
void name_allocations(Report& report);

}  // namespace lockstep::runtime
