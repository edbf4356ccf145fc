"""Coverage-guided fuzzing of every parser: `make fuzz MINUTES=10`. `targets` says what must hold for any input."""
