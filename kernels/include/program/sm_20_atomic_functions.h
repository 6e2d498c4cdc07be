// All of it stands in lockstep_program.h.
#pragma once
#include "lockstep_program.h"
