"""Agreement with independent programs and published numbers: ``python -m validation`` writes docs/correctness.md."""
