// Cells of a notebook (.ipynb) that are CUDA: the answer to an exercise, or a program or kernels to be run.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace lockstep::cli {

struct NotebookCell {
    size_t number = 0;   // among the code cells, from 1
    std::string name;    // of %%writefile NAME and %%file NAME; else empty
    std::string text;    // without the line of the magic
    bool magic = false;  // it begins with %%, so that it stands alone
};
// The code cells that begin with %%cu, %%cuda, %%cuda_... or %%writefile, and those without a magic that hold __global__.
Result<std::vector<NotebookCell>> cuda_cells(const std::string& notebook, const std::string& file);

// What a notebook is when it is run: its last program, or its kernels where no cell has a main().
struct NotebookProgram {
    std::vector<std::string> sources;  // files in the folder, that with main() first
    std::string told;                  // "code cell 4 of nb.ipynb, with util.cu", for people
};
// Writes the cells' files into the folder: a cell with main() is a program, with the plain cells of CUDA in front of it
// where it is one of them, and with what %%writefile cells wrote. Lines are told as those of "nb.ipynb, cell 4".
Result<NotebookProgram> unpack_notebook(const std::filesystem::path& notebook, const std::filesystem::path& folder);
bool is_notebook(const std::filesystem::path& file);  // by its name

// Whether __global__ stands before a function of that name.
bool defines_kernel(const std::string& text, const std::string& kernel);

// The last cell that is written to `file`, else the last that defines the kernel; nothing: there is none.
std::optional<NotebookCell> cell_for(const std::vector<NotebookCell>& cells, const std::string& file,
                                     const std::string& kernel);

}  // namespace lockstep::cli
