"""How modules are read and written as text. Assumes xDSL and `tiree.dialects`; knows no stage."""
