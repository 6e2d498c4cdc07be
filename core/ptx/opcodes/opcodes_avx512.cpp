// The opcode table once more, compiled for AVX-512: see simd.cmake.
#define LOCKSTEP_SIMD avx512
#include "core/ptx/opcodes/opcodes.cpp"
