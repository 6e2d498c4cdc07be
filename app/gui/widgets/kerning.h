// How much closer or further apart two letters stand than their widths say, from a font's GPOS table (OpenType 1.9, chapter
// "GPOS"): the pairs of its feature "kern", by glyph and by class of glyphs. Other adjustments are not read.
#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lockstep::gui {

class Kerning {
  public:
    Kerning() = default;
    explicit Kerning(std::string_view gpos);           // the table's bytes; what cannot be read of them has no pairs
    int between(uint16_t left, uint16_t right) const;  // font units; 0: as their widths say
    bool empty() const { return tables_.empty(); }

  private:
    struct ByGlyph {  // PairPos format 1: (left, right) -> units
        std::unordered_map<uint32_t, int16_t> pairs;
    };
    struct ByClass {                                           // PairPos format 2
        std::unordered_map<uint16_t, uint16_t> first, second;  // classes above 0; of `first` every covered glyph
        uint16_t seconds = 0;
        std::vector<int16_t> units;
    };
    struct Table {
        bool by_class = false;
        ByGlyph glyphs;
        ByClass classes;
    };
    std::vector<Table> tables_;
};

}  // namespace lockstep::gui
