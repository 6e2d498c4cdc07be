// A piece of work that a stream does: what a call asks for, and what a node of a graph holds. Runtime::submit takes it: it
// is run at once, or recorded where the stream is capturing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::runtime {

struct Kernel;
struct EventState;
struct Graph;

struct EmptyWork {};

struct KernelWork {
    Kernel* kernel = nullptr;
    simt::Dim3 grid, block, cluster{1, 1, 1};
    uint64_t shared = 0;
    bool cooperative = false;
    uint32_t device = 0;
    std::vector<std::byte> parameters;  // as the kernel reads them, copied when the launch was asked for
};

// `slices` pictures of `rows` rows of `bytes` bytes; each side has its own steps from a row to the next one, and from a
// picture to the next one. `kind` is a cudaMemcpyKind.
struct CopyWork {
    uint64_t to = 0, to_pitch = 0, to_slice = 0;
    uint64_t from = 0, from_pitch = 0, from_slice = 0;
    uint64_t bytes = 0, rows = 1, slices = 1;
    int kind = 4;
    const void* to_array = nullptr;  // cudaArray_t where a side is one: for those who ask what a node copies
    const void* from_array = nullptr;
};

struct FillWork {
    uint64_t to = 0, pitch = 0;
    uint32_t value = 0, element_bytes = 1;
    uint64_t width = 0, rows = 1;  // in elements
};

struct HostWork {
    void (*function)(void* data) = nullptr;
    void* data = nullptr;
    std::function<void()> callback;  // instead, of cudaStreamAddCallback
};

struct RecordWork {
    EventState* event = nullptr;
};
struct WaitWork {
    EventState* event = nullptr;
};

// Memory of a graph: it lies there from when its node is added, and its address does not change.
struct AllocateWork {
    uint64_t address = 0, bytes = 0;
};
struct ReleaseWork {
    uint64_t address = 0;
};

struct ChildWork {
    std::shared_ptr<Graph> graph;  // its own copy
};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, RecordWork, WaitWork, AllocateWork,
                          ReleaseWork, ChildWork>;

}  // namespace lockstep::runtime
