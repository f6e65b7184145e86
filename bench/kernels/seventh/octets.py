"""Bytes: hexadecimal text, fields of CSV lines, packed 12-bit samples."""

import numpy as np
from kernels.declare import Kernel, Problem
from kernels.texts import each
from pyptx import cuda


def nibble_of(c):
    """The value of a hexadecimal digit, or -1."""
    if c >= ord("0") and c <= ord("9"):
        return c - ord("0")
    if c >= ord("a") and c <= ord("f"):
        return c - ord("a") + 10
    if c >= ord("A") and c <= ord("F"):
        return c - ord("A") + 10
    return -1


def hex_decode(text, out, wrong):
    """Two digits a byte; pairs with another character become 0 and are counted."""
    i = cuda.grid(1)
    if i < out.size:
        high = nibble_of(int(text[2 * i]))
        low = nibble_of(int(text[2 * i + 1]))
        if high < 0 or low < 0:
            out[i] = 0
            cuda.atomic.add(wrong, 0, 1)
        else:
            out[i] = high * 16 + low


def csv_fields(text, starts, counts, longest, quoted):
    """The number of a line's fields, the length of the longest, and how many have quotes, which hide commas."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    fields = 1
    length = 0
    most = 0
    inside = False
    quotes = 0
    for k in range(starts[i], starts[i + 1] - 1):
        c = text[k]
        if c == ord('"'):
            if not inside and length == 0:
                quotes += 1
            inside = not inside
            length += 1
        elif c == ord(",") and not inside:
            fields += 1
            most = max(most, length)
            length = 0
        else:
            length += 1
    counts[i] = fields
    longest[i] = max(most, length)
    quoted[i] = quotes


def unpack12(packed, black, gain, pixels):
    """Two 12-bit samples from three bytes, less the black level, scaled by a gain in 1/256ths, cut at 16 bits."""
    i = cuda.grid(1)
    if 2 * i + 1 < pixels.size:
        a = int(packed[3 * i])
        b = int(packed[3 * i + 1])
        c = int(packed[3 * i + 2])
        first = (a << 4) | (b >> 4)
        second = ((b & 15) << 8) | c
        pixels[2 * i] = min(max(first - black, 0) * gain >> 8, 65535)
        pixels[2 * i + 1] = min(max(second - black, 0) * gain >> 8, 65535)


def hex_problem(rng, n):
    digits = np.frombuffer(b"0123456789abcdefABCDEF", np.uint8)
    text = rng.choice(digits, 2 * n)
    text[rng.integers(0, 2 * n, n // 300 + 1)] = ord("x")

    def expected():
        values = np.full(256, -1)
        for d in digits:
            values[d] = int(chr(d), 16)
        pairs = values[text].reshape(n, 2)
        bad = (pairs < 0).any(1)
        out = np.where(bad, 0, pairs[:, 0] * 16 + pairs[:, 1]).astype(np.uint8)
        return [(slice(None), out, 0), (slice(None), np.array([bad.sum()], np.int32), 0)]

    args = (text, np.zeros(n, np.uint8), np.zeros(1, np.int32))
    return Problem(args, (n,), (1, 2), expected, threads=n, bytes=3.0 * n)


def csv_problem(rng, n):
    words = [b"", b"7", b"42.5", b"name", b"2024-05-17", b'"Smith, J."', b'"a ""b"" c"', b"x" * 23]
    fields = rng.integers(1, 14, n)
    kinds = rng.integers(0, len(words), fields.sum())
    lines, at = [], 0
    for f in fields:
        lines.append(b",".join(words[w] for w in kinds[at : at + f]) + b"\n")
        at += f
    text = np.frombuffer(b"".join(lines), np.uint8).copy()
    starts = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int32)

    def expected():
        lengths, with_quotes = np.array([len(w) for w in words]), np.array([w[:1] == b'"' for w in words])
        first = np.cumsum(fields) - fields
        longest = np.maximum.reduceat(lengths[kinds], first)
        quoted = np.add.reduceat(with_quotes[kinds].astype(int), first)
        outputs = (fields, longest, quoted)
        return [(slice(None), v.astype(np.int32), 0) for v in outputs]

    args = (text, starts, *(np.zeros(n, np.int32) for _ in range(3)))
    return Problem(args, (n,), (2, 3, 4), expected, threads=n, bytes=1.0 * text.size)


def packed_problem(rng, n):
    packed, black, gain = rng.integers(0, 256, 3 * n, np.uint8), 251, 5003

    def expected():
        a, b, c = packed.reshape(n, 3).T.astype(int)
        samples = np.stack([(a << 4) | (b >> 4), ((b & 15) << 8) | c], 1).ravel()
        return [(slice(None), np.minimum(np.maximum(samples - black, 0) * gain >> 8, 65535).astype(np.uint16), 0)]

    args = (packed, black, gain, np.zeros(2 * n, np.uint16))
    return Problem(args, (2 * n,), (3,), expected, threads=n, bytes=7.0 * n)


HEX = each(
    """hex_decode(const unsigned char *__restrict__ text, unsigned char *__restrict__ out, int *__restrict__ wrong,
                int n)""",
    """
    int high = nibble_of(text[2 * i]), low = nibble_of(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      out[i] = 0;
      COUNT;
    } else {
      out[i] = high * 16 + low;
    }
""",
    before="""
DEVICE int nibble_of(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
""",
)
HEX = {
    text: body.replace("COUNT", '_Pragma("omp atomic") wrong[0]++' if text == "openmp" else "atomicAdd(wrong, 1)")
    for text, body in HEX.items()
}

CSV = each(
    """csv_fields(const unsigned char *__restrict__ text, const int *__restrict__ starts, int *__restrict__ counts,
                int *__restrict__ longest, int *__restrict__ quoted, int n)""",
    """
    INDEX fields = 1, length = 0, most = 0, quotes = 0, last = starts[i + 1] - 1;
    int inside = 0;
    for (INDEX k = starts[i]; k < last; k++) {
      unsigned char c = text[k];
      if (c == '"') {
        if (!inside && length == 0) quotes++;
        inside = !inside;
        length++;
      } else if (c == ',' && !inside) {
        fields++;
        most = MAX(most, length);
        length = 0;
      } else {
        length++;
      }
    }
    counts[i] = fields;
    longest[i] = MAX(most, length);
    quoted[i] = quotes;
""",
)

UNPACK = each(
    """unpack12(const unsigned char *__restrict__ packed, int black, int gain, unsigned short *__restrict__ pixels,
              int n)""",
    """
    INDEX a = packed[3 * i], b = packed[3 * i + 1], c = packed[3 * i + 2];
    INDEX first = (a << 4) | (b >> 4), second = ((b & 15) << 8) | c;
    pixels[2 * i] = MIN(MAX(first - black, (INDEX)0) * gain >> 8, (INDEX)65535);
    pixels[2 * i + 1] = MIN(MAX(second - black, (INDEX)0) * gain >> 8, (INDEX)65535);
""",
    extent="n / 2",
)

KERNELS = [
    Kernel(
        "hexadecimal to bytes", hex_decode, "uint8[::1], uint8[::1], int32[::1]", 256, hex_problem,
        gpu=50_000_017, host=500_003, test=2003, kind="streaming", **HEX,
    ),
    Kernel(
        "fields of CSV lines", csv_fields, "uint8[::1], int32[::1], int32[::1], int32[::1], int32[::1]", 128,
        csv_problem,
        gpu=200_003, host=5003, test=403, kind="irregular", **CSV,
    ),
    Kernel(
        "12-bit samples", unpack12, "uint8[::1], pyint, pyint, uint16[::1]", 256, packed_problem,
        gpu=20_000_003, host=300_007, test=1003, kind="streaming", **UNPACK,
    ),
]  # fmt: skip
