#!/usr/bin/env python3
# Makes the checkpoints of this folder: small transformers with random weights, as save_pretrained() writes them, and
# what PyTorch answers to one input each. Wants torch and transformers; README.md says which versions it was run with.
# SPDX-License-Identifier: Apache-2.0
#
# Each weight of a norm and each bias is changed: a weight of exactly one or a bias of zero would hide what goes wrong
# with it. NAME/inputs.npz and NAME/outputs.npz have the inputs and outputs by name.
import argparse
import inspect
import json
import shutil
from pathlib import Path

import numpy
import torch
import transformers as t

HERE = Path(__file__).resolve().parent
LAYERS = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
TEXT = dict(vocab_size=40, max_position_embeddings=24, **LAYERS)
LABELS = dict(num_labels=3)
DISTIL = dict(dim=16, n_layers=2, n_heads=2, hidden_dim=32, vocab_size=40, max_position_embeddings=24)
MODERN = dict(TEXT, num_hidden_layers=4, local_attention=4, pad_token_id=0, bos_token_id=1, eos_token_id=2,
              cls_token_id=1, sep_token_id=2)
IMAGE = dict(image_size=12, patch_size=4, **LAYERS)
DINO = {name: value for name, value in IMAGE.items() if name != 'intermediate_size'}
SPECIAL = dict(pad_token_id=1, bos_token_id=2, eos_token_id=39)
CLIP_TEXT = dict(TEXT, projection_dim=12, **SPECIAL)
CLIP_IMAGE = dict(IMAGE, projection_dim=12)
PAIR = dict(text_config=CLIP_TEXT, vision_config=dict(CLIP_IMAGE, hidden_size=24, num_hidden_layers=1))
SIGLIP_PAIR = dict(text_config=dict(TEXT, projection_size=24, **SPECIAL),
                   vision_config=dict(IMAGE, hidden_size=24, num_hidden_layers=1))
DECODER = dict(vocab_size=24, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
               intermediate_size=24, max_position_embeddings=32, **dict(SPECIAL, eos_token_id=23))
WIDE = dict(DECODER, head_dim=8)  # heads that are wider together than the model
ALL_HEADS = dict(DECODER, num_key_value_heads=4)
GEMMA = dict(WIDE, sliding_window=4, query_pre_attn_scalar=8)
GPT2 = dict(vocab_size=24, n_embd=16, n_layer=2, n_head=4, n_positions=32, **dict(SPECIAL, eos_token_id=23))
GEMMA_TEXT = dict(GEMMA, layer_types=['sliding_attention', 'full_attention'])
GEMMA_IMAGE = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, image_size=8,
                   patch_size=4, vision_use_head=False)
T5 = dict(vocab_size=40, d_model=16, d_kv=8, d_ff=24, num_layers=3, num_decoder_layers=2, num_heads=4, eos_token_id=39,
          relative_attention_num_buckets=8, relative_attention_max_distance=24, decoder_start_token_id=0, initializer_factor=0.5)
WHISPER = dict(vocab_size=40, num_mel_bins=6, d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2,
               decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_source_positions=9,
               max_target_positions=72, pad_token_id=39, bos_token_id=39, eos_token_id=39, decoder_start_token_id=1)
BART = dict(vocab_size=40, d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
            encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=80, pad_token_id=1, bos_token_id=0, eos_token_id=39,
            decoder_start_token_id=0, forced_eos_token_id=None, init_std=0.3)
FAMILY_OF_BART = 'bart', 'mbart', 'marian', 'pegasus', 'm2m_100'
# What generation_config.json says of a Whisper model, in these few tokens.
SUPPRESSED = dict(suppress_tokens=[5, 17, 30], begin_suppress_tokens=[7, 39])
LONG = dict(rope_type='longrope', short_factor=[1.0, 1.5], long_factor=[1.25, 3.0])


def rope(rope_type, **fields):
    return dict(rope_parameters=dict(rope_type=rope_type, rope_theta=1000.0, **fields))


def untied(model):
    model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))
    return model


def clip(cls, pair):
    return cls(t.CLIPConfig(projection_dim=12, **pair))


MODELS = {
    'bert_sequence': lambda: t.BertForSequenceClassification(t.BertConfig(**TEXT, **LABELS)),
    'bert_token': lambda: t.BertForTokenClassification(t.BertConfig(**TEXT, **LABELS)),
    'bert_masked_lm': lambda: t.BertForMaskedLM(t.BertConfig(hidden_act='gelu_new', **TEXT)),
    'bert_untied': lambda: t.BertForMaskedLM(t.BertConfig(tie_word_embeddings=False, hidden_act='silu', **TEXT)),
    'bert_question': lambda: t.BertForQuestionAnswering(t.BertConfig(**TEXT)),
    'bert_next_sentence': lambda: t.BertForNextSentencePrediction(t.BertConfig(hidden_act='relu', **TEXT)),
    'bert_pretraining': lambda: t.BertForPreTraining(t.BertConfig(**TEXT)),
    'roberta': lambda: t.RobertaModel(t.RobertaConfig(**TEXT)),
    'roberta_sequence': lambda: t.RobertaForSequenceClassification(t.RobertaConfig(**TEXT, **LABELS)),
    'roberta_token': lambda: t.RobertaForTokenClassification(t.RobertaConfig(**TEXT, **LABELS)),
    'roberta_masked_lm': lambda: t.RobertaForMaskedLM(t.RobertaConfig(**TEXT)),
    'roberta_question': lambda: t.RobertaForQuestionAnswering(t.RobertaConfig(**TEXT)),
    'xlm_roberta_sequence': lambda: t.XLMRobertaForSequenceClassification(
        t.XLMRobertaConfig(type_vocab_size=1, pad_token_id=3, num_labels=1, **TEXT)),
    'distilbert': lambda: t.DistilBertModel(t.DistilBertConfig(**DISTIL)),
    'distilbert_sequence': lambda: t.DistilBertForSequenceClassification(t.DistilBertConfig(**DISTIL, **LABELS)),
    'distilbert_token': lambda: t.DistilBertForTokenClassification(t.DistilBertConfig(**DISTIL, **LABELS)),
    'distilbert_masked_lm': lambda: t.DistilBertForMaskedLM(t.DistilBertConfig(activation='relu', **DISTIL)),
    'distilbert_question': lambda: t.DistilBertForQuestionAnswering(t.DistilBertConfig(**DISTIL)),
    'mpnet': lambda: t.MPNetModel(t.MPNetConfig(**(TEXT | dict(max_position_embeddings=160)))),
    'mpnet_sequence': lambda: t.MPNetForSequenceClassification(t.MPNetConfig(**TEXT, **LABELS)),
    'mpnet_token': lambda: t.MPNetForTokenClassification(t.MPNetConfig(**TEXT, **LABELS)),
    'mpnet_masked_lm': lambda: t.MPNetForMaskedLM(t.MPNetConfig(**TEXT)),
    'mpnet_question': lambda: t.MPNetForQuestionAnswering(t.MPNetConfig(**TEXT)),
    'modernbert': lambda: t.ModernBertModel(t.ModernBertConfig(**MODERN)),
    'modernbert_biased': lambda: t.ModernBertForMaskedLM(t.ModernBertConfig(
        attention_bias=True, mlp_bias=True, norm_bias=True, classifier_bias=True, decoder_bias=False, **MODERN)),
    'modernbert_sequence': lambda: t.ModernBertForSequenceClassification(t.ModernBertConfig(**MODERN, **LABELS)),
    'modernbert_mean': lambda: t.ModernBertForSequenceClassification(t.ModernBertConfig(
        classifier_pooling='mean', classifier_activation='silu', **MODERN, **LABELS)),
    'modernbert_token': lambda: t.ModernBertForTokenClassification(t.ModernBertConfig(**MODERN, **LABELS)),
    'modernbert_masked_lm': lambda: t.ModernBertForMaskedLM(t.ModernBertConfig(**MODERN)),
    'modernbert_question': lambda: t.ModernBertForQuestionAnswering(t.ModernBertConfig(**MODERN)),
    'vit': lambda: t.ViTModel(t.ViTConfig(pooler_output_size=20, **IMAGE)),
    'vit_image': lambda: t.ViTForImageClassification(t.ViTConfig(qkv_bias=False, **IMAGE, **LABELS)),
    'dinov2': lambda: t.Dinov2Model(t.Dinov2Config(mlp_ratio=2, **DINO)),
    'dinov2_swiglu': lambda: t.Dinov2Model(t.Dinov2Config(use_swiglu_ffn=True, **DINO)),
    'dinov2_image': lambda: t.Dinov2ForImageClassification(t.Dinov2Config(mlp_ratio=2, **DINO, **LABELS)),
    'dinov2_larger': lambda: t.Dinov2Model(t.Dinov2Config(mlp_ratio=2, **DINO)),
    'clip': lambda: clip(t.CLIPModel, PAIR),
    'clip_image': lambda: clip(t.CLIPForImageClassification, PAIR),
    'clip_text': lambda: t.CLIPTextModel(t.CLIPTextConfig(**CLIP_TEXT)),
    'clip_text_first': lambda: t.CLIPTextModel(t.CLIPTextConfig(**CLIP_TEXT | dict(eos_token_id=2))),
    'clip_text_projection': lambda: t.CLIPTextModelWithProjection(t.CLIPTextConfig(**CLIP_TEXT)),
    'clip_vision': lambda: t.CLIPVisionModel(t.CLIPVisionConfig(**CLIP_IMAGE)),
    'clip_vision_projection': lambda: t.CLIPVisionModelWithProjection(t.CLIPVisionConfig(**CLIP_IMAGE)),
    'siglip': lambda: t.SiglipModel(t.SiglipConfig(**SIGLIP_PAIR)),
    'siglip_image': lambda: t.SiglipForImageClassification(t.SiglipConfig(**SIGLIP_PAIR)),
    'siglip_text': lambda: t.SiglipTextModel(t.SiglipTextConfig(projection_size=12, **TEXT, **SPECIAL)),
    'siglip_vision': lambda: t.SiglipVisionModel(t.SiglipVisionConfig(**IMAGE)),
    'siglip_vision_headless': lambda: t.SiglipVisionModel(t.SiglipVisionConfig(vision_use_head=False, **IMAGE)),
    'llama': lambda: t.LlamaForCausalLM(t.LlamaConfig(
        **rope('llama3', factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16),
        **WIDE)),
    'llama_model': lambda: t.LlamaModel(t.LlamaConfig(attention_bias=True, mlp_bias=True, **rope(
        'yarn', factor=4.0, original_max_position_embeddings=8), **WIDE)),
    'mistral': lambda: t.MistralForCausalLM(t.MistralConfig(sliding_window=4, **DECODER)),
    'mistral_model': lambda: t.MistralModel(t.MistralConfig(sliding_window=None, **rope('linear', factor=2.0), **DECODER)),
    'smollm3': lambda: t.SmolLM3ForCausalLM(t.SmolLM3Config(no_rope_layer_interval=2, **DECODER)),
    'smollm3_model': lambda: t.SmolLM3Model(t.SmolLM3Config(no_rope_layers=[0, 1], **DECODER)),
    'qwen2': lambda: t.Qwen2ForCausalLM(t.Qwen2Config(tie_word_embeddings=True, **DECODER)),
    'qwen2_model': lambda: t.Qwen2Model(t.Qwen2Config(
        use_sliding_window=True, sliding_window=4, max_window_layers=1, **DECODER)),
    'qwen3': lambda: t.Qwen3ForCausalLM(t.Qwen3Config(**WIDE)),
    'qwen3_model': lambda: t.Qwen3Model(t.Qwen3Config(attention_bias=True, **WIDE)),
    'gemma2': lambda: t.Gemma2ForCausalLM(t.Gemma2Config(
        attn_logit_softcapping=2.0, final_logit_softcapping=3.0, **GEMMA)),
    'gemma2_model': lambda: t.Gemma2Model(t.Gemma2Config(**GEMMA)),
    'gemma3': lambda: t.Gemma3ForCausalLM(t.Gemma3TextConfig(**GEMMA_TEXT)),
    'gemma3_pair': lambda: t.Gemma3ForConditionalGeneration(t.Gemma3Config(
        text_config=GEMMA_TEXT, vision_config=GEMMA_IMAGE, mm_tokens_per_image=4, image_token_index=2)),
    'gemma3_model': lambda: t.Gemma3TextModel(t.Gemma3TextConfig(**GEMMA)),
    'phi3': lambda: t.Phi3ForCausalLM(t.Phi3Config(
        original_max_position_embeddings=8, rope_parameters=dict(LONG), **DECODER)),
    'phi3_model': lambda: t.Phi3Model(t.Phi3Config(
        sliding_window=4, original_max_position_embeddings=16, rope_parameters=dict(LONG), **DECODER)),
    'phi': lambda: t.PhiForCausalLM(t.PhiConfig(**DECODER)),
    'phi_model': lambda: t.PhiModel(t.PhiConfig(qk_layernorm=True, **DECODER)),
    'gpt2': lambda: t.GPT2LMHeadModel(t.GPT2Config(**GPT2)),
    'gpt2_model': lambda: t.GPT2Model(t.GPT2Config(n_inner=24, scale_attn_weights=False, **GPT2)),
    'gpt_neox': lambda: t.GPTNeoXForCausalLM(t.GPTNeoXConfig(**rope('default', partial_rotary_factor=0.5), **ALL_HEADS)),
    'gpt_neox_model': lambda: t.GPTNeoXModel(t.GPTNeoXConfig(
        use_parallel_residual=False, attention_bias=False, **rope('default', partial_rotary_factor=1.0), **ALL_HEADS)),
    'olmo2': lambda: t.Olmo2ForCausalLM(t.Olmo2Config(**DECODER)),
    'olmo2_model': lambda: t.Olmo2Model(t.Olmo2Config(attention_bias=True, **DECODER)),
    'granite': lambda: t.GraniteForCausalLM(t.GraniteConfig(
        embedding_multiplier=12.0, logits_scaling=8.0, residual_multiplier=0.22, attention_multiplier=0.3, **DECODER)),
    'granite_model': lambda: t.GraniteModel(t.GraniteConfig(attention_bias=True, mlp_bias=True, **DECODER)),
    'stablelm': lambda: t.StableLmForCausalLM(t.StableLmConfig(
        use_qkv_bias=True, **rope('default', partial_rotary_factor=0.5), **DECODER)),
    'stablelm_model': lambda: t.StableLmModel(t.StableLmConfig(
        use_parallel_residual=True, qk_layernorm=True, **rope('default', partial_rotary_factor=0.5), **DECODER)),
    't5': lambda: t.T5ForConditionalGeneration(t.T5Config(**T5)),
    't5_gated': lambda: untied(t.T5ForConditionalGeneration(t.T5Config(
        feed_forward_proj='gated-gelu', tie_word_embeddings=False, **T5))),
    't5_encoder': lambda: t.T5EncoderModel(t.T5Config(**T5)),
    'whisper': lambda: t.WhisperForConditionalGeneration(t.WhisperConfig(**WHISPER)),
    'bart': lambda: t.BartForConditionalGeneration(t.BartConfig(**BART)),
    'mbart': lambda: t.MBartForConditionalGeneration(t.MBartConfig(scale_embedding=True, **BART)),
    'marian': lambda: t.MarianMTModel(t.MarianConfig(scale_embedding=True, activation_function='swish', **BART)),
    'pegasus': lambda: t.PegasusForConditionalGeneration(
        t.PegasusConfig(scale_embedding=True, activation_function='relu', **BART)),
    'm2m_100': lambda: t.M2M100ForConditionalGeneration(t.M2M100Config(**BART)),
}
# Others in 16 bits, whose outputs are kept as f32.
NARROW = {
    'roberta_bf16': ('roberta', torch.bfloat16),
    'modernbert_bf16': ('modernbert', torch.bfloat16),
    'vit_f16': ('vit', torch.float16),
    'llama_bf16': ('llama', torch.bfloat16),
    'gemma3_bf16': ('gemma3', torch.bfloat16),
    't5_bf16': ('t5', torch.bfloat16),
    'whisper_bf16': ('whisper', torch.bfloat16),
    'm2m_100_bf16': ('m2m_100', torch.bfloat16),
}
TOKENS = {'mpnet': 150}  # far enough apart for every bucket of distances
PIXELS = {'dinov2_larger': (16, 20)}


def text_inputs(name, model):
    length = TOKENS.get(name, 9)
    config = getattr(model.config, 'text_config', model.config)
    ids = torch.randint(4, config.vocab_size - 1, (2, length))
    mask = torch.ones(2, length, dtype=torch.long)
    end = length - 3
    ids[0, -1] = ids[1, end - 1] = config.vocab_size - 1
    ids[1, end:] = config.pad_token_id
    mask[1, end:] = 0
    inputs = dict(input_ids=ids, attention_mask=mask)
    if getattr(config, 'type_vocab_size', 1) > 1:
        inputs['token_type_ids'] = torch.randint(0, 2, (2, length))
    return inputs


def is_encoder_decoder(model):
    return 'decoder_input_ids' in inspect.signature(model.forward).parameters


def is_decoder(model):
    return not is_encoder_decoder(model) and 'use_cache' in inspect.signature(model.forward).parameters and not hasattr(model.config, 'type_vocab_size')


def inputs_of(name, model):
    names = inspect.signature(model.forward).parameters
    if is_decoder(model):
        config = getattr(model.config, 'text_config', model.config)
        return dict(input_ids=torch.randint(3, config.vocab_size - 1, (1, 12)))
    inputs = text_inputs(name, model) if 'input_ids' in names else {}
    if is_encoder_decoder(model):
        inputs['decoder_input_ids'] = torch.randint(3, model.config.vocab_size - 1, (2, 7))
    if 'input_features' in names:
        inputs['input_features'] = torch.randn(2, *features_of(model))
    if 'pixel_values' in names:
        inputs['pixel_values'] = torch.randn(2, 3, *PIXELS.get(name, (12, 12)))
    return inputs


def features_of(model):
    return model.config.num_mel_bins, 2 * model.config.max_source_positions


# What generation_config.json says of the tokens of a text.
def rules_of(model):
    if hasattr(model.config, 'num_mel_bins'):
        return SUPPRESSED
    return dict(bad_words_ids=[[1]]) if model.config.model_type in FAMILY_OF_BART else {}


# Sources of several lengths, and the tokens that the library makes of each; it goes on behind the one that ends a text.
# The penalty keeps such small models from saying one token for ever.
def generated(model):
    arrays = {}
    model.generation_config.eos_token_id = None
    config = t.GenerationConfig(decoder_start_token_id=model.config.decoder_start_token_id, pad_token_id=0,
                                max_new_tokens=64, do_sample=False, repetition_penalty=6.0, **rules_of(model))
    for i, length in enumerate((3, 9, 14)):
        if hasattr(model.config, 'num_mel_bins'):
            given = dict(input_features=torch.randn(1, *features_of(model)))
            prompt = torch.tensor([[1, 8, 12][:i + 1]])
        else:
            given = dict(input_ids=torch.randint(3, model.config.vocab_size - 1, (1, length)))
            prompt = torch.tensor([[0, 11, 4][:i + 1]])
        made = t.GenerationMixin.generate(model, **given, decoder_input_ids=prompt, generation_config=config)
        arrays |= {f'{name}.{i}': value.numpy() for name, value in given.items()}
        arrays |= {f'decoder_input_ids.{i}': prompt.numpy(), f'tokens.{i}': made[:, prompt.shape[1]:].numpy()}
    return arrays


def perturbed(model):
    # What is not saved, such as sines of places, stays as it is.
    unsaved = getattr(model, '_keys_to_ignore_on_save', None) or ()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name not in unsaved:
                parameter.add_((0.1 if parameter.dim() < 2 else 0.2) * torch.randn_like(parameter))
        if hasattr(model, 'final_logits_bias'):
            model.final_logits_bias.add_(torch.randn_like(model.final_logits_bias))
            model.final_logits_bias[:, model.config.eos_token_id] = -3  # so that texts do not end at once
    return model.eval()


def make(name):
    torch.manual_seed(0)
    base, dtype = NARROW.get(name, (name, torch.float32))
    model = perturbed(MODELS[base]()).to(dtype)
    model.set_attn_implementation('eager')
    inputs = inputs_of(name, model)
    with torch.no_grad():
        outputs = {key: value.float() for key, value in model(**{key: value.to(dtype) if value.is_floating_point() else value
                                                        for key, value in inputs.items()}).items()
                   if torch.is_tensor(value) and key != 'encoder_last_hidden_state'}
        if is_decoder(model) and model.can_generate():
            model.generation_config.eos_token_id = None
            greedy = model.generate(**inputs, max_new_tokens=12, do_sample=False)[:, 12:]
    shutil.rmtree(HERE / name, ignore_errors=True)
    model.save_pretrained(HERE / name)
    (HERE / name / 'generation_config.json').unlink(missing_ok=True)
    numpy.savez(HERE / name / 'inputs.npz', **{key: value.numpy() for key, value in inputs.items()})
    if is_decoder(model) and model.can_generate():
        numpy.savez(HERE / name / 'greedy.npz', tokens=greedy.numpy())
    if is_encoder_decoder(model) and dtype == torch.float32:
        arrays = generated(model)
        numpy.savez(HERE / name / 'generated.npz', **arrays)
        numpy.savez(HERE / name / 'source.npz', **{key[:-2]: value for key, value in arrays.items()
                                                   if key in ('input_ids.0', 'input_features.0')})
    if is_encoder_decoder(model) and rules_of(model):
        rules = dict(decoder_start_token_id=model.config.decoder_start_token_id, eos_token_id=39, **rules_of(model))
        (HERE / name / 'generation_config.json').write_text(json.dumps(rules) + '\n')
    numpy.savez(HERE / name / 'outputs.npz', **{key: value.numpy() for key, value in outputs.items()})


def main():
    parser = argparse.ArgumentParser(description='Makes small checkpoints in this folder.')
    parser.add_argument('names', nargs='*', help='of models; default: all')
    for name in parser.parse_args().names or MODELS | NARROW:
        make(name)
        print(name, flush=True)


if __name__ == '__main__':
    main()
