// Cells of a notebook (.ipynb) that are CUDA. Internal to app/cli/lesson.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace lockstep::cli {

struct NotebookCell {
    size_t number = 0;  // among the code cells, from 1
    std::string name;   // of %%writefile NAME and %%file NAME; else empty
    std::string text;   // without the line of the magic
};
// The code cells that begin with %%cu, %%cuda, %%cuda_... or %%writefile, and those without a magic that hold __global__.
Result<std::vector<NotebookCell>> cuda_cells(const std::string& notebook, const std::string& file);

// The last cell that is written to `file`, else the last that defines the kernel; nothing: there is none.
std::optional<NotebookCell> cell_for(const std::vector<NotebookCell>& cells, const std::string& file,
                                     const std::string& kernel);

}  // namespace lockstep::cli
