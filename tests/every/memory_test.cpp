// Memory, atomics, textures, surfaces and system calls of real CUDA C++, from every compiler that is here, against plain
// loops.
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "tests/catch.h"

namespace every_memory_test {

using namespace lockstep;

namespace {

const char* const memory_source = R"(
__device__ int counter = 5;
__constant__ float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};
__device__ int primes[5] = {2, 3, 5, 7, 11};
#ifdef ADDRESSES
__device__ int* pointer = primes + 2;
#else
#define pointer (primes + 2)
#endif

__global__ void copies(const float4* in, float4* out, const short* small, int* wide) {
    int i = threadIdx.x;
    float4 v = in[i];
    out[i] = make_float4(v.w * table[i % 4], v.z, v.y, v.x);
    wide[i] = small[i] + pointer[i % 3];
}
__global__ void counts(int* data, unsigned* wraps, unsigned long long* large, double* sum, float* shared_sum) {
    __shared__ float total;
    int i = threadIdx.x;
    if (i == 0) total = 0;
    __syncthreads();
    atomicAdd(&counter, 1);
    atomicAdd(data, i);
    atomicMin(data + 1, -i);
    atomicMax(data + 2, i * 3);
    atomicAnd(data + 3, ~i);
    atomicOr(data + 4, i);
    atomicXor(data + 5, i);
    atomicExch(data + 6, 77);
    atomicCAS(data + 7, 0, 9);
    atomicInc(wraps, 9);
    atomicDec(wraps + 1, 9);
    atomicAdd(large, 1ull << 33);
    atomicAdd(sum, 0.5);
    atomicAdd(&total, 0.25f);
    __syncthreads();
    if (i == 0) {
        *shared_sum = total;
        data[8] = counter;
    }
}
)";

const char* const system_source = R"(
#include <cstdio>
struct Node { int value; Node* next; };
__global__ void lists(int* out, int n) {
    Node* head = nullptr;
    for (int k = 0; k < n; ++k) {
        Node* node = new Node;
        node->value = k * (threadIdx.x + 1);
        node->next = head;
        head = node;
    }
    int sum = 0;
    while (head) {
        sum += head->value;
        Node* done = head;
        head = head->next;
        delete done;
    }
    out[threadIdx.x] = sum;
    if (threadIdx.x == 3) printf("%s %d of %5.1f%c", "sum", sum, 0.5, '\n');
}
)";

const char* const texture_source = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
__global__ void blur(cudaTextureObject_t image, float* out, int width, int height) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += tex2D<float>(image, x + dx + 0.5f, y + dy + 0.5f);
    out[y * width + x] = sum;
}
__global__ void halfway(cudaTextureObject_t image, float* out, int width) {
    out[threadIdx.x] = tex2D<float>(image, (threadIdx.x + 1.0f) / width, 0.5f);
}
__global__ void fetch(cudaTextureObject_t line, cudaTextureObject_t layers, cudaTextureObject_t solid, uchar4* out) {
    int i = threadIdx.x;
    uchar4 a = tex1Dfetch<uchar4>(line, i);
    out[i] = make_uchar4(a.w, (unsigned char)tex2DLayered<float>(layers, 1.5f, 0.5f, i % 2),
                         (unsigned char)tex3D<float>(solid, 0.5f, 1.5f, i % 2 + 0.5f), a.x);
}
__global__ void levels(cudaTextureObject_t image, float* out) {
    int i = threadIdx.x;
    out[i] = i < 4 ? tex2DLod<float>(image, 0.25f, 0.25f, (float)i)
                   : tex2DGrad<float>(image, 0.75f, 0.75f, make_float2(0.25f, 0), make_float2(0, 0.5f));
}
struct Wide { float key; int at[2]; };
__global__ void scans(float* sums, Wide* wide, __nv_bfloat16* halves) {
    const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    const int i = threadIdx.x;
    sums[i] = cooperative_groups::inclusive_scan(tile, (float)i) + 1000 * cooperative_groups::exclusive_scan(tile, i);
    wide[i] = tile.shfl_xor(Wide{(float)i, {i + 1, i + 2}}, 1);
    atomicAdd(halves + i % 3, __float2bfloat16(1.0f));
    char bytes[8];
    memset(bytes, 1, 8);
    memcpy(bytes + 2, &i, 4);
    if (*(const short*)bytes != 0x101 || bytes[2] != i) sums[i] = -1;
}
__global__ void fetched(const float* in, float* out) {
    __shared__ __align__(16) float tile[64];
    const auto block = cooperative_groups::this_thread_block();
    cooperative_groups::memcpy_async(block, tile, in, sizeof(float) * 32);
    cooperative_groups::memcpy_async(block, tile + 32, in + 33, sizeof(float) * 31);
    cooperative_groups::wait(block);
    out[threadIdx.x] = tile[31 - threadIdx.x];
    out[threadIdx.x + 32] = threadIdx.x < 31 ? tile[62 - threadIdx.x] : 0;
}
__global__ void invert(cudaSurfaceObject_t surface, int width) {
    int x = threadIdx.x, y = blockIdx.x;
    uchar4 v;
    surf2Dread(&v, surface, x * 4, y);
    surf2Dwrite(make_uchar4(255 - v.x, 255 - v.y, 255 - v.z, v.w), surface, x * 4, y);
}
)";

struct Launched {
    std::vector<Array> outputs;
    std::string printed, fault;
};

class Compiled {
  public:
    Compiled(const char* source, const std::string& compiler) : source_(source) {
        const auto made = device::compile(source, "memory.cu", {.compiler = compiler});
        INFO(compiler << (made ? "" : made.error().message));
        REQUIRE(made);
        auto parsed = ptx::parse(made.value().ptx, "memory.ptx");
        INFO((parsed ? "" : render(parsed.error())));
        REQUIRE(parsed);
        module_ = std::move(parsed.value());
    }
    Launched run(const std::string& kernel, simt::Dim3 grid, simt::Dim3 block, const std::vector<std::string>& texts) {
        const auto program = ptx::decode(module_, kernel);
        INFO(kernel << (program ? "" : render(program.error())));
        REQUIRE(program);
        std::vector<scene::KernelArgument> arguments;
        for (const std::string& text : texts) arguments.push_back(scene::parse_argument(text).value());
        simt::LaunchConfig config{grid, block, 0, {}};
        const auto bound = scene::bind_arguments(*program.value(), arguments, memory_, config, 1, {}, source_);
        INFO((bound ? "" : bound.error().message));
        REQUIRE(bound);
        Launched out;
        simt::LaunchOptions options;
        options.print = [&](std::string_view words) { out.printed += words; };
        const auto result = simt::launch(*program.value(), config, memory_, options);
        if (result.fault) out.fault = simt::render(*result.fault);
        out.outputs = scene::read_outputs(bound.value(), memory_);
        return out;
    }

  private:
    std::string source_;
    ptx::Module module_;
    simt::Memory memory_;
};

std::vector<std::string> compilers() {
    std::vector<std::string> names;
    for (const device::DeviceListing& compiler : device::list_compilers())
        if (compiler.available) names.emplace_back(compiler.name);
    return names;
}

template <class T>
std::vector<T> values(const Array& array) {
    return {array.as<T>(), array.as<T>() + array.count()};
}

}  // namespace

TEST_CASE("vectors, small types, constants and variables that hold addresses move as CUDA says") {
    for (const std::string& compiler : compilers()) {
        INFO(compiler);
        Compiled compiled(memory_source, compiler);
        const Launched run =
            compiled.run("copies", {}, {8}, {"in:f32[32 ramp]", "out:f32[32]", "in:i16{-1,2,-3,4,-5,6,-7,8}", "out:i32[8]"});
        REQUIRE(run.fault.empty());
        const auto out = values<float>(run.outputs[0]);
        const auto wide = values<int32_t>(run.outputs[1]);
        const float table[] = {1, 2, 4, 8};
        const int32_t pointer[] = {5, 7, 11}, small[] = {-1, 2, -3, 4, -5, 6, -7, 8};
        for (size_t i = 0; i < 8; ++i) {
            const auto at = static_cast<float>(4 * i);
            CHECK(out[4 * i] == (at + 3) * table[i % 4]);
            CHECK(out[4 * i + 1] == at + 2);
            CHECK(out[4 * i + 3] == at);
            CHECK(wide[i] == small[i] + pointer[i % 3]);
        }
    }
}

TEST_CASE("atomics of CUDA count every thread, and a module's variable lives on") {
    for (const std::string& compiler : compilers()) {
        INFO(compiler);
        Compiled compiled(memory_source, compiler);
        for (int launch = 0; launch < 2; ++launch) {
            const Launched run = compiled.run(
                "counts", {}, {96},
                {"inout:i32{0,0,0,-1,0,0,0,0,0}", "inout:u32{0,0}", "inout:u64{0}", "inout:f64{0}", "out:f32[1]"});
            REQUIRE(run.fault.empty());
            int32_t both = -1, any = 0, odd = 0;
            uint32_t up = 0, down = 0;
            for (int32_t i = 0; i < 96; ++i) {
                both &= ~i;
                any |= i;
                odd ^= i;
                up = up >= 9 ? 0 : up + 1;
                down = down == 0 || down > 9 ? 9 : down - 1;
            }
            CHECK(values<int32_t>(run.outputs[0]) ==
                  std::vector<int32_t>{95 * 48, -95, 285, both, any, odd, 77, 9, 5 + 96 * (launch + 1)});
            CHECK(values<uint32_t>(run.outputs[1]) == std::vector<uint32_t>{up, down});
            CHECK(values<uint64_t>(run.outputs[2]) == std::vector<uint64_t>{96ull << 33});
            CHECK(values<double>(run.outputs[3]) == std::vector<double>{48});
            CHECK(values<float>(run.outputs[4]) == std::vector<float>{24});
        }
    }
}

TEST_CASE("kernels that allocate and print work from every compiler") {
    for (const std::string& compiler : compilers()) {
        INFO(compiler);
        Compiled compiled(system_source, compiler);
        const Launched run = compiled.run("lists", {}, {4}, {"out:i32[4]", "i32:6"});
        INFO(run.fault);
        REQUIRE(run.fault.empty());
        CHECK(values<int32_t>(run.outputs[0]) == std::vector<int32_t>{15, 30, 45, 60});
        CHECK(run.printed == "sum 60 of   0.5\n");
    }
}

TEST_CASE("groups scan and pass values of any type on, and bfloat16 is added by every thread") {
    for (const std::string& compiler : compilers()) {
        INFO(compiler);
        Compiled compiled(texture_source, compiler);
        const Launched run = compiled.run("scans", {}, {32}, {"out:f32[32]", "out:i32[96]", "inout:u16{0,0,0,0}"});
        INFO(run.fault);
        REQUIRE(run.fault.empty());
        const auto sums = values<float>(run.outputs[0]);
        const auto wide = values<int32_t>(run.outputs[1]);
        for (int i = 0; i < 32; ++i) {
            int before = 0;
            for (int j = i / 8 * 8; j < i; ++j) before += j;
            CHECK(sums[static_cast<size_t>(i)] == static_cast<float>(before + i + 1000 * before));
            CHECK(wide[static_cast<size_t>(3 * i + 1)] == (i ^ 1) + 1);
            CHECK(wide[static_cast<size_t>(3 * i + 2)] == (i ^ 1) + 2);
        }
        const Launched copied = compiled.run("fetched", {}, {32}, {"in:f32[64 ramp]", "out:f32[64]"});
        INFO(copied.fault);
        REQUIRE(copied.fault.empty());
        const auto out = values<float>(copied.outputs[0]);
        for (int i = 0; i < 64; ++i)
            CHECK(out[static_cast<size_t>(i)] == static_cast<float>(i < 32 ? 31 - i : i < 63 ? 95 - i : 0));
        CHECK(values<uint16_t>(run.outputs[2]) == std::vector<uint16_t>{0x4130, 0x4130, 0x4120, 0});  // 11, 11 and 10
    }
}

TEST_CASE("texture and surface objects of CUDA read and write pictures") {
    for (const std::string& compiler : compilers()) {
        INFO(compiler);
        Compiled compiled(texture_source, compiler);
        const Launched blurred =
            compiled.run("blur", {3}, {4}, {"tex2d:f32[3,4]{1,2,3,4,5,6,7,8,9,10,11,12}", "out:f32[3,4]", "i32:4", "i32:3"});
        INFO(blurred.fault);
        REQUIRE(blurred.fault.empty());
        const auto sums = values<float>(blurred.outputs[0]);
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 4; ++x) {
                int sum = 0;
                for (int j = y - 1; j <= y + 1; ++j)
                    for (int i = x - 1; i <= x + 1; ++i)
                        sum += std::min(std::max(j, 0), 2) * 4 + std::min(std::max(i, 0), 3) + 1;
                CHECK(sums[static_cast<size_t>(y * 4 + x)] == static_cast<float>(sum));
            }
        const Launched between =
            compiled.run("halfway", {}, {4}, {"tex2d:f32[1,4]{1,2,3,8},linear,wrap,normalized", "out:f32[4]", "i32:4"});
        REQUIRE(between.fault.empty());
        CHECK(values<float>(between.outputs[0]) == std::vector<float>{1.5f, 2.5f, 5.5f, 4.5f});
        const Launched fetched = compiled.run("fetch", {}, {2},
                                              {"tex1d:u8[2,4]{1,2,3,4,5,6,7,8}", "tex2dlayered:f32[2,1,2]{10,11,20,21}",
                                               "tex3d:f32[2,2,1]{1,2,3,4}", "out:u8[2,4]"});
        INFO(fetched.fault);
        REQUIRE(fetched.fault.empty());
        CHECK(values<uint8_t>(fetched.outputs[0]) == std::vector<uint8_t>{4, 11, 2, 1, 8, 21, 4, 5});
        // Levels of 4 x 4, 2 x 2 (3.5 5.5 11.5 13.5) and 1 x 1: means of four; a step of two texels is level 1.
        const Launched chain = compiled.run(
            "levels", {}, {5}, {"tex2d:f32[4,4]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16},normalized,levels=3", "out:f32[5]"});
        INFO(chain.fault);
        REQUIRE(chain.fault.empty());
        CHECK(values<float>(chain.outputs[0]) == std::vector<float>{6, 3.5f, 8.5f, 8.5f, 13.5f});
        const Launched inverted = compiled.run("invert", {1}, {2}, {"surf2d:u8[1,2,4]{0,1,2,3,255,254,253,252}", "i32:2"});
        REQUIRE(inverted.fault.empty());
        CHECK(values<uint8_t>(inverted.outputs[0]) == std::vector<uint8_t>{255, 254, 253, 3, 0, 1, 2, 252});
        const Launched outside = compiled.run("invert", {2}, {2}, {"surf2d:u8[1,2,4]{0,1,2,3,255,254,253,252}", "i32:2"});
        CHECK(outside.fault.find("invalid surface read of 4 bytes at x = 0 bytes, y = 1, outside") != std::string::npos);
    }
}

TEST_CASE("texture arguments that cannot be are refused with a caret or a sentence") {
    const auto refused = [](const char* text) {
        const auto argument = scene::parse_argument(text);
        return argument ? std::string() : argument.error().message;
    };
    CHECK(refused("tex2:x.npy") == "unknown texture 'tex2', did you mean 'tex2d:'?");
    CHECK(refused("tex2d:x.npy,liner") == "unknown option 'liner', did you mean 'linear'?");
    CHECK(refused("tex2d:f32[2,2]{1,2,3}") == "there are 3 values here for 4 elements");
    simt::Memory memory;
    ptx::Program program;
    program.kernel = "k";
    program.parameter_bytes = 8;
    program.parameters.push_back({"k_param_0", ptx::Type::u64, 0, 8, 8, false});
    const auto unbound = [&](const char* text) {
        simt::LaunchConfig config;
        const auto bound = scene::bind_arguments(program, {scene::parse_argument(text).value()}, memory, config);
        return bound ? std::string() : bound.error().message;
    };
    CHECK(unbound("tex2d:f32[4]") == "'tex2d:f32[4]' has 1 axes: tex2d takes 2, and one more for channels");
    CHECK(unbound("tex2d:f64[4,4]") ==
          "'tex2d:f64[4,4]' has texels of f64: they can be u8, i8, u16, i16, u32, i32, f16 or f32");
    CHECK(unbound("tex2d:u8[4,4,3]") == "'tex2d:u8[4,4,3]' has 3 channels a texel: there can be 1, 2 or 4");
    CHECK(unbound("texcube:u8[6,4,4],linear,unit").empty());
    CHECK(unbound("tex2d:u8[4,6,4],linear,unit,normalized,levels=3,miplinear,bias=-0.5,minlevel=0.25,maxlevel=2").empty());
    CHECK(unbound("tex2d:f32[4,4],compare=gequal").empty());
    CHECK(unbound("tex2dms:f32[4,4,8]").empty());
    CHECK(unbound("texcubelayered:f32[2,6,4,4]").empty());
    CHECK(unbound("tex2d:f32[4,5],levels=4") == "'tex2d:f32[4,5],levels=4' has texels for 3 levels at most, not 4");
    CHECK(unbound("tex2dms:f32[4,4,65]") == "'tex2dms:f32[4,4,65]' has 65 samples a texel: there can be up to 64");
    CHECK(refused("tex2d:x.npy,levels=0").find("unknown option 'levels=0'") == 0);
    CHECK(refused("tex2d:x.npy,compare=les").find("unknown option 'compare=les'") == 0);
}

}  // namespace every_memory_test
