"""One run of a stage: its folder, manifest, randomness, tracking and screen."""
