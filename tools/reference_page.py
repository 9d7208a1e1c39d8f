# Writes a reference page: what an interface has, section by section, each entry with its text and its declaration.
# SPDX-License-Identifier: Apache-2.0
import re
import textwrap
from dataclasses import dataclass

WIDTH = 120


@dataclass
class Entry:
    names: list
    text: str  # paragraphs, with an empty line between them; plain text in which `name` is code
    code: str
    language: str  # of the fence: c, cpp, python

    @property
    def heading(self):
        return ', '.join(f'`{name}`' for name in self.names)


@dataclass
class Section:
    title: str
    entries: list


def anchor(heading):
    """What forges make of a heading, for links to it."""
    return re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')


def places_of(sections, page=''):
    """Where each name stands: what a link leads to."""
    return {name: f'{page}#{anchor(e.heading)}' for s in sections for e in s.entries for name in e.names}


def write_page(title, about, sections, elsewhere=None):
    """The page's text. `about` is paragraphs too. Where texts name an entry, of this page or of `elsewhere`, another's
    places_of(), they link to it."""
    places = (elsewhere or {}) | places_of(sections)
    parts = [f'# {title}', _paragraphs(about, places)]
    for section in sections:
        links = [f'[`{name}`](#{anchor(e.heading)})' for e in section.entries for name in e.names]
        parts += [f'## {section.title}', _filled(', '.join(links))]
        for entry in section.entries:
            own = {name: place for name, place in places.items() if name not in entry.names}
            parts += [f'### {entry.heading}', _paragraphs(entry.text, own),
                      f'```{entry.language}\n{entry.code}\n```']
    return '\n\n'.join(filter(None, parts)) + '\n'


def _paragraphs(text, places):
    return '\n\n'.join(_filled(_markdown(part, places)) for part in text.split('\n\n'))


def _filled(text):
    return textwrap.fill(' '.join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def _markdown(text, places):
    """Code keeps its marks and becomes a link where it is an entry; the rest has no marks of its own."""
    parts = re.split(r'(`[^`]+`|\b[\w:]+\(\)|\b[\w:]*\w_\w+\b|\b\w+(?:::\w+)+\b)', text)
    return ''.join(_code(part, places) if at % 2 else re.sub(r'([*<\[\]])', r'\\\1', part)
                   for at, part in enumerate(parts))


def _code(word, places):
    word = word.strip('`')
    place = places.get(word.removesuffix('()'))
    return f'[`{word}`]({place})' if place else f'`{word}`'
