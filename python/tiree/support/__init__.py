"""What every part of the compiler may use: errors and locations, options, targets. Imports no other part."""
