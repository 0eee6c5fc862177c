"""Contact: complementarity with exact friction cones, and laws of impact (H04 3.2.4)."""
