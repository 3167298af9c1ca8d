"""Makes the harness and the programs of the stream tests importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "stream"))
