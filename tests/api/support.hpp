// A sentence encoder small enough for the repository: the tests' BERT with a vocabulary of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "support/temporary_directory.hpp"

namespace rung {

// The words "a" to "z" stand for themselves.
inline void make_encoder(const TemporaryDirectory& directory) {
  std::filesystem::copy(std::string(RUNG_TEST_DATA) + "/bert_tiny", directory.path(),
                        std::filesystem::copy_options::recursive);
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) vocabulary += std::string(1, letter) + "\n";
  directory.write("vocab.txt", vocabulary);
}

}  // namespace rung
