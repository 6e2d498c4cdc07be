// A struct by value that begins with a pointer.
// run: --grid 1 --block 32 --arg struct:out:f32[32],i32:32 --check all
// quiet
struct Vector {
    float *elements;
    int size;
};
__global__ void ones(Vector v) {
    if (threadIdx.x < v.size)
        v.elements[threadIdx.x] = 1;
}
