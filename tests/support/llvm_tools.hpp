// LLVM's assembler and disassembler of AMD code, where they are installed: the second opinion on what words mean.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/temporary_directory.hpp"

namespace rung::test {

inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (!pipe) return text;
  char part[4096];
  while (const size_t read = fread(part, 1, sizeof part, pipe)) text.append(part, read);
  pclose(pipe);
  return text;
}

inline bool have_llvm() {
  static const bool have =
      output_of("llvm-mc-22 --version && llvm-objdump-22 --version && clang++-22 --version").find("amdgcn") !=
      std::string::npos;
  return have;
}

inline std::string single_spaced(const std::string& text) {
  static const std::regex runs("\\s+");
  const std::string one = std::regex_replace(text, runs, " ");
  const size_t first = one.find_first_not_of(' ');
  return first == std::string::npos ? "" : one.substr(first, one.find_last_not_of(' ') - first + 1);
}

inline std::string byte_list(std::span<const uint32_t> words) {
  std::string text = "[";
  for (const uint32_t word : words)
    for (int byte = 0; byte < 4; ++byte) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "0x%02x ", word >> 8 * byte & 0xff);
      text += hex;
    }
  return text + "]\n";
}

// What llvm-mc prints of groups of words. A marker behind each, s_nop with its number, says which line is of which.
inline std::string print_groups(std::span<const std::vector<uint32_t>> groups, std::string_view target) {
  TemporaryDirectory directory;
  std::string input;
  for (size_t i = 0; i < groups.size(); ++i) {
    const uint32_t marker = 0xbf800000u | static_cast<uint32_t>(i);
    input += byte_list(groups[i]) + byte_list(std::span(&marker, 1));
  }
  const std::string path = directory.write("words", input);
  return output_of("llvm-mc-22 --disassemble --show-encoding --triple=amdgcn-amd-amdhsa --mcpu=" + std::string(target) +
                   " < " + path);
}

// The first instruction of each group, "" where there is none.
inline std::vector<std::string> disassemble_batch(std::span<const std::vector<uint32_t>> groups,
                                                  std::string_view target) {
  std::istringstream lines(print_groups(groups, target));
  std::vector<std::string> texts(1);
  for (std::string line; std::getline(lines, line);) {
    const size_t comment = line.find("; encoding: [");
    if (comment == std::string::npos) continue;
    char marker[64];
    const size_t group = texts.size() - 1;
    std::snprintf(marker, sizeof marker, "[0x%02zx,0x%02zx,0x80,0xbf]", group & 0xff, group >> 8);
    if (line.substr(comment + 12) == marker)
      texts.emplace_back();
    else if (texts.back().empty())
      texts.back() = single_spaced(line.substr(0, comment));
  }
  texts.resize(groups.size());
  return texts;
}

// By batches: llvm-mc-22 crashes at some words that are no instructions, and tells nothing of a batch with such.
inline std::vector<std::string> disassemble(const std::vector<std::vector<uint32_t>>& groups, std::string_view target) {
  constexpr size_t kBatch = 100;
  std::vector<std::string> texts;
  for (size_t first = 0; first < groups.size(); first += kBatch)
    for (std::string& text :
         disassemble_batch(std::span(groups).subspan(first, std::min(kBatch, groups.size() - first)), target))
      texts.push_back(std::move(text));
  return texts;
}

struct Listed {
  std::string text;
  std::vector<uint32_t> words;
};

// What llvm-objdump writes of a code object: a line is "\ttext // address: words <label>".
inline std::vector<Listed> list(const std::string& object, std::string_view target) {
  std::istringstream lines(
      output_of("llvm-objdump-22 -d --triple=amdgcn-amd-amdhsa --mcpu=" + std::string(target) + " " + object));
  static const std::regex form("\\s+(.*?)\\s*// [0-9A-F]{12}: ((?:[0-9A-F]{8} ?)+).*");
  std::vector<Listed> listing;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_match(line, match, form)) continue;
    Listed one{single_spaced(match[1]), {}};
    std::istringstream words(match[2]);
    for (std::string word; words >> word;) one.words.push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
    listing.push_back(one);
  }
  return listing;
}

inline std::vector<Listed> compile_and_list(const std::string& name, std::string_view target) {
  TemporaryDirectory directory;
  const std::string object = directory / "sample.co";
  output_of("clang++-22 -x hip --offload-arch=" + std::string(target) +
            " --offload-device-only -nogpulib -nogpuinc --no-gpu-bundle-output -mcode-object-version=5 -O3 -std=c++20 "
            "-o " +
            object + " " RUNG_TEST_DATA + name);
  return list(object, target);
}

}  // namespace rung::test
