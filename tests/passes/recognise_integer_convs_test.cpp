// Which convolutions of dequantised bytes multiply integers, and which of them round to bytes.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::recognise_integer_convs;

struct Text {
  std::string type = "u8", fields, groups, weight = "mul(sub(cast(w, to=f32), v), t)", behind = "div(c, d)",
              bytes = "u8", least = "0", most = "255";
};

// A convolution of bytes with a zero point whose result is rounded to bytes.
std::string text_of(const Text& of) {
  const std::string channels = of.groups.empty() ? "16" : "1", rows = of.groups.empty() ? "12" : "16";
  return "q: " + of.type + "[2,6,5,16] = input()\nw: i8[" + rows + ",3,3," + channels + "] = constant()\nb: f32[" +
         rows + "] = constant()\nz: f32[] = constant(values=[3])\nv: f32[] = constant(values=[0])\n" +
         "s: f32[] = constant(values=[0.05])\nt: f32[" + rows + ",1,1,1] = constant()\n" +
         "d: f32[] = constant(values=[0.75])\nr: f32[] = constant(values=[12582912])\n" +
         "o: f32[] = constant(values=[5])\nleast: f32[] = constant(values=[" + of.least +
         "])\nmost: f32[] = constant(values=[" + of.most + "])\nzero: f32[] = constant(values=[0])\n" +
         "words: f32[] = input()\nmany: f32[12] = constant()\n" + "c = conv(mul(sub(cast(q, to=f32), z), s), " +
         of.weight + ", b, slots=bias" + of.fields + of.groups + ")\nn = min(max(add(sub(add(" + of.behind +
         ", r), r), o), least), most)\n" + "y = cast(select(eq(n, n), n, zero), to=" + of.bytes + ")\nreturn y=y";
}

// Returns the fields of the conv after the pass, of one that gives bytes if there is one; none: it is of floats.
std::optional<Conv> formed(const std::string& text) {
  const Graph graph = run_pass(recognise_integer_convs, graph_of(text)).graph;
  std::optional<Conv> found;
  for (const NodeId id : graph.order())
    if (const auto* conv = graph.as<Conv>(id); conv && conv->is_of_integers() && !(found && found->out)) found = *conv;
  return found;
}

void expect_bytes(const Text& of) {
  const std::string text = text_of(of);
  const auto conv = formed(text);
  ASSERT_TRUE(conv && conv->out) << text;
  EXPECT_EQ(conv->zero, 3) << text;
  EXPECT_EQ(conv->out_zero, 5) << text;
  const Graph before = graph_of(text);
  expect_same_values(before, run_pass(recognise_integer_convs, before).graph);
}

TEST(RecogniseIntegerConvs, ConvolutionsOfBytesGiveBytes) {
  for (const char* type : {"u8", "i8"})
    for (const char* fields : {"", ", before=[1,1], after=[1,1]", ", dilation=[2,2], stride=[2,1], after=[2,1]"})
      expect_bytes({.type = type, .fields = fields});
  expect_bytes({.groups = ", groups=16", .bytes = "i8", .least = "-128", .most = "127"});
}

TEST(RecogniseIntegerConvs, WeightsLoseTheirZeroPoints) {
  expect_bytes({.weight = "transpose(mul(cast(w, to=f32), t), permutation=[0,2,1,3])"});
  expect_bytes({.weight = "mul(sub(cast(cast(mul(cast(w, to=f32), d), to=i8), to=f32), z), t)"});
}

TEST(RecogniseIntegerConvs, LimitsOfFloatsAreThoseOfBytes) {
  expect_bytes({.behind = "div(relu(c), d)"});
  expect_bytes({.behind = "div(max(c, v), d)"});
  const auto relu = formed(text_of({.behind = "div(relu(c), d)"}));
  EXPECT_EQ(relu->activation, Activation::relu);  // 5 is not the least byte
  const std::string limits = "high: f32[] = constant(values=[187.5])\nlow: f32[] = constant(values=[-4])\n";
  const std::string text = limits + text_of({.behind = "div(min(max(c, low), high), d)"});
  const auto wide = formed(text);  // 250 + 5 is the largest byte, and -5 + 5 the least
  ASSERT_TRUE(wide && wide->out);
  EXPECT_EQ(wide->activation, Activation::none);
}

TEST(RecogniseIntegerConvs, OtherRoundingsStayBehind) {
  const auto stays = [](const std::string& text) {
    const auto conv = formed(text);
    ASSERT_TRUE(conv) << text;
    EXPECT_FALSE(conv->out) << text;
  };
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.rfind(from), from.size(), to);
  };
  const std::string text = text_of({});
  stays("low: f32[] = constant(values=[-2])\n" + text_of({.behind = "div(max(c, low), d)"}));
  stays("high: f32[] = constant(values=[187])\n" + text_of({.behind = "div(min(c, high), d)"}));
  stays(text_of({.behind = "div(c, many)"}));          // steps of channels
  stays(text_of({.behind = "div(gelu(c), d)"}));       // no limit
  stays(text_of({.behind = "div(c, words)"}));         // steps that are not known
  stays(text_of({.least = "1"}));                      // other limits than those of u8
  stays(with(text, "return y=y", "return y=y, c=c"));  // the floats are read, too
  stays(with(text, "return y=y", "return y=y, n=n"));
  stays(with(text, "r), r), o)", "r), d), o)"));
  stays(with(text, "n, n), n, zero)", "n, n), n, words)"));
}

TEST(RecogniseIntegerConvs, ConvolutionsOfFloatsStay) {
  const auto stays = [](const std::string& text) { EXPECT_FALSE(formed(text)) << text; };
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string text = text_of({});
  stays(with(text, "z), s)", "z), words)"));                            // a scale that is not known
  stays(with(text, "cast(q, to=f32), z)", "cast(q, to=f32), words)"));  // or a zero point
  stays(with(text, "values=[0.05]", "values=[0]"));                     // scales without digits
  stays(with(text, "values=[0.05]", "values=[1e-45]"));
  stays(with(text, "v), t)", "t), t)"));  // zero points with fractions
  stays(with(text, "b, slots", "mul(b, words), slots"));
  const KernelQuery none = [](const Op&, std::span<const Type>) -> Verdict { return reject("no"); };
  EXPECT_EQ(expression(run_pass(recognise_integer_convs, graph_of(text), none).graph), expression(graph_of(text)));
}

// A convolution of bytes as files of QLinearConv have it: sums of integers, of all channels or of some after others.
std::string summed(const std::string& sums, const std::string& factor = "f32[12]",
                   const std::string& bias = "i32[12]") {
  return "q: u8[2,6,5,16] = input()\nz: f32[] = constant(values=[3])\ntwenty: f32[] = constant(values=[20])\n"
         "f: f32[12,3,3,16] = constant()\nw = cast(cast(mul(f, twenty), to=i8), to=f32)\n"
         "x = sub(cast(q, to=f32), z)\nless: f32[] = constant(values=[-0.25])\nmore: f32[] = constant(values=[0.25])\n"
         "none: f32[] = constant(values=[0])\nb: " +
         bias + " = constant()\nt: " + factor + " = constant()\nwords: f32[] = input()\n" +
         "low = conv(slice(x, axis=3, end=7), slice(w, axis=3, end=7), before=[1,1], after=[1,1])\n"
         "high = conv(slice(x, axis=3, begin=7, end=16), slice(w, axis=3, begin=7, end=16), before=[1,1], "
         "after=[1,1])\n"
         "all = conv(x, w, before=[1,1], after=[1,1])\n" +
         sums + "\nreturn y=mul(cast(add(sum, b), to=f32), t)";
}

constexpr const char* kOfAll = "sum = cast(add(all, select(lt(all, none), less, more)), to=i32)";
constexpr const char* kOfParts =
    "sum = add(cast(add(low, select(lt(low, none), less, more)), to=i32), "
    "cast(add(high, select(lt(high, none), less, more)), to=i32))";

TEST(RecogniseIntegerConvs, SumsOfIntegersStayExact) {
  for (const char* sums : {kOfAll, kOfParts})
    for (const char* factor : {"f32[12]", "f32[]", "f32[1,1,1,12]"}) {
      const std::string text = summed(sums, factor);
      const auto conv = formed(text);
      ASSERT_TRUE(conv) << text;
      EXPECT_TRUE(conv->zero == 3 && conv->has(ConvSlot::bias)) << text;
      const Graph before = graph_of(text);
      expect_same_values(before, run_pass(recognise_integer_convs, before).graph, 0);
    }
}

TEST(RecogniseIntegerConvs, OtherSumsStay) {
  const auto stays = [](const std::string& text) { EXPECT_FALSE(formed(text)) << text; };
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  stays(summed("sum = cast(add(low, select(lt(low, none), less, more)), to=i32)"));  // channels are missing
  stays(summed("sum = cast(add(all, select(lt(all, none), more, less)), to=i32)"));  // towards zero
  stays(summed("sum = cast(all, to=i32)"));
  stays(summed("sum = cast(add(all, select(lt(all, less), less, more)), to=i32)"));
  stays(summed("part = cast(add(all, select(lt(all, none), less, more)), to=i32)\nsum = add(part, part)"));
  stays(summed(kOfAll, "f32[5,1]"));             // factors of places
  stays(summed(kOfAll, "f32[12]", "i32[5,1]"));  // and summands
  stays(with(summed(kOfAll), "w = cast(cast(mul(f, twenty), to=i8), to=f32)", "w = mul(f, twenty)"));
  stays(with(summed(kOfAll), "to=f32), t)", "to=f32), words)"));
  stays(with(summed(kOfParts),
             "high = conv(slice(x, axis=3, begin=7, end=16), slice(w, axis=3, begin=7, end=16), "
             "before=[1,1], after=[1,1])",
             "high = conv(slice(x, axis=3, begin=7, end=16), slice(w, axis=3, begin=7, end=16), before=[2,0], "
             "after=[0,2])"));
}

}  // namespace
}  // namespace rung::test
