// Text for character models: a vocabulary of characters, what is trained on and what is held out, as numbers of characters.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace lockstep::nn {

// The offset of the first byte that is not UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF); none when
// all is.
std::optional<size_t> first_bad_utf8(std::string_view text);

struct Vocabulary {
    std::vector<std::string> symbols;        // by number, in the order of their code points; each one character in UTF-8
    std::map<std::string, int32_t> numbers;  // back

    int size() const { return static_cast<int>(symbols.size()); }
    // A Diagnostic with the offset of the first byte that is not UTF-8 or a character that the vocabulary lacks.
    Result<std::vector<int32_t>> encode(std::string_view text, const std::string& name = "text") const;
    std::string decode(std::span<const int32_t> tokens) const;  // a number out of range reads as U+FFFD
};

// The characters of a text, at most 4096 different ones.
Result<Vocabulary> vocabulary_of(std::string_view text, const std::string& name);

struct TextSet {
    std::string name;
    Vocabulary vocabulary;
    std::vector<int32_t> train, held_out;
    // Of a text made by chance: what its choices cost, in nats a character of the held-out text: the mean loss of a model
    // that knows the grammar by heart (or a little over it, where two rows of choices write the same text). 0: unknown.
    double source_nats = 0;
};

// Short stories in plain English of a seeded grammar with about 700 words: names, places made of syllables, who found what
// and who said so. A story keeps to its people, pronouns and things, so that looking back pays. The held-out stories are the
// same for every seed; at least so many characters each.
TextSet stories(uint64_t seed, int64_t characters = 1'000'000, int64_t held_out = 50'000);

// The stories in pig latin, in the same characters: another text for a model that knows the first.
TextSet pig_latin(uint64_t seed);

// Any UTF-8 text; its last `share` is held out. A byte order mark is skipped (offsets count from behind it).
Result<TextSet> parse_text(std::string_view bytes, const std::string& name, double share = 0.1);
// "stories", "pig latin", or a file. Throws Failure.
TextSet open_text(const std::string& name, uint64_t seed);

// Nats a character of the held-out text by a table of pairs: (count of (a, b) + 1) / (count of a + vocabulary), counted in
// the training text. What a model must beat to have looked further back than one character.
double bigram_nats(const TextSet& text);

}  // namespace lockstep::nn
