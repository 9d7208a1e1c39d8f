#!/usr/bin/env python3
# Every command's output under --json is one object that docs/json.schema.json describes; errors too.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema

TOOL, DOCS, DATA = (Path(argument) for argument in sys.argv[1:4])
SCHEMA = json.loads((DOCS / 'json.schema.json').read_text())
BERT, POLICY = str(DATA / 'bert_tiny'), str(DATA / 'pi0_tiny')

# 64 lanes that are 128 bytes apart in LDS.
ASSEMBLY = '''	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
k:
	v_lshlrev_b32_e32 v1, 7, v0
.LBB0_1:
	ds_read_b32 v2, v1
	s_waitcnt lgkmcnt(0)
	s_cbranch_scc1 .LBB0_1
	s_endpgm
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_next_free_vgpr 170
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
'''


class JsonOutput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_tool(self, *arguments, exit_code=0):
        ran = subprocess.run([TOOL, *arguments, '--json'], capture_output=True, text=True,
                             env=os.environ | {'RUNG_CACHE_DIR': str(self.folder / 'cache')})
        self.assertEqual(ran.returncode, exit_code, f'{arguments}: {ran.stderr}')
        self.assertEqual(ran.stdout.count('\n'), 1, f'{arguments}: {ran.stdout!r}')
        return json.loads(ran.stdout)

    def expect(self, kind, *arguments, exit_code=0):
        output = self.run_tool(*arguments, exit_code=exit_code)
        # Not jsonschema.validate(), which checks the schema first: that is done once, and takes half a second.
        jsonschema.Draft202012Validator(SCHEMA | {'anyOf': [{'$ref': f'#/$defs/{kind}'}]}).validate(output)
        return output

    def test_the_schema_is_one_and_tells_results_apart(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        self.expect('error', exit_code=2)
        with self.assertRaises(jsonschema.ValidationError):
            self.expect('error', 'options')

    def test_tuned_products(self):
        products = self.folder / 'list.csv'
        products.write_text('m,n,k,dtype,bias\n4,64,32,f32,1\n4,64,32,f8e4m3fn,0\n1,2,x,f32,0\n')
        output = self.expect('tune', 'tune', str(products), '--budget', '10s', '--threads', '1')
        self.assertEqual(['chosen' in product for product in output['products']], [True, False])
        self.assertEqual(output['remarks'][0]['count'], 1)
        output = self.expect('tune', 'tune', str(products), '--budget', '10s', '--threads', '1', '--out',
                             str(self.folder / 'tuned.csv'))
        self.assertEqual((output['format'], output['written']), ('csv', 1))

    def test_lint_of_tuning_files(self):
        results = self.folder / 'results.csv'
        results.write_text('Validator,PT_VERSION,2.11.0\nGemmTunableOp_Half_TN,tn_4_4_4_ld_4_4_4,Default,0.1\n' +
                           300 * 'GemmTunableOp_Half_TN,x,Default,0.1\n')
        output = self.expect('tune_lint', 'tune', 'lint', str(results))
        self.assertEqual((output['format'], output['rows'], output['problems']), ('tunableop', 1, 300))
        self.assertEqual(output['left_out'], {'malformed': 100})
        output = self.expect('tune_lint', 'tune', 'lint', str(results), '--gpu', 'mi300x', '--fail-on', 'validators',
                             exit_code=1)
        self.assertIn('validators', [finding['kind'] for finding in output['findings']])
        self.expect('error', 'tune', 'lint', str(results), '--gpu', 'mi250', exit_code=2)
        self.expect('error', 'tune', 'lint', str(self.folder / 'nothing'), exit_code=1)
        kinds = set(SCHEMA['$defs']['lint_kind']['enum'])
        with_kinds = subprocess.run([TOOL, 'tune', 'lint', '--help'], capture_output=True, text=True).stdout
        self.assertEqual([kind for kind in kinds if kind not in with_kinds], [])
        formats = re.search(r'--format FORM:\{([^}]*)\}', with_kinds).group(1).split(',')
        self.assertEqual(sorted(SCHEMA['$defs']['tune_lint']['properties']['format']['enum']), sorted(formats))

    def test_commands_on_a_model(self):
        inputs = ('--inputs', BERT + '/inputs.npz')
        self.expect('inspect_model', 'inspect', BERT)
        self.expect('inspect_model', 'inspect', BERT, '--graph')
        self.expect('inspect_scopes', 'inspect', BERT, '--scopes')
        self.expect('explain', 'explain', BERT)
        self.expect('run', 'run', BERT, *inputs)
        self.expect('stepwise', 'run', BERT, *inputs, '--stepwise')
        self.expect('bench', 'bench', BERT, '--runs', '3')
        self.expect('profile', 'profile', BERT)
        self.expect('verify', 'verify', BERT, *inputs)
        self.expect('replays', 'verify', BERT, *inputs, '--replays', '2')
        recipe = self.folder / 'recipe.json'
        recipe.write_text(json.dumps({'version': 1, 'rungs': ['precision'], 'threads': 1, 'precision': [
            {'labels': '*', 'products': 'bf16', 'values': 'bf16'}, {'labels': 'encoder.layer.1', 'products': 'f32'}]}))
        parts = self.expect('verify', 'verify', BERT, *inputs, '--recipe', str(recipe))['precision']
        self.assertEqual([part['labels'] for part in parts], ['*', 'encoder.layer.1'])
        self.expect('inspect_model', 'inspect', BERT, '--recipe', str(recipe))
        recipe.write_text(json.dumps({'version': 1, 'rungs': ['fusion', 'attention', 'precision'], 'threads': 1,
            'precision': [{'labels': '*', 'products': 'i8', 'smooth': 0.5, 'rotate': True, 'percentile': 99.9}]}))
        plan = str(self.folder / 'smoothed.rung')
        self.expect('build', 'build', BERT, *inputs, '--recipe', str(recipe), '--out', plan)
        kept = self.expect('inspect_plan', 'inspect', plan)['recipe']
        self.assertTrue(kept['channel_calibration'] and kept['calibration'])
        recipe.write_text(json.dumps({'version': 1, 'rungs': ['fusion', 'attention', 'precision'], 'threads': 1,
            'precision': [{'labels': '*', 'products': 'i8', 'outliers': 2}]}))
        self.expect('build', 'build', BERT, *inputs, '--recipe', str(recipe), '--out', plan)
        kept = self.expect('inspect_plan', 'inspect', plan)['recipe']
        self.assertEqual({len(columns) for columns in kept['outlier_columns'].values()}, {2})
        fresh = ('--shape', 'input_ids=1,5', '--seeds', '2', '--seed', '40')
        over = self.expect('verify', 'verify', BERT, *fresh)['seeds']
        self.assertEqual((over['fresh']['first'], over['growth']), (40, None))
        steps = self.expect('verify', 'verify', POLICY, '--seeds', '2')['seeds']
        self.assertTrue(steps['growth']['to'].startswith('step.'))
        self.expect('run', 'run', POLICY, '--inputs', POLICY + '/inputs.npz')

    def test_two_models_in_turns(self):
        compared = self.expect('compare', 'compare', BERT, BERT, '--budget', '1s', '--max-slowdown', '900%',
                               '--same-outputs')
        self.assertEqual([output['max_abs'] for output in compared['outputs']], [0, 0])

    def test_predictions(self):
        built = subprocess.run([TOOL, 'predict', BERT, '--gpu', 'mi355x', '--json'], capture_output=True, text=True)
        if built.returncode and json.loads(built.stdout)['error']['kind'] == 'device':
            self.skipTest(built.stderr)
        got = self.expect('predict', 'predict', BERT, '--gpu', 'mi300x,mi355x', '--shape', 'input_ids=1,9')
        self.assertEqual([p['gpu']['word'] for p in got['predictions']], ['mi300x', 'mi355x'])

    def test_machine_code(self):
        waves = self.expect('occupancy', 'occupancy', '--vgprs', '170', '--group', '64')['occupancy']
        self.assertEqual((waves['waves_per_simd'], waves['excess']), (2, 2))
        self.expect('error', 'occupancy', exit_code=2)
        self.expect('error', 'isa', BERT + '/config.json', exit_code=1)

    def test_machine_code_as_text_and_in_a_folder(self):
        folder = self.folder / 'triton' / 'hash'
        folder.mkdir(parents=True)
        text = folder / 'k.amdgcn'
        text.write_text(ASSEMBLY)
        kernel, = self.expect('isa', 'isa', str(text))['kernels']
        self.assertEqual((kernel['vgprs'], kernel['bank_conflicts']['cycles']), (170, 62))
        self.expect('isa', 'isa', str(text), '--fail-on', 'spill,round-trip')
        self.expect('isa', 'isa', str(text), '--fail-on', 'spill,bank-conflict', exit_code=1)
        self.expect('error', 'isa', str(text), '--fail-on', 'slow', exit_code=2)
        text.write_text(ASSEMBLY.partition('\n')[2])
        self.expect('error', 'isa', str(text), exit_code=1)
        self.expect('isa', 'isa', str(text), '--target', 'gfx950')
        text.write_text(ASSEMBLY)
        # What Triton says beside it of the LDS that a launch adds counts.
        (folder / 'k.json').write_text('{"shared": 32768, "num_warps": 4}')
        kernel, = self.expect('isa', 'isa', str(self.folder / 'triton'))['kernels']
        self.assertEqual((kernel['file'], kernel['occupancy']['limit']), ('hash/k.amdgcn', 'LDS'))
        waves, = self.expect('occupancies', 'occupancy', str(self.folder / 'triton'))['kernels']
        self.assertEqual(waves['occupancy']['waves_per_simd'], 1)
        # A code object beside it is read instead.
        (folder / 'k.hsaco').write_text('\x7fELF')
        self.expect('error', 'isa', str(self.folder / 'triton'), exit_code=1)
        (folder / 'k.hsaco').unlink()
        text.unlink()
        self.expect('error', 'isa', str(self.folder / 'triton'), exit_code=1)

    def test_advise(self):
        eager, graph = (str(DATA / 'traces' / f'{name}.json.gz') for name in ('small_eager', 'small_graph'))
        self.assertEqual(self.expect('advise', 'advise', eager)['steps'], 3)
        self.assertNotEqual(self.expect('advise', 'advise', graph, '--against', eager)['difference']['categories'], [])
        self.expect('error', 'advise', str(self.folder / 'nowhere'), exit_code=1)
        idle = self.folder / 'no_device.json'
        idle.write_text(json.dumps({'schemaVersion': 1, 'traceEvents': [
            {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 5}]}))
        self.assertFalse(self.expect('advise', 'advise', str(idle), exit_code=1)['complete'])

    def test_env(self):
        for stack in ('pytorch', 'vllm', 'sglang', 'rung'):
            self.assertEqual(self.expect('env', 'env', '--stack', stack, '--gpu', 'mi300x')['gpu'], 'mi300x')
        self.expect('error', 'env', '--stack', 'vllm', '--gpu', 'mi999', exit_code=2)

    def test_doctor(self):
        clean = str(DATA / 'machine')
        self.assertEqual(self.expect('doctor', 'doctor', '--root', clean)['findings'], [])
        captured = self.folder / 'captured'
        self.assertGreater(self.expect('capture', 'doctor', '--root', clean, '--capture', str(captured))['files'], 20)
        (captured / 'environment').write_text('HIP_CACHE_ENABLED=1\nNCCL_P2P_DISABLE=1\nHIP_LUNCH_BLOCKING=1\n')
        found = self.expect('doctor', 'doctor', '--root', str(captured))['findings']
        self.assertEqual([f['subject'] for f in found], ['HIP_CACHE_ENABLED', 'HIP_LUNCH_BLOCKING', 'NCCL_P2P_DISABLE'])
        self.expect('doctor', 'doctor')
        self.expect('error', 'doctor', '--root', str(self.folder / 'nowhere'), exit_code=1)
        (self.folder / 'paste.txt').write_text('PyTorch version: 2.9.0\nHIP_LAUNCH_BLOCKING=1\n')
        told = self.expect('doctor', 'doctor', '--from', str(self.folder / 'paste.txt'))
        self.assertEqual(told['told_by'], ['collect_env', 'env'])
        self.assertIn('governor', told['unknown'])
        self.expect('error', 'doctor', '--root', clean, '--capture', str(captured), exit_code=1)

    def test_climb_and_what_follows_it(self):
        out = self.folder / 'out'
        self.expect('climb', 'climb', BERT, '--budget', '1s', '--out', str(out))
        jsonschema.validate(json.loads((out / 'report.json').read_text()), SCHEMA['$defs']['climb'] | {
            '$defs': SCHEMA['$defs']})
        jsonschema.validate(json.loads((out / 'recipe.json').read_text()), SCHEMA['$defs']['recipe'] | {
            '$defs': SCHEMA['$defs']})
        plan, recipe = str(out / 'plan.rung'), ('--recipe', str(out / 'recipe.json'))
        self.expect('inspect_plan', 'inspect', plan)
        self.expect('inspect_model', 'inspect', BERT, *recipe)
        self.expect('build', 'build', BERT, *recipe, '--out', str(self.folder / 'again.rung'))

    def test_texts_and_climbs_for_them(self):
        llama = str(DATA / 'checkpoints' / 'llama')
        made = self.expect('generate', 'generate', llama, '--inputs', llama + '/inputs.npz', '--new', '3')
        self.assertEqual((len(made['tokens']), made['stopped_by']), (3, 'count'))
        mixed = self.expect('climbs', 'climb', llama, '--prompt', '8', '--new', '8', '--budget', '2s', '--threads', '1',
                            '--out', str(self.folder / 'mix'))
        self.assertEqual([plan['text_before'] for plan in mixed['plans']], [0, 11])
        self.assertEqual((mixed['mix']['prompt'], mixed['mix']['chunks']), (8, 1))

    def test_code_of_a_plan(self):
        plan = str(self.folder / 'plan.rung')
        built = subprocess.run([TOOL, 'build', DATA / 'exported/operators_of_windows.pt2', '--device', 'emu:gfx942',
                                '--out', plan], capture_output=True, text=True,
                               env=os.environ | {'RUNG_CACHE_DIR': str(self.folder / 'cache')})
        if built.returncode != 0:
            self.skipTest(built.stderr)
        code = self.expect('inspect_plan', 'inspect', plan)['code']
        if not code:
            self.skipTest('no compiler for emulated GPUs')
        self.expect('inspect_code', 'inspect', plan, '--code', code[0]['name'])
        self.expect('error', 'inspect', plan, '--code', 'none', exit_code=1)

    def test_options_and_errors(self):
        self.expect('options', 'options')
        self.expect('error', 'climb', exit_code=2)
        self.expect('error', 'run', BERT, '--sped', exit_code=2)
        self.expect('error', 'inspect', str(self.folder / 'nowhere'), exit_code=1)
        self.expect('error', 'bench', BERT, '--blocks', exit_code=2)

    def test_a_failed_verification_is_a_result(self):
        wrong = ('--reference', BERT + '/outputs.npz', '--map', 'last_hidden_state=last_hidden_state_defaults')
        failed = self.expect('verify', 'verify', BERT, '--inputs', BERT + '/inputs.npz', *wrong, exit_code=1)
        self.assertFalse(failed['passed'])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
