// assert ends the kernel with the line that it failed on. NVRTC has it built in.
#pragma once
#ifndef __CUDACC_RTC__
extern "C" __device__ void __assertfail(const char* condition, const char* file, unsigned line, const char* function,
                                        size_t char_size);
#undef assert
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif
