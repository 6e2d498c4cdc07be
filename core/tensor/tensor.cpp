#include "core/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

#include "core/base/diagnostic.h"

namespace lockstep::tensor {

struct HeapState {
    device::Device* device = nullptr;
    using Buffer = std::pair<uint64_t, uint64_t>;       // serial, address
    std::map<int64_t, std::set<Buffer>> free;           // by size, oldest first
    std::vector<std::pair<int64_t, Buffer>> freed_now;  // since the last recycle()
    uint64_t allocations = 0;
    int64_t live = 0;

    ~HeapState() {
        for (const auto& [bytes, buffer] : freed_now) free[bytes].insert(buffer);
        for (const auto& [bytes, buffers] : free)
            for (const auto& [serial, address] : buffers) device->release({address});
    }
};

Storage::Storage(std::shared_ptr<HeapState> heap, device::Pointer pointer, uint64_t serial, int64_t bytes, Purpose purpose)
    : heap_(std::move(heap)), pointer_(pointer), serial_(serial), bytes_(bytes), purpose_(purpose) {
    if (purpose_ != Purpose::parameter) heap_->live += bytes_;
}

Storage::~Storage() {
    if (purpose_ != Purpose::parameter) heap_->live -= bytes_;
    heap_->freed_now.push_back({bytes_, {serial_, pointer_.address}});
}

Heap::Heap(device::Device& device) : state_(std::make_shared<HeapState>()) {
    state_->device = &device;
}

std::shared_ptr<Storage> Heap::allocate(int64_t bytes, const std::string& name, Purpose purpose) {
    device::Pointer pointer;
    uint64_t serial = 0;
    auto found = state_->free.find(bytes);
    if (found != state_->free.end() && !found->second.empty()) {
        serial = found->second.begin()->first;
        pointer.address = found->second.begin()->second;
        found->second.erase(found->second.begin());
    } else {
        pointer = state_->device->allocate(static_cast<size_t>(bytes), name);
        serial = state_->allocations++;
    }
    return std::make_shared<Storage>(state_, pointer, serial, bytes, purpose);
}

void Heap::recycle() {
    for (const auto& [bytes, buffer] : state_->freed_now) state_->free[bytes].insert(buffer);
    state_->freed_now.clear();
}

int64_t Heap::live_bytes() const {
    return state_->live;
}

device::Device& Heap::device() const {
    return *state_->device;
}

Tensor make_tensor(Heap& heap, const Shape& shape, const std::string& name, Purpose purpose, DType dtype) {
    check_shape(shape, name);
    Tensor tensor{shape, dtype, nullptr, -1};
    tensor.storage = heap.allocate(tensor.bytes(), name, purpose);
    return tensor;
}

Tensor tensor_from(Heap& heap, const Shape& shape, std::span<const float> values, const std::string& name, Purpose purpose) {
    check_shape(shape, name);
    if (count_of(shape) != static_cast<int64_t>(values.size()))
        throw Failure(fmt::format("{} of shape {} cannot hold {} values", name, text_of(shape), values.size()));
    Tensor tensor = make_tensor(heap, shape, name, purpose);
    heap.device().copy_in(tensor.pointer(), values.data(), values.size_bytes());
    return tensor;
}

Tensor labels_from(Heap& heap, std::span<const int32_t> labels, const std::string& name) {
    Tensor tensor = make_tensor(heap, {static_cast<int64_t>(labels.size())}, name, Purpose::data, DType::i32);
    for (int32_t label : labels) {
        if (label < 0) throw Failure(fmt::format("{} holds the label {}: labels count from 0", name, label));
        tensor.largest = std::max(tensor.largest, label);
    }
    heap.device().copy_in(tensor.pointer(), labels.data(), labels.size_bytes());
    return tensor;
}

std::vector<float> to_host(const Heap& heap, const Tensor& tensor) {
    assert(tensor && tensor.dtype == DType::f32);
    std::vector<float> values(static_cast<size_t>(tensor.count()));
    heap.device().copy_out(values.data(), tensor.pointer(), values.size() * sizeof(float));
    return values;
}

}  // namespace lockstep::tensor
