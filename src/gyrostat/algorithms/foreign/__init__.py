"""Components from elsewhere: their equations, read off two rows, and what is checked before they serve."""
