// Functions of CUDA's mathematics that C's library lacks, on the host: nvcc's programs call them there too.
#pragma once
#define LOCKSTEP_HOST static __inline__ __attribute__((host))
// C23 has these, so that newer libraries declare them: the same functions, defined here for all.
extern "C" {
#define LOCKSTEP_C23 inline __attribute__((host, always_inline))
LOCKSTEP_C23 float rsqrtf(float a) noexcept { return 1.0f / sqrtf(a); }
LOCKSTEP_C23 double rsqrt(double a) noexcept { return 1.0 / sqrt(a); }
LOCKSTEP_C23 double sinpi(double a) noexcept { return sin(M_PI * fmod(a, 2.0)); }
LOCKSTEP_C23 double cospi(double a) noexcept { return cos(M_PI * fmod(a, 2.0)); }
LOCKSTEP_C23 float sinpif(float a) noexcept { return (float)sinpi((double)a); }
LOCKSTEP_C23 float cospif(float a) noexcept { return (float)cospi((double)a); }
#undef LOCKSTEP_C23
}
LOCKSTEP_HOST float rsqrt(float a) { return 1.0f / sqrtf(a); }
LOCKSTEP_HOST float rcbrtf(float a) { return (float)(1.0 / cbrt((double)a)); }
LOCKSTEP_HOST double rcbrt(double a) { return 1.0 / cbrt(a); }
LOCKSTEP_HOST float fdividef(float a, float b) { return a / b; }
LOCKSTEP_HOST void sincospi(double a, double* s, double* c) {
    *s = sinpi(a);
    *c = cospi(a);
}
LOCKSTEP_HOST void sincospif(float a, float* s, float* c) {
    *s = sinpif(a);
    *c = cospif(a);
}
LOCKSTEP_HOST double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
LOCKSTEP_HOST float norm3df(float a, float b, float c) { return (float)norm3d((double)a, (double)b, (double)c); }
LOCKSTEP_HOST double norm4d(double a, double b, double c, double d) { return sqrt(a * a + b * b + c * c + d * d); }
LOCKSTEP_HOST float norm4df(float a, float b, float c, float d) {
    return (float)norm4d((double)a, (double)b, (double)c, (double)d);
}
LOCKSTEP_HOST double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
LOCKSTEP_HOST float rnorm3df(float a, float b, float c) { return (float)rnorm3d((double)a, (double)b, (double)c); }
LOCKSTEP_HOST double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
LOCKSTEP_HOST float rhypotf(float a, float b) { return (float)rhypot((double)a, (double)b); }
LOCKSTEP_HOST double normcdf(double a) { return 0.5 * erfc(a * -M_SQRT1_2); }
LOCKSTEP_HOST float normcdff(float a) { return (float)normcdf((double)a); }
#undef LOCKSTEP_HOST
