"""Evaluation of judges against labels: strict and parsed-only figures, intervals, baselines."""
