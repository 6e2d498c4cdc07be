// The namespace of the copy that is being compiled (twins.cmake): what is inlined must never be shared between copies, or a
// machine without AVX2 could be handed a function that uses it.
#pragma once
#ifndef LOCKSTEP_ISA
#define LOCKSTEP_ISA portable
#endif
