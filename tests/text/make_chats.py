#!/usr/bin/env python3
# Writes what the published library renders of templates, expressions and statements: tests/data/chats.
# SPDX-License-Identifier: Apache-2.0
#
# make_chats.py [FOLDER] [--random N] [--seed S] needs the PyPI package `transformers` (written with 5.24.0 and Jinja2
# 3.1.6). The templates in tests/data/chats/templates are our own, in the manner of published ones. For a larger comparison
# give a FOLDER, and it to the tests in RUNG_CHATS. Dates are told at NOW, in UTC.
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

import transformers.utils.chat_template_utils as library

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE.parent / 'data/chats/templates'
NOW = 1_785_000_000  # 25 July 2026
TOKENS = {'bos_token': '<s>', 'eos_token': '</s>'}

WEATHER = {'type': 'function', 'function': {
    'name': 'weather', 'description': 'Tells the "weather" <now>\nin a city', 'return': {'type': 'string'},
    'parameters': {'type': 'object', 'required': ['city'], 'properties': {
        'city': {'type': 'string', 'description': 'Größe & Łódź'}, 'days': {'type': 'array', 'items': {'type': 'integer'}},
        'unit': {'type': 'string', 'enum': ['°C', '°F']}, 'at': {'oneOf': [{'type': 'number'}, {'type': 'null'}]},
        'any': {}, 'both': {'type': ['string', 'null']}, 'few': {'type': 'object', 'properties': {'x': {'type': 'boolean'}}}}}}}
PLAIN_TOOL = {'name': 'now', 'parameters': {'type': 'object', 'properties': {}}}
CALL = {'id': 'abcdefghi', 'type': 'function',
        'function': {'name': 'weather', 'arguments': {'city': 'Łódź', 'days': [1, 2.5, None, True], 'text': '<&\'"\\\n\u2028'}}}
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
    'object': {'messages': [U, {'role': 'tool', 'content': {'content': [1, {'a': None}]}, 'tool_call_id': 'abcdefghi'}]},
    'none': {'messages': [{'role': 'user', 'content': None}]},
    'no_content': {'messages': [{'role': 'assistant', 'tool_calls': [CALL]}]},
    'skips': {'messages': [U, {'role': 'skip', 'content': 'x'}, A, {'role': 'stop', 'content': 'y'}, U]},
    'documents': {'messages': [U, A], 'documents': [{'title': 'One', 'text': 'a'}, {'text': 'b', 'Score': 0.5}]},
    'odd_role': {'messages': [U, {'role': 'Critic', 'content': 'x'}]},
}

# Values of every kind, as a template writes them.
VALUES = ['none', 'true', '0', '7', '-3', '2.5', "''", "'Ab c'", "'äß ǅ\\n x'", '[]', "[3, 1, 2]", "['b', 'A', 'c']", '(1, 2)',
          '{}', "{'b': 1, 'a': [2]}", 'missing', '[[1, 2], [3, 4]]', "[{'n': 'x', 'v': 2}, {'n': 'Y', 'v': 1}]"]
OPERATORS = ['+', '-', '*', '/', '//', '%', '**', '~', '==', '!=', '<', '<=', '>', '>=', 'in', 'not in', 'and', 'or']
FILTERS = [
    'abs', 'capitalize', 'center(9)', "default('d')", "default('d', true)", 'dictsort', "dictsort(by='value')", 'escape', 'first',
    'float', "float(-1)", 'indent', "indent('> ', true, blank=true)", 'int', "int(5)", 'items|list', "join('-')", 'join', 'last',
    'length', 'list', 'lower', "map('upper')|list", "map(attribute='n')|list", "map(attribute='n', default='z')|join('/')", 'max',
    'min', "reject('odd')|list", "rejectattr('v', 'eq', 1)|list", "replace('b', 'XY')", "replace('', '.', 2)", 'reverse|list',
    'reverse', 'round', 'round(1)', "round(1, 'ceil')", "round(-1)", 'safe', "select('odd')|list", 'select|list',
    "selectattr('v')|list", "selectattr('n', 'upper')|list", 'sort', 'sort(reverse=true)', "sort(attribute='v')",
    "sort(attribute='n,v')", 'sort(case_sensitive=true)', 'string', 'sum', "sum(attribute='v')", 'sum(start=10)', 'title', 'tojson',
    'tojson(indent=2)', "tojson(ensure_ascii=true)", "tojson(separators=(',', ':'), sort_keys=true)", 'trim', "trim('A ')",
    'unique|list', 'upper', 'wordcount', 'batch(2)|list', "batch(2, 'x')|list",
    'slice(2)|list', "slice(3, 'x')|list", "groupby('n')|list", "attr('n')", "format(1, 2)", 'count', 'nothing', 'd(1)|d(2)']
TESTS = ['boolean', 'callable', 'defined', 'undefined', 'none', 'divisibleby(2)', 'divisibleby 3', 'even', 'odd', 'eq 7', '== 2.5',
         "equalto('Ab c')", 'false', 'true', 'float', 'integer', 'number', 'string', 'mapping', 'sequence', 'iterable', 'lower',
         'upper', 'in [7, none]', "in 'Ab c d'", 'gt 1', 'ge(7)', 'lt 1', 'le -3', 'ne 0', 'sameas(none)', 'sameas 7', 'escaped',
         'not none', 'not defined', 'filter', 'test', 'nothing']
METHODS = [
    ".upper()", '.lower()', '.title()', '.capitalize()', '.swapcase()', ".strip()", ".strip('Ac')", ".lstrip('A')", ".rstrip(' c')",
    ".split()", ".split(' ')", ".split('b', 1)", ".rsplit(' ', 1)", ".rsplit()", ".split(maxsplit=1)", '.splitlines()',
    '.splitlines(true)', ".startswith('A')", ".endswith(('x', 'c'))", ".replace('b', '')", ".replace(' ', '__', 1)", ".find('c')",
    ".rfind('x')", ".index('c')", ".count('b')", ".join(['x', 'y'])", ".partition(' ')", ".rpartition(' ')", '.isalpha()',
    '.isdigit()', '.isspace()', '.islower()', '.isupper()', '.isalnum()', ".removeprefix('A')", ".removesuffix('c')", '.zfill(7)',
    ".ljust(6, '.')", '.rjust(6)', '.center(8)', '.format(1)', '.items()', '.keys()|list', '.values()', ".get('a')",
    ".get('q', 'w')", ".a", '.a[0]', "['b']", '[0]', '[-1]', '[5]', '[1:]', '[:-1]', '[::-1]', '[::2]', '[1:2]', '[-2:]', '.0',
    '.count(1)', '.index(2)', '.append(1)', '.pop()', '.update({})', '.nothing', ".nothing.more", '()', '[none]', "['x':]", '[::0]']
EXPRESSIONS = [
    '1 if true', '1 if false', '1 if false else 2', '1 if false else 2 if false else 3', 'not true or true and false', '1 < 2 < 3',
    '1 < 3 < 2', '1 == 1.0 == true', '2 ** 3 ** 2', '-2 ** 2', '-2|abs', '+3', '- 3 + 2', '1 ~ 2 + 3', '(1 ~ 2) ~ (3, )', '1_000',
    '0x1F + 0b11 + 0o17', '1e3', '1.5e-7', '123456789012345678.0', '0.1 + 0.2', '1e16', '1e22', '5 // -2', '-5 % 3', '5.5 // 2',
    '-5.5 % 3', '7 / 2', '4 / 2', '1 / 0', '1 % 0', '2 ** -1', "'a' 'b'", "'a\\tb\\x41\\u00e9\\U0001F600\\q\\101'", '"it\'s"',
    "['it\\'s', \"q\\\"\", 'both\\'\\\"']", "['\\n\\x00\\u2028é']", '()', '(1)', '(1,)', '[1, 2, ]', '{1: 2, }', "{'a': 1, 'a': 2}",
    '1, 2', '[1] + [2]', '(1,) + (2,)', "'ab' * 3", '3 * [1, 2]', "'%s and %05.1f%%' % ('x', 2.25)", "'%(a)s' % {'a': 1}",
    "'%d %x %r' % (5, 255, 'q')", "'%s' % [1]", "'%s %s' % (1,)", "'{} {1} {x}'.format(1, 2, x=3)", "'{0}{0}'.format('a')",
    "'{{}}'.format()", 'range(4)|list', 'range(5, 1, -2)|list', 'range(2, 5)[1]', 'range(3)|length', 'range(0, 5, 0)',
    "dict(a=1, b=2)", "dict({'x': 1}, y=2)", "dict([('k', 'v')])", "'b' in {'b': 1}", '2 in [1, 2]', "'' in 'x'", "1 in 'x'",
    '1 in missing', '1 in none', 'missing.x', "missing['x']", 'missing + 1', 'missing()', 'missing == other', 'missing == none',
    'missing < 1', 'missing|default("d")', "(missing or 'x')", '[missing]', 'missing|list', 'none.x', 'none[0]', 'none()', 'true + 1',
    "'5'|int + 1", "'x'|int", "'0x1f'|int(base=16)", "' 4_2 '|int", "'1e3'|float", "'3.7'|int", '3.99|int', '2.5|round', '3.5|round',
    '2.675|round(2)', '42.55|round(1, "floor")', '1234.5|round(-2)', "x is defined", 'namespace(a=1).a', "namespace(a=1)['a']",
    'namespace(_a=1)', 'loop', "strftime_now('%Y-%m-%d %H:%M %A %b %e')", "raise_exception('no')", "[1, [2, {'a': none}]]",
    "{'a': {'b': [true, 1.0]}}", '1 is integer and 1 is number', 'true is integer', '1 is not none', "'x' is string is defined",
    "[1, 2] == (1, 2)", "[1, 2] < [1, 3]", "(1, 'a') < (1, 'b')", "'a' < 'B'", '1 < "a"', '[1] < (2,)', "{'a': 1} == {'a': 1.0}",
    "'ab'[0] ~ 'ab'[-1] ~ 'ab'[9]", "'ä€😀'[1:]", "'ä€😀'|length", "'ä€😀'|reverse", "'straße'.upper()", "'ﬁ'.upper()", "'İ'.lower()",
    "'a-b c(d'|title", "\"they're\".title()", "\"they're\"|title", '"<&\'>"|e', '[1, 2, 3][::-1][0]', "{'items': 1}.items",
    "{'items': 1}['items']", "{'items': 1}.items()|list", "{'x': 1}.items()|list|first", "{1: 'a'}[true]", "[1, 2][true]",
    "'a,b,,c'.split(',')", "',a,'.split(',', 1)", "''.split()", "''.split(',')", "' a  b '.split()", "'a\\r\\nb\\n\\nc'.splitlines()",
    "'x'.join([1])", "'x' ~ none ~ true ~ 1.0", '9223372036854775807', "'a'|nothing", "[3, 1]|sort|first", "['a', 1]|sort",
    "[none, 1]|sort", "['B', 'a', 'b', 'A']|sort", "['B', 'a', 'b', 'A']|unique|join", "[1, 2, 3, 4]|sum / 2", "['a']|sum",
    "[]|first", "[]|last|default('e')", "[]|max", "'abc'|first", "{'k': 1}|first", "'abc'|last", "'abc'|list", "{'b': 1, 'a': 2}|list",
    "[1, 2]|map('string')|join", "[1, 2]|map('nothing')|list", "['a']|map('replace', 'a', 'b')|list", "[1]|map|list",
    "[[1, 2]]|map('first')|list", "[[3, 1]]|map('sort', reverse=true)|list", "[{'a': {'b': 1}}]|map(attribute='a.b')|list",
    "[[5, 6]]|map(attribute=1)|list", "[1, 2, 3]|select('>', 1)|list", "[1, 2, 3]|select('in', [1, 3])|list",
    "[1, 2, 3]|select('divisibleby', 2)|list", "[{'a': 1}]|selectattr('b', 'undefined')|list|length", "[0, 1]|reject|list",
    "([1]|select|list) is sequence", '([1]|select) is sequence', '([]|select) and 1', "[1, 2]|select|length", "[1, 2]|select|first",
    "'a\\nb\\n\\nc'|indent", "'a\\nb'|indent(2, first=true)", "'a\\nb\\n'|indent", "none|indent", "'long words here'|truncate(8)",
    "1.0|tojson", "1e20|tojson", "'\\x7f é\\u2028'|tojson", "'\\x7f é😀'|tojson(ensure_ascii=true)", "{1: 2, none: 3, true: 4}|tojson",
    "{'a': [], 'b': {}}|tojson(indent=4)", "[1, [2, 3]]|tojson(indent=1)", "missing|tojson", "(1, 2)|tojson", "{(1, 2): 3}|tojson",
    "{'b': 1, 'a': 2}|tojson(sort_keys=true)", "[1, 2]|tojson(separators=(', ', '='))", "[1]|tojson(indent='--')",
    "(1, 2)|join(', ')", "[1, 'a', none]|join(', ')", "'abc'|join('-')",
    "{'a': 1}|items|list", "missing|items|list", "[1]|items|list", "'%s'|format('x')", "'%(a)s'|format(a=1)", "1|string + 'x'",
    "[1, 2, 3, 4, 5]|batch(2)|list", "[1, 2, 3, 4, 5]|slice(2)|map('join')|list", "'word'|center(10) ~ '|'",
    "1 in [1] in [[1]]", "not 1 in [2]", "1 not in [2] and true", "[1, 2][0:1] + [3]", '"abcdefghij"|truncate(4)', "'abcdefghij'|truncate(6, true, '!', 0)", "'a' if 1 else", '1 +',
    '(1', '[1', "{'a'", "'a", '1 2', 'a b', 'a..b', 'a.', '1.x', "'x'.1", '{{', '%', '1 if', 'f(a=1, 2)', 'f(*[1], **{})', 'x is', '|upper',
    "range(*[1, 4])|list", "dict(**{'a': 1})", "'a'.upper(1)", "'a'.replace('b')", "[1]|join(1, 2, 3, 4)", "[1]|join(nope=1)",
]
STATEMENTS = [
    # White space.
    'a\n  {% if true %}\n  b\n  {% endif %}\nc\n', ' {%+ if true %}\n x{%- endif %}  \n y', '{% if true -%}\n  a\n{%- endif %}\n\nb\n\n',
    'a {#- c -#} b', 'a\n  {# c #}\nb', 'a {{- 1 -}} b', 'a {{+ 1 }} b\n', '{% if true +%}\nx{% endif %}', '{{ 1 }}\n{{ 2 }}\n\n',
    '\n\n  {% set x = 1 %}\n\n{{ x }}', 'x\r\n{% if true %}\r\ny\rz{% endif %}\r\n', '  {{ 1 }}  \n', '{#a#}\n{#b#}\n', 'a{% raw %} {{ x }} {% if %}{% endraw %}b',
    '{%- raw -%}  {{ 1 }}  {%- endraw -%}  c', '  {% raw %}\n  x\n  {% endraw %}\ny', '{% raw %}{# c #}{%raw%}{% endraw %}', 'a { b } c {x} %} }}',
    '{{ "}}" }}{{ {"a": {"b": 1}}["a"]["b"] }}', "{{ {'a':{}} }}", '{% if true %}a{% endif %}\n\n{% if true %}b{% endif %}', '\t {% if 1 %}\t\n\tx{% endif %}',
    '\u00a0{% if 1 %}x{% endif %}\u00a0', '{{ "a" -}}\n\n b',
    # if
    '{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}', '{% if 0 %}a{% elif 0 %}b{% else %}c{% endif %}', '{% if x %}a{% endif %}', '{% if true: %}a{% endif %}',
    '{% if true %}{% set y = 1 %}{% endif %}{{ y }}', '{% if 1, %}t{% endif %}',
    # for
    '{% for x in [1, 2, 3] %}{{ x }}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }},{% endfor %}',
    '{% for x in [] %}a{% else %}none{% endfor %}', '{% for x in [1, 2, 3, 4] if x is even %}{{ loop.index }}:{{ x }} {% endfor %}',
    '{% for a, b in [(1, 2), [3, 4]] %}{{ a }}-{{ b }} {% endfor %}', "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }}{{ ', ' if not loop.last }}{% endfor %}",
    "{% for k in {'a': 1} %}{{ k }}{% endfor %}", "{% for c in 'aé' %}[{{ c }}]{% endfor %}", '{% for x in missing %}a{% else %}b{% endfor %}',
    '{% for x in none %}{% endfor %}', '{% for x in 5 %}{% endfor %}', '{% for a, b in [1] %}{% endfor %}', '{% for a, b in [(1, 2, 3)] %}{% endfor %}',
    '{% for (a, (b, c)) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}', '{% for x in [1, 2] %}{% for y in [1, 2] %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}',
    '{% set o = 0 %}{% for x in [1, 2] %}{% set o = x %}{{ o }}{% endfor %}{{ o }}', '{% for x in [1, 2] %}{{ x }}{% endfor %}{{ x }}', '{% for x in [1, 2, 3] %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}',
    '{% for x in [1, 2, 3] %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% else %}e{% endfor %}', '{% for x in [1] %}{% break %}{% else %}e{% endfor %}', '{% break %}',
    '{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{% endfor %}', "{% for x in [1, 2, 3] %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    '{% for x in [1, 2, 3] %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}', '{% for x in [1, 2] %}{% set outer = loop %}{% for y in [1] %}{{ outer.index }}{% endfor %}{% endfor %}',
    "{% for x in [{'n': 1, 'c': [{'n': 2, 'c': []}]}] recursive %}{{ x.n }}@{{ loop.depth }}({{ loop(x.c) }}){% endfor %}", '{% for x in [1] %}{{ loop([2]) }}{% endfor %}',
    '{% for x in range(3) %}{{ x }}{% endfor %}', '{% for x in [3, 1]|sort %}{{ x }}{% endfor %}', '{% for x in 1, 2 %}{{ x }}{% endfor %}', '{% for x in [1, 2] if loop %}{% endfor %}',
    '{% set s = [1, 2]|select %}{% for x in s %}{{ x }}{% endfor %}{% for x in s %}{{ x }}{% else %}gone{% endfor %}', '{% for x in [[1], [2]]|map("first") %}{{ loop.length }}{{ x }}{% endfor %}',
    '{% for x in ([1, 2] if true else []) %}{{ x }}{% endfor %}', '{% for x in [0, 1] %}{{ x }}{% if loop.last %}!{% endif %}{% endfor %}',
    # set
    '{% set x = 1 %}{{ x }}', '{% set x, y = 1, 2 %}{{ x }}{{ y }}', '{% set x = 1, 2 %}{{ x }}', '{% set x %}a{{ 1 }}{% endset %}{{ x }}|', '{% set x | upper | trim %} a {% endset %}{{ x }}|',
    '{% set x %}{% set y = 1 %}{% endset %}{{ y }}', '{% set ns = namespace(a=1) %}{% for x in [1, 2] %}{% set ns.a = ns.a + x %}{% endfor %}{{ ns.a }}{{ ns.b }}', '{% set x.y = 1 %}',
    "{% set d = {'a': 1} %}{% set d.a = 2 %}", '{% set ns = namespace() %}{% set ns._x = 1 %}', '{% set ns = namespace() %}{% set ns.a, b = 1, 2 %}{{ ns.a }}{{ b }}', '{% set x, y = [1] %}', '{% set true = 1 %}',
    "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}", '{% set x = namespace %}{{ x(a=2).a }}', '{% set messages = [] %}{{ messages|length }}',
    # macros
    "{% macro f(a, b='d', c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ f(1) }}|{{ f(1, 2) }}|{{ f(1, c=3) }}|{{ f() }}|", '{% macro f() %}x{% endmacro %}{{ f(1) }}', '{% macro f() %}x{% endmacro %}{{ f(a=1) }}',
    '{% macro f() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, z=3) }}', '{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}', '{{ f(1) }}{% macro f(x) %}{{ x }}{% endmacro %}',
    '{% set x = 1 %}{% macro f() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ f() }}', '{% macro f() %}{% set z = 1 %}{% endmacro %}{{ f() }}{{ z }}', '{% macro f(x) %} {{ x }} {% endmacro %}{{ f(1)|trim ~ "!" }}{{ f(2).strip() }}',
    '{% macro f() %}[{{ caller() }}]{% endmacro %}{% call f() %}in{% endcall %}', '{% macro f() %}[{{ caller(1, 2) }}]{% endmacro %}{% call(a, b) f() %}{{ a + b }}{% endcall %}', '{% macro f(x) %}{{ caller is defined }}{% endmacro %}{{ f(1) }}',
    '{% macro f(a=1, b) %}{% endmacro %}', '{% macro f(a) %}{{ a is defined }}{% endmacro %}{{ f() }}', '{{ f.name }}{% macro f() %}{% endmacro %}', '{% for i in [1, 2] %}{% macro g() %}{{ i }}{% endmacro %}{{ g() }}{% endfor %}{{ g }}',
    # with, filter, generation
    '{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a }}', '{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}', '{% set a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}', '{% filter upper %}a{{ 1 }}b{% endfilter %}',
    "{% filter replace('a', 'b')|upper %}aa{% endfilter %}", '{% generation %}x{% endgeneration %}', '{% generation %}{% set v = 1 %}{% endgeneration %}{{ v }}',
    # errors
    '{% if %}{% endif %}', '{% if true %}', '{% endif %}', '{% nothing %}', '{% for %}{% endfor %}', '{% for x of y %}{% endfor %}', '{% set %}', '{{ }}', '{{ 1', '{% if 1', '{# open', '{% raw %}open', '{% for x in [1] %}{% endif %}', '{{ 1 }', '{% macro %}{% endmacro %}',
    '{% elif %}', '{{ 1 | }}', '{% set x = %}', '{% call 1 %}{% endcall %}', '{% with x %}{% endwith %}', '{% if true %}{% else %}{% else %}{% endif %}', '{{ (1]) }}', '{{ ] }}', '{% %}', '{{ "\\ud800" }}', '{{ 1 $ 2 }}', "{{ 'a\\xzz' }}",
]


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
    return not text or not re.search(r'[\ud800-\udfff]|<(generator|reversed|function|bound|built-in|Macro|macro|Loop|class|Namespace|list_rev|dict_rev|itertools|filter)|Undefined\(', text)


def expressions() -> list[str]:
    pairs = [v for v in VALUES if v not in ('-3', "'äß ǅ\\n x'", '[[1, 2], [3, 4]]', '[]', '{}')]
    made = [f'{a} {op} {b}' for a, op, b in itertools.product(pairs, OPERATORS, pairs) if not (op == '**' and b == '7' and a == '7')]
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
        return (f'({a} {self.rng.choice(OPERATORS)} {b})' if pick < 0.4 else f'({a})|{self.rng.choice(FILTERS)}' if pick < 0.6
                else f'({a}){self.rng.choice(self.methods)}' if pick < 0.75 else f'({a} is {self.rng.choice(TESTS)})' if pick < 0.85
                else f'({a} if {b} else {self.expression(depth - 1)})' if pick < 0.95 else f'[{a}, {b}]')

    def template(self) -> str:
        e = self.expression
        return self.rng.choice([
            lambda: '{{ ' + e() + ' }}', lambda: '{{ ' + e(4) + ' }}',
            lambda: '{% if ' + e() + ' %}a{% elif ' + e(2) + ' %}b{% else %}c{% endif %}',
            lambda: '{% for x in ' + e() + ' %}{{ x }}{{ loop.index }}{% else %}-{% endfor %}',
            lambda: '{% for x in ' + e(2) + ' if ' + e(2) + ' %}\n {{- ' + e(1) + ' }}\n {% endfor %}',
            lambda: '{% set y = ' + e() + ' %}{{ y }}', lambda: '{% set y %}{{ ' + e(2) + ' }}{% endset %}{{ y|' + self.rng.choice(FILTERS) + ' }}',
        ])()


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
        (arguments.folder / name).write_text(f'{one(value)[:-1]},"{listed}":{brackets[0]}\n' + ',\n'.join(lines) + f'\n{brackets[1]}}}\n')

    write('chats.json', {'now': NOW, 'tokens': TOKENS, 'chats': CHATS, 'texts': chats}, 'texts')
    write('language.json', {'now': NOW, 'variables': variables, 'cases': language}, 'cases')
    print(len(chats), sum(t is None for t in chats.values()), len(language), sum(t is None for _, t in language))


if __name__ == '__main__':
    main()
