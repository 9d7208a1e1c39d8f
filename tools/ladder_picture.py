#!/usr/bin/env python3
# Draws the ladder of a climb's report.json as one SVG: ladder_picture.py .demo/report.json > docs/images/ladder.svg
# SPDX-License-Identifier: Apache-2.0
#
# The same rows and bars as the report's own page, as a picture for a README or a pull request.
import argparse
import json
from html import escape

WIDTH, ROW, TOP, NAME, BARS, VALUES = 790, 26, 66, 136, 376, 66  # pixels; BARS starts where NAME ends
STYLE = '''
  :root { color-scheme:light dark } text { font:13px system-ui,"Segoe UI",Roboto,Arial,sans-serif; fill:#1a1e23 }
  .soft { fill:#59626c } .rest { fill:#cdd4db } .gain { fill:#0d7a6f } .loss { fill:#b3261e }
  .refused { fill:url(#hatch) }
  .hatch,.whisker { stroke:#a9b2bb } .whisker { stroke:#1a1e23 } .floor { stroke:#b06a00; stroke-dasharray:2 2 }
  .title { font-size:16px; font-weight:600 }
  @media (prefers-color-scheme:dark) { text { fill:#e9ecef } .soft { fill:#a0a9b3 } .rest { fill:#434c55 }
    .gain { fill:#3fb8a8 } .loss { fill:#ff8a80 }
    .hatch { stroke:#59636d } .whisker { stroke:#e9ecef } .floor { stroke:#e0a03c } }
'''
HATCH = ('<pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
         '<line class="hatch" x1="0" x2="0" y1="0" y2="4" stroke-width="3"/></pattern>')


def rows_of(report):
    """The baseline, then every rung as its receipt has it."""
    baseline = {'name': 'baseline', 'accepted': True, 'before_ms': report['baseline_ms'], 'ms': report['baseline_ms'],
                'ratio': None, 'reason': "as the model's author wrote it", 'attempt': 1}
    return [baseline] + report['rungs']


def scale_of(rows):
    """Pixels per millisecond. What was not kept may be many times slower: it is cut off."""
    kept = max(r['ms'] for r in rows if r['accepted'])
    longest = max(r['ms'] for r in rows)
    return BARS / min(longest, kept * 1.25)


def bars(row, y, scale):
    def bar(css, begin, end):
        begin, end = (min(ms * scale, BARS) for ms in (begin, end))
        return f'<rect class="{css}" x="{NAME + begin:.1f}" y="{y + 5}" width="{max(end - begin, 0):.1f}" height="15"/>'
    before, after = row['before_ms'], row['ms']
    drawn = [bar('rest', 0, min(before, after))]
    if row['ratio'] is not None:
        css = ('gain' if after <= before else 'loss') if row['accepted'] else 'refused'
        drawn.append(bar(css, min(before, after), max(before, after)))
        drawn.append(whisker(row, y, scale))
    return ''.join(drawn)


def whisker(row, y, scale):
    """Where the time after the rung lies, by the 95 % interval of the ratio of before to after."""
    low, high = row['ci95']
    if low <= 0 or not row['accepted']:
        return ''
    begin, end = (NAME + min(row['before_ms'] / ratio * scale, BARS) for ratio in (high, low))
    return f'<line class="whisker" x1="{begin:.1f}" x2="{end:.1f}" y1="{y + 12.5}" y2="{y + 12.5}"/>'


def text(x, y, content, css='', anchor='start'):
    return f'<text class="{css}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(content)}</text>'


def row_picture(row, y, scale):
    again = ' (again)' if row['attempt'] > 1 else ''
    name = shortened(row['name'], 18 - len(again)) + again
    verdict = row['reason'] if row['accepted'] else 'not kept: ' + row['reason']
    return '\n'.join([text(0, y + 17, name, '' if row['accepted'] else 'soft'), bars(row, y, scale),
                      text(NAME + BARS + VALUES - 8, y + 17, f'{row["ms"]:.3g} ms', anchor='end'),
                      text(NAME + BARS + VALUES + 4, y + 17, shortened(verdict, 30), 'soft')])


def shortened(line, most):
    return line if len(line) <= most else line[:most - 1].rstrip() + '…'


def picture(report):
    rows = rows_of(report)
    scale = scale_of(rows)
    height = TOP + ROW * len(rows) + 8
    floor = NAME + report['floor_ms'] * scale
    title = (f'{report["model"]}, {report["dtype"]}: {report["baseline_ms"]:.3g} ms → {report["final_ms"]:.3g} ms, '
             + (f'{report["speedup"]:.3g} × faster' if report['speedup'] else 'not raced'))
    where = f'{report["device"]}; {report["kernels_before"]} launches → {report["kernels_after"]}'
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" '
        f'aria-label="{escape(title)}">', f'<style>{STYLE}</style><defs>{HATCH}</defs>',
        text(0, 20, title, 'title'), text(0, 42, where, 'soft'),
        text(floor, TOP - 6, f'floor, {report["floor_ms"]:.3g} ms', 'soft', 'middle'),
        *[row_picture(row, TOP + ROW * i, scale) for i, row in enumerate(rows)],
        f'<line class="floor" x1="{floor:.1f}" x2="{floor:.1f}" y1="{TOP}" y2="{height - 6}"/>', '</svg>'])


def main():
    parser = argparse.ArgumentParser(description="Draws the ladder of a climb's report.json as an SVG.")
    parser.add_argument('report', type=argparse.FileType(encoding='utf-8'))
    print(picture(json.load(parser.parse_args().report)))


if __name__ == '__main__':
    main()
