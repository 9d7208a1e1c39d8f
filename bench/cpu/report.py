# Tells what compare.py measured: a line while it runs, Markdown at the end, the environment it ran in.
# SPDX-License-Identifier: Apache-2.0
import os
import platform
from importlib import metadata
from pathlib import Path

LIBRARIES = ('openvino', 'nncf', 'onnxruntime', 'torch', 'numpy')
ISA = ('avx2', 'avx512f', 'avx512_vnni', 'avx512_bf16', 'amx_bf16', 'amx_int8')


def name_of(setting):
    plural = 's' * (setting['threads'] > 1)
    return f"{setting['dtype']}, {setting['threads']} thread{plural}, {setting['tokens']} tokens"


def line(result):
    medians = ', '.join(f'{name} {ms:.3f}' for name, ms in result['median_ms'].items())
    ratio = f"; best peer / rung {result['ratio']['median']:.2f}" if 'ratio' in result else ''
    return f"{name_of(result['setting'])}: {medians or 'nobody took part'} ms{ratio}"


def markdown(document):
    results = document['results']
    errors = ['', 'Against PyTorch in f32 (last_hidden_state, then sentence_embedding):', '', errors_table(results)]
    peaks = [f'- {name_of(r["setting"])}: {peaks_text(r)}' for r in results if peaks_text(r)]
    return '\n'.join([''] + measured(document) + errors + [''] * bool(peaks) + peaks) + '\n'


def measured(document):
    """Where and how it was measured, the medians, and who did not take part."""
    results, environment = document['results'], document['environment']
    names = document['contestants']
    parts = [f"{environment['processor']}, {environment['isa']}, {environment['cores']} processors; "
             + ', '.join(f'{name} {version}' for name, version in environment['libraries'].items()),
             f"load average before: {environment['load']:.1f}; medians in ms over {document['rounds']} alternating "
             f"blocks of {document['block_ms']} ms", '', table(results, names)]
    notes = sorted({f'- {name}, {r["setting"]["dtype"]}: not available: {why}' for r in results
                    for name, why in r['unavailable'].items()})
    return parts + [''] * bool(notes) + notes


def write_into(path, document):
    """Replaces what stands between the marks; the file keeps all else."""
    begin, end = '<!-- bench cpu: begin -->\n', '<!-- bench cpu: end -->'
    text = path.read_text(encoding='utf-8')
    before, rest = text.split(begin, 1)
    path.write_text(before + begin + '\n'.join(measured(document)) + '\n' + end + rest.split(end, 1)[1])


def table(results, names):
    rows = ['| setting | ' + ' | '.join(names) + ' | best peer / rung (range) |', '| --- ' * (len(names) + 2) + '|']
    for r in results:
        cells = [f"{r['median_ms'][n]:.3f}" if n in r['median_ms'] else '-' for n in names]
        ratio = r.get('ratio')
        shown = f"{ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f})" if ratio else '-'
        rows.append(f"| {name_of(r['setting'])} | " + ' | '.join(cells) + f' | {shown} |')
    return '\n'.join(rows)


def errors_table(results):
    rows = ['| setting | contestant | rel. L2 | cosine |', '| --- | --- | --- | --- |']
    for r in results:
        for name, outputs in r['errors'].items():
            if reasons := [e['reason'] for e in outputs.values() if 'reason' in e]:
                rows.append(f"| {name_of(r['setting'])} | {name} | {reasons[0]} | - |")
                continue
            rel = ', '.join(f"{e['rel_l2']:.1e}" for e in outputs.values())
            cosine = ', '.join(f"{e['cosine']:.7f}" for e in outputs.values())
            rows.append(f"| {name_of(r['setting'])} | {name} | {rel} | {cosine} |")
    return '\n'.join(rows)


def peaks_text(result):
    """What share of the machine's measured peaks the plan's GEMMs reach, when `rung profile` says so."""
    gemm, peaks = result['profile'].get('gemm'), result['profile'].get('peaks')
    dtype = result['setting']['dtype']
    if not gemm or not peaks or f'gemm_{dtype}_gflops' not in peaks:
        return ''
    rate = max(peaks[f'gemm_{dtype}_gflops'], peaks.get(f'fma_{dtype}_gflops', 0))
    shares = {'peak rate': gemm['gflops'] / rate,
              'read bandwidth': gemm['gbps'] / peaks['read_gbps']}
    return 'GEMMs reach ' + ', '.join(f'{100 * share:.0f} % of the measured {name}' for name, share in shares.items())


def environment():
    text = Path('/proc/cpuinfo').read_text(encoding='utf-8')
    facts = dict(part.split(':', 1) for part in text.split('\n\n')[0].replace('\t', '').split('\n') if ':' in part)
    flags = facts.get('flags', '').split()
    return {'processor': facts.get('model name', platform.processor()).strip(),
            'isa': ' '.join(name for name in ISA if name in flags), 'cores': len(os.sched_getaffinity(0)),
            'system': platform.platform(), 'governor': governor(), 'load': os.getloadavg()[0],
            'python': platform.python_version(), 'libraries': {n: version(n) for n in LIBRARIES}}


def version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return 'absent'


def governor():
    path = Path('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')
    return path.read_text(encoding='ascii').strip() if path.exists() else 'not told'
