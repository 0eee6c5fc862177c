"""The robot itself as unknown: parameters, fronts of trade-offs."""
