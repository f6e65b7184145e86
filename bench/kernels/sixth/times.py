"""Times written in ISO 8601."""

import datetime

import numpy as np
from kernels.declare import Kernel, Problem
from kernels.texts import each
from pyptx import cuda


def digits(text, at, count):
    """The number that `count` digits write, -1 if one is none."""
    value = 0
    for k in range(count):
        c = int(text[at + k]) - 48
        if c < 0 or c > 9:
            return -1
        value = value * 10 + c
    return value


def moment(text, at, end):
    """YYYY-MM-DDTHH:MM:SS, perhaps a fraction, then Z or an offset: microseconds since 1970, or the lowest number."""
    wrong = -(2**63)
    if end - at < 20:
        return wrong
    year = digits(text, at, 4)
    month = digits(text, at + 5, 2)
    day = digits(text, at + 8, 2)
    hour = digits(text, at + 11, 2)
    minute = digits(text, at + 14, 2)
    second = digits(text, at + 17, 2)
    if text[at + 4] != ord("-") or text[at + 7] != ord("-") or text[at + 10] != ord("T"):
        return wrong
    if year < 0 or month < 1 or month > 12 or day < 1 or day > 31 or hour < 0 or hour > 23:
        return wrong
    if minute < 0 or minute > 59 or second < 0 or second > 59:
        return wrong
    at += 19
    micros = 0
    if text[at] == ord("."):
        at += 1
        scale = 100000
        while at < end and 48 <= text[at] <= 57:
            micros += (int(text[at]) - 48) * scale
            scale //= 10
            at += 1
    if at >= end:
        return wrong
    shift = 0
    if text[at] == ord("+") or text[at] == ord("-"):
        if end - at < 6:
            return wrong
        h = digits(text, at + 1, 2)
        m = digits(text, at + 4, 2)
        if h < 0 or m < 0:
            return wrong
        shift = h * 60 + m
        if text[at] == ord("-"):
            shift = -shift
    elif text[at] != ord("Z"):
        return wrong
    if month <= 2:
        year -= 1
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    return (((days * 24 + hour) * 60 + minute - shift) * 60 + second) * 1000000 + micros


def iso_times(text, starts, out):
    """A time a thread."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = moment(text, int(starts[i]), int(starts[i + 1]))


def times_problem(rng, n):
    kinds = min(n, 4001)
    texts, values = [], []
    epoch = datetime.datetime(1970, 1, 1)
    for k in range(kinds):
        micros = int(rng.integers(-10**15, 4 * 10**15))
        when = epoch + datetime.timedelta(microseconds=micros)
        text, form = when.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0"), k % 5
        second = micros - when.microsecond
        if form == 0:
            text, value = text + "Z", second
        elif form == 1:
            text, value = f"{text}.{when.microsecond:06d}Z", micros
        elif form == 2:
            text, value = f"{text}.{when.microsecond // 1000:03d}+05:30", micros - micros % 1000 - 330 * 60 * 10**6
        elif form == 3:
            text, value = f"{text}-08:00", second + 480 * 60 * 10**6
        else:
            place = int(rng.integers(0, 19))
            text, value = text[:place] + "x" + text[place + 1 :] + "Z", -(2**63)
            if place in (13, 16):  # between hours, minutes and seconds anything may stand
                value = second
        texts.append(text.encode())
        values.append(value)
    which = rng.integers(0, kinds, n)
    starts = np.concatenate([[0], np.cumsum(np.array([len(t) for t in texts])[which])]).astype(np.int32)
    text = np.frombuffer(b"".join(texts[w] for w in which), np.uint8).copy()
    values = np.array(values, np.int64)
    args = (text, starts, np.zeros(n, np.int64))
    bytes_ = 12.0 * n + text.size
    return Problem(args, (n,), (2,), lambda: [(slice(None), values[which], 0)], threads=n, bytes=bytes_)


TIMES = each(
    "iso_times(const unsigned char *text, const int *starts, long long *out, int n)",
    """
    out[i] = iso_moment(text, starts[i], starts[i + 1]);
""",
    before="""
#define ISO_WRONG (-9223372036854775807LL - 1)
DEVICE INDEX iso_digits(const unsigned char *text, INDEX at, INDEX count) {
  INDEX value = 0;
  for (INDEX k = 0; k < count; k++) {
    INDEX c = (INDEX)text[at + k] - 48;
    if (c < 0 || c > 9) return -1;
    value = value * 10 + c;
  }
  return value;
}
DEVICE long long iso_moment(const unsigned char *text, INDEX at, INDEX end) {
  if (end - at < 20) return ISO_WRONG;
  INDEX year = iso_digits(text, at, 4), month = iso_digits(text, at + 5, 2), day = iso_digits(text, at + 8, 2);
  INDEX hour = iso_digits(text, at + 11, 2), minute = iso_digits(text, at + 14, 2);
  INDEX second = iso_digits(text, at + 17, 2);
  if (text[at + 4] != '-' || text[at + 7] != '-' || text[at + 10] != 'T') return ISO_WRONG;
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23) return ISO_WRONG;
  if (minute < 0 || minute > 59 || second < 0 || second > 59) return ISO_WRONG;
  at += 19;
  INDEX micros = 0, shift = 0;
  if (text[at] == '.') {
    at++;
    for (INDEX scale = 100000; at < end && text[at] >= 48 && text[at] <= 57; at++) {
      micros += (text[at] - 48) * scale;
      scale /= 10;
    }
  }
  if (at >= end) return ISO_WRONG;
  if (text[at] == '+' || text[at] == '-') {
    if (end - at < 6) return ISO_WRONG;
    INDEX h = iso_digits(text, at + 1, 2), m = iso_digits(text, at + 4, 2);
    if (h < 0 || m < 0) return ISO_WRONG;
    shift = h * 60 + m;
    if (text[at] == '-') shift = -shift;
  } else if (text[at] != 'Z')
    return ISO_WRONG;
  if (month <= 2) year--;
  INDEX era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
  INDEX of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  INDEX days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
  return ((((long long)days * 24 + hour) * 60 + minute - shift) * 60 + second) * 1000000 + micros;
}
""",
)

KERNELS = [
    Kernel(
        "times in ISO 8601", iso_times, "uint8[::1], int32[::1], int64[::1]", 128, times_problem,
        gpu=1_000_003, host=20_003, test=503, kind="irregular", **TIMES,
    ),
]  # fmt: skip
