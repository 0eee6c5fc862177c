"""From programs to machine code: LLVM text, compilation, loops, and the cache of objects."""
