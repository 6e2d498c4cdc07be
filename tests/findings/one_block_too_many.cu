// One block more than run at once: the waves are a little over one.
// run timed: --gpu v100 --grid 641 --block 256 --arg out:f32[164096]
// says: The blocks make just over 1 wave: in the last one 1 of the GPU's 640 places have a block.
// never: make 1 waves
__global__ void one_block_too_many(float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i;
    for (int k = 0; k < 200; ++k) v = v * 0.999f + 1;
    y[i] = v;
}
