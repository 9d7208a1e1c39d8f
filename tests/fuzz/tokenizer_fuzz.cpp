// Any bytes as tokenizer.json and, behind a NUL, a text: an error, or ids within the length asked for.
// SPDX-License-Identifier: Apache-2.0
#include "seeds.hpp"
#include "text/tokenizer.hpp"

namespace {

constexpr const char* kBert =
    R"({"added_tokens":[{"id":4,"content":"[MASK]","special":true},{"id":3,"content":"[SEP]","lstrip":true,)"
    R"("rstrip":true,"single_word":true,"normalized":true}],"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":)"
    R"({"type":"BertPreTokenizer"},"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]",)"
    R"("type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":)"
    R"({"id":"B","type_id":1}}],"special_tokens":{"[CLS]":{"id":"[CLS]","ids":[2]}}},"decoder":{"type":"WordPiece"},)"
    R"("model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"[MASK]":4,)"
    R"("hello":5,"##s":6,"a":7}}})";
constexpr const char* kBytes =
    R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\s+(?!\\S)|\\p{N}{1,3}+"},)"
    R"("behavior":"MergedWithNext","invert":true},{"type":"ByteLevel","use_regex":true},{"type":"Digits"}]},)"
    R"("decoder":{"type":"ByteLevel"},"model":{"type":"BPE","unk_token":"a","byte_fallback":true,"fuse_unk":true,)"
    R"("continuing_subword_prefix":"#","end_of_word_suffix":"@","vocab":{"a":0,"#b":1,"ab":2,"<0x41>":3},)"
    R"("merges":["a #b"]}})";
constexpr const char* kScores =
    R"({"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled","precompiled_charsmap":"BAAAAP////8="},)"
    R"({"type":"NFKC"},{"type":"Nmt"},{"type":"Strip"},{"type":"Replace","pattern":{"String":"b"},"content":""},)"
    R"({"type":"StripAccents"},{"type":"Lowercase"},{"type":"Prepend","prepend":"_"}]},"pre_tokenizer":{"type":"Metaspace",)"
    R"("replacement":"_","prepend_scheme":"first"},"padding":{"pad_id":0},"decoder":{"type":"Sequence","decoders":[)"
    R"({"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":"_","start":1,"stop":1}]},"model":{"type":)"
    R"("Unigram","unk_id":0,"vocab":[["a",-1],["_",-2.5],["_a",-0.5]]}})";

// Checks what an encoding promises.
void check(const rung::Tokenizer& tokenizer, std::string_view text) {
  using rung::require;
  constexpr size_t length = 16;
  const auto padded = tokenizer.encode(text, {.max_length = length, .pad_to = length});
  if (padded) require(padded->ids.size() == length, "padded to the length");
  const auto pair = tokenizer.encode(rung::TextPair{text, "a b"}, {.max_length = length});
  if (pair) require(pair->ids.size() <= length && pair->kept <= pair->tokens, "cut to the length");
  const auto ids = tokenizer.pieces(text);
  if (!ids) return;
  const auto decoded = tokenizer.decode(*ids, {.keeps_special = true, .cleans_up = true});
  require(decoded || decoded.error().message.find("got id") == std::string::npos, "ids that have tokens");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::vector<std::string> seeds;
  for (const char* description : {kBert, kBytes, kScores})
    for (const char* text : {"hello worlds! [MASK]a", "na\xc3\xafve 1234567 \xe4\xb8\xad\xe6\x96\x87", "a\xff\xc3 _ab"})
      seeds.push_back(std::string(description).append(1, '\0') + text);
  rung::write_seeds(*argc, *argv, seeds);
  return 0;
}

// Without a NUL all is a text, for tokenizers that are sound.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rung::Tokenizer;
  static const Tokenizer sound[] = {*Tokenizer::from_texts({{"tokenizer.json", kBert}}),
                                    *Tokenizer::from_texts({{"tokenizer.json", kBytes}}),
                                    *Tokenizer::from_texts({{"tokenizer.json", kScores}})};
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\0');
  if (end == std::string_view::npos) {
    for (const Tokenizer& tokenizer : sound) check(tokenizer, input);
    return 0;
  }
  const auto tokenizer = Tokenizer::from_texts({{"tokenizer.json", std::string(input.substr(0, end))}});
  if (tokenizer) check(*tokenizer, input.substr(end + 1));
  return 0;
}
