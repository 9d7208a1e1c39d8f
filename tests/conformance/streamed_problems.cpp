// Products of one to four rows with weights that stream: rows of one piece, of several, and of a piece and a bit;
// results of fewer tiles than blocks, and of more; and the norms before and behind them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "problems.hpp"

namespace rung::test {
namespace {

// A problem, and the rows of w that have a scale if they have 8 bits. {0} stands for the type of x, {1} for w's name
// and type, {2} for the slot of the scales and {3} for them, or for nothing.
struct Streamed {
  const char* text;
  int rows;
};
constexpr Streamed kProblems[] = {
    {"linear(x:{0}[1,2048], {1}[264,2048], r:{0}[1,264]{3}, slots=residual{2}, out={0})", 264},
    {"linear(x:{0}[4,1152], {1}[2180,1152], wb:f32[2180], r:{0}[4,2180]{3}, slots=bias+residual{2}, "
     "activation=gelu, out={0})",
     2180},
    {"linear(slice(x:{0}[3,3392], axis=1, begin=64, end=3264), {1}[132,3200], r:f32[3,132]{3}, "
     "slots=residual{2}, activation=silu, out=f32)",
     132},
    {"linear(x:{0}[1,8192], {1}[1600,8192], r:f32[1,1600], ws:f32[1600]{3}, slots=residual+norm_weight{2}, "
     "norm_run=8)",
     1600},
    {"linear(x:{0}[3,256], {1}[64,256], wb:{0}[64], ws:f32[64], positive:f32[3,32]{3}, "
     "slots=bias+norm_weight+squares{2}, norm_run=8, eps=0.5)",
     64},
    {"linear(x:{0}[2,1024], {1}[4360,1024], wb:f32[4360], positive:f32[2,128]{3}, slots=bias+squares{2}, "
     "gated=true, activation=silu, out={0})",
     4360},
    {"linear(x:{0}[1,384], {1}[40,384], r:{0}[1,20]{3}, slots=residual{2}, gated=true, activation=gelu_tanh, "
     "out={0})",
     40},
    {"linear(x:{0}[4,512], {1}[768,512], c:f32[4,128], s:f32[4,128], positive:f32[4,64]{3}, "
     "slots=cos+sin+squares{2}, rotated_heads=4, out={0})",
     768},
    {"linear(x:{0}[1,128], {1}[2304,128], wb:f32[2304], c:{0}[1,64], s:{0}[1,64]{3}, slots=bias+cos+sin{2}, "
     "rotated_heads=32, out=f32)",
     2304},
};

}  // namespace

std::vector<std::string> streamed_problems() {
  std::vector<std::string> all;
  const auto add = [&](const char* x, const std::string& w, bool scaled) {
    for (const auto& [text, rows] : kProblems) {
      const std::string scales = scaled ? fmt::format(", wsteps:f32[{}]", rows) : "";
      all.push_back("result = " + fmt::format(fmt::runtime(text), x, w, scaled ? "+scale" : "", scales));
    }
  };
  for (const char* x : {"bf16", "f16"}) {
    add(x, fmt::format("w:{}", x), false);
    add(x, "w:f8e4m3fn", true);
    add(x, "wbytes:i8", true);
  }
  return all;
}

}  // namespace rung::test
