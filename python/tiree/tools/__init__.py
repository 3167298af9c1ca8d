"""The command line tools, one module each. Those of the runtime import nothing of the compiler."""
