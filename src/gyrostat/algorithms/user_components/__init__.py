"""Components that others define: their rows, equations read off them, and their examination on random numbers."""
