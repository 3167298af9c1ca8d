"""The accuracy of every elementwise op, measured: `python -m tests.proofs.accuracy` prints the table of the page."""
