// The same with tiles twice as deep: what the search over tile sizes found on the A6000. Grid (N/128, M/128), block 256. arch: sm_80
#define DEPTH 16
#define SGEMM_NAME sgemm_autotuned
#include "vectorised.h"
