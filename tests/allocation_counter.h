// Counts what the whole program allocates, from its own operator new: for one test file of a program. Not inlined, so that
// the compiler does not pair a new with a free().
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

inline std::atomic<int64_t> allocations{0};
inline void* counted(size_t bytes, size_t alignment) {
    ++allocations;
    void* memory = alignment > alignof(std::max_align_t)
                       ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                       : std::malloc(bytes ? bytes : 1);
    if (!memory) throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void* operator new(size_t bytes) {
    return counted(bytes, 1);
}
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment) {
    return counted(bytes, static_cast<size_t>(alignment));
}
// What std::stable_sort takes its buffer with.
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(bytes ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t, std::align_val_t) noexcept {
    std::free(memory);
}
