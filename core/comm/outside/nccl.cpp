// One row a function; names, signatures and numbers are those of nccl.h (2.x). Data are copied to the GPU and back
// around every call. NCCL's send waits for its receive, so that sends are kept until the next receive or take_back() and go
// out together with it, as ncclGroupStart and ncclGroupEnd allow.
#include "core/comm/outside/nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/comm/collectives/collectives.h"
#include "core/device/cuda/cuda_driver.h"
#include "core/device/cuda/nvidia_libraries.h"
#include "core/system/system.h"

namespace lockstep::comm {
namespace {

struct NcclId {  // ncclUniqueId
    char internal[128];
};
using NcclStatus = int;
using NcclHandle = void*;

struct NcclLibrary {
    NcclStatus (*unique_id)(NcclId* id) = nullptr;
    NcclStatus (*init)(NcclHandle* group, int ranks, NcclId id, int rank) = nullptr;
    NcclStatus (*destroy)(NcclHandle group) = nullptr;
    NcclStatus (*all_reduce)(const void*, void*, size_t, int type, int op, NcclHandle, void* stream) = nullptr;
    NcclStatus (*reduce)(const void*, void*, size_t, int type, int op, int root, NcclHandle, void* stream) = nullptr;
    NcclStatus (*broadcast)(const void*, void*, size_t, int type, int root, NcclHandle, void* stream) = nullptr;
    NcclStatus (*all_gather)(const void*, void*, size_t, int type, NcclHandle, void* stream) = nullptr;
    NcclStatus (*reduce_scatter)(const void*, void*, size_t, int type, int op, NcclHandle, void* stream) = nullptr;
    NcclStatus (*send)(const void*, size_t, int type, int peer, NcclHandle, void* stream) = nullptr;
    NcclStatus (*receive)(void*, size_t, int type, int peer, NcclHandle, void* stream) = nullptr;
    NcclStatus (*group_start)() = nullptr;
    NcclStatus (*group_end)() = nullptr;
    const char* (*error_text)(NcclStatus status) = nullptr;
};

std::variant<NcclLibrary, std::string> open_nccl() {
    const char* const chosen = std::getenv("LOCKSTEP_LIBNCCL");
    const std::string name = chosen && *chosen ? chosen : "libnccl.so.2";
    const system::Library library = system::load_library(
        {name}, chosen && *chosen ? std::vector<std::filesystem::path>{} : device::nvidia_library_folders());
    if (!library.handle) return fmt::format("there is no NCCL here ({} was not found): install libnccl2", name);
    NcclLibrary n;
    const auto find = [&](const char* symbol, auto& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(system::symbol_of(library, symbol));
        return function != nullptr;
    };
    const bool complete = find("ncclGetUniqueId", n.unique_id) && find("ncclCommInitRank", n.init) &&
                          find("ncclCommDestroy", n.destroy) && find("ncclAllReduce", n.all_reduce) &&
                          find("ncclReduce", n.reduce) && find("ncclBroadcast", n.broadcast) &&
                          find("ncclAllGather", n.all_gather) && find("ncclReduceScatter", n.reduce_scatter) &&
                          find("ncclSend", n.send) && find("ncclRecv", n.receive) && find("ncclGroupStart", n.group_start) &&
                          find("ncclGroupEnd", n.group_end) && find("ncclGetErrorString", n.error_text);
    if (!complete) return fmt::format("{} is not an NCCL that can be used here: install libnccl2, 2.7 or later", name);
    return n;
}

const std::variant<NcclLibrary, std::string>& nccl_library() {
    static const std::variant<NcclLibrary, std::string> library = open_nccl();
    return library;
}

std::optional<int> nccl_type(DType type) {  // ncclDataType_t
    switch (type) {
        case DType::i8:
            return 0;
        case DType::u8:
            return 1;
        case DType::i32:
            return 2;
        case DType::u32:
            return 3;
        case DType::i64:
            return 4;
        case DType::u64:
            return 5;
        case DType::f16:
            return 6;
        case DType::f32:
            return 7;
        case DType::f64:
            return 8;
        case DType::bf16:
            return 9;
        default:
            return std::nullopt;
    }
}
int nccl_operation(Reduction reduction) {
    return reduction == Reduction::sum ? 0 : reduction == Reduction::max ? 2 : 3;
}
constexpr int nccl_bytes = 1;  // ncclUint8

class NcclGroup final : public Communicator {
  public:
    NcclGroup(Communicator* borrowed, std::unique_ptr<Communicator> owned, const Link& link)
        : owned_(std::move(owned)), inner_(borrowed ? *borrowed : *owned_), link_(link) {
        if (const std::string why = why_no_nccl(); !why.empty()) throw Failure(why, ExitStatus::missing);
        nccl_ = &std::get<NcclLibrary>(nccl_library());
        cuda_ = &std::get<device::CudaDriver>(device::cuda_driver());
        const int number = inner_.world_rank(inner_.rank()) % cuda_->devices;
        expect_cuda(cuda_->device_get(&gpu_, number), "cuDeviceGet");
        expect_cuda(cuda_->retain_context(&context_, gpu_), "cuDevicePrimaryCtxRetain");
        expect_cuda(cuda_->set_context(context_), "cuCtxSetCurrent");
        expect_cuda(cuda_->create_stream(&stream_, 1), "cuStreamCreate");
        NcclId id{};
        if (rank() == 0) expect_nccl(nccl_->unique_id(&id), "ncclGetUniqueId");
        inner_.broadcast({&id, sizeof id, DType::u8}, 0);
        expect_nccl(nccl_->init(&group_, size(), id, rank()), "ncclCommInitRank");
    }
    ~NcclGroup() override {
        if (group_) nccl_->destroy(group_);
        for (const Memory& memory : memories_)
            if (memory.address) cuda_->release(memory.address);
        if (stream_) cuda_->destroy_stream(stream_);
        if (context_) cuda_->release_context(gpu_);
    }

    int rank() const override { return inner_.rank(); }
    int size() const override { return inner_.size(); }
    int world_rank(int member) const override { return inner_.world_rank(member); }
    double time_us() const override { return inner_.time_us(); }
    void advance(double us, std::string_view label) override { inner_.advance(us, label); }
    void wait_until(double us) override { inner_.wait_until(us); }
    std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
        return std::make_unique<NcclGroup>(nullptr, inner_.group(ranks), link_);
    }
    std::unique_ptr<Communicator> on(int stream) override {
        return std::make_unique<NcclGroup>(nullptr, inner_.on(stream), link_);
    }

    void send(int to, const Buffer& buffer, std::string_view label) override {
        inner_.send(to, {nullptr, buffer.count, buffer.type}, label);  // the virtual time; the size is checked there
        if (!buffer.data || buffer.count == 0) return;
        Kept& kept = kept_.emplace_back();
        kept.to = to;
        kept.bytes.resize(static_cast<size_t>(buffer.bytes()));
        std::memcpy(kept.bytes.data(), buffer.data, kept.bytes.size());
    }
    void receive(int from, const Buffer& buffer, std::string_view label) override {
        const bool data = buffer.data && buffer.count > 0;
        exchange(data ? from : -1, buffer);
        inner_.receive(from, {nullptr, buffer.count, buffer.type}, label);
    }
    void take_back() override { exchange(-1, {}); }

    void all_reduce(const Buffer& buffer, Reduction reduction) override {
        const auto type = nccl_type(buffer.type);
        if (!buffer.data || !type) return Communicator::all_reduce(buffer, reduction);
        call("all_reduce", buffer.bytes(), buffer, buffer, [&](void* from, void* to) {
            return nccl_->all_reduce(from, to, static_cast<size_t>(buffer.count), *type, nccl_operation(reduction), group_,
                                     stream_);
        });
    }
    void reduce(const Buffer& buffer, int root, Reduction reduction) override {
        const auto type = nccl_type(buffer.type);
        if (!buffer.data || !type) return Communicator::reduce(buffer, root, reduction);
        call("reduce", buffer.bytes(), buffer, rank() == root ? buffer : Buffer{}, [&](void* from, void* to) {
            return nccl_->reduce(from, to, static_cast<size_t>(buffer.count), *type, nccl_operation(reduction), root, group_,
                                 stream_);
        });
    }
    void broadcast(const Buffer& buffer, int root) override {
        if (!buffer.data) return Communicator::broadcast(buffer, root);
        call("broadcast", buffer.bytes(), buffer, buffer, [&](void* from, void* to) {
            return nccl_->broadcast(from, to, static_cast<size_t>(buffer.bytes()), nccl_bytes, root, group_, stream_);
        });
    }
    void all_gather(const Buffer& piece, const Buffer& whole) override {  // NCCL's pieces are all of one size
        if (!whole.data || !piece.data || whole.count != piece.count * size()) return Communicator::all_gather(piece, whole);
        call("all_gather", whole.bytes(), piece, whole, [&](void* from, void* to) {
            return nccl_->all_gather(from, to, static_cast<size_t>(piece.bytes()), nccl_bytes, group_, stream_);
        });
    }
    void reduce_scatter(const Buffer& whole, const Buffer& piece, Reduction reduction) override {
        const auto type = nccl_type(whole.type);
        if (!whole.data || !piece.data || !type || whole.count != piece.count * size())
            return Communicator::reduce_scatter(whole, piece, reduction);
        call("reduce_scatter", whole.bytes(), whole, piece, [&](void* from, void* to) {
            return nccl_->reduce_scatter(from, to, static_cast<size_t>(piece.count), *type, nccl_operation(reduction),
                                         group_, stream_);
        });
    }

  private:
    struct Memory {
        uint64_t address = 0;
        size_t bytes = 0;
    };
    struct Kept {
        int to = 0;
        std::vector<std::byte> bytes;
    };

    void expect_cuda(int status, const char* function) const {
        if (status == 0) return;
        const char* words = nullptr;
        cuda_->error_text(status, &words);
        throw Failure(fmt::format("{} fails: {}", function, words ? words : "unknown error"), ExitStatus::missing);
    }
    void expect_nccl(NcclStatus status, const char* function) const {
        if (status != 0)
            throw Failure(fmt::format("{} fails: {}", function, nccl_->error_text(status)), ExitStatus::missing);
    }
    void* on_gpu(size_t which, size_t bytes) {  // memory of the GPU, as large as it was ever needed
        if (memories_.size() <= which) memories_.resize(which + 1);
        Memory& memory = memories_[which];
        if (memory.bytes < bytes) {
            if (memory.address) cuda_->release(memory.address);
            memory = {};
            expect_cuda(cuda_->allocate(&memory.address, bytes), "cuMemAlloc");
            memory.bytes = bytes;
        }
        return reinterpret_cast<void*>(memory.address);
    }
    void copy_in(void* to, const void* from, size_t bytes) {
        if (bytes > 0)
            expect_cuda(cuda_->copy_in(reinterpret_cast<uint64_t>(to), from, bytes, stream_), "cuMemcpyHtoDAsync");
    }
    void copy_out(void* to, const void* from, size_t bytes) {
        if (bytes > 0)
            expect_cuda(cuda_->copy_out(to, reinterpret_cast<uint64_t>(from), bytes, stream_), "cuMemcpyDtoHAsync");
    }

    // All begin when the last has come, and take what the ring's formula says.
    template <class Call>
    void call(const char* operation, int64_t bytes, const Buffer& input, const Buffer& output, Call library_call) {
        take_back();
        expect_cuda(cuda_->set_context(context_), "cuCtxSetCurrent");
        double last = time_us();
        inner_.all_reduce({&last, 1, DType::f64}, Reduction::max);
        void* const from = on_gpu(0, static_cast<size_t>(input.bytes()));
        void* const to = on_gpu(1, static_cast<size_t>(std::max(input.bytes(), output.bytes())));
        copy_in(from, input.data, static_cast<size_t>(input.bytes()));
        expect_nccl(library_call(from, to), operation);
        copy_out(output.data, to, static_cast<size_t>(output.bytes()));
        expect_cuda(cuda_->wait_stream(stream_), "cuStreamSynchronize");
        const CollectiveShape shape{.ranks = size(), .pieces = pipeline_pieces(bytes)};
        wait_until(last + collective_named(operation, "ring").formula(shape, static_cast<double>(bytes), link_));
    }

    // All sends that were kept, and a receive when `from` is a rank.
    void exchange(int from, const Buffer& buffer) {
        if (kept_.empty() && from < 0) return;
        expect_cuda(cuda_->set_context(context_), "cuCtxSetCurrent");
        std::vector<void*> sent;
        for (size_t i = 0; i < kept_.size(); ++i) {
            sent.push_back(on_gpu(2 + i, kept_[i].bytes.size()));
            copy_in(sent.back(), kept_[i].bytes.data(), kept_[i].bytes.size());
        }
        void* const to = from < 0 ? nullptr : on_gpu(1, static_cast<size_t>(buffer.bytes()));
        expect_nccl(nccl_->group_start(), "ncclGroupStart");
        for (size_t i = 0; i < kept_.size(); ++i)
            expect_nccl(nccl_->send(sent[i], kept_[i].bytes.size(), nccl_bytes, kept_[i].to, group_, stream_), "ncclSend");
        if (to)
            expect_nccl(nccl_->receive(to, static_cast<size_t>(buffer.bytes()), nccl_bytes, from, group_, stream_),
                        "ncclRecv");
        expect_nccl(nccl_->group_end(), "ncclGroupEnd");
        if (to) copy_out(buffer.data, to, static_cast<size_t>(buffer.bytes()));
        expect_cuda(cuda_->wait_stream(stream_), "cuStreamSynchronize");
        kept_.clear();
    }

    std::unique_ptr<Communicator> owned_;
    Communicator& inner_;
    Link link_;
    const NcclLibrary* nccl_ = nullptr;
    const device::CudaDriver* cuda_ = nullptr;
    int gpu_ = 0;
    void *context_ = nullptr, *stream_ = nullptr;
    NcclHandle group_ = nullptr;
    std::vector<Memory> memories_;  // input, output, one a kept send
    std::vector<Kept> kept_;
};

}  // namespace

std::string why_no_nccl() {
    if (const auto* why = std::get_if<std::string>(&nccl_library())) return *why;
    if (const auto* why = std::get_if<std::string>(&device::cuda_driver())) return *why;
    return {};
}

std::unique_ptr<Communicator> nccl_group(Communicator& group, const Link& link) {
    return std::make_unique<NcclGroup>(&group, nullptr, link);
}

}  // namespace lockstep::comm
