"""Machine code that a run is made of: kernels of the model, of the law that drives it, and how loops call them."""
