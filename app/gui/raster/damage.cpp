#include "app/gui/raster/damage.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace lockstep::gui {

namespace {

constexpr uint64_t odd = 0x9E3779B97F4A7C15;

uint64_t mixed(uint64_t state, const void* from, size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(from);
    for (; bytes >= 8; at += 8, bytes -= 8) {
        uint64_t word = 0;
        std::memcpy(&word, at, 8);
        state = (state ^ word) * odd;
        state ^= state >> 29;
    }
    if (bytes > 0) {
        uint64_t word = 0;
        std::memcpy(&word, at, bytes);
        state = (state ^ word) * odd;
        state ^= state >> 29;
    }
    return state;
}

uint64_t number_of(const ImDrawCmd& command) {
    const ImTextureID texture = command.GetTexID();
    uint64_t number = 0;
    std::memcpy(&number, &texture, std::min(sizeof number, sizeof texture));
    return number;
}

// A triangle, or the two of a rectangle: its corners in the list and the pixels that it may touch.
struct Shape {
    unsigned corners[4] = {};
    int count = 3, indices = 3;
    PixelArea area;
};

Shape shape_at(const ImDrawList& list, const ImDrawCmd& command, unsigned at) {
    const ImDrawIdx* const index = list.IdxBuffer.Data + command.IdxOffset + at;
    const ImDrawVert* const vertex = list.VtxBuffer.Data + command.VtxOffset;
    Shape shape;
    for (int i = 0; i < 3; ++i) shape.corners[i] = index[i];
    if (at + 6 <= command.ElemCount && index[3] == index[0] && index[4] == index[2]) {
        shape.corners[3] = index[5];
        shape.count = 4;
        shape.indices = 6;
    }
    float left = vertex[index[0]].pos.x, right = left, top = vertex[index[0]].pos.y, bottom = top;
    for (int i = 1; i < shape.count; ++i) {
        const ImVec2 corner = vertex[shape.corners[i]].pos;
        left = std::min(left, corner.x), right = std::max(right, corner.x);
        top = std::min(top, corner.y), bottom = std::max(bottom, corner.y);
    }
    const ImVec4& clip = command.ClipRect;
    const auto pixel = [](float edge) {  // of what is no number, far outside
        return edge > -1e6f ? static_cast<int>(std::min(edge, 1e6f)) : -1'000'000;
    };
    shape.area = {pixel(std::floor(std::max(left, clip.x))), pixel(std::floor(std::max(top, clip.y))),
                  pixel(std::ceil(std::min(right, clip.z))), pixel(std::ceil(std::min(bottom, clip.w)))};
    return shape;
}

bool touch(const PixelArea& a, const PixelArea& b) {
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

struct Squares {
    const std::vector<char>& differs;
    int across;
    bool any(const PixelArea& area) const {
        for (int y = area.top; y < area.bottom; ++y)
            for (int x = area.left; x < area.right; ++x)
                if (differs[static_cast<size_t>(y) * static_cast<size_t>(across) + static_cast<size_t>(x)]) return true;
        return false;
    }
};

// Squares that differ as boxes: an area falls apart where two rows or columns beside each other have none; rows first, then
// columns of each part, and so on a few times.
void cut(const PixelArea& area, int depth, const Squares& squares, std::vector<PixelArea>& boxes) {
    constexpr int gap = 2, most_cuts = 4;
    const bool rows = depth % 2 == 0;
    const int begin = rows ? area.top : area.left, end = rows ? area.bottom : area.right;
    const auto slice = [&](int from, int to) {
        return rows ? PixelArea{area.left, from, area.right, to} : PixelArea{from, area.top, to, area.bottom};
    };
    int first = -1, last = -1;  // of the part under way
    const auto close = [&] {
        if (first < 0) return;
        const PixelArea part = slice(first, last + 1);
        if (depth >= most_cuts)
            boxes.push_back(part);
        else
            cut(part, depth + 1, squares, boxes);
        first = -1;
    };
    for (int at = begin; at < end; ++at) {
        if (!squares.any(slice(at, at + 1))) continue;
        if (first >= 0 && at - last > gap) close();
        if (first < 0) first = at;
        last = at;
    }
    close();
}

}  // namespace

void Damage::forget() {
    before_.clear();
}

void Damage::changed(uint64_t texture) {
    ++versions_[texture];
}

std::vector<PixelArea> Damage::of(const ImDrawData& data, int width, int height) {
    const int across = (width + square - 1) / square, down = (height + square - 1) / square;
    if (width != width_ || height != height_) before_.clear();
    width_ = width, height_ = height;
    now_.assign(static_cast<size_t>(across) * static_cast<size_t>(down), odd);
    for (int l = 0; l < data.CmdListsCount; ++l) {
        const ImDrawList& list = *data.CmdLists[l];
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (command.UserCallback != nullptr) continue;
            const uint64_t texture = number_of(command);
            const auto version = versions_.find(texture);
            const uint64_t words[] = {texture, version == versions_.end() ? 0 : version->second};
            const uint64_t begin = mixed(mixed(odd, words, sizeof words), &command.ClipRect, sizeof command.ClipRect);
            for (unsigned at = 0; at + 3 <= command.ElemCount;) {
                const Shape shape = shape_at(list, command, at);
                at += static_cast<unsigned>(shape.indices);
                const int x0 = std::max(0, shape.area.left) / square, x1 = std::min(width, shape.area.right) - 1,
                          y1 = std::min(height, shape.area.bottom) - 1;
                if (x1 < 0 || y1 < 0 || x1 < shape.area.left || y1 < shape.area.top) continue;
                uint64_t number = begin;
                for (int i = 0; i < shape.count; ++i)
                    number = mixed(number, &list.VtxBuffer[static_cast<int>(command.VtxOffset + shape.corners[i])],
                                   sizeof(ImDrawVert));
                for (int y = std::max(0, shape.area.top) / square; y <= y1 / square; ++y)
                    for (int x = x0; x <= x1 / square; ++x) {
                        uint64_t& one = now_[static_cast<size_t>(y) * static_cast<size_t>(across) + static_cast<size_t>(x)];
                        one = (one ^ number) * odd;
                        one ^= one >> 31;
                    }
            }
        }
    }
    std::vector<PixelArea> boxes;
    if (before_.size() != now_.size()) {
        boxes.push_back({0, 0, width, height});
    } else {
        std::vector<char> differs(now_.size());
        for (size_t i = 0; i < now_.size(); ++i) differs[i] = now_[i] != before_[i];
        cut({0, 0, across, down}, 0, Squares{differs, across}, boxes);
        int64_t pixels = 0;
        for (PixelArea& box : boxes) {
            box = {box.left * square, box.top * square, std::min(width, box.right * square),
                   std::min(height, box.bottom * square)};
            pixels += int64_t{box.right - box.left} * (box.bottom - box.top);
        }
        if (pixels * 10 > int64_t{width} * height * 7) boxes = {{0, 0, width, height}};
    }
    std::swap(before_, now_);
    return boxes;
}

void take_part(const ImDrawList& list, const std::vector<PixelArea>& boxes, PartOfList& part) {
    for (const PixelArea& box : boxes)
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (command.UserCallback != nullptr) continue;
            ImDrawCmd cut = command;
            cut.ClipRect = {std::max(command.ClipRect.x, static_cast<float>(box.left)),
                            std::max(command.ClipRect.y, static_cast<float>(box.top)),
                            std::min(command.ClipRect.z, static_cast<float>(box.right)),
                            std::min(command.ClipRect.w, static_cast<float>(box.bottom))};
            if (cut.ClipRect.x >= cut.ClipRect.z || cut.ClipRect.y >= cut.ClipRect.w) continue;
            cut.IdxOffset = static_cast<unsigned>(part.indices.Size);
            for (unsigned at = 0; at + 3 <= command.ElemCount;) {
                const Shape shape = shape_at(list, command, at);
                if (touch(shape.area, box))
                    for (int i = 0; i < shape.indices; ++i)
                        part.indices.push_back(list.IdxBuffer[static_cast<int>(command.IdxOffset + at) + i]);
                at += static_cast<unsigned>(shape.indices);
            }
            cut.ElemCount = static_cast<unsigned>(part.indices.Size) - cut.IdxOffset;
            if (cut.ElemCount > 0) part.commands.push_back(cut);
        }
}

}  // namespace lockstep::gui
