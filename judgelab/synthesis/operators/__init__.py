"""Operators that mutate an example into a candidate response with a known score (paper 004, Table 1)."""
