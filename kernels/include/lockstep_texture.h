// Textures and surfaces for a clang without CUDA toolkit: CUDA's tex* and surf* functions as the PTX instructions behind
// them (PTX ISA, "Texture Instructions" and "Surface Instructions").
#pragma once

typedef unsigned long long CUtexObject, CUsurfObject;
#ifndef LOCKSTEP_PROGRAM  // in driver_types.h there
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
#endif

// What a texel is read as: lanes of 32 bits of one of three types, of which T takes the first ones.
template <class T>
struct lockstep_texel;
#define LOCKSTEP_TEXEL(T, base, register_type, ...)                          \
    template <>                                                              \
    struct lockstep_texel<T> {                                               \
        using type = T;                                                      \
        using lane = register_type;                                          \
        LOCKSTEP_DEVICE_MEMBER static T of(lane x, lane y, lane z, lane w) { \
            (void)y, (void)z, (void)w;                                       \
            return type{__VA_ARGS__};                                        \
        }                                                                    \
    };
#define LOCKSTEP_DEVICE_MEMBER __inline__ __attribute__((always_inline, nodebug, device))
#define LOCKSTEP_TEXELS(base, name, lane)                 \
    LOCKSTEP_TEXEL(base, base, lane, (base)x)             \
    LOCKSTEP_TEXEL(name##1, base, lane, (base)x)          \
    LOCKSTEP_TEXEL(name##2, base, lane, (base)x, (base)y) \
    LOCKSTEP_TEXEL(name##4, base, lane, (base)x, (base)y, (base)z, (base)w)
LOCKSTEP_TEXELS(float, float, float)
LOCKSTEP_TEXELS(int, int, int)
LOCKSTEP_TEXELS(short, short, int)
LOCKSTEP_TEXELS(signed char, char, int)
LOCKSTEP_TEXELS(unsigned, uint, unsigned)
LOCKSTEP_TEXELS(unsigned short, ushort, unsigned)
LOCKSTEP_TEXELS(unsigned char, uchar, unsigned)
LOCKSTEP_TEXEL(char, char, int, (char)x)
#undef LOCKSTEP_TEXELS
#undef LOCKSTEP_TEXEL

template <class T>
struct lockstep_kind {
    static constexpr int value = 0;  // unsigned
};
template <>
struct lockstep_kind<int> {
    static constexpr int value = 1;
};
template <>
struct lockstep_kind<float> {
    static constexpr int value = 2;
};

// name: tex2D; opcode: "tex.2d.v4"; type of the coordinates; what follows the texture, %5 being the first of `operands`
#define LOCKSTEP_FETCH(name, opcode, type, place, operands, ...)       \
    template <class T>                                                 \
    LOCKSTEP_DEVICE T name(cudaTextureObject_t texture, __VA_ARGS__) { \
        typename lockstep_texel<T>::lane a, b, c, d;                   \
        if constexpr (lockstep_kind<decltype(a)>::value == 2)          \
            asm(opcode ".f32." type " {%0, %1, %2, %3}, [%4, " place   \
                : "=f"(a), "=f"(b), "=f"(c), "=f"(d)                   \
                : "l"(texture), operands);                             \
        else if constexpr (lockstep_kind<decltype(a)>::value == 1)     \
            asm(opcode ".s32." type " {%0, %1, %2, %3}, [%4, " place   \
                : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                   \
                : "l"(texture), operands);                             \
        else                                                           \
            asm(opcode ".u32." type " {%0, %1, %2, %3}, [%4, " place   \
                : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                   \
                : "l"(texture), operands);                             \
        return lockstep_texel<T>::of(a, b, c, d);                      \
    }
#define LOCKSTEP_AT(...) __VA_ARGS__
LOCKSTEP_FETCH(tex1Dfetch, "tex.1d.v4", "s32", "{%5}];", LOCKSTEP_AT("r"(x)), int x)
LOCKSTEP_FETCH(tex1D, "tex.1d.v4", "f32", "{%5}];", LOCKSTEP_AT("f"(x)), float x)
LOCKSTEP_FETCH(tex2D, "tex.2d.v4", "f32", "{%5, %6}];", LOCKSTEP_AT("f"(x), "f"(y)), float x, float y)
LOCKSTEP_FETCH(tex3D, "tex.3d.v4", "f32", "{%5, %6, %7, %7}];", LOCKSTEP_AT("f"(x), "f"(y), "f"(z)), float x, float y,
               float z)
LOCKSTEP_FETCH(texCubemap, "tex.cube.v4", "f32", "{%5, %6, %7, %7}];", LOCKSTEP_AT("f"(x), "f"(y), "f"(z)), float x, float y,
               float z)
LOCKSTEP_FETCH(tex1DLayered, "tex.a1d.v4", "f32", "{%5, %6}];", LOCKSTEP_AT("r"(layer), "f"(x)), float x, int layer)
LOCKSTEP_FETCH(tex2DLayered, "tex.a2d.v4", "f32", "{%5, %6, %7, %7}];", LOCKSTEP_AT("r"(layer), "f"(x), "f"(y)), float x,
               float y, int layer)
LOCKSTEP_FETCH(tex1DLod, "tex.level.1d.v4", "f32", "{%5}], %6;", LOCKSTEP_AT("f"(x), "f"(level)), float x, float level)
LOCKSTEP_FETCH(tex2DLod, "tex.level.2d.v4", "f32", "{%5, %6}], %7;", LOCKSTEP_AT("f"(x), "f"(y), "f"(level)), float x,
               float y, float level)
LOCKSTEP_FETCH(tex3DLod, "tex.level.3d.v4", "f32", "{%5, %6, %7, %7}], %8;", LOCKSTEP_AT("f"(x), "f"(y), "f"(z), "f"(level)),
               float x, float y, float z, float level)
LOCKSTEP_FETCH(tex2DGrad, "tex.grad.2d.v4", "f32", "{%5, %6}], {%7, %8}, {%9, %10};",
               LOCKSTEP_AT("f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)), float x, float y, float2 dx,
               float2 dy)
LOCKSTEP_FETCH(texCubemapLayered, "tex.acube.v4", "f32", "{%5, %6, %7, %8}];",
               LOCKSTEP_AT("r"(layer), "f"(x), "f"(y), "f"(z)), float x, float y, float z, int layer)
LOCKSTEP_FETCH(tex2DLayeredLod, "tex.level.a2d.v4", "f32", "{%5, %6, %7, %7}], %8;",
               LOCKSTEP_AT("r"(layer), "f"(x), "f"(y), "f"(level)), float x, float y, int layer, float level)
LOCKSTEP_FETCH(lockstep_gather_x, "tld4.r.2d.v4", "f32", "{%5, %6}];", LOCKSTEP_AT("f"(x), "f"(y)), float x, float y)
LOCKSTEP_FETCH(lockstep_gather_y, "tld4.g.2d.v4", "f32", "{%5, %6}];", LOCKSTEP_AT("f"(x), "f"(y)), float x, float y)
LOCKSTEP_FETCH(lockstep_gather_z, "tld4.b.2d.v4", "f32", "{%5, %6}];", LOCKSTEP_AT("f"(x), "f"(y)), float x, float y)
LOCKSTEP_FETCH(lockstep_gather_w, "tld4.a.2d.v4", "f32", "{%5, %6}];", LOCKSTEP_AT("f"(x), "f"(y)), float x, float y)
template <class T>
LOCKSTEP_DEVICE T tex2Dgather(cudaTextureObject_t texture, float x, float y, int component = 0) {
    return component == 0   ? lockstep_gather_x<T>(texture, x, y)
           : component == 1 ? lockstep_gather_y<T>(texture, x, y)
           : component == 2 ? lockstep_gather_z<T>(texture, x, y)
                            : lockstep_gather_w<T>(texture, x, y);
}
#undef LOCKSTEP_FETCH

// Surfaces: x counts bytes, and a value moves as its bytes.
template <class T>
LOCKSTEP_DEVICE T lockstep_of_bytes(const void* bytes) {
    T value;
    __builtin_memcpy(&value, bytes, sizeof(T));
    return value;
}
#define LOCKSTEP_READ(form, type, mode, place, operands)                                                         \
    if constexpr (sizeof(T) == 16)                                                                               \
        asm volatile("suld.b." form ".v4.b32." mode " {%0, %1, %2, %3}, [%4, " place "];"                        \
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])                                            \
                     : "l"(surface), operands);                                                                  \
    else if constexpr (sizeof(T) == 8)                                                                           \
        asm volatile("suld.b." form ".v2.b32." mode " {%0, %1}, [%2, " place "];"                                \
                     : "=r"(v[0]), "=r"(v[1])                                                                    \
                     : "l"(surface), operands);                                                                  \
    else if constexpr (sizeof(T) == 4)                                                                           \
        asm volatile("suld.b." form ".b32." mode " %0, [%1, " place "];" : "=r"(v[0]) : "l"(surface), operands); \
    else if constexpr (sizeof(T) == 2)                                                                           \
        asm volatile("suld.b." form ".b16." mode " %0, [%1, " place "];" : "=h"(h) : "l"(surface), operands);    \
    else                                                                                                         \
        asm volatile("suld.b." form ".b8." mode " %0, [%1, " place "];" : "=h"(h) : "l"(surface), operands);
#define LOCKSTEP_WRITE(form, type, mode, place, operands)                                                                   \
    if constexpr (sizeof(T) == 16)                                                                                          \
        asm volatile("sust.b." form ".v4.b32." mode " [%4, " place "], {%0, %1, %2, %3};"                                   \
                     :                                                                                                      \
                     : "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "l"(surface), operands                                   \
                     : "memory");                                                                                           \
    else if constexpr (sizeof(T) == 8)                                                                                      \
        asm volatile("sust.b." form ".v2.b32." mode " [%2, " place "], {%0, %1};"                                           \
                     :                                                                                                      \
                     : "r"(v[0]), "r"(v[1]), "l"(surface), operands                                                         \
                     : "memory");                                                                                           \
    else if constexpr (sizeof(T) == 4)                                                                                      \
        asm volatile("sust.b." form ".b32." mode " [%1, " place "], %0;" : : "r"(v[0]), "l"(surface), operands : "memory"); \
    else if constexpr (sizeof(T) == 2)                                                                                      \
        asm volatile("sust.b." form ".b16." mode " [%1, " place "], %0;" : : "h"(h), "l"(surface), operands : "memory");    \
    else                                                                                                                    \
        asm volatile("sust.b." form ".b8." mode " [%1, " place "], %0;" : : "h"(h), "l"(surface), operands : "memory");
#define LOCKSTEP_BY_MODE(MOVE, form, place, operands)        \
    if (mode == cudaBoundaryModeZero) {                      \
        MOVE(form, T, "zero", place, LOCKSTEP_AT(operands))  \
    } else if (mode == cudaBoundaryModeClamp) {              \
        MOVE(form, T, "clamp", place, LOCKSTEP_AT(operands)) \
    } else {                                                 \
        MOVE(form, T, "trap", place, LOCKSTEP_AT(operands))  \
    }
#define LOCKSTEP_SURFACE(name, form, place, operands, ...)                                  \
    template <class T>                                                                      \
    LOCKSTEP_DEVICE T name##read(cudaSurfaceObject_t surface, __VA_ARGS__,                  \
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
        unsigned v[4];                                                                      \
        unsigned short h = 0;                                                               \
        LOCKSTEP_BY_MODE(LOCKSTEP_READ, form, place, LOCKSTEP_AT(operands))                 \
        return sizeof(T) < 4 ? lockstep_of_bytes<T>(&h) : lockstep_of_bytes<T>(v);          \
    }                                                                                       \
    template <class T>                                                                      \
    LOCKSTEP_DEVICE void name##read(T* value, cudaSurfaceObject_t surface, __VA_ARGS__,     \
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
        unsigned v[4];                                                                      \
        unsigned short h = 0;                                                               \
        LOCKSTEP_BY_MODE(LOCKSTEP_READ, form, place, LOCKSTEP_AT(operands))                 \
        *value = sizeof(T) < 4 ? lockstep_of_bytes<T>(&h) : lockstep_of_bytes<T>(v);        \
    }                                                                                       \
    template <class T>                                                                      \
    LOCKSTEP_DEVICE void name##write(T value, cudaSurfaceObject_t surface, __VA_ARGS__,     \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
        unsigned v[4];                                                                      \
        unsigned short h = 0;                                                               \
        if constexpr (sizeof(T) < 4)                                                        \
            __builtin_memcpy(&h, &value, sizeof(T));                                        \
        else                                                                                \
            __builtin_memcpy(v, &value, sizeof(T));                                         \
        LOCKSTEP_BY_MODE(LOCKSTEP_WRITE, form, place, LOCKSTEP_AT(operands))                \
    }
LOCKSTEP_SURFACE(surf1D, "1d", "{%[x]}", LOCKSTEP_AT([x] "r"(x)), int x)
LOCKSTEP_SURFACE(surf2D, "2d", "{%[x], %[y]}", LOCKSTEP_AT([x] "r"(x), [y] "r"(y)), int x, int y)
LOCKSTEP_SURFACE(surf3D, "3d", "{%[x], %[y], %[z], %[z]}", LOCKSTEP_AT([x] "r"(x), [y] "r"(y), [z] "r"(z)), int x, int y,
                 int z)
LOCKSTEP_SURFACE(surf1DLayered, "a1d", "{%[l], %[x]}", LOCKSTEP_AT([l] "r"(layer), [x] "r"(x)), int x, int layer)
LOCKSTEP_SURFACE(surf2DLayered, "a2d", "{%[l], %[x], %[y], %[y]}", LOCKSTEP_AT([l] "r"(layer), [x] "r"(x), [y] "r"(y)), int x,
                 int y, int layer)
LOCKSTEP_SURFACE(surfCubemap, "a2d", "{%[l], %[x], %[y], %[y]}", LOCKSTEP_AT([l] "r"(face), [x] "r"(x), [y] "r"(y)), int x,
                 int y, int face)
#undef LOCKSTEP_SURFACE
#undef LOCKSTEP_BY_MODE
#undef LOCKSTEP_READ
#undef LOCKSTEP_WRITE
#undef LOCKSTEP_AT
#undef LOCKSTEP_DEVICE_MEMBER
