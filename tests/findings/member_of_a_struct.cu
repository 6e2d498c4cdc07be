// A pointer in a struct that is passed by value.
// run: --grid 1 --block 64 --arg struct:i32:8,i32:8,in:f32[63] --arg out:f32[64]
// says: through 'm.elements': m.elements[63] of 63 elements, whose index is
// exit: 1
struct Matrix {
    int width, height;
    float *elements;
};
__global__ void copy(Matrix m, float *y) {
    int i = threadIdx.y * m.width + threadIdx.x;
    y[i] = m.elements[i];
}
