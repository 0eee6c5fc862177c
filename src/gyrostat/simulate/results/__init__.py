"""What a run keeps, and the files and tables it goes to."""
