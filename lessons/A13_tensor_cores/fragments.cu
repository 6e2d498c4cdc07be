// arch: sm_80
#include <cuda_fp16.h>

// Matrices whose elements are their own numbers: each lane reads in its registers which elements it holds.
__global__ void fragments(int *d_lane, int *a_lane, int *b_lane) {
    __shared__ __align__(16) half a[16][16], b[16][8], rows[16][16], columns[16][8];
    unsigned of_a[4], of_b[2], lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) {
        a[i / 16][i % 16] = i;
        rows[i / 16][i % 16] = i % 16 == 0 ? i / 16 * 8 : i % 16 == 1;
    }
    for (int i = lane; i < 128; i += 32) {
        b[i / 8][i % 8] = i;
        columns[i / 8][i % 8] = i / 8 == 0 ? 1 : i / 8 == 1 ? i % 8 : 0;
    }
    __syncwarp();
    auto load = [&](half (*x)[16], half (*y)[8]) {
        unsigned from = __cvta_generic_to_shared(&x[lane % 16][lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(of_a[0]), "=r"(of_a[1]), "=r"(of_a[2]), "=r"(of_a[3]) : "r"(from) : "memory");
        from = __cvta_generic_to_shared(y[lane % 16]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(of_b[0]), "=r"(of_b[1]) : "r"(from) : "memory");
    };
    load(a, b);
    for (int e = 0; e < 8; ++e) a_lane[(int)__half2float(((half *)of_a)[e])] = lane;
    for (int e = 0; e < 4; ++e) b_lane[(int)__half2float(((half *)of_b)[e])] = lane;

    load(rows, columns);  // 8 row x 1 + 1 x column: the number of an element of D
    float d[4];
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "r"(of_b[0]), "r"(of_b[1]), "f"(0.0f));
    for (int e = 0; e < 4; ++e) d_lane[(int)d[e]] = lane;
}
