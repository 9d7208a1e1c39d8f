# Reads AMD code objects: ELF files whose note has, in MessagePack, what the compiler says about each kernel.
# SPDX-License-Identifier: Apache-2.0
import struct

NOTE, DYNAMIC_SYMBOLS, FUNCTION = 7, 11, 2
METADATA = 32  # the note's type
PROCESSORS = {0x3f: 'gfx90a', 0x4c: 'gfx942', 0x4f: 'gfx950'}  # by the low byte of the ELF flags


class Malformed(Exception):
    """Not a code object of ours; the text says why."""


class Packed:
    """A MessagePack value, of the kinds that metadata have."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Malformed(f'the metadata end at byte {len(self.data)}, wanted {count} more from {self.at} on')
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, count):
        return int.from_bytes(self.take(count), 'big')

    def value(self):
        kind = self.number(1)
        if kind < 0x80 or kind >= 0xe0:
            return kind if kind < 0x80 else kind - 256
        for first, make in ((0xa0, self.text), (0x90, self.array), (0x80, self.table)):
            if first <= kind < first + (32 if first == 0xa0 else 16):
                return make(kind - first)
        if kind in (0xc0, 0xc2, 0xc3):
            return {0xc0: None, 0xc2: False, 0xc3: True}[kind]
        sized = {0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8}
        if kind in sized:
            return self.number(sized[kind])
        longer = {0xd9: (self.text, 1), 0xda: (self.text, 2), 0xdc: (self.array, 2), 0xde: (self.table, 2)}
        if kind not in longer:
            raise Malformed(f'the metadata have a value of kind {kind:#x} at byte {self.at - 1}')
        make, width = longer[kind]
        return make(self.number(width))

    def text(self, count):
        return self.take(count).decode()

    def array(self, count):
        return [self.value() for _ in range(count)]

    def table(self, count):
        return {self.value(): self.value() for _ in range(count)}


class CodeObject:
    """`processor` as compilers name it, `kernels`: metadata by name, `functions`: those that have code."""

    def __init__(self, elf):
        if elf[:6] != b'\x7fELF\x02\x01':
            raise Malformed('not a 64-bit little-endian ELF file')
        try:
            flags, = struct.unpack_from('<I', elf, 48)
            self.processor = PROCESSORS.get(flags & 0xff, f'{flags & 0xff:#x}')
            table, = struct.unpack_from('<Q', elf, 40)
            count, = struct.unpack_from('<H', elf, 60)
            sections = [struct.unpack_from('<IIQQQQIIQQ', elf, table + 64 * i) for i in range(count)]
            self.kernels = {kernel['.name']: kernel for kernel in metadata(elf, sections).get('amdhsa.kernels', [])}
            self.functions = functions(elf, sections)
        except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Malformed(f'a damaged ELF file: {error}') from error


def metadata(elf, sections):
    for section in sections:
        if section[1] != NOTE:
            continue
        at, end = section[4], section[4] + section[5]
        while at < end:
            name, bytes_, kind = struct.unpack_from('<III', elf, at)
            begin = at + 12 + (name + 3) // 4 * 4
            if kind == METADATA:
                return Packed(elf[begin:begin + bytes_]).value()
            at = begin + (bytes_ + 3) // 4 * 4
    raise Malformed('no metadata')


def functions(elf, sections):
    names = set()
    for section in sections:
        if section[1] != DYNAMIC_SYMBOLS:
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, _, size = struct.unpack_from('<IBBHQQ', elf, at)
            if info & 15 == FUNCTION and index and size:
                names.add(elf[strings + name:elf.index(b'\0', strings + name)].decode())
    return names
