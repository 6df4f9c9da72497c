"""Checksums of cards, bank accounts and government ids. Each takes the characters without gaps.

Sources: ISO/IEC 7812-1 (Luhn), ISO 13616 (IBAN), ISO/IEC 7064, J. Verhoeff (1969), and the issuing
authority of each id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from typing import TypeAlias

Check: TypeAlias = Callable[[str], bool]

_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
_ITALIAN_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22)
_ITALIAN_LAST = (25, 24, 23)
_DNI = "trwagmyfpdxbnjzsqvhlcke"
_HETU = "0123456789abcdefhjklmnprstuvwxy"
_CURP = "0123456789abcdefghijklmnñopqrstuvwxyz"


def weighted(digits: str, weights: Sequence[int]) -> int:
    """Return the sum of digits by weights; the shorter of the two decides how many."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def valid_date(year: int, month: int, day: int) -> bool:
    """Tell whether a day exists."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def short_date(digits: str, order: str = "ymd") -> bool:
    """Tell whether six digits are a day of this or the last century, in an order of y, m and d."""
    parts = {name: int(digits[2 * i : 2 * i + 2]) for i, name in enumerate(order)}
    return any(valid_date(c + parts["y"], parts["m"], parts["d"]) for c in (1900, 2000))


def repeated(digits: str) -> bool:
    """Tell whether all digits are the same, which no issuer gives out."""
    return digits == digits[0] * len(digits)


def luhn(digits: str) -> bool:
    """Tell whether the Luhn sum is a multiple of ten."""
    plain = sum(map(int, digits[-1::-2]))
    return (plain + sum(_DOUBLED[int(digit)] for digit in digits[-2::-2])) % 10 == 0


@cache
def _dihedral() -> tuple[tuple[int, ...], ...]:
    def product(a: int, b: int) -> int:
        if a < 5:
            return (a + b) % 5 if b < 5 else (a + b - 5) % 5 + 5
        return (a - 5 - b) % 5 + 5 if b < 5 else (a - b) % 5

    return tuple(tuple(product(a, b) for b in range(10)) for a in range(10))


@cache
def _permutations() -> tuple[tuple[int, ...], ...]:
    first = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
    rows = [tuple(range(10))]
    for _ in range(7):
        rows.append(tuple(first[digit] for digit in rows[-1]))
    return tuple(rows)


def verhoeff(digits: str) -> bool:
    """Tell whether a number passes the Verhoeff check."""
    state, table, rows = 0, _dihedral(), _permutations()
    for place, digit in enumerate(reversed(digits)):
        state = table[state][rows[place % 8][int(digit)]]
    return state == 0


def mod97(code: str) -> bool:
    """Tell whether an account number passes ISO 7064 mod 97-10, its first four moved to the end."""
    moved = code[4:] + code[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


def aadhaar(digits: str) -> bool:
    """India: twelve digits, Verhoeff, never beginning with 0 or 1."""
    return digits[0] > "1" and verhoeff(digits)


def argentina(digits: str) -> bool:
    """Argentina's CUIT: eleven digits, modulus 11."""
    rest = 11 - weighted(digits[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return digits[:2] in {"20", "23", "24", "27", "30", "33", "34"} and rest % 11 == int(digits[10])


def australia_medicare(digits: str) -> bool:
    """Australia's Medicare card: ten or eleven digits, modulus 10 over the first eight."""
    right = weighted(digits[:8], (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(digits[8])
    return digits[0] in "23456" and right


def australia_tax(digits: str) -> bool:
    """Australia's tax file number: nine digits, modulus 11."""
    return not repeated(digits) and weighted(digits, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0


def belgium(digits: str) -> bool:
    """Belgium's national number: birth date, serial and modulus 97."""
    head, check = int(digits[:9]), int(digits[9:])
    right = check in {97 - head % 97, 97 - (2_000_000_000 + head) % 97}
    return right and int(digits[2:4]) % 20 <= 12


def _brazil(digits: str, size: int, longest: int) -> bool:
    for end in (size, size + 1):
        weights = [2 + place % (longest - 1) for place in range(end)][::-1]
        rest = weighted(digits[:end], weights) % 11
        if int(digits[end]) != (0 if rest < 2 else 11 - rest):
            return False
    return not repeated(digits)


def brazil_person(digits: str) -> bool:
    """Brazil's CPF: eleven digits, two of them modulus 11."""
    return _brazil(digits, 9, 11)


def brazil_company(digits: str) -> bool:
    """Brazil's CNPJ: fourteen digits, two of them modulus 11."""
    return _brazil(digits, 12, 9)


def canada(digits: str) -> bool:
    """Canada's SIN: nine digits, Luhn, never beginning with 0 or 8."""
    return digits[0] not in "08" and luhn(digits)


def chile(code: str) -> bool:
    """Chile's RUT: seven or eight digits and a check character, modulus 11."""
    total = sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(code[:-1])))
    return "0123456789k0"[11 - total % 11] == code[-1]


def china(code: str) -> bool:
    """China's resident id: region, birth date, serial and ISO 7064 mod 11-2."""
    if not (code[:17].isdigit() and code[0] in "12345689"):
        return False
    if not valid_date(int(code[6:10]), int(code[10:12]), int(code[12:14])):
        return False
    total = weighted(code, (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2))
    return "10x98765432"[total % 11] == code[17] and "1850" < code[6:10] < "2100"


def clabe(digits: str) -> bool:
    """Mexico's CLABE: eighteen digits, modulus 10."""
    total = sum(int(digit) * (3, 7, 1)[place % 3] % 10 for place, digit in enumerate(digits[:17]))
    return -total % 10 == int(digits[17]) and not repeated(digits)


def denmark(digits: str) -> bool:
    """Denmark's CPR: a birth date and four digits; newer ones have no checksum."""
    return short_date(digits[:6], "dmy")


def finland(code: str) -> bool:
    """Finland's HETU: birth date, century sign, serial and modulus 31."""
    compact = code[:6] + code[7:10]
    return short_date(code[:6], "dmy") and _HETU[int(compact) % 31] == code[10]


def france(code: str) -> bool:
    """France's NIR: sex, birth month, place, serial and key of modulus 97."""
    number = code[:13].replace("2a", "19", 1).replace("2b", "18", 1)
    if not (number.isdigit() and code[13:].isdigit() and code[0] in "12"):
        return False
    month = int(code[3:5])
    return 97 - int(number) % 97 == int(code[13:]) and (1 <= month <= 12 or 20 <= month <= 42)


def germany(digits: str) -> bool:
    """Germany's tax id: eleven digits, ISO 7064 mod 11,10, one or two of the first ten repeated."""
    state = 10
    for digit in digits[:10]:
        state = ((int(digit) + state) % 10 or 10) * 2 % 11
    return digits[0] != "0" and (11 - state) % 10 == int(digits[10]) and len(set(digits[:10])) < 10


def iran(digits: str) -> bool:
    """Iran's national id: ten digits, modulus 11."""
    rest = weighted(digits[:9], range(10, 1, -1)) % 11
    return int(digits[9]) == (rest if rest < 2 else 11 - rest) and not repeated(digits)


def iran_sheba(digits: str) -> bool:
    """Iran's IBAN without its country: 24 digits, modulus 97."""
    return mod97("ir" + digits)


def italy(code: str) -> bool:
    """Italy's codice fiscale: sixteen characters, the last a check letter."""
    values = [int(c) if c.isdigit() else ord(c) - 97 for c in code]
    odd = (*_ITALIAN_ODD, *_ITALIAN_LAST)
    total = sum(values[1:15:2]) + sum(odd[value] for value in values[0:15:2])
    return total % 26 == values[15]


def japan(digits: str) -> bool:
    """Japan's individual number: twelve digits, modulus 11."""
    rest = weighted(digits[:11], (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return int(digits[11]) == (0 if rest <= 1 else 11 - rest) and not repeated(digits)


def korea(digits: str) -> bool:
    """Korea's resident number: birth date, century and six digits; new ones have no checksum."""
    return digits[6] in "12345678" and short_date(digits[:6])


def mexico(code: str) -> bool:
    """Mexico's CURP: eighteen characters with a birth date, modulus 10."""
    total = sum(_CURP.index(c) * (18 - place) for place, c in enumerate(code[:17]))
    return short_date(code[4:10]) and str(-total % 10) == code[17]


def netherlands(digits: str) -> bool:
    """The Netherlands' BSN: nine digits, the eleven test."""
    return not repeated(digits) and weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def nhs(digits: str) -> bool:
    """England's NHS number: ten digits, modulus 11."""
    rest = -weighted(digits[:9], range(10, 1, -1)) % 11
    return rest == int(digits[9]) and not repeated(digits)


def norway(digits: str) -> bool:
    """Norway's birth or D number: eleven digits, two of them modulus 11."""
    first = weighted(digits, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11
    second = weighted(digits, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11
    day = str(int(digits[0]) % 4)
    return first == 0 == second and short_date(day + digits[1:6], "dmy")


def poland(digits: str) -> bool:
    """Poland's PESEL: birth date with a century in the month, modulus 10."""
    total = weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1))
    month = int(digits[2:4]) % 20
    return total % 10 == 0 and 1 <= month <= 12 and 1 <= int(digits[4:6]) <= 31


def routing(digits: str) -> bool:
    """The United States' bank routing number: nine digits, modulus 10."""
    return not repeated(digits) and weighted(digits, (3, 7, 1) * 3) % 10 == 0


def south_africa(digits: str) -> bool:
    """South Africa's id: birth date, serial, citizenship, Luhn."""
    return digits[10] in "012" and short_date(digits[:6]) and luhn(digits)


def spain(code: str) -> bool:
    """Spain's DNI or NIE: a number and its letter, modulus 23."""
    head = code[0].translate({120: "0", 121: "1", 122: "2"})
    return len(code) == 9 and _DNI[int(head + code[1:8]) % 23] == code[8]


def sweden(digits: str) -> bool:
    """Sweden's personal or co-ordination number: birth date, serial, Luhn; the century may lead."""
    ten = digits[-10:]
    day = int(ten[4:6])
    return luhn(ten) and short_date(f"{ten[:4]}{day - 60 if day > 60 else day:02d}")


def switzerland(digits: str) -> bool:
    """Switzerland's AHV number: 756 and ten digits with the check digit of EAN-13."""
    return digits[:3] == "756" and weighted(digits, (1, 3) * 6 + (1,)) % 10 == 0


def turkey(digits: str) -> bool:
    """Turkey's identity number: eleven digits, two of them checks."""
    odd, even = sum(map(int, digits[0:9:2])), sum(map(int, digits[1:8:2]))
    tenth = (odd * 7 - even) % 10
    total = sum(map(int, digits[:10])) % 10
    return digits[0] != "0" and (tenth, total) == (int(digits[9]), int(digits[10]))


_US = re.compile(r"(?!000|666|9)[0-9]{3}(?!00)[0-9]{2}(?!0000)[0-9]{4}")
_UK = re.compile(r"(?!bg|gb|kn|nk|nt|tn|zz)[a-ceghj-prstw-z][a-ceghj-nprstw-z][0-9]{6}[a-d]")


def united_states(digits: str) -> bool:
    """The United States' SSN: nine digits; some areas, groups and serials are never given out."""
    return _US.fullmatch(digits) is not None and digits not in {"123456789", "078051120"}


def united_kingdom(code: str) -> bool:
    """The United Kingdom's NINO: two letters, six digits, a letter; some prefixes are unused."""
    return _UK.fullmatch(code) is not None


def anything(digits: str) -> bool:
    """Take every number that is not one digit repeated: the class has no checksum."""
    return not repeated(digits)
