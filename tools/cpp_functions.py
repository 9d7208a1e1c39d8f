# Finds the function definitions of a C++ file, with their lines and parameters, by matching braces.
# SPDX-License-Identifier: Apache-2.0
import re
from dataclasses import dataclass

LITERAL = re.compile(
    r'//(?:\\\n|[^\n])*'                                         # line comment
    r'|/\*.*?\*/'                                                # block comment
    r'|(?:u8|[uUL])?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'                                      # string
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",                     # character; the look-behind spares 1'000
    re.DOTALL)
DIRECTIVE = re.compile(r'^[ \t]*#(?:\\\n|[^\n])*', re.MULTILINE)
TYPE_HEAD = re.compile(
    r'^(?:template\s*<.*>\s*)?(?:typedef\s+|inline\s+)?(?:(?:namespace|class|struct|union|enum)\b|extern\s*")',
    re.DOTALL)
NOT_A_NAME = {'alignas', 'decltype', 'explicit', 'noexcept', 'requires', 'sizeof', '__attribute__', '__declspec',
              '__launch_bounds__', 'RUNG_KERNEL'}


@dataclass
class Function:
    name: str
    first_line: int
    last_line: int
    parameters: int

    @property
    def lines(self):
        return self.last_line - self.first_line + 1


def blank(text):
    """The same text, same positions, with comments, literals and preprocessor lines replaced by spaces."""
    def spaces(match):
        quote = '"' if match.group().startswith('"') else ' '
        return quote + re.sub(r'[^\n]', ' ', match.group()[1:])
    return DIRECTIVE.sub(spaces, LITERAL.sub(spaces, text))


def functions(text):
    """Functions defined at namespace or class scope, in order; lambdas and local classes belong to their function."""
    code = blank(text)
    found, position, head = [], 0, 0
    while position < len(code):
        character = code[position]
        if character == '{':
            position, head = _brace(code, head, position, found)
            continue
        if character in ';}':
            head = position + 1
        elif character == ':' and re.fullmatch(r'\s*(public|private|protected)\s*', code[head:position]):
            head = position + 1
        position += 1
    return found


def _brace(code, head, brace, found):
    """What to do at a '{': step into a scope, or step over a body or an initialiser. Returns (position, head)."""
    signature = code[head:brace].strip()
    if _opens_scope(signature):
        return brace + 1, brace + 1
    end = _matching(code, brace)
    if _is_function(signature):
        name, parameters = _parameters(signature)
        start = head + len(code[head:brace]) - len(code[head:brace].lstrip())
        found.append(Function(name, _line(code, start), _line(code, end), parameters))
        return end + 1, end + 1
    return end + 1, head  # an initialiser: the statement goes on after it


def _opens_scope(signature):
    return TYPE_HEAD.match(signature) is not None and not _is_function(signature)


def _is_function(signature):
    plain = _flat(signature)
    if '(' not in plain or plain.count('(') != plain.count(')') or _has_assignment(plain):
        return False
    tail = plain[plain.rfind(')') + 1:]
    if _initialiser_colon(plain) >= 0:  # in `T() : a_{1}, b_(2) {` only a brace after ')' or '}' opens the body
        return plain.rstrip()[-1] in ')}'
    return re.fullmatch(r'[\s\w:&*]*(->[\s\w:&*]*)?', tail) is not None


def _flat(signature):
    """The signature without template arguments, attributes and the punctuation of operator names."""
    text = re.sub(r'\boperator\s*(\(\s*\)|\[\s*\]|[^\s\w(]+)', 'operator_', signature)
    text = re.sub(r'\[\[.*?\]\]|\balignas\s*\([^)]*\)', ' ', text, flags=re.DOTALL).replace('->', '\0')
    previous = None
    while previous != text:
        previous, text = text, re.sub(r'<[^<>]*>', '', text)
    return text.replace('\0', '->')


def _has_assignment(plain):
    depth = 0
    for character in plain:
        depth += {'(': 1, ')': -1}.get(character, 0)
        if character == '=' and depth == 0:
            return True
    return False


def _initialiser_colon(plain):
    match = re.search(r'\)\s*(?:noexcept\s*)?:(?!:)', plain)
    return match.end() - 1 if match else -1


def _parameters(signature):
    """Name and parameter count: the first group in parentheses that follows the function's own name."""
    plain = _flat(signature)
    for match in re.finditer(r'([~\w:]+)\s*\(', plain):
        if match.group(1) not in NOT_A_NAME:
            return match.group(1), _count(plain, match.end())
    return '?', 0


def _count(plain, start):
    depth, commas, inside = 0, 0, ''
    for character in plain[start:]:
        if character == ')' and depth == 0:
            break
        depth += {'(': 1, '{': 1, '[': 1, ')': -1, '}': -1, ']': -1}.get(character, 0)
        commas += character == ',' and depth == 0
        inside += character
    return 0 if inside.strip() in ('', 'void') else commas + 1


def _matching(code, brace):
    depth = 0
    for position in range(brace, len(code)):
        depth += {'{': 1, '}': -1}.get(code[position], 0)
        if depth == 0:
            return position
    return len(code) - 1


def _line(code, position):
    return code.count('\n', 0, position) + 1
