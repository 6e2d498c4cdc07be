// The glossary: the words of the lessons and of the pictures, a sentence each, and where to see what it says. Parsed once
// from assets/glossary/terms.toml:
//   [[term]]
//   name = "warp"
//   also = ["warps"]                      other spellings; no spelling stands there twice, whatever its case
//   says = "32 threads of a block ..."    one sentence of at most 30 words
//   see = "A04.3"                         a lesson, a lesson's step from 1, or "view:warps"
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/source_location.h"

namespace lockstep::lessons {

struct Term {
    std::string name;
    std::vector<std::string> also;
    std::string says;
    std::string lesson;  // "A04"; "": it is seen in a view
    int step = 0;        // of the lesson, from 1; 0: all of it
    std::string view;    // "warps"; "": it is seen in a lesson
    SourceLocation where;
    std::string see() const;  // as the file has it
};

class Glossary {
  public:
    explicit Glossary(std::vector<Term> terms);
    const std::vector<Term>& terms() const { return terms_; }  // by name
    const Term* find(std::string_view word) const;             // by name or spelling, whatever its case; null: none
    // Names that a word which is none may stand for: those that hold it, then the nearest.
    std::vector<std::string> near(std::string_view word, size_t most = 5) const;
    // Where terms stand in a text, from left to right, at word boundaries; of several the longest.
    struct Found {
        size_t begin = 0, end = 0;  // bytes of the text
        size_t term = 0;            // index into terms()
    };
    std::vector<Found> in(std::string_view text) const;

  private:
    struct Spelling {
        std::string text;  // in lower case
        size_t term = 0;
        bool capitals = false;  // ZeRO, RoPE, GAN: without any capital it is another word
    };
    std::vector<Term> terms_;
    std::map<std::string, std::vector<Spelling>, std::less<>> by_first_word_;  // the longest first
};

Result<Glossary> parse_glossary(const std::string& text, const std::filesystem::path& file);
// The one that comes with the program. Where its file cannot be read it is empty, and `glossary_problem` says why.
const Glossary& glossary();
const std::string& glossary_problem();

constexpr size_t most_words_of_a_term = 30;
size_t words_of(std::string_view sentence);

}  // namespace lockstep::lessons
