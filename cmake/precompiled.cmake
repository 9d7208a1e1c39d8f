# Headers of libraries that most sources include, parsed once: half of the time of a small source goes there.
# SPDX-License-Identifier: Apache-2.0
#
# Each source still includes what it uses: clang-tidy, the sanitizers and the fuzzers compile without this.
option(RUNG_PRECOMPILE "Parse the headers of libraries once for all sources" ON)
set(precompiled_headers
  <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <mutex>
  <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> <nlohmann/json_fwd.hpp> <tl/expected.hpp>)

# The first target of a kind (library, test) makes the file, with `ARGN` as its further headers, the others of
# that kind read it: what is compiled for an executable does not fit a library.
function(rung_precompile target kind)
  if(NOT RUNG_PRECOMPILE)
    return()
  endif()
  get_property(first GLOBAL PROPERTY rung_precompiled_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${precompiled_headers} ${ARGN})
    set_property(GLOBAL PROPERTY rung_precompiled_${kind} ${target})
  endif()
  # ccache sees the file by -fpch-preprocess. GCC 12 then no longer knows which headers are the system's, and warns of
  # overflows in std::string's own code, which it suppresses otherwise.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess -Wno-stringop-overflow -Wno-array-bounds>)
  # GCC otherwise collects garbage whenever its heap, with all that such a file holds, has grown by a part: a tenth of
  # the time of a test (8.6 s of a core, 7.9 without; 560 MiB, 640 without). The presets have ccache ignore the option.
  if(RUNG_UNITY)  # clang-tidy, which tells by the command what it has read, compiles nothing
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
  endif()
endfunction()
