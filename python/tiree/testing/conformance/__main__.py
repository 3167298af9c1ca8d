"""`python -m tiree.testing.conformance`; see `tiree.testing.conformance.command`."""

from tiree.testing.conformance.command import main

raise SystemExit(main())
