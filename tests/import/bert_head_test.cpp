// Heads on top of an encoder: refused where they are not known or not whole, or dropped where the caller says so; and
// how long a text is by default.
// SPDX-License-Identifier: Apache-2.0
#include "huggingface_support.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

// The tiny BERT as a class with a head saves it: all tensors but the head's under "bert.".
void write_with_head(const TemporaryDirectory& dir, const std::string& head_class, const std::string& tensor) {
  bool first = true;
  copy_model(test_data("bert_tiny"), dir, [&](const std::string& name) {
    return std::exchange(first, false) && !tensor.empty() ? tensor : "bert." + name;
  });
  std::filesystem::remove(dir / "config.json");
  std::ifstream in(test_data("bert_tiny/config.json"));
  std::string config(std::istreambuf_iterator<char>(in), {});
  dir.write("config.json", replaced(config, "\"BertModel\"", "\"" + head_class + "\""));
}

TEST(BertHead, IsRefusedUnlessItIsKnownAndWhole) {
  struct Case {
    const char *saved_from, *tensor, *words;
  };
  for (auto [saved_from, tensor, words] :
       {Case{"BertForMultipleChoice", "", "BertForMultipleChoice has a head, which is not supported yet"},
        Case{"BertForSequenceClassification", "", "BertForSequenceClassification: 2 tensors are wrong"},
        Case{"BertForMaskedLM", "", "no tensor 'cls.predictions.transform.dense.weight'"},
        Case{"BertModel", "classifier.weight", "no class in `architectures` names: classifier.weight"},
        Case{"BertModel", "cls.predictions.bias", "no class in `architectures` names: cls.predictions.bias"},
        Case{"BertModel", "linear.weight", "no class in `architectures` names: linear.weight"}}) {
    TemporaryDirectory dir;
    write_with_head(dir, saved_from, tensor);
    EXPECT_THAT(import_error(dir.path()), HasSubstr(words)) << saved_from << tensor;
    EXPECT_THAT(import_error(dir.path()), HasSubstr("--drop-head (drop_head in Python and C)"));
  }
}

TEST(BertHead, IsDroppedOnRequestButNotTheEncoder) {
  TemporaryDirectory dir;
  write_with_head(dir, "BertForMaskedLM", "");
  Model model = import_verified(dir.path(), {.shapes = {{"input_ids", Shape{1, 9}}}, .drop_head = true});
  auto outputs = run_reference(model, load_npz(test_data("bert_tiny/inputs.npz")));
  auto expected = load_npz(test_data("bert_tiny/outputs.npz"));
  EXPECT_LT(relative_error(outputs.at("last_hidden_state"), expected.at("last_hidden_state")), 1e-6);
  TemporaryDirectory broken;
  write_with_head(broken, "BertForMaskedLM", "cls.predictions.bias");
  EXPECT_THAT(import_error(broken.path(), {.drop_head = true}), HasSubstr("no tensor 'bert."));
}

// As sentence-transformers takes the encoder of any class.
TEST(BertHead, OfASentenceEncoderIsNotRefused) {
  TemporaryDirectory dir;
  write_with_head(dir, "BertForMaskedLM", "");
  std::filesystem::create_directory(dir / "1_Pooling");
  dir.write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens":true})");
  dir.write("modules.json", R"([{"type":"sentence_transformers.models.Transformer","path":""},
                                {"type":"sentence_transformers.models.Pooling","path":"1_Pooling"}])");
  EXPECT_EQ(import_error(dir.path()), "no error");
}

TEST(TextLength, IsTheModelsOwnMaximum) {
  TemporaryDirectory dir;
  copy_model(test_data("bert_tiny"), dir, [](const std::string& name) { return name; });
  const auto length = [&] { return import_verified(dir.path()).defaults.at("input_ids").type.shape; };
  EXPECT_EQ(length(), (Shape{1, 24})) << "all its positions";
  dir.write("tokenizer_config.json", R"({"model_max_length": 20})");
  EXPECT_EQ(length(), (Shape{1, 20}));
  dir.write("sentence_bert_config.json", R"({"max_seq_length": 16, "do_lower_case": false})");
  EXPECT_EQ(length(), (Shape{1, 16}));
  dir.write("sentence_bert_config.json", R"({"max_seq_length": null})");
  EXPECT_EQ(length(), (Shape{1, 20}));
  dir.write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(length(), (Shape{1, 24}));
  dir.write("sentence_bert_config.json", R"({"max_seq_length": "all"})");
  EXPECT_THAT(import_error(dir.path()), HasSubstr("field 'max_seq_length': got the string 'all', wanted a number"));
}

}  // namespace
}  // namespace rung
