#include "app/gui/window/contact_sheet.h"

#include <stb_image_write.h>

#include <algorithm>
#include <cstdint>

#include "core/base/diagnostic.h"

namespace lockstep::gui {

namespace {

// The mean of the pixels that a smaller one covers, channel by channel.
Color mean_of(const std::vector<Color>& pixels, int width, int x0, int x1, int y0, int y1) {
    uint32_t sums[3] = {}, count = 0;
    for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x, ++count) {
            const Color pixel = pixels[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
            for (int c = 0; c < 3; ++c) sums[c] += (pixel >> (8 * c)) & 0xFF;
        }
    Color mean = 0xFF000000;
    for (int c = 0; c < 3; ++c) mean |= ((sums[c] + count / 2) / count) << (8 * c);
    return mean;
}

}  // namespace

void ContactSheet::add(const std::vector<Color>& pixels, int width, int height) {
    thumb_height_ = std::max(1, height * thumb_width_ / width);
    std::vector<Color> thumb;
    thumb.reserve(static_cast<size_t>(thumb_width_) * static_cast<size_t>(thumb_height_));
    for (int y = 0; y < thumb_height_; ++y)
        for (int x = 0; x < thumb_width_; ++x) {
            const int x0 = x * width / thumb_width_, y0 = y * height / thumb_height_;
            thumb.push_back(mean_of(pixels, width, x0, std::max(x0 + 1, (x + 1) * width / thumb_width_), y0,
                                    std::max(y0 + 1, (y + 1) * height / thumb_height_)));
        }
    thumbs_.push_back(std::move(thumb));
}

int ContactSheet::height() const {
    const int rows = (static_cast<int>(thumbs_.size()) + columns_ - 1) / columns_;
    return rows * (thumb_height_ + gap) + gap;
}

std::vector<Color> ContactSheet::pixels() const {
    constexpr Color ground = 0xFF808080;
    const auto across = static_cast<size_t>(width());
    std::vector<Color> sheet(across * static_cast<size_t>(height()), ground);
    for (size_t i = 0; i < thumbs_.size(); ++i) {
        const int column = static_cast<int>(i) % columns_, row = static_cast<int>(i) / columns_;
        const auto left = static_cast<size_t>(gap + column * (thumb_width_ + gap));
        const auto top = static_cast<size_t>(gap + row * (thumb_height_ + gap)), wide = static_cast<size_t>(thumb_width_);
        for (size_t y = 0; y < static_cast<size_t>(thumb_height_); ++y)
            std::copy_n(thumbs_[i].data() + y * wide, wide, sheet.data() + (top + y) * across + left);
    }
    return sheet;
}

void ContactSheet::write_png(const std::string& file) const {
    const std::vector<Color> sheet = pixels();
    if (stbi_write_png(file.c_str(), width(), height(), 4, sheet.data(), width() * 4) == 0)
        throw Failure("cannot write the picture to '" + file + "'");
}

}  // namespace lockstep::gui
