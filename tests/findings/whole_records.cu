// Records whose fields are all wanted, taken one after the other: no array for each field is missing.
// run timed: --gpu v100 --grid 1024 --block 256 --arg in:f32[786432] --arg out:f32[786432] --what-if none
// says: neighbouring threads are 12 bytes apart: records, whose fields are taken one after the other
// says: Let a warp copy whole records into shared memory
// never: of which one field is wanted
struct Point {
    float x, y, z;
};
__global__ void whole_records(const Point *p, Point *q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Point a = p[i];
    a.x *= 2;
    a.y *= 2;
    a.z *= 2;
    q[i] = a;
}
