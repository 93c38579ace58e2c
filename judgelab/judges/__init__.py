"""Judges: what they are asked, how the prompt becomes token ids, and how their reply is read."""
