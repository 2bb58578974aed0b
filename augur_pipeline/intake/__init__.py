"""Landing files to typed rows: everything a file says, and nothing it does not."""
