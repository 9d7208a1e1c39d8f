// Sorts words of captured files into kept and left out.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/kept_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace rung::doctor {
namespace {

constexpr std::string_view kSettings[] = {"POLL",
                                          "C1_ACPI",
                                          "C2_ACPI",
                                          "C3_ACPI",
                                          "always",
                                          "madvise",
                                          "never",
                                          "performance",
                                          "powersave",
                                          "schedutil",
                                          "ondemand",
                                          "conservative",
                                          "userspace",
                                          "auto",
                                          "low",
                                          "high",
                                          "manual",
                                          "SPX",
                                          "DPX",
                                          "TPX",
                                          "QPX",
                                          "CPX",
                                          "NPS1",
                                          "NPS2",
                                          "NPS4",
                                          "NPS8",
                                          "Unknown",
                                          "GT/s",
                                          "PCIe",
                                          "max",
                                          "identity",
                                          "DMA",
                                          "DMA-FQ",
                                          "blocked",
                                          "unmanaged",
                                          "acs_control",
                                          "version",
                                          "Model",
                                          "model",
                                          "name",
                                          "size",
                                          "shm",
                                          "/dev/shm",
                                          "tmpfs",
                                          "iommu",
                                          "amd_iommu",
                                          "intel_iommu",
                                          "pt",
                                          "on",
                                          "off",
                                          "nopt",
                                          "soft",
                                          "force",
                                          "strict",
                                          "enable",
                                          "disable",
                                          "idle",
                                          "poll",
                                          "nomwait",
                                          "halt",
                                          "Y",
                                          "N",
                                          "generic",
                                          "azure",
                                          "aws",
                                          "gcp",
                                          "oracle",
                                          "kvm",
                                          "amd64",
                                          "x86_64",
                                          "usage_usec",
                                          "user_usec",
                                          "system_usec",
                                          "nr_periods",
                                          "nr_throttled",
                                          "throttled_usec",
                                          "nr_bursts",
                                          "burst_usec",
                                          "simd_count",
                                          "simd_per_cu",
                                          "num_xcc",
                                          "type",
                                          "node_from",
                                          "node_to",
                                          "gfx_target_version",
                                          "numa_balancing",
                                          "transparent_hugepage",
                                          "processor.max_cstate",
                                          "intel_idle.max_cstate",
                                          "profile_standard",
                                          "profile_min_sclk",
                                          "profile_min_mclk",
                                          "profile_peak",
                                          "perf_determinism",
                                          "Cpus_allowed_list",
                                          "Mems_allowed_list",
                                          "lowlatency",
                                          "rt",
                                          "nice_usec",
                                          "core_sched.force_idle_usec"};

constexpr std::string_view kProducts[] = {
    "Intel", "AMD",     "NVIDIA",     "Xeon",      "EPYC",     "Ryzen",       "Threadripper", "PRO",    "Core",
    "TM",    "R",       "CPU",        "Processor", "Platinum", "Gold",        "Silver",       "Bronze", "Max",
    "with",  "Radeon",  "Graphics",   "Instinct",  "Tesla",    "GeForce",     "Quadro",       "RTX",    "GTX",
    "TITAN", "Ada",     "Generation", "Laptop",    "GPU",      "SXM",         "NVL",          "PCIE",   "Super",
    "Ti",    "Grace",   "Hopper",     "Blackwell", "Server",   "Workstation", "Edition",      "ARM",    "Neoverse",
    "Ultra", "Opteron", "Athlon",     "GB",        "GHz"};

bool is_same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

template <size_t Size>
bool is_in(const std::string_view (&words)[Size], std::string_view word) {
  return std::ranges::any_of(words, [&](std::string_view known) { return is_same(known, word); });
}

bool all_of(std::string_view text, int (*is)(int)) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) { return is(static_cast<unsigned char>(c)) != 0; });
}

// Returns whether a word is a number: 12, 12.5, 9.4.2 and "6.8.0-45", "0-63", but no address of four numbers.
bool is_number(std::string_view word) {
  constexpr size_t kMostDigits = 20, kMostHexDigits = 8, kMostDots = 2;
  if (word.starts_with("0x")) return word.size() <= kMostHexDigits + 2 && all_of(word.substr(2), std::isxdigit);
  const auto is_part = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '-'; };
  return !word.empty() && word.size() <= kMostDigits && std::ranges::all_of(word, is_part) &&
         std::ranges::count(word, '.') <= static_cast<ptrdiff_t>(kMostDots);
}

// Returns whether a word is a size: 65536k, 16g, 2.10GHz.
bool is_size(std::string_view word) {
  const size_t digits = std::min(word.find_first_not_of("0123456789."), word.size());
  const std::string_view unit = word.substr(digits);
  constexpr std::string_view kUnits[] = {"k", "m", "g", "GB", "GHz", "MHz", "%"};
  return digits > 0 && is_number(word.substr(0, digits)) && is_in(kUnits, unit);
}

// Returns whether a word is an idle state of a processor: C6 and C1E.
bool is_idle_state(std::string_view word) {
  return word.size() >= 2 && word.size() <= 4 && word[0] == 'C' && std::isdigit(static_cast<unsigned char>(word[1]));
}

// Returns whether a word is a model: 8480C, MI300X, HBM3, i9.
bool is_model(std::string_view word) {
  constexpr size_t kMostLetters = 6;
  return word.size() <= kMostLetters && all_of(word, std::isalnum) &&
         std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c); });
}

// Returns the length of a "<text, 8 characters>" that begins a text, where an earlier capture left a word out; 0: none.
size_t length_of_mark(std::string_view text) {
  constexpr std::string_view kBegin = "<text, ", kEnd = " characters>";
  constexpr size_t kMostDigits = 6;
  if (!text.starts_with(kBegin)) return 0;
  const size_t end = std::min(text.find_first_not_of("0123456789", kBegin.size()), text.size());
  const size_t digits = end - kBegin.size();
  return digits > 0 && digits <= kMostDigits && text.substr(end).starts_with(kEnd) ? end + kEnd.size() : 0;
}

bool is_kept(std::string_view word, Vocabulary vocabulary) {
  if (!word.empty() && length_of_mark(word) == word.size()) return true;
  if (is_number(word) || is_size(word) || is_in(kSettings, word)) return true;
  if (vocabulary == Vocabulary::settings) return is_idle_state(word);
  return is_in(kProducts, word) || is_model(word);
}

// Returns a kept word, or its parts between hyphens where it keeps only some: 6.8.0-45-generic, 96-Core.
std::string kept(std::string_view word, Vocabulary vocabulary) {
  if (is_kept(word, vocabulary)) return std::string(word);
  // A serial number has several short words between hyphens.
  if (std::ranges::count(word, '-') > 1) vocabulary = Vocabulary::settings;
  std::string text;
  bool any = false;
  for (size_t begin = 0; begin <= word.size();) {
    const size_t end = std::min(word.find('-', begin), word.size());
    const std::string_view part = word.substr(begin, end - begin);
    const bool keep = is_kept(part, vocabulary);
    any = any || keep;
    text += fmt::format("{}{}", begin ? "-" : "",
                        keep ? std::string(part) : fmt::format("<text, {} characters>", part.size()));
    begin = end + 1;
  }
  return any ? text : fmt::format("<text, {} characters>", word.size());
}

// Returns whether words are separated here. A ':' is part of a word unless a blank follows it: addresses have it.
bool separates(std::string_view text, size_t at) {
  const char c = text[at];
  if (c == ':') return at + 1 == text.size() || std::isspace(static_cast<unsigned char>(text[at + 1]));
  return std::isspace(static_cast<unsigned char>(c)) || std::string_view("\"=,[]()").find(c) != std::string_view::npos;
}

}  // namespace

std::string kept_words(std::string_view text, Vocabulary vocabulary) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (separates(text, at) || text.substr(at) == "@" || text.substr(at).starts_with("@ ")) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && !separates(text, end)) end += std::max<size_t>(1, length_of_mark(text.substr(end)));
    out += kept(text.substr(at, end - at), vocabulary);
    at = end;
  }
  return out;
}

}  // namespace rung::doctor
