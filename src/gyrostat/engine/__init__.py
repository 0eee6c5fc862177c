"""From recorded arithmetic to machine code: record, verify, emit, compile, call. Knows no robotics."""
