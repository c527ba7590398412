"""In which language a text is, as far as it decides which networks can read it."""

import re
from unicodedata import name

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    """a an and are at by do for from had has have he her his i in is it its my no not now of on our
    she that the their they this to was we were will with you your""".split()
)
# Frequent words of German, French, Spanish, Italian, Portuguese and Dutch that are not English.
_FOREIGN = frozenset(
    """aber auf bei bin das der du ein eine einen er für habe ich ihr ist kein keine mein meine mit
    nach nicht sie sind und uns von wir wohne zu
    ai au avec dans de des elle est et il je la le les ma mes ne nous pas pour sa ses suis sur tu
    un une vous
    con del el en es eres estoy ha las los mi mis muy nuestra nuestro para por que soy su tengo
    vivo y ya yo
    abito che di gli ho il io lo mio nel non più sono
    com em meu minha moro não nos os seu sou sua tenho um
    een en het hij ik jij maar mijn naar niet op te voor werk woon zij""".split()
)


# Words in the Unicode names of letters that the networks of many languages were trained on: Latin,
# Chinese and Japanese, the "º" of "1º", and signs such as "µ".
_KNOWN = frozenset("LATIN CJK IDEOGRAPHIC HIRAGANA KATAKANA KATAKANA-HIRAGANA ORDINAL SIGN".split())


def is_english(text: str) -> bool:
    """Return False if its words look foreign rather than English. Names do not count.

    What is written in another script, such as Chinese or Cyrillic, is foreign wherever it stands.
    """
    words = _WORD.findall(text)
    foreign = english = 0
    for place, word in enumerate(words):
        folded = word.casefold()
        if _is_in_other_script(word):
            foreign += 1
        elif place == 0:
            foreign += folded in _FOREIGN or not (word.isascii() or word.istitle())
            english += folded in _ENGLISH
        elif word.islower():
            foreign += word in _FOREIGN or not word.isascii()
            english += word in _ENGLISH
    return foreign == 0 or foreign < english


def is_in_known_script(text: str) -> bool:
    """Return True if all its words are in Latin, Chinese or Japanese writing."""
    letters = (letter for word in _WORD.findall(text) for letter in word if not letter.isascii())
    return all(not _KNOWN.isdisjoint(name(letter, "SIGN").split()) for letter in letters)


def _is_in_other_script(word: str) -> bool:
    # "µ" and "Ω" are signs of units.
    names = [name(letter, "SIGN").split() for letter in word if not letter.isascii()]
    return any("LATIN" not in words and "SIGN" not in words for words in names)
