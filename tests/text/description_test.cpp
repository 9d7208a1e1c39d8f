// Descriptions written by hand: what parts do that trained tokenizers do not show, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "text/cut.hpp"
#include "text/span.hpp"
#include "text/tokenizer.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

Json words() { return {{"type", "WordLevel"}, {"vocab", {{"a", 0}, {"b", 1}, {"<u>", 2}}}, {"unk_token", "<u>"}}; }

Json token(int64_t id, const std::string& content, const std::vector<std::string>& options = {}) {
  Json token{{"id", id}, {"content", content}, {"special", true}, {"normalized", false}};
  for (const auto& option : options) token[option] = true;
  return token;
}

Result<Tokenizer> opened(const Json& description, const std::string& config = "{}") {
  return Tokenizer::from_texts({{"tokenizer.json", description.dump()}, {"tokenizer_config.json", config}});
}
std::string error_of(const Json& description, const std::string& config = "{}") {
  const auto tokenizer = opened(description, config);
  return tokenizer ? "opened" : tokenizer.error().message;
}
std::vector<int64_t> ids(const Json& description, std::string_view text) {
  const auto tokenizer = opened(description);
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  const auto pieces = tokenizer->pieces(text);
  EXPECT_TRUE(pieces) << pieces.error().message;
  return *pieces;
}
Json with_split(const Json& pre_tokenizer) { return {{"model", words()}, {"pre_tokenizer", pre_tokenizer}}; }

TEST(Descriptions, NameThePartThatIsWrong) {
  EXPECT_THAT(error_of(with_split(
                  {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Whitespace"}}, {{"type", "Letters"}}}}})),
              HasSubstr("'tokenizer.json: pre_tokenizer: pretokenizers[1]': field 'type': got the string 'Letters', "
                        "wanted one of 'Sequence', 'BertPreTokenizer', "));
  EXPECT_THAT(error_of(with_split({{"type", "Split"}, {"pattern", {{"Regex", "("}}}, {"behavior", "Isolated"}})),
              HasSubstr("'tokenizer.json: pre_tokenizer: pattern': got '('"));
  EXPECT_THAT(error_of(with_split({{"type", "Split"}, {"pattern", {{"String", ""}}}, {"behavior", "Isolated"}})),
              HasSubstr("got an empty string"));
  EXPECT_THAT(error_of(with_split({{"type", "Metaspace"}, {"replacement", "ab"}})), HasSubstr("wanted one character"));
  EXPECT_THAT(
      error_of(with_split(
          {{"type", "Metaspace"}, {"replacement", "_"}, {"add_prefix_space", false}, {"prepend_scheme", "first"}})),
      HasSubstr("got prepend_scheme 'first' with add_prefix_space false"));
  EXPECT_THAT(error_of(with_split({{"type", "CharDelimiterSplit"}, {"delimiter", ""}})), HasSubstr("one character"));
  EXPECT_THAT(error_of(Json::array()), HasSubstr("'tokenizer.json': got an array of 0, wanted an object"));
  EXPECT_THAT(error_of({{"model", nullptr}}), HasSubstr("no field 'model'"));
}

TEST(Descriptions, OfTooDeepNestingAreRefused) {
  Json nested{{"type", "Whitespace"}};
  for (int i = 0; i < 100; ++i) nested = {{"type", "Sequence"}, {"pretokenizers", Json::array({nested})}};
  EXPECT_THAT(error_of(with_split(nested)), HasSubstr("nest"));
}

TEST(Splits, KeepWhatOlderFilesSayOfBlanks) {
  Json description = with_split({{"type", "Metaspace"}, {"replacement", "_"}, {"add_prefix_space", false}});
  description["model"]["vocab"] = {{"a", 0}, {"_b", 1}, {"<u>", 2}};
  EXPECT_THAT(ids(description, "a b"), ElementsAre(0, 1));
}

TEST(Splits, ByFixedLengthCountCharacters) {
  EXPECT_THAT(ids(with_split({{"type", "FixedLength"}, {"length", 1}}), "a\u00e9b"), ElementsAre(0, 2, 1));
}

std::vector<std::pair<size_t, size_t>> arranged(text::Behaviour behaviour) {
  std::vector<std::pair<size_t, size_t>> out;
  for (const auto& span : text::arranged(
           {{0, 1, true}, {1, 2, false}, {2, 3, true}, {3, 4, true}, {4, 5, false}, {5, 6, true}}, behaviour))
    out.emplace_back(span.begin, span.end);
  return out;
}

TEST(Splits, ArrangeMatchesByTheirBehaviour) {
  using P = std::pair<size_t, size_t>;
  EXPECT_THAT(arranged(text::Behaviour::removed), ElementsAre(P(1, 2), P(4, 5)));
  EXPECT_THAT(arranged(text::Behaviour::contiguous), ElementsAre(P(0, 1), P(1, 2), P(2, 4), P(4, 5), P(5, 6)));
  EXPECT_THAT(arranged(text::Behaviour::merged_with_previous), ElementsAre(P(0, 1), P(1, 3), P(3, 4), P(4, 6)));
  EXPECT_THAT(arranged(text::Behaviour::merged_with_next), ElementsAre(P(0, 2), P(2, 3), P(3, 5), P(5, 6)));
}

TEST(AddedTokens, TakeWhiteSpaceBesideThem) {
  Json description = with_split({{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "Isolated"}});
  description["added_tokens"] = {token(3, "<l>", {"lstrip"}), token(4, "<r>", {"rstrip"})};
  EXPECT_THAT(ids(description, "a  <l> b"), ElementsAre(0, 3, 2, 1));
  EXPECT_THAT(ids(description, "a <r>\t\u3000b"), ElementsAre(0, 2, 4, 1));
}

TEST(AddedTokens, MatchWholeWordsAlone) {
  Json description = with_split({{"type", "WhitespaceSplit"}});
  description["added_tokens"] = {token(3, "key", {"single_word"})};
  EXPECT_THAT(ids(description, "key a-key, key."), ElementsAre(3, 2, 3, 2, 3, 2));
  EXPECT_THAT(ids(description, "keys a_key \u0915\u093ekey key\u0301"), ElementsAre(2, 2, 2, 2));
}

TEST(AddedTokens, OutsideOfTheVocabularyHaveTheirOwnIds) {
  Json description{{"model", words()}, {"added_tokens", {token(7, "<x>")}}};
  EXPECT_THAT(ids(description, "a<x>"), ElementsAre(0, 7));
  EXPECT_EQ(*opened(description)->decode(std::vector<int64_t>{0, 7, 1}), "a b");
  EXPECT_THAT(error_of({{"model", words()}, {"added_tokens", {token(-1, "<x>")}}}), HasSubstr("got -1, wanted an int"));
  EXPECT_THAT(error_of({{"model", words()}, {"added_tokens", {token(3, "")}}}), HasSubstr("got an empty token"));
}

Json bpe(const std::string& merges) {
  return {{"model",
           {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}, {"aba", 3}}}, {"merges", Json::parse(merges)}}}};
}

TEST(Bpe, ReadsMergesAsTextsAndAsPairs) {
  EXPECT_THAT(ids(bpe(R"(["a b","ab a"])"), "abab"), ElementsAre(2, 2));
  EXPECT_THAT(ids(bpe(R"([["a","b"],["ab","a"]])"), "aba"), ElementsAre(3));
  EXPECT_THAT(ids(bpe(R"(["a b"])"), "axb"), ElementsAre(2))
      << "without a token for it, an unknown character is dropped";
}

TEST(Bpe, RefusesMergesOfUnknownTokens) {
  EXPECT_THAT(error_of(bpe(R"(["a b","b a"])")), HasSubstr("merges[1]: token 'ba' is not in the vocabulary"));
  EXPECT_THAT(error_of(bpe(R"(["a b c"])")), HasSubstr("merges[0]: got the string 'a b c', wanted two tokens"));
  EXPECT_THAT(error_of(bpe(R"([["a"]])")), HasSubstr("merges[0]: got an array of 1, wanted two tokens"));
  Json dropping = bpe(R"(["a b"])");
  dropping["model"]["dropout"] = 0.1;
  EXPECT_THAT(error_of(dropping), HasSubstr("got dropout 0.1"));
}

Json unigram(const std::string& vocabulary) {
  return {{"model", {{"type", "Unigram"}, {"vocab", Json::parse(vocabulary)}}}};
}

TEST(Unigram, RefusesWhatIsNoVocabularyOfScores) {
  EXPECT_THAT(error_of(unigram("[]")), HasSubstr("wanted pairs of a token and its score"));
  EXPECT_THAT(error_of(unigram(R"([["a","x"]])")), HasSubstr("vocab[0]: got an array of 2"));
  Json outside = unigram(R"([["a",-1]])");
  outside["model"]["unk_id"] = 1;
  EXPECT_THAT(error_of(outside), HasSubstr("field 'unk_id': got 1, wanted an integer from 0 to 0"));
}

TEST(Unigram, TakesTheLongestTokenOfEqualScores) {
  EXPECT_THAT(ids(unigram(R"([["a",-1],["b",-1],["ab",-2]])"), "ab"), ElementsAre(2));
}

TEST(Unigram, SaysWhichCharacterItDoesNotKnow) {
  const auto tokenizer = opened(unigram(R"([["a",-1]])"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(tokenizer->pieces("a\u4e2d").error().message, HasSubstr("'\u4e2d' is in no token"));
}

TEST(WordLevel, SaysWhichWordItDoesNotKnow) {
  const auto tokenizer = opened({{"model", {{"type", "WordLevel"}, {"vocab", {{"a", 0}}}}}});
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(tokenizer->pieces("ab").error().message, HasSubstr("the word 'ab' is not in the vocabulary"));
}

// A map whose only unit sends every byte far away.
TEST(Precompiled, SurvivesADamagedTrie) {
  const auto with_map = [](const std::string& map) {
    return Json{{"model", words()}, {"normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", map}}}};
  };
  EXPECT_THAT(ids(with_map("BAAAAP////8="), "a"), ElementsAre(0));
  EXPECT_THAT(ids(with_map(""), "a"), ElementsAre(0));
  EXPECT_THAT(error_of(with_map("BAAA")), HasSubstr("got 3 bytes, wanted a map"));
  EXPECT_THAT(error_of(with_map("CAAAAP////8=")), HasSubstr("its trie has 8 bytes of 4"));
  EXPECT_THAT(error_of(with_map("AAAAAAAA")), HasSubstr("its trie has 0 bytes"));
  EXPECT_THAT(error_of(with_map("a")), HasSubstr("got 1 characters, wanted a multiple of four"));
  EXPECT_THAT(error_of(with_map("a?==")), HasSubstr("byte 1 is not Base64"));
}

TEST(Pairs, AreCutWhereTheyAreLonger) {
  using P = std::pair<size_t, size_t>;
  EXPECT_EQ(text::kept_of_pair(3, 4, 7), P(3, 4));
  EXPECT_EQ(text::kept_of_pair(2, 9, 6), P(2, 4));
  EXPECT_EQ(text::kept_of_pair(9, 2, 6), P(4, 2));
  EXPECT_EQ(text::kept_of_pair(9, 8, 7), P(4, 3));
  EXPECT_EQ(text::kept_of_pair(8, 9, 7), P(3, 4));
  EXPECT_EQ(text::kept_of_pair(9, 9, 0), P(0, 0));
}

TEST(Pairs, NeedATemplate) {
  const Json text = {{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}};
  const auto tokenizer = opened(
      {{"model", words()},
       {"pre_tokenizer", {{"type", "Whitespace"}}},
       {"post_processor", {{"type", "TemplateProcessing"}, {"single", text}, {"special_tokens", Json::object()}}}});
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(tokenizer->encode(TextPair{"a", "b"}, {}).error().message, HasSubstr("no template for two texts"));
  const auto bare = opened({{"model", words()}})->encode(TextPair{"a", "b"}, {});
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_THAT(bare->ids, ElementsAre(0, 1));
  EXPECT_THAT(bare->token_type_ids, ElementsAre(0, 1));
}

TEST(Padding, StandsOnTheSideThatTheFilesSay) {
  const auto padded = [](const Json& description, const std::string& config) {
    const auto tokenizer = opened(description, config);
    EXPECT_TRUE(tokenizer) << tokenizer.error().message;
    return tokenizer->encode("a", {.pad_to = 3});
  };
  const Json description{{"model", words()}};
  EXPECT_THAT(padded(description, R"({"pad_token":"b"})")->ids, ElementsAre(0, 1, 1));
  const auto left = padded(description, R"({"pad_token":"b","padding_side":"left"})");
  EXPECT_THAT(left->ids, ElementsAre(1, 1, 0));
  EXPECT_THAT(left->attention_mask, ElementsAre(0, 0, 1));
  Json own = description;
  own["padding"] = {{"direction", "Left"}, {"pad_id", 2}, {"pad_type_id", 1}};
  EXPECT_THAT(padded(own, "{}")->token_type_ids, ElementsAre(1, 1, 0));
  EXPECT_THAT(padded(own, "{}")->ids, ElementsAre(2, 2, 0));
  EXPECT_THAT(padded(description, "{}").error().message,
              HasSubstr("names no pad_token, and a text of 1 tokens must be filled up to 3"));
  EXPECT_THAT(error_of(description, R"({"pad_token":"<pad>"})"), HasSubstr("field 'pad_token': got '<pad>'"));
}

TEST(Truncation, KeepsTheSideThatTheFilesSay) {
  Json description = with_split({{"type", "Whitespace"}});
  description["truncation"] = {{"direction", "Left"}, {"max_length", 1}};
  EXPECT_THAT(opened(description)->encode("a b", {.max_length = 1})->ids, ElementsAre(1));
  EXPECT_THAT(opened(description, R"({"truncation_side":"right"})")->encode("a b", {.max_length = 1})->ids,
              ElementsAre(0));
}

TEST(Decoding, SaysWhatItDoesNotKnow) {
  Json description{{"model", words()}, {"decoder", {{"type", "Morse"}}}};
  const auto tokenizer = opened(description);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(tokenizer->decode(std::vector<int64_t>{0}).error().message, HasSubstr("decoder': field 'type': got"));
  description.erase("decoder");
  EXPECT_THAT(opened(description)->decode(std::vector<int64_t>{9}).error().message, HasSubstr("got id 9, which no"));
  EXPECT_EQ(*opened(description)->decode(std::vector<int64_t>{0, 1}), "a b");
}

Json sentence(const char* type) {
  Json vocabulary{{"it", 0}, {"'s", 1}, {",", 2}, {"ok", 3}, {"do", 4}, {"not", 5}};
  Json model{{"type", type}, {"vocab", vocabulary}, {"unk_token", "it"}};
  if (std::string_view(type) == "BPE") model["merges"] = Json::array();
  return {{"model", model}};
}

TEST(Decoding, CleansUpAsTheFilesSay) {
  const std::vector<int64_t> ids{0, 1, 2, 3, 4, 5};
  const auto words = opened(sentence("WordLevel"));
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(*words->decode(ids), "it 's , ok do not");
  EXPECT_EQ(*words->decode(ids, {.cleans_up = true}), "it's, ok do not");
  const auto cleans = opened(sentence("WordLevel"), R"({"clean_up_tokenization_spaces":true})");
  EXPECT_EQ(*cleans->decode(ids), "it's, ok do not");
  EXPECT_EQ(*cleans->decode(ids, {.cleans_up = false}), "it 's , ok do not");
}
TEST(Decoding, LeavesBlanksOfABpeModel) {
  const auto pairs = opened(sentence("BPE"), R"({"clean_up_tokenization_spaces":true})");
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_EQ(*pairs->decode(std::vector<int64_t>{0, 1}), "it 's");
}
TEST(Decoding, HearsRepeatedLettersOnce) {
  Json description{
      {"model", {{"type", "WordLevel"}, {"vocab", {{"<pad>", 0}, {"|", 1}, {"a", 2}, {"b", 3}}}, {"unk_token", "a"}}},
      {"decoder", {{"type", "CTC"}}}};
  EXPECT_EQ(*opened(description)->decode(std::vector<int64_t>{2, 2, 0, 2, 1, 1, 3, 3, 0}), "aa b");
  description["decoder"]["pad_token"] = "";
  EXPECT_THAT(opened(description)->decode(std::vector<int64_t>{2}).error().message, HasSubstr("an empty pad_token"));
}

TEST(OlderFiles, OfBytesAreReadByTheirClass) {
  TextFiles texts{{"vocab.json", R"({"<s>":0,"<pad>":1,"</s>":2,"a":3,"\u0120":4,"b":5,"\u0120b":6,"<mask>":7})"},
                  {"merges.txt", "#version: 0.2\n\u0120 b\n"}};
  auto roberta = Tokenizer::from_texts(texts);
  ASSERT_TRUE(roberta) << roberta.error().message;
  EXPECT_THAT(roberta->encode("a b", {.pad_to = 6})->ids, ElementsAre(0, 3, 6, 2, 1, 1));
  EXPECT_THAT(*roberta->pieces("a <mask>b</s>"), ElementsAre(3, 7, 5, 2));
  texts["tokenizer_config.json"] = R"({"tokenizer_class":"GPT2Tokenizer","add_prefix_space":true})";
  auto gpt2 = Tokenizer::from_texts(texts);
  ASSERT_TRUE(gpt2) << gpt2.error().message;
  EXPECT_THAT(gpt2->encode("b b", {})->ids, ElementsAre(6, 6));
  EXPECT_EQ(*gpt2->decode(std::vector<int64_t>{3, 6}), "a b");
  texts["tokenizer_config.json"] = R"({"tokenizer_class":"CLIPTokenizer"})";
  EXPECT_THAT(Tokenizer::from_texts(texts).error().message, HasSubstr("got 'CLIPTokenizer' with vocab.json"));
}

}  // namespace
}  // namespace rung
