// The WordPiece tokenizer against the published BERT tokenizer's behaviour, on a vocabulary small enough to read.
// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// One token a blank; ids count from 0.
constexpr const char* kVocabulary =
    "[PAD] [UNK] [CLS] [SEP] [MASK] hello world ##s un ##aff ##able naive resume ! , . $ ' don t ^ 中 文 字 東 京 "
    "タワー カ ##タ "
    "istanbul ß x ##x [ ] mask a ##b e ᄒ ##ᅡ ##ᆫ … ∑ σ";

std::vector<std::string> split_at_blanks(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string token; in >> token;) all.push_back(token);
  return all;
}
std::vector<std::string> tokens() { return split_at_blanks(kVocabulary); }

// A vocab.txt of tokens between blanks.
std::string vocab_txt(const std::string& tokens = kVocabulary) {
  std::string text;
  for (const auto& token : split_at_blanks(tokens)) text += token + "\n";
  return text;
}

Tokenizer with_vocabulary(const std::string& tokens, const std::string& config = "{}") {
  auto opened = Tokenizer::from_texts({{"vocab.txt", vocab_txt(tokens)}, {"tokenizer_config.json", config}});
  EXPECT_TRUE(opened) << opened.error().message;
  return *opened;
}
Tokenizer tokenizer(const std::string& config = "{}") { return with_vocabulary(kVocabulary, config); }

// "hello world ##s"
std::string pieces(const Tokenizer& t, std::string_view text) {
  auto all = tokens();
  std::string out;
  const auto ids = t.pieces(text);
  for (int64_t id : *ids) out += (out.empty() ? "" : " ") + all[static_cast<size_t>(id)];
  return out;
}

struct Case {
  std::string text, uncased, cased;
};
class Pieces : public testing::TestWithParam<Case> {};

TEST_P(Pieces, AreThoseOfThePublishedTokenizer) {
  const auto& [text, uncased, cased] = GetParam();
  EXPECT_EQ(pieces(tokenizer(), text), uncased) << text;
  EXPECT_EQ(pieces(tokenizer(R"({"do_lower_case":false})"), text), cased) << text;
}

INSTANTIATE_TEST_SUITE_P(
    , Pieces,
    testing::Values(Case{"hello worlds", "hello world ##s", "hello world ##s"},
                    Case{"HeLLo WORLD!", "hello world !", "[UNK] [UNK] !"},
                    Case{"unaffable", "un ##aff ##able", "un ##aff ##able"}, Case{"unaffabley", "[UNK]", "[UNK]"},
                    Case{"naïve résumé", "naive resume", "[UNK] [UNK]"}, Case{"nai\u0308ve", "naive", "[UNK]"},
                    Case{"don't", "don ' t", "don ' t"}, Case{"$^", "$ ^", "$ ^"}, Case{"hello…", "hello …", "hello …"},
                    Case{"hello,world.", "hello , world .", "hello , world ."}, Case{"中文字", "中 文 字", "中 文 字"},
                    Case{"東京タワー", "東 京 タワー", "東 京 タワー"},
                    Case{"hello中world", "hello 中 world", "hello 中 world"}, Case{"İstanbul", "istanbul", "[UNK]"},
                    Case{"ISTANBUL", "istanbul", "[UNK]"}, Case{"Σ", "σ", "[UNK]"}, Case{"한", "ᄒ ##ᅡ ##ᆫ", "[UNK]"},
                    Case{"a ab zzz", "a a ##b [UNK]", "a a ##b [UNK]"},
                    Case{std::string("he\u200bllo\0 \ufffdworld", 18), "hello world", "hello world"},
                    Case{"hello\u00a0world\t\n\u3000hello\u2028hello", "hello world hello hello",
                         "hello world hello hello"},
                    Case{"[MASK] [mask]", "[MASK] [ mask ]", "[MASK] [ mask ]"},
                    Case{"a[SEP]b", "a [SEP] [UNK]", "a [SEP] [UNK]"}, Case{"", "", ""}, Case{" \t ", "", ""}));

TEST(Tokenizer, MakesWordsOverAHundredCharactersUnknown) {
  auto t = tokenizer();
  EXPECT_EQ(t.pieces(std::string(100, 'x'))->size(), 100u);
  EXPECT_EQ(pieces(t, std::string(101, 'x') + " hello"), "[UNK] hello");
}

TEST(Tokenizer, CountsCharactersNotBytes) {
  std::string word;
  for (int i = 0; i < 100; ++i) word += "ß";
  EXPECT_EQ(pieces(tokenizer(), word), "[UNK]");  // the vocabulary has no ##ß
  EXPECT_THAT(*with_vocabulary("[CLS] [SEP] [PAD] [UNK] " + word).pieces(word), ElementsAre(4));
}

TEST(Tokenizer, DropsBytesThatAreNotUtf8) {
  EXPECT_EQ(pieces(tokenizer(), "he\xffllo \xc3 world\xe4\xb8"), "hello world");
  EXPECT_EQ(pieces(tokenizer(), "\xed\xa0\x80 hello \xf5\x80\x80\x80"), "hello");  // a surrogate; beyond Unicode
}

TEST(Tokenizer, StripsAccentsIndependentlyOfCaseWhereAsked) {
  EXPECT_EQ(pieces(tokenizer(R"({"do_lower_case":false,"strip_accents":true})"), "naïve Hello"), "naive [UNK]");
  EXPECT_EQ(pieces(tokenizer(R"({"strip_accents":false})"), "naïve Hello"), "[UNK] hello");
  EXPECT_EQ(pieces(tokenizer(R"({"tokenize_chinese_chars":false})"), "中文"), "[UNK]");
}

TEST(Tokenizer, EncodesWithSpecialTokensAndPadding) {
  auto e = tokenizer().encode("hello world", {.max_length = 8, .pad_to = 6});
  ASSERT_TRUE(e);
  EXPECT_THAT(e->ids, ElementsAre(2, 5, 6, 3, 0, 0));
  EXPECT_THAT(e->attention_mask, ElementsAre(1, 1, 1, 1, 0, 0));
  EXPECT_THAT(e->token_type_ids, Each(0));
  EXPECT_EQ(e->token_type_ids.size(), 6u);
  EXPECT_FALSE(e->truncated());
}

TEST(Tokenizer, CutsWhatIsTooLong) {
  auto e = tokenizer().encode("hello world hello world", {.max_length = 4});
  ASSERT_TRUE(e);
  EXPECT_THAT(e->ids, ElementsAre(2, 5, 6, 3));
  EXPECT_TRUE(e->truncated());
  EXPECT_EQ(e->tokens, 6);
  EXPECT_EQ(e->kept, 4);
  EXPECT_FALSE(tokenizer().encode("hello", {.max_length = 1}));
}

TEST(Tokenizer, TakesTheLongestMatchingSpecialToken) {
  auto t = with_vocabulary("[CLS] [SEP] [PAD] [UNK] a",
                           R"({"added_tokens_decoder":{"5":{"content":"<x>","special":true},)"
                           R"("6":{"content":"<x>y","special":true},"7":{"content":"<x>y<z>","special":true}}})");
  EXPECT_THAT(*t.pieces("a<x>a"), ElementsAre(4, 5, 4));
  EXPECT_THAT(*t.pieces("a<x>y<z>a"), ElementsAre(4, 7, 4));
  EXPECT_THAT(*t.pieces("<x>y<x>"), ElementsAre(6, 5));
}

TEST(Tokenizer, TakesTheLongestPieceFirst) {
  auto t = with_vocabulary("[CLS] [SEP] [PAD] [UNK] a ab ##b ##c ##bc");
  EXPECT_THAT(*t.pieces("abc"), ElementsAre(5, 7));
  EXPECT_THAT(*t.pieces("aabc"), ElementsAre(3)) << "there is no ##a";
  EXPECT_THAT(*t.pieces("b"), ElementsAre(3)) << "a continuation begins no word";
}

// The same vocabulary as tokenizer.json, with `change` replaced by `to`.
std::string tokenizer_json(const std::string& change = "", const std::string& to = "") {
  std::string vocabulary;
  auto all = tokens();
  for (size_t i = 0; i < all.size(); ++i) vocabulary += fmt::format("{}\"{}\":{}", i ? "," : "", all[i], i);
  std::string text =
      R"({"version":"1.0","added_tokens":[{"id":4,"content":"[MASK]","single_word":false,"lstrip":false,"rstrip":false,)"
      R"("normalized":false,"special":true}],"normalizer":{"type":"BertNormalizer","clean_text":true,)"
      R"("handle_chinese_chars":true,"strip_accents":null,"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},)"
      R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},)"
      R"({"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}}],)"
      R"("special_tokens":{"[CLS]":{"id":"[CLS]","ids":[2]},"[SEP]":{"id":"[SEP]","ids":[3]}}},)"
      R"("model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":5,)"
      R"("vocab":{)" +
      vocabulary + "}}}";
  if (!change.empty()) text.replace(text.find(change), change.size(), to);
  return text;
}

// Opened from tokenizer.json with that change, beside a tokenizer_config.json where there is a text for one.
Result<Tokenizer> opened(const std::string& change, const std::string& to, const std::string& config = "") {
  TextFiles texts{{"tokenizer.json", tokenizer_json(change, to)}};
  if (!config.empty()) texts["tokenizer_config.json"] = config;
  return Tokenizer::from_texts(texts);
}
std::string error_of(const std::string& change, const std::string& to, const std::string& config = "") {
  auto t = opened(change, to, config);
  return t ? "opened" : t.error().message;
}

TEST(PostProcessor, PutsItsTokensAroundAText) {
  auto t = opened("", "");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_THAT(t->encode("hello", {})->ids, ElementsAre(2, 5, 3));
  t = opened(R"({"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}})",
             R"({"SpecialToken":{"id":"[SEP]","type_id":1}},{"Sequence":{"id":"A","type_id":1}})");
  ASSERT_TRUE(t) << t.error().message;
  auto e = t->encode("hello world", {.max_length = 4, .pad_to = 5});
  EXPECT_THAT(e->ids, ElementsAre(2, 3, 5, 6, 0));
  EXPECT_THAT(e->token_type_ids, ElementsAre(0, 1, 1, 1, 0));
  t = opened(R"("[SEP]":{"id":"[SEP]","ids":[3]})", R"("[SEP]":{"id":"[SEP]","ids":[3,4]})");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_THAT(t->encode("hello", {})->ids, ElementsAre(2, 5, 3, 4));
}

constexpr const char* kTemplateBegin = R"("post_processor":{"type":"TemplateProcessing")";

TEST(PostProcessor, MayBeOneOfTheOlderForms) {
  for (const char* type : {"BertProcessing", "RobertaProcessing"}) {
    auto t = opened(kTemplateBegin,
                    fmt::format(R"("post_processor":{{"type":"{}","cls":["[MASK]",4],"sep":["[SEP]",3])", type));
    ASSERT_TRUE(t) << t.error().message;
    EXPECT_THAT(t->encode("hello", {})->ids, ElementsAre(4, 5, 3));
  }
  EXPECT_THAT(error_of(kTemplateBegin, R"("post_processor":{"type":"BertProcessing","cls":["[MASK]"])"),
              HasSubstr("field 'cls': got an array of 1, wanted a token and its id"));
}

TEST(PostProcessor, IsRefusedByNameWhereUnknown) {
  EXPECT_THAT(error_of(kTemplateBegin, R"("post_processor":{"type":"Bytes")"),
              HasSubstr("got the string 'Bytes', wanted one of 'TemplateProcessing', 'BertProcessing', "));
  EXPECT_THAT(error_of(R"("post_processor":{)", R"("post_processor":null,"before":{)"), HasSubstr("no post_processor"));
  EXPECT_THAT(error_of(R"({"Sequence":{"id":"A","type_id":0}},)", ""),
              HasSubstr("field 'single': got text A 0 times and B 0 times, wanted 1 and 0"));
  EXPECT_THAT(error_of(R"({"Sequence":{"id":"A")", R"({"Sequence":{"id":"B")"),
              HasSubstr("got text A 0 times and B 1 times"));
  EXPECT_THAT(error_of(R"("[SEP]":{"id")", R"("[SEQ]":{"id")"), HasSubstr("no field '[SEP]'"));
}

// transformers' BertTokenizer has the rules of words from tokenizer_config.json, or its own where that says nothing.
TEST(TokenizerConfig, DecidesOverTokenizerJson) {
  auto t = opened("", "", R"({"do_lower_case":false})");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(pieces(*t, "Hello"), "[UNK]");
  t = opened(R"("lowercase":true)", R"("lowercase":false)", R"({"model_max_length":512})");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(pieces(*t, "HELLO"), "hello");
  t = opened(R"("lowercase":true)", R"("lowercase":false)", R"({"tokenizer_class":"PreTrainedTokenizerFast"})");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(pieces(*t, "HELLO hello"), "[UNK] hello");
  t = opened(R"("lowercase":true)", R"("lowercase":false)");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(pieces(*t, "HELLO hello"), "[UNK] hello") << "without such a file tokenizer.json decides";
}

TEST(TokenizerConfig, NamesSpecialTokens) {
  auto t = tokenizer(R"({"cls_token":"[MASK]","sep_token":{"content":"!","lstrip":false}})");
  EXPECT_THAT(t.encode("hello", {})->ids, ElementsAre(4, 5, 13));
  t = tokenizer(R"({"added_tokens_decoder":{"6":{"content":"<new>","lstrip":false,"special":true}}})");
  EXPECT_EQ(pieces(t, "hello<new>"), "hello world");
  EXPECT_THAT(error_of("", "", R"({"added_tokens_decoder":{"x":{"content":"<new>"}}})"), HasSubstr("got 'x', wanted"));
}

TEST(TokenizerConfig, MayKeepTheEndOfALongText) {
  auto e = tokenizer(R"({"truncation_side":"left"})").encode("hello world naive", {.max_length = 4});
  ASSERT_TRUE(e);
  EXPECT_THAT(e->ids, ElementsAre(2, 6, 11, 3));
  EXPECT_TRUE(e->truncated());
}

TEST(SentenceConfig, IsRefusedWhereItWouldChangeCase) {
  TextFiles texts{{"vocab.txt", vocab_txt()}, {"sentence_bert_config.json", R"({"do_lower_case":true})"}};
  EXPECT_TRUE(Tokenizer::from_texts(texts));
  texts["tokenizer_config.json"] = R"({"do_lower_case":false})";
  auto cased = Tokenizer::from_texts(texts);
  ASSERT_FALSE(cased);
  EXPECT_THAT(cased.error().message, HasSubstr("'sentence_bert_config.json': got do_lower_case true"));
}

TEST(TokenizerFiles, ReadsTokenizerJsonBeforeVocabTxt) {
  TemporaryDirectory dir;
  dir.write("tokenizer.json", tokenizer_json());
  dir.write("vocab.txt", "nothing\n");
  dir.write("tokenizer_config.json", R"({"model_max_length":512})");
  auto t = Tokenizer::open(dir.path());
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(pieces(*t, "HELLO [MASK] worlds hello"), "hello [MASK] [UNK] hello");  // worlds: over 5 characters
  EXPECT_EQ(t->model_max_length(), 512);
}

TEST(TokenizerFiles, TakesAHugeMaximumLengthForNone) {
  EXPECT_EQ(tokenizer(R"({"model_max_length":1000000000000000019884624838656})").model_max_length(), std::nullopt);
}

TEST(TokenizerFiles, RefusesWhatItWouldTokenizeWrongly) {
  EXPECT_THAT(error_of("WordPiece", "Words"), HasSubstr("field 'type': got the string 'Words', wanted one of 'BPE', "));
  EXPECT_THAT(error_of("BertNormalizer", "NFX"), HasSubstr("'tokenizer.json: normalizer': field 'type': got the "));
  EXPECT_THAT(error_of("BertPreTokenizer", "Bert"), HasSubstr("pre_tokenizer': field 'type': got the string 'Bert'"));
  EXPECT_THAT(error_of("\"id\":4", "\"id\":5"), HasSubstr("token '[MASK]': got id 5, wanted 4"));
  EXPECT_THAT(error_of("\"ids\":[2]", "\"ids\":[2000]"), HasSubstr("token '[CLS]': got id 2000, which no token"));
  EXPECT_THAT(error_of("\"[UNK]\":1", "\"[UNX]\":1"), HasSubstr("field 'unk_token': got '[UNK]', wanted one of the"));
  EXPECT_THAT(error_of("\"hello\":5", "\"hello\":-5"), HasSubstr("field 'hello': got -5, wanted an integer from 0"));
  EXPECT_THAT(error_of("\"hello\":5", "\"world\":5"), HasSubstr("duplicate key 'world'"));
}

TEST(TokenizerFiles, SaysWhatADirectoryWithoutATokenizerLacks) {
  TemporaryDirectory dir;
  EXPECT_THAT(Tokenizer::open(dir.path()).error().message,
              HasSubstr("wanted tokenizer.json, vocab.txt, or vocab.json and merges.txt"));
  dir.write("vocab.txt", "hello\nworld\n");
  EXPECT_THAT(Tokenizer::open(dir.path()).error().message, HasSubstr("vocabulary of 2 tokens: no '[CLS]'"));
}

// A plan holds the file as JSON, which has no place for other bytes: they would come back as other tokens.
TEST(TokenizerFiles, RefusesAVocabularyThatIsNotUtf8) {
  TemporaryDirectory dir;
  dir.write("vocab.txt", vocab_txt() + "caf\xe9\n");
  EXPECT_THAT(Tokenizer::open(dir.path()).error().message, HasSubstr("/vocab.txt': not UTF-8"));
}

// Ids that the published tokenizer gives with the model's own vocabulary.
TEST(Tokenizer, GivesThePublishedIdsWithARealVocabulary) {
  const char* directory = std::getenv("RUNG_MODEL_DIR");
  if (!directory) GTEST_SKIP() << "RUNG_MODEL_DIR does not name a directory with the model's tokenizer";
  auto t = Tokenizer::open(directory);
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_THAT(t->encode("This is an example sentence", {})->ids, ElementsAre(101, 2023, 2003, 2019, 2742, 6251, 102));
  EXPECT_THAT(t->encode("Each sentence is converted", {})->ids, ElementsAre(101, 2169, 6251, 2003, 4991, 102));
  EXPECT_THAT(
      *t->pieces("Ünïcödé naïve résumé, 東京 — $5.00 don't [MASK] 😀"),
      ElementsAre(27260, 15743, 13746, 1010, 1879, 1755, 1517, 1002, 1019, 1012, 4002, 2123, 1005, 1056, 103, 100));
  EXPECT_THAT(*t->pieces("supercalifragilisticexpialidocious"),
              ElementsAre(3565, 9289, 10128, 29181, 24411, 4588, 10288, 19312, 21273, 10085, 6313));
}

}  // namespace
}  // namespace rung
