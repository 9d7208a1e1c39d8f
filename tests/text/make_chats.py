#!/usr/bin/env python3
# Writes what the published library renders of templates, expressions and statements: tests/data/chats.
# SPDX-License-Identifier: Apache-2.0
#
# make_chats.py [FOLDER] [--random N] [--seed S] needs the PyPI package `transformers` (written with 5.24.0 and Jinja2
# 3.1.6). The templates in tests/data/chats/templates are our own, in the manner of published ones. For a larger
# comparison, give a FOLDER, and it to the tests in RUNG_CHATS. Dates are told at NOW, in UTC.
from __future__ import annotations

import argparse
import copy
import functools
import itertools
import json
import os
import random
import re
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from chat_cases import EXPRESSIONS, FILTERS, METHODS, OPERATORS, STATEMENTS, TESTS, VALUES
import transformers.utils.chat_template_utils as library

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE.parent / 'data/chats/templates'
NOW = 1_785_000_000  # 25 July 2026
TOKENS = {'bos_token': '<s>', 'eos_token': '</s>'}

WEATHER = {'type': 'function', 'function': {
    'name': 'weather', 'description': 'Tells the "weather" <now>\nin a city', 'return': {'type': 'string'},
    'parameters': {'type': 'object', 'required': ['city'], 'properties': {
        'city': {'type': 'string', 'description': 'Größe & Łódź'},
        'days': {'type': 'array', 'items': {'type': 'integer'}},
        'unit': {'type': 'string', 'enum': ['°C', '°F']}, 'at': {'oneOf': [{'type': 'number'}, {'type': 'null'}]},
        'any': {}, 'both': {'type': ['string', 'null']},
        'few': {'type': 'object', 'properties': {'x': {'type': 'boolean'}}}}}}}
PLAIN_TOOL = {'name': 'now', 'parameters': {'type': 'object', 'properties': {}}}
CALL = {'id': 'abcdefghi', 'type': 'function',
        'function': {'name': 'weather', 'arguments': {'city': 'Łódź', 'days': [1, 2.5, None, True],
                                                      'text': '<&\'"\\\n\u2028'}}}
U = {'role': 'user', 'content': '  How is the weather in Łódź? 😀\n'}
A = {'role': 'assistant', 'content': '<think>\nhm\n</think>\n\nFine, thanks. '}
S = {'role': 'system', 'content': 'Be brief.\n'}
CHATS: dict[str, dict[str, Any]] = {
    'one': {'messages': [U]},
    'prompt': {'messages': [S, U], 'add_generation_prompt': True},
    'turns': {'messages': [U, A, U, {'role': 'assistant', 'content': 'No.'}]},
    'system': {'messages': [S, U, A, U], 'add_generation_prompt': True},
    'only_system': {'messages': [S]},
    'two_users': {'messages': [U, U]},
    'tools': {'messages': [S, U], 'tools': [WEATHER], 'add_generation_prompt': True},
    'tools_later': {'messages': [S, U], 'tools': [WEATHER], 'functions_first': False, 'date_string': '1 Jan 2026'},
    'plain_tool': {'messages': [U], 'tools': [PLAIN_TOOL, WEATHER]},
    'no_tools': {'messages': [U], 'tools': []},
    'call': {'messages': [U, {'role': 'assistant', 'content': '', 'tool_calls': [CALL]},
                          {'role': 'tool', 'content': '12 °C', 'tool_call_id': 'abcdefghi'}], 'tools': [WEATHER],
             'add_generation_prompt': True},
    'calls': {'messages': [S, U, {'role': 'assistant', 'content': 'So:', 'tool_calls': [CALL, CALL]},
                           {'role': 'tool', 'content': '12', 'tool_call_id': 'abcdefghi'},
                           {'role': 'tool', 'content': '13', 'tool_call_id': 'abcdefghi'}, A, U]},
    'short_id': {'messages': [U, {'role': 'assistant', 'tool_calls': [{**CALL, 'id': 'x'}]}]},
    'thinking': {'messages': [U, {'role': 'assistant', 'content': 'Yes', 'reasoning': 'Is it?'}, U, A]},
    'not_thinking': {'messages': [U], 'add_generation_prompt': True, 'enable_thinking': False},
    'parts': {'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}, {'type': 'image'},
                                                        {'type': 'text', 'text': 'b'}]}]},
    'no_parts': {'messages': [{'role': 'user', 'content': [{'type': 'image'}]}]},
    'object': {'messages': [U, {'role': 'tool', 'content': {'content': [1, {'a': None}]},
                                'tool_call_id': 'abcdefghi'}]},
    'none': {'messages': [{'role': 'user', 'content': None}]},
    'no_content': {'messages': [{'role': 'assistant', 'tool_calls': [CALL]}]},
    'skips': {'messages': [U, {'role': 'skip', 'content': 'x'}, A, {'role': 'stop', 'content': 'y'}, U]},
    'documents': {'messages': [U, A], 'documents': [{'title': 'One', 'text': 'a'}, {'text': 'b', 'Score': 0.5}]},
    'odd_role': {'messages': [U, {'role': 'Critic', 'content': 'x'}]},
}

UNSTABLE = re.compile(r'[\ud800-\udfff]|Undefined\(|Markup\(|<(generator|reversed|function|bound|built-in|[Mm]acro|'
                      r'Loop|class|Namespace|list_rev|dict_rev|itertools|filter)')


class Now(datetime):
    """The clock of the templates, which stands still."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return datetime.fromtimestamp(NOW, tz)


def rendered(template: str, variables: dict[str, Any]) -> str | None:
    """What the library makes of a template, or None for any error."""
    try:
        return library._compile_jinja_template(template).render(**copy.deepcopy(variables))
    except Exception:
        return None


def is_stable(template: str, text: str | None) -> bool:
    """Whether a text is UTF-8 and says the same in every process: no address of an object."""
    return not text or not UNSTABLE.search(text)


def expressions() -> list[str]:
    pairs = [v for v in VALUES if v not in ('-3', "'äß ǅ\\n x'", '[[1, 2], [3, 4]]', '[]', '{}')]
    made = [f'{a} {op} {b}' for a, op, b in itertools.product(pairs, OPERATORS, pairs)]
    # The library works out what holds constants alone before it renders, with other errors.
    behind = [f'|{f}' for f in FILTERS] + [f' is {t}' for t in TESTS] + METHODS
    made = ['{{ ' + e + ' }}' for e in made + EXPRESSIONS]
    return made + [f'{{% set v = {v} %}}{{{{ v{b} }}}}' for v, b in itertools.product(VALUES, behind)]


class Maker:
    """Makes expressions at random, most of which mean something."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.methods = [m for m in METHODS if ':' not in m]  # the library slices constants before it renders

    def expression(self, depth: int = 3) -> str:
        pick = self.rng.random()
        if depth == 0 or pick < 0.15:
            return self.rng.choice([*VALUES, 'x', 'messages', 'messages[0].content', 'tool'])
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if pick < 0.4:
            return f'({a} {self.rng.choice(OPERATORS)} {b})'
        if pick < 0.6:
            return f'({a})|{self.rng.choice(FILTERS)}'
        if pick < 0.75:
            return f'({a}){self.rng.choice(self.methods)}'
        if pick < 0.85:
            return f'({a} is {self.rng.choice(TESTS)})'
        return f'({a} if {b} else {self.expression(depth - 1)})' if pick < 0.95 else f'[{a}, {b}]'

    def template(self) -> str:
        form = self.rng.choice([
            '{{ A }}', '{{ (A)|F }}', '{% if A %}a{% elif B %}b{% else %}c{% endif %}', '{% set y = A %}{{ y }}',
            '{% for x in A %}{{ x }}{{ loop.index }}{% else %}-{% endfor %}',
            '{% for x in A if B %}\n {{- x }}\n {% endfor %}', '{% set y %}{{ A }}{% endset %}{{ y|F }}'])
        places = {'A': lambda: self.expression(3), 'B': lambda: self.expression(2),
                  'F': lambda: self.rng.choice(FILTERS)}
        return re.sub(r'\b[ABF]\b', lambda place: places[place[0]](), form)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', nargs='?', type=Path, default=HERE.parent / 'data/chats')
    parser.add_argument('--random', type=int, default=400, help='templates of random expressions')
    parser.add_argument('--seed', type=int, default=3)
    arguments = parser.parse_args()
    os.environ['TZ'] = 'UTC'
    time.tzset()

    library.datetime = Now

    chats = {}
    for template, (name, chat) in itertools.product(sorted(TEMPLATES.glob('*.jinja')), CHATS.items()):
        given = {'tools': None, 'documents': None, 'add_generation_prompt': False, **chat}
        try:
            messages = library._normalize_chat_messages(given.pop('messages'))
            text, _ = library.render_jinja_template([messages], chat_template=template.read_text(), **TOKENS, **given)
            chats[f'{template.stem}/{name}'] = text[0]
        except Exception:
            chats[f'{template.stem}/{name}'] = None
    variables = {'x': 5, 'messages': [U, A], 'tool': WEATHER}
    maker = Maker(arguments.seed)
    templates = expressions() + STATEMENTS + [maker.template() for _ in range(arguments.random)]
    language = [[t, rendered(t, variables)] for t in dict.fromkeys(templates)]
    language = [[t, text] for t, text in language if is_stable(t, text)]

    def write(name: str, value: dict[str, Any], listed: str) -> None:
        """Writes one entry of the field `listed` a line."""
        entries = value.pop(listed)
        one = functools.partial(json.dumps, ensure_ascii=False, separators=(',', ':'))
        lines = [f'{one(k)}:{one(v)}' for k, v in entries.items()] if isinstance(entries, dict) else map(one, entries)
        brackets = '{}' if isinstance(entries, dict) else '[]'
        arguments.folder.mkdir(parents=True, exist_ok=True)
        head, tail = f'{one(value)[:-1]},"{listed}":{brackets[0]}\n', f'\n{brackets[1]}}}\n'
        (arguments.folder / name).write_text(head + ',\n'.join(lines) + tail)

    write('chats.json', {'now': NOW, 'tokens': TOKENS, 'chats': CHATS, 'texts': chats}, 'texts')
    write('language.json', {'now': NOW, 'variables': variables, 'cases': language}, 'cases')
    print(len(chats), sum(t is None for t in chats.values()), len(language), sum(t is None for _, t in language))


if __name__ == '__main__':
    main()
