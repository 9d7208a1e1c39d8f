# rung_module(NAME [SEPARATE [FOLDER...]] LINK ... PRIVATE ...): a static library rung_NAME from src/NAME, headers found
# as "NAME/file.hpp".
# SPDX-License-Identifier: Apache-2.0
add_library(rung_warnings INTERFACE)
target_compile_options(rung_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)  # GCC 12 sees overlaps in std::string's own operator+ (its bug 105651)
if(RUNG_SANITIZE)
  add_compile_options(-fsanitize=${RUNG_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RUNG_SANITIZE})
endif()

# Kernel files named for an instruction set are compiled for it, and entered only when the processor has it.
# GCC 12 takes the undefined vectors of its own AVX-512 header for uninitialised reads.
set(flags_avx2 -mavx2 -mfma -mf16c)
set(flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mprefer-vector-width=512
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
set(flags_avx512_vnni ${flags_avx512} -mavx512vnni)
set(flags_avx512_bf16 ${flags_avx512} -mavx512bf16)
set(flags_amx_bf16 ${flags_avx512_bf16} -mamx-tile -mamx-bf16)
set(flags_amx_int8 ${flags_avx512_vnni} -mamx-tile -mamx-int8)
# A fuzzer learns nothing from their branches, and clang takes minutes to instrument them. What plans make them read and
# write is watched in those for AVX2, which the fuzzer of plans runs.
if(RUNG_FUZZ)
  foreach(isa avx2 avx512 avx512_vnni avx512_bf16 amx_bf16 amx_int8)
    list(APPEND flags_${isa} -fno-sanitize=all)
  endforeach()
  list(APPEND flags_avx2 -fsanitize=address)
endif()

# Eight sources of a folder are compiled as one, and 24 tests: what their headers define and instantiate is compiled
# once for all, which halves the time (the tests of sessions: 28 s of a core by 24, 45 s by eight). Names in unnamed
# namespaces therefore differ within a folder, but for a SEPARATE one, where sources of one form use the same words; of
# a folder with SEPARATE parts, "." for the sources in none, the others are compiled together. clang-tidy, the
# sanitizers and the fuzzers compile each source alone.
option(RUNG_UNITY "Compile several sources of a folder as one" ON)
function(rung_compile_together target count)
  if(RUNG_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()

function(rung_module name)
  cmake_parse_arguments(arg "" "" "SEPARATE;LINK;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  if(NOT sources)
    add_library(rung_${name} INTERFACE)
    target_link_libraries(rung_${name} INTERFACE ${arg_LINK} ${arg_PRIVATE})
    target_include_directories(rung_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    return()
  endif()
  add_library(rung_${name} STATIC ${sources})
  target_include_directories(rung_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(rung_${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE} rung_warnings)
  rung_precompile(rung_${name} library)
  if(NOT "SEPARATE" IN_LIST ARGN OR arg_SEPARATE)
    rung_compile_together(rung_${name} 8)
  endif()
  foreach(folder ${arg_SEPARATE})
    file(GLOB alone ${CMAKE_SOURCE_DIR}/src/${name}/${folder}/*.cpp)
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  foreach(source ${sources})
    if(source MATCHES "_(avx2|avx512|avx512_vnni|avx512_bf16|amx_bf16|amx_int8)\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags_${CMAKE_MATCH_1}}"
                                  SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
