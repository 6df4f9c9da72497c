"""Ordinary sentences with numbers, codes and words about secrets are kept."""

from __future__ import annotations

import pytest

from muniment.records import WritePath
from muniment.rules.screening import DefaultScreener

SCREENER = DefaultScreener()
ORDINARY = """
my skiing pass is blue
We discussed the password policy: it must be at least 12 characters long
My password is too weak and needs to change
The password is stored in the vault
He forgot his password again
She uses a password manager and likes it
The bank requires a password reset every 90 days
Wi-Fi password is on the fridge
the passcode is the same as before
The monthly pass: 1200 yuan
password: ********
call me at +1 (415) 555-2671
call 0912 345 6789 after six
تلفن من ۰۹۱۲۳۴۵۶۷۸۹ است
order number 1234567890
The bar code is 4006381333931
invoice 2024-000123 was paid
version 3.11.7 build 20240506
the meeting is at 14:30 on 2026-05-12
the price is $1,234,567.89
tracking number 1Z999AA10123456784
ISBN 978-3-16-148410-0
flight LH 4321 on 12 May
He pinned 4 notes
PIN code of my area is 110001
my id badge is green
رمز عبور باید حداقل ۸ کاراکتر باشد
رمز موفقیت من پشتکار است
رمز ارز بیت‌کوین ۶۰۰۰۰ دلار شد
رمزگشایی DNA در سال 2003 تمام شد
رمز عبور را عوض کردم
رمز کارت را فراموش کردم
کلید خانه در کشو است
کد پستی من ۱۲۳۴۵۶۷۸۹۰ است
شماره دانشجویی ۹۸۱۲۳۴۵۶۷
قیمت ۱۲۳۴۵۶۷۸۹۰ ریال است
گذرنامه‌ام تا ۲۰۳۱ اعتبار دارد
ساعت ۱۲:۳۰ تا ۱۴:۴۵ روز ۱۴۰۵/۰۸/۱۲
عبارت بازیابی را هرگز به کسی نده
Keep your seed phrase safe and never share it with anyone who asks for it online
the recovery code should be printed
backup codes are in the drawer
a 5 km recovery run in 32 minutes
token economy and key results
The key to success is 1 percent better daily
The token limit is 128000 tokens
uuid 123e4567-e89b-12d3-a456-426614174000
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
passport renewal takes 6 weeks
my passport expires on 2031-04-05
I opened a bank account in 2019
driving license test on 12.05.2026
Unix time 1700000000000
latitude 35.6892 longitude 51.3890
pi is 3.14159265358979323846
Discord id 123456789012345678
IP 192.168.100.200 port 5432
http://localhost:8080/path?x=1
postgres://user:password@localhost/db
API_KEY=your_api_key_here
password = request.form['password']
The default method is `pbkdf2:sha256` for the password hash
bearer of bad news
she is a flag bearer at the 2024 games
room 4242 4th floor
lottery 12 24 33 41 45 07
4 8 15 16 23 42
temperatures 2024 2025 2026 2027
SSN is an abbreviation
sunflower123 is my username
secret santa budget is 25 dollars
Location: No. 68 Qinglan Road
IMG_20250615_084020.jpg
""".strip().splitlines()


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_sentence_is_kept(text: str) -> None:
    assert not [found for found in SCREENER.screen(text, WritePath.REMEMBER) if found.refuses]
