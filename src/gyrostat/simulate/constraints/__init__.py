"""What holds joints during a run: stops and dry friction."""
