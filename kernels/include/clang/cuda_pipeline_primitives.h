// In cuda_pipeline.h already.
#pragma once
#include "cuda_pipeline.h"
