// Products of one to four rows with weights that stream: rows of one piece, of several, and of a piece and a bit;
// results of fewer tiles than blocks, and of more; and the norms before and behind them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "problems.hpp"

namespace rung::test {
namespace {

// A problem, and the rows and columns of w. {0} stands for the type of x, {1} for w, {2} for the slots of its scales
// and {3} for these, or for nothing.
struct Streamed {
  const char* text;
  int rows, columns;
};
constexpr Streamed kProblems[] = {
    {"linear(x:{0}[1,2048], {1}, r:{0}[1,264]{3}, slots=residual{2}, out={0})", 264, 2048},
    {"linear(x:{0}[4,1280], {1}, wb:f32[2180], r:{0}[4,2180]{3}, slots=bias+residual{2}, "
     "activation=gelu, out={0})",
     2180, 1280},
    {"linear(slice(x:{0}[3,4736], axis=1, begin=64, end=4672), {1}, r:f32[3,132]{3}, "
     "slots=residual{2}, activation=silu, out=f32)",
     132, 4608},
    {"linear(x:{0}[1,8192], {1}, r:f32[1,1600], ws:f32[1600]{3}, slots=residual+norm_weight{2}, "
     "norm_run=8)",
     1600, 8192},
    {"linear(x:{0}[3,256], {1}, wb:{0}[64], ws:f32[64], positive:f32[3,32]{3}, "
     "slots=bias+norm_weight+squares{2}, norm_run=8, eps=0.5)",
     64, 256},
    {"linear(steps:{0}[2,1024], {1}, wb:f32[4360], positive:f32[2,128]{3}, slots=bias+squares{2}, "
     "gated=true, activation=silu, out={0})",
     4360, 1024},
    {"linear(steps:{0}[1,384], {1}, r:{0}[1,20]{3}, slots=residual{2}, gated=true, activation=gelu_tanh, "
     "out={0})",
     40, 384},
    {"linear(x:{0}[4,512], {1}, c:f32[4,128], s:f32[4,128], positive:f32[4,64]{3}, "
     "slots=cos+sin+squares{2}, rotated_heads=4, out={0})",
     768, 512},
    {"linear(x:{0}[1,128], {1}, wb:f32[2304], c:{0}[1,64], s:{0}[1,64]{3}, slots=bias+cos+sin{2}, "
     "rotated_heads=32, out=f32)",
     2304, 128},
};

}  // namespace

std::vector<std::string> streamed_problems() {
  std::vector<std::string> all;
  const auto add = [&](const char* x, const char* w, int packed, const char* slots, int group) {
    for (const auto& [text, rows, columns] : kProblems) {
      std::string scales = *slots ? fmt::format(", wsteps:f32[{}]", rows) : "";
      for (int i = 0; group > 0 && i < packed; ++i)
        scales += fmt::format(", wbytes{}:i8[{},{}]", i + 2, rows, columns / group);
      const std::string weights = fmt::format("{}[{},{}]", w, rows, columns / packed);
      all.push_back("result = " + fmt::format(fmt::runtime(text), x, weights, slots, scales));
    }
  };
  for (const char* x : {"bf16", "f16"}) {
    add(x, fmt::format("w:{}", x).c_str(), 1, "", 0);
    add(x, "w:f8e4m3fn", 1, "+scale", 0);
    add(x, "wbytes:i8", 1, "+scale", 0);
    add(x, "wbytes:i8", 1, "+scale+group_scale", 64);
    add(x, "wpairs:u8", 2, "+scale+group_scale+group_offset", 32);
  }
  return all;
}

}  // namespace rung::test
