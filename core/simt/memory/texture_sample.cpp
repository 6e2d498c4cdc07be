// Coordinates -> texel indices and weights -> texels -> a filtered value. Weights have 8 bits of fraction, as the guide
// says, those of a texel too, which are products: so much of 256 is shared out over levels, slices, columns and rows, in
// this order, each share rounded and the rest left to the other one. What a filter gives of 8- and 16-bit integers has 16
// bits, and of halves it is a half. All this as an H200 with CUDA 13.0 does it: its 392 values of two dimensions in
// tests/simt/memory/texture_silicon_test.cpp are met, of three dimensions nine in ten (the others differ by a 256th of a
// texel).
#include "core/simt/memory/texture_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/dtype.h"

namespace lockstep::simt {

namespace {

using Shape = Texture::Shape;
using Element = Texture::Element;

constexpr double farthest = 1 << 30;  // coordinates beyond it are as far outside as any; NaN counts as 0

float float_of(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}
uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits;
}

int axes_of(const Texture& texture) {
    return texture.shape == Shape::d3 ? 3 : texture.shape == Shape::d1 || texture.shape == Shape::d1_layered ? 1 : 2;
}

bool holds(Texture::Compare compare, float depth, float texel) {
    using Compare = Texture::Compare;
    switch (compare) {
        case Compare::never:
            return false;
        case Compare::less:
            return depth < texel;
        case Compare::equal:
            return depth == texel;
        case Compare::less_equal:
            return depth <= texel;
        case Compare::greater:
            return depth > texel;
        case Compare::not_equal:
            return depth != texel;
        case Compare::greater_equal:
            return depth >= texel;
        case Compare::always:
            return true;
    }
    return false;
}

// The linear value of an sRGB code, IEC 61966-2-1.
float linear_of_srgb(uint32_t code) {
    const double value = code / 255.0;
    return static_cast<float>(value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
}

bool decodes_srgb(const Texture& t, uint32_t channel) {
    return t.srgb && t.element == Element::u8 && t.normalized_float && channel < 3;
}

// One element: integers extended to 32 bits, floats as f32, normalised integers divided by their largest value.
uint32_t element_at(const Texture& t, const std::byte* from, uint32_t channel) {
    uint32_t raw = 0;
    std::memcpy(&raw, from, t.element_bytes());
    switch (t.element) {
        case Element::u8:
            if (decodes_srgb(t, channel)) return bits_of(linear_of_srgb(raw));
            return t.normalized_float ? bits_of(static_cast<float>(raw) / 255.0f) : raw;
        case Element::s8: {
            const auto value = static_cast<int8_t>(raw);
            return t.normalized_float ? bits_of(std::max(static_cast<float>(value) / 127.0f, -1.0f))
                                      : static_cast<uint32_t>(int32_t{value});
        }
        case Element::u16:
            return t.normalized_float ? bits_of(static_cast<float>(raw) / 65535.0f) : raw;
        case Element::s16: {
            const auto value = static_cast<int16_t>(raw);
            return t.normalized_float ? bits_of(std::max(static_cast<float>(value) / 32767.0f, -1.0f))
                                      : static_cast<uint32_t>(int32_t{value});
        }
        case Element::f16:
            return bits_of(f16_to_f32(static_cast<uint16_t>(raw)));
        default:
            return raw;
    }
}

struct Axis {  // one axis of a fetch: one texel, or two and the weight of the second, of 256
    int64_t index[2] = {0, 0};
    uint32_t weight = 0;
};

constexpr uint32_t whole_weight = 256;

// So much of `total` is that of the second of two, whose weight is `weight`.
uint32_t share(uint32_t total, uint32_t weight) {
    return (total * weight + whole_weight / 2) / whole_weight;
}

// The texel that index `i` means on an axis of `n` texels; -1: the border.
int64_t addressed(int64_t i, int64_t n, Texture::Mode mode) {
    switch (mode) {
        case Texture::Mode::wrap:
            return (i % n + n) % n;
        case Texture::Mode::mirror: {
            const int64_t m = (i % (2 * n) + 2 * n) % (2 * n);
            return m < n ? m : 2 * n - 1 - m;
        }
        case Texture::Mode::clamp:
            return std::clamp<int64_t>(i, 0, n - 1);
        case Texture::Mode::border:
            return i < 0 || i >= n ? -1 : i;
    }
    return -1;
}

// `x` in texels. Wrap and mirror are for normalised coordinates alone; others clamp instead.
Axis axis_of(double x, uint32_t n, Texture::Mode mode, bool normalized, bool pair) {
    if (!normalized && (mode == Texture::Mode::wrap || mode == Texture::Mode::mirror)) mode = Texture::Mode::clamp;
    x = std::isnan(x) ? 0 : std::clamp(x, -farthest, farthest);
    Axis axis;
    if (!pair) {
        axis.index[0] = axis.index[1] = addressed(static_cast<int64_t>(std::floor(x)), n, mode);
        return axis;
    }
    const double below = std::floor(x - 0.5);
    axis.weight = static_cast<uint32_t>(std::floor((x - 0.5 - below) * whole_weight + 0.5));
    for (int64_t k = 0; k < 2; ++k) axis.index[k] = addressed(static_cast<int64_t>(below) + k, n, mode);
    return axis;
}

// Which face a direction meets, and where: table "Cubemap Fetch" of the guide. Of equal sides z comes before y, and y before
// x.
uint32_t cube_face(const double* direction, double& s, double& t) {
    const double x = direction[0], y = direction[1], z = direction[2];
    const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    uint32_t face;
    double major;
    if (az >= ax && az >= ay) {
        face = z >= 0 ? 4 : 5;
        major = az;
        s = z >= 0 ? x : -x;
        t = -y;
    } else if (ay >= ax) {
        face = y >= 0 ? 2 : 3;
        major = ay;
        s = x;
        t = y >= 0 ? z : -z;
    } else {
        face = x >= 0 ? 0 : 1;
        major = ax;
        s = x >= 0 ? -z : z;
        t = -y;
    }
    s = (s / major + 1) / 2;
    t = (t / major + 1) / 2;
    return face;
}

struct Footprint {
    Axis axes[3];
    uint64_t slice = 0;   // of layers and faces; a texel of depth z is z slices further
    uint64_t sample = 0;  // of a texel of several
};

Footprint footprint(const Texture& texture, const Coordinates& c, bool pair) {
    Footprint f;
    const bool cube = texture.faces() == 6;
    const bool layered = texture.shape == Shape::d1_layered || texture.shape == Shape::d2_layered ||
                         texture.shape == Shape::cube_layered || texture.shape == Shape::d2_ms_layered;
    const uint64_t layer = std::min<uint64_t>(static_cast<uint32_t>(c.layer), texture.layers - 1);  // of -1 the last one
    double at[3] = {c.at[0], c.at[1], c.at[2]};
    if (layered) f.slice = layer * texture.faces();
    if (cube) f.slice += cube_face(c.at, at[0], at[1]);
    const bool normalized = cube || (texture.normalized && !c.integers);
    const uint32_t extents[3] = {texture.width, texture.height, texture.depth};
    f.sample = static_cast<uint64_t>(std::clamp<int64_t>(c.sample, 0, int64_t{texture.samples} - 1));
    for (int k = 0; k < axes_of(texture); ++k) {
        const double x = at[k] * (normalized ? extents[k] : 1) + c.offset[k];
        f.axes[k] = axis_of(x, extents[k], cube ? Texture::Mode::clamp : texture.modes[k], normalized, pair);
    }
    return f;
}

// Of the texel that takes index [i], [j], [k] of the axes; -1: in the border.
int64_t offset_of(const Texture& t, const Footprint& f, int i, int j, int k) {
    const int64_t x = f.axes[0].index[i], y = f.axes[1].index[j], z = f.axes[2].index[k];
    if (x < 0 || y < 0 || z < 0) return -1;
    const uint64_t row = (f.slice + static_cast<uint64_t>(z)) * t.height + static_cast<uint64_t>(y);
    return static_cast<int64_t>(row * t.row_step() + (static_cast<uint64_t>(x) * t.samples + f.sample) * t.texel_bytes());
}

// The border's color has no more bits than the texels.
float border_of(const Texture& t, uint32_t channel) {
    const double largest = t.element == Element::u8    ? 255
                           : t.element == Element::s8  ? 127
                           : t.element == Element::u16 ? 65535
                           : t.element == Element::s16 ? 32767
                                                       : 0;
    const double value = static_cast<double>(t.border[channel]);
    return t.normalized_float && largest > 0 ? static_cast<float>(std::trunc(value * largest) / largest) : t.border[channel];
}

Texel texel_at(const Texture& t, const std::byte* data, int64_t offset, const Coordinates& c) {
    Texel texel{reads_floats(t), {0, 0, 0, reads_floats(t) ? bits_of(1.0f) : 1}};
    for (uint32_t channel = 0; channel < 4; ++channel) {
        if (offset < 0)  // the border's color, whatever channels there are
            texel.bits[channel] = texel.is_float ? bits_of(border_of(t, channel))
                                                 : static_cast<uint32_t>(static_cast<int32_t>(t.border[channel]));
        else if (channel < t.channels)
            texel.bits[channel] = element_at(t, data + offset + channel * t.element_bytes(), channel);
        else
            continue;
        if (c.compares)
            texel.bits[channel] = bits_of(holds(t.compare, c.depth, float_of(texel.bits[channel])) ? 1.0f : 0.0f);
    }
    return texel;
}

using Sums = std::array<double, 4>;  // of the channels, in 256ths

// The largest integer of what a filter gives of normalised integers; 0: it gives floats.
double filtered_scale(const Texture& t) {
    if (!t.normalized_float) return 0;
    return t.element == Element::u8 || t.element == Element::u16   ? 65535
           : t.element == Element::s8 || t.element == Element::s16 ? 32767
                                                                   : 0;
}

// Channel `channel` of a texel as a filter takes it: in units of its scale, the most negative integer beyond -1.
double filtered_value(const Texture& t, const std::byte* data, int64_t offset, uint32_t channel, const Texel& texel,
                      double scale) {
    if (scale == 0 || offset < 0 || channel >= t.channels || decodes_srgb(t, channel))
        return static_cast<double>(float_of(texel.bits[channel])) * (scale == 0 ? 1 : scale);
    uint16_t raw = 0;
    std::memcpy(&raw, data + offset + channel * t.element_bytes(), std::min<size_t>(t.element_bytes(), sizeof raw));
    switch (t.element) {
        case Element::u8:
            return raw * 257.0;
        case Element::s8:
            return static_cast<int8_t>(raw) * 32767 / 127.0;
        case Element::s16:
            return static_cast<int16_t>(raw);
        default:
            return raw;
    }
}

Texel rounded(const Texture& t, const Sums& sums) {
    Texel result{true, {}};
    for (int channel = 0; channel < 4; ++channel) {
        const double sum = sums[static_cast<size_t>(channel)] / whole_weight, scale = filtered_scale(t);
        auto value = static_cast<float>(scale == 0 ? sum : std::max(std::floor(sum + 0.5) / scale, -1.0));
        if (t.element == Element::f16) value = f16_to_f32(f32_to_f16(value));
        result.bits[channel] = bits_of(value);
    }
    return result;
}

bool blends(const Texture& t, const Coordinates& c) {
    return t.linear && reads_floats(t) && !c.integers;
}

Texel nearest(const Texture& texture, const std::byte* data, uint64_t before, const Coordinates& c, Touched* touched) {
    const Footprint f = footprint(texture, c, false);
    const int64_t offset = offset_of(texture, f, 0, 0, 0);
    if (touched && offset >= 0) touched->offset[touched->count++] = static_cast<int64_t>(before) + offset;
    return texel_at(texture, data + before, offset, c);
}

// Adds one level, whose weight is `total` of 256; `before`: bytes of the levels in front of it.
void add_level(const Texture& texture, const std::byte* data, uint64_t before, const Coordinates& c, uint32_t total,
               Sums& sums, Touched* touched) {
    const double scale = filtered_scale(texture);
    const auto add = [&](const Texel& texel, int64_t offset, uint32_t weight) {
        for (uint32_t channel = 0; channel < 4; ++channel)
            sums[channel] +=
                weight * (c.compares ? static_cast<double>(float_of(texel.bits[channel])) * (scale == 0 ? 1 : scale)
                                     : filtered_value(texture, data + before, offset, channel, texel, scale));
    };
    if (!blends(texture, c)) {
        const int64_t offset = offset_of(texture, footprint(texture, c, false), 0, 0, 0);
        return add(nearest(texture, data, before, c, touched), offset, total);
    }
    const Footprint f = footprint(texture, c, true);
    for (int corner = 0; corner < 8; ++corner) {  // bit 0: the second column, bit 1: row, bit 2: slice
        const uint32_t behind = share(total, f.axes[2].weight), slice = corner & 4 ? behind : total - behind;
        const uint32_t right = share(slice, f.axes[0].weight), column = corner & 1 ? right : slice - right;
        // The rows of the two columns together have the share of a row, which says how a half is rounded.
        const uint32_t lower_right = share(right, f.axes[1].weight);
        const uint32_t lower = corner & 1 ? lower_right : (column * f.axes[1].weight + whole_weight / 2 - 1) / whole_weight;
        const uint32_t weight = corner & 2 ? lower : column - lower;
        if (weight == 0) continue;
        const int64_t offset = offset_of(texture, f, corner & 1, corner >> 1 & 1, corner >> 2);
        if (touched && offset >= 0) touched->offset[touched->count++] = static_cast<int64_t>(before) + offset;
        add(texel_at(texture, data + before, offset, c), offset, weight);
    }
}

void add_level(const Texture& texture, const std::byte* data, uint32_t level, const Coordinates& c, uint32_t total,
               Sums& sums, Touched* touched) {
    if (level == 0) return add_level(texture, data, uint64_t{0}, c, total, sums, touched);
    const Texture smaller = texture.level(level);
    add_level(smaller, data, smaller.address - texture.address, c, total, sums, touched);
}

Texel sample_level(const Texture& texture, const std::byte* data, uint32_t level, const Coordinates& c, Touched* touched) {
    if (blends(texture, c)) {
        Sums sums{};
        add_level(texture, data, level, c, whole_weight, sums, touched);
        return rounded(texture, sums);
    }
    if (level == 0) return nearest(texture, data, 0, c, touched);
    const Texture smaller = texture.level(level);
    return nearest(smaller, data, smaller.address - texture.address, c, touched);
}

}  // namespace

bool reads_floats(const Texture& t) {
    return t.element >= Element::f16 || (t.normalized_float && t.element <= Element::s16);
}

namespace {

void halve(Texture& t) {
    t.address += t.level_bytes();
    t.pitch = 0;
    t.width = std::max(1u, t.width / 2);
    t.height = std::max(1u, t.height / 2);
    t.depth = std::max(1u, t.depth / 2);
}

}  // namespace

uint64_t Texture::bytes() const {
    if (levels == 1) return level_bytes();
    const Texture last = level(levels - 1);
    return last.address - address + last.level_bytes();
}

uint64_t Texture::placed(uint64_t offset) const {
    constexpr uint64_t wide = 64, high = 8;
    const uint64_t row_bytes = row_step();
    const bool rows = shape == Shape::d1 || shape == Shape::d1_layered || levels > 1;
    if (!array || rows || row_bytes % wide != 0 || height % high != 0) return offset;
    const uint64_t x = offset % row_bytes, row = offset / row_bytes, y = row % high;  // slices are whole blocks
    const uint64_t block = row / high * (row_bytes / wide) + x / wide;
    return block * wide * high + x % 64 / 32 * 256 + y / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
}

Texture Texture::level(uint32_t k) const {
    Texture t = *this;
    t.levels = 1;
    for (uint32_t i = 0; i < k; ++i) halve(t);
    return t;
}

Texel sample(const Texture& texture, const std::byte* data, Coordinates c, Touched* touched) {
    if (touched) touched->count = 0;
    if (!c.levelled || texture.levels == 1) return sample_level(texture, data, 0u, c, touched);
    const double highest = texture.levels - 1;
    if (c.integers) return sample_level(texture, data, static_cast<uint32_t>(std::clamp(c.level, 0.0, highest)), c, touched);
    double level = (std::isnan(c.level) ? 0 : c.level) + static_cast<double>(texture.level_bias);
    level = std::max(std::min(level, static_cast<double>(texture.most_level)), static_cast<double>(texture.least_level));
    level = std::clamp(level, 0.0, highest);
    if (!texture.mip_linear || !reads_floats(texture))
        return sample_level(texture, data, static_cast<uint32_t>(std::ceil(level + 0.5) - 1), c, touched);
    const double below = std::floor(level);
    const auto weight = static_cast<uint32_t>((level - below) * whole_weight);
    const auto first = static_cast<uint32_t>(below);
    if (weight == 0) return sample_level(texture, data, first, c, touched);
    Sums sums{};
    add_level(texture, data, first, c, whole_weight - weight, sums, touched);
    add_level(texture, data, first + 1, c, weight, sums, touched);
    return rounded(texture, sums);
}

double level_of_gradients(const Texture& texture, const Coordinates& c, const double* dx, const double* dy) {
    double longest = 0;
    for (const double* by : {dx, dy}) {
        double sum = 0;
        if (texture.faces() == 6) {  // how the place on the face moves, for a small step along `by`
            double s, t;
            cube_face(c.at, s, t);
            const double* const at = c.at;
            const double size[3] = {std::fabs(at[0]), std::fabs(at[1]), std::fabs(at[2])};
            const int major = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
            for (int k = 0; k < 3; ++k) {
                if (k == major) continue;
                const double moved = (by[k] - at[k] / at[major] * by[major]) / (2 * size[major]) * texture.width;
                sum += moved * moved;
            }
        } else {
            const uint32_t extents[3] = {texture.width, texture.height, texture.depth};
            for (int k = 0; k < axes_of(texture); ++k) {
                const double moved = by[k] * (texture.normalized && !c.integers ? extents[k] : 1);
                sum += moved * moved;
            }
        }
        longest = std::max(longest, std::sqrt(sum));
    }
    return std::log2(longest);  // of 0: below all levels
}

Texel gather(const Texture& texture, const std::byte* data, Coordinates c, uint32_t channel, Touched* touched) {
    const Footprint f = footprint(texture, c, true);
    constexpr int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    Texel result{reads_floats(texture), {}};
    if (touched) touched->count = 0;
    for (int corner = 0; corner < 4; ++corner) {
        const int64_t offset = offset_of(texture, f, order[corner][0], order[corner][1], 0);
        if (touched && offset >= 0) touched->offset[touched->count++] = offset;
        // Of a channel that the texels lack: 0, the fourth too.
        result.bits[corner] = channel < texture.channels ? texel_at(texture, data, offset, c).bits[channel] : 0;
    }
    return result;
}

void write_texel(const Texture& texture, std::byte* to, const uint32_t* bits, bool is_float, bool is_signed) {
    const uint32_t bytes = texture.element_bytes();
    const bool is_signed_element =
        texture.element == Element::s8 || texture.element == Element::s16 || texture.element == Element::s32;
    const int digits = static_cast<int>(8 * bytes) - (is_signed_element ? 1 : 0);
    const double largest = std::ldexp(1, digits) - 1, least = is_signed_element ? -largest - 1 : 0;
    for (uint32_t channel = 0; channel < texture.channels; ++channel) {
        uint32_t out = bits[channel];
        if (texture.element == Element::f16) {
            out = f32_to_f16(float_of(out));
        } else if (texture.element != Element::f32) {
            double value = is_float    ? static_cast<double>(float_of(out))
                           : is_signed ? static_cast<double>(static_cast<int32_t>(out))
                                       : static_cast<double>(out);
            if (is_float && texture.normalized_float) value *= largest;
            value = std::isnan(value) ? 0 : std::nearbyint(std::clamp(value, least, largest));
            out = static_cast<uint32_t>(static_cast<int64_t>(value));
        }
        std::memcpy(to + channel * bytes, &out, bytes);
    }
}

}  // namespace lockstep::simt
