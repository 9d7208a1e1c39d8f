// SentencePiece's model: of all ways to write a word as tokens, the one with the best sum of scores.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "text/models/model.hpp"
#include "text/trie.hpp"
#include "text/unicode.hpp"

namespace rung::text {
namespace {

// An unknown character's score lies this far below that of the worst token.
constexpr double kUnknownPenalty = 10.0;

struct ScoredToken {
  std::string text;
  double score = 0;
};

struct UnigramSettings {
  std::optional<int64_t> unknown;
  bool byte_fallback = false;
};

Trie trie_of_scored(const std::vector<ScoredToken>& tokens) {
  std::vector<std::pair<std::string_view, uint32_t>> keys;
  for (size_t id = 0; id < tokens.size(); ++id) keys.emplace_back(tokens[id].text, static_cast<uint32_t>(id));
  return Trie(std::move(keys));
}

Vocabulary vocabulary_of(const std::vector<ScoredToken>& tokens) {
  Vocabulary vocabulary;
  for (size_t id = 0; id < tokens.size(); ++id) vocabulary.add(tokens[id].text, static_cast<int64_t>(id));
  return vocabulary;
}

class Unigram : public TokenModel {
 public:
  Unigram(std::vector<ScoredToken> tokens, UnigramSettings settings)
      : TokenModel(vocabulary_of(tokens)), settings_(settings), trie_(trie_of_scored(tokens)) {
    double worst = std::numeric_limits<double>::infinity();
    for (const ScoredToken& token : tokens) {
      scores_.push_back(token.score);
      worst = std::min(worst, token.score);
    }
    unknown_score_ = worst - kUnknownPenalty;
  }

  Status add_ids(std::string_view word, Ids& ids) const override {
    RUNG_TRY(const std::vector<Step> steps, best_steps(word));
    std::vector<Part> parts;  // from the last to the first
    for (size_t end = word.size(); end > 0; end = steps[end].begin) {
      const bool known = !is_unknown(steps[end].id);
      if (!known && !parts.empty() && !parts.back().known)
        parts.back().begin = steps[end].begin;
      else
        parts.push_back({steps[end].begin, end, known, steps[end].id});
    }
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) add_part(*part, word, ids);
    return {};
  }

 private:
  // The best way to an end of a token: the token's begin and id, and the sum of scores up to there.
  struct Step {
    double score = 0;
    size_t begin = 0;
    uint32_t id = Trie::kNone;
    bool reached = false;
  };
  // A token, or a run of characters that are no tokens.
  struct Part {
    size_t begin, end;
    bool known;
    uint32_t id;
  };

  bool is_unknown(uint32_t id) const { return settings_.unknown && id == *settings_.unknown; }

  static void offer(Step& step, const Step& other) {
    if (!step.reached || other.score > step.score) step = other;
  }

  Result<std::vector<Step>> best_steps(std::string_view word) const {
    std::vector<Step> steps(word.size() + 1);
    for (size_t begin = 0; begin < word.size(); begin += bytes_of_character(word[begin])) {
      const double here = steps[begin].score;
      const size_t one = bytes_of_character(word[begin]);
      bool has_one = false;  // whether the character alone is a token
      uint32_t node = Trie::root();
      for (size_t end = begin; end < word.size();) {
        node = trie_.next(node, word[end]);
        if (node == Trie::kNone) break;
        ++end;
        const uint32_t id = trie_.value(node);
        if (id == Trie::kNone) continue;
        offer(steps[end], {scores_[id] + here, begin, id, true});
        has_one |= end - begin == one;
      }
      if (has_one) continue;
      if (!settings_.unknown)
        return mismatch("'{}' is in no token, and the vocabulary has none for unknown characters",
                        word.substr(begin, one));
      offer(steps[begin + one], {unknown_score_ + here, begin, static_cast<uint32_t>(*settings_.unknown), true});
    }
    return steps;
  }

  // A run of unknown characters may yet be a token that the best way did not take.
  void add_part(const Part& part, std::string_view word, Ids& ids) const {
    const std::string_view text = word.substr(part.begin, part.end - part.begin);
    if (part.known) {
      ids.push_back(part.id);
    } else if (const auto id = vocabulary().id_of(text)) {
      ids.push_back(*id);
    } else if (!settings_.byte_fallback || !add_bytes(text, vocabulary(), ids)) {
      ids.push_back(*settings_.unknown);
    }
  }

  UnigramSettings settings_;
  Trie trie_;
  std::vector<double> scores_;
  double unknown_score_ = 0;
};

// Reads a list of pairs: [["<unk>", 0.0], ["a", -2.5]].
Result<std::vector<ScoredToken>> read_scores(const Config& model) {
  RUNG_TRY(const nlohmann::json list, model.get_value("vocab"));
  if (!list.is_array() || list.empty())
    return bad_file("'{}': field 'vocab': got {}, wanted pairs of a token and its score", model.what(), describe(list));
  std::vector<ScoredToken> tokens;
  for (const nlohmann::json& pair : list) {
    const bool is_pair = pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_number();
    if (!is_pair || !std::isfinite(pair[1].get<double>()))
      return bad_file("'{}': vocab[{}]: got {}, wanted a token and its score", model.what(), tokens.size(),
                      describe(pair));
    tokens.push_back({pair[0].get<std::string>(), pair[1].get<double>()});
  }
  return tokens;
}

}  // namespace

Result<std::shared_ptr<const TokenModel>> read_unigram(const Config& model) {
  RUNG_TRY(std::vector<ScoredToken> tokens, read_scores(model));
  UnigramSettings settings;
  if (model.contains("unk_id")) {
    RUNG_TRY(settings.unknown, model.get_int("unk_id", {0, static_cast<int64_t>(tokens.size()) - 1}));
  }
  RUNG_TRY(settings.byte_fallback, model.get_bool_or("byte_fallback", false));
  return std::make_shared<const Unigram>(std::move(tokens), settings);
}

}  // namespace rung::text
