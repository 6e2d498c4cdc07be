// Asynchronous copies for clang without a toolkit, as in CUDA's cuda_pipeline.h: each function is one PTX instruction.
#pragma once
#define LOCKSTEP_PIPELINE static __inline__ __attribute__((always_inline, nodebug, device))
LOCKSTEP_PIPELINE void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zero_fill = 0) {
    const unsigned to = (unsigned)(size_t)(__attribute__((address_space(3))) void*)shared;
    const unsigned given = (unsigned)(bytes - zero_fill);
    if (bytes == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(to), "l"(global), "r"(given) : "memory");
    if (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" : : "r"(to), "l"(global), "r"(given) : "memory");
    if (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(global), "r"(given) : "memory");
}
LOCKSTEP_PIPELINE void __pipeline_commit() { asm volatile("cp.async.commit_group;" : : : "memory"); }
// Waits for all groups but the last `prior`; a constant, as the instruction wants one.
#define __pipeline_wait_prior(prior) asm volatile("cp.async.wait_group %0;" : : "n"(prior) : "memory")
#undef LOCKSTEP_PIPELINE
