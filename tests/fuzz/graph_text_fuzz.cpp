// Any text as a graph: refused, or a graph that verifies and whose text form parses back to itself.
// SPDX-License-Identifier: Apache-2.0
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  rung::write_seeds(*argc, *argv,
                    {"graph g\nx: f32[2,3] = input()\nw: f32[4,3] = constant(name=\"w\")\nc: f32[1] = "
                     "constant(values=[0.5])\nh: f32[2,4] = linear(x, w, out=f32)  # label\ny: f32[2,4] = add(h, c)\n"
                     "return out=y\n",
                     "y = softmax(add(matmul(x:f32[4,8], w:f32[8,16]), b:f32[16]), axis=-1)",
                     "y = reshape(transpose(x:bf16[2,3], permutation=[1,0]), shape=[6])",
                     "y = pointwise(a:f32[2], b:f32[2], program=\"r2=mul(r0,r1);r3=tanh(r2)\")",
                     "y = region(a:f32[2,3], program=\"r1=row_sum(r0);r2=div(r0,r1);return r2:bf16,r1:f32\")"});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  auto graph = parse_graph(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!graph) return 0;
  require(verify(*graph).has_value(), "a parsed graph verifies");
  std::string text = print(*graph);
  auto again = parse_graph(text);
  require(again.has_value(), "what is printed parses");
  require(print(*again) == text, "and prints the same");
  return 0;
}
