// THE table of architectures: each with the classes of the published library that are read, and its graph's builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/json_config.hpp"
#include "import/checkpoint.hpp"
#include "import/model.hpp"

namespace rung::huggingface {

struct ConfigSource {
  const Config& config;
  std::string directory;  // empty: no files
  const ImportOptions& options;
};

// Opens random weights, in the usual type of such a checkpoint, if the options say so; else the directory's files.
Result<std::unique_ptr<Checkpoint>> open_weights(const ConfigSource& source, DType usual);
// Returns the requested shape of an input, or `fallback`.
Shape requested_shape(const ImportOptions& options, const std::string& input, const Shape& fallback);
// Checks the shapes asked for. Errors: an input that the model does not have, or a shape that the model cannot take.
Status check_requested_shapes(const ImportOptions& options, const Model& model);

// The part that a class computes on top of its encoder.
enum class Head {
  none,
  sequence,
  token,
  masked_lm,
  causal_lm,
  question,
  next_sentence,
  pretraining,
  image,
  projection
};

// A class that config.json names in `architectures`.
struct ModelClass {
  std::string_view name;
  Head head;
};

using Classes = std::span<const ModelClass>;

struct Architecture {
  std::string_view name;  // config.json's model_type
  Classes classes;
  Result<Model> (*import)(const ConfigSource& source, Classes classes);
  bool (*recognises)(const Config& config) = nullptr;  // other ways to tell it than model_type
};

Result<Model> import_bert(const ConfigSource& source, Classes classes);
Result<Model> import_roberta(const ConfigSource& source, Classes classes);
Result<Model> import_distilbert(const ConfigSource& source, Classes classes);
Result<Model> import_mpnet(const ConfigSource& source, Classes classes);
Result<Model> import_modernbert(const ConfigSource& source, Classes classes);
Result<Model> import_vit(const ConfigSource& source, Classes classes);
Result<Model> import_dinov2(const ConfigSource& source, Classes classes);
Result<Model> import_clip(const ConfigSource& source, Classes classes);
Result<Model> import_clip_text(const ConfigSource& source, Classes classes);
Result<Model> import_clip_vision(const ConfigSource& source, Classes classes);
Result<Model> import_siglip(const ConfigSource& source, Classes classes);
Result<Model> import_siglip_text(const ConfigSource& source, Classes classes);
Result<Model> import_siglip_vision(const ConfigSource& source, Classes classes);
Result<Model> import_llama(const ConfigSource& source, Classes classes);
Result<Model> import_mistral(const ConfigSource& source, Classes classes);
Result<Model> import_smollm3(const ConfigSource& source, Classes classes);
Result<Model> import_qwen2(const ConfigSource& source, Classes classes);
Result<Model> import_qwen3(const ConfigSource& source, Classes classes);
Result<Model> import_gemma2(const ConfigSource& source, Classes classes);
Result<Model> import_gemma3(const ConfigSource& source, Classes classes);
Result<Model> import_gemma3_text(const ConfigSource& source, Classes classes);
Result<Model> import_phi3(const ConfigSource& source, Classes classes);
Result<Model> import_phi(const ConfigSource& source, Classes classes);
Result<Model> import_gpt2(const ConfigSource& source, Classes classes);
Result<Model> import_gpt_neox(const ConfigSource& source, Classes classes);
Result<Model> import_olmo2(const ConfigSource& source, Classes classes);
Result<Model> import_granite(const ConfigSource& source, Classes classes);
Result<Model> import_stablelm(const ConfigSource& source, Classes classes);
Result<Model> import_t5(const ConfigSource& source, Classes classes);
Result<Model> import_whisper(const ConfigSource& source, Classes classes);
Result<Model> import_bart(const ConfigSource& source, Classes classes);
Result<Model> import_mbart(const ConfigSource& source, Classes classes);
Result<Model> import_marian(const ConfigSource& source, Classes classes);
Result<Model> import_pegasus(const ConfigSource& source, Classes classes);
Result<Model> import_m2m100(const ConfigSource& source, Classes classes);
bool is_pi0(const Config& config);
bool is_pi05(const Config& config);
Result<Model> import_pi0(const ConfigSource& source, Classes classes);
bool is_pi0_fast(const Config& config);
Result<Model> import_pi0_fast(const ConfigSource& source, Classes classes);

inline constexpr ModelClass kBert[] = {{"BertModel", Head::none},
                                       {"BertForSequenceClassification", Head::sequence},
                                       {"BertForTokenClassification", Head::token},
                                       {"BertForMaskedLM", Head::masked_lm},
                                       {"BertForQuestionAnswering", Head::question},
                                       {"BertForNextSentencePrediction", Head::next_sentence},
                                       {"BertForPreTraining", Head::pretraining}};
inline constexpr ModelClass kRoberta[] = {{"RobertaModel", Head::none},
                                          {"RobertaForSequenceClassification", Head::sequence},
                                          {"RobertaForTokenClassification", Head::token},
                                          {"RobertaForMaskedLM", Head::masked_lm},
                                          {"RobertaForQuestionAnswering", Head::question}};
inline constexpr ModelClass kXlmRoberta[] = {{"XLMRobertaModel", Head::none},
                                             {"XLMRobertaForSequenceClassification", Head::sequence},
                                             {"XLMRobertaForTokenClassification", Head::token},
                                             {"XLMRobertaForMaskedLM", Head::masked_lm},
                                             {"XLMRobertaForQuestionAnswering", Head::question}};
inline constexpr ModelClass kDistilBert[] = {{"DistilBertModel", Head::none},
                                             {"DistilBertForSequenceClassification", Head::sequence},
                                             {"DistilBertForTokenClassification", Head::token},
                                             {"DistilBertForMaskedLM", Head::masked_lm},
                                             {"DistilBertForQuestionAnswering", Head::question}};
inline constexpr ModelClass kMpnet[] = {{"MPNetModel", Head::none},
                                        {"MPNetForSequenceClassification", Head::sequence},
                                        {"MPNetForTokenClassification", Head::token},
                                        {"MPNetForMaskedLM", Head::masked_lm},
                                        {"MPNetForQuestionAnswering", Head::question}};
inline constexpr ModelClass kModernBert[] = {{"ModernBertModel", Head::none},
                                             {"ModernBertForSequenceClassification", Head::sequence},
                                             {"ModernBertForTokenClassification", Head::token},
                                             {"ModernBertForMaskedLM", Head::masked_lm},
                                             {"ModernBertForQuestionAnswering", Head::question}};
inline constexpr ModelClass kVit[] = {{"ViTModel", Head::none}, {"ViTForImageClassification", Head::image}};
inline constexpr ModelClass kDinov2[] = {{"Dinov2Model", Head::none}, {"Dinov2ForImageClassification", Head::image}};
inline constexpr ModelClass kClip[] = {{"CLIPModel", Head::none}, {"CLIPForImageClassification", Head::image}};
inline constexpr ModelClass kClipText[] = {{"CLIPTextModel", Head::none},
                                           {"CLIPTextModelWithProjection", Head::projection}};
inline constexpr ModelClass kClipVision[] = {{"CLIPVisionModel", Head::none},
                                             {"CLIPVisionModelWithProjection", Head::projection}};
inline constexpr ModelClass kSiglip[] = {{"SiglipModel", Head::none}, {"SiglipForImageClassification", Head::image}};
inline constexpr ModelClass kSiglipText[] = {{"SiglipTextModel", Head::none}};
inline constexpr ModelClass kSiglipVision[] = {{"SiglipVisionModel", Head::none}};

inline constexpr ModelClass kLlama[] = {{"LlamaModel", Head::none}, {"LlamaForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kMistral[] = {{"MistralModel", Head::none}, {"MistralForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kSmolLm3[] = {{"SmolLM3Model", Head::none}, {"SmolLM3ForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kQwen2[] = {{"Qwen2Model", Head::none}, {"Qwen2ForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kQwen3[] = {{"Qwen3Model", Head::none}, {"Qwen3ForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kGemma2[] = {{"Gemma2Model", Head::none}, {"Gemma2ForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kGemma3Text[] = {{"Gemma3TextModel", Head::none}, {"Gemma3ForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kGemma3[] = {{"Gemma3ForConditionalGeneration", Head::causal_lm}};
inline constexpr ModelClass kPhi3[] = {{"Phi3Model", Head::none}, {"Phi3ForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kPhi[] = {{"PhiModel", Head::none}, {"PhiForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kGpt2[] = {{"GPT2Model", Head::none}, {"GPT2LMHeadModel", Head::causal_lm}};
inline constexpr ModelClass kGptNeoX[] = {{"GPTNeoXModel", Head::none}, {"GPTNeoXForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kOlmo2[] = {{"Olmo2Model", Head::none}, {"Olmo2ForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kGranite[] = {{"GraniteModel", Head::none}, {"GraniteForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kStableLm[] = {{"StableLmModel", Head::none}, {"StableLmForCausalLM", Head::causal_lm}};
inline constexpr ModelClass kT5[] = {{"T5EncoderModel", Head::none}, {"T5ForConditionalGeneration", Head::causal_lm}};
inline constexpr ModelClass kWhisper[] = {{"WhisperForConditionalGeneration", Head::causal_lm}};

inline constexpr ModelClass kBart[] = {{"BartForConditionalGeneration", Head::causal_lm}};
inline constexpr ModelClass kMbart[] = {{"MBartForConditionalGeneration", Head::causal_lm}};
inline constexpr ModelClass kMarian[] = {{"MarianMTModel", Head::causal_lm}};
inline constexpr ModelClass kPegasus[] = {{"PegasusForConditionalGeneration", Head::causal_lm}};
inline constexpr ModelClass kM2m100[] = {{"M2M100ForConditionalGeneration", Head::causal_lm}};

inline constexpr Architecture kArchitectures[] = {
    {"bert", kBert, import_bert},
    {"roberta", kRoberta, import_roberta},
    {"xlm-roberta", kXlmRoberta, import_roberta},
    {"distilbert", kDistilBert, import_distilbert},
    {"mpnet", kMpnet, import_mpnet},
    {"modernbert", kModernBert, import_modernbert},
    {"vit", kVit, import_vit},
    {"dinov2", kDinov2, import_dinov2},
    {"clip", kClip, import_clip},
    {"clip_text_model", kClipText, import_clip_text},
    {"clip_vision_model", kClipVision, import_clip_vision},
    {"siglip", kSiglip, import_siglip},
    {"siglip_text_model", kSiglipText, import_siglip_text},
    {"siglip_vision_model", kSiglipVision, import_siglip_vision},
    {"llama", kLlama, import_llama},
    {"mistral", kMistral, import_mistral},
    {"smollm3", kSmolLm3, import_smollm3},
    {"qwen2", kQwen2, import_qwen2},
    {"qwen3", kQwen3, import_qwen3},
    {"gemma2", kGemma2, import_gemma2},
    {"gemma3", kGemma3, import_gemma3},
    {"gemma3_text", kGemma3Text, import_gemma3_text},
    {"phi3", kPhi3, import_phi3},
    {"phi", kPhi, import_phi},
    {"gpt2", kGpt2, import_gpt2},
    {"gpt_neox", kGptNeoX, import_gpt_neox},
    {"olmo2", kOlmo2, import_olmo2},
    {"granite", kGranite, import_granite},
    {"stablelm", kStableLm, import_stablelm},
    {"t5", kT5, import_t5},
    {"whisper", kWhisper, import_whisper},
    {"bart", kBart, import_bart},
    {"mbart", kMbart, import_mbart},
    {"marian", kMarian, import_marian},
    {"pegasus", kPegasus, import_pegasus},
    {"m2m_100", kM2m100, import_m2m100},
    {"pi05", {}, import_pi0, is_pi05},
    {"pi0", {}, import_pi0, is_pi0},
    {"pi0_fast", {}, import_pi0_fast, is_pi0_fast},
};

}  // namespace rung::huggingface
