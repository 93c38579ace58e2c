"""Training of judges: examples, prefix-tree batches, objectives and LightningModules."""
