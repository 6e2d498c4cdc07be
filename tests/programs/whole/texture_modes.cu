// Textures of linear, pitched and array memory: each address, filter and read mode against its formula.
#include <cmath>
#include <cstdio>
#include <cstring>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            return 1;                                                                                \
        }                                                                                            \
    } while (0)

__global__ void fetch1d(cudaTextureObject_t texture, float* out, int first, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(texture, first + i);
}
__global__ void read1d(cudaTextureObject_t texture, float* out, float first, float step) {
    out[threadIdx.x] = tex1D<float>(texture, first + step * threadIdx.x);
}
__global__ void read2d(cudaTextureObject_t texture, float* out, float step) {
    out[threadIdx.y * blockDim.x + threadIdx.x] = tex2D<float>(texture, step * threadIdx.x + 0.5f, step * threadIdx.y + 0.5f);
}
__global__ void read_integers(cudaTextureObject_t texture, int* out) {
    out[threadIdx.x] = tex1D<int>(texture, threadIdx.x + 0.5f);
}
__global__ void read_pairs(cudaTextureObject_t texture, float2* out) {
    out[threadIdx.x] = tex2D<float2>(texture, threadIdx.x + 0.5f, 1.5f);
}

const int n = 8;

float texel(int i) { return 3.0f * i + 1; }

float addressed(int i, cudaTextureAddressMode mode) {
    if (mode == cudaAddressModeWrap) i = (i % n + n) % n;
    if (mode == cudaAddressModeMirror) {
        i = (i % (2 * n) + 2 * n) % (2 * n);
        if (i >= n) i = 2 * n - 1 - i;
    }
    if (mode == cudaAddressModeClamp) i = i < 0 ? 0 : i >= n ? n - 1 : i;
    return i < 0 || i >= n ? -5.0f : texel(i);
}

// Two texels and the weight of the second, which has eight bits of fraction.
float expected(float x, bool linear, cudaTextureAddressMode mode) {
    if (!linear) return addressed((int)floorf(x), mode);
    float below = floorf(x - 0.5f);
    float weight = floorf((x - 0.5f - below) * 256 + 0.5f) / 256;
    return (1 - weight) * addressed((int)below, mode) + weight * addressed((int)below + 1, mode);
}

int main() {
    float *out, host[64];
    CHECK(cudaMalloc(&out, sizeof host));

    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &floats, n));
    float texels[n];
    for (int i = 0; i < n; ++i) texels[i] = texel(i);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels, sizeof texels, sizeof texels, 1, cudaMemcpyHostToDevice));
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;

    const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror,
                                            cudaAddressModeBorder};
    for (int normalized = 0; normalized < 2; ++normalized)
        for (int linear = 0; linear < 2; ++linear)
            for (cudaTextureAddressMode mode : modes) {
                cudaTextureDesc how;
                memset(&how, 0, sizeof how);
                how.addressMode[0] = mode;
                how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
                how.normalizedCoords = normalized;
                how.borderColor[0] = -5;
                cudaTextureObject_t texture;
                CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
                float first = -9.25f, step = 0.5f, scale = normalized ? 1.0f / n : 1;
                read1d<<<1, 64>>>(texture, out, first * scale, step * scale);
                CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
                // Without normalised coordinates nothing wraps or mirrors: what lies outside is clamped.
                cudaTextureAddressMode effective = !normalized && mode != cudaAddressModeBorder ? cudaAddressModeClamp : mode;
                for (int i = 0; i < 64; ++i) {
                    float want = expected(first + step * i, linear, effective);
                    if (fabsf(host[i] - want) > 1e-4f) {
                        printf("FAIL mode %d linear %d normalized %d: %d is %f, not %f\n", mode, linear, normalized, i, host[i], want);
                        return 1;
                    }
                }
                CHECK(cudaDestroyTextureObject(texture));
            }

    // Linear memory is read by index; beyond its ends lies nothing.
    float* linear;
    CHECK(cudaMalloc(&linear, sizeof texels));
    CHECK(cudaMemcpy(linear, texels, sizeof texels, cudaMemcpyHostToDevice));
    cudaResourceDesc line;
    memset(&line, 0, sizeof line);
    line.resType = cudaResourceTypeLinear;
    line.res.linear.devPtr = linear;
    line.res.linear.desc = floats;
    line.res.linear.sizeInBytes = sizeof texels;
    cudaTextureDesc plain;
    memset(&plain, 0, sizeof plain);
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &line, &plain, nullptr));
    fetch1d<<<1, 16>>>(texture, out, -4, 16);
    CHECK(cudaMemcpy(host, out, 16 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; ++i) {
        float want = i >= 4 && i < 12 ? texel(i - 4) : 0;
        if (host[i] != want) return printf("FAIL linear memory: %d is %f, not %f\n", i, host[i], want), 1;
    }
    cudaResourceDesc told;
    CHECK(cudaGetTextureObjectResourceDesc(&told, texture));
    if (told.resType != cudaResourceTypeLinear || told.res.linear.devPtr != linear) return printf("FAIL resource\n"), 1;
    CHECK(cudaDestroyTextureObject(texture));

    // Pitched memory in two dimensions.
    float* rows;
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, 5 * sizeof(float), 4));
    float picture[4][5];
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 5; ++x) picture[y][x] = 10.0f * y + x;
    CHECK(cudaMemcpy2D(rows, pitch, picture, sizeof picture[0], sizeof picture[0], 4, cudaMemcpyHostToDevice));
    cudaResourceDesc flat;
    memset(&flat, 0, sizeof flat);
    flat.resType = cudaResourceTypePitch2D;
    flat.res.pitch2D.devPtr = rows;
    flat.res.pitch2D.desc = floats;
    flat.res.pitch2D.width = 5;
    flat.res.pitch2D.height = 4;
    flat.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc smooth = plain;
    smooth.filterMode = cudaFilterModeLinear;
    smooth.addressMode[0] = smooth.addressMode[1] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&texture, &flat, &smooth, nullptr));
    read2d<<<1, dim3(8, 7)>>>(texture, out, 0.5f);
    CHECK(cudaMemcpy(host, out, 56 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < 7; ++y)
        for (int x = 0; x < 8; ++x) {
            float want = 10 * (0.5f * y) + 0.5f * x;  // the picture is a plane, so blending follows it
            if (fabsf(host[y * 8 + x] - want) > 1e-4f)
                return printf("FAIL pitched: (%d, %d) is %f, not %f\n", x, y, host[y * 8 + x], want), 1;
        }
    CHECK(cudaDestroyTextureObject(texture));

    // Bytes as integers, and as floats of [-1, 1] and [0, 1].
    signed char small[n];
    for (int i = 0; i < n; ++i) small[i] = (signed char)(i * 30 - 100);
    cudaArray_t bytes;
    cudaChannelFormatDesc chars = cudaCreateChannelDesc<signed char>();
    CHECK(cudaMallocArray(&bytes, &chars, n));
    CHECK(cudaMemcpy2DToArray(bytes, 0, 0, small, sizeof small, sizeof small, 1, cudaMemcpyHostToDevice));
    resource.res.array.array = bytes;
    CHECK(cudaCreateTextureObject(&texture, &resource, &plain, nullptr));
    read_integers<<<1, n>>>(texture, (int*)out);
    int integers[n];
    CHECK(cudaMemcpy(integers, out, sizeof integers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        if (integers[i] != small[i]) return printf("FAIL integers: %d is %d\n", i, integers[i]), 1;
    CHECK(cudaDestroyTextureObject(texture));
    cudaTextureDesc unit = plain;
    unit.readMode = cudaReadModeNormalizedFloat;
    CHECK(cudaCreateTextureObject(&texture, &resource, &unit, nullptr));
    read1d<<<1, n>>>(texture, out, 0.5f, 1);
    CHECK(cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        if (fabsf(host[i] - fmaxf(small[i] / 127.0f, -1)) > 1e-6f) return printf("FAIL unit: %d is %f\n", i, host[i]), 1;
    CHECK(cudaDestroyTextureObject(texture));

    // Two channels, second row.
    float2 pairs[2][4], read[4];
    for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 4; ++x) pairs[y][x] = make_float2(x + 0.25f, -y - x);
    cudaArray_t two;
    cudaChannelFormatDesc float2s = cudaCreateChannelDesc<float2>();
    CHECK(cudaMallocArray(&two, &float2s, 4, 2));
    CHECK(cudaMemcpy2DToArray(two, 0, 0, pairs, sizeof pairs[0], sizeof pairs[0], 2, cudaMemcpyHostToDevice));
    resource.res.array.array = two;
    CHECK(cudaCreateTextureObject(&texture, &resource, &plain, nullptr));
    read_pairs<<<1, 4>>>(texture, (float2*)out);
    CHECK(cudaMemcpy(read, out, sizeof read, cudaMemcpyDeviceToHost));
    for (int x = 0; x < 4; ++x)
        if (read[x].x != pairs[1][x].x || read[x].y != pairs[1][x].y) return printf("FAIL pairs: %d\n", x), 1;

    // Bytes of sRGB as linear values.
    cudaChannelFormatDesc codes_desc = cudaCreateChannelDesc<unsigned char>();
    unsigned char codes[n] = {0, 1, 10, 11, 60, 128, 200, 255};
    cudaArray_t coded;
    CHECK(cudaMallocArray(&coded, &codes_desc, n));
    CHECK(cudaMemcpy2DToArray(coded, 0, 0, codes, n, n, 1, cudaMemcpyHostToDevice));
    resource.res.array.array = coded;
    cudaTextureDesc linear_light = unit;
    linear_light.sRGB = 1;
    CHECK(cudaCreateTextureObject(&texture, &resource, &linear_light, nullptr));
    read1d<<<1, n>>>(texture, out, 0.5f, 1);
    CHECK(cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
        double code = codes[i] / 255.0, want = code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4);
        if (fabs(host[i] - want) > 1e-5) return printf("FAIL sRGB: %d is %f\n", i, host[i]), 1;
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(coded));

    // What CUDA refuses.
    cudaTextureDesc bad = plain;
    bad.filterMode = cudaFilterModeLinear;
    resource.res.array.array = bytes;
    if (cudaCreateTextureObject(&texture, &resource, &bad, nullptr) == cudaSuccess) return printf("FAIL filtered integers\n"), 1;
    cudaChannelFormatDesc three = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
    cudaArray_t none;
    if (cudaMallocArray(&none, &three, 4) == cudaSuccess) return printf("FAIL three channels\n"), 1;
    cudaGetLastError();

    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(bytes));
    CHECK(cudaFreeArray(two));
    CHECK(cudaFree(linear));
    CHECK(cudaFree(rows));
    CHECK(cudaFree(out));
    printf("PASS\n");
}
