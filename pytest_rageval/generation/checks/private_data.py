"""Find personal data in cases: e-mail addresses, phone numbers, ID cards, bank accounts."""

from __future__ import annotations

import re

from pytest_rageval.generation.draft import Draft
from pytest_rageval.text.unicode import nfkc

__all__ = ["private_data", "private_kinds"]

_EMAIL = re.compile(r"[0-9A-Za-z_.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_PHONE = re.compile(
    r"(?<![0-9A-Za-z_.,+])(?:"
    r"\+\d{1,3}[ -]?(?:\(\d{1,4}\)[ -]?)?\d{1,4}(?:[ -]?\d{2,4}){2,4}"  # +47 22 33 44 55
    r"|\(\d{2,4}\)[ -]?\d{3,4}[ -]?\d{3,4}"  # (555) 123-4567
    r"|\d{3}[-. ]\d{3}[-. ]\d{4}"  # 555-123-4567
    r"|0\d{2,3}-\d{7,8}"  # 010-12345678
    r"|1[3-9]\d{9}"  # Chinese mobile
    r")(?![0-9A-Za-z_]|[.,]\d)"
)
_ID_CARD = re.compile(r"(?<![0-9A-Za-z_])\d{17}[\dXx](?![0-9A-Za-z_])")
_SSN = re.compile(r"(?<![0-9A-Za-z_-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![0-9A-Za-z_-])")
_IBAN = re.compile(r"(?<![0-9A-Za-z_])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![0-9A-Za-z_])")

_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECK_DIGITS = "10X98765432"


def private_data(draft: Draft) -> str:
    """Return the kinds of private data in the first text of a draft that has any; "" if none has."""
    turns = [text for turn in draft.history for text in (turn.question, turn.answer)]
    for text in (draft.question, *turns, *(alias for slot in draft.gold for alias in slot)):
        kinds = private_kinds(text)
        if kinds:
            return ", ".join(kinds)
    return ""


def private_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of private data in a text; ID cards (GB 11643) and IBANs (ISO 13616) need valid check digits."""
    plain = nfkc(text)
    has_kind = {
        "e-mail address": _EMAIL.search(plain) is not None,
        "phone number": _PHONE.search(plain) is not None,
        "ID card": _SSN.search(plain) is not None or any(_is_id_card(each[0]) for each in _ID_CARD.finditer(plain)),
        "bank account": any(map(_starts_with_iban, (each[0] for each in _IBAN.finditer(plain)))),
    }
    return tuple(kind for kind, has_it in has_kind.items() if has_it)


def _is_id_card(digits: str) -> bool:
    total = sum(int(digit) * weight for digit, weight in zip(digits, _WEIGHTS, strict=False))
    return digits[-1].upper() == _CHECK_DIGITS[total % 11]


def _starts_with_iban(text: str) -> bool:
    """Return whether a text begins with an IBAN; a word in capitals may follow it."""
    compact = text.replace(" ", "")
    return any(_is_iban(compact[:length]) for length in range(15, len(compact) + 1))


def _is_iban(text: str) -> bool:
    digits = "".join(str(int(character, 36)) for character in text[4:] + text[:4])
    return int(digits) % 97 == 1
