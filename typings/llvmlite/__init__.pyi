"""Types of the parts of llvmlite that Tiree calls; llvmlite has none of its own. A test holds them to the package."""
