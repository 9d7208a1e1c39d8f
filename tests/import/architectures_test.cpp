// The table of architectures: random weights for each, what each refuses, what is noted, and the page that lists them.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "huggingface_support.hpp"
#include "import/huggingface/architecture.hpp"

namespace rung {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string checkpoint(const std::string& name) { return test_data("checkpoints/" + name); }
json config_of(const std::string& name) { return json::parse(text_of(checkpoint(name) + "/config.json")); }

// The error of a config with one field changed, with random weights.
std::string error_with(const std::string& name, const std::string& pointer, const json& value) {
  json config = config_of(name);
  config[json::json_pointer(pointer)] = value;
  return config_error(config.dump());
}

TEST(Architectures, EachImportsWithRandomWeights) {
  for (const auto& entry : std::filesystem::directory_iterator(test_data("checkpoints"))) {
    if (!entry.is_directory()) continue;
    const Model model = import_verified(entry.path().string(), {.random_seed = 7});
    EXPECT_FALSE(model.graph.outputs().empty()) << entry.path();
    EXPECT_EQ(config_error(text_of(entry.path().string() + "/config.json")), "no error") << entry.path();
  }
}

TEST(Architectures, EachSamplesInputsThatItTakes) {
  for (const auto& entry : std::filesystem::directory_iterator(test_data("checkpoints"))) {
    if (!entry.is_directory()) continue;
    const Model model = import_verified(entry.path().string());
    for (const auto& [name, rule] : model.defaults) {
      const Status taken = check_input(model, name, rule.sample(5));
      EXPECT_TRUE(taken) << entry.path() << ": " << taken.error().message;
    }
  }
}

TEST(Architectures, EachClassHasACheckpoint) {
  std::set<std::string> seen{"BertModel", "XLMRobertaModel", "XLMRobertaForTokenClassification",
                             "XLMRobertaForMaskedLM", "XLMRobertaForQuestionAnswering"};  // elsewhere, or RoBERTa's
  for (const auto& entry : std::filesystem::directory_iterator(test_data("checkpoints")))
    if (entry.is_directory())
      seen.insert(config_of(entry.path().filename().string())["architectures"][0].get<std::string>());
  for (const auto& row : huggingface::kArchitectures)
    for (const auto& one : row.classes) EXPECT_TRUE(seen.contains(std::string(one.name))) << one.name;
}

TEST(Architectures, AreListedWithTheirClassesInTheDocs) {
  const std::string page = text_of(test_data("../../docs/architectures.md"));
  for (const auto& row : huggingface::kArchitectures) {
    std::string line = fmt::format("| `{}` |", row.name);
    for (const auto& one : row.classes) line += fmt::format("{} `{}`", &one == &row.classes[0] ? "" : ",", one.name);
    EXPECT_THAT(page, HasSubstr(line));
  }
}

struct ChangedField {
  const char *name, *field;
  json value;
  const char* words;
};
void expect_refused(std::span<const ChangedField> cases) {
  for (const auto& [name, field, value, words] : cases)
    EXPECT_THAT(error_with(name, field, value), HasSubstr(words)) << name << field;
}

TEST(Architectures, RefuseWhatChangesTheirMeaning) {
  const ChangedField cases[] = {
      {"roberta", "/position_embedding_type", "relative_key", "position_embedding_type 'relative_key'"},
      {"roberta", "/is_decoder", true, "is_decoder is true"},
      {"roberta", "/add_cross_attention", true, "add_cross_attention is true"},
      {"roberta", "/pad_token_id", 23, "field 'pad_token_id': got 23, wanted an integer from 0 to 22"},
      {"roberta", "/hidden_act", "mish", "hidden_act 'mish' is not known"},
      {"roberta", "/quantization_config", json::object({{"bits", 4}}), "quantization_config is not supported"},
      {"roberta", "/is_encoder_decoder", true, "is_encoder_decoder is true"},
      {"roberta", "/pruned_heads", json::object({{"0", {1}}}), "pruned_heads is not supported"},
      {"roberta_token", "/id2label", json::object(), "id2label has 0 labels"},
      {"distilbert", "/activation", "mish", "activation 'mish' is not known"},
      {"distilbert", "/n_heads", 3, "16 is not a multiple of num_attention_heads 3"},
      {"mpnet", "/relative_attention_num_buckets", 31, "field 'relative_attention_num_buckets': got 31"},
      {"modernbert", "/layer_types", json::array({"full_attention"}), "layer_types: wanted a list"},
      {"modernbert", "/layer_types", "full_attention", "layer_types: wanted a list"},
      {"modernbert", "/rope_parameters/full_attention/rope_type", "yarn", "rope_type 'yarn' is not supported"},
      {"modernbert", "/rope_scaling", json::object({{"factor", 2}}), "rope_scaling is not supported"},
      {"modernbert", "/classifier_pooling", "max", "classifier_pooling 'max' is not supported"},
      {"modernbert", "/num_attention_heads", 16, "rotary positions need pairs"},
      {"vit", "/patch_size", json::array({4, 2}), "patch_size is 4x2, wanted a square"},
      {"vit", "/patch_size", 16, "patch_size 16 is larger than image_size 12x12"},
      {"vit", "/image_size", "large", "field 'image_size': got"},
      {"vit", "/pooler_act", "mish", "pooler_act 'mish' is not known"},
      {"dinov2", "/image_size", json::array({12, 8}), "image_size is 12x8, wanted a square"},
      {"clip", "/text_config", 3, "field 'text_config': got 3, wanted an object"},
      {"clip", "/text_config/hidden_act", "mish", "hidden_act 'mish' is not known"},
      {"clip_vision", "/hidden_size", 15, "15 is not a multiple of num_attention_heads 2"},
      {"siglip", "/vision_config/vision_use_head", false, "the towers' embeddings have 24 and 0 columns"},
      {"mpnet", "/max_position_embeddings", 65536, "a table of pairs of tokens of 65534 by 65534 elements"},
      {"modernbert", "/max_position_embeddings", 8193, "a table of pairs of tokens of 8193 by 8193 elements"},
      {"clip_text", "/max_position_embeddings", 65536, "a table of pairs of tokens of 65536 by 65536 elements"},
      {"dinov2", "/image_size", 4096, "patches, wanted fewer than 65536"},
      {"siglip_text", "/vocab_size", 0, "field 'vocab_size': got 0"},
  };
  expect_refused(cases);
}

TEST(Architectures, RefuseWhatChangesADecodersMeaning) {
  const ChangedField cases[] = {
      {"llama", "/rope_parameters/rope_type", "dynamic",
       "rope_type 'dynamic' is not supported (supported: default, linear"},
      {"llama", "/rope_parameters/factor", 0, "field 'factor': got 0"},
      {"llama", "/rope_parameters/low_freq_factor", 5, "low_freq_factor 5 is not below high_freq_factor 4"},
      {"llama", "/rope_parameters/partial_rotary_factor", 0.4, "3 of 8 columns of a head rotate"},
      {"llama", "/num_key_value_heads", 3, "num_attention_heads 4 is not a multiple of num_key_value_heads 3"},
      {"llama", "/quantization_config", json::object({{"bits", 4}}), "quantization_config is not supported"},
      {"llama", "/hidden_act", "mish", "hidden_act 'mish' is not known"},
      {"llama", "/num_local_experts", 8, "num_local_experts: mixtures of experts are not supported"},
      {"llama", "/vocab_size", "many", "field 'vocab_size': got"},
      {"qwen2", "/hidden_size", 18, "hidden_size 18 is not a multiple of num_attention_heads 4"},
      {"mistral", "/layer_types", json::array({"full_attention"}), "layer_types is not supported"},
      {"qwen2_model", "/layer_types", json::array({"full_attention"}), "layer_types: wanted a list"},
      {"mistral", "/sliding_window", 0, "field 'sliding_window': got 0"},
      {"gemma2", "/layer_types/1", "chunked_attention",
       "layer_types[1] is \"chunked_attention\", wanted 'full_attention'"},
      {"gemma3", "/use_bidirectional_attention", true, "use_bidirectional_attention is true"},
      {"gemma3", "/rope_parameters/full_attention/rope_type", "proportional", "rope_type 'proportional'"},
      {"phi3", "/rope_parameters/long_factor", json::array({1.0}), "long_factor: wanted a list of 2 numbers above 0"},
      {"phi3", "/rope_parameters/short_factor", json::array({1.0, 0.0}), "short_factor: wanted a list of 2 numbers"},
      {"gpt2", "/scale_attn_by_inverse_layer_idx", true, "scale_attn_by_inverse_layer_idx is true"},
      {"gpt2", "/add_cross_attention", true, "add_cross_attention is true"},
      {"gpt2", "/n_head", 3, "n_embd 16 is not a multiple of n_head 3"},
      {"gpt2", "/num_key_value_heads", 2, "num_key_value_heads 2 is not supported"},
      {"gpt_neox", "/num_key_value_heads", 2, "num_key_value_heads 2 is not supported"},
      {"gemma3", "/rope_parameters/sliding_attention/partial_rotary_factor", 0.5, "8 columns of a head rotate in full"},
      {"smollm3", "/no_rope_layers", json::array({1}), "no_rope_layers"},
  };
  expect_refused(cases);
}

TEST(Architectures, RefuseWhatChangesAnEncoderDecodersMeaning) {
  const ChangedField cases[] = {
      {"t5", "/feed_forward_proj", "gated-mish", "feed_forward_proj 'mish' is not known"},
      {"t5", "/relative_attention_num_buckets", 6, "relative_attention_num_buckets 6: wanted a multiple of 4"},
      {"t5", "/relative_attention_max_distance", 4, "relative_attention_max_distance 4 is not above half"},
      {"t5", "/num_decoder_layers", 0, "field 'num_decoder_layers': got 0"},
      {"t5", "/d_kv", 0, "field 'd_kv': got 0"},
      {"whisper", "/scale_embedding", true, "scale_embedding is true"},
      {"whisper", "/encoder_attention_heads", 4, "encoder_attention_heads 4 is not supported: wanted 2"},
      {"whisper", "/encoder_ffn_dim", 8, "encoder_ffn_dim 8 is not supported: wanted 24"},
      {"whisper", "/decoder_attention_heads", 3, "encoder_attention_heads 2 is not supported: wanted 3"},
      {"whisper", "/max_source_positions", 0, "field 'max_source_positions': got 0"},
      {"whisper", "/activation_function", "mish", "activation_function 'mish' is not known"},
      {"bart", "/encoder_attention_heads", 4, "encoder_attention_heads 4 is not supported: wanted 2"},
      {"mbart", "/encoder_ffn_dim", 8, "encoder_ffn_dim 8 is not supported: wanted 24"},
      {"pegasus", "/d_model", 17, "d_model 17 is not a multiple of decoder_attention_heads 2"},
      {"marian", "/share_encoder_decoder_embeddings", false, "share_encoder_decoder_embeddings is false"},
      {"marian", "/d_model", 2, "d_model 2: wanted an even number from 4 on"},
      {"m2m_100", "/pad_token_id", -1, "field 'pad_token_id': got -1"},
  };
  expect_refused(cases);
}

TEST(Architectures, RefuseSourcesThatTheyCannotTake) {
  const auto error = [](const char* name, const ImportOptions& options) {
    return import_error(checkpoint(name), options);
  };
  EXPECT_THAT(error("whisper", {.shapes = {{"input_features", {1, 6, 17}}}}), HasSubstr("wanted [B,6,18]"));
  EXPECT_THAT(error("whisper", {.shapes = {{"decoder_input_ids", {1, 73}}}}),
              HasSubstr("S from 1 to 72 (max_target_positions)"));
  EXPECT_THAT(error("whisper", {.cache = {.length = 73}}), HasSubstr("wanted 1 to 72 (max_target_positions)"));
  EXPECT_THAT(error("t5", {.shapes = {{"input_ids", {2, 3}}, {"decoder_input_ids", {1, 3}}}}),
              HasSubstr("wanted 2 sequences, as many as the encoder reads"));
  EXPECT_THAT(error("t5", {.shapes = {{"input_ids", {1, 0}}}}), HasSubstr("wanted [B,E]"));
  EXPECT_THAT(error("t5", {.shapes = {{"input_ids", {1, 65536}}}}), HasSubstr("relative positions of 65536 by 65536"));
  EXPECT_THAT(error("t5", {.shapes = {{"input_ids", {1, 5}}}, .cache = {.length = 8, .source = 9, .encodes = true}}),
              HasSubstr("the states are of a source of 9 tokens"));
  EXPECT_THAT(error("t5", {.cache = {.length = 8, .source = -1}}), HasSubstr("E from 1 to 65536"));
}

TEST(Architectures, GiveAnEncoderWithoutItsDecoder) {
  for (const char* name : {"t5", "whisper", "bart"}) {
    const Model model = import_verified(checkpoint(name), {.drop_head = true});
    ASSERT_EQ(model.graph.outputs().size(), 1u);
    EXPECT_EQ(model.graph.outputs()[0].name, "last_hidden_state");
    EXPECT_FALSE(model.defaults.contains("decoder_input_ids"));
    EXPECT_THAT(model.notes, testing::ElementsAre(HasSubstr("not read: "))) << name;
  }
}

TEST(Architectures, RefuseShapesThatTheyCannotTake) {
  const auto error = [](const char* name, const char* input, const Shape& shape) {
    return import_error(checkpoint(name), {.shapes = {{input, shape}}});
  };
  EXPECT_THAT(error("roberta", "input_ids", {1, 23}), HasSubstr("S from 1 to 22"));
  EXPECT_THAT(error("mpnet_token", "input_ids", {1, 23}), HasSubstr("S from 1 to 22"));
  EXPECT_THAT(error("modernbert", "input_ids", {9}), HasSubstr("wanted [B,S]"));
  EXPECT_THAT(error("vit", "pixel_values", {1, 3, 16, 16}), HasSubstr("wanted [B,3,12,12] with B from 1 to 1024"));
  EXPECT_THAT(error("vit", "pixel_values", {3, 12, 12}), HasSubstr("wanted [B,3,12,12]"));
  EXPECT_THAT(error("dinov2", "pixel_values", {1, 3, 3, 12}), HasSubstr("wanted [B,3,12,12]"));
  EXPECT_THAT(error("dinov2", "pixel_values", {1, 3, 4096, 4096}), HasSubstr("got 1048576 patches, wanted fewer than"));
  EXPECT_THAT(error("llama", "input_ids", {1, 33}), HasSubstr("S from 1 to 32 (max_position_embeddings)"));
  EXPECT_THAT(error("llama", "input_ids", {1024, 32}), HasSubstr("no error"));
  EXPECT_THAT(error("llama", "input_ids", {12}), HasSubstr("wanted [B,S]"));
  EXPECT_THAT(error("llama", "attention_mask", {1, 12}), HasSubstr("the inputs are input_ids"));
  EXPECT_THAT(error("clip", "pixel_values", {0, 3, 12, 12}), HasSubstr("wanted [B,3,12,12]"));
}

TEST(Architectures, ReadModernBertsFirstForm) {
  json config = config_of("modernbert");
  for (const char* field : {"layer_types", "rope_parameters"}) config.erase(field);
  config["global_attn_every_n_layers"] = 3;
  config["global_rope_theta"] = 160000.0;
  config["local_rope_theta"] = 10000.0;
  TemporaryDirectory dir;
  copy_model(checkpoint("modernbert"), dir, [](const std::string& name) { return name; });
  std::filesystem::remove(dir / "config.json");
  dir.write("config.json", config.dump());
  const NamedTensors inputs = load_npz(checkpoint("modernbert/inputs.npz"));
  const Model model = import_verified(dir.path(), {.shapes = {{"input_ids", inputs.at("input_ids").shape()}}});
  EXPECT_LT(relative_error(run_reference(model, inputs).at("last_hidden_state"),
                           load_npz(checkpoint("modernbert/outputs.npz")).at("last_hidden_state")),
            1e-6);
  config["local_rope_theta"] = nullptr;
  EXPECT_THAT(config_error(config.dump()), HasSubstr("local_rope_theta"));
}

TEST(Architectures, ReadTheEarlyFormOfClipsTowers) {
  json config = config_of("clip");
  config["text_config_dict"] = config["text_config"];
  config["text_config"]["hidden_size"] = 64;
  EXPECT_EQ(config_error(config.dump()), "no error");
  EXPECT_EQ(import_config_text(config.dump())->graph.type(0).dtype, DType::i64);
}

TEST(Architectures, NoteTensorsOfOtherHeads) {
  TemporaryDirectory dir;
  copy_model(checkpoint("bert_pretraining"), dir, [](const std::string& name) { return name; });
  std::filesystem::remove(dir / "config.json");
  json config = config_of("bert_pretraining");
  config["architectures"] = {"BertForMaskedLM"};
  dir.write("config.json", config.dump());
  const Model model = import_verified(dir.path());
  ASSERT_EQ(model.notes.size(), 1u);
  EXPECT_THAT(model.notes[0], HasSubstr("4 tensors of the checkpoint are not read: bert.pooler.dense.bias"));
  EXPECT_THAT(model.notes[0], HasSubstr("cls.seq_relationship.weight"));
}

TEST(Architectures, RefuseTensorsThatBelongToNoHead) {
  TemporaryDirectory dir;
  copy_model(checkpoint("roberta_token"), dir, [](const std::string& name) {
    return replaced(name, "roberta.embeddings.LayerNorm.bias", "crf.transitions");
  });
  EXPECT_THAT(import_error(dir.path()), HasSubstr("no tensor 'roberta.embeddings.LayerNorm.bias'"));
  TemporaryDirectory more;
  copy_model(checkpoint("bert_next_sentence"), more, [](const std::string& name) { return name; });
  json config = config_of("bert_next_sentence");
  config["architectures"] = {"BertForQuestionAnswering"};
  std::filesystem::remove(more / "config.json");
  more.write("config.json", config.dump());
  EXPECT_THAT(import_error(more.path()), HasSubstr("no tensor 'qa_outputs.weight'"));
}

TEST(Architectures, TakeDinosImagesAsItsProcessorCropsThem) {
  TemporaryDirectory dir;
  copy_model(checkpoint("dinov2"), dir, [](const std::string& name) { return name; });
  const auto shape = [&](const ImportOptions& options) {
    return import_verified(dir.path(), options).defaults.at("pixel_values").type.shape;
  };
  EXPECT_EQ(shape({}), (Shape{1, 3, 12, 12}));
  dir.write("preprocessor_config.json", R"({"do_center_crop": true, "crop_size": {"height": 8, "width": 20}})");
  EXPECT_EQ(shape({}), (Shape{1, 3, 8, 20}));
  dir.write("preprocessor_config.json", R"({"do_center_crop": true, "crop_size": 16})");
  EXPECT_EQ(shape({}), (Shape{1, 3, 16, 16}));
  EXPECT_EQ(shape({.given = {{"pixel_values", Shape{2, 3, 12, 16}}}}), (Shape{2, 3, 12, 16}));
  dir.write("preprocessor_config.json", R"({"do_center_crop": false, "crop_size": {"height": 8, "width": 20}})");
  EXPECT_EQ(shape({}), (Shape{1, 3, 12, 12}));
  dir.write("preprocessor_config.json", R"({"do_center_crop": true, "crop_size": {"height": 2, "width": 20}})");
  EXPECT_THAT(import_error(dir.path()), HasSubstr("field 'height': got 2, wanted an integer from 4 to 4096"));
}

TEST(Architectures, ReadShardsAsOneFile) {
  const std::string from = checkpoint("clip");
  TemporaryDirectory dir;
  std::filesystem::copy_file(from + "/config.json", dir / "config.json");
  const auto file = Safetensors::open(from + "/model.safetensors");
  ASSERT_TRUE(file) << file.error().message;
  std::vector<std::pair<std::string, Tensor>> shards[2];
  json index;
  for (const auto& [name, entry] : (*file)->tensors()) {
    const size_t shard = name.starts_with("vision") ? 1 : 0;
    shards[shard].emplace_back(name, (*file)->load(name).value());
    index["weight_map"][name] = fmt::format("model-{}.safetensors", shard);
  }
  for (size_t i = 0; i < 2; ++i)
    ASSERT_TRUE(write_safetensors(dir / fmt::format("model-{}.safetensors", i), shards[i], {}));
  dir.write("model.safetensors.index.json", index.dump());
  ImportOptions options;
  for (const auto& [name, value] : load_npz(from + "/inputs.npz")) options.given[name] = value.shape();
  const NamedTensors outputs = run_reference(import_verified(dir.path(), options), load_npz(from + "/inputs.npz"));
  for (const auto& [name, value] : load_npz(from + "/outputs.npz"))
    EXPECT_LT(relative_error(outputs.at(name), value), 1e-6) << name;
}

TEST(Architectures, PoolSentencesOfEveryTextEncoder) {
  for (const char* name : {"roberta_masked_lm", "distilbert", "mpnet_masked_lm", "modernbert_masked_lm"}) {
    TemporaryDirectory dir;
    copy_model(checkpoint(name), dir, [](const std::string& tensor) { return tensor; });
    std::filesystem::create_directory(dir / "1_Pooling");
    dir.write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens":true})");
    dir.write("modules.json", R"([{"type":"sentence_transformers.models.Pooling","path":"1_Pooling"}])");
    const Model model = import_verified(dir.path());
    ASSERT_EQ(model.graph.outputs().size(), 2u) << name;
    EXPECT_EQ(model.graph.outputs()[1].name, "sentence_embedding");
  }
}

}  // namespace
}  // namespace rung
