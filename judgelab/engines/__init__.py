"""Engines answer requests: token ids in, replies out as they finish."""
