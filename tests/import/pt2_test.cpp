// Exported PyTorch programs, written by the test: what is read of them, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <fstream>

#include "import/pt2_support.hpp"
#include "support/wrong_types.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

TEST_F(Pt2, TellsWrongTypesInWords) {
  const auto said = [this] {
    const std::string error = refusal();
    return error == "no error" ? std::string() : error;
  };
  const json whole = program, all_weights = weights;
  EXPECT_GT(expect_words_for_wrong_types(whole, [&](const json& other) { return program = other, said(); }), 450u);
  program = whole;
  EXPECT_GT(expect_words_for_wrong_types(all_weights, [&](const json& other) { return weights = other, said(); }), 60u);
  weights = all_weights, weights["w"]["use_pickle"] = 3;
  EXPECT_THAT(refusal(), HasSubstr("'w': got a number, wanted a boolean"));
}

TEST_F(Pt2, AddsAParameterToAnInput) {
  EXPECT_EQ(answer(), (std::vector<float>{11, 22}));
  EXPECT_EQ(import_verified(path).defaults.at("x").type, (Type{DType::f32, {2}}));
}

TEST_F(Pt2, ReadsWeightsByStridesAndOffset) {
  weights["w"]["tensor_meta"] = meta({2}, {2}, 1);
  EXPECT_EQ(answer(), (std::vector<float>{12, 24}));
}

TEST_F(Pt2, RefusesWeightsBeyondTheirBytes) {
  weights["w"]["tensor_meta"] = meta({2}, {3}, 1);
  EXPECT_THAT(refusal(),
              HasSubstr("tensor 'w': got strides [3] from element 1 for f32[2], wanted all within 4 elements"));
  weights["w"]["tensor_meta"] = meta({2}, {INT64_MAX}, 1);
  EXPECT_THAT(refusal(), HasSubstr("wanted all within 4 elements"));
  weights["w"]["tensor_meta"] = meta({2}, {1}, -1);
  EXPECT_THAT(refusal(), HasSubstr("from element -1"));
}

TEST_F(Pt2, RefusesPickledWeights) {
  weights["w"]["use_pickle"] = true;
  EXPECT_THAT(refusal(), HasSubstr("tensor 'w' is kept as a pickle, which is never read"));
}

TEST_F(Pt2, RefusesTypesThatTheGraphHasNot) {
  weights["w"]["tensor_meta"]["dtype"] = 3;
  EXPECT_THAT(refusal(), HasSubstr("tensor 'w': got elements of int16, wanted float32"));
}

// What float64 has of 1/3 beyond float32, times 1e9: in float32 it would be 0.
TEST_F(Pt2, ComputesFloat64ThatIsKnownAtImport) {
  constexpr double kNear = 0.3333333432674408;
  weights["w"]["tensor_meta"] = meta({2}, {1}, 0, 8);
  const std::vector<double> thirds{1.0 / 3, kNear};
  std::memcpy(numbers.data(), thirds.data(), 16);
  const json near{{"as_float", kNear}}, times{{"as_float", 1e9}};
  graph()["nodes"] = {call("aten.sub.Tensor", {{"self", tensor("p_w")}, {"other", near}}, "a"),
                      call("aten.mul.Tensor", {{"self", tensor("a")}, {"other", times}}, "b"),
                      call("aten.to.dtype", {{"self", tensor("b")}, {"dtype", {{"as_scalar_type", 7}}}}, "c"),
                      call("aten.add.Tensor", {{"self", tensor("x")}, {"other", tensor("c")}}, "y")};
  EXPECT_EQ(answer({0, 20}), (std::vector<float>{static_cast<float>((1.0 / 3 - kNear) * 1e9), 20}));
}

TEST_F(Pt2, RefusesFloat64ThatInputsDecide) {
  graph()["nodes"] = {call("aten.to.dtype", {{"self", tensor("x")}, {"dtype", {{"as_scalar_type", 8}}}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("argument 'self': float64 is computed only where it is known at import; wanted "
                                   "float32 where the values of an input are read"));
}

TEST_F(Pt2, RefusesFloat64AsAnOutput) {
  weights["w"]["tensor_meta"] = meta({2}, {1}, 0, 8);
  graph()["nodes"] = {call("aten.neg.default", {{"self", tensor("p_w")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("output 'y' is a tensor of float64"));
}

TEST_F(Pt2, RefusesSizesThatBreakAnAssertion) {
  const auto compare = [&](const char* relation, int64_t with) {
    const json size{{"as_sym_int", {{"as_name", "s"}}}}, claim{{"as_sym_bool", {{"as_name", "holds"}}}};
    json measured = call("aten.sym_size.int", {{"self", tensor("x")}, {"dim", numbered(0)}}, "s");
    json compared = call(relation, {{"a", size}, {"b", numbered(with)}}, "holds");
    measured["outputs"] = {size}, compared["outputs"] = {claim};
    json asserted =
        call("aten._assert_scalar.default", {{"self", claim}, {"assert_msg", {{"as_string", "too few"}}}}, "a");
    asserted["outputs"] = json::array();
    graph()["nodes"] = {measured, compared, asserted,
                        call("aten.add.Tensor", {{"self", tensor("x")}, {"other", tensor("p_w")}}, "y")};
  };
  for (const auto& [relation, with] :
       std::map<std::string, int64_t>{{"_operator.ge", 3}, {"_operator.eq", 1}, {"_operator.lt", 2}}) {
    compare(relation.c_str(), with);
    EXPECT_THAT(refusal(), HasSubstr("too few")) << relation;
  }
  for (const auto& [relation, with] :
       std::map<std::string, int64_t>{{"_operator.le", 2}, {"_operator.ne", 1}, {"_operator.gt", 1}}) {
    compare(relation.c_str(), with);
    EXPECT_EQ(answer(), (std::vector<float>{11, 22})) << relation;
  }
}

// A view's writes are seen by what it shows, and by its other views.
TEST_F(Pt2, WritesThroughViews) {
  graph()["nodes"] = {
      call("aten.clone.default", {{"self", tensor("x")}}, "z"),
      call("aten.slice.Tensor",
           {{"self", tensor("z")}, {"dim", numbered(0)}, {"start", numbered(1)}, {"end", numbered(2)}}, "tail"),
      call("aten.view.default", {{"self", tensor("z")}, {"size", {{"as_ints", {2, 1}}}}}, "column"),
      call("aten.add_.Tensor", {{"self", tensor("tail")}, {"other", {{"as_float", 5.0}}}}, "added"),
      call("aten.mul_.Tensor", {{"self", tensor("added")}, {"other", {{"as_float", 2.0}}}}, "twice"),
      call("aten.view.default", {{"self", tensor("column")}, {"size", {{"as_ints", {2}}}}}, "flat"),
      call("aten.add.Tensor", {{"self", tensor("z")}, {"other", tensor("flat")}}, "y")};
  EXPECT_EQ(answer(), (std::vector<float>{20, 100}));
}

TEST_F(Pt2, KeepsCopiesOfWhatIsWritten) {
  graph()["nodes"] = {call("aten.clone.default", {{"self", tensor("x")}}, "z"),
                      call("aten.clone.default", {{"self", tensor("z")}}, "kept"),
                      call("aten.zero_.default", {{"self", tensor("z")}}, "zeros"),
                      call("aten.add.Tensor", {{"self", tensor("kept")}, {"other", tensor("zeros")}}, "y")};
  EXPECT_EQ(answer(), (std::vector<float>{10, 20}));
}

TEST_F(Pt2, RefusesReadingWhatMayHaveBeenWritten) {
  graph()["nodes"] = {call("aten.reshape.default", {{"self", tensor("x")}, {"shape", {{"as_ints", {2}}}}}, "z"),
                      call("aten.zero_.default", {{"self", tensor("z")}}, "zeros"),
                      call("aten.neg.default", {{"self", tensor("x")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("'x' is read behind a write to what it shows or has a copy of"));
}

TEST_F(Pt2, RefusesWritesThroughBroadcasts) {
  graph()["nodes"] = {call("aten.expand.default", {{"self", tensor("x")}, {"size", {{"as_ints", {3, 2}}}}}, "z"),
                      call("aten.zero_.default", {{"self", tensor("z")}}, "zeros"),
                      call("aten.neg.default", {{"self", tensor("x")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("a write through aten.expand.default"));
}

TEST_F(Pt2, NamesUnknownOperatorsWithModuleAndLine) {
  graph()["nodes"] = {call("aten.fft.default", {{"self", tensor("x")}}, "y")};
  EXPECT_THAT(refusal(),
              HasSubstr("node 'y' (aten.fft.default in head; model.py:7): there is no import of this operator"));
}

TEST_F(Pt2, NamesTheArgumentThatIsWrong) {
  graph()["nodes"] = {call("aten.add.Tensor", {{"self", tensor("x")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("model.py:7): argument 'other' is missing"));
}

TEST_F(Pt2, RefusesWritesToBuffersItLacks) {
  program["graph_module"]["signature"]["output_specs"].push_back(
      {{"buffer_mutation", {{"arg", {{"name", "y"}}}, {"buffer_name", "cache.keys"}}}});
  EXPECT_THAT(refusal(), HasSubstr("the program writes 'cache.keys', which is no buffer of it"));
}

TEST_F(Pt2, RefusesNewerSchemas) {
  program["schema_version"]["minor"] = 21;
  EXPECT_THAT(refusal(), HasSubstr("got schema 8.21, wanted 8.0 to 8.20"));
}

TEST_F(Pt2, TakesOpenSizesFromShapesAndSymbols) {
  graph()["tensor_values"]["x"]["sizes"] = {{{"as_expr", {{"expr_str", "Symbol('s7', positive=True, integer=True)"}}}}};
  program["range_constraints"] = {{"s7", {{"min_val", 1}, {"max_val", 64}}}};
  graph()["nodes"] = {call("aten.neg.default", {{"self", tensor("x")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("input 'x': its size s7 is open: give --shape x=... or --shape s7=SIZE"));
  EXPECT_EQ(answer({1, 2, 3}, {.shapes = {{"x", Shape{3}}}}), (std::vector<float>{-1, -2, -3}));
  EXPECT_EQ(answer({1, 2, 3}, {.shapes = {{"s7", Shape{3}}}}), (std::vector<float>{-1, -2, -3}));
  EXPECT_THAT(refusal({.shapes = {{"x", Shape{65}}}}),
              HasSubstr("size s7: got 65, wanted what the program was exported for: 1 to 64"));
}

TEST_F(Pt2, SamplesIndicesWithinTheirTable) {
  graph()["tensor_values"]["x"]["dtype"] = 5;
  graph()["nodes"] = {call("aten.embedding.default", {{"weight", tensor("p_w")}, {"indices", tensor("x")}}, "y")};
  write();
  const Model model = import_verified(path);
  EXPECT_EQ(model.defaults.at("x").range->last, 1);
  const Tensor sample = model.defaults.at("x").sample(3);
  for (int64_t index : sample.as<int64_t>()) EXPECT_TRUE(index == 0 || index == 1) << index;
}

TEST_F(Pt2, CountsNegativeIndicesFromTheEnd) {
  graph()["nodes"] = {
      call("aten.select.int", {{"self", tensor("p_w")}, {"dim", {{"as_int", 0}}}, {"index", {{"as_int", -1}}}}, "z"),
      call("aten.add.Tensor", {{"self", tensor("x")}, {"other", tensor("z")}}, "y")};
  EXPECT_EQ(answer(), (std::vector<float>{12, 22}));
}

TEST_F(Pt2, RefusesNamesThatNothingComputes) {
  graph()["nodes"] = {call("aten.neg.default", {{"self", tensor("later")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("'later' is read before it is computed"));
}

TEST_F(Pt2, RefusesNumbersThatAreNone) {
  const auto scaled = [&](const json& alpha) {
    graph()["nodes"] = {
        call("aten.add.Tensor", {{"self", tensor("x")}, {"other", tensor("p_w")}, {"alpha", alpha}}, "y")};
  };
  scaled({{"as_float", "abc"}});
  EXPECT_THAT(refusal(), HasSubstr("wanted a number"));
  scaled({{"as_int", 8.7e71}});
  EXPECT_THAT(refusal(), HasSubstr("wanted a whole number in range"));
  scaled({{"as_float", "-Infinity"}});
  EXPECT_EQ(answer(), (std::vector<float>{-INFINITY, -INFINITY}));
}

TEST_F(Pt2, RefusesSizesThatAreNoWholeNumbers) {
  for (const json& size : {json(8.7e71), json(1.5), json(-1), json("2")}) {
    graph()["tensor_values"]["x"]["sizes"] = {{{"as_int", size}}};
    EXPECT_THAT(refusal(), HasSubstr("wanted"));
  }
}

TEST_F(Pt2, RefusesSeveralPrograms) {
  more["models/second.json"] = "{}";
  EXPECT_THAT(refusal(), HasSubstr("got 2 programs (models/model.json, models/second.json), wanted one"));
}

TEST_F(Pt2, RefusesWhatIsNoArchive) {
  std::ofstream(path) << "PK\x03\x04 and no more";
  EXPECT_THAT(import_error(path), HasSubstr(path));
  std::ofstream(path) << "text";
  EXPECT_THAT(import_error(path), HasSubstr("got a file of no known format"));
}

TEST_F(Pt2, RefusesDamagedFilesWithoutCrashing) {
  write();
  std::ifstream file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (size_t length = 0; length < whole.size(); length += 37) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, length);
    EXPECT_NE(import_error(path), "no error") << length;
  }
}

TEST_F(Pt2, RefusesFieldsOfTheWrongKind) {
  const json right = program;
  for (const char* field : {"/graph_module/graph/nodes", "/graph_module/signature/input_specs", "/schema_version/major",
                            "/graph_module/graph/nodes/0/target", "/graph_module/graph/tensor_values/x/sizes"}) {
    program = right;
    program[json::json_pointer(field)] = {{"odd", true}};
    EXPECT_NE(refusal(), "no error") << field;
  }
}

json words(const char* text) { return {{"as_string", text}}; }
json truth(bool value) { return {{"as_bool", value}}; }
json tensors(std::vector<const char*> names) {
  json list = json::array();
  for (const char* name : names) list.push_back({{"name", name}});
  return {{"as_tensors", list}};
}

TEST_F(Pt2, ComputesLengthsOfComplexNumbers) {
  graph()["nodes"] = {call("aten.fft_rfft.default", {{"self", tensor("x")}}, "z"),
                      call("aten.abs.default", {{"self", tensor("z")}}, "y")};
  EXPECT_EQ(answer({10, -20}), (std::vector<float>{10, 30}));
}

// The weight is 1 + 2 i and 3 + 4 i.
TEST_F(Pt2, ReadsComplexWeightsByTheirParts) {
  weights["w"]["tensor_meta"] = meta({2}, {1}, 0, 10);
  graph()["nodes"] = {call("aten.mul.Tensor", {{"self", tensor("x")}, {"other", tensor("p_w")}}, "z"),
                      call("aten.imag.default", {{"self", tensor("z")}}, "y")};
  EXPECT_EQ(answer(), (std::vector<float>{20, 80}));
  weights["w"]["tensor_meta"] = meta({2}, {0}, 1, 10);
  EXPECT_EQ(answer(), (std::vector<float>{40, 80}));
  weights["w"]["tensor_meta"] = meta({2}, {INT64_MAX}, 0, 10);
  EXPECT_THAT(refusal(), HasSubstr("wanted all within 4 elements"));
  weights["w"]["tensor_meta"] = meta({2}, {1}, 1, 10);
  EXPECT_THAT(refusal(), HasSubstr("wanted all within 4 elements"));
}

TEST_F(Pt2, RefusesComplexNumbersAsAnOutput) {
  graph()["nodes"] = {call("aten.fft_fft.default", {{"self", tensor("x")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("output 'y' is a tensor of complex numbers"));
}

TEST_F(Pt2, NamesArgumentsThatMayNotBeComplex) {
  graph()["nodes"] = {call("aten.fft_fft.default", {{"self", tensor("x")}}, "z"),
                      call("aten.erf.default", {{"self", tensor("z")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("argument 'self': got a tensor of complex numbers, wanted a tensor"));
}

TEST_F(Pt2, RefusesToDropImaginaryParts) {
  graph()["nodes"] = {call("aten.fft_fft.default", {{"self", tensor("x")}}, "z"),
                      call("aten.to.dtype", {{"self", tensor("z")}, {"dtype", {{"as_scalar_type", 7}}}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("complex numbers as f32, which would drop their imaginary parts"));
}

TEST_F(Pt2, RefusesWritesThroughConjugates) {
  graph()["nodes"] = {call("aten.fft_fft.default", {{"self", tensor("x")}}, "z"),
                      call("aten.conj.default", {{"self", tensor("z")}}, "turned"),
                      call("aten.mul_.Tensor", {{"self", tensor("turned")}, {"other", tensor("x")}}, "scaled"),
                      call("aten.abs.default", {{"self", tensor("z")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("a write through aten.conj.default"));
}

TEST_F(Pt2, RefusesWritesOfComplexNumbersToRealOnes) {
  graph()["nodes"] = {call("aten.fft_fft.default", {{"self", tensor("x")}}, "z"),
                      call("aten.clone.default", {{"self", tensor("x")}}, "own"),
                      call("aten.copy_.default", {{"self", tensor("own")}, {"src", tensor("z")}}, "y")};
  EXPECT_THAT(refusal(), HasSubstr("a write of complex numbers to f32[2]"));
}

TEST_F(Pt2, RefusesTransformsOfAbsurdLengths) {
  for (const char* transform : {"aten.fft_fft.default", "aten.fft_irfft.default"})
    for (const int64_t points : {INT64_MIN, int64_t{0}, int64_t{1} << 40, INT64_MAX}) {
      graph()["nodes"] = {call(transform, {{"self", tensor("x")}, {"n", numbered(points)}}, "z"),
                          call("aten.real.default", {{"self", tensor("z")}}, "y")};
      EXPECT_THAT(refusal(), HasSubstr("points, wanted 1 to 67108864")) << transform << points;
    }
}

TEST_F(Pt2, RefusesFramesBeyondTheirSignal) {
  const auto framed = [&](int64_t points, int64_t step) {
    graph()["nodes"] = {call("aten.stft.default",
                             {{"self", tensor("x")}, {"n_fft", numbered(points)}, {"hop_length", numbered(step)}},
                             "y")};
    return refusal();
  };
  EXPECT_THAT(framed(3, 1), HasSubstr("windows of 3 in steps of 1 over an axis of 2"));
  EXPECT_THAT(framed(2, 0), HasSubstr("frames of 2 in steps of 0 with windows of 2"));
  EXPECT_THAT(framed(INT64_MAX, 1), HasSubstr("frames of 9223372036854775807 in steps of 1"));
}

TEST_F(Pt2, RefusesSignalsThatFramesLeaveOpen) {
  const auto joined = [&](const char* window) {
    graph()["nodes"] = {call("aten.stft.default",
                             {{"self", tensor("x")},
                              {"n_fft", numbered(2)},
                              {"hop_length", numbered(2)},
                              {"return_complex", truth(true)}},
                             "z"),
                        call("aten.istft.default",
                             {{"self", tensor("z")},
                              {"n_fft", numbered(2)},
                              {"hop_length", numbered(2)},
                              {"window", tensor(window)},
                              {"center", truth(false)}},
                             "y")};
    return refusal();
  };
  EXPECT_THAT(joined("x"), HasSubstr("a window that depends on the values of an input"));
  numbers[1] = 0;
  EXPECT_THAT(joined("p_w"), HasSubstr("windows that leave place 1 of the signal out"));
}

TEST_F(Pt2, RefusesRecurrencesOfOtherWeights) {
  const auto layered = [&](const json& states, const json& params, bool trains) {
    graph()["nodes"] = {call("aten.view.default", {{"self", tensor("x")}, {"size", {{"as_ints", {1, 1, 2}}}}}, "line"),
                        call("aten.view.default", {{"self", tensor("p_w")}, {"size", {{"as_ints", {1, 2}}}}}, "flat"),
                        call("aten.gru.input",
                             {{"input", tensor("line")},
                              {"hx", states},
                              {"params", params},
                              {"has_biases", truth(false)},
                              {"num_layers", numbered(1)},
                              {"dropout", {{"as_float", 0.1}}},
                              {"train", truth(trains)},
                              {"bidirectional", truth(false)},
                              {"batch_first", truth(false)}},
                             "y")};
    return refusal();
  };
  EXPECT_THAT(layered(tensor("line"), tensors({"flat", "flat"}), true), HasSubstr("dropout of 0.1 in training"));
  EXPECT_THAT(layered(tensor("line"), tensors({"flat"}), false), HasSubstr("got 1 weights of a direction, wanted 2"));
  EXPECT_THAT(layered(tensor("x"), tensors({"flat", "flat"}), false), HasSubstr("states of f32[2] for 1 layers"));
  EXPECT_THAT(layered(tensor("line"), tensors({"flat", "flat"}), false), HasSubstr("weights of f32[1,2] for 3 gates"));
}

TEST_F(Pt2, RefusesModesThatPyTorchHasNot) {
  const auto sampled = [&](int64_t between, int64_t outside) {
    graph()["nodes"] = {
        call("aten.view.default", {{"self", tensor("x")}, {"size", {{"as_ints", {1, 1, 1, 2}}}}}, "image"),
        call("aten.grid_sampler.default",
             {{"input", tensor("image")},
              {"grid", tensor("image")},
              {"interpolation_mode", numbered(between)},
              {"padding_mode", numbered(outside)},
              {"align_corners", truth(false)}},
             "y")};
    return refusal();
  };
  EXPECT_THAT(sampled(3, 0), HasSubstr("interpolation_mode: got 3, wanted 0 to 2"));
  EXPECT_THAT(sampled(0, -1), HasSubstr("padding_mode: got -1, wanted 0 to 2"));
}

TEST_F(Pt2, RefusesGridsInImagesBeyondExactPlaces) {
  const json wide{{"as_ints", {1, 1, 1, 1 << 25}}};
  graph()["nodes"] = {call("aten.view.default", {{"self", tensor("x")}, {"size", {{"as_ints", {1, 1, 1, 2}}}}}, "grid"),
                      call("aten.zeros.default", {{"size", wide}}, "image"),
                      call("aten.grid_sampler.default",
                           {{"input", tensor("image")},
                            {"grid", tensor("grid")},
                            {"interpolation_mode", numbered(0)},
                            {"padding_mode", numbered(0)},
                            {"align_corners", truth(false)}},
                           "y")};
  EXPECT_THAT(refusal(), HasSubstr("an image of more than 16777216 places"));
}

TEST_F(Pt2, RefusesPaddingWiderThanItsAxis) {
  const auto padded = [&](const char* mode, std::vector<int64_t> widths) {
    graph()["nodes"] = {
        call("aten.pad.default", {{"self", tensor("x")}, {"pad", {{"as_ints", widths}}}, {"mode", words(mode)}}, "y")};
    return refusal();
  };
  EXPECT_THAT(padded("circular", {3, 0}), HasSubstr("3 and 0 elements around an axis of 2, wanted 0 to 2"));
  EXPECT_THAT(padded("reflect", {0, 2}), HasSubstr("0 and 2 elements around an axis of 2, wanted 0 to 1"));
  EXPECT_THAT(padded("replicate", {0, INT64_MAX}), HasSubstr("elements around an axis of 2"));
  EXPECT_THAT(padded("wrap", {1, 1}), HasSubstr("mode: got 'wrap', wanted constant, reflect, replicate or circular"));
}

TEST_F(Pt2, RefusesWindowsThatDoNotFit) {
  const auto laid = [&](const char* target, int64_t size, int64_t stride) {
    const auto both = [](int64_t value) { return json{{"as_ints", {value, value}}}; };
    graph()["nodes"] = {call("aten.view.default", {{"self", tensor("x")}, {"size", {{"as_ints", {1, 1, 2}}}}}, "line"),
                        call(target,
                             {{"self", tensor("line")},
                              {"output_size", both(2)},
                              {"kernel_size", both(size)},
                              {"dilation", both(1)},
                              {"padding", both(0)},
                              {"stride", both(stride)}},
                             "y")};
    return refusal();
  };
  EXPECT_THAT(laid("aten.im2col.default", 3, 1), HasSubstr("windows of 3 over an axis of 1"));
  EXPECT_THAT(laid("aten.im2col.default", 1, 0), HasSubstr("stride: got a list of 2, wanted two numbers from 1"));
  EXPECT_THAT(laid("aten.col2im.default", 1, 1), HasSubstr("wanted a multiple of 1 elements of 4 windows"));
}

}  // namespace
}  // namespace rung
