"""Options of @cuda.jit: the rows of codegen/options.def, which says what the columns are. The decorator and the command line read by them."""

from pyptx import _pyptx

_LARGEST = (1 << 31) - 1

class Option:
    """A row. `fields`: what its value becomes in a Dispatcher, by name, with what they are while it is not given; `summary`: the first part
    of `doc`, which is of the command line too."""

    __slots__ = ("name", "kind", "least", "most", "type", "shown", "devices", "environment", "command", "doc", "fields", "summary")

    def __init__(self, row):
        for column, value in zip(self.__slots__, row):
            setattr(self, column, value)
        self.fields = {}
        head, rest = self.doc.partition("; ")[::2]
        if 1 < self.most < _LARGEST:
            head += f", {self.least} to {self.most}"
        self.summary, self.doc = head, f"{head}; {rest}" if rest else head
        if self.kind == "CHOICE":
            self.type = self.type.split()

    @property
    def default(self):
        """As the documentation shows it."""
        if self.kind == "FLAG":
            return str(any(self.fields.values()))
        return self.shown or ("None" if self.kind in ("NUMBER", "COUNT") else f'"{self.type[0]}"')


def _read_rows():
    rows, fields, flags = _pyptx._options()
    options = {row[0]: Option(row) for row in rows}
    for option, field, unset in filter(None, fields):
        options[option].fields[field] = unset
    return options, flags


OPTIONS, FASTMATH = _read_rows()  # by name; (flag, bits, is it a part of fastmath=True)
