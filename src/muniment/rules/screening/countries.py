"""Which government and bank ids are known, how they look and which words announce them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from muniment.rules.screening import checksums
from muniment.rules.screening.checksums import Check
from muniment.rules.screening.vocabulary import Vocabulary, vocabulary

_GENERIC = (
    "national id*|national number|national code|identity number|identity card|identity code"
    "|identification number|personal number|personal id*|personal code|citizen id|citizen number"
    "|social security|social insurance|tax id*|tax number|taxpayer*|government id*|fiscal code"
    "|کد ملی*|شماره ملی*|شناسه ملی*|کارت ملی*|شماره شناسایی*|کد شناسایی*|شماره هویت*"
    "|کارت شناسایی*|شماره مالیاتی*|کد مالیاتی*|شناسه مالیاتی*|تامین اجتماعی*|تأمین اجتماعی*"
    "|بیمه اجتماعی*|شماره بیمه*|شماره شخصی*|کد شخصی*|شماره شهروندی*|شماره اقامت*|کارت اقامت*"
)


@dataclass(frozen=True)
class Identifier:
    """One sort of id.

    Attributes:
        name: The class of its findings.
        check: Its checksum and rules.
        words: Words that announce it, parted by `|`.
        lengths: How many digits it has; empty for one that is found by its `form`.
        form: A pattern of it after its first digit, for ids with letters.
        lead: A pattern of the letters before its first digit.
        free: How it is written when it needs no word nearby.
        generic: Whether words such as "national id" announce it too.
    """

    name: str
    check: Check
    words: str
    lengths: tuple[int, ...] = ()
    form: str = ""
    lead: str = ""
    free: str = ""
    generic: bool = True

    @cached_property
    def announced(self) -> Vocabulary:
        """The words that announce it."""
        return vocabulary(self.words)

    @cached_property
    def freely(self) -> re.Pattern[str]:
        """The pattern of what needs no word; matches nothing when there is none."""
        return re.compile(self.free or "(?!)")


_G = r"[\s.\-/]{0,3}"
_S = r"[\s.\-/]?"
_N = "[0-9]"
_A = "[a-z]"

NUMBERS: tuple[Identifier, ...] = (
    Identifier("ir_national_id", checksums.iran, "melli|meli|kode melli|iran*", (10,)),
    Identifier(
        "ca_social_insurance",
        checksums.canada,
        "sin|social insurance|nas|assurance sociale|canad*|کانادا*|بیمه اجتماعی*",
        (9,),
    ),
    Identifier(
        "us_social_security",
        checksums.united_states,
        "ssn|social security|social sec|my social|social number|ss number|itin|سوشال*"
        "|تامین اجتماعی*|تأمین اجتماعی*",
        (9,),
        free=r"\d{3}-\d\d-\d{4}",
    ),
    Identifier("gb_nhs_number", checksums.nhs, "nhs|national health*|health service*", (10,)),
    Identifier(
        "br_cpf",
        checksums.brazil_person,
        "cpf|brazil*|برزیل*",
        (11,),
        free=r"\d{3}\.\d{3}\.\d{3}-\d\d",
    ),
    Identifier("in_aadhaar", checksums.aadhaar, "aadhaar|aadhar|adhaar|uidai|آدهار*", (12,)),
    Identifier(
        "de_tax_id",
        checksums.germany,
        "steuer*|idnr|tin|german*|آلمان*",
        (11,),
    ),
    Identifier(
        "nl_bsn",
        checksums.netherlands,
        "bsn|burgerservice*|sofinummer|citizen service|dutch|netherlands|هلند*",
        (9,),
    ),
    Identifier(
        "be_national_number",
        checksums.belgium,
        "rijksregister*|registre national|numero national|national register|niss|insz|belgi*"
        "|بلژیک*",
        (11,),
        free=r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d",
    ),
    Identifier("pl_pesel", checksums.poland, "pesel*|polish|poland|لهستان*", (11,)),
    Identifier(
        "se_personal_number",
        checksums.sweden,
        "personnummer*|samordningsnummer*|swedish|sweden|سوئد*",
        (10, 12),
    ),
    Identifier(
        "no_birth_number",
        checksums.norway,
        "fodselsnummer*|personnummer*|birth number|norweg*|norway|نروژ*",
        (11,),
    ),
    Identifier("dk_cpr", checksums.denmark, "cpr*|personnummer*|danish|denmark|دانمارک*", (10,)),
    Identifier(
        "ch_ahv",
        checksums.switzerland,
        "ahv*|avs|swiss|سوئیس*",
        (13,),
        free=r"756\.\d{4}\.\d{4}\.\d\d",
    ),
    Identifier(
        "tr_identity_number",
        checksums.turkey,
        "tckn|tc kimlik|kimlik*|turk*|ترکیه*|کیملیک*",
        (11,),
    ),
    Identifier(
        "jp_my_number",
        checksums.japan,
        "my number|mynumber|individual number|japan*|マイナンバー*|個人番号*|ژاپن*|مای نامبر*",
        (12,),
    ),
    Identifier(
        "kr_resident_number",
        checksums.korea,
        "rrn|resident registration|resident number|jumin*|korea*|주민등록번호*|주민번호*|کره*",
        (13,),
    ),
    Identifier(
        "au_tax_file_number",
        checksums.australia_tax,
        "tfn|tax file|australia*|استرالیا*",
        (9,),
    ),
    Identifier(
        "au_medicare", checksums.australia_medicare, "medicare*|مدیکر*", (10, 11), generic=False
    ),
    Identifier(
        "za_id_number",
        checksums.south_africa,
        "south africa*|sa id|rsa id|id number|id no|id book|آفریقای جنوبی*",
        (13,),
    ),
    Identifier(
        "ar_cuit",
        checksums.argentina,
        "cuit|cuil|argentin*|آرژانتین*",
        (11,),
        free=r"\d\d-\d{8}-\d",
    ),
    Identifier(
        "us_routing_number",
        checksums.routing,
        "routing|aba|rtn|روتینگ*|کد مسیریابی*",
        (9,),
        generic=False,
    ),
    Identifier("mx_clabe", checksums.clabe, "clabe|کلابه*", (18,), generic=False),
    Identifier(
        "iban",
        checksums.iran_sheba,
        "sheba|shaba|shiba|iban|شبا*|شماره حساب*|ایبان*",
        (24,),
        generic=False,
    ),
)
"""Ids of digits alone."""


def _spread(pieces: str) -> str:
    """Return a pattern of characters, each a set in brackets, that one sign may part."""
    return _S + pieces.replace("][", f"]{_S}[")


CODES: tuple[Identifier, ...] = (
    Identifier(
        "br_cnpj",
        checksums.brazil_company,
        "cnpj|brazil*|برزیل*",
        form=_spread(_N * 13),
        free=r"\d\d\.\d{3}\.\d{3}/\d{4}-\d\d",
    ),
    Identifier(
        "es_dni",
        checksums.spain,
        "dni|nie|nif|documento nacional|spain|spanish|اسپانیا*",
        form=rf"\d(?:{_G}\d){{5,6}}{_G}[a-z]",
        lead=rf"(?:[xyz]{_G})?",
    ),
    Identifier(
        "gb_national_insurance",
        checksums.united_kingdom,
        "nino|national insurance|ni number|ni no|uk|british|بیمه ملی*|انگلیس*|بریتانیا*",
        form=_spread(_N * 5 + "[a-d]"),
        lead=_spread(_A * 2) + _S,
        free=r"[a-z]{2}(?:\d{6}| \d\d \d\d \d\d )[a-d]",
    ),
    Identifier(
        "it_codice_fiscale",
        checksums.italy,
        "codice fiscale|italian|italy|ایتالیا*",
        form=_spread(_N + "[abcdehlmprst]" + _N * 2 + _A + _N * 3 + _A),
        lead=_spread(_A * 6) + _S,
        free=r"(?s:.+)",
    ),
    Identifier(
        "mx_curp",
        checksums.mexico,
        "curp|mexic*|مکزیک*",
        form=_spread(_N * 5 + "[hmx]" + _A * 5 + "[0-9a-z]" + _N),
        lead=_spread(_A * 4) + _S,
        free=r"(?s:.+)",
    ),
    Identifier(
        "in_pan",
        checksums.anything,
        "pan|permanent account|income tax*|پن کارت*|کارت پن*|هند*",
        form=rf"\d{{3}}{_G}[a-z]",
        lead=rf"[a-z]{{3}}[abcfghljpt][a-z]{_G}",
    ),
    Identifier(
        "fi_personal_id",
        checksums.finland,
        "hetu|henkilotunnus*|finnish|finland|فنلاند*",
        form=r"\d{5}[-+a-fu-y]\d{3}[0-9a-y]",
        free=r"(?s:.+)",
    ),
    Identifier(
        "cn_resident_id",
        checksums.china,
        "身份证*|resident id*|chinese|china|چین*",
        form=_spread(_N * 16 + "[0-9x]"),
        free=r"(?s:.+)",
    ),
    Identifier(
        "fr_nir",
        checksums.france,
        "nir|insee|securite sociale|numero de secu|french|france|فرانسه*",
        form=_spread(_N * 5 + "[0-9ab]" + _N * 8),
        free=r"[12] \d\d \d\d \w\w \d{3} \d{3} \d\d",
    ),
    Identifier(
        "cl_rut",
        checksums.chile,
        "rut|rol unico|chile*|شیلی*",
        form=f"(?:{_S}{_N})?" + _spread(_N * 6 + "[0-9k]"),
        free=r"\d{1,2}\.\d{3}\.\d{3}-[\dk]",
    ),
)
"""Ids with letters, or with a form that windows of digits do not give."""

KEPT_SIGNS = frozenset({"fi_personal_id"})
"""Ids whose check needs their punctuation."""

_IBAN_SIZES = (
    "ad24 ae23 al28 at20 az28 ba20 be16 bg22 bh22 bi27 br29 by28 ch21 cr22 cy28 cz24 de22 "
    "dj27 dk18 do28 ee20 eg29 es24 fi18 fk18 fo18 fr27 gb22 ge22 gi23 gl18 gr27 gt28 hn28 "
    "hr21 hu28 ie22 il23 iq23 ir26 is26 it27 jo30 kw30 kz20 lb28 lc32 li21 lt20 lu20 lv21 "
    "ly25 mc27 md24 me22 mk19 mn20 mr27 mt31 mu30 ni28 nl18 no15 om23 pk24 pl28 ps29 pt25 "
    "qa29 ro24 rs22 ru33 sa24 sc31 sd18 se24 si19 sk24 sm27 so23 st25 sv28 tl23 tn24 tr26 "
    "ua29 va22 vg24 xk20 ye30"
)
IBAN_LENGTHS: Mapping[str, int] = {size[:2]: int(size[2:]) for size in _IBAN_SIZES.split()}
"""Length of an account number by country. Source: the IBAN registry of SWIFT."""


_GAP = r"[^\n\d;!?]{0,40}?"
_BACK = r"\s(?:is|was|as|for|به عنوان|برای|همان)(?![a-z])[^\n\d;!?.]{0,24}?"
_MIXED = r"(?<![0-9a-z])((?=[a-z]{0,4}-?\d)[0-9a-z](?:[\s\-.]?[0-9a-z]){4,19})(?![0-9a-z])"
_SHORT = r"(?<![0-9a-z])([a-z]{0,3}-?\d(?:[\s\-.]?\d){5,10}[a-z]?)(?![0-9a-z])"
_LONG = r"(?<![0-9a-z])(\d(?:[\s\-./]{0,2}\d){5,17})(?![0-9a-z])"


@dataclass(frozen=True, slots=True)
class Announced:
    """A number without a checksum that a phrase beside it gives away.

    Attributes:
        name: The class of its findings.
        stems: Beginnings of its words; one must occur.
        phrase: A pattern of the words.
        number: A pattern of the number, as a group.
    """

    name: str
    stems: tuple[str, ...]
    phrase: str
    number: str

    @property
    def pattern(self) -> str:
        """The words, what may stand between and the number; or the other way round."""
        return rf"(?:{self.phrase}){_GAP}{self.number}|{self.number}{_BACK}(?:{self.phrase})"


PHRASES: tuple[Announced, ...] = (
    Announced(
        "passport",
        ("passport", "pasaporte", "passeport", "reisepass", "پاسپورت", "گذرنامه", "护照"),
        r"pass?e?port\w*|pasaporte|reisepass\w*|پاسپورت\w*|گذرنامه\w*|护照\w*",
        _SHORT,
    ),
    Announced(
        "driver_licence",
        ("licen", "dl:", "dl #", "dl n", "گواهینامه", "fuhrerschein", "permis"),
        r"driv\w{0,4}(?:'?s)?[\s_-]?licen[cs]e|dl(?<![a-z]dl)(?:\snumber|\sno|[:#])|گواهینامه\w*|fuhrerschein\w*"
        r"|permis de conduire",
        _MIXED,
    ),
    Announced(
        "bank_account",
        ("account", "acct", "حساب", "konto", "iban"),
        r"(?:account|acct)\.?\s?(?:number|no\b|num\b|#|:|is\b)|acct\b|kontonummer|شماره\s?حساب\w*"
        r"|حساب\s?بانکی\w*",
        _LONG,
    ),
)


@cache
def by_length() -> Mapping[int, tuple[Identifier, ...]]:
    """Return the ids of digits alone by how many digits they have."""
    sizes = {length for one in NUMBERS for length in one.lengths}
    return {size: tuple(one for one in NUMBERS if size in one.lengths) for size in sizes}


@cache
def heads_by_length(size: int) -> frozenset[str]:
    """Return how words begin that announce an id of so many digits."""
    known = by_length().get(size, ())
    return frozenset(head for one in known for head in one.announced.heads)


@cache
def generic_words() -> Vocabulary:
    """Return the words that announce some id."""
    return vocabulary(_GENERIC)
