// Copies into shared memory by a whole group: by cp.async from compute capability 8.0 on, 16 or 4 bytes a thread and step.
#pragma once
#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {

template <class Group, class T>
static __inline__ __attribute__((always_inline, nodebug, device)) void memcpy_async(const Group& group, T* to, const T* from,
                                                                                    size_t bytes) {
    char* const out = (char*)to;
    const char* const in = (const char*)from;
    const size_t threads = group.num_threads(), rank = group.thread_rank();
    const size_t odd = ((size_t)out | (size_t)in | bytes) & 15;
    if (odd == 0)
        for (size_t i = rank * 16; i < bytes; i += threads * 16) __pipeline_memcpy_async(out + i, in + i, 16);
    else if ((odd & 3) == 0)
        for (size_t i = rank * 4; i < bytes; i += threads * 4) __pipeline_memcpy_async(out + i, in + i, 4);
    else
        for (size_t i = rank; i < bytes; i += threads) out[i] = in[i];
    __pipeline_commit();
}
template <class Group>
static __inline__ __attribute__((always_inline, nodebug, device)) void wait(const Group& group) {
    __pipeline_wait_prior(0);
    group.sync();
}
template <unsigned Newest, class Group>  // all but the newest so many
static __inline__ __attribute__((always_inline, nodebug, device)) void wait_prior(const Group& group) {
    __pipeline_wait_prior(Newest);
    group.sync();
}

}  // namespace cooperative_groups
