// The text form: print and parse are inverse, and errors name the line and the fault.
// SPDX-License-Identifier: Apache-2.0
#include "ir/text.hpp"

#include <gtest/gtest.h>

#include "ir/verify.hpp"

namespace rung {
namespace {

void expect_round_trip(const char* text) {
  auto graph = parse_graph(text);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_TRUE(verify(*graph));
  std::string printed = print(*graph);
  auto again = parse_graph(printed);
  ASSERT_TRUE(again) << again.error().message << "\n" << printed;
  EXPECT_EQ(print(*again), printed);
}

std::string error_of(const char* text) {
  auto graph = parse_graph(text);
  return graph ? "no error" : graph.error().message;
}

TEST(GraphText, RoundTripsNestedShortForm) { expect_round_trip("y = add(matmul(x:f32[4,8], w:f32[8,16]), b:f32[16])"); }

TEST(GraphText, RoundTripsFieldsOfEveryKind) {
  expect_round_trip(R"(
graph "a b"
x: f32[1,4,8] = input(name="the input")
w: f32[16,8] = constant(name="encoder.w")
v: f32[32,8] = constant()
u: f32[4,32] = constant()
l: f32[1,4,32] = input()
g: f32[32] = constant()
c: i64[3] = constant(name="c", values=[1,-2,3])
p: bool[2] = constant(values=[1,0])
e: f32[1] = constant(values=[1e-05])
y = linear(x, w, gated=true, activation=gelu_tanh, out=bf16)  # layer.0.mlp
n = linear(y, v, l, g, slots=residual+norm_weight, norm_run=32)
m = linear(result(n), u, result(n, index=2), slots=squares, eps=1e-05, out=bf16)
t = transpose(y, permutation=[2,0,1])
r = reduce(cast(t, to=f32), kind=max, axis=0, keep_dim=true)
s = slice(r, axis=2, begin=1, end=4, step=2)
z = region(s, program="r1=row_max(r0);r2=sub(r0,r1);return r2:bf16,r1:f32")
return out=s, "other out"=t, m, z, top=result(z)
)");
}

TEST(GraphText, RoundTripsStates) {
  const char* text =
      "graph \"graph\"\nx: f32[2] = input()\ns: f32[2] = input()\n%2: f32[2] = add(s, x)\n"
      "state \"s\", next=\"n\", initial=constant(name=\"s0\", values=[1,2])\n"
      "return \"y\"=%2, \"n\"=%2\n";
  const auto graph = parse_graph(text);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(print(*graph), text);
  ASSERT_EQ(graph->states().size(), 1u);
  EXPECT_TRUE(graph->is_next("n"));
  EXPECT_FALSE(graph->is_next("y"));
}

TEST(GraphText, RefusesStatesThatCannotBe) {
  const auto refusal = [](const std::string& state) {
    const std::string text = "x: f32[2] = input()\ns: f32[2] = input()\n" + state + "\nreturn y=add(s, x), n=neg(x)";
    return error_of(text.c_str());
  };
  EXPECT_EQ(refusal("state s, next=n"), "no error");
  EXPECT_EQ(refusal("state t, next=n"), "line 4: state 't' is not an input");
  const auto unreturned = parse_graph("state t\nx: f32[2,3] = constant(name=\"w\")");
  ASSERT_FALSE(unreturned) << "its states are checked where nothing is returned, too";
  EXPECT_EQ(unreturned.error().message, "line 2: state 't' is not an input");
  EXPECT_EQ(refusal("state s, next=m"), "line 4: state 's': there is no output 'm'");
  EXPECT_EQ(refusal("state s, next=n\nstate s, next=y"), "line 5: two states are named 's'");
  EXPECT_EQ(refusal("state s, before=n"), "line 3: a state has no field 'before'");
  EXPECT_EQ(refusal("state s, next=n, initial=zeros()"), "line 3: got 'zeros', wanted constant(...)");
  EXPECT_EQ(refusal("state s, next=n, initial=constant(values=[1])"), "line 3: 's': got 1 values, wanted 2 for f32[2]");
}

TEST(GraphText, KeepsLabelsLiteralsAndOutputNames) {
  auto graph =
      parse_graph("x: f32[2] = input()\nk: f32[2] = constant(values=[1.5,-2])\ny = mul(x, k)  # scale\nreturn z=y");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(print(*graph),
            "graph \"graph\"\nx: f32[2] = input()\n%1: f32[2] = constant(name=\"k\", values=[1.5,-2])\n"
            "%2: f32[2] = mul(x, %1)  # scale\nreturn \"z\"=%2\n");
}

TEST(GraphText, NamesTheLineOfAnUnknownOp) {
  EXPECT_EQ(error_of("x: f32[2] = input()\ny = frob(x)"), "line 2: 'frob' is not an op");
}

TEST(GraphText, RefusesATypeTheOpDoesNotGive) {
  EXPECT_EQ(error_of("x: f32[2] = input()\ny: f32[3] = neg(x)"),
            "line 2: 'y' is declared f32[3] but its expression gives f32[2]");
}

TEST(GraphText, RefusesShapesTooLargeToCount) {
  EXPECT_EQ(error_of("x: f32[4294967296,4294967296] = input()"),
            "line 1: got dimension 4294967296: negative, or too large a product");
}

TEST(GraphText, RefusesResultsTooLargeToCount) {
  EXPECT_EQ(error_of("y = add(a:f32[1048576,1], b:f32[1,1073741824])"),
            "line 1: add: got a result of f32[1048576,1073741824], wanted at most 281474976710656 elements");
  EXPECT_EQ(error_of("y = concat(a:f32[200000000000000], b:f32[200000000000000], axis=0)"),
            "line 1: concat: got a result of f32[400000000000000], wanted at most 281474976710656 elements");
}

TEST(GraphText, RefusesDeepNesting) {
  std::string text = "y = ";
  for (int i = 0; i < 100; ++i) text += "neg(";
  EXPECT_EQ(error_of(text.c_str()), "line 1: expressions nest deeper than 64");
}

TEST(GraphText, PrintsAndParsesAnOpAlone) {
  Op op = Linear{.slots = {LinearSlot::bias, LinearSlot::squares},
                 .epilogue = {.gated = true, .activation = Activation::silu},
                 .out = DType::bf16};
  EXPECT_EQ(print_op(op), "linear(slots=bias+squares, gated=true, activation=silu, out=bf16)");
  auto parsed = parse_op(print_op(op));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_TRUE(*parsed == op);
  op = Attention{.scale = 0.5f, .factor = 0.25f, .out = DType::f8e4m3fn};
  EXPECT_EQ(print_op(op), "attention(scale=0.5, factor=0.25, out=f8e4m3fn)");
  EXPECT_TRUE(*parse_op(print_op(op)) == op);
  EXPECT_TRUE(*parse_op("attention(scale=0.5)") == Op(Attention{.scale = 0.5f})) << "none: the type of q";
  op = Quantize{.to = DType::i8, .outliers = {0, 3, 4, 5, 6, 7, 8, 9, 1535}};
  EXPECT_EQ(print_op(op), "quantize(to=i8, outliers=[0,3,4,5,6,7,8,9,1535])");
  EXPECT_TRUE(*parse_op(print_op(op)) == op);
  EXPECT_FALSE(*parse_op("quantize(to=i8, outliers=[0])") == op);
  EXPECT_EQ(parse_op("linear(frob=1)").error().message, "line 1: 'linear' has no field 'frob'");
}

TEST(GraphText, RefusesSlotsThatALinearCannotHave) {
  // Unknown, always there, twice, out of order.
  for (auto [slots, wrong] :
       {std::pair{"frob", "frob"}, {"bias+w", "w"}, {"bias+residual+residual", "residual"}, {"residual+bias", "bias"}})
    EXPECT_EQ(
        parse_op(fmt::format("linear(slots={})", slots)).error().message,
        fmt::format("line 1: got slot '{}', wanted some of bias, residual, cos, sin, norm_weight, squares, "
                    "scale, x_scale, group_scale, group_offset, x_outliers, w_outliers, each once and in this order",
                    wrong));
  EXPECT_EQ(parse_op("attention(slots=q)").error().message,
            "line 1: got slot 'q', wanted some of mask, length, each once and in this order");
  EXPECT_EQ(parse_op("layer_norm(slots=weight)").error().message,
            "line 1: got slot 'weight', wanted some of residual, each once and in this order");
  EXPECT_EQ(parse_op("linear(slots=bias+)").error().message, "line 1: got ')', wanted a word");
  EXPECT_EQ(parse_op("linear(slots=)").error().message, "line 1: got ')', wanted a word");
}

TEST(GraphText, RefusesUndefinedAndTwiceDefinedNames) {
  EXPECT_EQ(error_of("y = neg(x)"), "line 1: 'x' is not defined");
  EXPECT_EQ(error_of("x: f32[1] = input()\nx = neg(x)"), "line 2: 'x' is defined twice");
}

template <class T>
T sample();

// Becomes a value of any field's type, one that is not the field's default and unlike the one before.
struct Sample {
  int64_t* count;
  template <class T>
  operator T() const {
    const int64_t i = ++*count;
    if constexpr (std::is_same_v<T, bool>) return true;
    if constexpr (std::is_same_v<T, int64_t>) return i + 1;
    if constexpr (std::is_same_v<T, float>) return 1.0f / (3.0f * static_cast<float>(i));  // wants all its digits
    if constexpr (std::is_same_v<T, DType>) return DType::bf16;
    if constexpr (std::is_same_v<T, LinearSlots>) return {LinearSlot::residual, LinearSlot::squares};
    if constexpr (std::is_same_v<T, Linear::Prologue> || std::is_same_v<T, Linear::Epilogue>) return sample<T>();
    if constexpr (std::is_same_v<T, ConvSlots>) return {ConvSlot::residual};
    if constexpr (std::is_same_v<T, KeySpan>) return sample<T>();
    if constexpr (std::is_same_v<T, AttentionSlots>) return {AttentionSlot::mask};
    if constexpr (std::is_same_v<T, LayerNormSlots>) return {LayerNormSlot::residual};
    if constexpr (std::is_same_v<T, SampleSlots>) return {SampleSlot::seen};
    if constexpr (std::is_same_v<T, Activation>) return Activation::tanh;
    if constexpr (std::is_same_v<T, ReduceKind>) return ReduceKind::max;
    if constexpr (std::is_same_v<T, CellKind>) return CellKind::gru;
    if constexpr (std::is_same_v<T, FormulaKind>) return FormulaKind::bit_xor;
    if constexpr (std::is_same_v<T, ScatterKind>) return ScatterKind::min;
    if constexpr (std::is_same_v<T, UnaryKind>) return UnaryKind::exp;
    if constexpr (std::is_same_v<T, BinaryKind>) return BinaryKind::mul;
    if constexpr (std::is_same_v<T, std::string>) return "r1=neg(r0)";
    if constexpr (std::is_same_v<T, Dims>) return Dims{i, i + 1, 0};
    if constexpr (std::is_same_v<T, Columns>) return Columns{i, i + 1};
  }
};

template <class T, size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Sample{})...}; };
}
// How many members an op's struct has, whatever its list of fields says.
template <class T, size_t N = 0>
constexpr size_t count_members() {
  if constexpr (takes<T>(std::make_index_sequence<N + 1>()))
    return count_members<T, N + 1>();
  else
    return N;
}
template <class T, size_t... I>
T sample_of(std::index_sequence<I...>) {
  [[maybe_unused]] int64_t count = 0;
  return T{(static_cast<void>(I), Sample{&count})...};
}
template <class T>
T sample() {
  return sample_of<T>(std::make_index_sequence<count_members<T>()>());
}

template <size_t I = 0>
void expect_every_member_in_the_text() {
  if constexpr (I < std::variant_size_v<Op>) {
    using T = std::variant_alternative_t<I, Op>;
    const Op op = sample<T>();
    if constexpr (!std::is_same_v<T, Input> && !std::is_same_v<T, Constant>) {  // sources are the graph's to print
      auto parsed = parse_op(print_op(op));
      ASSERT_TRUE(parsed) << print_op(op) << ": " << parsed.error().message;
      EXPECT_TRUE(*parsed == op) << print_op(op) << " lost a field";
    }
    EXPECT_FALSE(op == Op(T{}) && count_members<T>() > 0) << T::kName;
    expect_every_member_in_the_text<I + 1>();
  }
}

TEST(GraphText, KeepsEveryMemberOfEveryOp) {
  EXPECT_EQ(count_members<MatMul>(), 0u);
  EXPECT_EQ(count_members<Slice>(), 4u);
  EXPECT_EQ(count_members<Linear::Epilogue>(), 6u);
  EXPECT_EQ(count_members<Pointwise>(), 2u);
  EXPECT_EQ(count_members<Region>(), 1u);
  expect_every_member_in_the_text();
}

}  // namespace
}  // namespace rung
