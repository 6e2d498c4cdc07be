// A texture reference, as programs of CUDA 11 have them: the module's variable, registered as their start-up code does it,
// and bound to linear memory, to pitched memory and to an array. Later CUDAs lack the calls, so they are looked up by name.
#include <dlfcn.h>

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

struct Reference {
    int normalized, filter, address[3];
    cudaChannelFormatDesc channels;
    int srgb;
    unsigned anisotropy;
    int mip_filter;
    float bias, least, most;
    int reserved[15];
};

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".global .texref line;\n.global .texref plane;\n"
    ".visible .entry read(.param .u64 out) {\n"
    ".reg .u64 %d<4>;\n.reg .u32 %r<4>;\n.reg .f32 %f<16>;\n"
    "mov.u32 %r1, %tid.x;\nld.param.u64 %d1, [out];\nmul.wide.u32 %d2, %r1, 8;\nadd.u64 %d3, %d1, %d2;\n"
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [line, {%r1}];\n"
    "cvt.rn.f32.u32 %f5, %r1;\nadd.f32 %f6, %f5, 0f3F800000;\nmov.f32 %f7, 0f3FC00000;\n"
    "tex.2d.v4.f32.f32 {%f8, %f9, %f10, %f11}, [plane, {%f6, %f7}];\n"
    "st.global.f32 [%d3], %f1;\nst.global.f32 [%d3+4], %f8;\nret;\n}\n";

struct Wrapper {
    unsigned magic, version;
    const void* data;
    const void* name;
};
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
}
static char stands_for_read;

template <class Function>
Function named(const char* name) {
    return (Function)dlsym(RTLD_DEFAULT, name);
}

int main() {
    auto add_texture = named<void (*)(void**, const void*, const void**, const char*, int, int, int)>("__cudaRegisterTexture");
    auto bind = named<cudaError_t (*)(size_t*, const void*, const void*, const cudaChannelFormatDesc*, size_t)>("cudaBindTexture");
    auto bind2d = named<cudaError_t (*)(size_t*, const void*, const void*, const cudaChannelFormatDesc*, size_t, size_t, size_t)>(
        "cudaBindTexture2D");
    auto bind_array =
        named<cudaError_t (*)(const void*, cudaArray_const_t, const cudaChannelFormatDesc*)>("cudaBindTextureToArray");
    auto unbind = named<cudaError_t (*)(const void*)>("cudaUnbindTexture");
    if (!add_texture || !bind || !bind2d || !bind_array || !unbind) return printf("FAIL a call is missing\n"), 1;
    static Wrapper wrapper = {0x466243b1, 1, ptx, nullptr};
    static Reference line = {}, plane = {};
    void** module = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(module, &stands_for_read, nullptr, "read", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    add_texture(module, &line, nullptr, "line", 1, 0, 0);
    add_texture(module, &plane, nullptr, "plane", 2, 0, 0);

    const int n = 8;
    float host[n], picture[2][n], *data, *rows, *out;
    size_t pitch, offset = 1;
    for (int i = 0; i < n; ++i) {
        host[i] = 2.0f * i;
        picture[0][i] = i;
        picture[1][i] = 100 + i;
    }
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc(&data, sizeof host));
    CHECK(cudaMalloc(&out, 2 * sizeof host));
    CHECK(cudaMallocPitch(&rows, &pitch, sizeof host, 2));
    CHECK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(rows, pitch, picture, sizeof host, sizeof host, 2, cudaMemcpyHostToDevice));
    CHECK(bind(&offset, &line, data, &floats, (size_t)-1));
    plane.filter = cudaFilterModeLinear;
    plane.address[0] = plane.address[1] = cudaAddressModeClamp;
    CHECK(bind2d(nullptr, &plane, rows, &floats, n, 2, pitch));
    void* arguments[] = {&out};
    float2 read[n];
    CHECK(cudaLaunchKernel((const void*)&stands_for_read, dim3(1), dim3(n), arguments, 0, nullptr));
    CHECK(cudaMemcpy(read, out, sizeof read, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {  // half way between the texels i and i + 1 of the second row
        float want = i < n - 1 ? 100.5f + i : 100.0f + i;
        if (read[i].x != host[i] || read[i].y != want) return printf("FAIL %d: %f, %f\n", i, read[i].x, read[i].y), 1;
    }
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &floats, n, 2));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, picture, sizeof host, sizeof host, 2, cudaMemcpyHostToDevice));
    plane.filter = cudaFilterModePoint;
    CHECK(bind_array(&plane, array, &floats));
    CHECK(cudaLaunchKernel((const void*)&stands_for_read, dim3(1), dim3(n), arguments, 0, nullptr));
    CHECK(cudaMemcpy(read, out, sizeof read, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        if (read[i].y != 100 + (i < n - 1 ? i + 1 : i)) return printf("FAIL array %d: %f\n", i, read[i].y), 1;
    CHECK(unbind(&line));
    if (unbind(host) != cudaErrorInvalidTexture) return printf("FAIL no reference\n"), 1;
    cudaLaunchKernel((const void*)&stands_for_read, dim3(1), dim3(n), arguments, 0, nullptr);
    if (cudaDeviceSynchronize() == cudaSuccess) return printf("FAIL a texture that is bound to nothing was read\n"), 1;
    printf("PASS\n");
}
