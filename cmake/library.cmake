# The library as others use it: one shared object that shows the C interface alone, its headers, a CMake package and a
# pkg-config file.
# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(rung_library SHARED $<TARGET_OBJECTS:rung_api>)
add_library(rung::rung ALIAS rung_library)
set_target_properties(rung_library PROPERTIES
  OUTPUT_NAME rung EXPORT_NAME rung VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(rung_library INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(rung_library PRIVATE rung_tasks)
target_link_options(rung_library PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/library.map)
set_target_properties(rung_library PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/library.map)

install(TARGETS rung_library EXPORT rung_targets)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET rung)
  install(TARGETS rung)
endif()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/rung)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/rungConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT rung_targets NAMESPACE rung:: FILE rungConfig.cmake DESTINATION ${package})
install(FILES ${CMAKE_BINARY_DIR}/rungConfigVersion.cmake DESTINATION ${package})
# Told from where the file lies, so that `cmake --install --prefix` puts it anywhere.
file(RELATIVE_PATH to_includes ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/rung.pc @ONLY CONTENT [[
libdir=${pcfiledir}/..
includedir=${libdir}/@to_includes@

Name: rung
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Libs: -L${libdir} -lrung
Cflags: -I${includedir}
]])
install(FILES ${CMAKE_BINARY_DIR}/rung.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
