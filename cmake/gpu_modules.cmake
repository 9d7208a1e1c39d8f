# GPU kernels: every src/kernels/gpu/FAMILY/NAME.cu becomes a module NAME, compiled for each architecture and embedded
# in the binary as bytes that the driver loads. Compiling them takes as long as the rest of the tool, so that AUTO
# leaves them out where no driver could load them; but not of a Python wheel, which is for other machines too. Without
# them, or without nvcc, the tool builds as well and says what it lacks.
# SPDX-License-Identifier: Apache-2.0
find_program(RUNG_NVCC nvcc PATHS /usr/local/cuda/bin)

# A driver shows by its library or, in a container that gets it later, by its devices.
find_library(driver NAMES libcuda.so.1 PATHS /usr/lib/wsl/lib NO_CACHE)
file(GLOB devices /dev/nvidia[0-9]* /dev/nvidiactl)
if(driver OR devices)
  set(RUNG_GPU_DRIVER ON)
else()
  set(RUNG_GPU_DRIVER OFF)
endif()

# "" or why this build has no modules.
function(rung_why_no_gpu_modules out)
  set(reason "")
  if(RUNG_GPU STREQUAL "AUTO" AND NOT RUNG_GPU_DRIVER AND NOT SKBUILD)
    set(reason "built where no GPU driver was installed; to build them all the same: ./dev build --gpu (RUNG_GPU=ON)")
  elseif(NOT RUNG_GPU STREQUAL "AUTO" AND NOT RUNG_GPU)
    set(reason "built without them (RUNG_GPU=OFF)")
  elseif(NOT RUNG_NVCC)
    set(reason "built without a CUDA compiler")
  endif()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

set(portable_architectures -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90a,code=sm_90a)
set(hopper_architectures -gencode=arch=compute_90a,code=sm_90a)  # files named *_sm90.cu

function(rung_gpu_module source out_fatbin)
  get_filename_component(name ${source} NAME_WE)
  set(fatbin ${CMAKE_BINARY_DIR}/gpu/${name}.fatbin)
  set(architectures ${portable_architectures})
  if(name MATCHES "_sm90$")
    set(architectures ${hopper_architectures})
  endif()
  add_custom_command(OUTPUT ${fatbin}
    COMMAND ${RUNG_NVCC} -fatbin -O3 -std=c++20 --expt-relaxed-constexpr ${architectures} -I ${CMAKE_SOURCE_DIR}/src
            -MD -MF ${fatbin}.d -o ${fatbin} ${source}
    DEPENDS ${source} DEPFILE ${fatbin}.d COMMENT "GPU module ${name}" VERBATIM)
  set(${out_fatbin} ${fatbin} PARENT_SCOPE)
endfunction()

# Writes the table of modules and adds it to `target`.
function(rung_embed_gpu_modules target)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/gpu/*.cu)
  set(declarations "")
  set(rows "")
  set(bytes "")
  set(fatbins "")
  rung_why_no_gpu_modules(reason)
  if(reason)
    message(STATUS "No GPU kernels: ${reason}")
  else()
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/gpu)
    foreach(source ${sources})
      get_filename_component(name ${source} NAME_WE)
      rung_gpu_module(${source} fatbin)
      list(APPEND fatbins ${fatbin})
      string(APPEND declarations "extern \"C\" const char rung_gpu_${name}[];\n")
      string(APPEND rows "    {\"${name}\", rung_gpu_${name}},\n")
      string(APPEND bytes "asm(\".section .rodata\\n.balign 64\\n.globl rung_gpu_${name}\\n\"\n"
             "    \".hidden rung_gpu_${name}\\nrung_gpu_${name}:\\n\"\n"
             "    \".incbin \\\"${fatbin}\\\"\\n.previous\");\n")
    endforeach()
  endif()
  set(table ${CMAKE_BINARY_DIR}/gpu_modules.cpp)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/gpu_modules.cpp.in ${table} @ONLY)
  set_source_files_properties(${table} PROPERTIES OBJECT_DEPENDS "${fatbins}")
  target_sources(${target} PRIVATE ${table})
endfunction()
