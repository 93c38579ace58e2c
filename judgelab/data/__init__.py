"""Pools of judged responses: typed records, sources, splits and pairs."""
