// Device memory by reference count, and tensors on it: contiguous, row-major, f32 (labels: i32).
// A Heap takes memory from its Device and keeps it: what is freed in a step is handed out again only after recycle(),
// oldest first. So a step sees the same addresses every time, whether or not somebody looks at its tensors, and
// the modelled GPU's timing stays the same; and until recycle() a freed tensor's contents can still be read.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/device/device.h"
#include "core/tensor/shape.h"

namespace lockstep::tensor {

enum class Purpose : uint8_t { parameter, data, activation, gradient };

struct HeapState;

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

    std::shared_ptr<Storage> allocate(int64_t bytes, const std::string& name, Purpose purpose);
    void recycle();              // what was freed since the last call may be handed out again
    int64_t live_bytes() const;  // of everything but parameters
    device::Device& device() const;

  private:
    std::shared_ptr<HeapState> state_;
};

struct Tensor {
    Shape shape;
    DType dtype = DType::f32;
    std::shared_ptr<Storage> storage;  // null: no tensor
    int32_t largest = -1;              // of labels: the largest one

    explicit operator bool() const { return storage != nullptr; }
    device::Pointer pointer() const { return storage->pointer(); }
    int64_t count() const { return count_of(shape); }
    int64_t bytes() const { return count() * static_cast<int64_t>(size_of(dtype)); }
};

Tensor make_tensor(Heap& heap, const Shape& shape, const std::string& name, Purpose purpose, DType dtype = DType::f32);
Tensor tensor_from(Heap& heap, const Shape& shape, std::span<const float> values, const std::string& name,
                   Purpose purpose = Purpose::data);
Tensor labels_from(Heap& heap, std::span<const int32_t> labels, const std::string& name);  // throws on a negative label
std::vector<float> to_host(const Heap& heap, const Tensor& tensor);

}  // namespace lockstep::tensor
