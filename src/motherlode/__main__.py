"""The command `motherlode`, also as `python -m motherlode`."""


def main() -> None:
    """Run the command line. Ctrl-C shows no traceback, also while modules are imported."""
    try:
        from motherlode.cli import main as run_command  # takes a tenth of a second

        run_command()
    except KeyboardInterrupt:  # commands handle it themselves once they run
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
