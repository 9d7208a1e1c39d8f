# What generated kernels include is part of the binary as text, because they are compiled where this source is not.
# SPDX-License-Identifier: Apache-2.0
function(rung_embed_generated_headers target)
  set(declarations "")
  set(bytes "")
  set(rows "")
  set(files "")
  foreach(name generated amd_math integers store_atomic)
    set(file ${CMAKE_SOURCE_DIR}/src/kernels/gpu/vendor/${name}.cuh)
    set(symbol rung_header_${name})
    list(APPEND files ${file})
    string(APPEND declarations "extern \"C\" const char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND rows "      {\"${name}.cuh\", {${symbol}, static_cast<size_t>(${symbol}_end - ${symbol})}},\n")
    string(APPEND bytes "asm(\".section .rodata\\n.globl ${symbol}, ${symbol}_end\\n\"\n"
           "    \".hidden ${symbol}, ${symbol}_end\\n${symbol}:\\n\"\n"
           "    \".incbin \\\"${file}\\\"\\n${symbol}_end:\\n.previous\");\n")
  endforeach()
  set(table ${CMAKE_BINARY_DIR}/generated_headers.cpp)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/generated_headers.cpp.in ${table} @ONLY)
  set_source_files_properties(${table} PROPERTIES OBJECT_DEPENDS "${files}")
  target_sources(${target} PRIVATE ${table})
endfunction()
