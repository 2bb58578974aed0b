"""Landing files to typed rows, of any kind: it knows no stage."""
