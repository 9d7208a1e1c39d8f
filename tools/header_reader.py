# Reads the public headers: what they declare, each with its comment, for the reference pages.
# SPDX-License-Identifier: Apache-2.0
#
# It reads the style that clang-format and tools/check_style.py keep: a declaration begins a line, its comment stands in
# front of it, and a run of declarations without an empty line between them shares the comment before it.
import re
from dataclasses import dataclass, field

from cpp_functions import blank

SECTION = re.compile(r'// ---- (.+) ----$')
TEMPLATE = r'^(?:template\s*<[^{;]*?>\s*)?'
TYPE = re.compile(TEMPLATE + r'(?:typedef\s+)?(enum class|enum|struct|class)\s+(?:\[\[\w+\]\]\s*)?(\w+)')
ALIAS = re.compile(TEMPLATE + r'(?:using|concept)\s+(\w+)')
POINTER = re.compile(r'\(\*(\w+)\)\(')  # to a function: a variable
CALLED = re.compile(r'(operator\s*(?:\w+|\(\)|[^\s\w(]+)|~?[\w:]+)\s*\(')
DEPTH = {'{': 1, '(': 1, '[': 1, '}': -1, ')': -1, ']': -1}


@dataclass
class Declaration:
    kind: str  # macro, function, type, alias, variable
    names: list
    code: str  # as it stands, without the bodies of functions
    line: int
    members: list = field(default_factory=list)  # groups of a class's public part


@dataclass
class Group:
    comment: str  # one paragraph; '' if there is none
    declarations: list
    section: str = ''
    after_gap: bool = True  # an empty line stands before it


@dataclass
class Header:
    about: str
    groups: list


def read_header(text):
    lines = text.splitlines()
    about, first = _about(lines)
    code = blank(text).splitlines()
    scope = _Scope(lines, code)
    return Header(about, scope.groups(first, len(lines)))


def _about(lines):
    """The comment at the top, without the licence: a paragraph for each part; and where it ends."""
    parts, end = [''], 0
    for end, line in enumerate(lines):
        if not line.startswith('//'):
            break
        words = line[2:].strip()
        if not words or 'SPDX-License-Identifier' in words:
            parts.append('')
        else:
            parts[-1] = f'{parts[-1]} {words}'.strip()
    return '\n\n'.join(filter(None, parts)), end


class _Scope:
    """The declarations between two lines of a header, of a namespace's or of a class's public part."""

    def __init__(self, lines, code):
        self.lines, self.code = lines, code
        self.found, self.comment, self.section, self.run, self.after_gap = [], [], '', None, True

    def groups(self, first, end, public=True):
        at = first
        while at < end:
            line, code = self.lines[at].strip(), self.code[at].strip()
            if not code:
                at = self._without_code(at, line, public)
            elif label := re.fullmatch(r'(public|private|protected):', code):
                public, at = label.group(1) == 'public', at + 1
                self._gap()
            elif re.match(r'namespace \w*detail\b', code):
                at = self._last_line(at) + 1
                self._gap()
            elif re.match(r'(namespace [\w:]+|extern "?.*) \{$', code) or code == '}':
                at += 1
            else:
                at = self._declaration(at, public)
        return self.found

    def _without_code(self, at, line, public):
        if match := SECTION.match(line):
            self.section = match.group(1)
            self._gap()
        elif line.startswith('//'):
            if not self.comment or self.run is not None:
                self.comment, self.run = [], None
            self.comment.append(line[2:].strip())
        elif line.startswith('#define') and '(' not in line.split()[1]:
            return self._macro(at)
        elif not line:
            self._gap()
        return at + 1

    def _gap(self):
        self.comment, self.run, self.after_gap = [], None, True

    def _macro(self, at):
        end = at
        while self.lines[end].endswith('\\'):
            end += 1
        name = re.match(r'\s*#define (\w+)', self.lines[at]).group(1)
        self._add(Declaration('macro', [name], '\n'.join(self.lines[at:end + 1]), at + 1))
        return end + 1

    def _declaration(self, at, public):
        last = self._last_line(at)
        declaration = self._read(at, last)
        if public and declaration:
            self._add(declaration)
        return last + 1

    def _last_line(self, at):
        """Of the declaration that begins there: brackets are closed, and it ends by `;` or a body's `}`."""
        depth = 0
        for number in range(at, len(self.code)):
            code = self.code[number]
            depth += sum(DEPTH.get(c, 0) for c in code)
            if depth == 0 and re.search(r'[;}]\s*$', code):
                return number
        raise ValueError(f'line {at + 1}: a declaration without an end')

    def _read(self, at, last):
        code = '\n'.join(self.code[at:last + 1]).strip()
        flat = ' '.join(code.split())
        if re.match(r'friend |template <> |(class|struct) \w+;', flat):  # a specialisation is the same function
            return None
        whole = _dedented(self.lines[at:last + 1])
        if match := ALIAS.match(code):
            return Declaration('alias', [match.group(1)], whole, at + 1)
        if (match := TYPE.match(code)) and not _is_function(code):
            return self._type(match, at, last)
        if _is_function(code):
            name = _called(flat)
            if '::' in name:  # a member's definition
                return None
            return Declaration('function', [name], _signature(self.lines[at:last + 1], code), at + 1)
        return Declaration('variable', _variables(flat), whole, at + 1)

    def _type(self, match, at, last):
        declaration = Declaration('type', [match.group(2)], _dedented(self.lines[at:last + 1]), at + 1)
        first = next((n for n in range(at, last + 1) if self.code[n].rstrip().endswith('{')), last)
        if match.group(1) in ('struct', 'class') and first < last:
            scope = _Scope(self.lines, self.code)
            declaration.members = scope.groups(first + 1, last, match.group(1) == 'struct')
            if 'typedef' not in match.group(0) and any(d.kind == 'function' for g in declaration.members
                                                       for d in g.declarations):
                declaration.code = _synopsis(_dedented(self.lines[at:first + 1]), declaration.members)
        return declaration

    def _add(self, declaration):
        if self.run is None:
            self.run = Group(' '.join(self.comment), [], self.section, self.after_gap)
            self.after_gap = False
            self.found.append(self.run)
        self.run.declarations.append(declaration)


def _synopsis(head, groups):
    """A class as its header has it, without bodies and without what is not public."""
    indent, parts = '  ', []
    for group in groups:
        comment = _wrapped(group.comment)
        code = [line for d in group.declarations for line in d.code.split('\n')]
        gap = [''] if group.after_gap and parts else []
        parts.append('\n'.join(indent + line if line else line for line in gap + comment + code))
    label = ' public:\n' if re.match(r'(template.*\n)?class', head) else ''
    return f'{head}\n{label}' + '\n'.join(parts) + '\n};'


def _wrapped(comment, width=110):
    lines, current = [], '//'
    for word in comment.split():
        if len(current) + 1 + len(word) > width:
            lines.append(current)
            current = '//'
        current += ' ' + word
    return lines + [current] if comment else []


def _dedented(lines):
    indent = len(lines[0]) - len(lines[0].lstrip())
    return '\n'.join(line[indent:] if line[:indent].isspace() else line for line in lines)


def _without_templates(flat):
    text, previous = re.sub(r'\boperator->', 'operator@', flat), None
    while text != previous:
        previous, text = text, re.sub(r'<[^<>]*>', '', text)
    return text.replace('@', '->')


def _is_function(code):
    """A bracket follows a name before any `=`, `;` or `{` outside brackets."""
    flat = _without_templates(' '.join(code.split()))
    head = re.split(r'(?<!operator)[={;]', flat, maxsplit=1)[0]
    return CALLED.search(head) is not None and not POINTER.search(head)


def _called(flat):
    return CALLED.search(_without_templates(flat)).group(1)


def _signature(lines, code):
    """What stands before the body and before a constructor's initialisers."""
    depth = 0
    for at, character in enumerate(code):
        if depth == 0 and character == '{' or (depth == 0 and character == ':' and _begins_initialisers(code, at)):
            indent = len(lines[0]) - len(lines[0].lstrip())
            text = '\n'.join(lines)[indent:][:at].rstrip()
            return _dedented((' ' * indent + text).split('\n')) + ';'
        depth += {'(': 1, ')': -1}.get(character, 0)
    return _dedented(lines)


def _begins_initialisers(code, at):
    return code[:at].rstrip().endswith((')', 'noexcept')) and code[at + 1:at + 2] != ':'


def _variables(flat):
    """`std::string name, reason;` has two; an initialiser names none."""
    if match := POINTER.search(flat):
        return [match.group(1)]
    text, depth, plain = _without_templates(flat), 0, ''
    for character in text:
        depth += DEPTH.get(character, 0)
        plain += character if depth == 0 and character not in '])}' else ''
    return [re.findall(r'\w+', part.split('=')[0])[-1] for part in plain.rstrip('; ').split(',')]
