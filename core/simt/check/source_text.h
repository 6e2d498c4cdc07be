// The CUDA source of a program, where its file lies where the program says it does, or beside the PTX or a folder above it:
// for questions that the PTX cannot answer, such as whether `@%p1 bra` was an early return or went past an if. Read when it
// is first asked for.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/ptx/decode/program.h"

namespace lockstep::simt {

struct Statement {  // an if with its else, or a loop
    std::string keyword;
    int32_t first = 0, last = 0;           // its lines
    bool returns = false, breaks = false;  // such a word stands in it
};

class SourceText {
  public:
    // The statement whose condition stands on a line; nothing: there is none, or no text.
    std::optional<Statement> statement_at(const ptx::Program& program, int32_t file, int32_t line);
    // The text, with blanks for comments and strings; "": there is none.
    const std::string& text_of(const ptx::Program& program, int32_t file);

  private:
    std::map<int32_t, std::string> texts_;  // by file, without comments and strings
};

// The same of a text, for tests.
std::optional<Statement> statement_in(const std::string& text, int32_t line);

}  // namespace lockstep::simt
