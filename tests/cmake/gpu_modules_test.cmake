# Tests of what decides whether a build has GPU kernels: cmake -P gpu_modules_test.cmake
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/gpu_modules.cmake)

function(expect wanted)
  rung_why_no_gpu_modules(got)
  if(NOT got MATCHES "${wanted}")
    message(SEND_ERROR "RUNG_GPU=${RUNG_GPU}, nvcc '${RUNG_NVCC}', driver ${RUNG_GPU_DRIVER}: "
                       "got '${got}', wanted '${wanted}'")
  endif()
endfunction()

foreach(RUNG_GPU_DRIVER ON OFF)
  set(RUNG_NVCC /usr/local/cuda/bin/nvcc)
  set(RUNG_GPU ON)
  expect("^$")
  set(RUNG_GPU OFF)
  expect("RUNG_GPU=OFF")
  set(RUNG_NVCC RUNG_NVCC-NOTFOUND)
  set(RUNG_GPU ON)
  expect("without a CUDA compiler")
endforeach()
set(RUNG_GPU AUTO)
set(RUNG_GPU_DRIVER ON)
expect("without a CUDA compiler")
set(RUNG_NVCC /usr/local/cuda/bin/nvcc)
expect("^$")
set(RUNG_GPU_DRIVER OFF)
expect("no GPU driver was installed.*./dev build --gpu")
set(SKBUILD 2)  # a Python wheel
expect("^$")
set(RUNG_NVCC RUNG_NVCC-NOTFOUND)
expect("without a CUDA compiler")
