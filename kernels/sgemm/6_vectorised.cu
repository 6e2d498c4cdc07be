// All copies take 16 bytes a lane; A's tile lies transposed in shared memory, so that a thread's words are neighbours there. Grid (N/128, M/128), block 256. arch: sm_80
#define DEPTH 8
#define SGEMM_NAME sgemm_vectorised
#include "vectorised.h"
