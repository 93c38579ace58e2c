"""Reporting: tables, figures and the self-contained report that a person looks at after a run."""
