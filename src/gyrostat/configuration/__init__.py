"""The layout of q and v, the manifold they live on, its charts and limits, and how states are packed: written once."""
