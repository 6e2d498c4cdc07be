// assert ends the kernel by a trap.
#pragma once
#define assert(condition) ((condition) ? (void)0 : __trap())
