// The executor for any machine.
#include <cstring>

#include "core/simt/execute.h"
#include "core/simt/faults.h"
#include "core/simt/warp_wide.h"

#define LOCKSTEP_SIMD_NAME portable
#include "core/simt/execute_body.h"
