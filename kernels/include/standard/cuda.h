// Of the driver API, the one type that kernels take: a tensor map, by value and __grid_constant__. The rest is the host's.
#pragma once
typedef struct CUtensorMap_st {
    alignas(128) unsigned long long opaque[16];
} CUtensorMap;
