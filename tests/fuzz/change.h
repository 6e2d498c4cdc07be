// Small changes of a text made of statements, for the fuzzers and for the test that runs their corpus without libFuzzer:
// most of what comes out still parses, which few changes of single bytes do.
#pragma once
#include <algorithm>
#include <string>

#include "core/base/rng.h"

namespace lockstep::fuzz {

// From the `;` or the line before `at` to the next one: a statement, more or less.
inline std::string statement_at(const std::string& text, size_t at, size_t& begin) {
    const size_t before = text.find_last_of(";\n", at);
    begin = before == std::string::npos ? 0 : before + 1;
    return text.substr(begin, std::min(text.find_first_of(";\n", begin), text.size() - 1) - begin + 1);
}

// One of a few small changes: a byte, a piece left out, a digit, a statement left out, twice, or one of another file.
inline std::string changed(std::string text, const std::string& other, Rng& rng) {
    if (text.empty() || other.empty()) return text;
    const size_t at = rng.below(text.size());
    size_t begin = 0, unused = 0;
    switch (rng.below(7)) {
        case 0:
            text[at] = static_cast<char>(rng.below(256));
            break;
        case 1:
            text.erase(at, 1 + rng.below(12));
            break;
        case 2:
            unused = statement_at(text, at, begin).size();
            text.erase(begin, unused);
            break;
        case 3: {
            const std::string statement = statement_at(text, rng.below(text.size()), unused);
            statement_at(text, at, begin);
            text.insert(begin, statement);
            break;
        }
        case 4: {
            const std::string statement = statement_at(other, rng.below(other.size()), unused);
            statement_at(text, at, begin);
            text.insert(begin, statement);
            break;
        }
        default:
            if (const size_t digit = text.find_first_of("0123456789", at); digit != std::string::npos)
                text[digit] = static_cast<char>('0' + rng.below(10));
    }
    return text;
}

}  // namespace lockstep::fuzz
