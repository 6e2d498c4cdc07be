// The C++ names behind mangled ones (Itanium C++ ABI, as nvcc, NVRTC and clang all write them), as far as kernels need them.
#pragma once
#include <string>
#include <string_view>

namespace lockstep::ptx {

// matmul of _Z6matmulPKf, of _ZN4math6matmulEPKf and of _Z6matmulILi4EEvPf; empty for names that are not mangled.
std::string_view plain_name(std::string_view mangled);

// matmul<float, 16> of _Z6matmulIfLi16EEvPKT_S2_PS0_i: the built-in types, named types, pointers to them, numbers and truth
// values; empty for what is no template's instance, or has other arguments.
std::string instance_name(std::string_view mangled);

// "a::b::" of _ZN1a1b1kEPi: the namespaces that the kernel is in; those without a name are left out.
std::string spaces_of(std::string_view mangled);
// k(int*, const float*) of _Z1kPiPKf, which two kernels called k are told apart by; empty for other names than such.
std::string signature_name(std::string_view mangled);

// Whether the name lies in a namespace of CUDA's own header libraries (cub, thrust, cuda), as _ZN3cub11EmptyKernelIvEEvv:
// what a program gets by including them, and did not write.
bool of_cuda_header(std::string_view mangled);

}  // namespace lockstep::ptx
