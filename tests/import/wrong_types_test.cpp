// Configs, tokenizers and lists of shards in which one value is of another type: refused in words, or taken.
// SPDX-License-Identifier: Apache-2.0
#include "support/wrong_types.hpp"
#include "base/json.hpp"
#include "import/checkpoint.hpp"
#include "import/huggingface_support.hpp"
#include "text/tokenizer.hpp"

namespace rung {
namespace {

using nlohmann::json;

TEST(WrongTypes, OfConfigsAreToldInWords) {
  for (const char* model : {"bert_sequence", "llama", "t5", "whisper", "clip", "modernbert", "gemma3"}) {
    const auto file = read_json_file(test_data(std::string("checkpoints/") + model + "/config.json"));
    ASSERT_TRUE(file) << file.error().message;
    const size_t refused = expect_words_for_wrong_types(*file, [](const json& config) {
      const std::string error = config_error(config.dump());
      return error == "no error" ? std::string() : error;
    });
    EXPECT_GT(refused, 50u) << model;
  }
}

TEST(WrongTypes, OfTokenizersAreToldInWords) {
  for (const char* name : {"bert_uncased", "clip"}) {
    const auto file = read_json_file(test_data(std::string("tokenizers/") + name + "/tokenizer.json"));
    ASSERT_TRUE(file) << file.error().message;
    const size_t refused = expect_words_for_wrong_types(*file, [](const json& description) {
      const auto tokenizer = Tokenizer::from_texts({{"tokenizer.json", description.dump()}});
      return tokenizer ? std::string() : tokenizer.error().message;
    });
    EXPECT_GT(refused, 200u) << name;
  }
}

TEST(WrongTypes, OfListsOfShardsAreToldInWords) {
  TemporaryDirectory directory;
  const Tensor one = Tensor::of<float>({1}, {1});
  ASSERT_TRUE(write_safetensors(directory / "1.safetensors", {{"a", one}}, {}));
  const json index{{"metadata", {{"total_size", 4}}}, {"weight_map", {{"a", "1.safetensors"}}}};
  const size_t refused = expect_words_for_wrong_types(index, [&](const json& other) {
    directory.write("model.safetensors.index.json", other.dump());
    const auto checkpoint = open_checkpoint(directory.path());
    return checkpoint ? std::string() : checkpoint.error().message;
  });
  EXPECT_GT(refused, 20u);
}

}  // namespace
}  // namespace rung
