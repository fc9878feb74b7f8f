"""Copies an archive of Swift's library so that the linker may drop what a program does not use.

Usage: python3 without_marks.py ARCHIVE COPY
Swift marks each public function and constant SHF_GNU_RETAIN, for programs that look them up by
name. The copy has no such marks on code and data. Those on metadata stay: the runtime finds it by
its sections. Room of 64 kB for settings, all zeros, takes no place in a file any more.
"""
import struct
import sys

ARCHIVE, MEMBER_HEADER = b"!<arch>\n", 60
ELF_64 = b"\x7fELF\x02"
RETAIN, NO_BITS = 0x200000, 8
KINDS = (b".text", b".rodata", b".data")
ROOM = b"swift5_backtrace\0"


def unmark(data, start):
    """Clears the marks in the object that begins at `start`."""
    (table,) = struct.unpack_from("<Q", data, start + 0x28)
    count, names = struct.unpack_from("<HH", data, start + 0x3C)

    def section(number):  # name, type, flags, address, offset, size, link
        return struct.unpack_from("<IIQQQQI", data, start + table + 64 * number)

    # Large numbers are in the first section.
    count = count or section(0)[5]
    texts = start + section(section(0)[6] if names == 0xFFFF else names)[4]
    for number in range(count):
        name, _, flags, _, offset, size, _ = section(number)
        if flags & RETAIN and data[texts + name : texts + name + 8].startswith(KINDS):
            place = start + table + 64 * number + 8
            struct.pack_into("<Q", data, place, flags & ~RETAIN)
        if data[texts + name : texts + name + len(ROOM)] == ROOM:
            if not any(data[start + offset : start + offset + size]):
                struct.pack_into("<I", data, start + table + 64 * number + 4, NO_BITS)


def main(archive, copy):
    with open(archive, "rb") as file:
        data = bytearray(file.read())
    if not data.startswith(ARCHIVE):
        sys.exit(f"without_marks: '{archive}' is not an archive")
    place = len(ARCHIVE)
    while place < len(data):
        size = int(data[place + 48 : place + 58])
        place += MEMBER_HEADER
        if data[place : place + len(ELF_64)] == ELF_64:
            unmark(data, place)
        place += size + size % 2
    with open(copy, "wb") as file:
        file.write(data)


main(*sys.argv[1:])
