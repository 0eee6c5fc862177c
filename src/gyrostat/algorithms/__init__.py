"""One file per algorithm: its protocol, and one small function (a row) for each kind of component."""
