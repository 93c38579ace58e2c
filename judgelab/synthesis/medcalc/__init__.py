"""Medical calculators as formulas over named inputs with units."""
