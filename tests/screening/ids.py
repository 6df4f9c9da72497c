"""Makes ids and card numbers that pass their checks. Written apart from the code it tests."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeAlias

Maker: TypeAlias = Callable[[Random], str]

LETTERS = string.ascii_uppercase
CARD_HEADS = {
    16: (
        "4",
        "51",
        "52",
        "53",
        "54",
        "55",
        "2221",
        "2500",
        "2720",
        "6011",
        "65",
        "3528",
        "62",
        "6037",
        "5022",
        "6219",
        "6104",
        "5892",
        "6274",
        "5859",
        "6273",
        "5057",
        "6393",
        "6362",
    ),
    15: ("34", "37"),
    19: ("62",),
}


def digits(rng: Random, count: int, first: str = "0123456789") -> str:
    """Return random digits, the first one of a few."""
    return rng.choice(first) + "".join(rng.choices(string.digits, k=count - 1))


def dots(number: str, weights: Sequence[int]) -> int:
    """Return the sum of digits by weights."""
    return sum(int(n) * w for n, w in zip(number, weights, strict=True))


def until(rng: Random, make: Maker) -> str:
    """Return the first thing made that is not empty; a maker returns "" for a number not issued."""
    return next(made for made in iter(lambda: make(rng), None) if made)


def luhn_digit(number: str) -> str:
    """Return the digit that completes a number to a Luhn sum of zero."""
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value // 10 + value % 10
    return str(-total % 10)


def birth(rng: Random, form: str, first: int = 1930, last: int = 1999) -> str:
    """Return a day of birth in a form of strftime."""
    day = date(first, 1, 1) + timedelta(days=rng.randrange((last - first) * 365))
    return day.strftime(form)


def card(rng: Random) -> str:
    length = rng.choices([16, 15, 19], [8, 1, 1])[0]
    head = rng.choice(CARD_HEADS[length])
    body = head + digits(rng, length - 1 - len(head))
    return body + luhn_digit(body)


def ir_national_id(rng: Random) -> str:
    body = digits(rng, 9)
    rest = dots(body, range(10, 1, -1)) % 11
    return body + str(rest if rest < 2 else 11 - rest)


def iban(rng: Random) -> str:
    country, length = rng.choice(
        [
            ("IR", 26),
            ("DE", 22),
            ("GB", 22),
            ("FR", 27),
            ("TR", 26),
            ("NL", 18),
            ("AE", 23),
            ("ES", 24),
        ]
    )
    bank = "".join(rng.choices(LETTERS, k=4)) if country in {"GB", "NL"} else ""
    body = bank + digits(rng, length - 4 - len(bank))
    check = 98 - int("".join(str(int(c, 36)) for c in body + country + "00")) % 97
    return f"{country}{check:02d}{body}"


def us_social_security(rng: Random) -> str:
    area = rng.choice([a for a in range(1, 900) if a != 666])
    return f"{area:03d}-{rng.randrange(1, 100):02d}-{rng.randrange(1, 10000):04d}"


def gb_national_insurance(rng: Random) -> str:
    first, second = rng.choice("ABCEGHJLMPRSTWXYZ"), rng.choice("ABCEGHJKLMPRSTWXYZ")
    if first + second in {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}:
        return gb_national_insurance(rng)
    return f"{first}{second}{digits(rng, 6)}{rng.choice('ABCD')}"


def gb_nhs_number(rng: Random) -> str:
    def make(r: Random) -> str:
        body = digits(r, 9, "4679")
        check = (11 - dots(body, range(10, 1, -1)) % 11) % 11
        return "" if check == 10 else body + str(check)

    return until(rng, make)


def ca_social_insurance(rng: Random) -> str:
    body = digits(rng, 8, "1234567")
    return body + luhn_digit(body)


def br_cpf(rng: Random) -> str:
    body = digits(rng, 9)
    for size in (9, 10):
        rest = dots(body, range(size + 1, 1, -1)) * 10 % 11
        body += str(rest % 10)
    return f"{body[:3]}.{body[3:6]}.{body[6:9]}-{body[9:]}"


def br_cnpj(rng: Random) -> str:
    body = digits(rng, 8) + "0001"
    for weights in ((5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2), (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)):
        rest = dots(body, weights) % 11
        body += str(0 if rest < 2 else 11 - rest)
    return f"{body[:2]}.{body[2:5]}.{body[5:8]}/{body[8:12]}-{body[12:]}"


def in_aadhaar(rng: Random) -> str:
    from tests.screening.verhoeff import verhoeff_digit

    body = digits(rng, 11, "23456789")
    return body + verhoeff_digit(body)


def in_pan(rng: Random) -> str:
    head = "".join(rng.choices(LETTERS, k=3)) + rng.choice("PCHFATBLJG") + rng.choice(LETTERS)
    return head + digits(rng, 4) + rng.choice(LETTERS)


def es_dni(rng: Random) -> str:
    lead = rng.choice(["", "X", "Y", "Z"])
    body = digits(rng, 7 if lead else 8)
    number = int((str("XYZ".index(lead)) if lead else "") + body)
    return f"{lead}{body}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def fr_nir(rng: Random) -> str:
    body = rng.choice("12") + birth(rng, "%y%m") + f"{rng.randrange(1, 96):02d}" + digits(rng, 6)
    return f"{body}{97 - int(body) % 97:02d}"


def it_codice_fiscale(rng: Random) -> str:
    odd = dict(zip(string.digits, (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True))
    values = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25)
    odd |= dict(zip(LETTERS, (*values, 24, 23), strict=True))
    even = {c: i for i, c in enumerate(string.digits)} | {c: i for i, c in enumerate(LETTERS)}
    consonants = "BCDFGLMNPRSTVZ"
    body = "".join(rng.choices(consonants, k=6)) + birth(rng, "%y") + rng.choice("ABCDEHLMPRST")
    body += f"{rng.randrange(1, 29):02d}" + rng.choice("ABCDEFGHIL") + digits(rng, 3)
    total = sum((odd if i % 2 == 0 else even)[c] for i, c in enumerate(body))
    return body + LETTERS[total % 26]


def de_tax_id(rng: Random) -> str:
    def make(r: Random) -> str:
        kinds = r.sample(string.digits, 9)
        body = [*kinds, r.choice(kinds)]
        r.shuffle(body)
        if body[0] == "0":
            return ""
        state = 10
        for digit in body:
            state = ((int(digit) + state) % 10 or 10) * 2 % 11
        return "".join(body) + str((11 - state) % 10)

    return until(rng, make)


def nl_bsn(rng: Random) -> str:
    def make(r: Random) -> str:
        body = digits(r, 8, "12345678")
        rest = dots(body, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
        return "" if rest == 10 else body + str(rest)

    return until(rng, make)


def be_national_number(rng: Random) -> str:
    body = birth(rng, "%y%m%d") + f"{rng.randrange(1, 998):03d}"
    text = f"{body}{97 - int(body) % 97:02d}"
    return f"{text[:2]}.{text[2:4]}.{text[4:6]}-{text[6:9]}.{text[9:]}"


def pl_pesel(rng: Random) -> str:
    body = birth(rng, "%y%m%d") + digits(rng, 4)
    return body + str(-dots(body, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10)


def se_personal_number(rng: Random) -> str:
    body = birth(rng, "%y%m%d") + digits(rng, 3)
    whole = body + luhn_digit(body)
    century = rng.choice(["", "19"])
    return f"{century}{whole[:6]}-{whole[6:]}"


def fi_personal_id(rng: Random) -> str:
    body = birth(rng, "%d%m%y") + f"{rng.randrange(2, 900):03d}"
    return f"{body[:6]}-{body[6:]}{'0123456789ABCDEFHJKLMNPRSTUVWXY'[int(body) % 31]}"


def no_birth_number(rng: Random) -> str:
    def make(r: Random) -> str:
        body = birth(r, "%d%m%y") + digits(r, 3)
        first = -dots(body, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
        if first == 10:
            return ""
        body += str(first)
        second = -dots(body, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
        return "" if second == 10 else body + str(second)

    return until(rng, make)


def dk_cpr(rng: Random) -> str:
    return birth(rng, "%d%m%y-") + digits(rng, 4)


def ch_ahv(rng: Random) -> str:
    body = "756" + digits(rng, 9)
    check = -dots(body, (1, 3) * 6) % 10
    return f"756.{body[3:7]}.{body[7:11]}.{body[11:]}{check}"


def tr_identity_number(rng: Random) -> str:
    body = digits(rng, 9, "123456789")
    tenth = (sum(map(int, body[::2])) * 7 - sum(map(int, body[1::2]))) % 10
    return f"{body}{tenth}{(sum(map(int, body)) + tenth) % 10}"


def cn_resident_id(rng: Random) -> str:
    body = digits(rng, 6, "123456") + birth(rng, "%Y%m%d") + digits(rng, 3)
    return body + "10X98765432"[sum(int(d) * pow(2, 17 - i, 11) for i, d in enumerate(body)) % 11]


def jp_my_number(rng: Random) -> str:
    body = digits(rng, 11, "123456789")
    rest = dots(body, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return body + str(0 if rest <= 1 else 11 - rest)


def kr_resident_number(rng: Random) -> str:
    return birth(rng, "%y%m%d-") + digits(rng, 7, "12")


def au_tax_file_number(rng: Random) -> str:
    def make(r: Random) -> str:
        number = digits(r, 9, "123456789")
        return "" if dots(number, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 else number

    return until(rng, make)


def au_medicare(rng: Random) -> str:
    body = digits(rng, 8, "23456")
    return body + str(dots(body, (1, 3, 7, 9, 1, 3, 7, 9)) % 10) + digits(rng, 1, "1234")


def za_id_number(rng: Random) -> str:
    body = birth(rng, "%y%m%d") + digits(rng, 4) + rng.choice("01") + rng.choice("89")
    return body + luhn_digit(body)


def mx_curp(rng: Random) -> str:
    alphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    body = rng.choice("BCDGLMRS") + rng.choice("AEIOU") + "".join(rng.choices("BCDGLMRS", k=2))
    body += birth(rng, "%y%m%d") + rng.choice("HM") + "".join(rng.choices("BCDGLMRS", k=5)) + "0"
    return body + str(-sum(alphabet.index(c) * (18 - i) for i, c in enumerate(body)) % 10)


def mx_clabe(rng: Random) -> str:
    body = digits(rng, 17)
    return body + str(-sum(int(d) * (3, 7, 1)[i % 3] % 10 for i, d in enumerate(body)) % 10)


def ar_cuit(rng: Random) -> str:
    def make(r: Random) -> str:
        body = r.choice(["20", "23", "27", "30"]) + digits(r, 8, "123456789")
        check = (11 - dots(body, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11) % 11
        return "" if check == 10 else f"{body[:2]}-{body[2:]}-{check}"

    return until(rng, make)


def cl_rut(rng: Random) -> str:
    body = digits(rng, rng.choice([7, 8]), "123456789")
    rest = 11 - sum(int(d) * (2, 3, 4, 5, 6, 7)[i % 6] for i, d in enumerate(body[::-1])) % 11
    check = {10: "K", 11: "0"}.get(rest, str(rest))
    return rng.choice([f"{int(body):,}".replace(",", "."), body]) + f"-{check}"


def us_routing_number(rng: Random) -> str:
    body = digits(rng, 8, "0123")
    return body + str(-dots(body, (3, 7, 1, 3, 7, 1, 3, 7)) % 10)


def passport(rng: Random) -> str:
    return rng.choice(["", "A", "X", "P", "C", "AB"]) + digits(rng, 8 if rng.random() < 0.6 else 9)


def driver_licence(rng: Random) -> str:
    return rng.choice(["D", "S", "", "B", "WD"]) + digits(rng, rng.randrange(7, 13))


def bank_account(rng: Random) -> str:
    return digits(rng, rng.randrange(8, 15), "123456789")
