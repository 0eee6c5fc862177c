"""Components from elsewhere: equations read off the two rows that define them, and what is checked before they serve."""
