// Device memory by reference count, and tensors on it: {shape, strides, offset, element type, storage}. Two tensors may show
// the same storage (views). Element types are f64 f32 f16 bf16 i64 i32 u8.
// A Heap takes memory from its Device and keeps it: what is freed in a step is handed out again only after recycle(),
// oldest first. So a step sees the same addresses every time, whether or not somebody looks at its tensors, and
// the modelled GPU's timing stays the same; and until recycle() a freed tensor's contents can still be read.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/device/device.h"
#include "core/tensor/shape.h"

namespace lockstep::tensor {

// optimizer: what it keeps from step to step; buffer: gathered weights, what is being sent.
enum class Purpose : uint8_t { parameter, data, activation, gradient, optimizer, buffer };
using BytesByPurpose = std::array<int64_t, 6>;  // in the order of Purpose
inline bool kept_from_step_to_step(Purpose purpose) {
    return purpose == Purpose::parameter || purpose == Purpose::optimizer;
}

struct Label {  // a name in two parts, put together only when somebody reads it: "loss", "probabilities"
    std::string_view name, what;

    Label(std::string_view n, std::string_view w = {}) : name(n), what(w) {}
    Label(const std::string& n) : name(n) {}
    Label(const char* n) : name(n) {}
    std::string text() const;
};

struct HeapState;
struct Tensor;

// Who records what happens to a heap's memory (core/graph). Functions may be null.
struct HeapListener {
    std::function<void(const Tensor&, const Label&)> on_tensor;  // a tensor with memory of its own was made
    // Host values of type `type` went into all of a tensor.
    std::function<void(const Tensor&, const void* values, DType type)> on_fill;
    std::function<void(const Tensor&)> on_read;  // values went to the host
    std::function<void()> on_bytes;              // live bytes changed
};

class Storage {  // one buffer, given back to its heap by the last owner
  public:
    Storage(std::shared_ptr<HeapState> heap, device::Pointer pointer, uint64_t serial, int64_t bytes, Purpose purpose);
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    device::Pointer pointer() const { return pointer_; }
    int64_t bytes() const { return bytes_; }
    Purpose purpose() const { return purpose_; }

  private:
    std::shared_ptr<HeapState> heap_;
    device::Pointer pointer_;
    uint64_t serial_;  // counts the heap's allocations from the device
    int64_t bytes_;
    Purpose purpose_;
};

class Heap {
  public:
    explicit Heap(device::Device& device);  // the device must outlive the heap and all its tensors

    std::shared_ptr<Storage> allocate(int64_t bytes, const Label& name, Purpose purpose);
    void recycle();              // what was freed since the last call may be handed out again
    int64_t live_bytes() const;  // of everything but parameters and what optimizers keep
    int64_t peak_bytes() const;  // the most that live_bytes() was since the last recycle()
    const BytesByPurpose& live_by_purpose() const;
    int64_t device_bytes() const;         // taken from the device: live, freed in this step, and free
    uint64_t device_allocations() const;  // how often the device was asked: a step in steady state adds none
    void limit(int64_t bytes);            // of device_bytes(): beyond it allocate() throws Failure; 0: none
    void release_free();                  // gives back to the device what is free: of this step only after recycle()
    device::Device& device() const;
    bool multiplies_halves() const;       // by tensor cores: a modelled GPU that has them, or a real one
    void listen(HeapListener* listener);  // null: nobody listens. It must outlive its listening
    HeapListener* listener() const;

  private:
    std::shared_ptr<HeapState> state_;
};

struct Tensor {
    Shape shape, strides;  // strides in elements; 0 repeats
    int64_t offset = 0;    // of the first element, in elements
    DType dtype = DType::f32;
    std::shared_ptr<Storage> storage;  // null: no tensor
    int32_t largest = -1;              // of labels: the largest one; -1: not known

    explicit operator bool() const { return storage != nullptr; }
    device::Pointer pointer() const {  // of the first element
        return {storage->pointer().address + static_cast<uint64_t>(offset) * size_of(dtype)};
    }
    int64_t count() const { return count_of(shape); }
    int64_t bytes() const { return count() * static_cast<int64_t>(size_of(dtype)); }
    bool contiguous() const;
};

bool floating(DType type);  // f64 f32 f16 bf16

Tensor make_tensor(Heap& heap, const Shape& shape, const Label& name, Purpose purpose, DType dtype = DType::f32);
// Values are rounded to `dtype` (f16, bf16: to nearest even; integers: they must be whole). Throws Failure.
Tensor tensor_from(Heap& heap, const Shape& shape, std::span<const float> values, const std::string& name,
                   Purpose purpose = Purpose::data);
Tensor tensor_from(Heap& heap, const Shape& shape, std::span<const float> values, const std::string& name, Purpose purpose,
                   DType dtype);
Tensor tensor_from(Heap& heap, const Shape& shape, std::span<const double> values, const std::string& name,
                   Purpose purpose = Purpose::data, DType dtype = DType::f64);
Tensor labels_from(Heap& heap, std::span<const int32_t> labels, const std::string& name);  // throws on a negative label
Tensor indices_from(Heap& heap, const Shape& shape, std::span<const int64_t> values, const std::string& name);  // i64

// Host copies in logical order, of any tensor of any type; views too.
std::vector<float> to_host(const Heap& heap, const Tensor& tensor);
std::vector<double> values_of(const Heap& heap, const Tensor& tensor);
// The same for an address that may be owned no more, until the heap recycles.
std::vector<double> read_values(device::Device& device, device::Pointer first, const Shape& shape, const Shape& strides,
                                DType dtype);
// Overwrites a contiguous tensor with values rounded to its type. Throws Failure on another count.
void write_values(const Heap& heap, const Tensor& tensor, std::span<const double> values, const std::string& name);
// Rounds to `to` as tensor_from does: `count` values of type f32, f64, i32 or i64. Throws Failure where an integer type
// cannot hold a value; `name` says whose.
void convert_values(const void* from, DType from_type, std::byte* into, DType to, size_t count, const std::string& name);

// Views: the same storage, another shape. All throw Failure with the shapes.
Tensor reshaped(const Tensor& tensor, const Shape& shape);  // contiguous only; one extent may be -1
Tensor permuted(const Tensor& tensor, const Shape& axes);   // axes[i]: which axis comes i-th
Tensor sliced(const Tensor& tensor, int64_t axis, int64_t start, int64_t stop, int64_t step = 1);
Tensor expanded(const Tensor& tensor, const Shape& shape);  // new leading axes, and extents of 1, repeat by stride 0

}  // namespace lockstep::tensor
