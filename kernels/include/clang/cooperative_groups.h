// cooperative_groups for clang without a toolkit: the thread block, tiles of it and the lanes that run together, as in
// CUDA's cooperative_groups.h and cooperative_groups/reduce.h.
#pragma once
#define LOCKSTEP_GROUP __inline__ __attribute__((always_inline, nodebug, device))

namespace cooperative_groups {

class thread_block {
  public:
    static LOCKSTEP_GROUP void sync() { __syncthreads(); }
    static LOCKSTEP_GROUP unsigned thread_rank() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static LOCKSTEP_GROUP unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static LOCKSTEP_GROUP unsigned num_threads() { return size(); }
    static LOCKSTEP_GROUP dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static LOCKSTEP_GROUP dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static LOCKSTEP_GROUP dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static LOCKSTEP_GROUP dim3 dim_threads() { return group_dim(); }
};
static LOCKSTEP_GROUP thread_block this_thread_block() { return {}; }

class grid_group {
  public:
    static LOCKSTEP_GROUP unsigned long long thread_rank() {
        return (unsigned long long)block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static LOCKSTEP_GROUP unsigned long long size() { return (unsigned long long)num_blocks() * thread_block::size(); }
    static LOCKSTEP_GROUP unsigned block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
    static LOCKSTEP_GROUP unsigned num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
    static LOCKSTEP_GROUP unsigned long long num_threads() { return size(); }
    static LOCKSTEP_GROUP dim3 block_index() { return thread_block::group_index(); }
    static LOCKSTEP_GROUP dim3 dim_blocks() { return group_dim(); }
    static LOCKSTEP_GROUP dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static LOCKSTEP_GROUP bool is_valid() { return word() != nullptr; }

    // One thread a block adds 1, that of block 0 what is missing to 2^31: the top bit turns when all have.
    using arrival_token = unsigned;
    static LOCKSTEP_GROUP arrival_token barrier_arrive() {
        if (!is_valid()) __trap();
        arrival_token before = 0;
        __syncthreads();
        if (thread_block::thread_rank() == 0) {
            __threadfence();
            before = atomicAdd(word(), block_rank() == 0 ? 0x80000000u - (num_blocks() - 1) : 1u);
        }
        return before;
    }
    static LOCKSTEP_GROUP void barrier_wait(arrival_token&& before) {
        if (thread_block::thread_rank() == 0) {
            while (((before ^ *(volatile unsigned*)word()) & 0x80000000u) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
    }
    static LOCKSTEP_GROUP void sync() { barrier_wait(barrier_arrive()); }

  private:
    static LOCKSTEP_GROUP unsigned* word() {  // in the workspace that the driver gives to a cooperative launch
        unsigned high, low;
        asm("mov.u32 %0, %%envreg1;" : "=r"(high));
        asm("mov.u32 %0, %%envreg2;" : "=r"(low));
        const unsigned long long at = (unsigned long long)high << 32 | low;
        return at ? (unsigned*)(at + 4) : nullptr;
    }
};
static LOCKSTEP_GROUP grid_group this_grid() { return {}; }

// Shuffles of any type that can be copied: word by word.
template <class T, class Shuffle>
static LOCKSTEP_GROUP T lockstep_by_words(T value, Shuffle shuffle) {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
    for (unsigned& word : words) word = shuffle(word);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
}

// Lanes of one warp, by mask.
class lockstep_lanes {
  public:
    LOCKSTEP_GROUP void sync() const { __syncwarp(mask_); }
    LOCKSTEP_GROUP int any(int p) const { return __any_sync(mask_, p); }
    LOCKSTEP_GROUP int all(int p) const { return __all_sync(mask_, p); }
    LOCKSTEP_GROUP unsigned mask() const { return mask_; }

  protected:
    static LOCKSTEP_GROUP unsigned lane() { return thread_block::thread_rank() & 31u; }
    unsigned mask_;
};

template <unsigned Size, class Parent = void>
class thread_block_tile;
template <unsigned Size>
class thread_block_tile<Size, void> : public lockstep_lanes {
  public:
    LOCKSTEP_GROUP thread_block_tile() {
        mask_ = Size == 32 ? 0xffffffffu : ((1u << (Size & 31u)) - 1) << (lane() / Size * Size);
    }
    LOCKSTEP_GROUP unsigned thread_rank() const { return lane() % Size; }
    static LOCKSTEP_GROUP constexpr unsigned size() { return Size; }
    static LOCKSTEP_GROUP constexpr unsigned num_threads() { return Size; }
    LOCKSTEP_GROUP unsigned meta_group_rank() const { return thread_block::thread_rank() / Size; }
    LOCKSTEP_GROUP unsigned meta_group_size() const { return (thread_block::size() + Size - 1) / Size; }
    LOCKSTEP_GROUP unsigned ballot(int p) const { return (__ballot_sync(mask_, p) & mask_) >> (lane() / Size * Size); }
    template <class T>
    LOCKSTEP_GROUP T shfl(T v, int from) const {
        return lockstep_by_words(v, [&](unsigned w) { return __shfl_sync(mask_, w, from, Size); });
    }
    template <class T>
    LOCKSTEP_GROUP T shfl_down(T v, unsigned by) const {
        return lockstep_by_words(v, [&](unsigned w) { return __shfl_down_sync(mask_, w, by, Size); });
    }
    template <class T>
    LOCKSTEP_GROUP T shfl_up(T v, unsigned by) const {
        return lockstep_by_words(v, [&](unsigned w) { return __shfl_up_sync(mask_, w, by, Size); });
    }
    template <class T>
    LOCKSTEP_GROUP T shfl_xor(T v, int with) const {
        return lockstep_by_words(v, [&](unsigned w) { return __shfl_xor_sync(mask_, w, with, Size); });
    }
    template <class T>
    LOCKSTEP_GROUP unsigned match_any(T v) const {
        return (__match_any_sync(mask_, v) & mask_) >> (lane() / Size * Size);
    }
};
template <unsigned Size, class Parent>  // of a group of some kind: the same lanes
class thread_block_tile : public thread_block_tile<Size> {
  public:
    LOCKSTEP_GROUP thread_block_tile() {}
    LOCKSTEP_GROUP thread_block_tile(const thread_block_tile<Size>& tile) : thread_block_tile<Size>(tile) {}
};
template <unsigned Size, class Group>
static LOCKSTEP_GROUP thread_block_tile<Size, Group> tiled_partition(const Group&) {
    return {};
}

class coalesced_group : public lockstep_lanes {
  public:
    LOCKSTEP_GROUP coalesced_group() { mask_ = __activemask(); }
    LOCKSTEP_GROUP explicit coalesced_group(unsigned mask) { mask_ = mask; }
    LOCKSTEP_GROUP unsigned ballot(int p) const { return packed(__ballot_sync(mask_, p)); }
    template <class T>
    LOCKSTEP_GROUP unsigned match_any(T v) const {
        return packed(__match_any_sync(mask_, v));
    }
    LOCKSTEP_GROUP unsigned meta_group_rank() const { return 0; }
    LOCKSTEP_GROUP unsigned meta_group_size() const { return 1; }
    LOCKSTEP_GROUP unsigned size() const { return (unsigned)__popc(mask_); }
    LOCKSTEP_GROUP unsigned num_threads() const { return size(); }
    LOCKSTEP_GROUP unsigned thread_rank() const { return (unsigned)__popc(mask_ & ((1u << lane()) - 1)); }
    template <class T>
    LOCKSTEP_GROUP T shfl(T v, unsigned from) const {
        unsigned rest = mask_;
        for (unsigned i = 0; i < from; ++i) rest &= rest - 1;
        return lockstep_by_words(v, [&](unsigned w) { return __shfl_sync(mask_, w, __ffs((int)rest) - 1); });
    }
    template <class T>
    LOCKSTEP_GROUP T shfl_down(T v, unsigned by) const {  // a lane that has none so far behind it keeps its own
        const unsigned rank = thread_rank();
        return shfl(v, rank + by < size() ? rank + by : rank);
    }
    template <class T>
    LOCKSTEP_GROUP T shfl_up(T v, unsigned by) const {
        const unsigned rank = thread_rank();
        return shfl(v, rank >= by ? rank - by : rank);
    }

  private:
    LOCKSTEP_GROUP unsigned packed(unsigned lanes) const {  // by rank
        unsigned ranks = 0, rank = 0;
        for (unsigned rest = mask_; rest; rest &= rest - 1, ++rank)
            if (lanes & rest & (0u - rest)) ranks |= 1u << rank;
        return ranks;
    }
};
static LOCKSTEP_GROUP coalesced_group coalesced_threads() { return {}; }

// A group of any of these kinds, for functions that take whichever comes.
class thread_group {
  public:
    LOCKSTEP_GROUP thread_group(unsigned size, unsigned rank, unsigned mask) : size_(size), rank_(rank), mask_(mask) {}
    LOCKSTEP_GROUP thread_group(const thread_block& block) : size_(block.size()), rank_(block.thread_rank()), mask_(0) {}
    template <unsigned Size, class Parent>
    LOCKSTEP_GROUP thread_group(const thread_block_tile<Size, Parent>& tile)
        : size_(Size), rank_(tile.thread_rank()), mask_(tile.mask()) {}
    LOCKSTEP_GROUP thread_group(const coalesced_group& lanes)
        : size_(lanes.size()), rank_(lanes.thread_rank()), mask_(lanes.mask()) {}
    LOCKSTEP_GROUP void sync() const {
        if (mask_)
            __syncwarp(mask_);
        else
            __syncthreads();
    }
    LOCKSTEP_GROUP unsigned size() const { return size_; }
    LOCKSTEP_GROUP unsigned num_threads() const { return size_; }
    LOCKSTEP_GROUP unsigned thread_rank() const { return rank_; }
    LOCKSTEP_GROUP unsigned mask() const { return mask_; }

  private:
    unsigned size_, rank_, mask_;  // of the lanes; 0: the block
};

// Tiles whose size is known at run time alone: a power of two up to a warp's.
static LOCKSTEP_GROUP thread_group tiled_partition(const thread_group& parent, unsigned size) {
    const unsigned lane = thread_block::thread_rank() & 31u, first = lane / size * size;
    const unsigned lanes = size >= 32 ? 0xffffffffu : ((1u << size) - 1) << first;
    return {size, lane - first, parent.mask() ? parent.mask() & lanes : lanes};
}
// The lanes of a group that give the same label, or the same truth.
template <class Group, class T>
static LOCKSTEP_GROUP coalesced_group labeled_partition(const Group& group, T label) {
    return coalesced_group(__match_any_sync(group.mask(), label) & group.mask());
}
template <class Group>
static LOCKSTEP_GROUP coalesced_group binary_partition(const Group& group, bool p) {
    const unsigned yes = __ballot_sync(group.mask(), p) & group.mask();
    return coalesced_group(p ? yes : group.mask() & ~yes);
}

template <class Group>
static LOCKSTEP_GROUP void sync(const Group& group) {
    group.sync();
}
template <class T>
struct plus {
    LOCKSTEP_GROUP T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    LOCKSTEP_GROUP T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    LOCKSTEP_GROUP T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    LOCKSTEP_GROUP T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    LOCKSTEP_GROUP T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    LOCKSTEP_GROUP T operator()(T a, T b) const { return a ^ b; }
};
template <unsigned Size, class Parent, class T, class Operation>
static LOCKSTEP_GROUP T reduce(const thread_block_tile<Size, Parent>& tile, T value, Operation operation) {
#pragma unroll
    for (int with = Size / 2; with > 0; with /= 2) value = operation(value, tile.shfl_xor(value, with));
    return value;
}
template <class T, class Operation>
static LOCKSTEP_GROUP T reduce(const coalesced_group& lanes, T value, Operation operation) {
    T result = lanes.shfl(value, 0);
    for (unsigned from = 1; from < lanes.size(); ++from) result = operation(result, lanes.shfl(value, from));
    return result;
}
template <unsigned Size, class Parent, class T, class Operation = plus<T>>
static LOCKSTEP_GROUP T inclusive_scan(const thread_block_tile<Size, Parent>& tile, T value, Operation operation = {}) {
#pragma unroll
    for (unsigned by = 1; by < Size; by *= 2) {
        const T before = tile.shfl_up(value, by);
        if (tile.thread_rank() >= by) value = operation(before, value);
    }
    return value;
}
// The first lane's result is T{}: nothing for a sum, undefined for other operations, as CUDA has it.
template <unsigned Size, class Parent, class T, class Operation = plus<T>>
static LOCKSTEP_GROUP T exclusive_scan(const thread_block_tile<Size, Parent>& tile, T value, Operation operation = {}) {
    const T before = tile.shfl_up(inclusive_scan(tile, value, operation), 1);
    return tile.thread_rank() == 0 ? T{} : before;
}

}  // namespace cooperative_groups
#undef LOCKSTEP_GROUP
