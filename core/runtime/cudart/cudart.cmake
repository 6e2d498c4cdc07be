# The library that a program takes for CUDA's runtime. It stands under the names of each version of it, and shows nothing but
# CUDA's functions: no version is theirs alone, so programs of every version find them.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
add_library(lockstep_cudart SHARED ${sources})
target_link_libraries(lockstep_cudart PRIVATE lockstep_runtime)
compile_together(lockstep_cudart)
set_target_properties(lockstep_cudart PROPERTIES CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/runtime
  LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/versions.map)
if(NOT WIN32)
  target_link_options(lockstep_cudart PRIVATE -Wl,--version-script,${CMAKE_CURRENT_LIST_DIR}/versions.map)
  if(NOT CMAKE_CXX_VISIBILITY_PRESET STREQUAL hidden)  # wheels are compiled so, by a linker that does not know this
    target_link_options(lockstep_cudart PRIVATE -Wl,--exclude-libs,ALL)
  endif()
  foreach(name libcudart.so libcudart.so.11.0 libcudart.so.12 libcudart.so.13)
    add_custom_command(TARGET lockstep_cudart POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink
      $<TARGET_FILE_NAME:lockstep_cudart> ${CMAKE_BINARY_DIR}/runtime/${name})
  endforeach()
endif()
