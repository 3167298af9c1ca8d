"""Kernels for CPUs: one strategy per kind of dispatch, listed in `strategies.py`."""
