// Operators of exported PyTorch programs: what inputs may decide, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/pt2_support.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

// With a type to compute in, what float64 cannot be known of is f32; what is known stays exact up to there.
TEST_F(Pt2, ComputesFloat64InF32WhereAsked) {
  graph()["nodes"] = {call("aten.to.dtype", {{"self", tensor("x")}, {"dtype", {{"as_scalar_type", 8}}}}, "wide"),
                      call("aten.to.dtype", {{"self", tensor("p_w")}, {"dtype", {{"as_scalar_type", 8}}}}, "known"),
                      call("aten.mul.Tensor", {{"self", tensor("wide")}, {"other", tensor("known")}}, "product"),
                      call("aten.to.dtype", {{"self", tensor("product")}, {"dtype", {{"as_scalar_type", 7}}}}, "y")};
  ImportOptions options;
  options.dtype = DType::f32;
  EXPECT_EQ(answer({10, 20}, options), (std::vector<float>{10, 40}));
}

// The largest of x as a number that a slice ends at, and that an assertion compares.
TEST_F(Pt2, TakesUndecidedNumbersInAssertionsAlone) {
  const auto named = [](const char* kind, const char* name) { return json{{kind, {{"as_name", name}}}}; };
  json read = call("aten.item.default", {{"self", tensor("most")}}, "u0");
  json compared = call("_operator.le", {{"a", named("as_sym_int", "u0")}, {"b", numbered(9)}}, "claim");
  compared["target"] = "_operator.le";
  read["outputs"] = {named("as_sym_int", "u0")}, compared["outputs"] = {named("as_sym_bool", "claim")};
  json asserted = call("aten._assert_scalar.default", {{"self", named("as_sym_bool", "claim")}}, "a");
  asserted["outputs"] = json::array();
  const json largest = call("aten.max.default", {{"self", tensor("x")}}, "most");
  graph()["nodes"] = {largest, read, compared, asserted,
                      call("aten.add.Tensor", {{"self", tensor("x")}, {"other", tensor("p_w")}}, "y")};
  EXPECT_EQ(answer(), (std::vector<float>{11, 22}));
  graph()["nodes"] = {largest, read,
                      call("aten.slice.Tensor",
                           {{"self", tensor("x")}, {"dim", numbered(0)}, {"end", named("as_sym_int", "u0")}}, "y")};
  EXPECT_THAT(refusal(),
              HasSubstr("argument 'end': got a number that depends on an input's values (freeze that input), "
                        "wanted an integer"));
}

// 16 bits are computed in f32, whose eps it is: the one of bf16 would make 0.0026 of these.
TEST_F(Pt2, NormsOf16BitsTakeTheEpsOfF32) {
  const auto to = [](const char* from, int type, const char* name) {
    return call("aten.to.dtype", {{"self", tensor(from)}, {"dtype", {{"as_scalar_type", type}}}}, name);
  };
  const json row{{"as_ints", {2}}};
  graph()["nodes"] = {to("x", 13, "narrow"),
                      call("aten.rms_norm.default", {{"input", tensor("narrow")}, {"normalized_shape", row}}, "norm"),
                      to("norm", 7, "y")};
  const std::vector<float> tiny{0x1p-12f, 0x1p-12f};
  EXPECT_NEAR(answer(tiny)[0], 0x1p-12 / std::sqrt(0x1p-24 + 0x1p-23), 2e-3);
}

TEST_F(Pt2, LeavesOutChecksThatTokensOrder) {
  json checked = call("higher_order.with_effects",
                      {{"", tensor("token")},
                       {"", {{"as_operator", "torch.ops.aten._linalg_check_errors.default"}}},
                       {"", tensor("x")},
                       {"", {{"as_string", "linalg.inv"}}}},
                      "later");
  checked["outputs"].push_back({{"as_none", true}});
  json& signature = program["graph_module"]["signature"];
  signature["input_specs"].push_back({{"token", {{"arg", {{"name", "token"}}}}}});
  signature["output_specs"].push_back({{"token", {{"arg", {{"name", "later"}}}}}});
  graph()["nodes"].insert(graph()["nodes"].begin(), checked);
  EXPECT_EQ(answer(), (std::vector<float>{11, 22}));
  graph()["nodes"][0]["inputs"][1]["arg"]["as_operator"] = "torch.ops.aten._print.default";
  EXPECT_THAT(refusal(), HasSubstr("got the effects of 'aten._print.default', wanted those of a check"));
}

TEST_F(Pt2, RefusesMasksThatInputsDecide) {
  graph()["nodes"] = {
      call("aten.gt.Scalar", {{"self", tensor("x")}, {"other", {{"as_float", 0.0}}}}, "mask"),
      call("aten.index.Tensor", {{"self", tensor("x")}, {"indices", {{"as_tensors", {{{"name", "mask"}}}}}}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("bool[2] decides how many elements there are, which must be known at import"));
  graph()["nodes"][1] = call("aten.nonzero.default", {{"self", tensor("mask")}}, "y");
  EXPECT_THAT(refusal(), HasSubstr("bool[2] decides how many elements there are"));
}

// A frozen input is known at import: it may decide shapes, and float64.
TEST_F(Pt2, ReadsFrozenInputsAtImport) {
  graph()["nodes"] = {
      call("aten.gt.Scalar", {{"self", tensor("x")}, {"other", {{"as_float", 15.0}}}}, "mask"),
      call("aten.index.Tensor", {{"self", tensor("p_w")}, {"indices", {{"as_tensors", {{{"name", "mask"}}}}}}}, "y")};
  ImportOptions options;
  options.frozen.emplace("x", Tensor::of<float>({2}, {10, 20}));
  EXPECT_EQ(answer({10, 20}, options), (std::vector<float>{2}));
  options.frozen.at("x") = Tensor::of<float>({2}, {20, 20});
  EXPECT_EQ(answer({20, 20}, options), (std::vector<float>{1, 2}));
}

// The shape of the view alone changes: what it shows keeps its own, and sees what is written through it.
TEST_F(Pt2, ReshapesInPlaceAsViews) {
  graph()["nodes"] = {
      call("aten.clone.default", {{"self", tensor("x")}}, "z"),
      call("aten.unsqueeze_.default", {{"self", tensor("z")}, {"dim", numbered(1)}}, "column"),
      call("aten.t_.default", {{"self", tensor("column")}}, "row"),
      call("aten.select.int", {{"self", tensor("row")}, {"dim", numbered(1)}, {"index", numbered(0)}}, "first"),
      call("aten.zero_.default", {{"self", tensor("first")}}, "zeros"),
      call("aten.add.Tensor", {{"self", tensor("z")}, {"other", tensor("p_w")}}, "y")};
  EXPECT_EQ(answer(), (std::vector<float>{1, 22}));
}

TEST_F(Pt2, RefusesStepsThatLeaveTheirAxis) {
  graph()["nodes"] = {
      call("aten.slice_scatter.default",
           {{"self", tensor("x")}, {"src", tensor("p_w")}, {"start", numbered(0)}, {"step", numbered(2)}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("f32[2] in place of every 2th element of f32[2] from 0 on"));
  graph()["nodes"] = {
      call("aten.slice.Tensor", {{"self", tensor("p_w")}, {"end", numbered(1)}}, "one"),
      call("aten.slice_scatter.default",
           {{"self", tensor("x")}, {"src", tensor("one")}, {"start", numbered(1)}, {"step", numbered(2)}}, "y")};
  EXPECT_EQ(answer(), (std::vector<float>{10, 1}));
}

TEST_F(Pt2, SaysWhatToDoAboutRandomNumbers) {
  graph()["nodes"] = {call("aten.randn_like.default", {{"self", tensor("x")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("it draws random numbers: make them an input of the model"));
  graph()["nodes"] = {call("aten.bernoulli_.float", {{"self", tensor("x")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("it draws random numbers"));
  graph()["nodes"][0]["target"] = "torch._functorch.predispatch._vmap_increment_nesting";
  EXPECT_THAT(refusal(), HasSubstr("it is a part of torch.func.vmap: save program.run_decompositions()"));
}

TEST_F(Pt2, RefusesEquationsBeyondSmallSquares) {
  graph()["nodes"] = {call("aten.linalg_inv.default", {{"A", tensor("x")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("a matrix of f32[2], wanted a square one of at most 32 rows"));
  const json large = call("aten.eye.default", {{"n", numbered(33)}}, "large");
  graph()["nodes"] = {large, call("aten.linalg_det.default", {{"A", tensor("large")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("a matrix of f32[33,33], wanted a square one of at most 32 rows"));
}

TEST_F(Pt2, RefusesBagsOfUnknownKinds) {
  const json words = call("aten.arange.default", {{"end", numbered(2)}}, "words");
  const json table = call("aten.unsqueeze.default", {{"self", tensor("x")}, {"dim", numbered(1)}}, "table");
  graph()["nodes"] = {words, table,
                      call("aten.embedding_bag.padding_idx",
                           {{"weight", tensor("table")},
                            {"indices", tensor("words")},
                            {"offsets", tensor("words")},
                            {"mode", numbered(3)}},
                           "y")};
  EXPECT_THAT(refusal(), HasSubstr("mode: got 3, wanted 0 (sum), 1 (mean) or 2 (max)"));
  graph()["nodes"][2]["inputs"][0]["arg"] = tensor("x");
  EXPECT_THAT(refusal(), HasSubstr("indices of i64[2] in a table of f32[2], wanted one axis and two"));
}

// Also of many rows without columns: the places would be none, and to find that out would take years.
TEST_F(Pt2, RefusesTrianglesOfTooManyPlaces) {
  for (const auto& [rows, columns] :
       {std::pair(int64_t{1} << 40, int64_t{0}), std::pair(int64_t{4096}, int64_t{4096})}) {
    graph()["nodes"] = {call("aten.tril_indices.default", {{"row", numbered(rows)}, {"col", numbered(columns)}}, "y")};
    EXPECT_THAT(refusal(), HasSubstr(std::to_string(rows) + " by " + std::to_string(columns) + " places"));
  }
}

}  // namespace
}  // namespace rung
