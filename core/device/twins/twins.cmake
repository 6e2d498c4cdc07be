# The native twins are compiled for any processor as part of core/device, and again for AVX2; those whose time goes into f32
# arithmetic once more for AVX-512. No contraction but in convolution, a product of matrices: what is left of the flags changes
# no result, it lets loops become vectors: strict aliasing too, for a loop whose results may be the pointers of its own closure is
# none (no twin reads a value as another type, but by std::bit_cast). twins.cpp is told the families: the names
# of the files in the rooms.
set(wide_families activation attention glu)
set(twins_options -fno-math-errno -fno-trapping-math -fstrict-aliasing)
file(GLOB twins CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/device/twins/*/*.cpp)
set(families ${twins})
list(TRANSFORM families REPLACE "^.*/([a-z_]+)\\.cpp$" "FAMILY(\\1)")
list(JOIN families " " families)
list(JOIN wide_families ") FAMILY(" wide)
set_source_files_properties(${CMAKE_SOURCE_DIR}/core/device/twins/twins.cpp PROPERTIES COMPILE_DEFINITIONS
  "LOCKSTEP_FAMILIES=${families};LOCKSTEP_WIDE_FAMILIES=FAMILY(${wide})")
set_source_files_properties(${twins} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# The same sources for one kind of processor, apart from those of core/device: `sources`, and what they are compiled with.
get_target_property(sources lockstep_device SOURCES)
list(REMOVE_ITEM sources ${twins})
set_target_properties(lockstep_device PROPERTIES SOURCES "${sources}")
function(twins_for processor sources)
  set(target lockstep_twins_${processor})
  add_library(${target} OBJECT ${sources})
  target_compile_options(${target} PRIVATE ${twins_options} ${ARGN})
  target_link_libraries(${target} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  if(LOCKSTEP_PRECOMPILE AND NOT LOCKSTEP_SANITIZE)
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
  target_sources(lockstep_device PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()
set_source_files_properties(${CMAKE_SOURCE_DIR}/core/device/twins/layers/convolution.cpp PROPERTIES COMPILE_OPTIONS -ffp-contract=fast SKIP_PRECOMPILE_HEADERS ON)
if(LOCKSTEP_SANITIZE MATCHES "address" AND EXISTS /proc/cpuinfo)  # one copy: with the intrinsics in it where the builder has them
  file(STRINGS /proc/cpuinfo has_avx2 LIMIT_COUNT 1 REGEX "^flags.* avx2 ")
  if(has_avx2)
    set_property(SOURCE ${twins} APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mfma)
  endif()
endif()
if(NOT LOCKSTEP_WIDE)
  twins_for(any "${twins}")
else()  # hardly any processor is left that needs those for any
  twins_for(any "${twins}" $<$<CONFIG:Release>:-O1>)
  twins_for(avx2 "${twins}" -O3 ${avx2})
  target_compile_definitions(lockstep_twins_avx2 PRIVATE LOCKSTEP_ISA=avx2)
  list(JOIN wide_families "|" wide)
  list(FILTER twins INCLUDE REGEX "/(${wide})\\.cpp$")
  twins_for(avx512 "${twins}" -O3 ${avx512})
  target_compile_definitions(lockstep_twins_avx512 PRIVATE LOCKSTEP_ISA=avx512 LOCKSTEP_TWINS_OF_F32_ALONE)
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/core/device/twins/twins.cpp APPEND PROPERTY COMPILE_DEFINITIONS LOCKSTEP_TWINS_AVX2)
endif()
