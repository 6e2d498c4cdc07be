// A moving picture as a GIF that loops for ever, by an encoder of our own. Colours that are few are kept as they are; of
// more than 255 a palette is made by a median cut over all frames. A frame writes the rectangle that changed alone, and in
// it only what changed. Nothing is dithered: flat areas stay flat. Frames are kept as runs of changed pixels until the end.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/gui/widgets/theme.h"

namespace lockstep::gui {

class Gif {
  public:
    Gif(int width, int height);  // 1 to 65,535 pixels each
    // The next frame's pixels, rows from the top, and how long it stands, in hundredths of a second. Alpha is not looked at.
    void add(std::span<const Color> pixels, int hundredths);
    uint64_t bytes_kept() const { return kept_; }
    // The whole file; empty: `goes_on`, which gets the share that is done, returned false.
    std::string encode(const std::function<bool(double share)>& goes_on = {}) const;

  private:
    struct Strip {  // pixels of one colour, row after row; colour 0: as they were
        uint32_t length;
        Color color;
    };
    struct Frame {
        std::vector<Strip> strips;
        int hundredths;
    };
    int width_, height_;
    std::vector<Color> shown_;
    std::vector<Frame> frames_;
    std::unordered_map<Color, uint64_t> counts_;  // of the pixels that changed
    uint64_t kept_ = 0;
};

using ColorCount = std::pair<Color, uint64_t>;
// At most so many colours that stand for those counted; all of them where they are no more. Opaque colours.
std::vector<Color> median_cut(std::vector<ColorCount> counts, size_t most);
// Palette indices below 2^`bits`, 1 to 8, as a GIF has them: the least code's size, blocks of codes, an empty block.
std::string lzw_blocks(std::span<const uint8_t> indices, int bits);

}  // namespace lockstep::gui
