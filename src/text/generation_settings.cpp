// Reads each setting from the first file that has it.
// SPDX-License-Identifier: Apache-2.0
#include "text/generation_settings.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/json.hpp"
#include "base/json_config.hpp"
#include "text/vocabulary.hpp"

namespace rung {
namespace {

constexpr const char* kModelConfig = "config.json";
constexpr double kSmallest = std::numeric_limits<double>::min();  // of numbers that must be greater than 0
constexpr double kMostTemperature = 1e6, kMostPenalty = 1e6;
constexpr IntRange kLengths{1, int64_t{1} << 40};

class Reader {
 public:
  // `sources` are asked in their order; the first is generation_config.json.
  Reader(std::vector<Config> sources, IntRange ids) : sources_(std::move(sources)), ids_(ids) {}

  Result<GenerationSettings> read() const {
    GenerationSettings settings;
    RUNG_CHECK(read_ids(settings));
    const Config& config = sources_[0];
    RUNG_CHECK(set(config, "do_sample", settings.do_sample, config.get_bool_or("do_sample", false)));
    RUNG_CHECK(set(config, "temperature", settings.temperature,
                   config.get_number_or("temperature", 0, kMostTemperature, settings.temperature.value)));
    RUNG_CHECK(set(config, "top_k", settings.top_k, config.get_int_or("top_k", text::kTokenIds, settings.top_k.value)));
    RUNG_CHECK(set(config, "top_p", settings.top_p, config.get_number_or("top_p", kSmallest, 1, settings.top_p.value)));
    RUNG_CHECK(set(config, "min_p", settings.min_p, config.get_number_or("min_p", 0, 1, settings.min_p.value)));
    RUNG_CHECK(set(config, "repetition_penalty", settings.repetition_penalty,
                   config.get_number_or("repetition_penalty", kSmallest, kMostPenalty, 1)));
    RUNG_CHECK(set(config, "max_new_tokens", settings.max_new_tokens, length(config, "max_new_tokens")));
    RUNG_CHECK(set(config, "max_length", settings.max_length, length(config, "max_length")));
    return settings;
  }

 private:
  using Ids = std::vector<int64_t>;

  template <class T, class Read>
  static Status set(const Config& config, const char* field, Setting<T>& setting, Result<Read> read) {
    RUNG_TRY(setting.value, std::move(read));
    if (config.contains(field)) setting.source = config.what();
    return {};
  }

  static Result<std::optional<int64_t>> length(const Config& config, const char* field) {
    if (!config.contains(field)) return std::nullopt;
    return config.get_int(field, kLengths);
  }

  Status read_ids(GenerationSettings& settings) const {
    if (const Config* config = first_with("eos_token_id"))
      RUNG_CHECK(set(*config, "eos_token_id", settings.eos_token_ids, ids_of(*config, "eos_token_id")));
    if (const Config* config = first_with("bos_token_id"))
      RUNG_CHECK(set(*config, "bos_token_id", settings.bos_token_id, config->get_int("bos_token_id", ids_)));
    const Config* config = first_with("pad_token_id");
    // Some files say -1 for none.
    if (config && config->json().at("pad_token_id") != -1)
      RUNG_CHECK(set(*config, "pad_token_id", settings.pad_token_id, config->get_int("pad_token_id", ids_)));
    return read_decoder_ids(settings);
  }

  Status read_decoder_ids(GenerationSettings& settings) const {
    for (const Config& config : sources_)
      if (config.contains("is_encoder_decoder"))
        RUNG_CHECK(
            set(config, "is_encoder_decoder", settings.is_encoder_decoder, config.get_bool("is_encoder_decoder")));
    if (const Config* config = first_with("decoder_start_token_id"))
      RUNG_CHECK(set(*config, "decoder_start_token_id", settings.decoder_start_token_id,
                     config->get_int("decoder_start_token_id", ids_)));
    if (const Config* config = first_with("suppress_tokens"))
      RUNG_CHECK(set(*config, "suppress_tokens", settings.suppress_tokens, ids_of(*config, "suppress_tokens")));
    if (const Config* config = first_with("begin_suppress_tokens"))
      RUNG_CHECK(set(*config, "begin_suppress_tokens", settings.begin_suppress_tokens,
                     ids_of(*config, "begin_suppress_tokens")));
    if (const Config* config = first_with("forced_bos_token_id"))
      RUNG_CHECK(set(*config, "forced_bos_token_id", settings.forced_bos_token_id,
                     config->get_int("forced_bos_token_id", ids_)));
    if (const Config* config = first_with("bad_words_ids"))
      RUNG_CHECK(set(*config, "bad_words_ids", settings.bad_words_ids, bad_words_in(*config)));
    if (const Config* config = first_with("no_timestamps_token_id"))
      RUNG_CHECK(set(*config, "no_timestamps_token_id", settings.no_timestamps_token_id,
                     config->get_int("no_timestamps_token_id", ids_)));
    if (const Config* config = first_with("max_initial_timestamp_index"))
      RUNG_CHECK(set(*config, "max_initial_timestamp_index", settings.max_initial_timestamp_index,
                     config->get_int("max_initial_timestamp_index", {0, text::kTokenIds.max})));
    const Config* config = first_with("forced_decoder_ids");
    if (config) RUNG_CHECK(set(*config, "forced_decoder_ids", settings.forced_decoder_ids, forced_in(*config)));
    return {};
  }

  // Returns the ids of [[1, id], [2, id], ...]; a place without an id, which the library guesses from the sound, ends
  // the list.
  Result<Ids> forced_in(const Config& config) const {
    const nlohmann::json& list = config.json().at("forced_decoder_ids");
    Ids ids;
    for (const nlohmann::json& pair : list) {
      const auto place = static_cast<int64_t>(ids.size()) + 1;
      const bool is_pair = list.is_array() && pair.is_array() && pair.size() == 2 && pair[0] == place;
      if (is_pair && pair[1].is_null()) break;
      const bool is_token = is_pair && pair[1].is_number_integer() && pair[1] >= ids_.min && pair[1] <= ids_.max;
      if (!is_token)
        return bad_file("'{}': field 'forced_decoder_ids': got {}, wanted [{}, a token from {} to {}]", config.what(),
                        dump_json(pair).substr(0, 60), place, ids_.min, ids_.max);
      ids.push_back(pair[1].get<int64_t>());
    }
    return ids;
  }

  // Returns the ids of [[id], [id], ...].
  Result<Ids> bad_words_in(const Config& config) const {
    Ids ids;
    for (const nlohmann::json& word : config.json().at("bad_words_ids")) {
      const bool is_token = word.is_array() && word.size() == 1 && word[0].is_number_integer() && word[0] >= ids_.min &&
                            word[0] <= ids_.max;
      if (!is_token)
        return bad_file("'{}': field 'bad_words_ids': got {}, wanted [a token from {} to {}]", config.what(),
                        dump_json(word).substr(0, 60), ids_.min, ids_.max);
      ids.push_back(word[0].get<int64_t>());
    }
    return ids;
  }

  const Config* first_with(const char* field) const {
    const auto found =
        std::find_if(sources_.begin(), sources_.end(), [&](const Config& c) { return c.contains(field); });
    return found == sources_.end() ? nullptr : &*found;
  }

  // Returns one id or several, each once.
  Result<Ids> ids_of(const Config& config, const char* field) const {
    const nlohmann::json& value = config.json().at(field);
    if (!value.is_array()) return config.get_int(field, ids_).map([](int64_t id) { return Ids{id}; });
    RUNG_TRY(Ids ids, config.get_ints(field, value.size(), ids_));
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }

  std::vector<Config> sources_;
  IntRange ids_;  // of the vocabulary
};

Result<Config> config_in(const TextFiles& texts, const char* file) {
  const auto found = texts.find(file);
  return errors_of(ErrorKind::file, Config::parse(found == texts.end() ? "{}" : found->second, file));
}

}  // namespace

Result<GenerationSettings> read_generation_settings(const TextFiles& texts) {
  RUNG_TRY(Config generation, config_in(texts, text::kGenerationConfig));
  std::vector<Config> sources{std::move(generation)};
  RUNG_TRY(const Config model, config_in(texts, kModelConfig));
  sources.push_back(model);
  if (model.contains("text_config")) {
    RUNG_TRY(Config text_model, model.get_object("text_config"));
    sources.push_back(std::move(text_model));
  }
  IntRange ids = text::kTokenIds;
  for (const Config& source : sources) {
    if (!source.contains("vocab_size")) continue;
    RUNG_TRY(const int64_t size, source.get_int("vocab_size", {1, text::kTokenIds.max + 1}));
    ids.max = std::min(ids.max, size - 1);
  }
  return Reader(std::move(sources), ids).read();
}

Result<GenerationSettings> read_generation_settings(const std::string& directory) {
  TextFiles texts;
  std::error_code error;
  for (const char* name : {text::kGenerationConfig, kModelConfig}) {
    const auto path = std::filesystem::path(directory) / name;
    if (!std::filesystem::exists(path, error)) continue;
    RUNG_TRY(texts[name], read_text_file(path.string()));
  }
  auto settings = read_generation_settings(texts);
  if (!settings) return fail_in(settings.error(), "'{}'", directory);
  return settings;
}

}  // namespace rung
