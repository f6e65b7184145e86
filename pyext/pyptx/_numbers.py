"""Whole numbers as texts, of the command line and of the environment."""


def whole(text, least, most):
    """The number from least to most that a text has in decimal digits; ValueError for every other text."""
    digits = text.lstrip("0") if text.isascii() and text.isdecimal() else None  # int() takes other scripts' digits, and not thousands of them
    number = -1 if digits is None or len(digits) > len(str(most)) else int(digits or "0")
    if not least <= number <= most:
        said = text if len(text) <= 40 else text[:37] + "..."
        raise ValueError(f"must be a whole number from {least} to {most}, not {said!r}")
    return number
