"""Programs with known results, shared by the tests of the input stage and of the whole compiler.

`bundles()` lists them: each bundle is one module whose single function computes many small cases at once, so that a
whole family of operations costs one compilation. Values come from JAX on the CPU or are given by hand; nothing here
imports the compiler.
"""

from programs.bundle import Bundle, Case, TextProgram

__all__ = ["Bundle", "Case", "TextProgram", "bundles", "text_programs"]


def bundles() -> list[Bundle]:
    """All bundles, in a fixed order."""
    from programs import elementwise, indexing, linear, reductions, structural

    return [
        *elementwise.BUNDLES,
        *structural.BUNDLES,
        *reductions.BUNDLES,
        *linear.BUNDLES,
        *indexing.BUNDLES,
    ]


def text_programs() -> list[TextProgram]:
    """All programs that are written as MLIR text."""
    from programs import texts

    return list(texts.PROGRAMS)
