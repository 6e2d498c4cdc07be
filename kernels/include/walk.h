// How kernels take a shape and strides: six extents, leading ones in front, and as many strides in elements.
#pragma once

#define SIX(x) int x##0, int x##1, int x##2, int x##3, int x##4, int x##5
#define THE_SIX(x) x##0, x##1, x##2, x##3, x##4, x##5

// Where index i of a shape with extents e lies, with strides s; the last `rank` axes count.
__device__ inline long long place(int i, int rank, SIX(e), SIX(s)) {
    long long at = 0;
    if (rank > 1) at += (long long)(i % e5) * s5, i /= e5;
    if (rank > 2) at += (long long)(i % e4) * s4, i /= e4;
    if (rank > 3) at += (long long)(i % e3) * s3, i /= e3;
    if (rank > 4) at += (long long)(i % e2) * s2, i /= e2;
    if (rank > 5) at += (long long)(i % e1) * s1, i /= e1;
    int first = rank > 5 ? s0 : rank > 4 ? s1 : rank > 3 ? s2 : rank > 2 ? s3 : rank > 1 ? s4 : s5;
    return at + (long long)i * first;
}
