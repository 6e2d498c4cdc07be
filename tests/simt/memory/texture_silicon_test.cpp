// What an H200 with CUDA 13.0 (driver 580) gave for the same fetches, number for number: weights of 8 bits that are shared
// out over the texels, sums of normalised integers in 16 bits, the border's color in the texels' bits, a cube's edges, the
// layer beyond the ends.
#include <cmath>
#include <vector>

#include "core/simt/memory/texture_sample.h"
#include "tests/catch.h"

namespace simt_texture_silicon_test {

using namespace lockstep::simt;
using Shape = Texture::Shape;
using Element = Texture::Element;
using Mode = Texture::Mode;

namespace {

constexpr float flat_border[] = {0.0f, 0.0f,        0.0f,        0.0f,        0.0f,        0.0f,        0.0f,
                                 0.0f, 0.55859375f, 0.69921875f, 2.2734375f,  3.49609375f, 2.109375f,   0.0f,
                                 0.0f, 0.80078125f, 1.0f,        3.25f,       5.0f,        3.0078125f,  0.0f,
                                 0.0f, 7.20703125f, 9.0078125f,  11.2578125f, 13.0078125f, 7.8125f,     0.0f,
                                 0.0f, 16.8164062f, 21.0f,       23.25f,      25.0f,       15.0390625f, 0.0f,
                                 0.0f, 10.0898438f, 12.6328125f, 13.984375f,  15.0390625f, 9.08203125f, 0.0f,
                                 0.0f, 1.72265625f, 2.1328125f,  2.359375f,   2.5390625f,  1.5625f,     0.0f};
constexpr float flat_mirror[] = {0.0f,        0.0f,        0.0f,        0.0f,        0.0f,        0.0f,        0.0f,
                                 1.1875f,     0.69921875f, 0.69921875f, 2.2734375f,  3.49609375f, 3.49609375f, 3.42578125f,
                                 1.69921875f, 1.0f,        1.0f,        3.25f,       5.0f,        5.0f,        4.8984375f,
                                 9.70703125f, 9.0078125f,  9.0078125f,  11.2578125f, 13.0078125f, 13.0078125f, 12.90625f,
                                 21.6992188f, 21.0f,       21.0f,       23.25f,      25.0f,       25.0f,       24.8984375f,
                                 13.0546875f, 12.6328125f, 12.6328125f, 13.984375f,  15.0390625f, 15.0390625f, 14.9765625f,
                                 2.203125f,   2.1328125f,  2.1328125f,  2.359375f,   2.5390625f,  2.5390625f,  2.52734375f};
constexpr float deep_border[] = {0.0f,        0.0f,        0.0f,        0.0f,        0.0f,        0.0f,        0.0f,
                                 0.0f,        0.0f,        0.0f,        0.0f,        0.0f,        0.0546875f,  0.24609375f,
                                 0.72265625f, 0.17578125f, 1.91015625f, 6.6484375f,  7.9296875f,  1.9921875f,  2.21484375f,
                                 7.69140625f, 7.12890625f, 1.7578125f,  4.75f,       15.1210938f, 12.9101562f, 3.33984375f,
                                 24.7539062f, 82.4179688f, 69.0039062f, 17.0507812f, 11.5273438f, 38.6054688f, 31.7382812f,
                                 7.8125f,     3.92578125f, 11.8007812f, 9.609375f,   2.40234375f, 18.6054688f, 62.4140625f,
                                 51.09375f,   12.3632812f, 7.76953125f, 25.9453125f, 21.9726562f, 5.2734375f};
constexpr float of_u8[] = {0.249027237f,   0.124513619f,   0.0f,           0.000976577401f, 0.00196841382f, 0.00294499123f,
                           0.00392156886f, 0.00489814626f, 0.00588998245f, 0.00686655985f,  0.00784313772f, 0.130388349f,
                           0.252948821f,   0.375494003f,   0.498039216f,   0.499015778f,    0.500007629f,   0.500984192f,
                           0.501960814f,   0.572549045f,   0.643137276f,   0.713725507f,    0.784313738f,   0.837262511f,
                           0.890196085f,   0.943144858f,   0.996078432f,   0.997054994f,    0.998046815f,   0.999023438f,
                           1.0f,           0.874509811f,   0.749019623f};
constexpr float of_s8[] = {0.248023927f,    0.124027222f,   0.0f,           0.00198370311f, 0.00393688772f,  0.00592059083f,
                           0.00787377544f,  0.00985747855f, 0.0118106632f,  0.0137943663f,  0.0157475509f,   0.26181829f,
                           0.507889032f,    0.753929257f,   1.0f,           0.498031557f,   -0.00393688772f, -0.50590533f,
                           -1.0f,           -0.86614579f,   -0.724417865f,  -0.582689881f,  -0.440931439f,   -0.334635466f,
                           -0.228339493f,   -0.12204352f,   -0.0157475509f, -0.0137943663f, -0.0118106632f,  -0.00985747855f,
                           -0.00787377544f, 0.118106633f,   0.24408704f};
constexpr float of_u16[] = {0.250003815f,
                            0.125001907f,
                            0.0f,
                            0.0f,
                            1.52590219e-05f,
                            1.52590219e-05f,
                            1.52590219e-05f,
                            0.000991836423f,
                            0.0019531548f,
                            0.0029297322f,
                            0.00389105058f,
                            0.127916381f,
                            0.251941711f,
                            0.375967026f,
                            0.499992371f,
                            0.499992371f,
                            0.500007629f,
                            0.500007629f,
                            0.500007629f,
                            0.500007629f,
                            0.500022888f,
                            0.500022888f,
                            0.500022888f,
                            0.625009537f,
                            0.750011444f,
                            0.874998093f,
                            0.999984741f,
                            0.999984741f,
                            1.0f,
                            1.0f,
                            1.0f,
                            0.874998093f,
                            0.749996185f};
constexpr float of_s16[] = {0.250007629f,
                            0.125003815f,
                            0.0f,
                            0.0f,
                            3.05185094e-05f,
                            3.05185094e-05f,
                            3.05185094e-05f,
                            0.00198370311f,
                            0.00390636921f,
                            0.00585955381f,
                            0.00778221991f,
                            0.255836666f,
                            0.50389111f,
                            0.751945555f,
                            1.0f,
                            0.499984741f,
                            0.0f,
                            -0.500015259f,
                            -1.0f,
                            -1.0f,
                            -1.0f,
                            -1.0f,
                            -1.0f,
                            -0.750022888f,
                            -0.500015259f,
                            -0.250038147f,
                            -6.10370189e-05f,
                            -6.10370189e-05f,
                            -3.05185094e-05f,
                            -3.05185094e-05f,
                            -3.05185094e-05f,
                            0.124973297f,
                            0.249977112f};
constexpr float of_levels[] = {87.1171875f, 93.9960938f, 87.1171875f, 93.9960938f, 369.535156f, 375.3125f,   551.492188f,
                               556.84375f,  562.734375f, 567.894531f, 570.148438f, 575.28125f,  800.425781f, 804.800781f,
                               1038.26953f, 1041.70703f, 1038.26953f, 1041.70703f, 1042.09766f, 1045.52734f, 1526.08984f,
                               1528.69922f, 1720.55859f, 1722.72656f, 2013.98438f, 2015.60547f, 2901.64062f, 2902.30469f,
                               3002.03125f, 3002.58984f, 3002.03125f, 3002.58984f, 3002.03125f, 3002.58984f};
constexpr float of_cube[] = {534.0f, 311.0f, 301.0f, 524.0f, 123.0f, 124.0f, 514.0f, 113.0f, 114.0f, 504.0f, 221.0f,
                             231.0f, 534.0f, 311.0f, 301.0f, 524.0f, 133.0f, 421.0f, 514.0f, 113.0f, 411.0f, 504.0f,
                             221.0f, 231.0f, 533.0f, 313.0f, 303.0f, 523.0f, 313.0f, 423.0f, 513.0f, 233.0f, 413.0f,
                             503.0f, 223.0f, 233.0f, 532.0f, 313.0f, 303.0f, 522.0f, 314.0f, 423.0f, 512.0f, 2.0f,
                             413.0f, 502.0f, 223.0f, 233.0f, 531.0f, 314.0f, 304.0f, 521.0f, 22.0f,  21.0f,  511.0f,
                             12.0f,  11.0f,  501.0f, 224.0f, 234.0f, 423.0f, 23.0f,  323.0f, 423.0f};
constexpr float of_layers[] = {211.0f, 213.0f, 215.0f, 211.0f, 213.0f, 215.0f, 11.0f,  13.0f,  15.0f,  111.0f, 113.0f,
                               115.0f, 211.0f, 213.0f, 215.0f, 211.0f, 213.0f, 215.0f, 211.0f, 213.0f, 215.0f};

// Texels 1 + x + 10 y + 100 z of 5 x 3 x 3.
std::vector<float> pictures() {
    std::vector<float> texels;
    for (int z = 0; z < 3; ++z)
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 5; ++x) texels.push_back(static_cast<float>(1 + x + 10 * y + 100 * z));
    return texels;
}

float fetched(const Texture& t, const void* texels, const Coordinates& at) {
    const Texel texel = sample(t, static_cast<const std::byte*>(texels), at);
    REQUIRE(texel.is_float);
    return __builtin_bit_cast(float, texel.bits[0]);
}

Texture flat(Mode x, Mode y) {
    Texture t;
    t.width = 5;
    t.height = 3;
    t.linear = true;
    t.modes[0] = x;
    t.modes[1] = y;
    return t;
}

const float columns[] = {-1.2f, 0.3f, 0.5f, 2.75f, 4.5f, 4.9f, 5.6f}, lines[] = {-0.7f, 0.2f, 0.5f, 1.3f, 2.5f, 2.9f, 3.4f};

}  // namespace

TEST_CASE("filters in two dimensions give what an H200 gives") {
    const std::vector<float> texels = pictures();
    Texture border = flat(Mode::border, Mode::border), mirror = flat(Mode::mirror, Mode::border);
    mirror.normalized = true;
    for (size_t k = 0; k < 49; ++k) {
        const float x = columns[k % 7], y = lines[k / 7];
        INFO("(" << x << ", " << y << ")");
        CHECK_THAT(fetched(border, texels.data(), {.at = {static_cast<double>(x), static_cast<double>(y)}}),
                   Catch::WithinAbs(static_cast<double>(flat_border[k]), 1e-5));
        CHECK_THAT(fetched(mirror, texels.data(), {.at = {static_cast<double>(x / 5), static_cast<double>(y / 3)}}),
                   Catch::WithinAbs(static_cast<double>(flat_mirror[k]), 1e-5));
    }
}

TEST_CASE("filters in three dimensions give what an H200 gives, but for a 256th of a texel") {
    const std::vector<float> texels = pictures();
    Texture t = flat(Mode::border, Mode::border);
    t.shape = Shape::d3;
    t.depth = 3;
    t.modes[2] = Mode::border;
    size_t k = 0, same = 0;
    for (const float z : {-0.6f, 0.4f, 1.25f, 3.2f})
        for (const float y : {-0.3f, 1.1f, 3.1f})
            for (const float x : {-0.2f, 0.9f, 4.7f, 5.3f}) {
                const float got = fetched(t, texels.data(),
                                          {.at = {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}});
                INFO("(" << x << ", " << y << ", " << z << ")");
                CHECK(std::fabs(got - deep_border[k]) < 235 / 128.0f);
                same += std::fabs(got - deep_border[k]) < 1e-4f;
                ++k;
            }
    CHECK(same >= 38);  // of 48
}

TEST_CASE("filters of normalised integers give what an H200 gives") {
    const uint8_t bytes[] = {0, 1, 2, 127, 128, 200, 254, 255};
    const uint16_t words[] = {0, 1, 255, 32767, 32768, 32769, 65534, 65535};
    const auto check = [](Element element, const void* texels, const float* expected) {
        Texture t;
        t.shape = Shape::d1;
        t.width = 8;
        t.element = element;
        t.linear = t.normalized_float = true;
        t.modes[0] = Mode::border;
        t.border[0] = 0.5f;
        for (size_t k = 0; k < 33; ++k) {
            INFO("element " << static_cast<int>(element) << " at " << static_cast<double>(k) / 4);
            CHECK_THAT(fetched(t, texels, {.at = {static_cast<double>(k) / 4}}),
                       Catch::WithinAbs(static_cast<double>(expected[k]), 1e-8));
        }
    };
    check(Element::u8, bytes, of_u8);
    check(Element::s8, bytes, of_s8);
    check(Element::u16, words, of_u16);
    check(Element::s16, words, of_s16);
}

TEST_CASE("levels are blended as an H200 does it") {
    std::vector<float> texels;
    for (int level = 0; level < 4; ++level)
        for (int y = 0; y < 16 >> level; ++y)
            for (int x = 0; x < 16 >> level; ++x) texels.push_back(static_cast<float>(1000 * level + x + 20 * y));
    Texture t;
    t.width = t.height = 16;
    t.levels = 4;
    t.linear = t.normalized = t.mip_linear = true;
    t.most_level = 3;
    size_t k = 0;
    for (const float level :
         {-1.f, 0.f, 0.3f, 0.49f, 0.5f, 0.51f, 0.75f, 1.f, 1.003f, 1.004f, 1.5f, 1.7f, 2.f, 2.9f, 3.f, 4.f, 9.f})
        for (const float x : {0.1f, 0.53f}) {
            INFO("level " << level << " at " << x);
            const Coordinates at{.at = {static_cast<double>(x), static_cast<double>(0.3f)},
                                 .level = static_cast<double>(level),
                                 .levelled = true};
            CHECK_THAT(fetched(t, texels.data(), at), Catch::WithinAbs(static_cast<double>(of_levels[k++]), 0.1));
        }
}

TEST_CASE("edges of a cube and layers beyond the ends are an H200's") {
    std::vector<float> texels;
    for (int z = 0; z < 6; ++z)
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 4; ++x) texels.push_back(static_cast<float>(1 + x + 10 * y + 100 * z));
    Texture cube;
    cube.shape = Shape::cube;
    cube.width = cube.height = 4;
    size_t k = 0;
    for (const float x : {-1.f, -0.6f, 0.f, 0.3f, 1.f})
        for (const float y : {-1.f, -0.45f, 0.2f, 1.f})
            for (const float z : {-1.f, 0.1f, 0.95f}) {
                INFO("(" << x << ", " << y << ", " << z << ")");
                CHECK(fetched(cube, texels.data(),
                              {.at = {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}}) ==
                      of_cube[k++]);
            }
    const std::vector<float> layers = pictures();
    Texture t = flat(Mode::clamp, Mode::clamp);
    t.linear = false;
    t.shape = Shape::d2_layered;
    t.layers = 3;
    k = 0;
    for (const int64_t layer : {-5, -1, 0, 1, 2, 3, 9})
        for (const float x : {0.5f, 2.3f, 5.2f})
            CHECK(fetched(t, layers.data(), {.at = {static_cast<double>(x), static_cast<double>(1.2f)}, .layer = layer}) ==
                  of_layers[k++]);
}

}  // namespace simt_texture_silicon_test
