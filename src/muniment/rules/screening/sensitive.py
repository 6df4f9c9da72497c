"""Health and money that a model inferred about a person, in English and Persian."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from muniment.results import Finding
from muniment.rules.screening.folding import Folded
from muniment.rules.screening.seen import seen
from muniment.rules.screening.vocabulary import vocabulary

_CONDITIONS = (
    "diabet*|cancer*|tumor|tumour|leukemia|leukaemia|lymphoma|carcinoma|melanoma|hiv"
    "|aids|hepatitis"
    "|herpes|syphilis|chlamydia|gonorrh*|std|sti|tuberculosis|asthma*|copd|hypertension|arthritis"
    "|lupus|crohn*|colitis|celiac|coeliac|epilep*|seizure*|migraine*|parkinson*"
    "|alzheimer*|dementia"
    "|multiple sclerosis|als|stroke|heart attack|heart disease|heart failure|angina|arrhythmia*"
    "|high blood pressure|high cholesterol|kidney disease|kidney failure|dialysis|cirrhosis|obes*"
    "|anemia|anaemia|thyroid*|hypothyroid*|hyperthyroid*|endometriosis|pcos|infertil*|menopaus*"
    "|miscarr*|abortion*|pregnan*|depress*|anxiety|panic attack*|panic disorder|bipolar"
    "|schizophreni*|psychosis|psychotic|ptsd|ocd|adhd|autis*|anorexi*|bulimi*|eating disorder"
    "|borderline personality|suicid*|self harm*|addict*|alcoholi*|substance abuse"
    "|opioid*|overdos*"
    "|insomnia|sleep apnea|chronic pain|chronic fatigue|fibromyalgia|psoriasis|eczema|glaucoma"
    "|ulcer*|covid|pneumonia|disability|disabled|stds|erectile dysfunction"
    "|دیابت*|سرطان*|تومور*|ایدز*|اچ آی وی*|هپاتیت*|تبخال*|سفلیس*|سل|آسم*|فشار خون*"
    "|فشارخون*|آرتروز*"
    "|روماتیسم*|لوپوس*|صرع*|تشنج*|میگرن*|پارکینسون*|آلزایمر*|زوال عقل*|ام اس|سکته*"
    "|نارسایی*|دیالیز*"
    "|کم خونی*|تیروئید*|ناباروری*|نابارور*|سقط*|باردار*|حامله*|افسرد*|اضطراب*|دوقطبی*|اسکیزوفرنی*"
    "|وسواس*|اوتیسم*|بیش فعال*|بی اشتهایی*|خودکشی*|اعتیاد*|معتاد*|بی خوابی*|کلسترول*|چربی خون*"
    "|قند خون*|بیماری قلبی*|بیماری کلیوی*|یائسگی*|معلولیت*|پسوریازیس*|زخم معده*|کولیت*|سیروز*"
)
_ABOUT = (
    "user*|patient*|client|customer|he|she|they|i|my|his|her|their|him|i'm|i've|has|have|had"
    "|having|suffer*|diagnos*|treat*|struggl*|living with|lives with|history of|symptom*|battl*"
    "|recover*|medication*|takes|taking|is|was|likely|probably|appears|seems|may|might"
    "|کاربر*|بیمار*|مشتری*|او|وی|ایشان|من|دارد|داره|دارم|داشت*|مبتلا*|دچار*|تشخیص*|رنج*|درمان*"
    "|احتمالا*|ظاهرا*|است|شده*|مصرف*|سابقه*"
)
_STRONG_MEDICAL = (
    "diagnosed with|chemotherap*|radiotherap*|antidepress*|antipsychotic*|ssri|metformin|insulin"
    "|prozac|zoloft|sertraline|fluoxetine|lithium therapy|methadone|viagra"
    "|antiretroviral*|prep for"
    "|hiv positive|blood test result*|biopsy|psychiatrist*|psychotherap*|rehab"
    "|prescribed|prescription for"
    "|mental health issue*|mental illness|medical condition*|chronic illness|ivf|oncolog*"
    "|شیمی درمانی*|پرتودرمانی*|داروی ضد افسردگی*|ضدافسردگی*|انسولین*|متفورمین*|روانپزشک*"
    "|روان پزشک*"
    "|روان درمانی*|بیماری روانی*|بیماری مزمن*|نمونه برداری*|متادون*|سرترالین*|فلوکستین*|تجویز*"
    "|ترک اعتیاد*|جواب آزمایش*|آی وی اف*"
)
_STRONG_FINANCIAL = (
    "bankrupt*|insolven*|foreclos*|credit score|in debt|heavily indebted|debt collect*"
    "|net worth|behind on|overdrawn|overdraft|repossess*|payday loan*|wage garnish*"
    "|living paycheck"
    "|paycheck to paycheck|cannot afford|can't afford|cant afford|struggling financially"
    "|financial trouble*|financial difficult*|financially struggling|financial problem*"
    "|credit card debt"
    "|student loan*|gambling debt*|missed payment*|low income|high income|tax debt|back taxes"
    "|ورشکست*|بدهکار*|چک برگشتی*|مقروض*|قسط عقب افتاده*|اقساط عقب افتاده*|اقساط معوق*|مشکل مالی*"
    "|مشکلات مالی*|وضع مالی*|وضعیت مالی*|توقیف*|رتبه اعتباری*|امتیاز اعتباری*|کم درآمد*|پردرآمد*"
    "|توان مالی*|بدهی*|نزول*|مالیات معوق*"
)
_MONEY = (
    "salary*|salaries|income*|earn*|wage*|debt*|owe|owes|owed|owing|mortgage*|loan*|savings|saved"
    "|bank balance|account balance|balance of|invested|investment portfolio|portfolio|pension"
    "|inheritance|inherited|alimony|rent arrears|makes|paid|bonus of|assets*|equity"
    "|حقوق*|درآمد*|دستمزد*|وام*|قسط*|اقساط*|پس انداز*|موجودی*|سرمایه*|ارث*|نفقه*|دارایی*"
    "|سهام*|اجاره*"
    "|مستمری*|حقوق بازنشستگی*"
)
_AMOUNT = re.compile(
    r"[$€£¥]\s?\d|\d[\d,.]*\s?(?:k\b|usd|eur|gbp|dollars?|euros?|pounds?|rials?|tomans?"
    r"|million|per (?:year|"
    r"month|hour)|a (?:year|month)|%)|(?:six|seven|five)[- ]figure|\d[\d,.٬]*\s?(?:هزار"
    r"|میلیون|میلیارد)?"
    r"\s?(?:تومان|ریال|دلار|یورو|تومن|درصد)"
)
_REACH = 80
MOST_WORDS = 1000
"""Words of one list that are looked at in a text."""


def may_occur(folded: Folded) -> bool:
    """Tell whether a text has a word that begins like one of the lists."""
    listings = (_STRONG_MEDICAL, _CONDITIONS, _STRONG_FINANCIAL, _MONEY)
    return any(vocabulary(listing).may_occur(folded.heads) for listing in listings)


def sensitive(folded: Folded) -> Iterator[Finding]:
    """Yield what a text says about somebody's health or money.

    A statement of health is a strong word ("diagnosed with") or a condition near a word about a
    person; one of money is a strong word ("bankrupt") or a word of money near an amount.
    """
    yield from _told(folded, "medical_inference", _STRONG_MEDICAL, _anywhere)
    yield from _told(folded, "medical_inference", _CONDITIONS, vocabulary(_ABOUT).within)
    yield from _told(folded, "financial_inference", _STRONG_FINANCIAL, _anywhere)
    yield from _told(folded, "financial_inference", _MONEY, _amount_within)


def _anywhere(_text: str, _start: int, _end: int) -> bool:
    return True


def _amount_within(text: str, start: int, end: int) -> bool:
    return _AMOUNT.search(text, max(0, start), end) is not None


def _told(
    folded: Folded, name: str, listing: str, partner: Callable[[str, int, int], bool]
) -> Iterator[Finding]:
    words = vocabulary(listing)
    if words.may_occur(folded.heads):
        for start, end in islice(words.places(folded.text), MOST_WORDS):
            if partner(folded.text, start - _REACH, start) or partner(
                folded.text, end, end + _REACH
            ):
                yield seen(folded, name, start, end)
