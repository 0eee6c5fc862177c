"""What a release is made of, and how it is made: archives that anybody can make again, byte by byte. See
docs/developer/releasing.md."""
