# The Python package: liblockstep (the engine, the command line and the pictures as one library, which shows nothing but the C
# functions of binding/library.h) and the program `lockstep` beside it, which is the command line and what tasks run in.
# `./dev python` and `./dev wheel` put them together with the Python files.
set(python_folder ${CMAKE_CURRENT_LIST_DIR})
add_library(lockstep_library SHARED app/start.cpp ${python_folder}/binding/library.cpp ${python_folder}/binding/functions.cpp)
set_target_properties(lockstep_library PROPERTIES OUTPUT_NAME lockstep PREFIX lib CXX_VISIBILITY_PRESET hidden UNITY_BUILD OFF
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/bin RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/bin)
target_compile_definitions(lockstep_library PRIVATE LOCKSTEP_IS_BUILT)
target_link_libraries(lockstep_library PRIVATE lockstep_cli lockstep_gui)
add_executable(lockstep_start ${python_folder}/binding/main.c)
set_target_properties(lockstep_start PROPERTIES OUTPUT_NAME lockstep RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/bin
  INSTALL_RPATH $ORIGIN BUILD_WITH_INSTALL_RPATH ON)
target_link_libraries(lockstep_start PRIVATE lockstep_library)
if(WIN32)
  target_sources(lockstep_start PRIVATE app/windows.rc)
else()
  set(map ${python_folder}/binding/library.map)
  target_link_options(lockstep_library PRIVATE -Wl,-Bsymbolic -Wl,--version-script,${map} $<$<CONFIG:Release>:-s>)
  set_target_properties(lockstep_library PROPERTIES LINK_DEPENDS ${map})
endif()

find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)
if(NOT WIN32)  # whole programs are linked to it, which is not there for Windows
  set(runtime lockstep_cudart)
endif()
add_custom_target(python_package ALL COMMAND ${Python_EXECUTABLE} ${python_folder}/package/assemble.py ${CMAKE_BINARY_DIR}
  ${CMAKE_BINARY_DIR}/package DEPENDS lockstep_library lockstep_start ${runtime})

if(NOT CMAKE_CROSSCOMPILING)
  enable_testing()
  foreach(part package pictures helpers wheel notebooks)
    add_test(NAME python_${part} COMMAND ${Python_EXECUTABLE} -m pytest -q -p no:cacheprovider ${python_folder}/tests/test_${part}.py
      WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/package)
    set_tests_properties(python_${part} PROPERTIES TIMEOUT 1800 ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/package;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()
