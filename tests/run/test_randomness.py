import hashlib

from hypothesis import given
from hypothesis import strategies as st

from judgelab.run.randomness import derived_seed, generator, sha256_text


@given(st.integers(), st.text(), st.text())
def test_seed_has_63_bits_and_depends_on_its_arguments_only(seed: int, purpose: str, item: str) -> None:
    assert 0 <= derived_seed(seed, purpose, item) < 2**63
    assert derived_seed(seed, purpose, item) == derived_seed(seed, purpose, item)


def test_seed_is_the_same_on_every_machine() -> None:
    digest = hashlib.sha256(b"42\x1fslot\x1fitem-1").hexdigest()
    assert derived_seed(42, "slot", "item-1") == int(digest[:16], 16) // 2


def test_every_part_of_the_seed_matters() -> None:
    seeds = {
        derived_seed(1, "slot", "a"),
        derived_seed(2, "slot", "a"),
        derived_seed(1, "split", "a"),
        derived_seed(1, "slot", "b"),
        derived_seed(1, "slot", "a", "b"),
        derived_seed(1, "slot", "ab"),
        derived_seed(1, "slot"),
    }
    assert len(seeds) == 7


def test_draws_of_an_id_do_not_depend_on_the_order_of_the_ids() -> None:
    ids = [f"item-{index}" for index in range(50)]
    forward = {item: generator(3, "slot", item).random() for item in ids}
    backward = {item: generator(3, "slot", item).random() for item in reversed(ids)}
    assert forward == backward
    assert len(set(forward.values())) == 50


def test_first_bits_are_balanced_over_ids() -> None:
    heads = sum(generator(0, "slot", index).random() < 0.5 for index in range(2000))
    assert 900 < heads < 1100  # 4.5 standard deviations


def test_text_hash_is_that_of_its_utf8_bytes() -> None:
    assert sha256_text("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_text("\u00e9") != sha256_text("e\u0301")  # one letter to a reader, two texts to a model
