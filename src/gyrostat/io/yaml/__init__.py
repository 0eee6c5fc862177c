"""The text form of models and its schema."""
