// Reading is bounded: an offset that leads outside of the table reads zeros.
#include "app/gui/widgets/kerning.h"

#include <bit>
#include <set>

namespace lockstep::gui {

namespace {

struct GposBytes {
    std::string_view bytes;
    uint16_t u16(size_t at) const {
        if (at + 2 > bytes.size()) return 0;
        return static_cast<uint16_t>((static_cast<uint8_t>(bytes[at]) << 8) | static_cast<uint8_t>(bytes[at + 1]));
    }
    int16_t i16(size_t at) const { return static_cast<int16_t>(u16(at)); }
    uint32_t u32(size_t at) const { return (uint32_t{u16(at)} << 16) | u16(at + 2); }
    bool is_tag(size_t at, std::string_view tag) const { return at + 4 <= bytes.size() && bytes.substr(at, 4) == tag; }
};

constexpr uint16_t x_advance = 4;  // of a value's format: the one that kerning changes

// Where in a value the advance stands, bytes; -1: it has none.
int advance_in(uint16_t format) {
    return (format & x_advance) != 0 ? 2 * std::popcount(static_cast<unsigned>(format & (x_advance - 1))) : -1;
}

std::vector<uint16_t> covered_glyphs(const GposBytes& gpos, size_t at) {
    std::vector<uint16_t> glyphs;
    const uint16_t count = gpos.u16(at + 2);
    if (gpos.u16(at) == 1)
        for (uint16_t i = 0; i < count; ++i) glyphs.push_back(gpos.u16(at + 4 + size_t{2} * i));
    if (gpos.u16(at) == 2)
        for (uint16_t i = 0; i < count; ++i) {
            const size_t range = at + 4 + size_t{6} * i;
            for (uint32_t g = gpos.u16(range); g <= gpos.u16(range + 2) && glyphs.size() < 65536; ++g)
                glyphs.push_back(static_cast<uint16_t>(g));
        }
    return glyphs;
}

std::unordered_map<uint16_t, uint16_t> classes_of_glyphs(const GposBytes& gpos, size_t at) {
    std::unordered_map<uint16_t, uint16_t> classes;
    if (gpos.u16(at) == 1) {
        const uint16_t first = gpos.u16(at + 2), count = gpos.u16(at + 4);
        for (uint16_t i = 0; i < count; ++i) classes[static_cast<uint16_t>(first + i)] = gpos.u16(at + 6 + size_t{2} * i);
    }
    if (gpos.u16(at) == 2)
        for (uint16_t i = 0; i < gpos.u16(at + 2); ++i) {
            const size_t range = at + 4 + size_t{6} * i;
            for (uint32_t g = gpos.u16(range); g <= gpos.u16(range + 2); ++g)
                classes[static_cast<uint16_t>(g)] = gpos.u16(range + 4);
        }
    return classes;
}

// The lookups of the feature "kern", in the order of their numbers.
std::set<uint16_t> kern_lookups(const GposBytes& gpos) {
    std::set<uint16_t> lookups;
    const size_t features = gpos.u16(6);
    for (uint16_t i = 0; i < gpos.u16(features); ++i) {
        const size_t record = features + 2 + size_t{6} * i;
        if (!gpos.is_tag(record, "kern")) continue;
        const size_t feature = features + gpos.u16(record + 4);
        for (uint16_t k = 0; k < gpos.u16(feature + 2); ++k) lookups.insert(gpos.u16(feature + 4 + size_t{2} * k));
    }
    return lookups;
}

}  // namespace

Kerning::Kerning(std::string_view bytes) {
    const GposBytes gpos{bytes};
    if (gpos.u16(0) != 1) return;
    const size_t list = gpos.u16(8);
    for (const uint16_t number : kern_lookups(gpos)) {
        if (number >= gpos.u16(list)) continue;
        const size_t lookup = list + gpos.u16(list + 2 + size_t{2} * number);
        for (uint16_t s = 0; s < gpos.u16(lookup + 4); ++s) {
            size_t at = lookup + gpos.u16(lookup + 6 + size_t{2} * s);
            uint16_t type = gpos.u16(lookup);
            if (type == 9) type = gpos.u16(at + 2), at += gpos.u32(at + 4);  // an extension: the table lies further on
            const uint16_t format = gpos.u16(at), first = gpos.u16(at + 4), second = gpos.u16(at + 6);
            const int advance = advance_in(first);
            if (type != 2 || advance < 0 || (format != 1 && format != 2)) continue;
            const size_t value = size_t{2} * static_cast<size_t>(std::popcount(first) + std::popcount(second));
            const std::vector<uint16_t> covered = covered_glyphs(gpos, at + gpos.u16(at + 2));
            Table table{format == 2, {}, {}};
            if (format == 1) {
                for (size_t i = 0; i < covered.size() && i < gpos.u16(at + 8); ++i) {
                    const size_t set = at + gpos.u16(at + 10 + 2 * i);
                    for (uint16_t k = 0; k < gpos.u16(set); ++k) {
                        const size_t pair = set + 2 + (2 + value) * k;
                        table.glyphs.pairs[(uint32_t{covered[i]} << 16) | gpos.u16(pair)] =
                            gpos.i16(pair + 2 + static_cast<size_t>(advance));
                    }
                }
            } else {
                const auto classes = classes_of_glyphs(gpos, at + gpos.u16(at + 8));
                for (const uint16_t glyph : covered) {
                    const auto known = classes.find(glyph);
                    table.classes.first[glyph] = known == classes.end() ? uint16_t{0} : known->second;
                }
                table.classes.second = classes_of_glyphs(gpos, at + gpos.u16(at + 10));
                const uint16_t firsts = gpos.u16(at + 12);
                table.classes.seconds = gpos.u16(at + 14);
                if (size_t{firsts} * table.classes.seconds * value > bytes.size()) continue;
                for (size_t i = 0; i < size_t{firsts} * table.classes.seconds; ++i)
                    table.classes.units.push_back(gpos.i16(at + 16 + value * i + static_cast<size_t>(advance)));
            }
            tables_.push_back(std::move(table));
        }
    }
}

int Kerning::between(uint16_t left, uint16_t right) const {
    for (const Table& table : tables_) {  // the first table that has the pair says it
        if (!table.by_class) {
            const auto pair = table.glyphs.pairs.find((uint32_t{left} << 16) | right);
            if (pair != table.glyphs.pairs.end()) return pair->second;
            continue;
        }
        const auto first = table.classes.first.find(left);
        if (first == table.classes.first.end()) continue;
        const auto second = table.classes.second.find(right);
        const size_t at =
            size_t{first->second} * table.classes.seconds + (second == table.classes.second.end() ? 0 : second->second);
        return at < table.classes.units.size() ? table.classes.units[at] : 0;
    }
    return 0;
}

}  // namespace lockstep::gui
