// Which convolutions of dequantised bytes become products of rows of bytes, and which stay.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::lower_integer_conv;

// A convolution of bytes with a zero point, by `type`; `field` is more of its fields.
std::string conv_of(const std::string& type, const std::string& field = "", const std::string& scale = "f32[12,1,1,1]",
                    const std::string& weight = "mul(sub(cast(w, to=f32), v), t)", const std::string& channels = "16") {
  return "q: " + type + "[2,6,5,16] = input()\nw: i8[12,3,3," + channels + "] = constant()\nb: f32[12] = constant()\n" +
         "z: f32[] = constant(values=[3])\nv: f32[] = constant(values=[0])\ns: f32[] = constant(values=[0.05])\n" +
         "t: " + scale + " = constant()\nn: f32[1,1,1,16] = constant()\nwords: f32[] = input()\n" +
         "x = mul(sub(cast(q, to=f32), z), s)\ny = conv(x, " + weight + ", b, slots=bias" + field + ")\nreturn y=y";
}

void expect_rows_of_bytes(const std::string& text) {
  const Graph before = graph_of(text), rows = run_pass(lower_integer_conv, before).graph;
  EXPECT_EQ(count_ops(rows, "conv"), 0u) << text;
  expect_same_values(before, rows);
  const Graph products = run_pass(passes::recognise_integer_products, rows).graph;
  size_t of_bytes = 0;
  for (const NodeId id : products.order())
    if (products.as<Linear>(id)) of_bytes += products.type(products[id].operands[0]).dtype == DType::i8;
  EXPECT_EQ(of_bytes, 1u) << text << expression(products);
  expect_same_values(before, products);
}

TEST(LowerIntegerConv, ConvolutionsOfBytesBecomeProductsOfBytes) {
  for (const char* type : {"u8", "i8"})
    for (const char* fields : {"", ", before=[1,1], after=[1,1]", ", before=[1,0], after=[2,1], stride=[2,1]",
                               ", dilation=[2,2], before=[2,2], after=[2,2]", ", activation=relu"})
      expect_rows_of_bytes(conv_of(type, fields));
}

TEST(LowerIntegerConv, WeightsMayHaveOneScaleOrBeTurned) {
  expect_rows_of_bytes(conv_of("u8", "", "f32[]"));
  expect_rows_of_bytes(
      "o: f32[12,1,1,1] = constant(values=[0,1,0,0,0,0,0,0,0,0,0,-1])\nf: f32[12,3,3,16] = constant()\n"
      "m: f32[] = constant(values=[20])\n" +
      conv_of("u8", "", "f32[12,1,1,1]", "mul(sub(cast(cast(mul(f, m), to=i8), to=f32), o), t)"));
  expect_rows_of_bytes(conv_of("u8", "", "f32[12,1,1,1]", "transpose(mul(cast(w, to=f32), t), permutation=[0,2,1,3])"));
}

TEST(LowerIntegerConv, OthersStay) {
  const auto stays = [](const std::string& text) {
    EXPECT_EQ(count_ops(run_pass(lower_integer_conv, graph_of(text)).graph, "conv"), 1u) << text;
  };
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string conv = conv_of("u8");
  stays(conv_of("u8", ", groups=2", "f32[]", "mul(cast(w, to=f32), t)", "8"));
  stays(with(conv, "z), s)", "z), n)"));                                // scales of channels of x
  stays(with(conv, "cast(q, to=f32), z)", "cast(q, to=f32), words)"));  // a zero point that is not known
  stays(with(conv, "v), t)", "t), t)"));                                // zero points with fractions
  stays(with(conv, "x = mul(sub(cast(q, to=f32), z), s)", "x = cast(q, to=f32)"));
  stays(conv_of("u8", "", "f32[1,1,1,16]"));  // scales of channels of w
}

TEST(LowerIntegerConv, DevicesWithoutProductsOfBytesKeepConvolutions) {
  const KernelQuery none = [](const Op&, std::span<const Type>) -> Verdict { return reject("no"); };
  EXPECT_EQ(count_ops(run_pass(lower_integer_conv, graph_of(conv_of("u8")), none).graph, "conv"), 1u);
}

}  // namespace
}  // namespace rung::test
