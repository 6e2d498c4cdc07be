// Functions of mathematics on both sides by the same names, from C and from std: they agree to a few units in the last place.
#include <algorithm>

#include "check.h"

struct Row {
    const char* name;
    double value;
};
constexpr int functions = 38;

template <typename T>
__host__ __device__ void evaluate(T x, T y, T* out) {
    int k = 0;
    out[k++] = sin(x);
    out[k++] = std::cos(x);
    out[k++] = tan(x);
    out[k++] = std::asin(y);
    out[k++] = acos(y);
    out[k++] = std::atan(x);
    out[k++] = atan2(x, y);
    out[k++] = std::exp(x);
    out[k++] = exp2(x);
    out[k++] = std::log(x);
    out[k++] = log2(x);
    out[k++] = log10(x);
    out[k++] = log1p(y);
    out[k++] = std::expm1(y);
    out[k++] = sinh(y);
    out[k++] = cosh(y);
    out[k++] = tanh(x);
    out[k++] = std::pow(x, y);
    out[k++] = pow(x, T(2));
    out[k++] = sqrt(x);
    out[k++] = std::sqrt(x * y);
    out[k++] = cbrt(x);
    out[k++] = hypot(x, y);
    out[k++] = erf(y);
    out[k++] = erfc(y);
    out[k++] = std::fmod(x, y);
    out[k++] = floor(x);
    out[k++] = std::ceil(x);
    out[k++] = trunc(-x);
    out[k++] = std::round(x);
    out[k++] = rint(x);
    out[k++] = std::abs(-x);
    out[k++] = fabs(-y);
    out[k++] = std::min(x, y) + std::max(x, y);
    out[k++] = fmin(x, y) - fmax(x, y);
    out[k++] = min(x, y) * max(x, y);
    out[k++] = fma(x, y, T(1));
    out[k++] = rsqrt(x);
}

__host__ __device__ void evaluate_floats(float x, float y, float* out) {
    int k = 0;
    out[k++] = sinf(x) + cosf(x) + expf(y) + logf(x) + powf(x, y) + sqrtf(x) + fabsf(-x);
    out[k++] = fminf(x, y) + fmaxf(x, y) + floorf(x) + ceilf(y) + fmodf(x, y) + tanhf(y) + rsqrtf(x);
    out[k++] = static_cast<float>(min(3, 4) + max(7u, 2u) + abs(-5)) + copysignf(1.5f, -y);
    out[k++] = static_cast<float>(isnan(x) + std::isinf(y) + std::isfinite(x) + std::signbit(-x));
}

template <typename T>
__global__ void on_device(T x, T y, T* out) {
    evaluate(x, y, out);
}
__global__ void floats_on_device(float x, float y, float* out) { evaluate_floats(x, y, out); }

template <typename T>
void compare(T x, T y, double tolerance) {
    T host[functions], device[functions], *d;
    evaluate(x, y, host);
    CHECK(cudaMalloc(&d, sizeof host));
    on_device<<<1, 1>>>(x, y, d);
    CHECK(cudaMemcpy(device, d, sizeof device, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    for (int k = 0; k < functions; ++k) {
        const double error = std::fabs(double(host[k]) - double(device[k]));
        if (!(error <= tolerance * std::max(1.0, std::fabs(double(host[k]))))) {
            std::fprintf(stderr, "function %d at %g, %g: %.17g on the host, %.17g on the device\n", k, double(x), double(y),
                         double(host[k]), double(device[k]));
            std::exit(1);
        }
    }
}

int main() {
    compare<float>(1.75f, 0.3f, 1e-6);
    compare<float>(12.5f, 0.99f, 1e-6);
    compare<double>(1.75, 0.3, 1e-14);
    compare<double>(12.5, 0.99, 1e-14);
    float host[4], device[4], *d;
    evaluate_floats(2.5f, 0.7f, host);
    CHECK(cudaMalloc(&d, sizeof host));
    floats_on_device<<<1, 1>>>(2.5f, 0.7f, d);
    CHECK(cudaMemcpy(device, d, sizeof device, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 4; ++k) EXPECT(std::fabs(host[k] - device[k]) <= 2e-6f * std::fabs(host[k]));
    CHECK(cudaFree(d));
    return pass();
}
