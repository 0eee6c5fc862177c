"""A run from its settings to its result: ``gs.simulate``, the loop over steps and events, progress, and refusals."""
