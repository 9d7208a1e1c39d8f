// Any bytes as text: valid ids within the length asked for.
// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.hpp"
#include "seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  rung::write_seeds(*argc, *argv, {"hello worlds!", "na\xc3\xafve [MASK] \xe4\xb8\xad\xe6\x96\x87", "a\xff\xc3"});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  static const Tokenizer tokenizer = *Tokenizer::make({
      .vocabulary =
          {{"[PAD]", 0}, {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}, {"[MASK]", 4}, {"hello", 5}, {"##s", 6}, {"a", 7}},
      .special = {{"[MASK]", 4}, {"[SEP]", 3}},
  });
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto one = tokenizer.encode(text, {.max_length = 16, .pad_to = 16});
  auto cut = tokenizer.encode(text, {.max_length = 9});
  require(one && one->ids.size() == 16, "padded to the length");
  require(cut && cut->ids.size() <= 9, "cut to the length");
  for (int64_t id : one->ids) require(id >= 0 && id < 8, "an id of the vocabulary");
  return 0;
}
