# GPU kernels: every src/kernels/gpu/FAMILY/NAME.cu becomes a module NAME, compiled for each architecture and embedded
# in the binary as bytes that the driver loads: one fatbin for NVIDIA, one code object for each architecture of AMD.
# Compiling them takes as long as the rest of the tool, so that AUTO leaves them out where no driver could load them,
# and a Python wheel has none unless it is asked for them. Without them, or without a vendor's compiler, the tool builds
# as well and says what it lacks; but a wheel that is asked for them is not made without any.
# SPDX-License-Identifier: Apache-2.0

# The architectures of a build; device/gpu/modules.hpp tells the rest of the program. A file named *_sm90.cu is compiled
# for the last of NVIDIA's alone, one named *_cdna.cu for AMD's. Of NVIDIA's, code for an architecture with an "a" runs
# on that one only, code for another on later ones of its generation too; of AMD's, on that one only.
set(nvidia_architectures 80 90a)
set(amd_architectures 90a 942 950)

find_program(RUNG_NVCC nvcc PATHS /usr/local/cuda/bin)
find_program(RUNG_AMD_CLANG clang++-22)
find_program(RUNG_AMD_LINKER ld.lld-22)  # what that compiler links with

# A driver shows by its library or, in a container that gets it later, by its devices.
find_library(driver NAMES libcuda.so.1 PATHS /usr/lib/wsl/lib NO_CACHE)
file(GLOB devices /dev/nvidia[0-9]* /dev/nvidiactl)
if(driver OR devices)
  set(RUNG_NVIDIA_DRIVER ON)
else()
  set(RUNG_NVIDIA_DRIVER OFF)
endif()
if(EXISTS /dev/kfd)
  set(RUNG_AMD_DRIVER ON)
else()
  set(RUNG_AMD_DRIVER OFF)
endif()

# How to ask for them, in words for whoever misses them.
if(SKBUILD)
  set(how_to_ask "pip install . -Ccmake.define.RUNG_GPU=ON")
else()
  set(how_to_ask "./dev build --gpu (RUNG_GPU=ON)")
endif()

# "" or why this build has no modules for a vendor's GPUs, "nvidia" or "amd".
function(rung_why_no_gpu_modules vendor out)
  string(TOUPPER ${vendor} VENDOR)
  set(reason "")
  if(RUNG_GPU STREQUAL "AUTO" AND NOT RUNG_${VENDOR}_DRIVER)
    set(reason "built where no GPU driver was installed; to build them all the same: ${how_to_ask}")
  elseif(NOT RUNG_GPU STREQUAL "AUTO" AND NOT RUNG_GPU)
    set(reason "built without them (RUNG_GPU=OFF); to build them: ${how_to_ask}")
  elseif(vendor STREQUAL "nvidia" AND NOT RUNG_NVCC)
    set(reason "built without a CUDA compiler")
  elseif(vendor STREQUAL "amd" AND NOT RUNG_AMD_CLANG)
    set(reason "built without a compiler for AMD's GPUs (clang++-22)")
  elseif(vendor STREQUAL "amd" AND NOT RUNG_AMD_LINKER)
    set(reason "built without a linker for AMD's GPUs (ld.lld-22)")
  endif()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# For the architectures of NVIDIA that the source is for.
function(rung_nvidia_module source out_image)
  get_filename_component(name ${source} NAME_WE)
  set(image ${CMAKE_BINARY_DIR}/gpu/${name}.fatbin)
  set(architectures ${nvidia_architectures})
  if(name MATCHES "_sm90$")
    list(GET nvidia_architectures -1 architectures)
  endif()
  list(TRANSFORM architectures REPLACE "(.+)" "-gencode=arch=compute_\\1,code=sm_\\1")
  add_custom_command(OUTPUT ${image}
    COMMAND ${RUNG_NVCC} -fatbin -O3 -std=c++20 --expt-relaxed-constexpr ${architectures} -I ${CMAKE_SOURCE_DIR}/src
            -MD -MF ${image}.d -o ${image} ${source}
    DEPENDS ${source} DEPFILE ${image}.d COMMENT "GPU module ${name}" VERBATIM)
  set(${out_image} ${image} PARENT_SCOPE)
endfunction()

# No header or library of the vendor is needed. Without the two options for inlining, arguments are copied to scratch
# memory. The same source gives the same bytes (no cuid).
set(amd_options -x hip --offload-device-only --no-gpu-bundle-output -nogpulib -nogpuinc -mcode-object-version=5
    -fuse-cuid=none -O3 -std=c++20 -mllvm -amdgpu-early-inline-all=true -mllvm -amdgpu-function-calls=false
    -Wall -Werror -Wno-pass-failed -Xoffload-linker -s -include kernels/gpu/vendor/amd.cuh)

# For one architecture of AMD. -MF does nothing where the compiler links as well: the depfile is asked of its front end.
function(rung_amd_module source architecture out_image)
  get_filename_component(name ${source} NAME_WE)
  set(image ${CMAKE_BINARY_DIR}/gpu/${name}.gfx${architecture}.co)
  add_custom_command(OUTPUT ${image}
    COMMAND ${RUNG_AMD_CLANG} ${amd_options} --offload-arch=gfx${architecture} -I ${CMAKE_SOURCE_DIR}/src
            -Xclang -dependency-file -Xclang ${image}.d -Xclang -MT -Xclang ${image} -o ${image} ${source}
    DEPENDS ${source} DEPFILE ${image}.d COMMENT "GPU module ${name} for gfx${architecture}" VERBATIM)
  set(${out_image} ${image} PARENT_SCOPE)
endfunction()

# The C++ rows {name, first architecture that it is for, last one} of what a vendor's modules are compiled for.
function(rung_architecture_rows out)
  set(rows "")
  foreach(architecture ${nvidia_architectures})
    string(REGEX MATCH "^[0-9]+" first ${architecture})
    set(last ${first})
    if(NOT architecture MATCHES "a$")
      math(EXPR last "${first} / 10 * 10 + 9")
    endif()
    string(APPEND rows "    {Vendor::nvidia, \"sm_${architecture}\", ${first}, ${last}},\n")
  endforeach()
  foreach(architecture ${amd_architectures})
    string(APPEND rows "    {Vendor::amd, \"gfx${architecture}\", 0x${architecture}, 0x${architecture}},\n")
  endforeach()
  set(${out} "${rows}" PARENT_SCOPE)
endfunction()

# Puts the bytes of a file under `symbol` into the table of modules; architecture: 0 for all of NVIDIA's.
macro(rung_embed_image name architecture symbol image)
  list(APPEND images ${image})
  string(APPEND declarations "extern \"C\" const char ${symbol}[], ${symbol}_end[];\n")
  string(APPEND rows "    {\"${name}\", ${architecture}, ${symbol}, ${symbol}_end},\n")
  string(APPEND bytes "asm(\".section .rodata\\n.balign 64\\n.globl ${symbol}, ${symbol}_end\\n\"\n"
         "    \".hidden ${symbol}, ${symbol}_end\\n${symbol}:\\n\"\n"
         "    \".incbin \\\"${image}\\\"\\n${symbol}_end:\\n.previous\");\n")
endmacro()

# Writes the table of modules and adds it to `target`.
function(rung_embed_gpu_modules target)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/gpu/*.cu)
  set(declarations "")
  set(rows "")
  set(bytes "")
  set(images "")
  foreach(vendor nvidia amd)
    rung_why_no_gpu_modules(${vendor} no_${vendor})
    if(no_${vendor})
      message(STATUS "No GPU kernels for ${vendor}: ${no_${vendor}}")
    endif()
  endforeach()
  if(SKBUILD AND no_nvidia AND no_amd AND RUNG_GPU AND NOT RUNG_GPU STREQUAL "AUTO")
    message(FATAL_ERROR "A wheel with GPU kernels wants nvcc, or clang++-22 and ld.lld-22: ${no_nvidia}; ${no_amd}")
  endif()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/gpu)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    if(NOT no_nvidia AND NOT name MATCHES "_cdna$")
      rung_nvidia_module(${source} image)
      rung_embed_image(${name} 0 rung_gpu_${name} ${image})
    endif()
    if(NOT no_amd AND NOT name MATCHES "_sm90$")
      foreach(architecture ${amd_architectures})
        rung_amd_module(${source} ${architecture} image)
        rung_embed_image(${name} 0x${architecture} rung_gpu_${name}_gfx${architecture} ${image})
      endforeach()
    endif()
  endforeach()
  rung_architecture_rows(architectures)
  set(table ${CMAKE_BINARY_DIR}/gpu_modules.cpp)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/gpu_modules.cpp.in ${table} @ONLY)
  set_source_files_properties(${table} PROPERTIES OBJECT_DEPENDS "${images}")
  target_sources(${target} PRIVATE ${table})
endfunction()
