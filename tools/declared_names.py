# What a compiler and a linker say is public: names of the headers' declarations, and of a shared library's functions.
# SPDX-License-Identifier: Apache-2.0
import json
import re
import shutil
import subprocess

CLANG = shutil.which('clang-14') or shutil.which('clang')
NAMED = {'FunctionDecl', 'CXXMethodDecl', 'CXXConstructorDecl', 'CXXConversionDecl', 'FieldDecl', 'EnumDecl',
         'CXXRecordDecl', 'TypeAliasDecl', 'VarDecl', 'ConceptDecl', 'TypedefDecl', 'RecordDecl'}
TEMPLATES = {'ClassTemplateDecl', 'FunctionTemplateDecl'}


def exported(library):
    """Names of what the shared library defines for others."""
    listing = subprocess.run(['nm', '-D', '--defined-only', str(library)], check=True, capture_output=True, text=True)
    return {line.split()[-1].split('@')[0] for line in listing.stdout.splitlines()}


def macros(header):
    """Of a C header and what it includes of rung: what their text defines and the compiler knows."""
    run = subprocess.run(['cc', '-dM', '-E', '-x', 'c', '-I', str(header.parent.parent), str(header)], check=True,
                         capture_output=True, text=True)
    return set(re.findall(r'^#define (RUNG_\w+)', run.stdout, re.MULTILINE))


def _tree(arguments):
    """clang's trees of syntax for what the filter matches, one after another."""
    run = subprocess.run([CLANG, '-fsyntax-only', '-w', '-Xclang', '-ast-dump=json', *arguments], capture_output=True,
                         text=True)
    if run.returncode:
        raise SystemExit(f'clang: {run.stderr}')
    decoder, at, text = json.JSONDecoder(), 0, run.stdout
    while at < len(text):
        tree, at = decoder.raw_decode(text, at)
        yield tree
        at += len(text[at:at + 8]) - len(text[at:at + 8].lstrip())


def c_names(header):
    """Types, their fields, and functions of a C header and what it includes of rung."""
    names = set()
    for node in next(_tree(['-x', 'c', '-I', str(header.parent.parent), str(header)]))['inner']:
        name = node.get('name', '')
        if name.startswith('rung_'):
            fields = [child for child in node.get('inner', []) if child['kind'] == 'FieldDecl']
            names.update([name], (f'{name}::{child["name"]}' for child in fields))
    return names


def cpp_names(include):
    """Public names in rung::api but those in its namespace `detail`, members as Class::member."""
    names = set()
    arguments = ['-x', 'c++', '-std=c++20', '-I', str(include.parent), '-Xclang', '-ast-dump-filter=rung::api']
    for tree in _tree(arguments + [str(include / 'rung.hpp')]):
        names.update(_public(tree, ''))
    return names


def _public(node, owner):
    public = node.get('tagUsed') != 'class'
    for child in node.get('inner', []):
        kind, name = child['kind'], child.get('name', '')
        if kind == 'AccessSpecDecl':
            public = child['access'] == 'public'
        elif kind == 'NamespaceDecl' and name != 'detail':
            yield from _public(child, owner)
        elif public and kind in TEMPLATES:
            yield from _declared(child['inner'], owner)
        elif public:
            yield from _declared([child], owner)


def _declared(nodes, owner):
    """The named one among them; not what the compiler adds, nor a member that is defined outside its class."""
    for node in nodes:
        again = 'previousDecl' in node and node['kind'] != 'CXXRecordDecl'
        if node['kind'] not in NAMED or node.get('isImplicit') or not node.get('name') or again:
            continue
        name = re.sub(r'<.*', '', node['name']) if node['kind'] == 'CXXConstructorDecl' else node['name']
        yield owner + name
        if node['kind'] == 'CXXRecordDecl':
            yield from _public(node, owner + name + '::')
        if node['kind'] != 'FieldDecl':
            return
