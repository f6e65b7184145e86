"""What the text of one LLVM differs in from another's. Goldens are LLVM 22's; no other test file asks for the version."""
import re

from pyptx import _pyptx

MAJOR = int(_pyptx._facts()["llvm"].split(".")[0])


def as_22(text):
    """PTX as LLVM 22 would have written it: it leaves out what atomics mean without a word."""
    return text if MAJOR == 22 else re.sub(r"\batom\.relaxed\.gpu\.(?!\S*\.cas\.)", "atom.", text)
