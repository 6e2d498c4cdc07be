// An NCCL of one rank over the modelled driver (modelled_cuda_driver.cpp): every collective gives its input back, and a send
// meets the receive of its own group. So the communicator and the self-test run where there is no NVIDIA library.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

constexpr int done = 0, internal_error = 3, invalid_argument = 4, invalid_usage = 5;
constexpr size_t type_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};  // ncclDataType_t

struct ModelledId {
    char internal[128];
};
struct Pending {
    uint64_t address;
    size_t bytes;
};
std::vector<Pending> sent, wanted;
bool grouped = false;

int copy(uint64_t to, uint64_t from, size_t bytes) {
    using Copy = int (*)(uint64_t, uint64_t, size_t, void*);
    static const auto within = [] {
        const char* const name = std::getenv("LOCKSTEP_LIBCUDA");
        void* const library = name ? dlopen(name, RTLD_NOW | RTLD_NOLOAD) : nullptr;
        return library ? reinterpret_cast<Copy>(dlsym(library, "cuMemcpyDtoDAsync_v2")) : nullptr;
    }();
    if (!within) return internal_error;
    return to == from || within(to, from, bytes, nullptr) == 0 ? done : internal_error;
}
int same(const void* from, void* to, size_t count, int type) {
    if (type < 0 || type > 9) return invalid_argument;
    return copy(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), count * type_bytes[type]);
}
int exchange() {
    if (sent.size() != wanted.size()) return invalid_usage;  // it would wait for ever
    for (size_t i = 0; i < sent.size(); ++i)
        if (sent[i].bytes != wanted[i].bytes || copy(wanted[i].address, sent[i].address, sent[i].bytes) != done)
            return invalid_usage;
    sent.clear(), wanted.clear();
    return done;
}

}  // namespace

extern "C" {

int ncclGetUniqueId(ModelledId* id) {
    *id = {};
    return done;
}
int ncclCommInitRank(void** group, int ranks, ModelledId, int rank) {
    if (ranks != 1 || rank != 0) return invalid_argument;
    *group = new char;
    return done;
}
int ncclCommDestroy(void* group) {
    delete static_cast<char*>(group);
    return done;
}
int ncclAllReduce(const void* from, void* to, size_t count, int type, int, void*, void*) {
    return same(from, to, count, type);
}
int ncclReduce(const void* from, void* to, size_t count, int type, int, int root, void*, void*) {
    return root == 0 ? same(from, to, count, type) : invalid_argument;
}
int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, void*, void*) {
    return root == 0 ? same(from, to, count, type) : invalid_argument;
}
int ncclAllGather(const void* from, void* to, size_t count, int type, void*, void*) {
    return same(from, to, count, type);
}
int ncclReduceScatter(const void* from, void* to, size_t count, int type, int, void*, void*) {
    return same(from, to, count, type);
}
int ncclSend(const void* from, size_t count, int type, int peer, void*, void*) {
    if (peer != 0 || !grouped) return invalid_argument;
    sent.push_back({reinterpret_cast<uint64_t>(from), count * type_bytes[type]});
    return done;
}
int ncclRecv(void* to, size_t count, int type, int peer, void*, void*) {
    if (peer != 0 || !grouped) return invalid_argument;
    wanted.push_back({reinterpret_cast<uint64_t>(to), count * type_bytes[type]});
    return done;
}
int ncclGroupStart() {
    grouped = true;
    return done;
}
int ncclGroupEnd() {
    grouped = false;
    return exchange();
}
const char* ncclGetErrorString(int) {
    return "the modelled NCCL was called wrongly";
}

}  // extern "C"
