// What the product of a warpgroup (Kind::matrix_group) is given besides the registers: s[0] the warp's 16 rows of A, s[1]
// the columns of B, rows and columns of 8 words each, the lowest k first; s[2] this; from s[3] on the registers of C.
// Sparse: columns of B have 16 words, as half of A's elements are there.
#pragma once
#include <cstdint>

namespace lockstep::ptx {

constexpr uint32_t group_words = 8;  // of k, in a row of A or a column of B

struct MatrixGroup {
    uint32_t n = 0;                      // columns of B, up to 256
    bool negated = false;                // the products
    const uint32_t* metadata = nullptr;  // sparse: of the 32 lanes, which elements of A are there
    uint32_t selector = 0;
};

}  // namespace lockstep::ptx
