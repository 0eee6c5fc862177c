"""Contact: frames that are held, complementarity with exact friction cones, and laws of impact (H04 3.2.4)."""
