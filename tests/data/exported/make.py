#!/usr/bin/env python3
# Makes the exported models of this folder: small ones with random weights, as PyTorch exports them, and what PyTorch
# answers to one input each. Wants torch, torchvision, transformers and onnx; what it was run with stands in README.md.
# SPDX-License-Identifier: Apache-2.0
#
# Each norm's weight and each bias is changed: a weight of exactly one or a bias of zero would be folded away, and hide
# what goes wrong with it. NAME.pt2 is the program, NAME.in.npz and NAME.out.npz its inputs and outputs by name; values
# in 16 bits are kept as f32. onnx/ has the same of ONNX files. Beside programs of convnets in 16 bits, NAME.exact.npz has
# what the same weights give in f32 for SAMPLES inputs, and NAME.narrow.npz what PyTorch gives in 16 bits: one result of
# a few numbers says little of a program's error. The exporter of ONNX files rounds batch norms into weights, which are
# then others.
import argparse
import copy
import sys
import zipfile
from pathlib import Path

import numpy
import onnx
import torch
import transformers as t

import convnets
import modules
import operators

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / 'bench' / 'pi0_gpu'))
import policy  # noqa: E402  the policy that the benchmark runs

TEXT = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=99)
SMALL_HEADS = dict(num_key_value_heads=2, head_dim=8, use_cache=False)
IMAGE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=16, patch_size=4)
DINO = {name: value for name, value in IMAGE.items() if name != 'intermediate_size'}
AUDIO = dict(d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=64, num_mel_bins=8,
             decoder_layers=1, decoder_attention_heads=4, vocab_size=99, pad_token_id=0)
PI0 = policy.Config(views=2, prompt=6, horizon=5, action_dim=4, steps=10, image=8, patch=4, vision=(1, 32, 48, 4),
                    prefix=(2, 32, 64, 4, 1, 8), expert=(2, 16, 32, 4, 1, 8), vocab=64)


def paligemma_prefix():
    text = t.GemmaConfig(num_key_value_heads=1, head_dim=8, use_cache=False, hidden_size=32, num_hidden_layers=2,
                         num_attention_heads=4, intermediate_size=64, vocab_size=99)
    whole = t.PaliGemmaModel(t.PaliGemmaConfig(vision_config=t.SiglipVisionConfig(vision_use_head=False, **IMAGE),
                                               text_config=text, projection_dim=32, image_token_index=98))
    return modules.PaliGemmaPrefix(whole.vision_tower, whole.multi_modal_projector, whole.language_model)



MODELS = {
    'bert': lambda: t.BertModel(t.BertConfig(**TEXT)),
    'distilbert': lambda: t.DistilBertModel(t.DistilBertConfig(dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=99)),
    'roberta': lambda: t.RobertaModel(t.RobertaConfig(**TEXT)),
    'mpnet': lambda: t.MPNetModel(t.MPNetConfig(**TEXT)),
    'modernbert': lambda: t.ModernBertModel(t.ModernBertConfig(local_attention=4, pad_token_id=0, **TEXT)),
    'gpt2': lambda: t.GPT2Model(t.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=64, vocab_size=99, use_cache=False)),
    'llama': lambda: t.LlamaModel(t.LlamaConfig(**SMALL_HEADS, **TEXT)),
    'mistral': lambda: t.MistralModel(t.MistralConfig(sliding_window=4, **SMALL_HEADS, **TEXT)),
    'qwen2': lambda: t.Qwen2Model(t.Qwen2Config(num_key_value_heads=2, use_cache=False, **TEXT)),
    'qwen3': lambda: t.Qwen3Model(t.Qwen3Config(**SMALL_HEADS, **TEXT)),
    'gemma2': lambda: t.Gemma2Model(t.Gemma2Config(sliding_window=4, **SMALL_HEADS, **TEXT)),
    'gemma3': lambda: t.Gemma3TextModel(t.Gemma3TextConfig(sliding_window=4, **SMALL_HEADS, **TEXT)),
    'mixtral': lambda: t.MixtralModel(t.MixtralConfig(num_local_experts=4, **SMALL_HEADS, **TEXT)),
    'phi': lambda: t.PhiModel(t.PhiConfig(use_cache=False, **TEXT)),
    'gpt_neox': lambda: t.GPTNeoXModel(t.GPTNeoXConfig(use_cache=False, **TEXT)),
    't5_encoder': lambda: t.T5EncoderModel(t.T5Config(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=99)),
    'clip_text': lambda: t.CLIPTextModel(t.CLIPTextConfig(eos_token_id=98, bos_token_id=0, **TEXT)),
    'vit': lambda: t.ViTModel(t.ViTConfig(**IMAGE)),
    'dinov2': lambda: t.Dinov2Model(t.Dinov2Config(mlp_ratio=2, **DINO)),
    'clip_vision': lambda: t.CLIPVisionModel(t.CLIPVisionConfig(**IMAGE)),
    'siglip': lambda: t.SiglipVisionModel(t.SiglipVisionConfig(**IMAGE)),
    'whisper_encoder': lambda: t.WhisperModel(t.WhisperConfig(max_source_positions=12, **AUDIO)).encoder,
    'paligemma_prefix': paligemma_prefix,
    'smolvla_expert': lambda: modules.ActionExpert(),
    'dit': lambda: modules.DiffusionTransformer(),
    'operators': lambda: modules.Arithmetic(),
    'operators_of_images': lambda: modules.Convolutions(),
    'pi0': lambda: policy.Pi0(PI0).init().float(),
    **convnets.MODELS,
    **operators.MODELS,
}
# Convnets that are there in 16 bits, too.
NARROW = ('resnet', 'efficientnet', 'mobilenet', 'convnext', 'diffusion_unet', 'act', 'detector', 'dcgan',
          'whisper_with_ears')
# Other ways to export some of them.
VARIANTS = {
    'bert_eager': ('bert', dict(attention='eager')),
    'llama_eager': ('llama', dict(attention='eager')),
    'gemma3_eager': ('gemma3', dict(attention='eager')),
    'vit_eager': ('vit', dict(attention='eager')),
    'bert_decomposed': ('bert', dict(decomposed=True)),
    'llama_decomposed': ('llama', dict(decomposed=True)),
    'vit_decomposed': ('vit', dict(decomposed=True)),
    'bert_dynamic': ('bert', dict(dynamic=True)),
    'llama_dynamic': ('llama', dict(dynamic=True)),
    'bert_bf16': ('bert', dict(dtype=torch.bfloat16)),
    'bert_f16': ('bert', dict(dtype=torch.float16)),
    'resnet_decomposed': ('resnet', dict(decomposed=True)),
    'efficientnet_decomposed': ('efficientnet', dict(decomposed=True)),
    'bert_f16_eager': ('bert', dict(dtype=torch.float16, attention='eager')),
    'llama_bf16': ('llama', dict(dtype=torch.bfloat16)),
    'llama_bf16_eager': ('llama', dict(dtype=torch.bfloat16, attention='eager')),
    'llama_f16': ('llama', dict(dtype=torch.float16)),
    'vit_bf16_dynamic': ('vit', dict(dtype=torch.bfloat16, dynamic=True)),
    'vit_bf16_eager': ('vit', dict(dtype=torch.bfloat16, attention='eager')),
    'vit_f16': ('vit', dict(dtype=torch.float16)),
    **{f'{name}_{word}': (name, dict(dtype=dtype)) for name in NARROW
       for word, dtype in (('f16', torch.float16), ('bf16', torch.bfloat16))},
    'whisper_with_ears_decomposed': ('whisper_with_ears', dict(decomposed=True)),
    'operators_of_spectra_decomposed': ('operators_of_spectra', dict(decomposed=True)),
}


def words(tokens):
    mask = torch.ones(1, tokens, dtype=torch.long)
    mask[0, tokens - tokens // 3:] = 0
    return dict(input_ids=torch.randint(1, 98, (1, tokens)), attention_mask=mask)


def picture(dtype, count=1):
    return dict(pixel_values=torch.randn(count, 3, 16, 16).to(dtype))


def expert_example(dtype):
    return dict(actions=torch.randn(1, 5, 6), time=torch.rand(1), keys=torch.randn(4, 1, 7, 2, 8),
                values=torch.randn(4, 1, 7, 2, 8), prefix=torch.tensor([[True] * 5 + [False] * 2]))


def pi0_example(dtype):
    values = policy.args_of(PI0, policy.inputs(PI0, 'cpu', prompt_valid=4))
    return dict(zip(('images', 'pad', 'tokens', 'state', 'noise'), values))


EXAMPLES = {
    'vit': picture,
    'dinov2': picture,
    'clip_vision': picture,
    'siglip': picture,
    'whisper_encoder': lambda dtype: dict(input_features=torch.randn(1, 8, 24).to(dtype)),
    'paligemma_prefix': lambda dtype: picture(dtype) | words(6),
    'smolvla_expert': expert_example,
    'dit': lambda dtype: dict(image=torch.randn(1, 4, 8, 8), time=torch.tensor([417.0]), label=torch.tensor([3])),
    'operators': lambda dtype: dict(x=torch.randn(2, 3, 4), y=torch.randn(2, 3, 5, 4), number=torch.arange(-4, 4),
                                    mask=torch.rand(2, 3, 4) < 0.5),
    'operators_of_images': lambda dtype: dict(image=torch.randn(2, 6, 8, 7), row=torch.randn(2, 6, 9)),
    'pi0': pi0_example,
    **convnets.EXAMPLES,
    **operators.EXAMPLES,
}


def example(name, dtype):
    return EXAMPLES[name](dtype) if name in EXAMPLES else words(9)


def perturbed(model):
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):  # as if they had been trained
                module.running_mean.normal_(std=0.3)
                module.running_var.uniform_(0.5, 1.5)
    return model.eval()


def arrays(names, values):
    widened = (value.float() if value.dtype in (torch.bfloat16, torch.float16) else value for value in values)
    return {name: value.detach().numpy() for name, value in zip(names, widened)}


# Traces of the author's code name files of the machine that exports; what they say must not depend on it.
PLACES = {f'{Path(torch.__file__).parent.parent}/': 'site-packages/', f'{HERE}/': 'tests/data/exported/'}


def without_machine(text):
    for place, by in PLACES.items():
        text = text.replace(place, by)
    return text


def pack(path):
    """Writes an archive again without the machine's paths, and with its JSON deflated, which PyTorch stores."""
    with zipfile.ZipFile(path) as stored:
        members = [(member, stored.read(member)) for member in stored.infolist()]
    with zipfile.ZipFile(path, 'w') as packed:
        for member, content in members:
            kind = zipfile.ZIP_STORED
            if member.filename.endswith('.json'):
                kind, content = zipfile.ZIP_DEFLATED, without_machine(content.decode())
            packed.writestr(zipfile.ZipInfo(member.filename), content, kind)


def leaves_of(answer):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(answer) if torch.is_tensor(leaf)]


def narrowed(model, dtype):
    return model.narrowed(dtype) if hasattr(model, 'narrowed') else model.to(dtype)


def narrowed_example(model, name, dtype):
    """The example with its floats in the type of the model's inputs."""
    kept = torch.float32 if hasattr(model, 'narrowed') else dtype
    return {key: value.to(kept) if value.is_floating_point() else value for key, value in example(name, dtype).items()}


SAMPLES, STEP = 8, 97  # each sample has the floats of the one before, STEP places on


def sample(value, number, dtype):
    return value.flatten().roll(STEP * number).view_as(value).to(dtype) if value.is_floating_point() else value


def save_samples(file, model, inputs, names):
    """Keeps what the weights, which have 16 bits, give for all samples in f32 and in 16 bits."""
    wide = copy.deepcopy(model).float()
    for kind, run in (('exact', wide), ('narrow', model)):
        with torch.no_grad():
            each = [leaves_of(run(**{key: sample(value, i, torch.float32 if run is wide else value.dtype)
                                     for key, value in inputs.items()})) for i in range(SAMPLES)]
        numpy.savez(HERE / f'{file}.{kind}.npz', **arrays(names, [torch.stack(same) for same in zip(*each)]))


def names_of(specs, kind):
    return [spec.arg.name for spec in specs if spec.kind.name == kind]


def make(file, name, attention=None, decomposed=False, dynamic=False, dtype=torch.float32):
    torch.manual_seed(0)
    model = narrowed(perturbed(MODELS[name]()), dtype)
    if attention:
        model.set_attn_implementation(attention)
    inputs = narrowed_example(model, name, dtype)
    sizes = None
    if dynamic and name == 'vit':  # pictures of a number; a single one would settle it
        inputs, sizes = picture(dtype, 2), dict(pixel_values={0: torch.export.Dim('pictures', min=1, max=8)})
    elif dynamic:
        sizes = {key: {1: torch.export.Dim('tokens', min=2, max=64)} for key in inputs}
    with torch.no_grad():
        program = torch.export.export(model, (), inputs, dynamic_shapes=sizes)
        if decomposed:
            program = program.run_decompositions()
        answers = leaves_of(model(**inputs))
    if name == 'pi0':
        for node in program.graph.nodes:  # ten steps: the places in the author's code would be most of the file
            node.meta.pop('stack_trace', None)
            node.meta.pop('nn_module_stack', None)
    torch.export.save(program, HERE / f'{file}.pt2')
    pack(HERE / f'{file}.pt2')
    signature = program.graph_signature
    numpy.savez(HERE / f'{file}.in.npz', **arrays(names_of(signature.input_specs, 'USER_INPUT'), inputs.values()))
    outputs = names_of(signature.output_specs, 'USER_OUTPUT')
    numpy.savez(HERE / f'{file}.out.npz', **arrays(outputs, answers))
    if dtype != torch.float32 and name in NARROW:
        save_samples(file, model, inputs, outputs)


# Files of onnx/: the model, whether by the newer exporter, whether the number of tokens is open, and the type.
ONNX = {
    'bert': ('bert', True, False),
    'bert_dynamic': ('bert', True, True),
    'bert_older': ('bert', False, False),
    'clip_text': ('clip_text', True, False),
    'dit': ('dit', True, False),
    'gemma3': ('gemma3', True, False),
    'gpt2': ('gpt2', True, False),
    'gpt2_older': ('gpt2', False, False),
    'llama': ('llama', True, False),
    'llama_older': ('llama', False, False),
    'paligemma_prefix': ('paligemma_prefix', True, False),
    'phi': ('phi', True, False),
    'pi0': ('pi0', True, False),
    'smolvla_expert': ('smolvla_expert', True, False),
    't5_encoder': ('t5_encoder', True, False),
    'vit': ('vit', True, False),
    'resnet': ('resnet', True, False),
    'resnet_bottleneck_older': ('resnet_bottleneck', False, False),
    'efficientnet_older': ('efficientnet', False, False),
    'mobilenet': ('mobilenet', True, False),
    'convnext': ('convnext', True, False),
    'diffusion_unet': ('diffusion_unet', True, False),
    'act': ('act', True, False),
    'detector': ('detector', True, False),
    'detector_older': ('detector', False, False),
    'dcgan': ('dcgan', True, False),
    'whisper_encoder': ('whisper_encoder', True, False),
    'whisper_encoder_older': ('whisper_encoder', False, False),
    # Not the detector, whose sums the exporter leaves in f32 where PyTorch gives f16.
    **{f'{name}_f16': (name, True, False, torch.float16)
       for name in (*NARROW[:-1], 'whisper_encoder') if name != 'detector'},
}


class ByName(torch.nn.Module):
    """Takes arguments in the order of the example: the older exporter knows no names."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *arguments):
        return self.model(**dict(zip(self.names, arguments)))


def without_places(model):
    """Drops the places in the author's code, of which a file has one for each node."""
    for node in model.graph.node:
        del node.metadata_props[:]
    return model


def without_paths(model):
    for node in [*model.graph.node, *(node for function in model.functions for node in function.node)]:
        for place in node.metadata_props:
            place.value = without_machine(place.value)
    return model


def make_onnx(file, name, newer, dynamic, dtype=torch.float32):
    torch.manual_seed(0)
    model, path = perturbed(MODELS[name]()).to(dtype), HERE / 'onnx' / f'{file}.onnx'
    inputs = narrowed_example(model, name, dtype)
    with torch.no_grad():
        answers = leaves_of(model(**inputs))
        if newer:
            sizes = {key: {1: torch.export.Dim('tokens', min=2, max=64)} for key in inputs} if dynamic else None
            torch.onnx.export(model, (), path, kwargs=inputs, dynamo=True, external_data=False, verbose=False,
                              dynamic_shapes=sizes)
        else:
            torch.onnx.export(ByName(model, list(inputs)).eval(), tuple(inputs.values()), path, dynamo=False,
                              opset_version=17, input_names=list(inputs))
    read = onnx.load(path)
    onnx.save(without_places(read) if name == 'pi0' else without_paths(read), path)
    outputs = [output.name for output in read.graph.output]
    kept = [value.name for value in read.graph.input]
    numpy.savez(HERE / 'onnx' / f'{file}.in.npz', **arrays(kept, [inputs[key] for key in kept]))
    numpy.savez(HERE / 'onnx' / f'{file}.out.npz', **arrays(outputs, answers))


def main():
    parser = argparse.ArgumentParser(description='Exports small models into this folder.')
    parser.add_argument('names', nargs='*', help='of models, variants or onnx/NAME; default: all')
    wanted = parser.parse_args().names
    plans = {name: (name, {}) for name in MODELS} | VARIANTS
    for file in wanted or [*plans, *(f'onnx/{name}' for name in ONNX)]:
        if file.startswith('onnx/'):
            make_onnx(file[5:], *ONNX[file[5:]])
        else:
            name, options = plans[file]
            make(file, name, **options)
        print(file, flush=True)


if __name__ == '__main__':
    main()
