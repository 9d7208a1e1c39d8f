# Rules of style for what people read: pages' lengths, links between them, and words of present-day English.
# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

README = Path('README.md')
README_STOP = 130  # lines: what a newcomer reads before trying the tool
PAGE_STOP = 325  # lines of any other page: it can be read in one sitting, most of it tables
LINE_STOP = 130  # characters, outside tables and pictures

IN_USE = 'a word in use'
# What to write instead, by the pattern that should not be in a comment, a message or a page.
WORDS = {re.compile(rf'\b(?:{pattern})\b', re.IGNORECASE): instead for pattern, instead in {
    r'reckon\w*': 'compute, count, estimate',
    r'as (?:they|it) lies?': 'as stored, in the order of memory',
    r'sinks?|sunk': 'say what it does; only what moves down sinks',
    r'anew|afresh': 'again',
    r'afar': 'far away',
    r'seldom': 'rarely',
    r'astray': 'say where it goes instead',
    r'mend(?:s|ed|ing)?': 'repair, fix',
    r'heed\w*': 'obey, check',
    r'whom(?:so)?ever|whosoever': 'whoever',
    r'to be had': 'available',
    r'in vain': 'without result',
    r'for want of': 'for lack of',
    r'save (?:for|that)': 'except',
    r'so (?:many|few)(?! (?:as|that)\b)(?! \w+ that\b)': 'name the number: this many, `count`',
    r'for (?:they|he|she|we|there)': 'because',
    r'lest|ere|oft|nay|amid|betwixt|amongst|whilst|unto|upon|albeit|amiss|awry|asunder|aught|n[ao]ught': IN_USE,
    r'shall|ought|dwell\w*|bestow\w*|befall\w*|beseech\w*|behold|forsake\w*|hearken\w*|bid(?:s|den)?': IN_USE,
    r'(?:here|there|where)(?:at|in|of|to|unto|upon|withal?|from)': IN_USE,
    r'hitherto|henceforth|forthwith|whence|thence|thither|hither|yonder|perchance|verily': IN_USE,
}.items()}
MOVES_DOWN = re.compile(r'sink_transpose|fuse_attention')  # files of the pass that moves transposes down


def check_words(path, lines):
    for number, line in prose(path, lines):
        for pattern, instead in WORDS.items():
            match = pattern.search(line)
            if match and not (match.group().lower().startswith('sink') and MOVES_DOWN.search(path.name)):
                yield number, f'"{match.group()}": plain present-day English, such as: {instead}'


def prose(path, lines):
    """(number, text) of what is written for people: pages, comments, strings, a patch's first lines; not this list."""
    if path.name in ('LICENSE', 'prose.py', 'test_prose.py') or path.suffix == '.json':
        return
    for number, line in enumerate(lines, 1):
        if path.suffix == '.patch' and line.startswith(('--- ', 'Test:')):
            return
        if path.suffix in ('.md', '.patch'):
            yield number, line
        else:
            yield number, ' '.join(re.findall(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|(?://|#(?!include)).*', line))


def is_reference(path):
    """Written from an interface or a build, and looked up instead of read: as long as what it lists."""
    return path.parts[0] == 'docs' and (path.name.startswith('reference_') or path.name == 'amd_kernels.md')


def check_page(path, lines):
    if path.suffix != '.md':
        return
    stop = README_STOP if path == README else PAGE_STOP
    if len(lines) > stop and not is_reference(path):
        yield 1, f'{len(lines)} lines; this page stops at {stop}'
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_STOP and not line.startswith(('|', '![')):
            yield number, f'{len(line)} characters; a line outside a table stops at {LINE_STOP}'


def check_links(files):
    """Links lead to files that are here, and README.md leads to every page of docs/; `files` is {path: lines}."""
    reached = set()
    for path, lines in files.items():
        if path.suffix != '.md':
            continue
        for number, line in enumerate(lines, 1):
            for target in re.findall(r'\]\(([^)#]+)(?:#[^)]*)?\)', line):
                if re.match(r'\w+:', target):
                    continue
                linked = normal(path.parent / target)
                if path == README:
                    reached.add(linked)
                if linked not in files and not any(linked in other.parents for other in files):
                    yield path, number, f'{target} is not here'
    for path in files:
        if README in files and path.parts[0] == 'docs' and path.suffix == '.md' and path not in reached:
            yield README, 1, f'does not link to {path}'


def normal(path):
    """Without `..`; the path need not exist."""
    parts = []
    for part in path.parts:
        if part == '..' and parts:
            parts.pop()
        else:
            parts.append(part)
    return Path(*parts)
