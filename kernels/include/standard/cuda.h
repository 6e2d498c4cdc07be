// Of the driver API, the types that kernels take: a tensor map, by value and __grid_constant__, textures. The rest is the host's.
#pragma once
typedef struct CUtensorMap_st {
    alignas(128) unsigned long long opaque[16];
} CUtensorMap;
#ifdef __CUDACC_RTC__
typedef unsigned long long CUtexObject, CUsurfObject;
#endif
