// Two MPI messages each: a header with the sender's virtual time, then the data. Sends are copied and go on by themselves,
// so that sending never waits. A rank that has waited too long tells all others whom it waits for, hears what they have to
// say, and the first of those that wait ends the run with the whole story.
#include "core/comm/mpi.h"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>
#include <map>
#include <thread>

#include "core/base/diagnostic.h"
#include "core/comm/checks.h"
#include "core/comm/collectives.h"
#include "core/comm/reduce.h"

namespace lockstep::comm {
namespace {

using Time = std::chrono::steady_clock;

struct MpiHeader {
    double sent_us = 0;
    uint64_t number = 0, channel = 0;
    int64_t bytes = 0;
    int32_t has_data = 0, unused = 0;
};
struct MpiNotice {  // to all others: "I wait for rank X", or "I have finished" (-1)
    int32_t rank = 0, waits_for = -1;
};
constexpr int notice_tag = 1, first_channel_tag = 2;

void expect_success(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Failure(fmt::format("{} fails: {}", call, text), ExitStatus::missing);
}

struct PendingSend {
    MpiHeader header;
    std::vector<std::byte> data;
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

// The process: what all its communicators share.
struct MpiProcess {
    MpiOptions options;
    int rank = 0, size = 1, tag_limit = 32767;
    Network network;
    Traffic traffic;
    RankResult result;
    std::array<double, max_streams> clock{};
    std::list<PendingSend> sends;
    std::vector<int> notices;  // by rank: whom it waits for; none_yet, or -1: it has finished
    std::map<std::pair<std::vector<int>, int>, MPI_Comm> libraries;  // for MPI's own collectives, by group and stream
    static constexpr int none_yet = -2;

    explicit MpiProcess(const MpiOptions& given)
        : options(given), network(ideal_network(begin(), given.link)), traffic(network) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        int* limit = nullptr;
        int found = 0;
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
        if (found) tag_limit = *limit;
        notices.assign(static_cast<size_t>(size), none_yet);
    }
    MpiProcess(const MpiProcess&) = delete;
    ~MpiProcess() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized) return;
        tell_all(-1);
        for (auto& [key, library] : libraries) MPI_Comm_free(&library);
        while (!sends.empty()) {  // what others have not yet taken
            free_sent();
            hear_notices();
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        // Everybody's last notices are taken, so that nothing is on its way when MPI ends.
        while (std::count(notices.begin(), notices.end(), none_yet) > 1) {
            hear_notices();
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        MPI_Finalize();
    }
    static int begin() {
        int running = 0;
        MPI_Initialized(&running);
        if (!running) {
            int given = 0;
            expect_success(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &given), "MPI_Init_thread");
        }
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int ranks = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        return ranks;
    }

    void free_sent() {
        for (auto send = sends.begin(); send != sends.end();) {
            int done = 0;
            expect_success(MPI_Testall(2, send->requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
            send = done ? sends.erase(send) : std::next(send);
        }
    }
    void tell_all(int waits_for) {
        for (int other = 0; other < size; ++other) {
            if (other == rank) continue;
            PendingSend& send = sends.emplace_back();
            const MpiNotice notice{rank, waits_for};
            send.data.resize(sizeof notice);
            std::memcpy(send.data.data(), &notice, sizeof notice);
            expect_success(
                MPI_Isend(send.data.data(), sizeof notice, MPI_BYTE, other, notice_tag, MPI_COMM_WORLD, &send.requests[0]),
                "MPI_Isend");
        }
    }
    void hear_notices() {
        int there = 1;
        while (there) {
            MPI_Status status;
            expect_success(MPI_Iprobe(MPI_ANY_SOURCE, notice_tag, MPI_COMM_WORLD, &there, &status), "MPI_Iprobe");
            if (!there) break;
            MpiNotice notice;
            expect_success(
                MPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, notice_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                "MPI_Recv");
            notices[static_cast<size_t>(notice.rank)] = notice.waits_for;
        }
    }

    // Waits for the request; the peer that it waits for may have to be named.
    void finish(MPI_Request& request, MPI_Status& status, int peer) {
        const auto begin = Time::now();
        for (int64_t turn = 0;; ++turn) {
            int done = 0;
            expect_success(MPI_Test(&request, &done, &status), "MPI_Test");
            if (done) return;
            if (turn < 1000) continue;
            if (turn % 64 == 0) {
                hear_notices();
                free_sent();
            }
            std::this_thread::sleep_for(std::chrono::microseconds(turn < 10000 ? 5 : 200));
            if (std::chrono::duration<double>(Time::now() - begin).count() > options.timeout_s) end_deadlocked(peer);
        }
    }
    [[noreturn]] void end_deadlocked(int peer) {
        tell_all(peer);
        const auto begin = Time::now();
        const auto listen = [&](double seconds) {
            while (std::chrono::duration<double>(Time::now() - begin).count() < seconds) {
                hear_notices();
                free_sent();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        };
        listen(1.0);
        for (int other = 0; other < rank; ++other)  // the first of those that wait tells the story, and ends all
            if (notices[static_cast<size_t>(other)] >= 0) listen(5.0);
        Deadlock deadlock;
        for (int i = 0; i < size; ++i) {
            const int from = i == rank ? peer : notices[static_cast<size_t>(i)];
            if (from >= 0) deadlock.waits.push_back({i, from, from != rank && notices[static_cast<size_t>(from)] == -1});
        }
        fmt::print(stderr, "error: deadlock after {:g} s: {}\n", options.timeout_s, deadlock.text());
        std::fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
        _exit(1);
    }
};

MPI_Datatype mpi_type(DType type) {
    switch (type) {
        case DType::i8:
            return MPI_INT8_T;
        case DType::u8:
            return MPI_UINT8_T;
        case DType::i16:
            return MPI_INT16_T;
        case DType::u16:
            return MPI_UINT16_T;
        case DType::i32:
            return MPI_INT32_T;
        case DType::u32:
            return MPI_UINT32_T;
        case DType::i64:
            return MPI_INT64_T;
        case DType::u64:
            return MPI_UINT64_T;
        case DType::f32:
            return MPI_FLOAT;
        case DType::f64:
            return MPI_DOUBLE;
        default:
            return MPI_DATATYPE_NULL;  // halves: our own steps
    }
}
MPI_Op mpi_operation(Reduction reduction) {
    return reduction == Reduction::sum ? MPI_SUM : reduction == Reduction::max ? MPI_MAX : MPI_MIN;
}

class MpiCommunicator final : public Communicator {
  public:
    MpiCommunicator(std::shared_ptr<MpiProcess> process, std::vector<int> ranks, int rank, int stream)
        : process_(std::move(process)), ranks_(std::move(ranks)), rank_(rank), stream_(stream) {
        for (const int member : ranks_) mix(static_cast<uint64_t>(member) + 1);
        mix(static_cast<uint64_t>(stream) + 0x9e3779b97f4a7c15);
        tag_ =
            first_channel_tag + static_cast<int>(channel_ % static_cast<uint64_t>(process_->tag_limit - first_channel_tag));
    }

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(ranks_.size()); }
    int world_rank(int member) const override { return ranks_.at(static_cast<size_t>(member)); }
    double time_us() const override { return clock(); }
    void advance(double us, std::string_view label) override {
        const double begin = clock();
        clock() += us;
        log(RankEvent::Kind::work, -1, 0, begin, 0, label);
    }
    void wait_until(double us) override {
        const double begin = clock();
        if (us <= begin) return;
        clock() = us;
        log(RankEvent::Kind::wait, -1, 0, begin, 0, {});
    }

    std::unique_ptr<Communicator> group(std::span<const int> members) override {
        std::vector<int> ranks;
        const int place = group_members(*this, members, ranks);
        return std::make_unique<MpiCommunicator>(process_, std::move(ranks), place, stream_);
    }
    std::unique_ptr<Communicator> on(int stream) override {
        expect_stream(stream);
        return std::make_unique<MpiCommunicator>(process_, ranks_, rank_, stream);
    }

    void send(int to, const Buffer& buffer, std::string_view label) override {
        expect_peer(*this, to, "send to");
        RankResult& own = process_->result;
        process_->free_sent();
        own.bytes_sent += static_cast<uint64_t>(buffer.bytes());
        ++own.messages_sent;
        log(RankEvent::Kind::send, world_rank(to), buffer.bytes(), clock(), own.messages_sent, label);
        const int peer = world_rank(to);
        // The time of arrival: the links are this sender's alone.
        const double arrival = process_->traffic.carry(process_->rank, peer, buffer.bytes(), clock()).arrival_us;
        PendingSend& pending = process_->sends.emplace_back();
        pending.header = {arrival, own.messages_sent, channel_, buffer.bytes(), buffer.data != nullptr};
        expect_success(
            MPI_Isend(&pending.header, sizeof pending.header, MPI_BYTE, peer, tag_, MPI_COMM_WORLD, &pending.requests[0]),
            "MPI_Isend");
        if (!buffer.data || buffer.bytes() == 0) return;
        expect_count(buffer.bytes());
        const auto* data = static_cast<const std::byte*>(buffer.data);
        pending.data.assign(data, data + buffer.bytes());
        expect_success(MPI_Isend(pending.data.data(), static_cast<int>(buffer.bytes()), MPI_BYTE, peer, tag_, MPI_COMM_WORLD,
                                 &pending.requests[1]),
                       "MPI_Isend");
    }

    void receive(int from, const Buffer& buffer, std::string_view label) override {
        expect_peer(*this, from, "receive from");
        const int peer = world_rank(from);
        MpiHeader header;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;
        expect_success(MPI_Irecv(&header, sizeof header, MPI_BYTE, peer, tag_, MPI_COMM_WORLD, &request), "MPI_Irecv");
        process_->finish(request, status, peer);
        if (header.channel != channel_)
            throw Failure(fmt::format("rank {} receives a message of another group from rank {}", process_->rank, peer));
        const bool fits = header.bytes == buffer.bytes();
        std::vector<std::byte> unwanted;
        if (header.has_data && header.bytes > 0) {
            void* to = buffer.data;
            if (!fits || !to) {
                unwanted.resize(static_cast<size_t>(header.bytes));
                to = unwanted.data();
            }
            expect_success(MPI_Irecv(to, static_cast<int>(header.bytes), MPI_BYTE, peer, tag_, MPI_COMM_WORLD, &request),
                           "MPI_Irecv");
            process_->finish(request, status, peer);
        }
        expect_message(process_->rank, peer, buffer, header.bytes, header.has_data != 0);
        const double begin = clock();
        clock() = std::max(begin, header.sent_us);
        log(RankEvent::Kind::receive, peer, header.bytes, begin, header.number, label);
    }

    void all_reduce(const Buffer& buffer, Reduction reduction) override {
        if (!library_serves(buffer)) return Communicator::all_reduce(buffer, reduction);
        library_call("all_reduce", buffer.bytes(), [&](MPI_Comm group) {
            expect_success(MPI_Allreduce(MPI_IN_PLACE, buffer.data, static_cast<int>(buffer.count), mpi_type(buffer.type),
                                         mpi_operation(reduction), group),
                           "MPI_Allreduce");
        });
    }
    void broadcast(const Buffer& buffer, int root) override {
        if (!library_serves(buffer)) return Communicator::broadcast(buffer, root);
        library_call("broadcast", buffer.bytes(), [&](MPI_Comm group) {
            expect_success(MPI_Bcast(buffer.data, static_cast<int>(buffer.bytes()), MPI_BYTE, root, group), "MPI_Bcast");
        });
    }
    void reduce(const Buffer& buffer, int root, Reduction reduction) override {
        if (!library_serves(buffer)) return Communicator::reduce(buffer, root, reduction);
        library_call("reduce", buffer.bytes(), [&](MPI_Comm group) {
            const bool here = rank_ == root;
            expect_success(
                MPI_Reduce(here ? MPI_IN_PLACE : buffer.data, here ? buffer.data : nullptr, static_cast<int>(buffer.count),
                           mpi_type(buffer.type), mpi_operation(reduction), root, group),
                "MPI_Reduce");
        });
    }
    void all_gather(const Buffer& piece, const Buffer& whole) override {
        if (!library_serves(whole) || !piece.data) return Communicator::all_gather(piece, whole);
        const auto [counts, begins] = pieces(whole.count);
        if (piece.count != counts[static_cast<size_t>(rank_)] || piece.type != whole.type)
            return Communicator::all_gather(piece, whole);  // which says what is wrong
        const std::byte* own = static_cast<const std::byte*>(whole.part(begins[static_cast<size_t>(rank_)], 0).data);
        library_call("all_gather", whole.bytes(), [&](MPI_Comm group) {
            const void* from = own == piece.data ? MPI_IN_PLACE : piece.data;
            expect_success(MPI_Allgatherv(from, static_cast<int>(piece.count), mpi_type(whole.type), whole.data,
                                          counts.data(), begins.data(), mpi_type(whole.type), group),
                           "MPI_Allgatherv");
        });
    }
    void reduce_scatter(const Buffer& whole, const Buffer& piece, Reduction reduction) override {
        if (!library_serves(whole) || !piece.data) return Communicator::reduce_scatter(whole, piece, reduction);
        const auto [counts, begins] = pieces(whole.count);
        if (piece.count != counts[static_cast<size_t>(rank_)] || piece.type != whole.type)
            return Communicator::reduce_scatter(whole, piece, reduction);
        scratch_.resize(static_cast<size_t>(piece.bytes()));  // `piece` may lie in `whole`
        library_call("reduce_scatter", whole.bytes(), [&](MPI_Comm group) {
            expect_success(MPI_Reduce_scatter(whole.data, scratch_.data(), counts.data(), mpi_type(whole.type),
                                              mpi_operation(reduction), group),
                           "MPI_Reduce_scatter");
        });
        if (!scratch_.empty()) std::memcpy(piece.data, scratch_.data(), scratch_.size());
    }
    void all_to_all(const Buffer& from, const Buffer& to) override {
        if (!library_serves(from) || !to.data || from.count % size() != 0 || to.count != from.count || to.type != from.type)
            return Communicator::all_to_all(from, to);
        const int each = static_cast<int>(from.bytes() / size());
        library_call("all_to_all", from.bytes(), [&](MPI_Comm group) {
            expect_success(MPI_Alltoall(from.data, each, MPI_BYTE, to.data, each, MPI_BYTE, group), "MPI_Alltoall");
        });
    }

    MpiProcess& process() const { return *process_; }

  private:
    double& clock() const { return process_->clock[static_cast<size_t>(stream_)]; }
    void mix(uint64_t value) {  // FNV-1a over 64-bit words, then spread
        channel_ = (channel_ ^ value) * 1099511628211ull;
        channel_ ^= channel_ >> 29;
    }
    void log(RankEvent::Kind kind, int peer, int64_t bytes, double begin, uint64_t message, std::string_view label) {
        RankResult& own = process_->result;
        if (own.events.size() < process_->options.events)
            own.events.push_back({stream_, kind, peer, bytes, begin, clock(), message, std::string(label)});
        else
            ++own.events_left_out;
    }
    static void expect_count(int64_t bytes) {
        if (bytes > std::numeric_limits<int>::max())
            throw Failure(fmt::format("a message of {} bytes is too large for MPI: 2 GiB are the most", bytes));
    }

    bool library_serves(const Buffer& buffer) const {
        return !process_->options.own_steps && buffer.data && mpi_type(buffer.type) != MPI_DATATYPE_NULL &&
               buffer.bytes() <= std::numeric_limits<int>::max() && size() > 1;
    }
    struct Pieces {
        std::vector<int> counts, begins;
    };
    Pieces pieces(int64_t count) const {
        Pieces cut;
        for (int member = 0; member < size(); ++member) {
            const Piece piece = piece_of(count, size(), member);
            cut.counts.push_back(static_cast<int>(piece.count));
            cut.begins.push_back(static_cast<int>(piece.begin));
        }
        return cut;
    }
    // All begin when the last has come, and take what the ring's formula says.
    template <class Call>
    void library_call(const char* operation, int64_t bytes, Call call) {
        const double begin = clock();
        double last = begin;
        for (int member = 0; member < size(); ++member) {  // one by one, so that a wait names who has not come
            if (member == rank_) continue;
            PendingSend& pending = process_->sends.emplace_back();
            pending.header.sent_us = begin;
            expect_success(MPI_Isend(&pending.header, sizeof pending.header, MPI_BYTE, world_rank(member), tag_,
                                     MPI_COMM_WORLD, &pending.requests[0]),
                           "MPI_Isend");
        }
        for (int member = 0; member < size(); ++member) {
            if (member == rank_) continue;
            MpiHeader header;
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Status status;
            expect_success(MPI_Irecv(&header, sizeof header, MPI_BYTE, world_rank(member), tag_, MPI_COMM_WORLD, &request),
                           "MPI_Irecv");
            process_->finish(request, status, world_rank(member));
            last = std::max(last, header.sent_us);
        }
        MPI_Comm& group = process_->libraries.try_emplace({ranks_, stream_}, MPI_COMM_NULL).first->second;
        if (group == MPI_COMM_NULL) {
            MPI_Group everyone, members;
            MPI_Comm_group(MPI_COMM_WORLD, &everyone);
            MPI_Group_incl(everyone, size(), ranks_.data(), &members);
            expect_success(MPI_Comm_create_group(MPI_COMM_WORLD, members, tag_, &group), "MPI_Comm_create_group");
            MPI_Group_free(&members);
            MPI_Group_free(&everyone);
        }
        call(group);
        const CollectiveRow& row = collective_named(operation, "ring");
        const CollectiveShape shape{.ranks = size(), .pieces = pipeline_pieces(bytes)};
        clock() = last + row.formula(shape, static_cast<double>(bytes), process_->options.link);
        log(RankEvent::Kind::receive, -1, bytes, begin, 0, operation);
    }

    std::shared_ptr<MpiProcess> process_;
    std::vector<int> ranks_;
    int rank_, stream_;
    uint64_t channel_ = 14695981039346656037ull;
    int tag_ = first_channel_tag;
    std::vector<std::byte> scratch_;
};

std::weak_ptr<MpiProcess>& running_process() {  // MPI begins and ends once a process
    static std::weak_ptr<MpiProcess> process;
    return process;
}

}  // namespace

bool mpi_is_built_in() {
    return true;
}

std::string mpi_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string whole(text, static_cast<size_t>(length));
    return whole.substr(0, whole.find(','));
}

bool started_by_mpirun() {
    return std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE") || std::getenv("PMIX_RANK");
}

std::unique_ptr<Communicator> mpi_world(const MpiOptions& options) {
    std::shared_ptr<MpiProcess> process = running_process().lock();
    if (!process) {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized) throw Failure("MPI has ended in this process and cannot begin again");
        running_process() = process = std::make_shared<MpiProcess>(options);
    }
    std::vector<int> everyone;
    for (int rank = 0; rank < process->size; ++rank) everyone.push_back(rank);
    return std::make_unique<MpiCommunicator>(process, std::move(everyone), process->rank, 0);
}

RankResult run_mpi(const MpiOptions& options, const std::function<void(Communicator&)>& program) {
    const auto world = mpi_world(options);
    MpiProcess& process = static_cast<MpiCommunicator&>(*world).process();
    try {
        program(*world);
    } catch (const std::exception& thrown) {
        fmt::print(stderr, "{}\n", Death{process.rank, thrown.what()}.text());
        std::fflush(stderr);
        const auto* failure = dynamic_cast<const Failure*>(&thrown);
        const int status = failure ? static_cast<int>(failure->status) : 1;
        MPI_Abort(MPI_COMM_WORLD, status);
        _exit(status);
    }
    process.result.time_us = *std::max_element(process.clock.begin(), process.clock.end());
    return process.result;
}

}  // namespace lockstep::comm
