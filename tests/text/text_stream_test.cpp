// Text out of tokens that come one by one: what is certain comes at once, and the rest when it is.
// SPDX-License-Identifier: Apache-2.0
#include "text/text_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace rung {
namespace {

using StreamJson = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// A tokenizer of the given words, whose ids are their places, with a decoder.
Tokenizer tokenizer_of(const StreamJson& decoder, const std::vector<std::string>& words, bool cleans_up = false) {
  StreamJson vocabulary = StreamJson::object();
  for (size_t i = 0; i < words.size(); ++i) vocabulary[words[i]] = i;
  StreamJson description{{"model", {{"type", "WordLevel"}, {"unk_token", words[0]}, {"vocab", vocabulary}}},
                         {"added_tokens", {{{"id", words.size()}, {"content", "<end>"}, {"special", true}}}}};
  if (!decoder.is_null()) description["decoder"] = decoder;
  auto tokenizer = Tokenizer::from_texts(
      {{"tokenizer.json", description.dump()},
       {"tokenizer_config.json", StreamJson{{"clean_up_tokenization_spaces", cleans_up}}.dump()}});
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return *tokenizer;
}

// Returns what comes of each word, and at the end.
std::vector<std::string> pieces_of(const StreamJson& decoder, const std::vector<std::string>& words,
                                   bool cleans_up = false) {
  std::vector<std::string> names{"unknown"}, pieces;
  names.insert(names.end(), words.begin(), words.end());
  auto stream = tokenizer_of(decoder, names, cleans_up).stream();
  EXPECT_TRUE(stream) << stream.error().message;
  for (const std::string& word : words) {
    const auto place = std::find(names.begin(), names.end(), word) - names.begin();
    pieces.push_back(stream->add(place).value_or("error"));
  }
  pieces.push_back(stream->end().value_or("error"));
  return pieces;
}

TEST(TextStream, HoldsBytesOfUnfinishedCharactersBack) {
  const StreamJson bytes{{"type", "ByteLevel"}};
  EXPECT_THAT(pieces_of(bytes, {"a", "\u00f0\u0141", "\u013a", "\u0122b"}),
              ElementsAre("a", "", "", "\U0001f600b", ""));
  EXPECT_THAT(pieces_of(bytes, {"a", "\u00f0\u0141", "b"}), ElementsAre("a", "", "\ufffdb", ""));
  EXPECT_THAT(pieces_of(bytes, {"a", "\u00f0\u0141"}), ElementsAre("a", "", "\ufffd"));
}

TEST(TextStream, StripsTheBlankBeforeATextOnce) {
  const StreamJson llama = StreamJson::parse(
      R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},
          {"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})");
  EXPECT_THAT(pieces_of(llama, {"▁", "▁Hello", "▁there"}), ElementsAre("", " Hello", " there", ""));
  EXPECT_THAT(pieces_of(llama, {"▁a", "<0xC3>", "<0xA9>", "b"}), ElementsAre("a", "", "", "\u00e9b", ""));
  EXPECT_THAT(pieces_of(llama, {"▁a", "<0xC3>", "b"}), ElementsAre("a", "", "\ufffdb", ""));
  EXPECT_THAT(pieces_of(llama, {"▁a", "<0xC3>", "<0x41>"}), ElementsAre("a", "", "", "\ufffd\ufffd"));
}

TEST(TextStream, HoldsBlanksBackThatAnEndStrips) {
  const StreamJson strip = StreamJson::parse(
      R"({"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Strip","content":"_","start":0,"stop":2}]})");
  EXPECT_THAT(pieces_of(strip, {"a_", "__", "b", "_"}), ElementsAre("a", "_", "__b", "", ""));
}

TEST(TextStream, ReplacesAcrossTokensThatAreJoined) {
  const auto replace = [](const char* pattern) {
    return StreamJson::parse(
        std::string(R"({"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Replace","pattern":)") + pattern +
        R"(,"content":"-"}]})");
  };
  EXPECT_THAT(pieces_of(replace(R"({"String":"abc"})"), {"xa", "b", "c", "ab"}), ElementsAre("x", "", "-", "", "ab"));
  EXPECT_THAT(pieces_of(replace(R"({"Regex":"b+"})"), {"ab", "b", "c"}), ElementsAre("", "", "", "a-c"));
}

TEST(TextStream, JoinsPiecesOfWords) {
  EXPECT_THAT(pieces_of({{"type", "WordPiece"}}, {"un", "##able", "to", ".", "##."}),
              ElementsAre("un", "able", " to", ".", ".", ""));
  EXPECT_THAT(pieces_of({{"type", "Metaspace"}, {"replacement", "▁"}}, {"▁a", "▁b", "c"}),
              ElementsAre("a", " b", "c", ""));
  EXPECT_THAT(pieces_of(nullptr, {"a", "b"}), ElementsAre("a", " b", ""));
}

TEST(TextStream, KeepsTheLastEndOfAWordBack) {
  EXPECT_THAT(pieces_of({{"type", "BPEDecoder"}}, {"a</w>", "b", "c</w>"}), ElementsAre("", "a ", "b", "c"));
}

TEST(TextStream, HoldsBlanksBackThatCleaningDrops) {
  EXPECT_THAT(pieces_of(nullptr, {"it", "'s", "fine", ",", "i", "'", "m"}, /*cleans_up=*/true),
              ElementsAre("it", "'s", " fine", ",", " i", "", "'m", ""));
}

TEST(TextStream, LeavesSpecialTokensOutUnlessAsked) {
  const Tokenizer tokenizer = tokenizer_of({{"type", "WordPiece"}}, {"a", "b"});
  auto without = tokenizer.stream(), with = tokenizer.stream({.keeps_special = true});
  ASSERT_TRUE(without && with);
  EXPECT_EQ(without->add(2).value_or("error"), "");
  EXPECT_EQ(without->add(0).value_or("error"), "a");
  EXPECT_EQ(with->add(2).value_or("error"), "<end>");
  EXPECT_EQ(with->add(0).value_or("error"), " a");
}

TEST(TextStream, RefusesIdsWithoutATokenAndUnknownDecoders) {
  auto stream = tokenizer_of({{"type", "Fuse"}}, {"a"}).stream();
  ASSERT_TRUE(stream);
  EXPECT_THAT(stream->add(-1).error().message, HasSubstr("got id -1"));
  EXPECT_THAT(stream->add(9).error().message, HasSubstr("got id 9"));
  EXPECT_FALSE(tokenizer_of({{"type", "Other"}}, {"a"}).stream());
}

// Every text comes with its tokens, but for what a decoder has to wait for: bytes of a character, a blank before a
// mark, and bytes that stand for themselves.
TEST(TextStream, ComesWithItsTokensForEveryTokenizer) {
  const auto folder = std::filesystem::path(RUNG_TEST_DATA) / "tokenizers";
  size_t tokenizers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    const Tokenizer tokenizer = *Tokenizer::open(entry.path().string());
    const auto answers = read_json_file((entry.path() / "answers.json").string());
    ASSERT_TRUE(answers);
    const auto texts = answers->at("decoded").get<std::vector<std::string>>();
    for (size_t i = 0; i < texts.size(); ++i) {
      auto stream = tokenizer.stream();
      std::string text;
      size_t held = 0;
      for (const int64_t id : answers->at("ids")[i].get<std::vector<int64_t>>()) {
        const std::string more = stream->add(id).value_or("error");
        EXPECT_EQ(valid_utf8(more), more);
        text += more;
        EXPECT_TRUE(texts[i].starts_with(text)) << entry.path() << " text " << i;
        held = more.empty() ? held + 1 : 0;
        EXPECT_LT(held, 140U) << entry.path() << " text " << i;
      }
      EXPECT_EQ(text + stream->end().value_or("error"), texts[i]) << entry.path() << " text " << i;
    }
    ++tokenizers;
  }
  EXPECT_EQ(tokenizers, 19U);
}

// Returns what comes of each part, and at the end.
std::vector<std::string> stopped(const std::vector<std::string>& strings, const std::vector<std::string>& parts,
                                 std::optional<std::string> found) {
  auto stops = StopStrings::make(strings);
  EXPECT_TRUE(stops) << stops.error().message;
  std::vector<std::string> out;
  for (const std::string& part : parts) out.push_back(stops->add(part));
  out.push_back(stops->end());
  EXPECT_EQ(stops->found(), found);
  return out;
}

TEST(StopStrings, EndATextAcrossItsParts) {
  EXPECT_THAT(stopped({"</s>", "User:"}, {"Hi <", "/", "s> more", "and"}, "</s>"), ElementsAre("Hi ", "", "", "", ""));
  EXPECT_THAT(stopped({"</s>"}, {"a <", "b", "</", "s"}, std::nullopt), ElementsAre("a ", "<b", "", "", "</s"));
  EXPECT_THAT(stopped({}, {"a", "b"}, std::nullopt), ElementsAre("a", "b", ""));
}

TEST(StopStrings, TakeTheFirstEndAndTheLongest) {
  EXPECT_THAT(stopped({"b", "abc"}, {"xabc"}, "b"), ElementsAre("xa", ""));
  EXPECT_THAT(stopped({"b", "abc"}, {"xa", "bc"}, "b"), ElementsAre("x", "a", ""));
  EXPECT_THAT(stopped({"bc", "abc"}, {"xa", "bc"}, "abc"), ElementsAre("x", "", ""));
  EXPECT_THAT(stopped({"aab"}, {"aa", "ab"}, "aab"), ElementsAre("", "a", ""));
}

TEST(StopStrings, AreNotEmpty) {
  const auto stops = StopStrings::make({"a", ""});
  ASSERT_FALSE(stops);
  EXPECT_EQ(stops.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace rung
