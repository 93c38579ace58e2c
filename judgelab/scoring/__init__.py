"""Scoring: drive an engine over requests and keep every reply as a score row."""
