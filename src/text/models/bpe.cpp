// Byte-pair encoding: characters are merged to tokens, the pair that was learnt first before the others.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <queue>

#include "base/json.hpp"
#include "text/models/merge_table.hpp"
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

// The tokens of a word while pairs of them are merged: a list whose removed members keep their places.
class MergeList {
 public:
  MergeList(const std::vector<uint32_t>& ids, const MergeTable& merges) : merges_(merges) {
    symbols_.reserve(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto place = static_cast<int32_t>(i);
      symbols_.push_back({ids[i], place - 1, i + 1 < ids.size() ? place + 1 : kEnd});
      if (i > 0) offer(place - 1);
    }
  }

  // A candidate whose tokens have changed since is out of date.
  void merge_all() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      Symbol& left = symbols_[static_cast<size_t>(best.place)];
      if (left.id == kRemoved || left.next == kEnd) continue;
      Symbol& right = symbols_[static_cast<size_t>(left.next)];
      const Merged* merged = merges_.find(left.id, right.id);
      if (!merged || merged->id != best.id) continue;
      left.id = best.id;
      left.next = right.next;
      right.id = kRemoved;
      if (left.next != kEnd) symbols_[static_cast<size_t>(left.next)].previous = best.place;
      if (left.previous != kEnd) offer(left.previous);
      if (left.next != kEnd) offer(best.place);
    }
  }

  void append_to(Ids& ids) const {
    for (const Symbol& symbol : symbols_)
      if (symbol.id != kRemoved) ids.push_back(symbol.id);
  }

 private:
  static constexpr uint32_t kRemoved = UINT32_MAX;  // merged into the one before it
  static constexpr int32_t kEnd = -1;
  struct Symbol {
    uint32_t id;
    int32_t previous, next;
  };
  struct Candidate {
    uint32_t rank;
    int32_t place;
    uint32_t id;
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : place > other.place;
    }
  };

  // Makes a candidate of the token at a place and the next one, if they merge.
  void offer(int32_t place) {
    const Symbol& left = symbols_[static_cast<size_t>(place)];
    const Merged* merged = merges_.find(left.id, symbols_[static_cast<size_t>(left.next)].id);
    if (merged) queue_.push({merged->rank, place, merged->id});
  }

  const MergeTable& merges_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> queue_;
};

class Bpe : public TokenModel {
 public:
  Bpe(Vocabulary vocabulary, MergeTable merges, BpeSettings settings)
      : TokenModel(std::move(vocabulary)), merges_(std::move(merges)), settings_(std::move(settings)) {}

  bool joins_letters() const override { return true; }

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
  std::vector<uint32_t> characters(std::string_view word) const {
    std::vector<uint32_t> ids;
    ids.reserve(word.size());
    const auto add = [&](int64_t id) { ids.push_back(static_cast<uint32_t>(id)); };
    bool waits = false;
    Ids bytes;
    std::string marked;
    for (size_t at = 0; at < word.size();) {
      const size_t begin = at;
      at += bytes_of_character(word[at]);
      const std::string_view token = with_marks(word.substr(begin, at - begin), begin == 0, at == word.size(), marked);
      if (const auto id = vocabulary().id_of(token)) {
        if (waits) add(*settings_.unknown);
        waits = false;
        add(*id);
      } else if (settings_.byte_fallback && add_bytes(token, vocabulary(), bytes)) {
        std::for_each(bytes.begin(), bytes.end(), add);
        bytes.clear();
      } else if (settings_.unknown) {
        if (waits && !settings_.fuses_unknown) add(*settings_.unknown);
        waits = true;
      }
    }
    if (waits) add(*settings_.unknown);
    return ids;
  }

  // Returns a character with the signs of its place in the word; `marked` holds it if there are any.
  std::string_view with_marks(std::string_view character, bool is_first, bool is_last, std::string& marked) const {
    const bool continues = !is_first && !settings_.continuation.empty();
    const bool ends = is_last && !settings_.word_end.empty();
    if (!continues && !ends) return character;
    marked = continues ? settings_.continuation : std::string();
    marked += character;
    if (ends) marked += settings_.word_end;
    return marked;
  }

  MergeTable merges_;
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
Result<MergeTable> read_merges(const Config& model, const Vocabulary& vocabulary, size_t continuation_bytes) {
  if (!model.contains("merges")) return MergeTable(0);
  const nlohmann::json& list = model.json().at("merges");
  if (!list.is_array()) return bad_file("'{}': field 'merges': got {}, wanted an array", model.what(), describe(list));
  MergeTable merges(list.size());
  for (uint32_t rank = 0; rank < list.size(); ++rank) {
    const auto pair = pair_of(list[rank]);
    if (!pair || pair->second.size() < continuation_bytes)
      return bad_file("'{}': merges[{}]: got {}, wanted two tokens", model.what(), rank, describe(list[rank]));
    const auto& [left, right] = *pair;
    const std::string both = left + right.substr(continuation_bytes);
    std::array<uint32_t, 3> ids{};
    for (size_t i = 0; const std::string& token : {left, right, both}) {
      const auto id = vocabulary.id_of(token);
      if (!id) return bad_file("'{}': merges[{}]: token '{}' is not in the vocabulary", model.what(), rank, token);
      ids[i++] = static_cast<uint32_t>(*id);
    }
    merges.set(ids[0], ids[1], {rank, ids[2]});
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
  RUNG_TRY(MergeTable merges, read_merges(model, vocabulary, settings.continuation.size()));
  return std::make_shared<const Bpe>(std::move(vocabulary), std::move(merges), std::move(settings));
}

}  // namespace rung::text
