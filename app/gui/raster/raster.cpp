// Read Band::rectangle and Band::triangle; everything above them is one pixel's arithmetic.
#include "app/gui/raster/raster.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <thread>

namespace lockstep::gui {

namespace {

struct Channels {
    float r, g, b, a;  // 0..255
};
Channels channels_of(Color c) {
    return {static_cast<float>(c & 0xFF), static_cast<float>(c >> 8 & 0xFF), static_cast<float>(c >> 16 & 0xFF),
            static_cast<float>(c >> 24)};
}

uint32_t rounded(float value) {
    return static_cast<uint32_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
}
uint32_t share_of_255(uint32_t value) {  // value / 255, rounded
    value += 128;
    return (value + (value >> 8)) >> 8;
}

// `alpha` of 255 parts of `color` over what is there.
inline void blend(Color& under, Color color, uint32_t alpha) {
    const uint32_t rest = 255 - alpha;
    const uint32_t r = share_of_255((color & 0xFF) * alpha + (under & 0xFF) * rest);
    const uint32_t g = share_of_255((color >> 8 & 0xFF) * alpha + (under >> 8 & 0xFF) * rest);
    const uint32_t b = share_of_255((color >> 16 & 0xFF) * alpha + (under >> 16 & 0xFF) * rest);
    under = 0xFF000000 | b << 16 | g << 8 | r;
}

// OpenGL's rasterisers know places to a 256th of a pixel.
float snapped(float value) {
    return std::round(value * 256) / 256;
}
// The first pixel whose middle is not before `at`.
int first_pixel(float at) {
    return static_cast<int>(std::ceil(at - 0.5f));
}

// A texture's value at (u, v) in texels.
struct Sampler {
    const RasterTexture& texture;
    bool smooth;

    uint32_t coverage_at(int x, int y) const {
        x = std::clamp(x, 0, texture.w - 1);
        y = std::clamp(y, 0, texture.h - 1);
        return texture.coverage[static_cast<size_t>(y) * static_cast<size_t>(texture.w) + static_cast<size_t>(x)];
    }
    Color pixel_at(int x, int y) const {
        x = std::clamp(x, 0, texture.w - 1);
        y = std::clamp(y, 0, texture.h - 1);
        return texture.pixels[static_cast<size_t>(y) * static_cast<size_t>(texture.w) + static_cast<size_t>(x)];
    }
    Channels at(float u, float v) const {
        const bool plain = texture.pixels.empty();
        const auto read = [&](int x, int y) {
            return plain ? Channels{255, 255, 255, static_cast<float>(coverage_at(x, y))} : channels_of(pixel_at(x, y));
        };
        if (!smooth) return read(static_cast<int>(std::floor(u)), static_cast<int>(std::floor(v)));
        const float left = std::floor(u - 0.5f), top = std::floor(v - 0.5f);
        const float fx = u - 0.5f - left, fy = v - 0.5f - top;
        const int x = static_cast<int>(left), y = static_cast<int>(top);
        const Channels a = read(x, y), b = read(x + 1, y), c = read(x, y + 1), d = read(x + 1, y + 1);
        const auto mixed = [&](float Channels::*of) {
            const float upper = a.*of + (b.*of - a.*of) * fx, lower = c.*of + (d.*of - c.*of) * fx;
            return upper + (lower - upper) * fy;
        };
        return {mixed(&Channels::r), mixed(&Channels::g), mixed(&Channels::b), mixed(&Channels::a)};
    }
};

void paint(Color& under, const Channels& color, const Channels& texel) {
    const uint32_t alpha = rounded(color.a * texel.a / 255);
    if (alpha == 0) return;
    const Color mixed =
        rounded(color.r * texel.r / 255) | rounded(color.g * texel.g / 255) << 8 | rounded(color.b * texel.b / 255) << 16;
    blend(under, mixed, alpha);
}

struct Corner {
    float x, y, u, v;  // pixels; texels
    Color color;
};

// Some rows of the picture, which one thread draws.
struct Band {
    std::vector<Color>& pixels;
    int width;
    int begin, end;                          // rows
    int clip_x0, clip_y0, clip_x1, clip_y1;  // of the command
    const RasterTexture* texture;            // null: none
    Color* row(int y) const { return pixels.data() + static_cast<size_t>(y) * static_cast<size_t>(width); }

    static void fill(Color* from, Color* to, Color color) {
        const uint32_t alpha = color >> 24;
        if (alpha == 255) return std::fill(from, to, color);
        for (; from != to; ++from) blend(*from, color, alpha);
    }

    // Corners (x0, y0) and (x1, y1), of one colour; texture coordinates likewise.
    void rectangle(Corner a, Corner b) const {
        if (a.x > b.x) std::swap(a.x, b.x), std::swap(a.u, b.u);
        if (a.y > b.y) std::swap(a.y, b.y), std::swap(a.v, b.v);
        const int x0 = std::max(first_pixel(a.x), clip_x0), x1 = std::min(first_pixel(b.x), clip_x1);
        const int y0 = std::max(first_pixel(a.y), clip_y0), y1 = std::min(first_pixel(b.y), clip_y1);
        if (x0 >= x1 || y0 >= y1 || a.color >> 24 == 0) return;
        const bool flat = texture == nullptr || (a.u == b.u && a.v == b.v);
        if (flat) {
            Color color = a.color;
            if (texture != nullptr) {
                const Channels texel = Sampler{*texture, true}.at(a.u, a.v), own = channels_of(color);
                color = rounded(own.r * texel.r / 255) | rounded(own.g * texel.g / 255) << 8 |
                        rounded(own.b * texel.b / 255) << 16 | rounded(own.a * texel.a / 255) << 24;
                if (color >> 24 == 0) return;
            }
            for (int y = y0; y < y1; ++y) fill(row(y) + x0, row(y) + x1, color);
            return;
        }
        const float du = (b.u - a.u) / (b.x - a.x), dv = (b.v - a.v) / (b.y - a.y);
        const float u0 = a.u + (static_cast<float>(x0) + 0.5f - a.x) * du,
                    v0 = a.v + (static_cast<float>(y0) + 0.5f - a.y) * dv;
        constexpr float near = 1.0f / 128;  // of a texel: its neighbours do not count
        const auto whole = [](float at) { return std::fabs(at - 0.5f - std::round(at - 0.5f)) < near; };
        if (!texture->coverage.empty() && std::fabs(du - 1) < 1e-4f && std::fabs(dv - 1) < 1e-4f && whole(u0) && whole(v0))
            return letters(x0, y0, x1, y1, static_cast<int>(std::floor(u0)), static_cast<int>(std::floor(v0)), a.color);
        const Sampler sampler{*texture, is_smooth(du, dv)};
        const Channels own = channels_of(a.color);
        for (int y = y0; y < y1; ++y) {
            Color* const line = row(y);
            const float v = v0 + static_cast<float>(y - y0) * dv;
            for (int x = x0; x < x1; ++x) paint(line[x], own, sampler.at(u0 + static_cast<float>(x - x0) * du, v));
        }
    }

    bool is_smooth(float du, float dv) const {  // texels a pixel
        return !texture->keeps_pixels || std::max(std::fabs(du), std::fabs(dv)) > 1;
    }

    // Texel for pixel, as letters and hatches are drawn.
    void letters(int x0, int y0, int x1, int y1, int u, int v, Color color) const {
        const uint32_t own = color >> 24;
        for (int y = y0; y < y1; ++y) {
            const int ty = std::clamp(v + y - y0, 0, texture->h - 1);
            const uint8_t* const texels =
                texture->coverage.data() + static_cast<size_t>(ty) * static_cast<size_t>(texture->w);
            Color* const line = row(y);
            for (int x = x0; x < x1; ++x) {
                const uint32_t cover = texels[std::clamp(u + x - x0, 0, texture->w - 1)];
                if (cover == 0) continue;
                const uint32_t alpha = own == 255 ? cover : share_of_255(cover * own);
                if (alpha == 255)
                    line[x] = color;
                else
                    blend(line[x], color, alpha);
            }
        }
    }

    // Where the edge crosses the height y; the same whichever triangle it is of.
    static float crossing(const Corner& one, const Corner& other, float y) {
        const bool upper = one.y < other.y || (one.y == other.y && one.x < other.x);
        const Corner &a = upper ? one : other, &b = upper ? other : one;
        return static_cast<float>(a.x + (static_cast<double>(y) - a.y) * (static_cast<double>(b.x) - a.x) / (b.y - a.y));
    }

    void triangle(const Corner& a, const Corner& b, const Corner& c) const {
        const float low = std::min({a.y, b.y, c.y}), high = std::max({a.y, b.y, c.y});
        const int y0 = std::max(first_pixel(low), clip_y0), y1 = std::min(first_pixel(high), clip_y1);
        if (y0 >= y1) return;
        const double area = (static_cast<double>(b.x) - a.x) * (c.y - a.y) - (static_cast<double>(c.x) - a.x) * (b.y - a.y);
        if (area == 0) return;
        // Weights of b and c as they change with x and y.
        const double bx = (c.y - a.y) / area, by = -(c.x - a.x) / area, cx = -(b.y - a.y) / area, cy = (b.x - a.x) / area;
        const bool one_colour = a.color == b.color && b.color == c.color;
        const bool flat = texture == nullptr || (a.u == b.u && b.u == c.u && a.v == b.v && b.v == c.v);
        Channels texel{255, 255, 255, 255};
        if (texture != nullptr && flat) texel = Sampler{*texture, true}.at(a.u, a.v);
        const Channels ca = channels_of(a.color), cb = channels_of(b.color), cc = channels_of(c.color);
        const bool plain = flat && one_colour && texel.r == 255 && texel.g == 255 && texel.b == 255 && texel.a == 255;
        const auto slope = [&](float of_a, float of_b, float of_c, double wb, double wc) {
            return static_cast<float>((of_b - of_a) * wb + (of_c - of_a) * wc);
        };
        const bool smooth =
            texture != nullptr && !flat && is_smooth(slope(a.u, b.u, c.u, bx, cx), slope(a.v, b.v, c.v, by, cy));
        for (int y = y0; y < y1; ++y) {
            const float middle = static_cast<float>(y) + 0.5f;
            float left = 1e9f, right = -1e9f;
            const auto meet = [&](const Corner& p, const Corner& q) {
                if ((p.y <= middle) == (q.y <= middle)) return;
                const float x = crossing(p, q, middle);
                left = std::min(left, x);
                right = std::max(right, x);
            };
            meet(a, b), meet(b, c), meet(c, a);
            const int x0 = std::max(first_pixel(left), clip_x0), x1 = std::min(first_pixel(right), clip_x1);
            if (x0 >= x1) continue;
            Color* const line = row(y);
            if (plain) {
                fill(line + x0, line + x1, a.color);
                continue;
            }
            const double dx = x0 + 0.5 - a.x, dy = middle - a.y;
            double wb = dx * bx + dy * by, wc = dx * cx + dy * cy;
            for (int x = x0; x < x1; ++x, wb += bx, wc += cx) {
                const auto fb = static_cast<float>(wb), fc = static_cast<float>(wc);
                const auto at = [&](float of_a, float of_b, float of_c) {
                    return of_a + (of_b - of_a) * fb + (of_c - of_a) * fc;
                };
                if (!flat) texel = Sampler{*texture, smooth}.at(at(a.u, b.u, c.u), at(a.v, b.v, c.v));
                paint(line[x], {at(ca.r, cb.r, cc.r), at(ca.g, cb.g, cc.g), at(ca.b, cb.b, cc.b), at(ca.a, cb.a, cc.a)},
                      texel);
            }
        }
    }

    // Six indices of two triangles that make an upright rectangle of one colour, as ImGui lays them: a b c, a c d.
    bool two_triangles(const Corner& a, const Corner& b, const Corner& c, const Corner& d) const {
        const bool upright = a.y == b.y && b.x == c.x && c.y == d.y && d.x == a.x;
        const bool mapped = a.v == b.v && b.u == c.u && c.v == d.v && d.u == a.u;
        if (!upright || !mapped || a.color != b.color || a.color != c.color || a.color != d.color) return false;
        rectangle(a, c);
        return true;
    }
};

void draw_band(std::vector<Color>& pixels, int width, int height, int begin, int end, const ImDrawData& data,
               const std::function<const RasterTexture*(uint64_t)>& texture_of) {
    Band band{pixels, width, begin, end, 0, 0, 0, 0, nullptr};
    for (int n = 0; n < data.CmdListsCount; ++n) {
        const ImDrawList& list = *data.CmdLists[n];
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (command.UserCallback != nullptr) continue;
            const ImVec4& clip = command.ClipRect;
            const float left = clip.x - data.DisplayPos.x, top = clip.y - data.DisplayPos.y,
                        right = clip.z - data.DisplayPos.x, bottom = clip.w - data.DisplayPos.y;
            if (right <= left || bottom <= top) continue;
            // As the OpenGL backend cuts its scissors: from below, to whole pixels.
            const int low = static_cast<int>(static_cast<float>(height) - bottom), tall = static_cast<int>(bottom - top);
            const int x0 = static_cast<int>(left), wide = static_cast<int>(right - left);
            band.clip_x0 = std::max(0, x0);
            band.clip_x1 = std::min(width, x0 + wide);
            band.clip_y0 = std::max(begin, height - low - tall);
            band.clip_y1 = std::min(end, height - low);
            if (band.clip_x0 >= band.clip_x1 || band.clip_y0 >= band.clip_y1) continue;
#if IMGUI_VERSION_NUM >= 19200
            band.texture = texture_of(static_cast<uint64_t>(command.GetTexID()));
#else
            band.texture = texture_of(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(command.GetTexID())));
#endif
            const float tw = band.texture ? static_cast<float>(band.texture->w) : 1,
                        th = band.texture ? static_cast<float>(band.texture->h) : 1;
            const ImDrawVert* const vertices = list.VtxBuffer.Data + command.VtxOffset;
            const ImDrawIdx* const indices = list.IdxBuffer.Data + command.IdxOffset;
            const auto corner = [&](unsigned k) {
                const ImDrawVert& v = vertices[indices[k]];
                return Corner{snapped(v.pos.x - data.DisplayPos.x), snapped(v.pos.y - data.DisplayPos.y), v.uv.x * tw,
                              v.uv.y * th, v.col};
            };
            for (unsigned k = 0; k + 2 < command.ElemCount;) {
                const Corner a = corner(k), b = corner(k + 1), c = corner(k + 2);
                const bool pair =
                    k + 5 < command.ElemCount && indices[k] == indices[k + 3] && indices[k + 2] == indices[k + 4];
                if (pair) {
                    const Corner d = corner(k + 5);
                    if (!band.two_triangles(a, b, c, d)) band.triangle(a, b, c), band.triangle(a, c, d);
                    k += 6;
                } else {
                    band.triangle(a, b, c);
                    k += 3;
                }
            }
        }
    }
}

}  // namespace

Raster::Raster(int width, int height)
    : width_(width), height_(height), pixels_(static_cast<size_t>(width) * static_cast<size_t>(height)) {}

void Raster::clear(Color color) {
    std::fill(pixels_.begin(), pixels_.end(), color | 0xFF000000);
}

void Raster::draw(const ImDrawData& data, const std::function<const RasterTexture*(uint64_t id)>& texture_of, int threads) {
    threads = std::clamp(threads, 1, std::max(1, height_ / 64));
    std::vector<std::jthread> others;
    const auto band = [&](int k) {
        draw_band(pixels_, width_, height_, height_ * k / threads, height_ * (k + 1) / threads, data, texture_of);
    };
    for (int k = 1; k < threads; ++k) others.emplace_back([&band, k] { band(k); });
    band(0);
}

}  // namespace lockstep::gui
