# The families of native twins, compiled twice: as part of the module for any processor, and beside it for AVX2.
# No contraction: a product and a sum stay two roundings, as in the kernels' exact cases; the flags of -fno-... change no
# result, they let loops become vectors. The portable copy, for processors of before 2013, has -O2: half as long to compile.
set(twins_options -ffp-contract=off -fno-math-errno -fno-trapping-math)
file(GLOB twins_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/device/twins/*.cpp)
list(FILTER twins_sources EXCLUDE REGEX "/twins\\.cpp$")
set_source_files_properties(${twins_sources} PROPERTIES COMPILE_OPTIONS "-O2;${twins_options}" COMPILE_DEFINITIONS "LOCKSTEP_ISA=portable" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
# Convolution is a product of matrices: with fused multiply-adds where the processor has them.
set_source_files_properties(${CMAKE_SOURCE_DIR}/core/device/twins/convolution.cpp PROPERTIES COMPILE_OPTIONS "-O2;${twins_options};-ffp-contract=fast")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(copies "")
  foreach(source ${twins_sources})
    get_filename_component(name ${source} NAME)
    set(copy ${CMAKE_BINARY_DIR}/twins_avx2/${name})
    if(NOT EXISTS ${copy})
      file(WRITE ${copy} "#include \"core/device/twins/${name}\"\n")
    endif()
    list(APPEND copies ${copy})
  endforeach()
  target_sources(lockstep_device PRIVATE ${copies})
  set_source_files_properties(${copies} PROPERTIES COMPILE_OPTIONS "-O3;${twins_options};-mavx2;-mfma" COMPILE_DEFINITIONS "LOCKSTEP_ISA=avx2" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  set_source_files_properties(${CMAKE_BINARY_DIR}/twins_avx2/convolution.cpp PROPERTIES COMPILE_OPTIONS "-O3;${twins_options};-ffp-contract=fast;-mavx2;-mfma")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/core/device/twins/twins.cpp PROPERTIES COMPILE_DEFINITIONS LOCKSTEP_TWINS_AVX2)
endif()
