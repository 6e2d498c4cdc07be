// printf alone: NVRTC has it built in, lockstep_cuda.h declares it for clang.
#pragma once
