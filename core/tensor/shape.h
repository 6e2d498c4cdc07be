// Extents of a tensor, outermost first; [] is a scalar. A Shape also holds strides and lists of axes: at most 8 numbers, in
// place, so that copying a tensor allocates nothing. It reads like a std::vector<int64_t>, and turns into one.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace lockstep::tensor {

class Shape {
  public:
    static constexpr size_t most = 8;

    Shape() = default;
    Shape(std::initializer_list<int64_t> extents) : Shape(extents.begin(), extents.end()) {}
    Shape(const std::vector<int64_t>& extents) : Shape(extents.begin(), extents.end()) {}
    template <class Iterator>
    Shape(Iterator first, Iterator last) {
        for (; first != last; ++first) push_back(static_cast<int64_t>(*first));
    }
    static Shape filled(size_t count, int64_t value) {
        Shape shape;
        for (size_t i = 0; i < count; ++i) shape.push_back(value);
        return shape;
    }
    operator std::vector<int64_t>() const { return {begin(), end()}; }

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    int64_t* begin() { return values_.data(); }
    int64_t* end() { return values_.data() + size_; }
    const int64_t* begin() const { return values_.data(); }
    const int64_t* end() const { return values_.data() + size_; }
    int64_t& operator[](size_t i) { return values_[i]; }
    int64_t operator[](size_t i) const { return values_[i]; }
    int64_t& back() { return values_[size_ - 1]; }
    int64_t back() const { return values_[size_ - 1]; }
    int64_t front() const { return values_[0]; }
    void clear() { size_ = 0; }
    void pop_back() { --size_; }
    void push_back(int64_t value) {
        if (size_ == most) too_many();
        values_[size_++] = value;
    }
    void insert(const int64_t* before, int64_t value) {
        const auto at = static_cast<size_t>(before - begin());
        push_back(value);
        std::rotate(begin() + at, end() - 1, end());
    }
    void erase(const int64_t* at) {
        std::copy(at + 1, static_cast<const int64_t*>(end()), begin() + (at - begin()));
        --size_;
    }
    bool operator==(const Shape& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

  private:
    [[noreturn]] static void too_many();

    std::array<int64_t, most> values_ = {};
    size_t size_ = 0;
};

int64_t count_of(const Shape& shape);       // elements
std::string text_of(const Shape& shape);    // "[64, 784]"
Shape strides_of(const Shape& shape);       // in elements, when contiguous and row-major
size_t axis_of(int64_t axis, size_t rank);  // negative axes count from the end; throws Failure outside of the rank

// The shape that both broadcast to by NumPy's rule: extents agree from the right, or one of them is 1. Throws Failure with
// both.
Shape broadcast(const Shape& a, const Shape& b);

// Throws Failure unless every extent is at least 1 and kernels can count the elements in an int.
void check_shape(const Shape& shape, const std::string& name);

}  // namespace lockstep::tensor
