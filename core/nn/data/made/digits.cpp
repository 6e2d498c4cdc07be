// Drawn digits: a glyph of assets/data/digits.npy, put through a random affine map, blur, contrast and noise -> 28 x 28
// or 32 x 32.
// The map is inverse (picture to glyph), so each pixel is one bilinear look-up. Ranges are those of a hasty hand.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/nn/data/data_set.h"

namespace lockstep::nn {

namespace {
constexpr double glyph_height = 28;  // pixels of a tall digit in digits.npy
constexpr double drawn_height(int side) {
    return 20.0 * side / 28;
}  // and in the picture
constexpr double rotation = 0.26;  // radians either way: 15 degrees
constexpr double shear = 0.25;
constexpr double scale_low = 0.8, scale_high = 1.15;
constexpr double largest_shift(int side) {
    return 3.0 * side / 28;
}  // pixels either way
constexpr double blur_high = 0.6;  // weight of the neighbours against the middle
constexpr double contrast_low = 0.7;
constexpr double noise_high = 0.15;  // standard deviation
constexpr uint64_t test_seed = 0x7e57;
constexpr int64_t test_pictures = 2000;

struct Glyphs {
    int faces = 0, size = 0;
    std::vector<float> ink;               // [face, digit, size + 2, size + 2], with an empty rim
    std::vector<int> training, held_out;  // faces

    const float* of(int face, int digit) const {
        return ink.data() + static_cast<size_t>((face * 10 + digit) * (size + 2) * (size + 2));
    }
};

Glyphs load_glyphs() {
    const auto folder = resource_root() / "assets" / "data";
    const Array array = read_npy(folder / "digits.npy").value();
    if (array.dtype != DType::u8 || array.shape.size() != 4 || array.shape[1] != 10 || array.shape[2] != array.shape[3])
        throw Failure((folder / "digits.npy").string() + " does not hold u8 [faces, 10, size, size]");
    Glyphs glyphs;
    glyphs.faces = static_cast<int>(array.shape[0]);
    glyphs.size = static_cast<int>(array.shape[2]);
    const int wide = glyphs.size + 2;
    glyphs.ink.assign(static_cast<size_t>(glyphs.faces * 10 * wide * wide), 0.0f);
    const uint8_t* from = array.as<uint8_t>();
    for (int glyph = 0; glyph < glyphs.faces * 10; ++glyph)
        for (int y = 1; y <= glyphs.size; ++y)
            for (int x = 1; x <= glyphs.size; ++x)
                glyphs.ink[static_cast<size_t>((glyph * wide + y) * wide + x)] = static_cast<float>(*from++) / 255.0f;

    const auto json = nlohmann::json::parse(read_file(folder / "digits.json").value(), nullptr, false);
    if (!json.is_object() || !json.contains("faces") || json["faces"].size() != static_cast<size_t>(glyphs.faces) ||
        !json.contains("held_out"))
        throw Failure((folder / "digits.json").string() + " does not describe the faces of digits.npy");
    for (int face = 0; face < glyphs.faces; ++face) {
        const auto& family = json["faces"][static_cast<size_t>(face)]["family"];
        const auto& held_out = json["held_out"];
        const bool test = std::find(held_out.begin(), held_out.end(), family) != held_out.end();
        (test ? glyphs.held_out : glyphs.training).push_back(face);
    }
    if (glyphs.training.empty() || glyphs.held_out.empty())
        throw Failure((folder / "digits.json").string() + " leaves no face to train on or none to test on");
    return glyphs;
}

// The columns at which start + slope * column may lie in 0 .. last, or one more.
template <int side>
std::pair<int, int> columns_inside(float start, float slope, float last) {
    if (std::abs(slope) < 1e-6f) return start >= 0 && start < last ? std::pair{0, side - 1} : std::pair{0, -1};
    const float a = -start / slope, b = (last - start) / slope;
    const float low = std::clamp(std::min(a, b), 0.0f, 64.0f);
    const float high = std::clamp(std::max(a, b) + 1, -1.0f, static_cast<float>(side - 1));
    return {static_cast<int>(low), static_cast<int>(high)};
}

#if defined(__GNUC__) && !defined(__clang__)
#define LOCKSTEP_MAKE_VECTORS __attribute__((optimize("O3")))  // -O2 leaves loops that need masks as they are
#else
#define LOCKSTEP_MAKE_VECTORS
#endif

// Where the pixels of a row lie in the glyph.
template <int side>
struct Lookup {
    int32_t inside[side], at[side];  // all bits or none; the upper left of four neighbours
    float right[side], down[side];   // behind it, 0 to 1
    float ink[4][side] = {};         // of the four neighbours
};
template <int side>
LOCKSTEP_MAKE_VECTORS void places_of_row(Lookup<side>& row, float x0, float xx, float y0, float yx, float last,
                                         float row_length) {
    for (int column = 0; column < side; ++column) {
        const float x = x0 + xx * static_cast<float>(column), y = y0 + yx * static_cast<float>(column);
        const int32_t in = -static_cast<int32_t>((x >= 0) & (y >= 0) & (x < last) & (y < last));
        const float x_in = std::bit_cast<float>(std::bit_cast<int32_t>(x) & in);
        const float y_in = std::bit_cast<float>(std::bit_cast<int32_t>(y) & in);
        const float left = static_cast<float>(static_cast<int32_t>(x_in));
        const float top = static_cast<float>(static_cast<int32_t>(y_in));
        row.inside[column] = in;
        row.right[column] = x_in - left;
        row.down[column] = y_in - top;
        row.at[column] = static_cast<int32_t>(top * row_length + left);  // exact: below 2^24
    }
}
template <int side>
LOCKSTEP_MAKE_VECTORS void values_of_row(const Lookup<side>& row, float* to) {
    for (int column = 0; column < side; ++column) {
        const float upper = row.ink[0][column] + row.right[column] * (row.ink[1][column] - row.ink[0][column]);
        const float lower = row.ink[2][column] + row.right[column] * (row.ink[3][column] - row.ink[2][column]);
        const float value = upper + row.down[column] * (lower - upper);
        to[column] = std::bit_cast<float>(std::bit_cast<int32_t>(value) & row.inside[column]);
    }
}
#undef LOCKSTEP_MAKE_VECTORS

// The picture through the inverse map: pixel -> glyph position, bilinear.
template <int side>
void draw(const Glyphs& glyphs, const float* glyph, Rng& rng, std::span<float> image) {
    const double angle = rng.uniform(-rotation, rotation), slant = rng.uniform(-shear, shear);
    const double unit = drawn_height(side) / glyph_height;
    const double scale_x = unit * rng.uniform(scale_low, scale_high), scale_y = unit * rng.uniform(scale_low, scale_high);
    constexpr double shift = largest_shift(side);
    const double shift_x = rng.uniform(-shift, shift), shift_y = rng.uniform(-shift, shift);
    const double c = std::cos(angle), s = std::sin(angle);
    // picture = R(angle) Shear(slant) Scale glyph; the inverse by hand
    const float xx = static_cast<float>((c + slant * s) / scale_x), xy = static_cast<float>((s - slant * c) / scale_x);
    const float yx = static_cast<float>(-s / scale_y), yy = static_cast<float>(c / scale_y);
    const int wide = glyphs.size + 2;
    const float middle = static_cast<float>(glyphs.size - 1) / 2 + 1, last = static_cast<float>(wide - 1);
    const float centre_x = static_cast<float>((side - 1) / 2.0 + shift_x);
    const float centre_y = static_cast<float>((side - 1) / 2.0 + shift_y);
    const auto row_length = static_cast<float>(wide);
    // Loops of constant length become vectors; only the look-up itself does not.
    Lookup<side> lookup;
    for (int row = 0; row < side; ++row) {
        const float dy = static_cast<float>(row) - centre_y;
        const float x0 = middle + xy * dy - xx * centre_x, y0 = middle + yy * dy - yx * centre_x;  // at column 0
        const auto [x_from, x_to] = columns_inside<side>(x0, xx, last);
        const auto [y_from, y_to] = columns_inside<side>(y0, yx, last);
        places_of_row(lookup, x0, xx, y0, yx, last, row_length);
        for (int column = std::max(x_from, y_from); column <= std::min(x_to, y_to); ++column) {
            const float* from = glyph + lookup.at[column];
            lookup.ink[0][column] = from[0], lookup.ink[1][column] = from[1];
            lookup.ink[2][column] = from[wide], lookup.ink[3][column] = from[wide + 1];
        }
        values_of_row(lookup, image.data() + row * side);
    }
}

// (w, 1, w) / (1 + 2w) along the rows, then along the columns; what lies outside is empty.
template <int side>
void blur(std::span<float> image, float w) {
    const float norm = 1.0f / (1.0f + 2.0f * w);
    float rows[side + 2][side] = {};
    for (int y = 0; y < side; ++y) {
        float line[side + 2] = {};
        std::copy_n(image.data() + y * side, side, line + 1);
        for (int x = 0; x < side; ++x) rows[y + 1][x] = (line[x + 1] + w * (line[x] + line[x + 2])) * norm;
    }
    for (int y = 0; y < side; ++y) {
        float line[side];
        for (int x = 0; x < side; ++x) line[x] = (rows[y + 1][x] + w * (rows[y][x] + rows[y + 2][x])) * norm;
        std::copy_n(line, side, image.data() + y * side);
    }
}

// The sum of two 16-bit uniforms, a triangle of variance 1/6: noise enough, two pixels a random number. The bounds stand in
// a loop of their own, which becomes vectors: half of an empty picture's noise is below 0, and a branch would guess wrongly.
template <int side>
void add_noise(std::span<float> image, float contrast, float deviation, Rng& rng) {
    const float scale = deviation * std::sqrt(6.0f) / 65536.0f;
    int32_t noise[side * side];
    for (int i = 0; i < side * side; i += 2) {
        const uint64_t bits = rng.next();
        noise[i] = static_cast<int32_t>((bits & 0xffff) + ((bits >> 16) & 0xffff)) - 65535;
        noise[i + 1] = static_cast<int32_t>(((bits >> 32) & 0xffff) + (bits >> 48)) - 65535;
    }
    float* pixels = image.data();
    for (int i = 0; i < side * side; ++i) {
        const float value = pixels[i] * contrast + static_cast<float>(noise[i]) * scale;
        const float positive = value < 0.0f ? 0.0f : value;
        pixels[i] = positive > 1.0f ? 1.0f : positive;
    }
}

template <int side>
int32_t make_picture(const Glyphs& glyphs, const std::vector<int>& faces, uint64_t seed, uint64_t index,
                     std::span<float> image) {
    Rng rng(Rng(seed).next() + index * 0xd1b54a32d192ed03ull);
    const int digit = static_cast<int>(rng.below(10));
    const int face = faces[rng.below(faces.size())];
    draw<side>(glyphs, glyphs.of(face, digit), rng, image);
    blur<side>(image, static_cast<float>(rng.uniform(0, blur_high)));
    const float contrast = static_cast<float>(rng.uniform(contrast_low, 1));
    add_noise<side>(image, contrast, static_cast<float>(rng.uniform(0, noise_high)), rng);
    return digit;
}

template <int side>
DataSet open_sized(uint64_t seed, std::string name) {
    const auto glyphs = std::make_shared<const Glyphs>(load_glyphs());
    DataSet set{.name = std::move(name), .rows = side, .columns = side, .classes = 10, .test_count = test_pictures};
    set.train = [glyphs, seed](uint64_t index, std::span<float> image) {
        return make_picture<side>(*glyphs, glyphs->training, seed, index, image);
    };
    set.test = [glyphs](uint64_t index, std::span<float> image) {
        return make_picture<side>(*glyphs, glyphs->held_out, test_seed, index, image);
    };
    return set;
}
}  // namespace

DataSet open_digits(uint64_t seed, int side) {
    if (side == 28) return open_sized<28>(seed, "digits");
    if (side == 32) return open_sized<32>(seed, "digits32");
    throw Failure(fmt::format("digits are drawn 28 or 32 pixels wide, not {}", side));
}

}  // namespace lockstep::nn
