// The same as for kernels alone.
#pragma once
#pragma clang system_header
#include "../clang/mma.h"
