"""Machine code that a run is made of: kernels of the model, of the law that drives it, and what drivers call them by."""
