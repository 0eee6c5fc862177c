"""Contact: frames that are held, impacts, friction."""
