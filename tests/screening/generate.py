"""Makes texts that hold a secret or an id, each class in English and Persian sentences.

Everything is put together at run time from a seeded generator: nothing that looks like a live
secret is written in this file.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from tests.screening.ids import Maker, digits

ALPHANUMERIC = string.ascii_letters + string.digits
HEXADECIMAL = "0123456789abcdef"
SYLLABLES = [
    "ba",
    "be",
    "bi",
    "ko",
    "ka",
    "lo",
    "la",
    "mi",
    "mo",
    "na",
    "ne",
    "ro",
    "ra",
    "sa",
    "so",
    "ta",
    "te",
    "vi",
    "zu",
    "pa",
]
SEED_WORDS = [
    "ocean",
    "river",
    "garden",
    "yellow",
    "puzzle",
    "winter",
    "copper",
    "basket",
    "tunnel",
    "rabbit",
    "violin",
    "candle",
    "silver",
    "mirror",
    "forest",
    "island",
    "pepper",
    "guitar",
    "planet",
    "velvet",
    "rocket",
    "carbon",
    "lemon",
    "orbit",
    "tiger",
    "cabin",
    "bridge",
    "anchor",
]


@dataclass(frozen=True)
class Case:
    """One class: how its values are made and which sentences hold them.

    Attributes:
        name: The class that must be found.
        make: Makes a value.
        english: Sentences with `{}`.
        persian: Sentences with `{}`.
        also: Other classes that count as found.
    """

    name: str
    make: Maker
    english: tuple[str, ...]
    persian: tuple[str, ...]
    also: frozenset[str] = field(default_factory=frozenset)

    def sentences(self, rng: Random, count: int) -> Iterator[tuple[str, str]]:
        """Yield values and texts that hold them, English and Persian in turn."""
        for number in range(count):
            value = self.make(rng)
            template = rng.choice(self.persian if number % 2 else self.english)
            yield value, template.replace("{}", value)


def pick(rng: Random, alphabet: str, count: int) -> str:
    """Return random characters, at least one of them a digit and one a letter."""
    made = "".join(rng.choices(alphabet, k=count))
    return (
        made
        if any(c.isdigit() for c in made) and any(c.isalpha() for c in made)
        else (pick(rng, alphabet, count))
    )


VENDORS: tuple[tuple[str, str, int], ...] = (
    ("s" + "k-", ALPHANUMERIC, 48),
    ("s" + "k-proj-", ALPHANUMERIC + "_-", 64),
    ("s" + "k-ant-api03-", ALPHANUMERIC + "_-", 80),
    ("s" + "k_live_", ALPHANUMERIC, 24),
    ("r" + "k_test_", ALPHANUMERIC, 24),
    ("AK" + "IA", string.ascii_uppercase + "234567", 16),
    ("AS" + "IA", string.ascii_uppercase + "234567", 16),
    ("gh" + "p_", ALPHANUMERIC, 36),
    ("github" + "_pat_", ALPHANUMERIC + "_", 59),
    ("gl" + "pat-", ALPHANUMERIC, 20),
    ("xo" + "xb-", ALPHANUMERIC + "-", 40),
    ("AI" + "za", ALPHANUMERIC, 35),
    ("SG" + ".", ALPHANUMERIC, 22),
    ("np" + "m_", ALPHANUMERIC, 36),
    ("py" + "pi-", ALPHANUMERIC, 80),
    ("h" + "f_", ALPHANUMERIC, 34),
    ("da" + "pi", HEXADECIMAL, 32),
    ("shp" + "at_", HEXADECIMAL, 32),
    ("gs" + "k_", ALPHANUMERIC, 52),
    ("hv" + "s.", ALPHANUMERIC, 28),
    ("lin" + "_api_", ALPHANUMERIC, 40),
    ("SK", HEXADECIMAL, 32),
    ("glsa" + "_", ALPHANUMERIC, 40),
    ("who" + "sec_".replace("o", ""), ALPHANUMERIC, 32),
)


def api_key(rng: Random) -> str:
    head, alphabet, count = rng.choice(VENDORS)
    made = head + pick(rng, alphabet.replace("-", ""), count)
    return f"{made}.{pick(rng, ALPHANUMERIC, 43)}" if head == "SG." else made


def encoded(value: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def signed_token(rng: Random) -> str:
    head = encoded({"alg": rng.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"})
    body = encoded({"sub": digits(rng, 10), "iat": rng.randrange(10**9), "name": "Ada"})
    return f"{head}.{body}.{pick(rng, ALPHANUMERIC + '_', 43)}"


def bearer(rng: Random) -> str:
    return "Bearer " + (signed_token(rng) if rng.random() < 0.4 else pick(rng, ALPHANUMERIC, 32))


def private_key(rng: Random) -> str:
    kind = rng.choice(["RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "])
    lines = "\n".join(pick(rng, ALPHANUMERIC + "+/", 64) for _ in range(4))
    label = kind + "PRIV" + "ATE KEY"
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----"


def connection_string(rng: Random) -> str:
    scheme = rng.choice(
        ["postgres", "postgresql+psycopg", "mysql", "mongodb+srv", "redis", "amqp", "https"]
    )
    user = rng.choice(["app", "admin", "svc_user", "", "root"])
    host = rng.choice(["db.internal", "10.0.0.5:5432", "cache.example.net:6379", "localhost"])
    return f"{scheme}://{user}:{pick(rng, ALPHANUMERIC + '%-_', 14)}@{host}/main"


def entropic(rng: Random) -> str:
    alphabet, count = rng.choice([(ALPHANUMERIC, 32), (HEXADECIMAL, 40), (ALPHANUMERIC + "+/", 44)])
    return pick(rng, alphabet, count).strip("+/")


def password(rng: Random) -> str:
    word = "".join(rng.choices(SYLLABLES, k=3))
    return rng.choice(
        [
            pick(rng, ALPHANUMERIC, 10) + rng.choice("!@#$%^&*"),
            word.capitalize() + digits(rng, rng.randrange(1, 5)) + rng.choice(["", "!", "#"]),
            word + digits(rng, 2, "123456789"),
            "-".join(rng.sample(SEED_WORDS, 4)),
            pick(rng, ALPHANUMERIC + "!@#%&*+=", 14).strip("!") + "z",
            word[:-1] + "@" + digits(rng, 3),
        ]
    )


def plain_password(rng: Random) -> str:
    return "".join(rng.choices(SYLLABLES, k=rng.randrange(3, 5)))


def pin(rng: Random) -> str:
    return digits(rng, rng.choice([4, 4, 4, 5, 6]))


def recovery_code(rng: Random) -> str:
    size = rng.choice([4, 5])
    parts = [
        pick(rng, string.ascii_lowercase + string.digits, size)
        for _ in range(rng.choice([2, 3, 4]))
    ]
    return rng.choice(["-".join(parts), pick(rng, string.ascii_uppercase + string.digits, 10)])


def seed_phrase(rng: Random) -> str:
    return " ".join(rng.sample(SEED_WORDS, 24 if rng.random() < 0.3 else 12))


def named(english: str, persian: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return natural sentences about an id, by what people call it."""
    first = english.split("|")
    second = persian.split("|")
    return (
        tuple(
            sentence.replace("NAME", name)
            for name in first
            for sentence in (
                "My NAME is {} and I need it for the visa form.",
                "Please remember that the NAME of my wife is {}.",
                "Her NAME: {}",
                "For the tax office use {} as my NAME, they asked twice.",
                "I was told to keep my NAME ready, it is {}, when I call the bank next week.",
            )
        ),
        tuple(
            sentence.replace("NAME", name)
            for name in second
            for sentence in (
                "NAME من {} است و برای فرم ویزا لازم می‌شود.",
                "لطفاً یادت باشد که NAME همسرم {} است.",
                "NAME: {}",
                "برای ادارهٔ مالیات از {} به عنوان NAME من استفاده کن.",
                "گفتند NAME خودم را آماده داشته باشم که {} است، هفتهٔ بعد زنگ می‌زنم.",
            )
        ),
    )


def named_case(name: str, make: Maker, english: str, persian: str, *also: str) -> Case:
    return Case(name, make, *named(english, persian), frozenset(also))


SECRETS: tuple[Case, ...] = (
    named_case(
        "api_key",
        api_key,
        "key|API key|token|credential for the build server",
        "کلید|کلید API|توکن|کلید دسترسی سرور",
        "high_entropy_secret",
    ),
    named_case(
        "access_token", signed_token, "session token|JWT|login cookie", "توکن|توکن ورود|کوکی ورود"
    ),
    Case(
        "access_token",
        bearer,
        (
            "Authorization: {}",
            "Call it with the header Authorization: {} please.",
            "Use {} for it.",
        ),
        ("هدر را این بگذار: {}", "با {} صدا بزن.", "از Authorization: {} استفاده کن."),
    ),
    named_case("private_key", private_key, "deploy key|server key", "کلید سرور|کلید خصوصی"),
    named_case(
        "connection_string",
        connection_string,
        "database URL|connection string|DSN",
        "آدرس پایگاه داده|رشتهٔ اتصال",
    ),
    named_case(
        "high_entropy_secret",
        entropic,
        "secret key|access token|client secret|API key|signing key",
        "کلید دسترسی|توکن دسترسی|کلید محرمانه|کلید API",
        "api_key",
    ),
    Case(
        "password",
        password,
        (
            "My email password is {}",
            "The wifi password at home is {} and the router is in the hall.",
            "password: {}",
            "I changed my bank password to {} yesterday.",
            "Passcode for the door = {}",
            "Remember that the passphrase for my laptop was {}.",
            "The admin pwd is {}, do not lose it.",
            'my password is "{}"',
        ),
        (
            "رمز عبورم {} است",
            "رمز عبور ایمیلم {} است و آن را فراموش نکن.",
            "پسورد وای‌فای خانه: {}",
            "گذرواژهٔ حساب من {} شد.",
            "کلمه عبور سایت دانشگاه {} است.",
            "رمز مودم {}",
            "پسوردم {} هست",
        ),
        frozenset({"pin"}),
    ),
    Case(
        "password",
        plain_password,
        (
            "prod password is {}",
            "My password is {}.",
            "The wifi password is {} and it works upstairs too.",
            "password: {}",
            "The password for the shared folder is {}",
        ),
        ("پسورد وای‌فای: {}", "رمز عبور: {}", "گذرواژه سرور: {}", "رمز ورود سایت: {}"),
    ),
    Case(
        "pin",
        pin,
        (
            "my pin is {}",
            "The PIN for my debit card is {}.",
            "PIN: {}",
            "The pin code of the alarm is {} at both doors.",
            "My phone's pin code is {} in case you need it.",
            "The card's CVV is {}",
        ),
        (
            "رمز کارت من {} است",
            "رمز کارتم {}",
            "رمز عابر بانک مادرم {} است.",
            "پین کد گوشی من {} است",
            "رمز دوم کارت: {}",
            "رمز گوشی‌ام {} است.",
        ),
        frozenset({"password"}),
    ),
    Case(
        "recovery_code",
        recovery_code,
        (
            "My recovery code is {}",
            "GitHub backup codes: {}",
            "Keep this backup code for my mail: {}.",
            "The two-factor recovery key was {} last time.",
            "Recovery codes for the account:\n{}",
        ),
        (
            "کد بازیابی من {} است",
            "کدهای پشتیبان گوگل: {}",
            "کد پشتیبان ایمیلم {} است.",
            "کدهای بازیابی حساب:\n{}",
            "کلید بازیابی {} را نگه دار",
        ),
        frozenset({"high_entropy_secret"}),
    ),
    Case(
        "seed_phrase",
        seed_phrase,
        (
            "My seed phrase is {}",
            "wallet recovery phrase: {}",
            "Mnemonic for the ledger: {}.",
            "The secret phrase of my wallet is {}",
        ),
        ("عبارت بازیابی کیف پولم: {}", "کلمات بازیابی من {} است", "عبارت بازیابی {}"),
    ),
)

PERSIAN_DIGITS = str.maketrans(string.digits, "۰۱۲۳۴۵۶۷۸۹")
ARABIC_DIGITS = str.maketrans(string.digits, "٠١٢٣٤٥٦٧٨٩")
WIDE = {ord(c): chr(ord(c) + 0xFEE0) for c in string.ascii_letters + string.digits + "-."}
SEPARATORS = {
    "spaces": " ",
    "no-break spaces": "\u00a0",
    "dashes": "\u2011",
    "thin spaces": "\u2009",
}
INVISIBLE = {"non-joiners": "\u200c", "zero-width spaces": "\u200b", "soft hyphens": "\u00ad"}


def parted(value: str, sign: str) -> str:
    """Return a number with a sign between its groups of four."""
    plain = "".join(c for c in value if c.isalnum())
    return sign.join(plain[i : i + 4] for i in range(0, len(plain), 4))


VARIANTS: Mapping[str, Callable[[str], str]] = {
    "Persian digits": lambda value: value.translate(PERSIAN_DIGITS),
    "Arabic digits": lambda value: value.translate(ARABIC_DIGITS),
    "full width": lambda value: value.translate(WIDE),
    "line breaks": lambda value: parted(value, "\n"),
    **{name: lambda value, s=sign: parted(value, s) for name, sign in SEPARATORS.items()},  # type: ignore[misc]
    **{name: lambda value, s=sign: s.join(value) for name, sign in INVISIBLE.items()},  # type: ignore[misc]
}
"""Other ways to write a number that must not hide it."""
