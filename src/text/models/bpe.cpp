// Byte-pair encoding: characters are merged to tokens, the pair that was learnt first before the others.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <queue>

#include "base/json.hpp"
#include "text/models/model.hpp"
#include "text/unicode.hpp"

namespace rung::text {
namespace {

struct BpeSettings {
  std::string continuation;  // stands before characters that do not begin a word
  std::string word_end;      // stands behind a word's last character
  std::optional<int64_t> unknown;
  bool fuses_unknown = false, byte_fallback = false, ignores_merges = false;
};

// The token that two tokens side by side become.
struct Merged {
  uint32_t rank = 0;  // the lowest goes first
  int64_t id = 0;
};
using Merges = std::unordered_map<uint64_t, Merged>;

uint64_t pair_key(int64_t left, int64_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint64_t>(right);
}

// The tokens of a word while pairs of them are merged: a list whose removed members keep their places.
class MergeList {
 public:
  MergeList(const Ids& ids, const Merges& merges) : merges_(merges) {
    for (size_t i = 0; i < ids.size(); ++i)
      symbols_.push_back({ids[i], static_cast<int32_t>(i) - 1, i + 1 < ids.size() ? static_cast<int32_t>(i) + 1 : -1});
    for (size_t i = 0; i < ids.size(); ++i) offer(static_cast<int32_t>(i));
  }

  // A candidate stands for its result: another pair at its place that gives the same token takes it, too.
  void merge_all() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      Symbol& left = symbols_[static_cast<size_t>(best.place)];
      if (left.id < 0 || left.next < 0) continue;
      Symbol& right = symbols_[static_cast<size_t>(left.next)];
      const auto merged = merges_.find(pair_key(left.id, right.id));
      if (merged == merges_.end() || merged->second.id != best.id) continue;
      left.id = best.id;
      left.next = right.next;
      right.id = -1;
      if (left.next >= 0) symbols_[static_cast<size_t>(left.next)].previous = best.place;
      if (left.previous >= 0) offer(left.previous);
      offer(best.place);
    }
  }

  void append_to(Ids& ids) const {
    for (const Symbol& symbol : symbols_)
      if (symbol.id >= 0) ids.push_back(symbol.id);
  }

 private:
  struct Symbol {
    int64_t id;  // -1: merged into the one before it
    int32_t previous, next;
  };
  struct Candidate {
    uint32_t rank;
    int32_t place;
    int64_t id;
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : place > other.place;
    }
  };

  void offer(int32_t place) {
    const Symbol& left = symbols_[static_cast<size_t>(place)];
    if (left.next < 0) return;
    const auto merged = merges_.find(pair_key(left.id, symbols_[static_cast<size_t>(left.next)].id));
    if (merged != merges_.end()) queue_.push({merged->second.rank, place, merged->second.id});
  }

  const Merges& merges_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> queue_;
};

class Bpe : public TokenModel {
 public:
  Bpe(Vocabulary vocabulary, Merges merges, BpeSettings settings)
      : TokenModel(std::move(vocabulary)), merges_(std::move(merges)), settings_(std::move(settings)) {}

  Status add_ids(std::string_view word, Ids& ids) const override {
    if (settings_.ignores_merges) {
      if (const auto whole = vocabulary().id_of(word)) {
        ids.push_back(*whole);
        return {};
      }
    }
    MergeList list(characters(word), merges_);
    list.merge_all();
    list.append_to(ids);
    return {};
  }

 private:
  // Returns the ids of a word's characters. An unknown one waits for the next known one, as in the published library:
  // bytes, for which it does not wait, come before it.
  Ids characters(std::string_view word) const {
    Ids ids;
    bool waits = false;
    for (size_t at = 0; at < word.size();) {
      const size_t begin = at;
      at += bytes_of_character(word[at]);
      const std::string_view character = word.substr(begin, at - begin);
      std::string marked;
      const std::string_view token = with_marks(character, begin == 0, at == word.size(), marked);
      if (const auto id = vocabulary().id_of(token)) {
        if (waits) ids.push_back(*settings_.unknown);
        waits = false;
        ids.push_back(*id);
      } else if (!(settings_.byte_fallback && add_bytes(token, vocabulary(), ids)) && settings_.unknown) {
        if (waits && !settings_.fuses_unknown) ids.push_back(*settings_.unknown);
        waits = true;
      }
    }
    if (waits) ids.push_back(*settings_.unknown);
    return ids;
  }

  // Returns a character with the signs of its place in the word; `marked` holds it if there are any.
  std::string_view with_marks(std::string_view character, bool is_first, bool is_last, std::string& marked) const {
    const bool continues = !is_first && !settings_.continuation.empty();
    const bool ends = is_last && !settings_.word_end.empty();
    if (!continues && !ends) return character;
    if (continues) marked = settings_.continuation;
    marked += character;
    if (ends) marked += settings_.word_end;
    return marked;
  }

  Merges merges_;
  BpeSettings settings_;
};

using TokenPair = std::pair<std::string, std::string>;

// Reads a pair: "a b" or ["a", "b"].
std::optional<TokenPair> pair_of(const nlohmann::json& merge) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return TokenPair{merge[0].get<std::string>(), merge[1].get<std::string>()};
  if (!merge.is_string()) return std::nullopt;
  const auto& text = merge.get_ref<const std::string&>();
  const size_t blank = text.find(' ');
  if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos) return std::nullopt;
  return TokenPair{text.substr(0, blank), text.substr(blank + 1)};
}

// Reads the merges in their order. The sign of a continuation before a right token is no part of the result.
Result<Merges> read_merges(const Config& model, const Vocabulary& vocabulary, size_t continuation_bytes) {
  const nlohmann::json& list = model.json().at("merges");
  if (!list.is_array()) return bad_file("'{}': field 'merges': got {}, wanted an array", model.what(), describe(list));
  Merges merges;
  merges.reserve(list.size());
  for (uint32_t rank = 0; rank < list.size(); ++rank) {
    const auto pair = pair_of(list[rank]);
    if (!pair || pair->second.size() < continuation_bytes)
      return bad_file("'{}': merges[{}]: got {}, wanted two tokens", model.what(), rank, describe(list[rank]));
    const auto& [left, right] = *pair;
    const std::string both = left + right.substr(continuation_bytes);
    for (const std::string& token : {left, right, both})
      if (!vocabulary.id_of(token))
        return bad_file("'{}': merges[{}]: token '{}' is not in the vocabulary", model.what(), rank, token);
    merges[pair_key(*vocabulary.id_of(left), *vocabulary.id_of(right))] = {rank, *vocabulary.id_of(both)};
  }
  return merges;
}

}  // namespace

Result<std::shared_ptr<const TokenModel>> read_bpe(const Config& model) {
  RUNG_TRY(const Config ids, model.get_object("vocab"));
  RUNG_TRY(Vocabulary vocabulary, Vocabulary::read(ids));
  BpeSettings settings;
  RUNG_TRY(settings.continuation, model.get_text_or("continuing_subword_prefix", ""));
  RUNG_TRY(settings.word_end, model.get_text_or("end_of_word_suffix", ""));
  RUNG_TRY(settings.fuses_unknown, model.get_bool_or("fuse_unk", false));
  RUNG_TRY(settings.byte_fallback, model.get_bool_or("byte_fallback", false));
  RUNG_TRY(settings.ignores_merges, model.get_bool_or("ignore_merges", false));
  if (model.contains("unk_token")) {
    RUNG_TRY(settings.unknown, token_in_field(model, "unk_token", vocabulary));
  }
  RUNG_TRY(const double dropout, model.get_number_or("dropout", 0, 1, 0));
  if (dropout > 0)
    return bad_file("'{}': got dropout {}, by which a text has other tokens each time, wanted none", model.what(),
                    dropout);
  Merges merges;
  if (model.contains("merges")) {
    RUNG_TRY(merges, read_merges(model, vocabulary, settings.continuation.size()));
  }
  return std::make_shared<const Bpe>(std::move(vocabulary), std::move(merges), std::move(settings));
}

}  // namespace rung::text
