# The opcode table's three copies. -O3 so that loops over 32 lanes become vectors in every build type but the sanitizers'; no-math-errno and
# no-trapping-math change no result, they allow that; lanes are read as whatever type an instruction has. Where there are copies
# for AVX2 the portable one, for processors of before 2013, has -O1. Under sanitizers it is the only one: the copies differ in the
# compiler's options alone.
set(lanes_options -O3 -fno-math-errno -fno-trapping-math -fno-strict-aliasing -Wno-conversion -Wno-pass-failed)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(REMOVE_ITEM lanes_options -Wno-pass-failed)
endif()
if(LOCKSTEP_FUZZ OR LOCKSTEP_SANITIZE)
  list(APPEND lanes_options -O1)  # loops with a check at every step do not become vectors
endif()
if(LOCKSTEP_FUZZ)
  list(APPEND lanes_options -fno-sanitize=fuzzer-no-link)
endif()
set(portable_options "")
set(avx2_options "")
set(avx512_options "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(portable_options -O1)
  set(avx2_options -mavx2 -mfma)
  set(avx512_options -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512)
endif()
if(LOCKSTEP_SANITIZE)
  set_source_files_properties(core/ptx/opcode.cpp PROPERTIES COMPILE_DEFINITIONS LOCKSTEP_PORTABLE_TABLE SKIP_UNITY_BUILD_INCLUSION ON)
  set_source_files_properties(core/ptx/opcodes_avx2.cpp core/ptx/opcodes_avx512.cpp PROPERTIES HEADER_FILE_ONLY ON)
endif()
set_source_files_properties(${CMAKE_SOURCE_DIR}/core/ptx/opcodes.cpp PROPERTIES COMPILE_OPTIONS "${lanes_options};${portable_options}")
set_source_files_properties(${CMAKE_SOURCE_DIR}/core/ptx/opcodes_avx2.cpp PROPERTIES COMPILE_OPTIONS "${lanes_options};${avx2_options}")
set_source_files_properties(${CMAKE_SOURCE_DIR}/core/ptx/opcodes_avx512.cpp PROPERTIES COMPILE_OPTIONS "${lanes_options};${avx512_options}")
