// An NCCL of one rank over the modelled driver (modelled_cuda_driver.cpp): every collective gives its input back, and a send
// meets the receive of its own group. So the communicator and the self-test run where there is no NVIDIA library. What NCCL
// would refuse is refused: another communicator than the one it made, a type, operation or root that there is not, memory
// that the driver does not know. Where NVIDIA's header is, the compiler holds every signature and number here against it.
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/driver/driver_function.h"

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <nccl.h>
#pragma GCC diagnostic pop
static_assert(ncclSuccess == 0 && ncclInternalError == 3 && ncclInvalidArgument == 4 && ncclInvalidUsage == 5);
static_assert(ncclInt8 == 0 && ncclUint8 == 1 && ncclInt32 == 2 && ncclUint32 == 3 && ncclInt64 == 4 && ncclUint64 == 5 &&
              ncclFloat16 == 6 && ncclFloat32 == 7 && ncclFloat64 == 8 && ncclBfloat16 == 9);
static_assert(ncclSum == 0 && ncclMax == 2 && ncclMin == 3);
static_assert(sizeof(ncclUniqueId) == 128);
#else
struct ncclComm;
struct CUstream_st;
struct ncclUniqueId {
    char internal[128];
};
using ncclComm_t = ncclComm*;
using cudaStream_t = CUstream_st*;
using ncclResult_t = int;
using ncclDataType_t = int;
using ncclRedOp_t = int;
#endif

namespace {

constexpr int done = 0, internal_error = 3, invalid_argument = 4, invalid_usage = 5;
constexpr size_t type_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};  // ncclDataType_t

struct ModelledGroup {
    uint64_t word = 0x4e43434c;
};
struct Pending {
    uint64_t address;
    size_t bytes;
};
std::vector<Pending> sent, wanted;
bool grouped = false;

ncclResult_t result(int value) {
    return static_cast<ncclResult_t>(value);
}
bool is_group(ncclComm_t group) {
    return group && reinterpret_cast<ModelledGroup*>(group)->word == ModelledGroup{}.word;
}
int copy(uint64_t to, uint64_t from, size_t bytes) {
    static const auto within = driver_function<int (*)(uint64_t, uint64_t, size_t, void*)>("cuMemcpyDtoDAsync_v2");
    if (!within) return internal_error;
    return to == from || within(to, from, bytes, nullptr) == 0 ? done : internal_error;
}
ncclResult_t same(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t operation, int root,
                  ncclComm_t group, cudaStream_t stream) {
    const int number = static_cast<int>(type), reduction = static_cast<int>(operation);
    if (!is_group(group) || number < 0 || number > 9 || root != 0 || !from || !to || !stream)
        return result(invalid_argument);
    if (reduction != 0 && reduction != 2 && reduction != 3) return result(invalid_argument);
    return result(copy(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), count * type_bytes[number]));
}
int exchange() {
    if (sent.size() != wanted.size()) return invalid_usage;  // it would wait for ever
    for (size_t i = 0; i < sent.size(); ++i)
        if (sent[i].bytes != wanted[i].bytes || copy(wanted[i].address, sent[i].address, sent[i].bytes) != done)
            return invalid_usage;
    sent.clear(), wanted.clear();
    return done;
}
ncclResult_t keep(std::vector<Pending>& in, const void* memory, size_t count, ncclDataType_t type, int peer,
                  ncclComm_t group, cudaStream_t stream) {
    const int number = static_cast<int>(type);
    if (peer != 0 || !grouped || !is_group(group) || number < 0 || number > 9 || !stream) return result(invalid_argument);
    in.push_back({reinterpret_cast<uint64_t>(memory), count * type_bytes[number]});
    return result(done);
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    std::memset(id, 0x5a, sizeof *id);
    return result(done);
}
ncclResult_t ncclCommInitRank(ncclComm_t* group, int ranks, ncclUniqueId id, int rank) {
    if (ranks != 1 || rank != 0 || id.internal[0] != 0x5a || id.internal[127] != 0x5a) return result(invalid_argument);
    *group = reinterpret_cast<ncclComm_t>(new ModelledGroup);
    return result(done);
}
ncclResult_t ncclCommDestroy(ncclComm_t group) {
    if (!is_group(group)) return result(invalid_argument);
    delete reinterpret_cast<ModelledGroup*>(group);
    return result(done);
}
ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t group, cudaStream_t stream) {
    return same(from, to, count, type, operation, 0, group, stream);
}
ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t operation, int root,
                        ncclComm_t group, cudaStream_t stream) {
    return same(from, to, count, type, operation, root, group, stream);
}
ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root, ncclComm_t group,
                           cudaStream_t stream) {
    return same(from, to, count, type, {}, root, group, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t group,
                           cudaStream_t stream) {
    return same(from, to, count, type, {}, 0, group, stream);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                               ncclComm_t group, cudaStream_t stream) {
    return same(from, to, count, type, operation, 0, group, stream);
}
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t group, cudaStream_t stream) {
    return keep(sent, from, count, type, peer, group, stream);
}
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t group, cudaStream_t stream) {
    return keep(wanted, to, count, type, peer, group, stream);
}
ncclResult_t ncclGroupStart() {
    grouped = true;
    return result(done);
}
ncclResult_t ncclGroupEnd() {
    grouped = false;
    return result(exchange());
}
const char* ncclGetErrorString(ncclResult_t) {
    return "the modelled NCCL was called wrongly";
}

}  // extern "C"
