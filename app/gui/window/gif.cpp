// Three parts: the palette, the codes of Lempel, Ziv and Welch, and the file (GIF89a's specification names its blocks).
#include "app/gui/window/gif.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace lockstep::gui {

namespace {

constexpr size_t most_colours = 256;

int channel_of(Color color, int channel) {
    return static_cast<int>((color >> (8 * channel)) & 0xFF);
}

// Neighbours in the cube of colours, which one colour of the palette will stand for.
struct ColourBox {
    size_t begin = 0, end = 0;  // of the list of colours
    double error = 0;           // sum of the squared distances from their mean
    int widest = 0;             // channel along which they lie furthest apart
};

ColourBox box_of(std::span<const ColorCount> colours, size_t begin, size_t end) {
    ColourBox box{.begin = begin, .end = end};
    double weight = 0, most = -1;
    std::array<double, 3> sums{}, squares{};
    for (const auto& [color, count] : colours.subspan(begin, end - begin)) {
        const auto share = static_cast<double>(count);
        weight += share;
        for (int c = 0; c < 3; ++c) {
            const double value = channel_of(color, c);
            sums[static_cast<size_t>(c)] += share * value;
            squares[static_cast<size_t>(c)] += share * value * value;
        }
    }
    for (int c = 0; c < 3; ++c) {
        const auto at = static_cast<size_t>(c);
        const double spread = end - begin < 2 ? 0 : squares[at] - sums[at] * sums[at] / weight;
        box.error += spread;
        if (spread > most) most = spread, box.widest = c;
    }
    return box;
}

// The colour of most of a box's pixels, else their mean.
Color stands_for(std::span<const ColorCount> colours) {
    uint64_t all = 0;
    std::array<double, 3> sums{};
    const ColorCount* first = &colours.front();
    for (const ColorCount& entry : colours) {
        all += entry.second;
        if (entry.second > first->second) first = &entry;
        for (int c = 0; c < 3; ++c)
            sums[static_cast<size_t>(c)] += static_cast<double>(entry.second) * channel_of(entry.first, c);
    }
    if (first->second * 2 > all) return first->first;
    Color mean = 0xFF000000;
    for (int c = 0; c < 3; ++c)
        mean |= static_cast<Color>(std::lround(sums[static_cast<size_t>(c)] / static_cast<double>(all))) << (8 * c);
    return mean;
}

// Where half of a box's pixels lie on either side along its widest channel; each side has a colour at least.
size_t cut_of(std::span<ColorCount> colours, const ColourBox& box) {
    const auto part = colours.subspan(box.begin, box.end - box.begin);
    std::sort(part.begin(), part.end(), [&](const ColorCount& a, const ColorCount& b) {
        const int left = channel_of(a.first, box.widest), right = channel_of(b.first, box.widest);
        return left != right ? left < right : a.first < b.first;
    });
    uint64_t all = 0, passed = 0;
    for (const ColorCount& entry : part) all += entry.second;
    size_t cut = 0;
    while (cut + 1 < part.size() && (passed + part[cut].second) * 2 <= all) passed += part[cut++].second;
    return box.begin + std::max<size_t>(cut, 1);
}

// Codes of a growing number of bits, the lowest bit first, in blocks of at most 255 bytes.
class CodeWriter {
  public:
    explicit CodeWriter(std::string& file) : file_(file) {}
    void put(uint32_t code, int bits) {
        waiting_ |= code << filled_;
        for (filled_ += bits; filled_ >= 8; filled_ -= 8, waiting_ >>= 8) put_byte(static_cast<uint8_t>(waiting_));
    }
    void end() {
        if (filled_ > 0) put_byte(static_cast<uint8_t>(waiting_));
        flush();
        file_ += '\0';
    }

  private:
    void put_byte(uint8_t byte) {
        block_ += static_cast<char>(byte);
        if (block_.size() == 255) flush();
    }
    void flush() {
        if (block_.empty()) return;
        file_ += static_cast<char>(block_.size());
        file_ += block_;
        block_.clear();
    }
    std::string& file_;
    std::string block_;
    uint32_t waiting_ = 0;
    int filled_ = 0;
};

void put_number(std::string& file, int number) {  // 16 bits, the lower byte first
    file += static_cast<char>(number & 0xFF);
    file += static_cast<char>((number >> 8) & 0xFF);
}

struct Palette {
    std::vector<Color> colours;
    std::unordered_map<Color, uint8_t> index;  // of every colour of the frames
    int bits = 1;
    int clear = -1;  // the index of "as it was"; -1: all are taken by colours
};

Palette palette_of(const std::unordered_map<Color, uint64_t>& counts) {
    std::vector<ColorCount> all(counts.begin(), counts.end());
    std::sort(all.begin(), all.end());
    Palette palette;
    palette.colours = median_cut(all, all.size() == most_colours ? most_colours : most_colours - 1);
    if (palette.colours.size() < most_colours) palette.clear = static_cast<int>(palette.colours.size());
    const size_t used = palette.colours.size() + (palette.clear >= 0 ? 1 : 0);
    while ((size_t{1} << palette.bits) < used) ++palette.bits;
    for (const auto& [color, count] : all) {
        int nearest = 0, least = INT32_MAX;
        for (size_t i = 0; i < palette.colours.size() && least > 0; ++i) {
            int distance = 0;
            for (int c = 0; c < 3; ++c) {
                const int apart = channel_of(color, c) - channel_of(palette.colours[i], c);
                distance += apart * apart;
            }
            if (distance < least) least = distance, nearest = static_cast<int>(i);
        }
        palette.index[color] = static_cast<uint8_t>(nearest);
    }
    return palette;
}

struct Area {  // of changed pixels
    int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    bool empty() const { return x1 <= x0 || y1 <= y0; }
};

void write_head(std::string& file, int width, int height, const Palette& palette) {
    file += "GIF89a";
    put_number(file, width);
    put_number(file, height);
    file += static_cast<char>(0x80 | (7 << 4) | (palette.bits - 1));
    file += std::string(2, '\0');  // background, aspect
    for (size_t i = 0; i < size_t{1} << palette.bits; ++i) {
        const Color color = i < palette.colours.size() ? palette.colours[i] : 0;
        for (int c = 0; c < 3; ++c) file += static_cast<char>(channel_of(color, c));
    }
    file += "\x21\xFF\x0BNETSCAPE2.0\x03\x01";
    file += std::string(3, '\0');  // for ever
}

// The rectangle of a frame, where `before` is still in sight; of its two ways to be written the shorter.
std::string image_of(const Area& area, int width, std::span<const uint8_t> now, std::span<const uint8_t> before,
                     const Palette& palette) {
    std::vector<uint8_t> whole, changed;
    for (int y = area.y0; y < area.y1; ++y)
        for (int x = area.x0; x < area.x1; ++x) {
            const auto at = static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x);
            whole.push_back(now[at]);
            if (palette.clear >= 0)
                changed.push_back(!before.empty() && now[at] == before[at] ? static_cast<uint8_t>(palette.clear) : now[at]);
        }
    std::string image = "\x2C";
    put_number(image, area.x0);
    put_number(image, area.y0);
    put_number(image, area.x1 - area.x0);
    put_number(image, area.y1 - area.y0);
    image += '\0';
    std::string codes = lzw_blocks(whole, palette.bits);
    if (palette.clear >= 0 && !before.empty())
        if (std::string fewer = lzw_blocks(changed, palette.bits); fewer.size() < codes.size()) codes = std::move(fewer);
    return image + codes;
}

void write_frame(std::string& file, int hundredths, const std::string& image, const Palette& palette) {
    file += "\x21\xF9\x04";
    file += static_cast<char>((1 << 2) | (palette.clear >= 0 ? 1 : 0));  // it stays, and one index is clear
    put_number(file, hundredths);
    file += static_cast<char>(std::max(palette.clear, 0));
    file += '\0';
    file += image;
}

}  // namespace

std::vector<Color> median_cut(std::vector<ColorCount> counts, size_t most) {
    for (auto& entry : counts) entry.first |= 0xFF000000;
    std::vector<Color> colours;
    if (counts.size() <= most) {
        for (const auto& entry : counts) colours.push_back(entry.first);
        return colours;
    }
    std::vector<ColourBox> boxes{box_of(counts, 0, counts.size())};
    while (boxes.size() < most) {
        const auto worst = std::max_element(boxes.begin(), boxes.end(),
                                            [](const ColourBox& a, const ColourBox& b) { return a.error < b.error; });
        if (worst->end - worst->begin < 2) break;
        const size_t begin = worst->begin, end = worst->end, cut = cut_of(counts, *worst);
        *worst = box_of(counts, begin, cut);
        boxes.push_back(box_of(counts, cut, end));
    }
    for (const ColourBox& box : boxes)
        colours.push_back(stands_for(std::span(counts).subspan(box.begin, box.end - box.begin)));
    std::sort(colours.begin(), colours.end());
    colours.erase(std::unique(colours.begin(), colours.end()), colours.end());
    return colours;
}

std::string lzw_blocks(std::span<const uint8_t> indices, int bits) {
    constexpr uint32_t most_codes = 4096;
    constexpr int most_bits = 12;
    const int least = std::max(bits, 2);
    const uint32_t clear = 1u << least, end = clear + 1;
    std::string file(1, static_cast<char>(least));
    CodeWriter codes(file);
    const size_t symbols = size_t{1} << least;
    std::vector<uint16_t> longer(most_codes * symbols);  // by code and the index behind it; 0: no code yet
    uint32_t next = end + 1;
    int size = least + 1;
    codes.put(clear, size);
    uint32_t code = indices.empty() ? end : indices.front();
    for (const uint8_t index : indices.empty() ? indices : indices.subspan(1)) {
        assert(index < symbols);
        uint16_t& known = longer[code * symbols + index];
        if (known != 0) {
            code = known;
            continue;
        }
        codes.put(code, size);
        code = index;
        if (next < most_codes) {
            known = static_cast<uint16_t>(next);
            if (next == 1u << size && size < most_bits) ++size;
            ++next;
            continue;
        }
        codes.put(clear, size);
        std::fill(longer.begin(), longer.end(), uint16_t{0});
        next = end + 1;
        size = least + 1;
    }
    codes.put(code, size);
    // The reader adds a code for this one too, and reads the end with as many bits as that takes.
    if (next == 1u << size && size < most_bits) ++size;
    if (!indices.empty()) codes.put(end, size);
    codes.end();
    return file;
}

Gif::Gif(int width, int height) : width_(width), height_(height) {
    assert(width > 0 && height > 0 && width <= 65535 && height <= 65535);
}

void Gif::add(std::span<const Color> pixels, int hundredths) {
    assert(pixels.size() == static_cast<size_t>(width_) * static_cast<size_t>(height_));
    const bool first = shown_.empty();
    if (first) shown_.assign(pixels.size(), 0);
    Frame frame{.strips = {}, .hundredths = hundredths};
    Strip strip{0, 0};
    const auto end_strip = [&] {
        if (strip.length == 0) return;
        frame.strips.push_back(strip);
        if (strip.color != 0) counts_[strip.color] += strip.length;
    };
    for (size_t i = 0; i < pixels.size(); ++i) {
        const Color now = pixels[i] | 0xFF000000, color = now == shown_[i] ? 0 : now;
        shown_[i] = now;
        if (color != strip.color || strip.length == 0) {
            end_strip();
            strip = {0, color};
        }
        ++strip.length;
    }
    end_strip();
    frame.strips.shrink_to_fit();
    kept_ += frame.strips.size() * sizeof(Strip);
    frames_.push_back(std::move(frame));
}

std::string Gif::encode(const std::function<bool(double share)>& goes_on) const {
    const Palette palette = palette_of(counts_);
    std::string file;
    write_head(file, width_, height_, palette);
    std::vector<uint8_t> before, now(static_cast<size_t>(width_) * static_cast<size_t>(height_));
    std::string image;  // of the frame that stands, until the next change
    int stands = 0;
    for (size_t k = 0; k < frames_.size(); ++k) {
        if (goes_on && !goes_on(static_cast<double>(k) / static_cast<double>(frames_.size()))) return {};
        Area area{width_, height_, 0, 0};
        size_t at = 0;
        for (const Strip& strip : frames_[k].strips) {
            const uint8_t index = strip.color != 0 ? palette.index.at(strip.color) : uint8_t{0};
            for (size_t i = at; strip.color != 0 && i < at + strip.length; ++i) {
                if (!before.empty() && now[i] == index) continue;
                now[i] = index;
                const auto x = static_cast<int>(i % static_cast<size_t>(width_)),
                           y = static_cast<int>(i / static_cast<size_t>(width_));
                area = {std::min(area.x0, x), std::min(area.y0, y), std::max(area.x1, x + 1), std::max(area.y1, y + 1)};
            }
            at += strip.length;
        }
        constexpr int longest = 65535;
        if (area.empty() && stands + frames_[k].hundredths > longest) area = {0, 0, 1, 1};
        if (!area.empty()) {
            if (!image.empty()) write_frame(file, stands, image, palette);
            image = image_of(area, width_, now, before, palette);
            before = now;
            stands = 0;
        }
        stands += frames_[k].hundredths;
    }
    if (!image.empty()) write_frame(file, stands, image, palette);
    file += '\x3B';
    return file;
}

}  // namespace lockstep::gui
