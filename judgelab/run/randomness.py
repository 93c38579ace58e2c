"""Every draw comes from a generator seeded by (run seed, purpose, id), never from row position."""

import hashlib
import random


def derived_seed(seed: int, purpose: str, *ids: object) -> int:
    """A 63-bit seed that depends on the run seed, what the draw is for, and whom it is for."""
    text = "\x1f".join([str(seed), purpose, *map(str, ids)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def generator(seed: int, purpose: str, *ids: object) -> random.Random:
    """A generator of its own for one purpose and id."""
    return random.Random(derived_seed(seed, purpose, *ids))


def sha256_text(text: str) -> str:
    """Hex SHA-256 of a text, the identity under which prompts and items are known."""
    return hashlib.sha256(text.encode()).hexdigest()
