"""Cases of payment cards, government ids and bank accounts, by what people call them."""

from __future__ import annotations

from random import Random

from tests.screening import ids
from tests.screening.generate import SECRETS, Case, named_case


def grouped_card(rng: Random) -> str:
    number = ids.card(rng)
    sign = rng.choice(["", " ", "-", " "])
    return sign.join(number[i : i + 4] for i in range(0, len(number), 4))


def grouped_iban(rng: Random) -> str:
    number = ids.iban(rng)
    sign = rng.choice(["", " "])
    return sign.join(number[i : i + 4] for i in range(0, len(number), 4))


NAMES = (
    (
        grouped_card,
        "payment_card",
        "card number|credit card|Visa card|debit card|number for payments",
        "شماره کارت|کارت بانکی|کارت اعتباری|شمارهٔ کارت ملت",
    ),
    (grouped_iban, "iban", "IBAN|account|sheba number", "شبا|شماره شبا|شماره حساب|ایبان"),
    (
        ids.ir_national_id,
        "ir_national_id",
        "national id|Iranian national code|kode melli",
        "کد ملی|شماره ملی|شمارهٔ ملی|کدملی",
    ),
    (
        ids.us_social_security,
        "us_social_security",
        "SSN|social security number|social",
        "شماره تأمین اجتماعی|شماره سوشال",
    ),
    (
        ids.gb_national_insurance,
        "gb_national_insurance",
        "national insurance number|NI number|NINO",
        "شماره بیمه ملی|شماره بیمه",
    ),
    (
        ids.gb_nhs_number,
        "gb_nhs_number",
        "NHS number|national health number",
        "شماره NHS|شمارهٔ NHS",
    ),
    (
        ids.ca_social_insurance,
        "ca_social_insurance",
        "SIN|social insurance number|Canadian SIN",
        "شماره بیمه اجتماعی|شماره SIN|شماره بیمه اجتماعی کانادا",
    ),
    (ids.br_cpf, "br_cpf", "CPF|Brazilian CPF|CPF number", "شماره CPF|کد مالیاتی برزیل"),
    (ids.br_cnpj, "br_cnpj", "CNPJ|company CNPJ", "شماره CNPJ|شناسهٔ شرکت برزیل"),
    (
        ids.in_aadhaar,
        "in_aadhaar",
        "Aadhaar number|Aadhaar|aadhar card",
        "شماره Aadhaar|شماره آدهار",
    ),
    (ids.in_pan, "in_pan", "PAN|permanent account number|PAN card", "شماره PAN|پن کارت هند"),
    (ids.es_dni, "es_dni", "DNI|NIE|Spanish NIF", "شماره DNI|شماره NIE|کد شناسایی اسپانیا"),
    (
        ids.fr_nir,
        "fr_nir",
        "French social security number|NIR|INSEE number",
        "شماره تأمین اجتماعی فرانسه|شماره NIR",
    ),
    (
        ids.it_codice_fiscale,
        "it_codice_fiscale",
        "codice fiscale|Italian tax code",
        "کد مالیاتی ایتالیا|codice fiscale",
    ),
    (
        ids.de_tax_id,
        "de_tax_id",
        "Steuer-ID|German tax id|Steueridentifikationsnummer",
        "شماره مالیاتی آلمان|شناسه مالیاتی",
    ),
    (ids.nl_bsn, "nl_bsn", "BSN|Dutch BSN|burgerservicenummer", "شماره BSN|شماره شهروندی هلند"),
    (
        ids.be_national_number,
        "be_national_number",
        "Belgian national number|rijksregisternummer",
        "شماره ملی بلژیک|شماره شناسایی بلژیک",
    ),
    (ids.pl_pesel, "pl_pesel", "PESEL|PESEL number", "شماره PESEL|کد ملی لهستان"),
    (
        ids.se_personal_number,
        "se_personal_number",
        "personnummer|Swedish personal number",
        "شماره شخصی سوئد|personnummer",
    ),
    (
        ids.fi_personal_id,
        "fi_personal_id",
        "HETU|Finnish personal id|henkilötunnus",
        "شماره شخصی فنلاند|کد شناسایی فنلاندی",
    ),
    (
        ids.no_birth_number,
        "no_birth_number",
        "fødselsnummer|Norwegian national number",
        "شماره ملی نروژ|شماره شخصی نروژ",
    ),
    (ids.dk_cpr, "dk_cpr", "CPR number|CPR|Danish personal number", "شماره CPR|شماره شخصی دانمارک"),
    (
        ids.ch_ahv,
        "ch_ahv",
        "AHV number|Swiss social insurance number",
        "شماره AHV|شماره بیمه اجتماعی سوئیس",
    ),
    (
        ids.tr_identity_number,
        "tr_identity_number",
        "Turkish identity number|TC kimlik no|TCKN",
        "شماره کیملیک|کد ملی ترکیه|شماره شناسایی ترکیه",
    ),
    (
        ids.cn_resident_id,
        "cn_resident_id",
        "Chinese id|resident identity card number|身份证号",
        "شماره شناسایی چین|شماره کارت شناسایی چینی",
    ),
    (
        ids.jp_my_number,
        "jp_my_number",
        "My Number|Japanese individual number|マイナンバー",
        "شماره شناسایی ژاپن|مای نامبر",
    ),
    (
        ids.kr_resident_number,
        "kr_resident_number",
        "resident registration number|Korean RRN|주민등록번호",
        "شماره شناسایی کره|شماره اقامت کره",
    ),
    (
        ids.au_tax_file_number,
        "au_tax_file_number",
        "TFN|tax file number|Australian TFN",
        "شماره TFN|شماره مالیاتی استرالیا",
    ),
    (ids.au_medicare, "au_medicare", "Medicare number|Medicare card", "شماره مدیکر|شماره Medicare"),
    (
        ids.za_id_number,
        "za_id_number",
        "South African ID|SA ID number|RSA ID",
        "شماره شناسایی آفریقای جنوبی|کد ملی آفریقای جنوبی",
    ),
    (ids.mx_curp, "mx_curp", "CURP|Mexican CURP", "شماره CURP|کد ملی مکزیک"),
    (ids.mx_clabe, "mx_clabe", "CLABE|bank CLABE", "شماره CLABE|کلابهٔ بانک"),
    (ids.ar_cuit, "ar_cuit", "CUIT|CUIL|Argentine CUIT", "شماره CUIT|کد مالیاتی آرژانتین"),
    (ids.cl_rut, "cl_rut", "RUT|Chilean RUT", "شماره RUT|کد ملی شیلی"),
    (
        ids.us_routing_number,
        "us_routing_number",
        "routing number|bank's ABA number",
        "شماره روتینگ|کد مسیریابی بانک",
    ),
    (
        ids.passport,
        "passport",
        "passport number|passport|passport no.",
        "شماره پاسپورت|شماره گذرنامه|گذرنامه",
    ),
    (
        ids.driver_licence,
        "driver_licence",
        "driver's license|driving licence number|driver license number",
        "شماره گواهینامه|گواهینامهٔ رانندگی",
    ),
    (
        ids.bank_account,
        "bank_account",
        "bank account number|account number|checking account number",
        "شماره حساب|شماره حساب بانکی",
    ),
)
"""Maker, class, and what the id is called in English (or its own language) and Persian."""

IDS: tuple[Case, ...] = tuple(
    named_case(name, make, english, persian) for make, name, english, persian in NAMES
)
CASES: tuple[Case, ...] = SECRETS + IDS
