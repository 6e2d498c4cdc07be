// No command writes over what it reads, or over what it has just written: said before anything runs.
#pragma once
#include <string>
#include <vector>

namespace lockstep::cli {

struct FileUse {
    std::string by;    // "--json", "--arg in:x.npy": how the command line names it; of what is read "" for the source
    std::string file;  // "" and "-" are none
};
// Throws Failure where a file that is written is one that is read, or written a second time. What is no regular file, such
// as /dev/null, may be both.
void keep_apart(const std::vector<FileUse>& read, const std::vector<FileUse>& written);

bool same_file(const std::string& a, const std::string& b);

}  // namespace lockstep::cli
