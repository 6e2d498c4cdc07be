// The atomics that nvcc has built in since CUDA 12.8, by order and scope. The modelled machine makes no difference between
// scopes, and every atomic there is done before its thread goes on.
#pragma once
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
LOCKSTEP_DEVICE void lockstep_order(int order) {
    if (order != __NV_ATOMIC_RELAXED) __threadfence();
}
LOCKSTEP_DEVICE void __nv_atomic_thread_fence(int order, int = __NV_THREAD_SCOPE_SYSTEM) { lockstep_order(order); }
template <class T>
LOCKSTEP_DEVICE T __nv_atomic_load_n(T* p, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
    const T value = *(volatile T*)p;
    lockstep_order(order);
    return value;
}
template <class T, class V>
LOCKSTEP_DEVICE void __nv_atomic_store_n(T* p, V value, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
    lockstep_order(order);
    *(volatile T*)p = (T)value;
}
#define LOCKSTEP_ORDERED(name, function)                                                              \
    template <class T, class V>                                                                       \
    LOCKSTEP_DEVICE T name(T* p, V value, int order, int = __NV_THREAD_SCOPE_SYSTEM) {                \
        lockstep_order(order);                                                                        \
        const T old = function(p, (T)value);                                                          \
        lockstep_order(order);                                                                        \
        return old;                                                                                   \
    }
LOCKSTEP_ORDERED(__nv_atomic_fetch_add, atomicAdd)
LOCKSTEP_ORDERED(__nv_atomic_add, atomicAdd)
LOCKSTEP_ORDERED(__nv_atomic_fetch_sub, atomicSub)
LOCKSTEP_ORDERED(__nv_atomic_fetch_min, atomicMin)
LOCKSTEP_ORDERED(__nv_atomic_fetch_max, atomicMax)
LOCKSTEP_ORDERED(__nv_atomic_fetch_and, atomicAnd)
LOCKSTEP_ORDERED(__nv_atomic_fetch_or, atomicOr)
LOCKSTEP_ORDERED(__nv_atomic_fetch_xor, atomicXor)
LOCKSTEP_ORDERED(__nv_atomic_exchange_n, atomicExch)
#undef LOCKSTEP_ORDERED
template <class T, class V>
LOCKSTEP_DEVICE bool __nv_atomic_compare_exchange_n(T* p, T* expected, V desired, bool, int success, int,
                                                    int = __NV_THREAD_SCOPE_SYSTEM) {
    lockstep_order(success);
    const T old = atomicCAS(p, *expected, (T)desired);
    lockstep_order(success);
    const bool same = old == *expected;
    *expected = old;
    return same;
}
