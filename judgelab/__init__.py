"""Train, score with and evaluate LLM judges."""
