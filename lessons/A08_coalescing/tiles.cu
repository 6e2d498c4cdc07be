// Down a column of a picture of 32 x 32 pixels: stored row by row, and in tiles of 4 x 2 pixels, 8 tiles to a row of them.
__global__ void tiles(const float* rows, const float* tiled, float* out) {
    int y = threadIdx.x;
    int x = blockIdx.x;
    float by_rows = rows[32 * y + x];
    int tile = y / 2 * 8 + x / 4;
    float by_tiles = tiled[8 * tile + y % 2 * 4 + x % 4];
    out[32 * x + y] = by_rows + by_tiles;
}
