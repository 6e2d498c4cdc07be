// In nvToolsExt.h already.
#pragma once
#include "../nvToolsExt.h"
