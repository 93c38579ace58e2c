"""Operators that mutate an example into a candidate response with a known score (biomedical judges paper, Table 1)."""
