// The GIFs that the app writes, read by a decoder that is written from the format's specification alone.
#include "app/gui/window/gif.h"

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace gui_gif_test {

using namespace lockstep::gui;

namespace {

struct Reader {
    const std::string& file;
    size_t at = 0;
    uint8_t byte() {
        if (at >= file.size()) throw std::runtime_error("the file ends early");
        return static_cast<uint8_t>(file[at++]);
    }
    int number() {
        const int low = byte();
        return low | byte() << 8;
    }
    std::string blocks() {  // the bytes of a chain of blocks
        std::string all;
        for (size_t length; (length = byte()) != 0; at += length) {
            if (at + length > file.size()) throw std::runtime_error("a block ends early");
            all.append(file, at, length);
        }
        return all;
    }
};

// The indices of an image's data, which begins with the least code's size.
std::vector<uint8_t> unpacked(Reader& in) {
    const int least = in.byte();
    const std::string bytes = in.blocks();
    const int clear = 1 << least, end = clear + 1;
    std::vector<std::vector<uint8_t>> table;
    std::vector<uint8_t> indices, last;
    int size = least + 1;
    const auto start = [&] {
        table.assign(static_cast<size_t>(end) + 1, {});
        for (int i = 0; i < clear; ++i) table[static_cast<size_t>(i)] = {static_cast<uint8_t>(i)};
        last.clear();
        size = least + 1;
    };
    start();
    size_t bit = 0;
    for (;;) {
        if (bit + static_cast<size_t>(size) > bytes.size() * 8) throw std::runtime_error("no end code");
        int code = 0;
        for (int i = 0; i < size; ++i, ++bit) code |= ((static_cast<uint8_t>(bytes[bit / 8]) >> (bit % 8)) & 1) << i;
        if (code == end) {
            if (bytes.size() * 8 - bit >= 8) throw std::runtime_error("bytes behind the end code");
            return indices;
        }
        if (code == clear) {
            start();
            continue;
        }
        if (code > static_cast<int>(table.size()) || (code == static_cast<int>(table.size()) && last.empty()))
            throw std::runtime_error("a code that is not known yet");
        std::vector<uint8_t> now;
        if (code < static_cast<int>(table.size())) {
            now = table[static_cast<size_t>(code)];
        } else {
            now = last;
            now.push_back(last.front());
        }
        indices.insert(indices.end(), now.begin(), now.end());
        if (!last.empty() && table.size() < 4096) {
            last.push_back(now.front());
            table.push_back(last);
        }
        if (table.size() == size_t{1} << size && size < 12) ++size;
        last = now;
    }
}

struct Decoded {
    int width = 0, height = 0;
    bool loops = false;
    std::vector<std::vector<Color>> frames;
    std::vector<int> hundredths;
    std::vector<size_t> written;  // pixels of each frame's rectangle
};

Decoded decoded(const std::string& file) {
    Reader in{file};
    Decoded result;
    std::string name;
    for (int i = 0; i < 6; ++i) name += static_cast<char>(in.byte());
    if (name != "GIF89a") throw std::runtime_error("not a GIF");
    result.width = in.number();
    result.height = in.number();
    const int packed = in.byte();
    in.number();
    std::vector<Color> palette(size_t{2} << (packed & 7));
    for (Color& color : palette) {
        const int red = in.byte(), green = in.byte(), blue = in.byte();
        color = rgb(static_cast<uint32_t>(red << 16 | green << 8 | blue));
    }
    std::vector<Color> screen(static_cast<size_t>(result.width) * static_cast<size_t>(result.height));
    int clear = -1;
    for (int kind; (kind = in.byte()) != 0x3B;) {
        if (kind == 0x21) {
            const int label = in.byte();
            const std::string data = in.blocks();
            if (label == 0xFF) result.loops = data == std::string("NETSCAPE2.0\x01\0\0", 14);
            if (label != 0xF9) continue;
            if (((data[0] >> 2) & 7) != 1) throw std::runtime_error("a frame that does not stay");
            clear = (data[0] & 1) != 0 ? static_cast<uint8_t>(data[3]) : -1;
            result.hundredths.push_back(static_cast<uint8_t>(data[1]) | static_cast<uint8_t>(data[2]) << 8);
            continue;
        }
        if (kind != 0x2C) throw std::runtime_error("an unknown block");
        const int left = in.number(), top = in.number(), width = in.number(), height = in.number();
        if (in.byte() != 0 || left + width > result.width || top + height > result.height)
            throw std::runtime_error("a bad rectangle");
        const std::vector<uint8_t> indices = unpacked(in);
        if (indices.size() != static_cast<size_t>(width) * static_cast<size_t>(height))
            throw std::runtime_error("a frame of another size than its rectangle");
        for (size_t i = 0; i < indices.size(); ++i) {
            if (indices[i] == clear) continue;
            const size_t x = static_cast<size_t>(left) + i % static_cast<size_t>(width),
                         y = static_cast<size_t>(top) + i / static_cast<size_t>(width);
            screen[y * static_cast<size_t>(result.width) + x] = palette.at(indices[i]);
        }
        result.frames.push_back(screen);
        result.written.push_back(indices.size());
    }
    if (in.at != file.size()) throw std::runtime_error("bytes behind the end");
    return result;
}

std::vector<Color> colours(size_t count) {
    std::vector<Color> all;
    for (uint32_t i = 0; i < count; ++i) all.push_back(rgb((i * 0x01F3D7) & 0xFFFFFF));
    return all;
}

}  // namespace

TEST_CASE("LZW gives back random pictures of 2 to 256 colours, short, long and monotonous") {
    std::mt19937 random(7);
    for (int bits = 1; bits <= 8; ++bits)
        for (const size_t length : {size_t{1}, size_t{2}, size_t{3}, size_t{255}, size_t{4094}, size_t{30'011}})
            for (const uint32_t dull : {1u, 4u, 60u, 5000u}) {  // pixels that stay the same, about
                std::vector<uint8_t> indices;
                uint8_t now = 0;
                while (indices.size() < length) {
                    if (random() % dull == 0) now = static_cast<uint8_t>(random() % (1u << bits));
                    indices.push_back(now);
                }
                const std::string file = lzw_blocks(indices, bits);
                Reader in{file};
                CAPTURE(bits, length, dull);
                CHECK((unpacked(in) == indices));
                CHECK(in.at == file.size());
            }
    // Every length around those at which codes get longer, and the table is full.
    for (size_t length = 0; length < 9000; length += length < 700 ? 1 : 13) {
        std::vector<uint8_t> indices(length);
        for (uint8_t& index : indices) index = static_cast<uint8_t>(random() & 3);
        const std::string file = lzw_blocks(indices, 2);
        Reader in{file};
        CAPTURE(length);
        REQUIRE((unpacked(in) == indices));
    }
}

TEST_CASE("a GIF of few colours decodes to exactly the frames that it was given") {
    std::mt19937 random(11);
    for (const size_t count : {size_t{1}, size_t{2}, size_t{3}, size_t{17}, size_t{255}, size_t{256}}) {
        const std::vector<Color> palette = colours(count);
        constexpr int width = 61, height = 23;
        std::vector<Color> screen;
        for (size_t i = 0; i < width * height; ++i) screen.push_back(palette[i % count]);
        Gif gif(width, height);
        std::vector<std::vector<Color>> frames;
        for (int k = 0; k < 12; ++k) {
            const auto x0 = random() % width, y0 = random() % height;
            for (size_t i = 0; i < screen.size(); ++i)
                if (k > 0 && i % width >= x0 && i / width >= y0 && random() % 3 == 0) screen[i] = palette[random() % count];
            gif.add(screen, 5);
            frames.push_back(screen);
        }
        const Decoded seen = decoded(gif.encode());
        CAPTURE(count);
        CHECK(seen.loops);
        REQUIRE(seen.width == width);
        REQUIRE(seen.height == height);
        std::vector<std::vector<Color>> shown;  // one for every twentieth of a second
        REQUIRE(seen.frames.size() == seen.hundredths.size());
        for (size_t i = 0; i < seen.frames.size(); ++i)
            for (int t = 0; t < seen.hundredths[i]; t += 5) shown.push_back(seen.frames[i]);
        CHECK((shown == frames));
    }
}

TEST_CASE("a frame of a GIF writes the rectangle that changed alone, and one without a change none") {
    constexpr int width = 40, height = 30;
    std::vector<Color> screen(width * height, rgb(0x102030));
    Gif gif(width, height);
    gif.add(screen, 5);
    gif.add(screen, 7);
    screen[5 * width + 6] = screen[9 * width + 8] = rgb(0xFF0000);
    gif.add(screen, 4);
    gif.add(screen, 3);
    const Decoded seen = decoded(gif.encode());
    REQUIRE(seen.frames.size() == 2);
    CHECK(seen.written == std::vector<size_t>{width * height, 3 * 5});
    CHECK(seen.hundredths == std::vector<int>{12, 7});
    CHECK((seen.frames.back() == screen));
}

TEST_CASE("a picture that stands for longer than a GIF's frame can is written again") {
    std::vector<Color> screen(6, rgb(0x102030));
    Gif gif(3, 2);
    for (int k = 0; k < 3; ++k) gif.add(screen, 40'000);
    const Decoded seen = decoded(gif.encode());
    int all = 0;
    for (const int stands : seen.hundredths) all += stands;
    CHECK(all == 120'000);
    for (const auto& frame : seen.frames) CHECK((frame == screen));
}

TEST_CASE("of many colours a median cut keeps the flat ones and stays near the others") {
    constexpr int width = 128, height = 128;
    std::vector<Color> screen;
    for (uint32_t i = 0; i < width * height; ++i)  // 4,096 shades below, one colour above
        screen.push_back(i < width * 64 ? rgb(0x15181D) : rgb((i % 64) << 18 | (i / 64 % 64) << 10 | 0x40));
    Gif gif(width, height);
    gif.add(screen, 5);
    const Decoded seen = decoded(gif.encode());
    REQUIRE(seen.frames.size() == 1);
    int worst = 0;
    for (size_t i = 0; i < screen.size(); ++i) {
        if (i < width * 64) REQUIRE(seen.frames[0][i] == screen[i]);
        for (int channel = 0; channel < 24; channel += 8)
            worst = std::max(worst, std::abs(static_cast<int>(screen[i] >> channel & 0xFF) -
                                             static_cast<int>(seen.frames[0][i] >> channel & 0xFF)));
    }
    CHECK(worst <= 16);  // 16 by 16 cells of 16 by 16 shades
    CHECK(median_cut({{rgb(1), 5}, {rgb(2), 1}, {rgb(0xFF0000), 1}}, 2).size() == 2);
    CHECK(median_cut({{rgb(1), 5}, {rgb(2), 1}}, 5) == std::vector<Color>{rgb(1), rgb(2)});
}

TEST_CASE("a GIF that is given up is no file") {
    std::vector<Color> screen(6, rgb(0x102030));
    Gif gif(3, 2);
    gif.add(screen, 5);
    gif.add(screen, 5);
    std::vector<double> shares;
    CHECK(gif.encode([&](double share) {
                 shares.push_back(share);
                 return shares.size() < 2;
             })
              .empty());
    CHECK(shares == std::vector<double>{0, 0.5});
}

}  // namespace gui_gif_test
