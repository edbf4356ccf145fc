"""`python -m motherlode` is the command `motherlode`."""

from motherlode.cli import main

if __name__ == "__main__":
    main()
