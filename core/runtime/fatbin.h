// Fat binaries: what nvcc and clang put into a program for the GPU. Only their PTX is of use here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace lockstep::runtime {

struct PtxImage {
    uint32_t arch = 0;  // 75: compiled for compute_75
    std::string text;
};

struct FatBinary {
    std::vector<PtxImage> ptx;
    std::vector<uint32_t> machine_code;  // the architectures of images that only silicon can run
};

// Reads one fat binary, or plain PTX text that ends with a zero byte, which clang may have put there instead. `data` is part
// of the running program, so the header's own length is trusted, but no offset in it. A Diagnostic says what it cannot read.
Result<FatBinary> read_fat_binary(const std::byte* data);
// The same of bytes from a file, none of which are trusted.
Result<FatBinary> read_fat_binary(std::span<const std::byte> bytes);

// The image for a GPU of that compute capability: the latest that it can run, else the first of all; null: there is none.
const PtxImage* best_image(const FatBinary& images, uint32_t compute);

// The fat binaries that lie somewhere in an object file, which is not trusted.
std::vector<FatBinary> fat_binaries_in(std::span<const std::byte> object);

// LZ4's block format and Zstandard frames, which nvcc compresses PTX with. `bytes`: of the text.
Result<std::string> expand_lz4(std::span<const std::byte> packed, size_t bytes);
Result<std::string> expand_zstd(std::span<const std::byte> packed, size_t bytes);

}  // namespace lockstep::runtime
