// The opcode table once more, compiled for AVX2 and FMA: see simd.cmake.
#define LOCKSTEP_SIMD avx2
#include "core/ptx/opcodes/opcodes.cpp"
