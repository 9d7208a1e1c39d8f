// config.json: the dialects that are understood, and every mistake answered by one error before anything is built.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "huggingface_support.hpp"
#include "import/huggingface/architecture.hpp"
#include "ir/text.hpp"

namespace rung {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json bert() {
  return {{"model_type", "bert"},         {"num_hidden_layers", 2}, {"hidden_size", 32},
          {"num_attention_heads", 4},     {"vocab_size", 64},       {"intermediate_size", 64},
          {"max_position_embeddings", 24}};
}

json pi0() {
  return {{"type", "pi0"},
          {"views", 2},
          {"prompt", 6},
          {"horizon", 5},
          {"action_dim", 4},
          {"steps", 3},
          {"image", 28},
          {"patch", 14},
          {"vocab", 128},
          {"vision", {2, 48, 80, 4}},
          {"prefix", {3, 64, 128, 4, 1, 16}},
          {"expert", {3, 32, 64, 4, 1, 16}}};
}

std::string error_with(json config, const std::string& field, const json& value) {
  config[field] = value;
  return config_error(config.dump());
}
std::string error_without(json config, const std::string& field) {
  config.erase(field);
  return config_error(config.dump());
}

TEST(ImportConfig, ListsTheArchitecturesItKnows) {
  const std::string error = config_error(R"({"model_type":"mamba"})");
  EXPECT_THAT(error, HasSubstr("'config.json': model_type 'mamba' is not supported yet (supported: bert, "));
  EXPECT_THAT(error, HasSubstr(", pi05, pi0, pi0_fast). `rung advise` works on a profiler trace of any model"));
  for (const auto& row : huggingface::kArchitectures) EXPECT_THAT(error, HasSubstr(std::string(row.name)));
  EXPECT_THAT(config_error("{}"), HasSubstr("'config.json': neither model_type nor type is given (supported: bert, "));
}

TEST(ImportConfig, RefusesWhatIsNotAJsonObject) {
  EXPECT_THAT(config_error(""), HasSubstr("config.json"));
  EXPECT_THAT(config_error("{\"model_type\":\"bert\""), HasSubstr("config.json"));
  EXPECT_EQ(config_error("[1]"), "'config.json': got an array of 1, wanted an object");
}

TEST(BertConfig, NamesEachFieldThatIsMissing) {
  for (const char* field : {"num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size",
                            "intermediate_size", "max_position_embeddings"})
    EXPECT_THAT(error_without(bert(), field), HasSubstr(fmt::format("no field '{}'", field)));
}

TEST(BertConfig, RefusesAbsurdSizes) {
  for (const char* field : {"num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size",
                            "intermediate_size", "max_position_embeddings", "type_vocab_size"})
    for (const json& value :
         {json(0), json(-1), json(int64_t{1} << 40), json(UINT64_MAX), json(2.5), json("12"), json(true)})
      EXPECT_THAT(error_with(bert(), field, value), HasSubstr(fmt::format("field '{}': got", field))) << value;
  EXPECT_THAT(error_with(bert(), "layer_norm_eps", -1), HasSubstr("layer_norm_eps"));
  EXPECT_THAT(error_with(bert(), "num_attention_heads", 5), HasSubstr("32 is not a multiple of num_attention_heads 5"));
}

TEST(BertConfig, RefusesMoreParametersThanAnyModelHas) {
  json config = bert();
  config.update({{"num_hidden_layers", 1000},
                 {"hidden_size", 65536},
                 {"num_attention_heads", 1024},
                 {"intermediate_size", 1 << 20},
                 {"vocab_size", INT32_MAX},
                 {"max_position_embeddings", 65536}});
  EXPECT_THAT(config_error(config.dump()), HasSubstr("parameters, wanted at most 1000000000000"));
}

TEST(BertConfig, RefusesVariantsItDoesNotCompute) {
  EXPECT_THAT(error_with(bert(), "hidden_act", "mish"), HasSubstr("hidden_act 'mish' is not known; known: gelu, "));
  EXPECT_THAT(error_with(bert(), "position_embedding_type", "relative_key"), HasSubstr("only 'absolute'"));
  EXPECT_THAT(error_with(bert(), "is_decoder", true), HasSubstr("only encoders"));
}

TEST(BertConfig, ChoosesTheActivationByName) {
  const std::pair<const char*, const char*> cases[] = {{"gelu", " = gelu("},
                                                       {"gelu_new", " = gelu_tanh("},
                                                       {"gelu_pytorch_tanh", " = gelu_tanh("},
                                                       {"relu", " = relu("},
                                                       {"silu", " = silu("}};
  for (auto [name, line] : cases) {
    json config = bert();
    config["hidden_act"] = name;
    auto model = import_config_text(config.dump());
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_THAT(print(model->graph), HasSubstr(line));
  }
}

TEST(BertConfig, KeepsItsTypeUnlessF32IsAskedFor) {
  json config = bert();
  config["torch_dtype"] = "bfloat16";
  auto kept = import_config_text(config.dump()), wide = import_config_text(config.dump(), {.dtype = DType::f32});
  ASSERT_TRUE(kept && wide);
  EXPECT_TRUE(verify(kept->graph) && verify(wide->graph));
  EXPECT_THAT(print(kept->graph), HasSubstr(": bf16[1,4,24,24] = softmax("));
  EXPECT_THAT(print(wide->graph), testing::Not(HasSubstr("bf16")));
}

// Published checkpoints are bf16 throughout; norms, patches and projections are computed in f32 all the same.
TEST(Pi0Config, ComputesInF32WherePyTorchDoes) {
  auto model = import_config_text(pi0().dump());
  ASSERT_TRUE(model) << model.error().message;
  std::map<std::string, DType> weights;
  for (NodeId id : model->graph.order())
    if (auto* constant = model->graph.as<Constant>(id)) weights[constant->name] = model->graph.type(id).dtype;
  const std::string gemma = "paligemma_with_expert.gemma_expert.model.layers.0.";
  EXPECT_EQ(weights.at(gemma + "self_attn.q_proj.weight"), DType::bf16);
  EXPECT_EQ(weights.at(gemma + "input_layernorm.weight"), DType::f32);
  EXPECT_EQ(weights.at("state_proj.weight"), DType::f32);
}

TEST(Pi0Config, NamesEachFieldThatIsMissing) {
  for (const char* field :
       {"views", "prompt", "horizon", "action_dim", "steps", "image", "patch", "vocab", "vision", "prefix", "expert"})
    EXPECT_THAT(error_without(pi0(), field), HasSubstr(fmt::format("no field '{}'", field)));
}

TEST(Pi0Config, RefusesAbsurdSizes) {
  for (const char* field : {"views", "prompt", "horizon", "action_dim", "steps", "image", "patch", "vocab"})
    for (const json& value : {json(0), json(-1), json(int64_t{1} << 40), json(UINT64_MAX), json(2.5), json("12")})
      EXPECT_THAT(error_with(pi0(), field, value), HasSubstr(fmt::format("field '{}': got", field))) << value;
  EXPECT_THAT(error_with(pi0(), "vision", {2, 48, 80}), HasSubstr("field 'vision'"));
  EXPECT_THAT(error_with(pi0(), "vision", {2, 48, 80, 2000}),
              HasSubstr("vision[3] is 2000, wanted an integer from 1 to 1024"));
  EXPECT_THAT(error_with(pi0(), "prefix", {int64_t{1} << 62, 64, 128, 4, 1, 16}), HasSubstr("prefix"));
}

TEST(Pi0Config, RefusesSizesThatDoNotFitTogether) {
  EXPECT_THAT(error_with(pi0(), "image", 30), HasSubstr("image 30 is not a multiple of patch 14"));
  EXPECT_THAT(error_with(pi0(), "vision", {2, 50, 80, 4}), HasSubstr("width 50 is not a multiple of 4 heads"));
  EXPECT_THAT(error_with(pi0(), "prefix", {3, 64, 128, 4, 3, 16}),
              HasSubstr("4 heads are not a multiple of 3 kv heads"));
  EXPECT_THAT(error_with(pi0(), "prefix", {3, 64, 128, 4, 1, 15}), HasSubstr("head dim 15 is odd"));
  EXPECT_THAT(error_with(pi0(), "expert", {2, 32, 64, 4, 1, 16}),
              HasSubstr("prefix and expert differ in layers (3, 2)"));
  EXPECT_THAT(error_with(pi0(), "expert", {3, 31, 64, 4, 1, 16}), HasSubstr("expert width 31 is odd"));
}

TEST(Pi0Config, RefusesGraphsThatWouldNotEnd) {
  json config = pi0();
  config["prefix"][0] = config["expert"][0] = 1000;
  config["steps"] = 1000;
  EXPECT_THAT(config_error(config.dump()), HasSubstr("1001004 layers over all cameras and steps, wanted at most 4096"));
  json views = pi0();
  views.update({{"views", 64}, {"image", 4096}, {"patch", 1}});
  EXPECT_THAT(config_error(views.dump()), HasSubstr("image and prompt tokens, wanted at most 65536"));
}

TEST(Pi0Config, RefusesMoreParametersThanAnyModelHas) {
  json config = pi0();
  config["vocab"] = INT32_MAX;
  config["prefix"][1] = 65536;
  EXPECT_THAT(config_error(config.dump()), HasSubstr("parameters, wanted at most 1000000000000"));
}

std::string graph_text(const std::string& config) {
  auto model = import_config_text(config);
  EXPECT_TRUE(model) << model.error().message;
  return model ? print(model->graph) : "";
}

TEST(Pi0Config, ReadsThreeDialectsOfTheSameModelAlike) {
  std::string plain =
      graph_text(R"({"type":"pi0","views":3,"prompt":48,"horizon":50,"action_dim":32,"steps":1,"image":224,
    "patch":14,"vision":[27,1152,4304,16],"prefix":[18,2048,16384,8,1,256],"expert":[18,1024,4096,8,1,256],"vocab":257152})");
  std::string openpi = graph_text(R"({"action_dim":32,"action_horizon":50,"paligemma_variant":"gemma_2b",
    "action_expert_variant":"gemma_300m","precision":"bfloat16","num_steps":1})");
  std::string lerobot = graph_text(R"({"type":"pi0","chunk_size":50,"num_inference_steps":1,"max_state_dim":32,
    "max_action_dim":32,"tokenizer_max_length":48,"image_resolution":[224,224],"empty_cameras":1,"input_features":{
    "observation.images.top":{"type":"VISUAL","shape":[3,480,640]},"observation.state":{"type":"STATE","shape":[14]},
    "observation.images.wrist":{"type":"VISUAL","shape":[3,480,640]}}})");
  EXPECT_EQ(plain, openpi);
  EXPECT_EQ(plain, lerobot);
}

TEST(Pi0Config, ReadsPi05ByItsTypeOrItsFlag) {
  const std::string typed = graph_text(R"({"type":"pi05","num_inference_steps":1,"chunk_size":50})");
  EXPECT_TRUE(typed == graph_text(R"({"pi05":true,"paligemma_variant":"gemma_2b","num_steps":1,"action_horizon":50})"));
  EXPECT_EQ(typed.find("\nstate: "), std::string::npos);
  EXPECT_NE(typed.find("\ntokens: i64[200] = input()"), std::string::npos);
}

TEST(Pi0Config, RefusesVariantsItDoesNotKnow) {
  EXPECT_THAT(config_error(R"({"type":"pi0","paligemma_variant":"gemma_9b"})"),
              HasSubstr("paligemma_variant 'gemma_9b' is not known; known: gemma_300m, gemma_2b"));
  EXPECT_THAT(config_error(R"({"type":"pi0","pi05":"yes"})"), HasSubstr("pi05"));
}

TEST(Pi0Config, TakesCamerasPromptAndHorizonFromRequestedShapes) {
  ImportOptions options{.shapes = {{"images", Shape{1, 3, 28, 28}}, {"tokens", Shape{4}}, {"noise", Shape{7, 4}}}};
  auto model = import_config_text(pi0().dump(), options);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->defaults.at("image_mask").type, (Type{DType::boolean, {1}}));
  EXPECT_EQ(model->defaults.at("token_mask").type, (Type{DType::boolean, {4}}));
  EXPECT_EQ(model->graph.type(model->graph.outputs()[0].node), (Type{DType::f32, {7, 4}}));
  EXPECT_THAT(config_error(pi0().dump(), {.shapes = {{"images", Shape{2, 3, 28, 30}}}}),
              HasSubstr("shape [2,3,28,30] for input 'images': with the other shapes given it would be [2,3,28,28]"));
  EXPECT_THAT(
      config_error(pi0().dump(), {.shapes = {{"imags", Shape{2}}}}),
      HasSubstr("a shape for input 'imags': the inputs are image_mask, images, noise, state, token_mask, tokens"));
}

TEST(Pi0Config, UnrollsTheFullModelWithoutLoadingAWeight) {
  auto model = import_model(test_data("pi0_full"), {.random_seed = 3});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(verify(model->graph));
  EXPECT_EQ(count_parameters(model->graph), 3238046480u);
  EXPECT_EQ(model->graph.size(), 16464u);
}

TEST(Inputs, AreRefusedByName) {
  auto model = import_config_text(pi0().dump());
  ASSERT_TRUE(model);
  auto error_of = [&](const char* name, const Tensor& value) {
    return check_input(*model, name, value).error().message;
  };
  EXPECT_THAT(error_of("stat", Tensor({DType::f32, {4}})), HasSubstr("input 'stat' is not one of image_mask, images"));
  EXPECT_EQ(error_of("state", Tensor({DType::f32, {5}})), "input 'state': got f32[5], wanted f32[4]");
  EXPECT_EQ(error_of("tokens", Tensor({DType::i32, {6}})), "input 'tokens': got i32[6], wanted i64[6]");
  EXPECT_EQ(error_of("tokens", Tensor::of<int64_t>({6}, {0, 1, 2, 128, 0, 0})),
            "input 'tokens': got 128, wanted token ids from 0 to 127");
  EXPECT_EQ(error_of("state", Tensor::of<float>({4}, {0, NAN, 1, INFINITY})),
            "input 'state' f32[4]: got 1 NaN and 1 infinite values, wanted none");
}

TEST(Inputs, AreNotFrozenUnlessAllAreGood) {
  auto model = import_config_text(pi0().dump());
  ASSERT_TRUE(model);
  Status status = freeze_inputs(*model, {{"state", Tensor({DType::f32, {4}})}, {"tokens", Tensor({DType::f32, {6}})}});
  EXPECT_FALSE(status);
  EXPECT_EQ(model->graph.inputs().size(), 6u);
}

}  // namespace
}  // namespace rung
