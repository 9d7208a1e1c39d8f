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
# What RUNG_GPU=CHECK leaves out for a vendor whose driver is not there: nothing would run it. NVIDIA's sources are
# compiled for the first of its architectures, with the PTX that a driver compiles for others, and as fast as the
# compiler can: of this code tests read the names of kernels alone. Sources of which the architecture is the matter (f8,
# Hopper) are compiled as always. These of AMD's architectures, which no emulator executes, are read by the compiler's
# front end: it knows their types and instructions, and takes a twentieth of the time.
set(read_amd_architectures 90a)
set(nvidia_sources_as_always "_sm90$|^cast_f8$")
set(nvidia_fast_options -Ofc max)  # where nvcc has it

find_program(RUNG_NVCC nvcc PATHS /usr/local/cuda/bin)
if(RUNG_NVCC AND RUNG_GPU STREQUAL "CHECK")
  execute_process(COMMAND ${RUNG_NVCC} --help OUTPUT_VARIABLE help ERROR_QUIET)
  if(NOT help MATCHES "--Ofast-compile")
    set(nvidia_fast_options "")
  endif()
endif()
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

# Does this build only check the modules of a vendor, "nvidia" or "amd"?
function(rung_only_checks vendor out)
  string(TOUPPER ${vendor} VENDOR)
  set(${out} OFF PARENT_SCOPE)
  if(RUNG_GPU STREQUAL "CHECK" AND NOT RUNG_${VENDOR}_DRIVER)
    set(${out} ON PARENT_SCOPE)
  endif()
endfunction()

# The options that name the architectures of NVIDIA that a source is for, and how much to optimise.
function(rung_nvidia_options name out)
  rung_only_checks(nvidia only_checks)
  if(only_checks AND NOT name MATCHES "${nvidia_sources_as_always}")
    list(GET nvidia_architectures 0 first)
    set(${out} ${nvidia_fast_options} "-gencode=arch=compute_${first},code=[sm_${first},compute_${first}]" PARENT_SCOPE)
    return()
  endif()
  set(targets ${nvidia_architectures})
  if(name MATCHES "_sm90$")
    list(GET nvidia_architectures -1 targets)
  endif()
  list(TRANSFORM targets REPLACE "(.+)" "-gencode=arch=compute_\\1,code=sm_\\1")
  set(${out} "${targets}" PARENT_SCOPE)
endfunction()

# For the architectures of NVIDIA that the source is for.
function(rung_nvidia_module source out_image)
  get_filename_component(name ${source} NAME_WE)
  set(image ${CMAKE_BINARY_DIR}/gpu/${name}.fatbin)
  rung_nvidia_options(${name} options)
  add_custom_command(OUTPUT ${image}
    COMMAND ${RUNG_NVCC} -fatbin -no-compress -O3 -std=c++20 --expt-relaxed-constexpr ${options}
            -I ${CMAKE_SOURCE_DIR}/src
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

# Has the compiler's front end read a source for an architecture of AMD; what it writes is not embedded.
function(rung_read_amd_source source architecture out_file)
  get_filename_component(name ${source} NAME_WE)
  set(file ${CMAKE_BINARY_DIR}/gpu/${name}.gfx${architecture}.bc)
  add_custom_command(OUTPUT ${file}
    COMMAND ${RUNG_AMD_CLANG} ${amd_options} --offload-arch=gfx${architecture} -I ${CMAKE_SOURCE_DIR}/src
            -Qunused-arguments -c -emit-llvm -Xclang -disable-llvm-passes
            -Xclang -dependency-file -Xclang ${file}.d -Xclang -MT -Xclang ${file} -o ${file} ${source}
    DEPENDS ${source} DEPFILE ${file}.d COMMENT "GPU source ${name} for gfx${architecture}" VERBATIM)
  set(${out_file} ${file} PARENT_SCOPE)
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
  rung_only_checks(amd only_checks)
  if(only_checks)
    list(REMOVE_ITEM amd_architectures ${read_amd_architectures})
  endif()
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
  rung_only_checks(amd only_checks)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    if(NOT no_nvidia AND NOT name MATCHES "_cdna$")
      rung_nvidia_module(${source} image)
      rung_embed_image(${name} 0 rung_gpu_${name} ${image})
    endif()
    if(NOT no_amd AND NOT name MATCHES "_sm90$")
      foreach(architecture ${amd_architectures})
        if(only_checks AND architecture IN_LIST read_amd_architectures)
          rung_read_amd_source(${source} ${architecture} file)
          list(APPEND images ${file})
          continue()
        endif()
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
