// Limits of the number types.
#pragma once
#include <limits.h>
