// In cooperative_groups.h already.
#pragma once
#include "../cooperative_groups.h"
