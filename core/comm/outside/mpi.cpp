// Two MPI messages each: a header with the sender's virtual time, then the data. Sends are copied and go on by themselves,
// so that sending never waits. mpi_process.h holds what outlives a communicator.
#include "core/comm/outside/mpi.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/base/diagnostic.h"
#include "core/base/tell.h"
#include "core/comm/collectives/collectives.h"
#include "core/comm/collectives/reduce.h"
#include "core/comm/outside/group_end.h"
#include "core/comm/outside/mpi_process.h"

namespace lockstep::comm {
namespace {

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

class MpiCommunicator final : public GroupEnd {
  public:
    MpiCommunicator(const std::shared_ptr<MpiProcess>& process, std::vector<int> ranks, int rank, int stream)
        : GroupEnd(std::move(ranks), rank, stream, process->clock[static_cast<size_t>(stream)], process->result,
                   process->options.events, process->network->slowness[static_cast<size_t>(process->rank)]),
          process_(process) {
        for (const int member : ranks_) mix(static_cast<uint64_t>(member) + 1);
        mix(static_cast<uint64_t>(stream) + 0x9e3779b97f4a7c15);
        tag_ =
            first_channel_tag + static_cast<int>(channel_ % static_cast<uint64_t>(process_->tag_limit - first_channel_tag));
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
        process_->free_sent();
        const int peer = world_rank(to);
        const uint64_t number = count_sent(peer, buffer.bytes(), label);
        // The time of arrival: the links are this sender's alone.
        const double arrival = process_->traffic.carry(process_->rank, peer, buffer.bytes(), clock_).arrival_us;
        PendingSend& pending = process_->sends.emplace_back();
        pending.header = {arrival, number, channel_, buffer.bytes(), buffer.data != nullptr};
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
        count_received(peer, header.bytes, header.sent_us, header.number, label);
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
        const auto cut = pieces(whole.count);
        const auto &counts = cut.counts, &begins = cut.begins;
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
        const auto cut = pieces(whole.count);
        const auto& counts = cut.counts;
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
    void mix(uint64_t value) {  // FNV-1a over 64-bit words, then spread
        channel_ = (channel_ ^ value) * 1099511628211ull;
        channel_ ^= channel_ >> 29;
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
        const double begin = clock_;
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
        clock_ = last + row.formula(shape, static_cast<double>(bytes), process_->options.link);
        log(RankEvent::Kind::receive, -1, bytes, begin, 0, operation);
    }

    std::shared_ptr<MpiProcess> process_;
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

std::vector<std::string> gather_texts(const std::string& own) {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (own.size() > size_t{std::numeric_limits<int>::max()} / static_cast<size_t>(size))
        throw Failure(fmt::format("the log of rank {} is too large for MPI: {} bytes", rank, own.size()));
    const int length = static_cast<int>(own.size());
    std::vector<int> lengths(static_cast<size_t>(size)), begins(static_cast<size_t>(size));
    expect_success(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
    std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
    std::string whole(rank == 0 ? static_cast<size_t>(begins.back() + lengths.back()) : 0, ' ');
    expect_success(
        MPI_Gatherv(own.data(), length, MPI_BYTE, whole.data(), lengths.data(), begins.data(), MPI_BYTE, 0, MPI_COMM_WORLD),
        "MPI_Gatherv");
    std::vector<std::string> texts;
    for (size_t i = 0; i < lengths.size() && rank == 0; ++i)
        texts.push_back(whole.substr(static_cast<size_t>(begins[i]), static_cast<size_t>(lengths[i])));
    return texts;
}

RankResult run_mpi(const MpiOptions& options, const std::function<void(Communicator&)>& program) {
    const auto world = mpi_world(options);
    MpiProcess& process = static_cast<MpiCommunicator&>(*world).process();
    try {
        program(*world);
    } catch (const std::exception& thrown) {
        if (process.size == 1) throw;  // nobody else to end
        tell("{}\n", Death{process.rank, thrown.what()}.text());
        std::fflush(stderr);
        const auto* failure = dynamic_cast<const Failure*>(&thrown);
        const int status = failure ? static_cast<int>(failure->status) : 1;
        MPI_Abort(MPI_COMM_WORLD, status);
        system::exit_now(status);
    }
    process.result.time_us = *std::max_element(process.clock.begin(), process.clock.end());
    return process.result;
}

}  // namespace lockstep::comm
