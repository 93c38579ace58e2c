"""Whether two texts are written in different languages, as far as they are long enough to tell."""

import unicodedata
from functools import cache
from pathlib import Path

from py3langid import langid

SURE = 0.9  # below this, the language of a short text is a guess


def other_language(one: str, other: str) -> bool:
    """Whether the texts share no script, or are recognised with at least 0.9 as two different languages."""
    scripts = _scripts(one), _scripts(other)
    if all(scripts) and not scripts[0] & scripts[1]:
        return True
    (first, first_sure), (second, second_sure) = (_identifier().classify(text) for text in (one, other))
    return first != second and min(first_sure, second_sure) >= SURE


@cache
def _identifier() -> langid.LanguageIdentifier:
    model = Path(langid.__file__).parent / langid.MODEL_FILE
    return langid.LanguageIdentifier.from_modelpath(str(model), norm_probs=True)


def _scripts(text: str) -> set[str]:
    """Scripts by the first word of a letter's Unicode name, such as LATIN or CYRILLIC."""
    return {unicodedata.name(letter, "?").split()[0] for letter in set(text) if letter.isalpha()}
