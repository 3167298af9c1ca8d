"""Tiree's own linker: a relocatable object in, the smallest ELF image that the executable loader takes out.

`format.py` holds the numbers and structs of ELF, `object.py` reads what LLVM wrote, `relocations.py` knows each
architecture's relocations, `link.py` lays the image out, `symbols.py` adds a symbol table for debuggers.
"""
