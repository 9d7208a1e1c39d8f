// Builds the words of shell commands.
// SPDX-License-Identifier: Apache-2.0
#include "report/commands.hpp"

#include <cmath>
#include <sstream>

#include "kernels/device_word.hpp"
#include "report/format.hpp"

namespace rung::report {
namespace {

// Turns "input_ids=i64[1,128]" into " --shape input_ids=1,128"; the input that `other` names gets the shape of `other`.
std::string shape_options(const std::string& shapes, const std::string& other) {
  std::istringstream words(shapes);
  std::string out;
  for (std::string word; words >> word;) {
    size_t equals = word.find('='), open = word.find('[', equals), close = word.rfind(']');
    if (equals == std::string::npos || open == std::string::npos || close == std::string::npos || close < open)
      continue;
    const std::string name = word.substr(0, equals + 1), shape = word.substr(open + 1, close - open - 1);
    out += " --shape " + quoted(other.starts_with(name) ? other : name + shape);
  }
  return out;
}

// bf16 is opt-in: `tried` says that it was requested, `kept` that the recipe has it.
struct LowPrecision {
  bool tried = false, kept = false;
};

// A climb with a stated error has no --dtype: its recipe says the types.
LowPrecision low_precision(const ClimbResult& result) {
  if (result.precision_search.is_stated()) return {};
  LowPrecision found{.tried = result.precision == "bf16", .kept = result.precision == "bf16"};
  for (const Receipt& rung : result.rungs) {
    if (rung.name.find("precision") == std::string::npos) continue;
    found.tried = true;
    found.kept = found.kept || rung.accepted;
  }
  return found;
}

std::string goal_words(const PrecisionReport& search) {
  std::string words;
  const auto add = [&](std::string_view option, double limit) {
    if (!std::isnan(limit)) words += fmt::format(" {} {}", option, limit);
  };
  add("--error", search.limit_rel_l2), add("--cosine", search.limit_cosine), add("--kl", search.limit_kl);
  return words;
}

}  // namespace

std::string quoted(const std::string& text) {
  bool plain = !text.empty() && text.find_first_not_of(
                                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_-./=:,[]+") == std::string::npos;
  if (plain && text[0] != '-' && text.find('[') == std::string::npos) return text;
  std::string out = "'";
  for (char c : printable(text)) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string subject_words(const ClimbResult& result, const Changed& changed) {
  std::string words = quoted(result.model) + " --device " + quoted(std::string(kind_of_fingerprint(result.device)));
  const int threads = changed.threads > 0 ? changed.threads : result.threads;
  if (result.threads > 0) words += " --threads " + count(threads);
  return words + shape_options(result.shapes, changed.shape);
}

std::string subject_words(const ClimbResult& result) { return subject_words(result, {}); }

std::string dtype_words(const ClimbResult& result) { return low_precision(result).tried ? " --dtype bf16" : ""; }

std::string kept_dtype_words(const ClimbResult& result) { return low_precision(result).kept ? " --dtype bf16" : ""; }

std::string recipe_words(const ClimbResult& result) {
  const LowPrecision low = low_precision(result);
  const std::string dtype = !low.tried ? "" : low.kept ? " --dtype bf16" : " --dtype f32";
  return dtype + " --recipe recipe.json";
}

std::string climb_command(const ClimbResult& result) {
  return "rung climb " + subject_words(result) + dtype_words(result) + goal_words(result.precision_search);
}

}  // namespace rung::report
