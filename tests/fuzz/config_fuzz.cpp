// Any text as config.json: refused, or a graph that the verifier accepts, without memory taken for absurd sizes.
// SPDX-License-Identifier: Apache-2.0
#include "import/model.hpp"
#include "ir/verify.hpp"
#include "seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  rung::write_seeds(
      *argc, *argv,
      {R"({"model_type":"bert","architectures":["BertModel"],"vocab_size":30,"hidden_size":8,"num_hidden_layers":1,)"
       R"("num_attention_heads":2,"intermediate_size":16,"max_position_embeddings":16,"type_vocab_size":2,)"
       R"("hidden_act":"gelu","layer_norm_eps":1e-12})",
       R"({"model_type":"mpnet","architectures":["MPNetForMaskedLM"],"vocab_size":30,"hidden_size":8,)"
       R"("num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":16,"max_position_embeddings":16})",
       R"({"model_type":"modernbert","architectures":["ModernBertForSequenceClassification"],"vocab_size":30,)"
       R"("hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":16,"local_attention":4,)"
       R"("max_position_embeddings":16,"layer_types":["full_attention","sliding_attention"],"id2label":{"0":"no"},)"
       R"("rope_parameters":{"full_attention":{"rope_theta":1e4,"rope_type":"default"}},"classifier_pooling":"mean"})",
       R"({"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"vocab_size":30,"hidden_size":8,"head_dim":4,)"
       R"("num_hidden_layers":2,"num_attention_heads":2,"num_key_value_heads":1,"intermediate_size":16,)"
       R"("max_position_embeddings":64,"sliding_window":4,"sliding_window_pattern":2,"final_logit_softcapping":3,)"
       R"("rope_scaling":{"rope_type":"linear","factor":2}})",
       R"({"model_type":"phi3","architectures":["Phi3ForCausalLM"],"vocab_size":30,"hidden_size":8,)"
       R"("num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":16,"max_position_embeddings":64,)"
       R"("original_max_position_embeddings":16,"rope_scaling":{"type":"longrope","short_factor":[1,2],)"
       R"("long_factor":[2,4]}})",
       R"({"model_type":"gpt_neox","vocab_size":30,"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,)"
       R"("intermediate_size":16,"max_position_embeddings":64,"rotary_pct":0.5,"rope_scaling":{"type":"yarn","factor":4}})",
       R"({"model_type":"dinov2","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"image_size":[8,8],)"
       R"("patch_size":4,"mlp_ratio":2,"use_swiglu_ffn":true})",
       R"({"model_type":"clip","text_config":{"vocab_size":30,"hidden_size":8,"num_hidden_layers":1,)"
       R"("num_attention_heads":2,"intermediate_size":16,"max_position_embeddings":8,"eos_token_id":2},"vision_config":)"
       R"({"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":16,"image_size":8,)"
       R"("patch_size":4},"projection_dim":4})",
       R"({"type":"pi0","views":2,"prompt":6,"horizon":5,"action_dim":4,"steps":1,"image":28,"patch":14,)"
       R"("vision":[1,8,8,2],"prefix":[1,8,8,2,1,4],"expert":[1,8,8,2,1,4],"vocab":12})"});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  auto model = import_config_text(std::string_view(reinterpret_cast<const char*>(data), size));
  if (model) require(verify(model->graph).has_value(), "an imported graph verifies");
  return 0;
}
