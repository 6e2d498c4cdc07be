// libstdc++ spells an attribute __noinline__, which is a macro in CUDA C++.
#pragma once
#pragma clang system_header
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
