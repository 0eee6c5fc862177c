"""The implicit method of AS 2.1."""
