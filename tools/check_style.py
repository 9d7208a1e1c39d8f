#!/usr/bin/env python3
# Checks the rules that nobody keeps by goodwill: sizes, includes, first lines, words, pages, formatting.
# SPDX-License-Identifier: Apache-2.0
import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cpp_functions import functions  # noqa: E402
from prose import check_links, check_page, check_words  # noqa: E402

FOLDERS = ('base ir measure reference text import passes trace doctor amdgpu device kernels plan tune session open '
           'ladder predict stacks report tasks serve api cli').split()
ROOMS = {'amdgpu': 'isa code run analysis'.split()}  # of a folder: a room includes only what stands before it, too
FILE_STOP, FUNCTION_STOP, PARAMETER_STOP, LINE_STOP = 500, 60, 5, 120
NAME_STOP = 8  # words of a test's name
LINES_PER_CONDITION = 1000  # lines of src/ outside device/ and kernels/ for each #if
# clang-format keeps these. It would break the tables of one-line cases and the macros of one instance per line that
# device code and .inc files are made of, so those have the limit on the line's length alone.
FORMATTED = {'.c', '.cpp', '.h', '.hpp'}
CPP = FORMATTED | {'.inc', '.cu', '.cuh', '.in'}
CODE = CPP | {'.py', '.sh', '.cmake', '.map'}
NAMED_CODE = {'CMakeLists.txt', 'dev', 'run'}
# Below them a device is a DeviceWord: a caller's word becomes one with its options, a worker's with its job.
PARSE_DEVICES = {Path('src/kernels/device_word.hpp'), Path('src/kernels/device_word.cpp'), Path('src/open/options.cpp'),
                 Path('src/tune/job_json.cpp')}
# What CUDA and HIP both write; every other name of a compiler's own stands behind kernels/gpu/portable.cuh.
DEVICE_KEYWORDS = {'__device__', '__host__', '__shared__', '__align__', '__noinline__', '__grid_constant__',
                   '__VA_ARGS__'}
VENDORS_OWN = re.compile(r'\b__\w+|\basm\b|#\s*(?:if|elif)\w*|#\s*include\s*<(?:cuda|hip)[^>]*>|\bsm_\d+')
LANES_AS_NUMBER = re.compile(r'[%/&]\s*3[12]\b|\b32\s*\*\s*\w*[wW]arps\b|[wW]arps\s*\*\s*32\b')
CONDITION = re.compile(r'\s*#\s*(if|elif)(?!def __cplusplus$)')
SUBJECTLESS = re.compile(r'\s*// (What|Of)\b')
TEST_NAME = re.compile(r'^(?:TYPED_)?TEST(?:_[FP])?\(\s*\w+,\s*(?:DISABLED_)?(\w+)\)', re.MULTILINE)
NAME_WORD = re.compile(r'[A-Z][a-z0-9]*|[a-z0-9]+')
UNFINISHED = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X)\b')
LICENCE = 'SPDX-License-Identifier: Apache-2.0'


def is_code(path):
    return path.suffix in CODE or (path.suffix in ('', '.txt') and path.name in NAMED_CODE)


def check_size(path, lines):
    written_by_a_tool = bool(lines) and 'Made by tools/' in lines[0]
    if len(lines) > FILE_STOP and not written_by_a_tool:
        yield 1, f'{len(lines)} lines; a file stops at {FILE_STOP}'
    if path.suffix not in FORMATTED:
        for number, line in enumerate(lines, 1):
            if len(line) > LINE_STOP:
                yield number, f'{len(line)} characters; a line stops at {LINE_STOP}'


def check_first_lines(path, lines):
    """A sentence that says what the file is for, then the licence, in one comment at the top."""
    start = 1 if lines and lines[0].startswith('#!') else 0
    marker = '//' if path.suffix in CPP else '#'
    comment = []
    for line in lines[start:]:
        if not line.startswith(marker):
            break
        comment.append(line[len(marker):].strip())
    if not comment or not comment[0] or LICENCE in comment[0]:
        yield start + 1, 'the first line says what the file is for'
    if LICENCE not in comment:
        yield start + 2, f'the comment at the top ends with "{marker} {LICENCE}"'


def check_comments(path, lines):
    """A comment is a sentence with a subject: in src/ and include/ none begins with "What" or "Of"."""
    if path.suffix not in CPP or path.parts[0] not in ('src', 'include'):
        return
    before = ''
    for number, line in enumerate(lines, 1):
        begins = SUBJECTLESS.match(line)
        if begins and not before.startswith('//'):
            yield number, f'a comment that begins with "{begins[1]}" has no subject: say who does what'
        before = line.strip()


def check_test_names(path, lines):
    """A test's name says what the thing named by its suite promises, in few words."""
    if path.suffix not in CPP or path.parts[0] != 'tests':
        return
    text = '\n'.join(lines)
    for match in TEST_NAME.finditer(text):
        words = len(NAME_WORD.findall(match[1]))
        if words > NAME_STOP:
            yield text.count('\n', 0, match.start()) + 1, f"{words} words; a test's name stops at {NAME_STOP}"


def check_unfinished(path, lines):
    for number, line in enumerate(lines, 1):
        if match := UNFINISHED.search(line):
            yield number, f'{match.group()}: finish it, or leave it out'


def check_functions(path, lines):
    if path.suffix == '.py':
        found = python_functions('\n'.join(lines))
    elif path.suffix in CPP:
        found = [(f.name, f.first_line, f.lines, f.parameters) for f in functions('\n'.join(lines))]
    else:
        found = shell_functions(lines)
    for name, first, length, parameters in found:
        if length > FUNCTION_STOP:
            yield first, f'{name} has {length} lines; a function stops at {FUNCTION_STOP}'
        if parameters > PARAMETER_STOP and not stands_in_for_a_library(path):
            yield first, f'{name} has {parameters} parameters; more than {PARAMETER_STOP} means a missing noun'


def stands_in_for_a_library(path):
    """Its functions have the arguments that the library's have."""
    return any(part.startswith('fake_') for part in path.parts[:-1])


def python_functions(text):
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the interpreter reports it better
        return []
    nodes = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [(n.name, n.lineno, n.end_lineno - n.lineno + 1, count_arguments(n.args)) for n in nodes]


def count_arguments(args):
    """Those that a reader of a call must count: keyword-only ones are named there."""
    names = [a.arg for a in args.posonlyargs + args.args]
    return len([n for n in names if n not in ('self', 'cls')])


def shell_functions(lines):
    found, name, first = [], None, 0
    for number, line in enumerate(lines, 1):
        if match := re.match(r'(\w+)\(\) \{', line):
            name, first = match.group(1), number
        if name and (line == '}' or (number == first and line.rstrip().endswith('}'))):
            found.append((name, first, number - first + 1, 0))
            name = None
    return found


def check_includes(path, lines):
    """Folders of src/ include only themselves and what stands before them in FOLDERS."""
    if path.suffix not in CPP or len(path.parts) < 3 or path.parts[0] != 'src':
        return
    own = path.parts[1]
    if own not in FOLDERS:
        yield 1, f'src/{own} is not in the folder order (FOLDERS in tools/check_style.py)'
        return
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s+"([^"/]+)/', line)
        if not match or match.group(1) == 'rung':
            continue
        other = match.group(1)
        if other not in FOLDERS:
            yield number, f'"{other}/" is not a folder of src/'
        elif FOLDERS.index(other) > FOLDERS.index(own):
            yield number, f'{own} includes {other}, which stands below it'


def check_inner_rooms(path, lines):
    """Rooms of a folder include only themselves and what stands before them in ROOMS."""
    if path.suffix not in CPP or path.parts[0] != 'src' or path.parts[1] not in ROOMS:
        return
    folder, own, *_ = path.parts[1:]
    rooms = ROOMS[folder]
    if own not in rooms:
        yield 1, f'{own} stands in none of the rooms of {folder} (ROOMS in tools/check_style.py)'
        return
    for number, line in enumerate(lines, 1):
        match = re.match(rf'\s*#\s*include\s+"{folder}/([^"/]+)/', line)
        if match and match.group(1) in rooms[rooms.index(own) + 1:]:
            yield number, f'{folder}/{own} includes {folder}/{match.group(1)}, which stands below it'


def check_json(path, lines):
    """One place turns JSON into text: the library's dump() throws at a string that is not UTF-8."""
    if path.suffix not in CPP or path.parts[0] != 'src' or path == Path('src/base/json.cpp'):
        return
    for number, line in enumerate(lines, 1):
        if '.dump(' in line:
            yield number, 'dump() throws; dump_json() of base/json.hpp does not'


def check_device_words(path, lines):
    """A device's word is parsed once, where options come from."""
    if path.suffix not in CPP or path.parts[0] != 'src' or path in PARSE_DEVICES:
        return
    for number, line in enumerate(lines, 1):
        if re.search(r'\bparse_device\(', line):
            yield number, "asked_device() of open/options.hpp parses a caller's word for a device, once"


def check_device_code(path, lines):
    """A kernel is every vendor's: instructions and the number of lanes stand in vendor/, *_sm90 and *_cdna alone."""
    if path.suffix not in ('.cu', '.cuh') or path.parts[:3] != ('src', 'kernels', 'gpu'):
        return
    if path.parts[3] in ('vendor', 'sm90', 'cdna') or path.stem.endswith(('_sm90', '_cdna')):
        return
    for number, line in enumerate(lines, 1):
        code = line.split('//')[0]
        found = [name for name in VENDORS_OWN.findall(code) if name not in DEVICE_KEYWORDS]
        found += LANES_AS_NUMBER.findall(code)
        if found:
            yield number, f'{found[0].strip()} is one vendor\'s: portable.cuh has a name for it, or gets one'


RULES = [check_size, check_first_lines, check_comments, check_test_names, check_unfinished, check_functions,
         check_includes, check_inner_rooms, check_json, check_device_words, check_device_code, check_words]


def check_file(path, lines):
    rules = RULES if is_code(path) else [check_unfinished, check_page, check_words]
    return [(path, number, text) for rule in rules for number, text in rule(path, lines)]


def check_conditions(files):
    """One #if per thousand lines outside device/ and kernels/, none in the public headers but C's for C++ compilers."""
    total, places = 0, []
    for path, lines in files.items():
        if path.suffix not in CPP or path.parts[0] not in ('src', 'include'):
            continue
        found = [(path, n) for n, line in enumerate(lines, 1) if CONDITION.match(line)]
        if path.parts[0] == 'include':
            yield from ((path, n, 'public headers have no #if') for _, n in found)
        elif path.parts[1] not in ('device', 'kernels'):
            total += len(lines)
            places += found
    allowed = max(1, total // LINES_PER_CONDITION)
    if len(places) > allowed:
        text = f'{len(places)} #if in {total} lines outside device/ and kernels/; {allowed} allowed'
        yield from ((path, n, text) for path, n in places)


def check_cycles(files):
    """A unit is X.hpp with X.cpp; in a folder that has ROOMS none is included by what it includes."""
    units = {}
    for path, lines in files.items():
        if path.suffix not in CPP or path.parts[0] != 'src' or path.parts[1] not in ROOMS:
            continue
        own = path.relative_to('src').with_suffix('')
        found = [re.match(rf'\s*#\s*include\s+"({path.parts[1]}/[^"]+)"', line) for line in lines]
        units.setdefault(own, set()).update(Path(match.group(1)).with_suffix('') for match in found if match)
    try:
        TopologicalSorter({unit: included - {unit} for unit, included in units.items()}).prepare()
    except CycleError as error:
        cycle = [str(unit) for unit in reversed(error.args[1])]
        yield Path('src', cycle[0] + '.hpp'), 1, f'includes itself by a cycle: {" -> ".join(cycle)}'


def check_rooms(files):
    """CMake's targets and the map of HACKING.md name the folders of src/, all of them, in the order of FOLDERS."""
    there = {path.parts[1] for path in files if path.parts[0] == 'src'}
    rooms = [folder for folder in FOLDERS if folder in there]
    for name, pattern, apart in (('CMakeLists.txt', r'rung_module\((\w+) ', ['cli']),
                                 ('HACKING.md', r'\| `(\w+)/` \|', [])):
        matches = [re.match(pattern, line) for line in files.get(Path(name), [])]
        named = [match.group(1) for match in matches if match] + apart
        if Path(name) in files and named != rooms:
            yield Path(name), 1, f'its folders of src/ are {" ".join(named)}; wanted {" ".join(rooms)}'


def check_class_names(files):
    """A name means one class: the linker takes either's destructor for both, without a word."""
    seen = {}
    for path, lines in sorted(files.items()):
        if path.suffix != '.hpp' or path.parts[0] not in ('src', 'include'):
            continue
        namespace = ''
        for number, line in enumerate(lines, 1):
            if match := re.match(r'namespace ([\w:]+) \{', line):
                namespace = match.group(1)
            if match := re.match(r'(?:struct|class) (\w+)(?: final)?(?: :.*)? \{', line):
                name = f'{namespace}::{match.group(1)}'
                if name in seen:
                    yield path, number, f'{name} is another class in {seen[name]}'
                seen.setdefault(name, path)


def check_format(root, paths):
    """Where clang-format would change something: a line for each file."""
    tool = shutil.which('clang-format-14') or shutil.which('clang-format')
    if tool is None:
        yield Path('.clang-format'), 1, 'clang-format is not installed: ./dev setup'
        return
    cpp = sorted(str(p) for p in paths if p.suffix in FORMATTED)
    groups = [cpp[i::8] for i in range(8) if cpp[i::8]]
    command = [tool, '--dry-run', '-Werror']
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(lambda g: subprocess.run(command + g, cwd=root, capture_output=True, text=True), groups)
        output = ''.join(run.stderr for run in runs)
    places = {}
    for match in re.finditer(r'^(\S+?):(\d+):\d+: error:', output, re.MULTILINE):
        places.setdefault(match.group(1), set()).add(int(match.group(2)))
    for path, numbers in sorted(places.items()):
        yield Path(path), min(numbers), f'{len(numbers)} lines not as clang-format writes them: ./dev format'


def tracked_files(root):
    listing = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '-z'], cwd=root, check=True,
                             capture_output=True, text=True).stdout
    paths = [Path(name) for name in listing.split('\0') if name]
    return [p for p in paths if p.parts[:2] != ('tests', 'data') and (root / p).is_file()]


def read(path):
    try:
        return path.read_text(encoding='utf-8').splitlines()
    except UnicodeDecodeError:
        return []  # not text


def check_tree(root):
    files = {path: read(root / path) for path in tracked_files(root)}
    findings = [finding for path, lines in files.items() for finding in check_file(path, lines)]
    findings += list(check_conditions(files))
    findings += list(check_rooms(files))
    findings += list(check_class_names(files))
    findings += list(check_cycles(files))
    findings += list(check_links(files))
    findings += list(check_format(root, files))
    return files, sorted(findings, key=lambda f: (str(f[0]), f[1]))


def main():
    parser = argparse.ArgumentParser(description='Checks the style of a work tree; prints a line for each finding.')
    parser.add_argument('root', nargs='?', default=Path(__file__).resolve().parent.parent, type=Path)
    root = parser.parse_args().root
    files, findings = check_tree(root)
    for path, number, text in findings:
        print(f'{path}:{number}: {text}')
    source = [lines for path, lines in files.items() if path.parts[0] == 'src' and is_code(path)]
    print(f'style: {len(findings)} findings in {len(files)} files; src/ has {sum(map(len, source))} lines '
          f'in {len(source)} files')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
