"""For people who test and fuzz the VM: an oracle, generators of modules, and ways to compare implementations.

- `reference`: a slow interpreter in plain Python that shares nothing with the runtime; `archive` and `decode` read
  modules for it;
- `runners`: one way to call a function in the reference, in this runtime and in IREE's;
- `departures`: where IREE 3.13 differs on purpose.

Nothing here is needed to compile or run programs.
"""
