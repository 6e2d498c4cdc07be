# The Python package: liblockstep (the engine, the command line and the pictures as one library), the program `lockstep` beside
# it, which is the command line and what tasks run in, and the binding _core. `./dev python` and `./dev wheel` put them together.
add_library(lockstep_library SHARED app/start.cpp)
set_target_properties(lockstep_library PROPERTIES OUTPUT_NAME lockstep LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python
  INSTALL_RPATH $ORIGIN BUILD_WITH_INSTALL_RPATH ON)
target_link_libraries(lockstep_library PRIVATE lockstep_cli lockstep_gui)
# All of what the binding calls is in it, whether or not the command line calls it too.
target_link_options(lockstep_library PRIVATE -Wl,-Bsymbolic $<$<CONFIG:Release>:-Wl,-s>
  LINKER:--whole-archive,$<TARGET_FILE:lockstep_api>,$<TARGET_FILE:lockstep_gui>,--no-whole-archive)
set_target_properties(lockstep_library PROPERTIES LINK_DEPENDS "$<TARGET_FILE:lockstep_api>;$<TARGET_FILE:lockstep_gui>")

add_executable(lockstep_start app/main.cpp)
set_target_properties(lockstep_start PROPERTIES OUTPUT_NAME lockstep RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/bin
  INSTALL_RPATH $ORIGIN/.. BUILD_WITH_INSTALL_RPATH ON)
target_link_libraries(lockstep_start PRIVATE lockstep_library)
add_dependencies(lockstep_start lockstep_cudart)

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT)
find_package(nanobind CONFIG REQUIRED)
# Split mode: one binding for every CPython from 3.10 on, whose run-time half comes from PyPI (nanobind-backend).
nanobind_add_module(_core BACKEND_MODULE nanobind_backend STABLE_ABI_VERSION 3.10 NOMINSIZE app/python/binding/binding.cpp)
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python INSTALL_RPATH $ORIGIN BUILD_WITH_INSTALL_RPATH ON
  UNITY_BUILD OFF)
target_compile_options(_core PRIVATE -Wno-pedantic -Wno-shadow -Wno-conversion -Wno-missing-field-initializers)
target_link_libraries(_core PRIVATE lockstep_library fmt::fmt Threads::Threads)

add_custom_target(python_package ALL COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/package/assemble.py ${CMAKE_BINARY_DIR}
  ${CMAKE_BINARY_DIR}/package DEPENDS _core lockstep_start lockstep_cudart)

enable_testing()
foreach(part package pictures helpers notebooks)
  add_test(NAME python_${part} COMMAND ${Python_EXECUTABLE} -m pytest -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/tests/test_${part}.py
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/package)
  set_tests_properties(python_${part} PROPERTIES TIMEOUT 1800 ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/package;PYTHONDONTWRITEBYTECODE=1")
endforeach()
