"""Characters that are drawn like another one: seen through when a value must stay out.

Only for comparing what a tombstone holds with what is written; search never uses it.
"""

from __future__ import annotations

import unicodedata

_TWINS = {
    "АВЕЅІЈКМНОРСТУХҮԌԚԜӀ": "ABESIJKMHOPCTYXYGQWI",
    "аеѕіјкмторсухүһԁԛԝӏɡ": "aesijkmtopcyxyhdqwlg",
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϜϏ": "ABEZHIKMNOPTYXCFK",
    "αικνορυχϲϳ": "aikvopuxcj",
    "ՕՍՏԼհոսցօզյ": "OUSLhnugoqj",
    "ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ": "ABCDEGHiJKLMPRSTVWZ",
    "ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɩ": "abcdeghijklmnoprstuvwyzai",
    "ⲞⲤⲢⲬⲎⲘⲚⲔⲦ": "OCPXHMNKT",
    "♯∶⁄∕∗⧸": "#://*/",
}
"""What is drawn alike, by script: Cyrillic, Greek, Armenian, Cherokee, small capitals, Coptic."""

_BLANK = ("\u2800", "\u3164", "\u1160", "\u115f", "\uffa0")
_DRAWN = {
    **{
        ord(one): plain
        for alike, as_ in _TWINS.items()
        for one, plain in zip(alike, as_, strict=True)
    },
    **dict.fromkeys(map(ord, _BLANK), " "),
}
_STACKED = (
    *range(0x1AB0, 0x1B00),
    *range(0x1DC0, 0x1E00),
    *range(0x20D0, 0x2100),
    *range(0xFE20, 0xFE30),
    *(0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F),
    *range(0xE0100, 0xE01F0),
)
_UNDRAWN = dict.fromkeys(_STACKED)


def visible(text: str) -> str:
    """Return a text without what has no ink of its own: format characters, stacked marks.

    A ZERO WIDTH NON-JOINER stays, and blank letters become spaces.
    """
    if text.isascii():
        return text
    text = text.translate(_UNDRAWN).translate(dict.fromkeys(map(ord, _BLANK), " "))
    return "".join(c for c in text if c == "\u200c" or unicodedata.category(c) != "Cf")


def drawn(text: str) -> str:
    """Return a text with each look-alike of a Latin letter replaced by that letter.

    What is replaced depends on the case: `Н` is drawn like `H`, `н` like no other letter.

    Source: after Unicode Technical Standard 39 (confusables), restricted to what is drawn like a
    Latin letter; digits and Latin letters are never taken for each other.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKD", text.translate(_DRAWN)).translate(_DRAWN)
