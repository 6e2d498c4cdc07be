#include "core/parallel/train/traffic.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::parallel {

void RankLog::clear() {
    sent.clear();
    spans.clear();
    messages.clear();
    collectives.clear();
    compute_us = 0;
}

void RankLog::leave(RankStep& step) const {
    step.compute_us = compute_us;
    step.sent = sent;
    step.spans = spans;
    step.messages = messages;
    step.collectives = collectives;
}

void RankLog::collective_begins(RankCollective one) {
    if (in_collective++ == 0) collectives.push_back(std::move(one));
}
void RankLog::collective_ends(double end_us) {
    if (--in_collective == 0) collectives.back().end_us = end_us;
}

void RankLog::count(const std::string& axis, int64_t bytes, int to, double sent_us) {
    auto row =
        std::find_if(sent.begin(), sent.end(), [&](const Traffic& t) { return t.axis == axis && t.purpose == purpose; });
    if (row == sent.end()) row = sent.insert(row, {axis, std::string(purpose), 0, 0});
    row->bytes += bytes;
    row->messages += 1;
    if (keep_messages)
        messages.push_back({to, static_cast<int>(row - sent.begin()),
                            in_collective > 0 ? static_cast<int>(collectives.size()) - 1 : -1, bytes, sent_us});
}

namespace {
constexpr size_t most_calls = 1 << 16;  // of a step, that are kept
}  // namespace

NotedCollective::NotedCollective(RankLog& log, comm::Communicator& group, std::string_view operation,
                                 std::string_view algorithm, const comm::Buffer& whole)
    : log_(log), group_(group), notes_(log.keep_messages && !log.library && group.size() > 1) {
    std::vector<int> ranks;
    if (group.size() > 1 && log.in_call++ == 0 && log.calls->list.size() < most_calls) {
        for (int member = 0; member < group.size(); ++member) ranks.push_back(group.world_rank(member));
        log.calls->list.push_back({std::string(operation), std::string(log.purpose), log.about, ranks,
                                   axes_between(log.mesh, ranks), whole.count, whole.type});
    }
    if (!notes_) return;
    RankCollective one{std::string(operation),
                       std::string(algorithm),
                       {},
                       std::string(log.purpose),
                       {},
                       whole.count,
                       whole.type,
                       group.time_us(),
                       0};
    for (int member = 0; member < group.size(); ++member) one.ranks.push_back(group.world_rank(member));
    one.axis = axes_between(log.mesh, one.ranks);
    log.collective_begins(std::move(one));
}
NotedCollective::~NotedCollective() {
    if (group_.size() > 1) --log_.in_call;
    if (notes_) log_.collective_ends(group_.time_us());
}

void RankLog::span(int stream, double begin_us, double end_us, std::string_view label) {
    if (!keep_spans || end_us <= begin_us) return;
    if (!spans.empty()) {  // ops of one kind, one after the other
        RankSpan& last = spans.back();
        if (last.stream == stream && last.end_us == begin_us && last.label == label) {
            last.end_us = end_us;
            return;
        }
    }
    spans.push_back({stream, begin_us, end_us, std::string(label)});
}

std::string axes_between(const Mesh& mesh, const std::vector<int>& ranks) {
    if (static_cast<int>(ranks.size()) == mesh.ranks()) {
        const auto wide = std::count_if(mesh.axes.begin(), mesh.axes.end(), [](const MeshAxis& a) { return a.size > 1; });
        if (wide != 1) return "all";
    }
    std::string names;
    for (const MeshAxis& axis : mesh.axes)
        for (const int rank : ranks)
            if (mesh.coordinate(rank, axis.name) != mesh.coordinate(ranks.front(), axis.name)) {
                names += (names.empty() ? "" : " x ") + axis.name;
                break;
            }
    return names.empty() ? "itself" : names;
}

namespace {
using comm::Buffer;
using comm::Communicator;
using comm::Reduction;

class CountedCommunicator final : public Communicator {
  public:
    CountedCommunicator(Communicator& inner, std::unique_ptr<Communicator> owned, RankLog& log, int stream)
        : inner_(inner), owned_(std::move(owned)), log_(log), stream_(stream) {
        std::vector<int> ranks;
        for (int member = 0; member < inner.size(); ++member) ranks.push_back(inner.world_rank(member));
        axis_ = axes_between(log.mesh, ranks);
    }

    int rank() const override { return inner_.rank(); }
    int size() const override { return inner_.size(); }
    int world_rank(int member) const override { return inner_.world_rank(member); }

    void send(int to, const Buffer& buffer, std::string_view label) override {
        log_.count(axis_, buffer.bytes(), inner_.world_rank(to), inner_.time_us());
        inner_.send(to, buffer, label);
    }
    void lend(int to, const Buffer& buffer, std::string_view label) override {
        log_.count(axis_, buffer.bytes(), inner_.world_rank(to), inner_.time_us());
        inner_.lend(to, buffer, label);
    }
    void take_back() override { inner_.take_back(); }
    void receive(int from, const Buffer& buffer, std::string_view label) override {
        const Timed timed(*this, "receive");
        inner_.receive(from, buffer, label);
    }
    void receive_reduce(int from, const Buffer& buffer, Reduction reduction, std::string_view label) override {
        const Timed timed(*this, "receive");
        inner_.receive_reduce(from, buffer, reduction, label);
    }

    std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
        return counted(inner_.group(ranks), log_, stream_);
    }
    std::unique_ptr<Communicator> on(int stream) override { return counted(inner_.on(stream), log_, stream); }

    double time_us() const override { return inner_.time_us(); }
    void advance(double us, std::string_view label) override {
        const double begin = time_us();
        inner_.advance(us, label);
        if (stream_ == compute_stream) log_.compute_us += us;
        log_.span(stream_, begin, time_us(), label);
    }
    void wait_until(double us) override { inner_.wait_until(us); }

    void all_reduce(const Buffer& buffer, Reduction reduction) override {
        const Timed timed(*this, "all-reduce");
        const NotedCollective noted(log_, *this, "all_reduce", "ring", buffer);
        log_.library ? inner_.all_reduce(buffer, reduction) : Communicator::all_reduce(buffer, reduction);
    }
    void reduce(const Buffer& buffer, int root, Reduction reduction) override {
        const Timed timed(*this, "reduce");
        const NotedCollective noted(log_, *this, "reduce", "ring", buffer);
        log_.library ? inner_.reduce(buffer, root, reduction) : Communicator::reduce(buffer, root, reduction);
    }
    void broadcast(const Buffer& buffer, int root) override {
        const Timed timed(*this, "broadcast");
        const NotedCollective noted(log_, *this, "broadcast", "ring", buffer);
        log_.library ? inner_.broadcast(buffer, root) : Communicator::broadcast(buffer, root);
    }
    void all_gather(const Buffer& piece, const Buffer& whole) override {
        const Timed timed(*this, "all-gather");
        const NotedCollective noted(log_, *this, "all_gather", "ring", whole);
        log_.library ? inner_.all_gather(piece, whole) : Communicator::all_gather(piece, whole);
    }
    void reduce_scatter(const Buffer& whole, const Buffer& piece, Reduction reduction) override {
        const Timed timed(*this, "reduce-scatter");
        const NotedCollective noted(log_, *this, "reduce_scatter", "ring", whole);
        log_.library ? inner_.reduce_scatter(whole, piece, reduction)
                     : Communicator::reduce_scatter(whole, piece, reduction);
    }
    void all_to_all(const Buffer& from, const Buffer& to) override {
        const Timed timed(*this, "all-to-all");
        const NotedCollective noted(log_, *this, "all_to_all", "ring", from);
        log_.library ? inner_.all_to_all(from, to) : Communicator::all_to_all(from, to);
    }
    void barrier() override {
        const Timed timed(*this, "barrier");
        log_.library ? inner_.barrier() : Communicator::barrier();
    }

  private:
    struct Timed {  // the outermost one alone leaves a span
        CountedCommunicator& of;
        std::string_view what;
        double begin;
        Timed(CountedCommunicator& c, std::string_view w) : of(c), what(w), begin(c.depth_++ == 0 ? c.time_us() : 0) {}
        ~Timed() {
            if (--of.depth_ > 0) return;
            const double end = of.time_us();
            if (end > begin) of.log_.span(of.stream_, begin, end, fmt::format("{} {} {}", what, of.log_.purpose, of.axis_));
        }
        Timed(const Timed&) = delete;
        Timed& operator=(const Timed&) = delete;
    };

    Communicator& inner_;
    std::unique_ptr<Communicator> owned_;
    RankLog& log_;
    int stream_ = 0, depth_ = 0;
    std::string axis_;
};
}  // namespace

std::unique_ptr<Communicator> counted(Communicator& inner, RankLog& log) {
    return std::make_unique<CountedCommunicator>(inner, nullptr, log, compute_stream);
}
std::unique_ptr<Communicator> counted(std::unique_ptr<Communicator> inner, RankLog& log, int stream) {
    Communicator& of = *inner;
    return std::make_unique<CountedCommunicator>(of, std::move(inner), log, stream);
}

}  // namespace lockstep::parallel
