"""Makes statements about health and money, transcripts and tool output, for the inferred path."""

from __future__ import annotations

import json
from random import Random

from tests.screening.generate import Case
from tests.screening.ids import digits

CONDITIONS = (
    "diabetes|breast cancer|asthma|depression|bipolar disorder|HIV|epilepsy|migraine"
    "|Crohn's disease|an eating disorder|hypertension|lupus|anxiety|PTSD|ADHD|hepatitis B"
    "|multiple sclerosis|arthritis"
)
PERSIAN_CONDITIONS = (
    "دیابت|سرطان سینه|آسم|افسردگی|اختلال دوقطبی|ایدز|صرع|میگرن|وسواس|فشار خون بالا|لوپوس|اضطراب"
    "|ام‌اس|هپاتیت|آلزایمر|بی‌خوابی"
)
LINES = (
    "Hi, can you help me?|Sure, what do you need?|I want to book a table.|For how many people?"
    "|Four."
    "|سلام، کمک می‌خواهم.|حتماً، بفرمایید.|برای جمعه میز می‌خواهم.|It is done.|Thank you!"
)


def condition(rng: Random) -> str:
    return rng.choice(CONDITIONS.split("|"))


def persian_condition(rng: Random) -> str:
    return rng.choice(PERSIAN_CONDITIONS.split("|"))


def amount(rng: Random) -> str:
    number = f"{rng.randrange(2, 990)},000"
    return rng.choice([f"${number}", f"{number} euros", f"£{number}", f"{rng.randrange(20, 300)}k"])


def persian_amount(rng: Random) -> str:
    number = str(rng.randrange(2, 900))
    number = rng.choice([number, number.translate(str.maketrans("0123456789", "۰۱۲۳۴۵۶۷۸۹"))])
    size, money = rng.choice(["میلیون", "هزار", "میلیارد"]), rng.choice(["تومان", "ریال", "دلار"])
    return f"{number} {size} {money}"


MEDICAL = (
    Case(
        "medical_inference",
        condition,
        (
            "The user was diagnosed with {} last year.",
            "User has {}.",
            "She probably suffers from {} and avoids talking about it.",
            "The client takes medication for {}.",
            "He has a history of {} in the family.",
            "User appears to be struggling with {}.",
        ),
        ("User is being treated for {}.", "My mother has {}.", "They live with {} since 2019."),
    ),
    Case(
        "medical_inference",
        persian_condition,
        ("کاربر {} دارد.", "کاربر مبتلا به {} است.", "برای درمان {} دارو مصرف می‌کند."),
        ("احتمالاً او از {} رنج می‌برد.", "سابقهٔ {} در خانواده‌اش هست.", "مادرش دچار {} شده است."),
    ),
)
FINANCIAL = (
    Case(
        "financial_inference",
        amount,
        (
            "The user earns {} a year.",
            "User's salary is {}.",
            "He owes {} on his mortgage.",
            "She has {} in savings.",
            "The client is in debt and owes {} to the bank.",
        ),
        (
            "User went bankrupt after losing {}.",
            "Her net worth is about {}.",
            "He took a loan of {}.",
        ),
    ),
    Case(
        "financial_inference",
        persian_amount,
        ("حقوق کاربر {} است.", "درآمد ماهانه‌اش {} است.", "او {} وام گرفته است."),
        ("کاربر {} بدهی دارد.", "موجودی حسابش {} است.", "{} پس‌انداز دارد.", "قسط ماهانه‌اش {} است."),
    ),
)


def transcript(rng: Random) -> str:
    one, two = rng.choice(
        [
            *(("user", "assistant"), ("Human", "AI"), ("کاربر", "دستیار"), ("Customer", "Support")),
            *(("**User**", "**Assistant**"), ("Sara", "Ali"), ("[10:31] Sara", "[10:32] Ali")),
        ]
    )
    turns = rng.randrange(4, 12)
    lines = [f"{(one, two)[n % 2]}: {rng.choice(LINES.split('|'))}" for n in range(turns)]
    return "\n".join(lines)


def tool_dump(rng: Random) -> str:
    count = rng.randrange(8, 20)
    rows = [{"id": n, "name": f"item {n}", "price": rng.randrange(99)} for n in range(count)]
    at = f"2026-05-{rng.randrange(10, 28)}"
    return rng.choice(
        [
            json.dumps(rows, indent=rng.choice([None, 2])),
            "".join(f"<tr><td>{row['name']}</td><td>{row['price']}</td></tr>\n" for row in rows),
            "\n".join(
                f"{at} 10:{n:02d}:07,{digits(rng, 3)} INFO worker started" for n in range(count)
            ),
            "Traceback (most recent call last):\n"
            + "\n".join(f'  File "app.py", line {n}, in run\n    go()' for n in range(count))
            + "\nValueError: bad",
            "java.lang.IllegalStateException: x\n"
            + "\n".join(f"    at com.acme.App.run{n}(App.java:{n})" for n in range(count)),
            "id,name,price,unit,stock\n" + "\n".join(f"{n},item,{n},kg,{n}" for n in range(count)),
        ]
    )


SHAPES = (
    Case("raw_transcript", transcript, ("{}",), ("{}",)),
    Case("tool_dump", tool_dump, ("{}", "Result:\n{}"), ("{}", "نتیجه:\n{}")),
)
INFERRED: tuple[Case, ...] = MEDICAL + FINANCIAL + SHAPES
