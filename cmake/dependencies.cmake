# Libraries from the system's packages; docs/dependencies.md says why each.
# SPDX-License-Identifier: Apache-2.0
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tl-expected REQUIRED)
foreach(name xxhash utf8proc pcre2-8 dnnl zstd)
  find_library(${name}_library ${name} REQUIRED)
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE ${${name}_library})
endforeach()
find_path(protozero_headers protozero/pbf_reader.hpp REQUIRED)  # headers alone
add_library(protozero INTERFACE)
target_include_directories(protozero SYSTEM INTERFACE ${protozero_headers})
find_path(xbyak_headers xbyak/xbyak.h REQUIRED)  # headers alone
add_library(xbyak INTERFACE)
target_include_directories(xbyak SYSTEM INTERFACE ${xbyak_headers})
find_path(openblas_headers cblas.h REQUIRED)  # the library itself is opened at run time
add_library(openblas INTERFACE)
target_include_directories(openblas SYSTEM INTERFACE ${openblas_headers})
