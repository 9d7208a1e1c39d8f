# The library as others use it: one shared object that shows rung::api alone, its header, and a CMake package.
# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(rung_library SHARED $<TARGET_OBJECTS:rung_api>)
add_library(rung::rung ALIAS rung_library)
set_target_properties(rung_library PROPERTIES
  OUTPUT_NAME rung EXPORT_NAME rung VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_compile_features(rung_library INTERFACE cxx_std_20)
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
