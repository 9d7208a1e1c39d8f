# Puts tables into a page, each between its marks.
# SPDX-License-Identifier: Apache-2.0


class PageTables:
    """The places of one kind in a page, such as <!-- advice found: begin --> to <!-- advice found: end -->."""

    def __init__(self, kind):
        self.kind = kind

    def marks(self, place):
        return f'<!-- {self.kind} {place}: begin -->\n', f'<!-- {self.kind} {place}: end -->\n'

    def replaced(self, page, texts):
        for place, text in texts.items():
            begin, end = (page.index(mark) for mark in self.marks(place))
            page = page[:begin] + self.marks(place)[0] + text + page[end:]
        return page
