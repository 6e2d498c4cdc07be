// From one layout into another: which steps, what they send, and running them. A step changes one axis's placement. Every
// group along that axis shares a region of the tensor, of which its members hold pieces: the pieces are packed, the
// collective moves them, and they are put where the new layout has them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "core/base/diagnostic.h"
#include "core/parallel/layout/layout.h"

namespace lockstep::parallel {
namespace {

using PlacementKind = Placement::Kind;

// Later axes cut what earlier ones left: only the last axis that cuts a dimension can leave it or have joined it.
bool innermost_cut(const Mesh& mesh, const Layout& layout, size_t axis) {
    for (size_t later = axis + 1; later < mesh.axes.size(); ++later)
        if (mesh.axes[later].size > 1 && layout.along[axis].kind == PlacementKind::shard &&
            layout.along[later] == layout.along[axis])
            return false;
    return true;
}

RedistributionStep step_along(const Layout& before, size_t axis, Placement to) {
    RedistributionStep step{static_cast<int>(axis), "local", "0", before, before};
    step.after.along[axis] = to;
    const PlacementKind from = before.along[axis].kind;
    if (from == PlacementKind::shard && to.kind == PlacementKind::replicate)
        step.collective = "all-gather", step.formula = "(n-1)/n S gathered";
    if (from == PlacementKind::shard && to.kind == PlacementKind::shard)
        step.collective = "all-to-all", step.formula = "(n-1)/n S held";
    if (from == PlacementKind::partial && to.kind == PlacementKind::replicate)
        step.collective = "all-reduce", step.formula = "2(n-1)/n S";
    if (from == PlacementKind::partial && to.kind == PlacementKind::shard)
        step.collective = "reduce-scatter", step.formula = "(n-1)/n S";
    return step;
}

int64_t elements_without(const TensorRegion& region, int dimension) {
    int64_t elements = 1;
    for (size_t i = 0; i < region.size(); ++i)
        if (static_cast<int>(i) != dimension) elements *= region[i].count;
    return elements;
}

int64_t elements_sent(const Redistribution& plan, const RedistributionStep& step, int rank) {
    if (step.collective == "local") return 0;
    const auto axis = static_cast<size_t>(step.axis);
    const int n = plan.mesh.axes[axis].size, me = plan.mesh.coordinates(rank)[axis], next = (me + 1) % n;
    const Placement from = step.before.along[axis], to = step.after.along[axis];
    const TensorRegion before = region_of(plan.mesh, plan.shape, step.before, rank);
    // Of a dimension with `extent` in the group, what everyone but member `who` has.
    const auto but = [&](const TensorRegion& region, int dimension, int64_t extent, int who) {
        return elements_without(region, dimension) * (extent - comm::piece_of(extent, n, who).count);
    };
    const auto extent_in = [](const TensorRegion& region, int d) { return region[static_cast<size_t>(d)].count; };
    if (step.collective == "all-gather") {
        const TensorRegion after = region_of(plan.mesh, plan.shape, step.after, rank);
        return but(after, from.dimension, extent_in(after, from.dimension), next);
    }
    if (step.collective == "all-reduce") {
        const int64_t all = elements_in(before);
        return 2 * all - comm::piece_of(all, n, me).count - comm::piece_of(all, n, next).count;
    }
    return but(before, to.dimension, extent_in(before, to.dimension), me);  // reduce-scatter, all-to-all
}

}  // namespace

int64_t Redistribution::bytes() const {
    int64_t all = 0;
    for (const RedistributionStep& step : steps) all += step.bytes;
    return all;
}

int64_t bytes_sent(const Redistribution& plan, const RedistributionStep& step, int rank) {
    return elements_sent(plan, step, rank) * static_cast<int64_t>(size_of(plan.type));
}

Redistribution plan_redistribution(const Mesh& mesh, const Extents& shape, DType type, const Layout& from,
                                   const Layout& to) {
    Redistribution plan{mesh, shape, type, from, to, {}};
    int64_t room = int64_t{1} << 48;
    for (const int64_t extent : shape) {
        if (extent < 0 || extent > room)
            throw Failure(fmt::format("a tensor of {} is too large to lay out: at most 2^48 elements, each extent from 0",
                                      fmt::join(shape, ",")));
        if (extent > 0) room /= extent;
    }
    if (from.dimensions != static_cast<int>(shape.size()) || to.dimensions != from.dimensions)
        throw Failure(fmt::format("layouts of {} and {} dimensions do not fit a tensor of {}", from.dimensions,
                                  to.dimensions, shape.size()));
    // Axes of one rank cost nothing and stand in nobody's way: they are as they will be from the start.
    Layout start = from;
    std::vector<size_t> movable;
    for (size_t axis = mesh.axes.size(); axis-- > 0;)
        if (mesh.axes[axis].size == 1)
            start.along[axis] = to.along[axis];
        else if (from.along[axis] != to.along[axis] || from.along[axis].kind == PlacementKind::shard)
            movable.push_back(axis);
    if (movable.size() > 8)
        throw Failure("a redistribution over more than 8 axes is not planned: a mesh with fewer, longer axes would be");
    // The cheapest way through layouts in which every axis is as before, as after, or whole.
    struct Reached {
        int64_t sent = 0;
        int steps = 0;
        int order = 0;
        Layout before;
        size_t axis = 0;
        bool done = false;
    };
    std::map<Layout, Reached> reached = {{start, {}}};
    std::set<std::tuple<int64_t, int, int, Layout>> next = {{0, 0, 0, start}};
    for (int order = 0; !next.empty();) {
        const auto [sent, steps, number, layout] = *next.begin();
        next.erase(next.begin());
        reached[layout].done = true;
        if (layout == to) break;
        for (const size_t axis : movable)
            for (const Placement want : {to.along[axis], from.along[axis], replicate()}) {
                if (want == layout.along[axis]) continue;
                const RedistributionStep step = step_along(layout, axis, want);
                if (!innermost_cut(mesh, layout, axis) || !innermost_cut(mesh, step.after, axis)) continue;
                const Reached found{sent + elements_sent(plan, step, 0), steps + 1, ++order, layout, axis};
                const auto [at, is_new] = reached.try_emplace(step.after, found);
                Reached& known = at->second;
                if (!is_new && (known.done || std::tie(known.sent, known.steps) <= std::tie(found.sent, found.steps)))
                    continue;
                if (!is_new) next.erase({known.sent, known.steps, known.order, step.after});
                known = found;
                next.insert({found.sent, found.steps, found.order, step.after});
            }
    }
    for (Layout at = to; at != start; at = plan.steps.back().before) {
        const Reached& way = reached.at(at);
        plan.steps.push_back(step_along(way.before, way.axis, at.along[way.axis]));
    }
    std::reverse(plan.steps.begin(), plan.steps.end());
    for (RedistributionStep& step : plan.steps)
        for (int rank = 0; rank < mesh.ranks(); ++rank) {
            const int64_t sent = bytes_sent(plan, step, rank);
            step.bytes = std::max(step.bytes, sent), step.total += sent;
        }
    return plan;
}

namespace {

// A region of a tensor in memory, row by row, seen along one dimension: `outer` times `extent` runs of `run` elements.
struct RegionSlab {
    int64_t outer = 1, extent = 1, run = 1;
    RegionSlab(const TensorRegion& region, int dimension) {
        for (size_t i = 0; i < region.size(); ++i) {
            int64_t& part = static_cast<int>(i) < dimension ? outer : static_cast<int>(i) == dimension ? extent : run;
            part *= region[i].count;
        }
    }
};

// One step on one rank. Everything is counted in elements; without values, sizes alone travel.
class RedistributionRun {
  public:
    RedistributionRun(comm::Communicator& world, const Redistribution& plan, const RedistributionStep& step, bool real)
        : element_(static_cast<int64_t>(size_of(plan.type))),
          type_(plan.type),
          real_(real),
          step_(step),
          from_(step.before.along[static_cast<size_t>(step.axis)]),
          to_(step.after.along[static_cast<size_t>(step.axis)]),
          before_(region_of(plan.mesh, plan.shape, step.before, world.rank())),
          after_(region_of(plan.mesh, plan.shape, step.after, world.rank())) {
        const std::string& name = plan.mesh.axes[static_cast<size_t>(step.axis)].name;
        n_ = plan.mesh.axes[static_cast<size_t>(step.axis)].size;
        me_ = plan.mesh.coordinate(world.rank(), name);
        if (step.collective != "local") group_ = world.group(plan.mesh.group(world.rank(), name));
    }

    std::vector<std::byte> run(std::vector<std::byte> local) {
        local_ = std::move(local);
        made_ = memory(elements_in(after_));
        if (step_.collective == "local")
            keep();
        else if (step_.collective == "all-gather")
            gather();
        else if (step_.collective == "all-reduce")
            group_->all_reduce(buffer(local_, 0, elements_in(before_))), made_ = std::move(local_);
        else if (step_.collective == "reduce-scatter")
            scatter();
        else
            exchange();
        return std::move(made_);
    }

  private:
    std::vector<std::byte> memory(int64_t elements) const {
        return std::vector<std::byte>(real_ ? static_cast<size_t>(elements * element_) : 0);
    }
    comm::Buffer buffer(std::vector<std::byte>& bytes, int64_t first, int64_t count) const {
        return comm::Buffer{real_ ? bytes.data() : nullptr, first + count, type_}.part(first, count);
    }
    comm::Piece piece(const RegionSlab& slab, int member) const { return comm::piece_of(slab.extent, n_, member); }
    // Where member's piece of the slab begins among all pieces, packed one after the other.
    int64_t packed_at(const RegionSlab& slab, int member) const { return piece(slab, member).begin * slab.outer * slab.run; }
    int64_t packed_count(const RegionSlab& slab, int member) const {
        return piece(slab, member).count * slab.outer * slab.run;
    }
    void pack(const std::vector<std::byte>& whole, const RegionSlab& slab, int member, std::byte* to) const {
        const comm::Piece p = piece(slab, member);
        const auto bytes = static_cast<size_t>(p.count * slab.run * element_);
        for (int64_t o = 0; real_ && bytes > 0 && o < slab.outer; ++o, to += bytes)
            std::memcpy(to, whole.data() + (o * slab.extent + p.begin) * slab.run * element_, bytes);
    }
    void unpack(const std::byte* from, const RegionSlab& slab, int member, std::vector<std::byte>& whole) const {
        const comm::Piece p = piece(slab, member);
        const auto bytes = static_cast<size_t>(p.count * slab.run * element_);
        for (int64_t o = 0; real_ && bytes > 0 && o < slab.outer; ++o, from += bytes)
            std::memcpy(whole.data() + (o * slab.extent + p.begin) * slab.run * element_, from, bytes);
    }
    std::byte* at(std::vector<std::byte>& bytes, int64_t element) const {
        return bytes.data() + (real_ ? element * element_ : 0);
    }
    void send(int to, const comm::Buffer& what) const {
        if (what.count > 0) group_->send(to, what, step_.collective);
    }
    void receive(int from, const comm::Buffer& what) const {
        if (what.count > 0) group_->receive(from, what, step_.collective);
    }

    void keep() {
        if (to_.kind == PlacementKind::shard && from_.kind == PlacementKind::replicate)
            pack(local_, RegionSlab(before_, to_.dimension), me_, made_.data());
        else if (from_.kind == PlacementKind::shard)  // a summand: zeros but for one's own piece
            unpack(local_.data(), RegionSlab(after_, from_.dimension), me_, made_);
        else if (me_ == 0)  // a summand: the first holds all, the others zeros
            made_ = std::move(local_);
    }

    void gather() {
        const RegionSlab slab(after_, from_.dimension);
        const int64_t all = elements_in(after_);
        std::vector<std::byte> packed = memory(all);
        const auto part = [&](int member) { return buffer(packed, packed_at(slab, member), packed_count(slab, member)); };
        if (slab.extent % n_ == 0) {
            group_->all_gather(buffer(local_, 0, elements_in(before_)), buffer(packed, 0, all));
        } else {
            std::copy(local_.begin(), local_.end(), at(packed, packed_at(slab, me_)));
            for (int k = 0; k + 1 < n_; ++k) {
                send((me_ + 1) % n_, part((me_ - k + n_) % n_));
                receive((me_ + n_ - 1) % n_, part((me_ - k - 1 + n_) % n_));
            }
        }
        for (int member = 0; member < n_; ++member) unpack(at(packed, packed_at(slab, member)), slab, member, made_);
    }

    void scatter() {
        const RegionSlab slab(before_, to_.dimension);
        const int64_t all = elements_in(before_);
        std::vector<std::byte> packed = memory(all);
        for (int member = 0; member < n_; ++member) pack(local_, slab, member, at(packed, packed_at(slab, member)));
        if (slab.extent % n_ == 0)
            return group_->reduce_scatter(buffer(packed, 0, all), buffer(made_, 0, elements_in(after_)));
        for (int k = 0; k + 1 < n_; ++k) {  // a piece is complete when it has come round to its owner
            const int out = (me_ - 1 - k + 2 * n_) % n_, in = (me_ - 2 - k + 2 * n_) % n_;
            send((me_ + 1) % n_, buffer(packed, packed_at(slab, out), packed_count(slab, out)));
            const comm::Buffer sum = buffer(packed, packed_at(slab, in), packed_count(slab, in));
            if (sum.count > 0) group_->receive_reduce((me_ + n_ - 1) % n_, sum, comm::Reduction::sum, step_.collective);
        }
        pack_own(packed, slab);
    }
    void pack_own(std::vector<std::byte>& packed, const RegionSlab& slab) {
        const std::byte* own = at(packed, packed_at(slab, me_));
        if (real_) std::copy(own, own + made_.size(), made_.data());
    }

    void exchange() {
        const RegionSlab out(before_, to_.dimension), in(after_, from_.dimension);
        std::vector<std::byte> leaving = memory(elements_in(before_)), come = memory(elements_in(after_));
        for (int member = 0; member < n_; ++member) pack(local_, out, member, at(leaving, packed_at(out, member)));
        const auto part_out = [&](int member) { return buffer(leaving, packed_at(out, member), packed_count(out, member)); };
        const auto part_in = [&](int member) { return buffer(come, packed_at(in, member), packed_count(in, member)); };
        if (out.extent % n_ == 0 && in.extent % n_ == 0) {
            group_->all_to_all(buffer(leaving, 0, elements_in(before_)), buffer(come, 0, elements_in(after_)));
        } else {
            const auto own = static_cast<size_t>(part_out(me_).bytes());
            if (real_ && own > 0) std::memcpy(at(come, packed_at(in, me_)), at(leaving, packed_at(out, me_)), own);
            for (int k = 1; k < n_; ++k) {
                send((me_ + k) % n_, part_out((me_ + k) % n_));
                receive((me_ - k + n_) % n_, part_in((me_ - k + n_) % n_));
            }
        }
        for (int member = 0; member < n_; ++member) unpack(at(come, packed_at(in, member)), in, member, made_);
    }

    int64_t element_;
    DType type_;
    bool real_;
    const RedistributionStep& step_;
    Placement from_, to_;
    TensorRegion before_, after_;
    int n_ = 1, me_ = 0;
    std::unique_ptr<comm::Communicator> group_;
    std::vector<std::byte> local_, made_;
};

}  // namespace

std::vector<std::byte> redistribute(comm::Communicator& world, const Redistribution& plan, const comm::Buffer& local) {
    const int64_t held = elements_in(region_of(plan.mesh, plan.shape, plan.from, world.rank()));
    if (world.size() != plan.mesh.ranks())
        throw Failure(fmt::format("a mesh of {} ranks is not the {} of this group", plan.mesh.ranks(), world.size()));
    if (local.count != held || local.type != plan.type)
        throw Failure(fmt::format("rank {} holds {} elements of {} under {}, not {} of {}", world.rank(), held,
                                  name_of(plan.type), text_of(plan.mesh, plan.from), local.count, name_of(local.type)));
    std::vector<std::byte> values;
    if (local.data) {
        const auto* begin = static_cast<const std::byte*>(local.data);
        values.assign(begin, begin + local.bytes());
    }
    for (const RedistributionStep& step : plan.steps)
        values = RedistributionRun(world, plan, step, local.data != nullptr).run(std::move(values));
    return values;
}

}  // namespace lockstep::parallel
