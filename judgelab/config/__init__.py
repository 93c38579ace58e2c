"""Typed configuration: the schema, its composition by Hydra, and the checks before anything heavy is imported."""
