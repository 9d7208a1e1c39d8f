# rung as a contestant: climbs to a plan for one setting, or in i8 builds one, then drives `rung bench PLAN --blocks`.
# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
from pathlib import Path

import numpy as np

import checkpoint
from contestant import Absent, Contestant, cores_for


RUNGS = ['reduce', 'attention', 'projection', 'fusion', 'regions', 'precision']


class Rung:
    def __init__(self, tool, model, cache, budget):
        self.tool, self.model, self.cache, self.budget = tool, model, Path(cache), budget

    def climb(self, setting):
        """The plan for this setting; made again when the tool is newer. Returns (path, reason it is not there)."""
        if not Path(self.tool).exists():
            return None, f'{self.tool} is not built'
        folder = self.cache / 'plans' / setting.key
        plan = folder / 'plan.rung'
        if plan.exists() and plan.stat().st_mtime > Path(self.tool).stat().st_mtime:
            return plan, None
        folder.mkdir(parents=True, exist_ok=True)
        shape = ['--shape', f'input_ids=1,{setting.tokens}']
        if setting.dtype == 'i8':
            command = [self.tool, 'build', self.model, *shape, '--recipe', self.recipe_of_bytes(folder, setting),
                       '--retune', '--out', str(plan)]
        else:
            command = [self.tool, 'climb', self.model, *shape, '--dtype', setting.dtype, '--threads',
                       str(setting.threads), '--budget', self.budget, '--out', str(folder),
                       '--database', f'{folder}.tuning.json']
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            return None, f'{command[1]}: ' + (run.stderr.strip().splitlines() or ['no reason given'])[-1]
        return plan, None

    @staticmethod
    def recipe_of_bytes(folder, setting):
        """All products with weights in i8, all else in f32."""
        path = folder / 'recipe.json'
        path.write_text(json.dumps({'version': 1, 'rungs': RUNGS, 'capture': True, 'tuned_kernels': True,
                                    'precision': [{'labels': '*', 'products': 'i8'}], 'threads': setting.threads}))
        return str(path)

    def enter(self, setting, log):
        plan, reason = self.climb(setting)
        if reason:
            return Absent('rung', reason)
        inputs = plan.with_name('inputs.npz')
        np.savez(inputs, **checkpoint.example_inputs(setting.tokens))
        command = [self.tool, 'bench', str(plan), '--threads', str(setting.threads),
                   '--inputs', str(inputs), '--blocks']
        contestant = Contestant('rung', command, cores_for(setting.threads), log)
        contestant.plan = plan
        return contestant

    def outputs(self, plan):
        inputs, outputs = plan.with_name('inputs.npz'), plan.with_name('outputs.npz')
        subprocess.run([self.tool, 'run', str(plan), '--inputs', str(inputs), '--outputs', str(outputs)], check=True)
        return dict(np.load(outputs))

    def profile(self, plan):
        """What `rung profile` says of the plan: rates of its GEMMs and the machine's peaks, {} if it cannot."""
        run = subprocess.run([self.tool, 'profile', str(plan), '--json'], capture_output=True, text=True)
        try:
            return json.loads(run.stdout)
        except json.JSONDecodeError:
            return {}
