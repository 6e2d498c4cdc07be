#include "core/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <unordered_map>

#include "core/base/diagnostic.h"
#include "core/model/gpus/gpu_spec.h"

namespace lockstep::tensor {

std::string Label::text() const {
    return what.empty() ? std::string(name) : fmt::format("{} {}", name, what);
}

namespace {
// Memory of the tensors' own bookkeeping, used again: one size, as all are of one type.
struct Blocks {
    std::vector<void*> free;
    ~Blocks() {
        for (void* block : free) ::operator delete(block);
    }
};
template <class T>
struct BlockAllocator {
    using value_type = T;
    std::shared_ptr<Blocks> blocks;

    explicit BlockAllocator(std::shared_ptr<Blocks> of) : blocks(std::move(of)) {}
    template <class U>
    BlockAllocator(const BlockAllocator<U>& other) : blocks(other.blocks) {}
    T* allocate(size_t count) {
        if (count != 1 || blocks->free.empty()) return static_cast<T*>(::operator new(count * sizeof(T)));
        void* block = blocks->free.back();
        blocks->free.pop_back();
        return static_cast<T*>(block);
    }
    void deallocate(T* block, size_t) { blocks->free.push_back(block); }
    bool operator==(const BlockAllocator& other) const { return blocks == other.blocks; }
};
}  // namespace

struct HeapState {
    device::Device* device = nullptr;
    std::shared_ptr<Blocks> blocks = std::make_shared<Blocks>();  // of Storage
    using Buffer = std::pair<uint64_t, uint64_t>;                 // serial, address
    std::unordered_map<int64_t, std::vector<Buffer>> free;        // by size, a heap with the oldest on top
    std::vector<std::pair<int64_t, Buffer>> freed_now;            // since the last recycle()
    uint64_t allocations = 0;
    HeapListener* listener = nullptr;
    bool multiplies_halves = false;
    int64_t live = 0, peak = 0, taken = 0, limit = 0;
    BytesByPurpose by_purpose = {};

    void changed(Purpose purpose, int64_t bytes) {
        if (!kept_from_step_to_step(purpose)) live += bytes;
        peak = std::max(peak, live);
        by_purpose[static_cast<size_t>(purpose)] += bytes;
        if (listener && listener->on_bytes) listener->on_bytes();
    }

    ~HeapState() {
        for (const auto& [bytes, buffer] : freed_now) device->release({buffer.second});
        for (const auto& [bytes, buffers] : free)
            for (const auto& [serial, address] : buffers) device->release({address});
    }
};

Storage::Storage(std::shared_ptr<HeapState> heap, device::Pointer pointer, uint64_t serial, int64_t bytes, Purpose purpose)
    : heap_(std::move(heap)), pointer_(pointer), serial_(serial), bytes_(bytes), purpose_(purpose) {
    heap_->changed(purpose_, bytes_);
}

Storage::~Storage() {
    heap_->changed(purpose_, -bytes_);
    heap_->freed_now.push_back({bytes_, {serial_, pointer_.address}});
}

Heap::Heap(device::Device& device) : state_(std::make_shared<HeapState>()) {
    state_->device = &device;
    const std::string name = device.name();
    state_->multiplies_halves = name.starts_with("cuda");
    if (name.starts_with("sim:"))
        if (const auto gpu = model::gpu_named(name.substr(4)))
            state_->multiplies_halves = gpu.value().fp16_tensor_tflops.value > 0;
}

bool Heap::multiplies_halves() const {
    return state_->multiplies_halves;
}

std::shared_ptr<Storage> Heap::allocate(int64_t bytes, const Label& name, Purpose purpose) {
    device::Pointer pointer;
    uint64_t serial = 0;
    auto found = state_->free.find(bytes);
    if (found != state_->free.end() && !found->second.empty()) {
        auto& buffers = found->second;
        std::pop_heap(buffers.begin(), buffers.end(), std::greater<>());
        serial = buffers.back().first;
        pointer.address = buffers.back().second;
        buffers.pop_back();
    } else {
        if (state_->limit != 0 && bytes > state_->limit - state_->taken) release_free();
        if (state_->limit != 0 && bytes > state_->limit - state_->taken)
            throw Failure(fmt::format("with {} of {} bytes the tensors would take more than {} MiB at once", name.text(),
                                      bytes, state_->limit >> 20));
        pointer = state_->device->allocate(static_cast<size_t>(bytes), name.text());
        serial = state_->allocations++;
        state_->taken += bytes;
    }
    return std::allocate_shared<Storage>(BlockAllocator<Storage>(state_->blocks), state_, pointer, serial, bytes, purpose);
}

void Heap::recycle() {
    for (const auto& [bytes, buffer] : state_->freed_now) {
        auto& buffers = state_->free[bytes];
        buffers.push_back(buffer);
        std::push_heap(buffers.begin(), buffers.end(), std::greater<>());
    }
    state_->freed_now.clear();
    state_->peak = state_->live;
}

int64_t Heap::live_bytes() const {
    return state_->live;
}
int64_t Heap::peak_bytes() const {
    return state_->peak;
}
const BytesByPurpose& Heap::live_by_purpose() const {
    return state_->by_purpose;
}
int64_t Heap::device_bytes() const {
    return state_->taken;
}
uint64_t Heap::device_allocations() const {
    return state_->allocations;
}

void Heap::limit(int64_t bytes) {
    state_->limit = bytes;
}

void Heap::release_free() {
    for (const auto& [bytes, buffers] : state_->free)
        for (const auto& [serial, address] : buffers) {
            state_->device->release({address});
            state_->taken -= bytes;
        }
    state_->free.clear();
}

device::Device& Heap::device() const {
    return *state_->device;
}

void Heap::listen(HeapListener* listener) {
    state_->listener = listener;
}
HeapListener* Heap::listener() const {
    return state_->listener;
}

static void tell_fill(const Heap& heap, const Tensor& tensor, const void* values, DType type) {
    const HeapListener* listener = heap.listener();
    if (listener && listener->on_fill) listener->on_fill(tensor, values, type);
}
static void tell_read(const Heap& heap, const Tensor& tensor) {
    const HeapListener* listener = heap.listener();
    if (listener && listener->on_read) listener->on_read(tensor);
}

bool floating(DType type) {
    return type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16;
}

bool Tensor::contiguous() const {
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && strides[i] != stride) return false;
        stride *= shape[i];
    }
    return true;
}

Tensor make_tensor(Heap& heap, const Shape& shape, const Label& name, Purpose purpose, DType dtype) {
    int64_t count = 1, most = std::numeric_limits<int32_t>::max();
    for (int64_t extent : shape) {
        if (extent > most / count) most = std::max(most, heap.device().most_elements());
        if (extent < 1 || extent > most / count) check_shape(shape, name.text());
        count *= extent;
    }
    Tensor tensor{shape, strides_of(shape), 0, dtype, nullptr, -1};
    tensor.storage = heap.allocate(count * static_cast<int64_t>(size_of(dtype)), name, purpose);
    if (const HeapListener* listener = heap.listener(); listener && listener->on_tensor) listener->on_tensor(tensor, name);
    return tensor;
}

namespace {
void put(std::byte* to, DType type, double value, const std::string& name) {
    const auto store = [&](auto typed) { std::memcpy(to, &typed, sizeof typed); };
    const auto whole = [&](auto least, auto most) {
        if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) || value != std::floor(value))
            throw Failure(fmt::format("{} holds {}, which no {} can", name, value, name_of(type)));
    };
    switch (type) {
        case DType::f64:
            return store(value);
        case DType::f32:
            return store(static_cast<float>(value));
        case DType::f16:
            return store(f32_to_f16(static_cast<float>(value)));
        case DType::bf16:
            return store(f32_to_bf16(static_cast<float>(value)));
        case DType::i64:
            whole(-9007199254740992.0, 9007199254740992.0);  // 2^53: beyond, a double skips whole numbers
            return store(static_cast<int64_t>(value));
        case DType::i32:
            whole(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
            return store(static_cast<int32_t>(value));
        case DType::u8:
            whole(0, 255);
            return store(static_cast<uint8_t>(value));
        default:
            throw Failure(fmt::format("{}: tensors do not hold {}", name, name_of(type)));
    }
}

double get(const std::byte* from, DType type) {
    const auto load = [&](auto typed) {
        std::memcpy(&typed, from, sizeof typed);
        return typed;
    };
    switch (type) {
        case DType::f64:
            return load(double{});
        case DType::f32:
            return static_cast<double>(load(float{}));
        case DType::f16:
            return static_cast<double>(f16_to_f32(load(uint16_t{})));
        case DType::bf16:
            return static_cast<double>(bf16_to_f32(load(uint16_t{})));
        case DType::i64:
            return static_cast<double>(load(int64_t{}));
        case DType::i32:
            return static_cast<double>(load(int32_t{}));
        case DType::u8:
            return static_cast<double>(load(uint8_t{}));
        default:
            throw Failure(fmt::format("tensors do not hold {}", name_of(type)));
    }
}

void check_count(const Shape& shape, size_t values, const std::string& name) {
    check_shape(shape, name);
    if (count_of(shape) != static_cast<int64_t>(values))
        throw Failure(fmt::format("{} of shape {} cannot hold {} values", name, text_of(shape), values));
}

// Calls each(offset) for the elements in logical order.
template <class Each>
void for_each_offset(const Shape& shape, const Shape& strides, Each each) {
    Shape at = Shape::filled(shape.size(), 0);
    int64_t offset = 0;
    for (int64_t left = count_of(shape); left > 0; --left) {
        each(offset);
        for (size_t i = shape.size(); i-- > 0;) {
            offset += strides[i];
            if (++at[i] < shape[i]) break;
            offset -= strides[i] * shape[i];
            at[i] = 0;
        }
    }
}
}  // namespace

Tensor tensor_from(Heap& heap, const Shape& shape, std::span<const float> values, const std::string& name, Purpose purpose) {
    check_count(shape, values.size(), name);
    return tensor_from(heap, shape, values, name, purpose, DType::f32);
}

void convert_values(const void* from, DType from_type, std::byte* into, DType to, size_t count, const std::string& name) {
    const size_t from_size = size_of(from_type), size = size_of(to);
    if (from_type == to) {
        std::memcpy(into, from, count * size);
        return;
    }
    const auto* bytes = static_cast<const std::byte*>(from);
    for (size_t i = 0; i < count; ++i) put(into + i * size, to, get(bytes + i * from_size, from_type), name);
}

Tensor tensor_from(Heap& heap, const Shape& shape, std::span<const float> values, const std::string& name, Purpose purpose,
                   DType dtype) {
    check_count(shape, values.size(), name);
    Tensor tensor = make_tensor(heap, shape, name, purpose, dtype);
    if (dtype == DType::f32) {
        heap.device().copy_in(tensor.pointer(), values.data(), values.size_bytes());
    } else {
        std::vector<std::byte> bytes(values.size() * size_of(dtype));
        convert_values(values.data(), DType::f32, bytes.data(), dtype, values.size(), name);
        heap.device().copy_in(tensor.pointer(), bytes.data(), bytes.size());
    }
    tell_fill(heap, tensor, values.data(), DType::f32);
    return tensor;
}

Tensor tensor_from(Heap& heap, const Shape& shape, std::span<const double> values, const std::string& name, Purpose purpose,
                   DType dtype) {
    check_count(shape, values.size(), name);
    Tensor tensor = make_tensor(heap, shape, name, purpose, dtype);
    write_values(heap, tensor, values, name);
    return tensor;
}

void write_values(const Heap& heap, const Tensor& tensor, std::span<const double> values, const std::string& name) {
    check_count(tensor.shape, values.size(), name);
    if (!tensor.contiguous()) throw Failure(fmt::format("{} is a view: its values cannot be written at once", name));
    const size_t size = size_of(tensor.dtype);
    std::vector<std::byte> bytes(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i) put(bytes.data() + i * size, tensor.dtype, values[i], name);
    heap.device().copy_in(tensor.pointer(), bytes.data(), bytes.size());
    tell_fill(heap, tensor, values.data(), DType::f64);
}

Tensor labels_from(Heap& heap, std::span<const int32_t> labels, const std::string& name) {
    Tensor tensor = make_tensor(heap, {static_cast<int64_t>(labels.size())}, name, Purpose::data, DType::i32);
    for (int32_t label : labels) {
        if (label < 0) throw Failure(fmt::format("{} holds the label {}: labels count from 0", name, label));
        tensor.largest = std::max(tensor.largest, label);
    }
    heap.device().copy_in(tensor.pointer(), labels.data(), labels.size_bytes());
    tell_fill(heap, tensor, labels.data(), DType::i32);
    return tensor;
}

Tensor indices_from(Heap& heap, const Shape& shape, std::span<const int64_t> values, const std::string& name) {
    check_count(shape, values.size(), name);
    Tensor tensor = make_tensor(heap, shape, name, Purpose::data, DType::i64);
    heap.device().copy_in(tensor.pointer(), values.data(), values.size_bytes());
    tell_fill(heap, tensor, values.data(), DType::i64);
    return tensor;
}

std::vector<double> read_values(device::Device& device, device::Pointer first, const Shape& shape, const Shape& strides,
                                DType dtype) {
    int64_t last = 0;
    for (size_t i = 0; i < shape.size(); ++i) last += strides[i] * (shape[i] - 1);
    const size_t size = size_of(dtype);
    std::vector<std::byte> bytes(static_cast<size_t>(last + 1) * size);
    device.copy_out(bytes.data(), first, bytes.size());
    std::vector<double> values;
    values.reserve(static_cast<size_t>(count_of(shape)));
    for_each_offset(shape, strides, [&](int64_t offset) {
        values.push_back(get(bytes.data() + static_cast<size_t>(offset) * size, dtype));
    });
    return values;
}

std::vector<double> values_of(const Heap& heap, const Tensor& tensor) {
    tell_read(heap, tensor);
    return read_values(heap.device(), tensor.pointer(), tensor.shape, tensor.strides, tensor.dtype);
}

std::vector<float> to_host(const Heap& heap, const Tensor& tensor) {
    if (tensor.dtype == DType::f32 && tensor.contiguous()) {
        tell_read(heap, tensor);
        std::vector<float> values(static_cast<size_t>(tensor.count()));
        heap.device().copy_out(values.data(), tensor.pointer(), values.size() * sizeof(float));
        return values;
    }
    const std::vector<double> wide = values_of(heap, tensor);
    std::vector<float> values;
    values.reserve(wide.size());
    for (double value : wide) values.push_back(static_cast<float>(value));
    return values;
}

}  // namespace lockstep::tensor
