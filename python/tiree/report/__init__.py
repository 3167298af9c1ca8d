"""The compile report (`--tiree-report=FILE`): one model of what became of a program, and its forms.

`report.py` gathers the model while a program is compiled, with `snapshots.py` (the IR and what each pass changed),
`graph.py` (the dispatches and what flows between them), `kernels.py` and `artifact.py`. The forms are JSON (the model
as it is), text (`text.py`), and a page for browsers (`html.py`, from the files in `page/`).
"""

from tiree.report.report import Report

__all__ = ["Report"]
