// Arithmetic of __half on the host: in f32 or f64, rounded once. For cuda_fp16.h in whole programs.
#pragma once
static inline __half lockstep_half_rounded(double a) {
    __half_raw raw = {lockstep_half_of(a, 0)};
    return raw;
}
// By the PTX instruction that the GPU has for it: its first letters and its modifier.
static inline __half lockstep_half_operation(const char* text, float a, float b) {
    if (text[0] == 'a') return lockstep_half_rounded((double)(a + b));
    if (text[0] == 's') return lockstep_half_rounded((double)(a - b));
    if (text[1] == 'u') return lockstep_half_rounded((double)(a * b));
    if (text[3] == '.' && (a != a || b != b)) return lockstep_half_rounded((double)__builtin_nanf(""));
    return lockstep_half_rounded((double)(text[1] == 'i' ? __builtin_fminf(a, b) : __builtin_fmaxf(a, b)));
}
static inline __half lockstep_half_saturated(__half h) {
    const float a = (float)h;
    return lockstep_half_rounded(a >= 1.0f ? 1.0 : a > 0.0f ? (double)a : 0.0);
}
static inline __half lockstep_half_fma(const char* text, float a, float b, float c) {  // "fma.rn", ".sat" and ".relu" behind it
    const __half d = lockstep_half_rounded((double)a * b + c);
    if (text[6] == 0) return d;
    if (text[7] == 's') return lockstep_half_saturated(d);
    return (float)d < 0.0f ? lockstep_half_rounded(0.0) : d;
}
