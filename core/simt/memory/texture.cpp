// The texture and surface instructions, lane by lane: handle -> Texture -> texels -> registers. What a fetch computes is in
// texture_sample.cpp; where operands are is in ptx/texture_detail.h.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "core/base/dtype.h"
#include "core/ptx/decode/views.h"
#include "core/ptx/opcodes/texture_detail.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/execute/special.h"
#include "core/simt/memory/texture_sample.h"

namespace lockstep::simt {

namespace {

using ptx::Geometry;
using ptx::Level;
using ptx::TextureDetail;
using ptx::TextureOperation;

constexpr std::string_view shape_names[] = {
    "1D", "2D", "3D", "layered 1D", "layered 2D", "cube", "layered cube", "multisample 2D", "layered multisample 2D"};
constexpr Texture::Shape shapes[] = {
    Texture::Shape::d1,           Texture::Shape::d2,         Texture::Shape::d3,
    Texture::Shape::d1_layered,   Texture::Shape::d2_layered, Texture::Shape::cube,
    Texture::Shape::cube_layered, Texture::Shape::d2_ms,      Texture::Shape::d2_ms_layered};  // by Geometry

struct Found {
    uint64_t handle = 0;
    const Texture* texture = nullptr;
    std::byte* data = nullptr;  // null: its memory was freed
};

// What a lane's instruction names. `p.address` holds a handle, or the address of a .texref that holds one; a .texref that
// is named stands in Program::variables.
class Finder {
  public:
    explicit Finder(Special& s) : s_(s), memory_(*s.warp.block->grid->memory) {}

    // Null and `fault` where there is nothing.
    const Found* find(uint32_t lane, Fault*& fault) {
        const auto& i = s_.instruction();
        uint64_t value = 0;
        if (i.address != ptx::no_operand)
            std::memcpy(&value, operand(s_.warp, i.address) + lane * 8, 8);
        else if (static_cast<size_t>(i.variable) < s_.warp.block->grid->variables.size())
            value = s_.warp.block->grid->variables[static_cast<size_t>(i.variable)];
        return look(value, lane, fault);
    }
    const Found* look(uint64_t value, uint32_t lane, Fault*& fault) {
        for (Found& found : found_)
            if (found.texture && found.handle == value) return &found;
        Found& found = found_[next_++ % 2];
        found = {value, memory_.find_texture(value), nullptr};
        uint64_t bound = 0;
        const std::byte* named = found.texture ? nullptr : memory_.read(value, 8);
        if (named) {
            std::memcpy(&bound, named, 8);
            found.texture = memory_.find_texture(bound);
        }
        if (!found.texture) {
            fault = make_fault(s_.warp, s_.pc, lane, "memcheck", nothing_at(value, named, bound), value);
            return nullptr;
        }
        const bool writes = s_.instruction().kind == ptx::Kind::surface;
        const Texture& t = *found.texture;
        if (t.address)
            found.data =
                writes ? memory_.write(t.address, t.bytes()) : const_cast<std::byte*>(memory_.read(t.address, t.bytes()));
        return &found;
    }

  private:
    std::string nothing_at(uint64_t value, const std::byte* named, uint64_t bound) const {
        char text[24];
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
        const Allocation* a = named ? memory_.find(value) : nullptr;
        if (a && !a->module.empty() && bound == 0) return "the texture reference '" + a->name + "' has no texture";
        return std::string(text) + " is no texture or surface object" + (value == 0 ? ", it is null" : "");
    }

    Special& s_;
    Memory& memory_;
    Found found_[2];
    uint32_t next_ = 0;
};

Fault* wrong_shape(Special& s, uint32_t lane, const Texture& t, Geometry geometry) {
    return make_fault(s.warp, s.pc, lane, "memcheck",
                      "'" + t.name + "' is a " + std::string(shape_names[static_cast<size_t>(t.shape)]) +
                          " texture, the instruction reads a " + std::string(shape_names[static_cast<size_t>(geometry)]) +
                          " one");
}

Fault* freed(Special& s, uint32_t lane, const Texture& t) {
    return make_fault(s.warp, s.pc, lane, "memcheck", "the memory of the texture '" + t.name + "' was freed", t.address);
}

// A 1D fetch works on linear memory too, which is a 2D picture of one row for nobody but us.
bool fits(Geometry geometry, const Texture& t) {
    return shapes[static_cast<size_t>(geometry)] == t.shape;
}

uint32_t query(const Texture& t, uint8_t which) {
    const auto mode = [](Texture::Mode m) -> uint32_t {  // wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border
        constexpr uint32_t codes[] = {0, 1, 3, 4};
        return codes[static_cast<size_t>(m)];
    };
    constexpr uint32_t formats[] = {0x10DA, 0x10D7, 0x10DB, 0x10D8, 0x10DC, 0x10D9, 0x10DD, 0x10DE};  // by Element
    constexpr uint32_t norms[] = {0x10D2, 0x10D0, 0x10D3, 0x10D1};
    switch (which) {  // index into ptx::texture_queries
        case 0:
            return t.width;
        case 1:
            return t.height;
        case 2:
            return t.depth;
        case 3:  // as OpenCL numbers them
            return t.normalized_float && t.element <= Texture::Element::s16 ? norms[static_cast<size_t>(t.element)]
                                                                            : formats[static_cast<size_t>(t.element)];
        case 4:
            return t.channels == 1 ? 0x10B0 : t.channels == 2 ? 0x10B2 : 0x10B5;
        case 5:
            return t.normalized;
        case 6:
            return t.layers;
        case 7:
            return t.levels;
        case 8:
            return t.samples;
        case 10:
            return t.linear;
        case 11:
        case 12:
        case 13:
            return mode(t.modes[which - 11]);
        default:
            return 0;
    }
}

// Results by lane, written at the end: they may land in registers that later lanes still read.
struct Results {
    alignas(64) uint64_t values[4][warp_size] = {};
};

void write(Special& s, const Results& results, uint32_t count, uint32_t mask) {
    for (uint32_t k = 0; k < count; ++k)
        if (s.instruction().destination[k] != ptx::no_operand)
            write_lanes(operand(s.warp, s.instruction().destination[k]), s.p.register_bytes, results.values[k], mask);
}

const int32_t* listed_sources(const Special& s) {
    return ptx::listed_sources(s.warp.block->grid->program->lists, s.instruction()).data();
}
uint32_t lane_word(const Special& s, int32_t from, uint32_t lane) {
    uint32_t word;
    std::memcpy(&word, operand(s.warp, from) + lane * 4, 4);
    return word;
}

// A fetch's coordinates: the layer first, then x, y, z; the offset behind whatever stands between.
Coordinates coordinates_of(const Special& s, const TextureDetail& detail, const Texture& texture, uint32_t lane) {
    const auto& i = s.instruction();
    const int32_t* from = listed_sources(s);
    const int32_t* end = from + i.list_sources;
    const bool layered =
        detail.geometry == Geometry::a1d || detail.geometry == Geometry::a2d || detail.geometry == Geometry::acube;
    Coordinates c;
    c.integers = detail.integer;
    if (layered || detail.geometry == Geometry::a2dms) c.layer = static_cast<int32_t>(lane_word(s, *from++, lane));
    const bool samples = detail.geometry == Geometry::d2ms || detail.geometry == Geometry::a2dms;
    if (samples) c.sample = static_cast<int32_t>(lane_word(s, *from++, lane));
    const bool flat = detail.geometry == Geometry::d1 || detail.geometry == Geometry::a1d;
    const bool plane = detail.geometry == Geometry::d2 || detail.geometry == Geometry::a2d || samples;
    const int axes = flat ? 1 : plane ? 2 : 3;
    for (int k = 0; k < axes; ++k) {
        const uint32_t word = lane_word(s, *from++, lane);
        float value;
        std::memcpy(&value, &word, 4);
        c.at[k] = detail.integer ? static_cast<double>(static_cast<int32_t>(word)) : static_cast<double>(value);
    }
    const auto number = [&](int32_t at) {
        const uint32_t word = lane_word(s, at, lane);
        float value;
        std::memcpy(&value, &word, 4);
        return value;
    };
    if (detail.level == Level::level) {
        c.levelled = true;
        c.level = detail.integer ? static_cast<double>(static_cast<int32_t>(lane_word(s, *from, lane)))
                                 : static_cast<double>(number(*from));
    } else if (detail.level == Level::grad) {
        double dx[3], dy[3];
        for (int k = 0; k < axes; ++k) {
            dx[k] = static_cast<double>(number(from[k]));
            dy[k] = static_cast<double>(number(from[axes + k]));
        }
        c.levelled = true;
        c.level = level_of_gradients(texture, c, dx, dy);
        if (detail.integer) c.level = std::isfinite(c.level) ? std::floor(c.level + 0.5) : 0;
    }
    if (detail.compares) {
        c.compares = true;
        c.depth = number(*--end);
    }
    if (detail.offset)
        for (int k = 0; k < axes; ++k) c.offset[k] = static_cast<int32_t>(lane_word(s, end[k - axes], lane));
    return c;
}

void put_texel(ptx::Type type, const Texel& texel, Results& results, uint32_t lane) {
    const auto half = [&](int k) -> uint32_t {
        float value;
        std::memcpy(&value, &texel.bits[k], 4);
        return texel.is_float ? f32_to_f16(value) : texel.bits[k] & 0xffffu;
    };
    for (int k = 0; k < 4; ++k) {
        if (type == ptx::Type::f16x2 && k < 2)
            results.values[k][lane] = half(2 * k) | half(2 * k + 1) << 16;
        else
            results.values[k][lane] = type == ptx::Type::f16 ? half(k) : texel.bits[k];
    }
}

// Tells the timing model and the checkers which bytes the lanes in `lanes` touched: access.addresses, `bytes` each.
void note(Special& s, uint32_t lanes, uint32_t bytes, AccessKind kind) {
    if (!lanes) return;
    s.is_memory = true;
    s.is_store = kind != AccessKind::read;
    s.is_atomic = kind == AccessKind::atomic;
    s.lanes = lanes;
    s.bytes = bytes;
    s.access.space = ptx::Space::global;
    note_access(s.warp, s.pc, ptx::Space::global, s.access.addresses, lanes, bytes, kind);
}

Fault* answer(Special& s) {
    const TextureDetail detail = ptx::as_texture(s.instruction()).detail;
    Finder finder(s);
    Results results;
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        Fault* fault = nullptr;
        const Found* found = finder.find(lane, fault);
        if (!found) return fault;
        const Texture& t = *found->texture;
        if (s.instruction().list_sources == 0) {
            results.values[0][lane] = query(t, detail.which);
            continue;
        }
        const uint32_t level = lane_word(s, *listed_sources(s), lane);
        results.values[0][lane] = level < t.levels ? query(t.level(level), detail.which) : 0;
    }
    write(s, results, 1, s.mask);
    return nullptr;
}

// istypep: of an address of a .texref and its like, or of a handle.
Fault* tell_type(Special& s) {
    const auto& i = s.instruction();
    const auto wanted = static_cast<ptx::Opaque>(ptx::as_texture(i).detail.which);
    const Grid& grid = *s.warp.block->grid;
    uint32_t is = 0;
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        uint64_t value;
        std::memcpy(&value, operand(s.warp, i.source[0]) + lane * 8, 8);
        ptx::Opaque found = ptx::Opaque::none;
        if (const Texture* const t = grid.memory->find_texture(value))
            found = t->address == 0 ? ptx::Opaque::samplerref : t->surface ? ptx::Opaque::surfref : ptx::Opaque::texref;
        for (size_t v = 0; v < grid.variables.size(); ++v)
            if (grid.variables[v] == value) found = grid.program->variables[v].opaque;
        is |= uint32_t{found == wanted} << lane;
    }
    uint32_t bits;
    std::memcpy(&bits, operand(s.warp, i.destination[0]), 4);
    bits = (bits & ~s.mask) | is;
    std::memcpy(operand(s.warp, i.destination[0]), &bits, 4);
    return nullptr;
}

}  // namespace

Fault* run_texture(Special& s) {
    const auto& i = s.instruction();
    const auto [operation, detail] = ptx::as_texture(i);
    if (operation == TextureOperation::query) return answer(s);
    if (operation == TextureOperation::is_type) return tell_type(s);
    Finder finder(s);
    Results results;
    uint32_t inside = 0, bytes = 0;
    thread_local std::vector<uint64_t> sectors;  // WarpEvent::sectors: of all texels that the filters blend, ascending
    sectors.clear();
    for (uint32_t lane = 0; lane < warp_size; ++lane) s.access.addresses[lane] = 0;
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        Fault* fault = nullptr;
        const Found* found = finder.find(lane, fault);
        if (!found) return fault;
        const Found texel_source = *found;
        const Texture* texture = texel_source.texture;
        if (!fits(detail.geometry, *texture)) return wrong_shape(s, lane, *texture, detail.geometry);
        if (!texel_source.data) return freed(s, lane, *texture);
        std::optional<Texture> with_sampler;
        if (i.source[4] != ptx::no_operand) {
            uint64_t handle;
            std::memcpy(&handle, operand(s.warp, i.source[4]) + lane * 8, 8);
            const Found* sampler = finder.look(handle, lane, fault);
            if (!sampler) return fault;
            with_sampler = *texture;
            with_sampler->linear = sampler->texture->linear;
            with_sampler->normalized = sampler->texture->normalized;
            std::copy(std::begin(sampler->texture->modes), std::end(sampler->texture->modes), with_sampler->modes);
            std::copy(std::begin(sampler->texture->border), std::end(sampler->texture->border), with_sampler->border);
            with_sampler->compare = sampler->texture->compare;
            with_sampler->mip_linear = sampler->texture->mip_linear;
            with_sampler->level_bias = sampler->texture->level_bias;
            with_sampler->least_level = sampler->texture->least_level;
            with_sampler->most_level = sampler->texture->most_level;
            texture = &*with_sampler;
        }
        if (detail.compares && !reads_floats(*texture))
            return make_fault(s.warp, s.pc, lane, "memcheck",
                              "'" + texture->name + "' is compared with a depth: its texels have to be read as floats");
        const Coordinates c = coordinates_of(s, detail, *texture, lane);
        Touched touched;
        const Texel texel = operation == TextureOperation::gather
                                ? gather(*texture, texel_source.data, c, detail.which, &touched)
                                : sample(*texture, texel_source.data, c, &touched);
        put_texel(i.type, texel, results, lane);
        if (touched.count == 0) continue;
        s.access.addresses[lane] = texture->address + static_cast<uint64_t>(touched.offset[0]);
        inside |= 1u << lane;
        bytes = std::max(bytes, texture->texel_bytes());
        for (uint32_t k = 0; k < touched.count; ++k)
            sectors.push_back((texture->address + texture->placed(static_cast<uint64_t>(touched.offset[k]))) / 32 * 32);
    }
    std::sort(sectors.begin(), sectors.end());
    sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
    if (!sectors.empty()) s.sectors = &sectors;
    note(s, inside, bytes, AccessKind::read);
    write(s, results, i.vector, s.mask);
    if (i.list_destinations) {  // every texel is there
        const int32_t predicate = ptx::listed_results(s.warp.block->grid->program->lists, i)[0];
        uint32_t bits;
        std::memcpy(&bits, operand(s.warp, predicate), 4);
        bits |= s.mask;
        std::memcpy(operand(s.warp, predicate), &bits, 4);
    }
    return nullptr;
}

namespace {

// Where a surface access of `bytes` bytes at the lane's coordinates lies; -1: outside, and the instruction says .zero.
struct Spot {
    int64_t offset = -1;
    Fault* fault = nullptr;
};

Spot spot_of(Special& s, const TextureDetail& detail, const Texture& t, uint32_t lane, uint32_t bytes) {
    const int32_t* from = listed_sources(s);
    const bool layered = detail.geometry == Geometry::a1d || detail.geometry == Geometry::a2d;
    const bool flat = detail.geometry == Geometry::d1 || detail.geometry == Geometry::a1d;
    int64_t at[3] = {0, 0, 0}, layer = 0;
    if (layered) layer = static_cast<int32_t>(lane_word(s, *from++, lane));
    const int axes = flat ? 1 : detail.geometry == Geometry::d3 ? 3 : 2;
    for (int k = 0; k < axes; ++k) at[k] = static_cast<int32_t>(lane_word(s, *from++, lane));
    if (detail.formatted) at[0] *= t.texel_bytes();
    const int64_t slice = layered ? layer : at[2], slices = static_cast<int64_t>(t.slices());
    const auto row = static_cast<int64_t>(t.row_bytes()), height = int64_t{t.height};
    const bool out =
        at[0] < 0 || at[0] + int64_t{bytes} > row || at[1] < 0 || at[1] >= height || slice < 0 || slice >= slices;
    const auto where = [&] {
        std::string text = " at x = " + std::to_string(at[0]) + " bytes";
        if (axes > 1) text += ", y = " + std::to_string(at[1]);
        if (axes > 2) text += ", z = " + std::to_string(at[2]);
        if (layered) text += ", layer " + std::to_string(layer);
        return text;
    };
    const std::string what = ptx::as_texture(s.instruction()).operation == TextureOperation::load ? "read" : "write";
    if (out && detail.out_of_range == ptx::OutOfRange::zero) return {};
    if (out && (detail.out_of_range == ptx::OutOfRange::trap || row < int64_t{bytes}))
        return {-1,
                make_fault(s.warp, s.pc, lane, "memcheck",
                           "invalid surface " + what + " of " + std::to_string(bytes) + " bytes" + where() + ", outside '" +
                               t.name + "' (" + std::to_string(t.width) + " x " + std::to_string(t.height) + " x " +
                               std::to_string(slices) + ", " + std::to_string(row) + " bytes a row)")};
    const auto clamped = [](int64_t x, int64_t most) { return std::min(std::max<int64_t>(x, 0), most); };
    const int64_t x = out ? clamped(at[0], row - int64_t{bytes}) : at[0];
    if (x % int64_t{bytes})
        return {-1, make_fault(s.warp, s.pc, lane, "memcheck",
                               "misaligned surface " + what + " of " + std::to_string(bytes) + " bytes" + where() +
                                   ", x is not a multiple of " + std::to_string(bytes))};
    const auto rows = clamped(slice, slices - 1) * height + clamped(at[1], height - 1);
    return {rows * static_cast<int64_t>(t.row_step()) + x, nullptr};
}

template <class Unsigned, class Signed>
void reduce(std::byte* at, const std::byte* with, ptx::AtomicOperation operation, bool is_signed) {
    using ptx::AtomicOperation;
    Unsigned old, b;
    std::memcpy(&old, at, sizeof old);
    std::memcpy(&b, with, sizeof b);
    const bool less = is_signed ? static_cast<Signed>(b) < static_cast<Signed>(old) : b < old;
    const Unsigned result = operation == AtomicOperation::add    ? old + b
                            : operation == AtomicOperation::min  ? (less ? b : old)
                            : operation == AtomicOperation::max  ? (less ? old : b)
                            : operation == AtomicOperation::and_ ? old & b
                                                                 : old | b;
    std::memcpy(at, &result, sizeof result);
}

void reduce(std::byte* at, const std::byte* with, const Texture& t, const TextureDetail& detail, ptx::Type type) {
    const auto operation = static_cast<ptx::AtomicOperation>(detail.which);
    const bool is_signed =
        detail.formatted ? t.element == Texture::Element::s32 : type == ptx::Type::s32 || type == ptx::Type::s64;
    if (ptx::size_of(type) == 8)
        reduce<uint64_t, int64_t>(at, with, operation, is_signed);
    else
        reduce<uint32_t, int32_t>(at, with, operation, is_signed);
}

}  // namespace

Fault* run_surface(Special& s) {
    const auto& i = s.instruction();
    const auto [operation, detail] = ptx::as_texture(i);
    if (operation == TextureOperation::query) return answer(s);
    Finder finder(s);
    Results results;
    const auto element = static_cast<uint32_t>(ptx::size_of(i.type));
    uint32_t inside = 0, bytes = element * i.vector;
    for (uint32_t lane = 0; lane < warp_size; ++lane) s.access.addresses[lane] = 0;
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        Fault* fault = nullptr;
        const Found* found = finder.find(lane, fault);
        if (!found) return fault;
        const Texture& t = *found->texture;
        if (!fits(detail.geometry, t)) return wrong_shape(s, lane, t, detail.geometry);
        if (!found->data) return freed(s, lane, t);
        if (detail.formatted) {
            if (operation == TextureOperation::store && i.vector < t.channels)
                return make_fault(s.warp, s.pc, lane, "memcheck",
                                  "'" + t.name + "' has " + std::to_string(t.channels) + " channels, " +
                                      std::to_string(i.vector) + " are stored");
            bytes = operation == TextureOperation::reduce ? 4 : t.texel_bytes();
        }
        const Spot spot = spot_of(s, detail, t, lane, bytes);
        if (spot.fault) return spot.fault;
        if (spot.offset < 0) continue;
        std::byte* const at = found->data + spot.offset;
        s.access.addresses[lane] = t.address + static_cast<uint64_t>(spot.offset);
        inside |= 1u << lane;
        if (operation == TextureOperation::load) {
            for (uint32_t k = 0; k < i.vector; ++k) std::memcpy(&results.values[k][lane], at + k * element, element);
        } else if (operation == TextureOperation::reduce) {
            reduce(at, operand(s.warp, i.source[0]) + lane * s.p.register_bytes, t, detail, i.type);
        } else if (detail.formatted) {
            uint32_t bits[4] = {};
            for (uint32_t k = 0; k < i.vector; ++k) bits[k] = lane_word(s, i.source[k], lane);
            write_texel(t, at, bits, i.type == ptx::Type::f32, i.type == ptx::Type::s32);
        } else {
            for (uint32_t k = 0; k < i.vector; ++k)
                std::memcpy(at + k * element, operand(s.warp, i.source[k]) + lane * s.p.register_bytes, element);
        }
    }
    note(s, inside, bytes,
         operation == TextureOperation::load     ? AccessKind::read
         : operation == TextureOperation::reduce ? AccessKind::atomic
                                                 : AccessKind::write);
    if (operation == TextureOperation::load) write(s, results, i.vector, s.mask);
    return nullptr;
}

}  // namespace lockstep::simt
