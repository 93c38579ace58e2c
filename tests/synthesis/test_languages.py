import json
from importlib.resources import files

from judgelab.synthesis.languages import other_language

ENGLISH = "The ferry crosses the lake in forty minutes when the water is calm."


def test_long_texts_in_two_languages_are_told_apart() -> None:
    for text in (
        "Die Fähre überquert den See in vierzig Minuten, wenn das Wasser ruhig ist.",
        "Le ferry traverse le lac en quarante minutes quand l'eau est calme.",
        "Паром пересекает озеро за сорок минут.",
        "渡轮四十分钟穿过湖面。",
    ):
        assert other_language(ENGLISH, text)
        assert other_language(text, ENGLISH)
        assert not other_language(text, text)


def test_short_texts_and_figures_are_not_guessed_at() -> None:
    for one, other in (("Canberra", "Sydney"), ("39,134", "about 40"), ("Wien", "It is Vienna."), ("", ENGLISH)):
        assert not other_language(one, other)


def test_no_bundled_pair_is_turned_down() -> None:
    folder = files("judgelab.data") / "samples"
    pairs = 0
    for name in ("ainess", "correctness", "criminality", "hallucination", "safety_leakage", "tool_parameters"):
        for row in map(json.loads, (folder / f"{name}.jsonl").read_text("utf-8").splitlines()):
            if "counterfactual" in row:
                pairs += 1
                assert not other_language(row["response"], row["counterfactual"])
    assert pairs > 100
