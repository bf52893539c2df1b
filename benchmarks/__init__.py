"""Figures that anyone can run: speed, size, growth and quality of memctl, as ratios measured in one run."""
