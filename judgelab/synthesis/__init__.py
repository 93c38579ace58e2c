"""Synthesis: data that a model or a rule writes, with the lineage to write it again."""
