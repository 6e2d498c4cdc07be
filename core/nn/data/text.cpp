#include "core/nn/data/text.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
// Bytes of the character that begins at `at`; 0 where none does.
size_t length_at(std::string_view text, size_t at) {
    const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
    const auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);  // the table of RFC 3629, section 4
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef)
        return follows(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
    if (lead >= 0xf0 && lead <= 0xf4)
        return follows(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
    return 0;
}
}  // namespace

std::optional<size_t> first_bad_utf8(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const size_t length = length_at(text, at);
        if (length == 0) return at;
        at += length;
    }
    return std::nullopt;
}

Result<std::vector<int32_t>> Vocabulary::encode(std::string_view text, const std::string& name) const {
    std::vector<int32_t> tokens;
    tokens.reserve(text.size());
    std::string symbol;
    for (size_t at = 0; at < text.size(); at += symbol.size()) {
        const size_t length = length_at(text, at);
        if (length == 0) return refusal(name, at, "this is not UTF-8");
        symbol = text.substr(at, length);
        const auto found = numbers.find(symbol);
        if (found == numbers.end())
            return refusal(name, at, fmt::format("the character {} is not in the vocabulary", in_quotes(symbol)));
        tokens.push_back(found->second);
    }
    return tokens;
}

std::string Vocabulary::decode(std::span<const int32_t> tokens) const {
    std::string text;
    for (const int32_t token : tokens)
        text += token >= 0 && token < size() ? symbols[static_cast<size_t>(token)] : "\xef\xbf\xbd";
    return text;
}

Result<Vocabulary> vocabulary_of(std::string_view text, const std::string& name) {
    constexpr size_t most_symbols = 4096;
    Vocabulary vocabulary;
    std::string symbol;
    for (size_t at = 0; at < text.size(); at += symbol.size()) {
        const size_t length = length_at(text, at);
        if (length == 0) return refusal(name, at, "this is not UTF-8");
        symbol = text.substr(at, length);
        if (vocabulary.numbers.emplace(symbol, 0).second && vocabulary.numbers.size() > most_symbols)
            return refusal(name, at, fmt::format("more than {} different characters", most_symbols));
    }
    for (auto& [character, number] : vocabulary.numbers) {  // UTF-8 sorts as its code points do
        number = static_cast<int32_t>(vocabulary.symbols.size());
        vocabulary.symbols.push_back(character);
    }
    return vocabulary;
}

Result<TextSet> parse_text(std::string_view bytes, const std::string& name, double share) {
    if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
    if (bytes.empty()) return refusal(name, 0, "it is empty");
    auto vocabulary = vocabulary_of(bytes, name);
    if (!vocabulary) return vocabulary.error();
    TextSet set{.name = name, .vocabulary = std::move(vocabulary).value()};
    set.train = set.vocabulary.encode(bytes, name).value();
    const double kept = static_cast<double>(set.train.size()) * (1 - std::clamp(share, 0.0, 1.0));
    const auto first = static_cast<std::ptrdiff_t>(std::llround(kept));
    set.held_out.assign(set.train.begin() + first, set.train.end());
    set.train.resize(static_cast<size_t>(first));
    return set;
}

// "found" becomes "oundfay", "apple" "appleway": what stands before a word's first vowel goes behind it.
static std::string in_pig_latin(std::string_view text) {
    std::string made;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    for (size_t at = 0; at < text.size();) {
        if (!is_letter(text[at])) {
            made += text[at++];
            continue;
        }
        size_t end = at, vowel;
        while (end < text.size() && is_letter(text[end])) ++end;
        vowel = std::min(text.find_first_of("aeiouAEIOU", at), end);
        made.append(text.substr(vowel, end - vowel)).append(text.substr(at, vowel - at));
        made += vowel == at ? "way" : "ay";
        at = end;
    }
    return made;
}

TextSet pig_latin(uint64_t seed) {
    TextSet set = stories(seed);
    set.name = "pig latin";
    set.source_nats = 0;  // the same choices in more characters; not counted
    for (std::vector<int32_t>* part : {&set.train, &set.held_out})
        *part = set.vocabulary.encode(in_pig_latin(set.vocabulary.decode(*part)), set.name).value();
    return set;
}

TextSet open_text(const std::string& name, uint64_t seed) {
    if (name == "stories") return stories(seed);
    if (name == "pig latin") return pig_latin(seed);
    std::error_code ignored;
    if (!std::filesystem::exists(name, ignored)) {
        throw Failure(fmt::format("no text '{}'{}", name,
                                  did_you_mean(name, {"stories", "pig latin"}, ": it is 'stories', 'pig latin' or a file")));
    }
    return parse_text(read_file(name, size_t{1} << 28).value(), name).value();
}

double bigram_nats(const TextSet& text) {
    if (text.held_out.size() < 2) return 0;
    const auto pair = [](int32_t a, int32_t b) { return static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b); };
    std::unordered_map<uint64_t, int64_t> pairs;
    std::vector<int64_t> singles(static_cast<size_t>(text.vocabulary.size()));
    for (size_t i = 1; i < text.train.size(); ++i) {
        ++pairs[pair(text.train[i - 1], text.train[i])];
        ++singles[static_cast<size_t>(text.train[i - 1])];
    }
    double nats = 0;
    for (size_t i = 1; i < text.held_out.size(); ++i) {
        const auto found = pairs.find(pair(text.held_out[i - 1], text.held_out[i]));
        const double both = found == pairs.end() ? 0 : static_cast<double>(found->second);
        const double before = static_cast<double>(singles[static_cast<size_t>(text.held_out[i - 1])]);
        nats -= std::log((both + 1) / (before + text.vocabulary.size()));
    }
    return nats / static_cast<double>(text.held_out.size() - 1);
}

}  // namespace lockstep::nn
