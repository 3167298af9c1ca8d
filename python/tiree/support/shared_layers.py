"""The mark of a function that stands for equal layers of a program, from where it is made to where it is put back."""

SHARED_LAYER = "shared_layer"
"""A unit attribute of the function. The function's location is fused of those of the operations of the layer it was
made from, that of a call of those of the layer that the call replaces, in the same order."""
