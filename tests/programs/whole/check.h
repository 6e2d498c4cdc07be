// What the programs here share: an error of a call ends the program, and a wrong number says where.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                        \
    do {                                                                                                   \
        const cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
            std::exit(1);                                                                                  \
        }                                                                                                  \
    } while (0)

#define EXPECT(condition)                                                                \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                                \
        }                                                                                \
    } while (0)

static inline int pass() {
    std::printf("PASS\n");
    return 0;
}
