# What a wheel holds beside the Python files: the extension, librung.so and the libraries that it needs in rung/lib, the
# tool in rung/bin. They find one another by RPATH; in librung.so that is no RUNPATH, so that it also holds for what it
# opens at run time, OpenBLAS, and what that needs.
# SPDX-License-Identifier: Apache-2.0
set_property(TARGET rung_library PROPERTY VERSION)  # a wheel has no links: the file's name is the library's
set_property(TARGET rung_library PROPERTY SOVERSION)
# The code and the GPU kernels are in a wheel once: the tool is a function of its library.
target_sources(rung_library PRIVATE $<TARGET_OBJECTS:rung_commands>)
target_link_libraries(rung PRIVATE rung_library)
set_target_properties(python_core PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
set_target_properties(rung_library PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(rung PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
foreach(target python_core rung_library rung)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endforeach()

install(TARGETS python_core LIBRARY DESTINATION rung COMPONENT python)
install(TARGETS rung_library LIBRARY DESTINATION rung/lib COMPONENT python)
install(TARGETS rung RUNTIME DESTINATION rung/bin COMPONENT python)
install(FILES ${package}/_core.pyi ${package}/py.typed DESTINATION rung COMPONENT python)

find_library(openblas_library NAMES libopenblas.so.0 REQUIRED)
install(CODE "set(library \"$<TARGET_FILE:rung_library>\")\nset(opened \"${openblas_library}\")" COMPONENT python)
install(SCRIPT bundle_libraries.cmake COMPONENT python)
