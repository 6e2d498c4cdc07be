# The opcode table is compiled for any processor, for AVX2 and for AVX-512. Under -O3 loops over 32 lanes become vectors;
# no-math-errno and no-trapping-math change no result, they allow that.
set(lanes -fno-math-errno -fno-trapping-math -Wno-conversion)
if(NOT LOCKSTEP_SANITIZE)
  list(APPEND lanes $<IF:$<BOOL:${LOCKSTEP_WIDE}>,-O2,-O3>)
endif()
set(folder ${CMAKE_SOURCE_DIR}/core/ptx/opcodes)
set_source_files_properties(${folder}/opcodes.cpp PROPERTIES COMPILE_OPTIONS "${lanes}")
if(LOCKSTEP_WIDE)
  set_source_files_properties(${folder}/opcodes_avx2.cpp PROPERTIES COMPILE_OPTIONS "${lanes};-O3;${avx2}")
  set_source_files_properties(${folder}/opcodes_avx512.cpp PROPERTIES COMPILE_OPTIONS "${lanes};-O3;${avx512}")
else()
  set_source_files_properties(${folder}/opcode.cpp PROPERTIES COMPILE_DEFINITIONS LOCKSTEP_PORTABLE_TABLE)
  set_source_files_properties(${folder}/opcodes_avx2.cpp ${folder}/opcodes_avx512.cpp PROPERTIES HEADER_FILE_ONLY ON)
endif()
file(GLOB sources ${folder}/opcode*.cpp ${CMAKE_SOURCE_DIR}/core/simt/execute/execute*.cpp)  # the executor names its targets itself
set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
