"""Run the command ``rankbook``, also as ``python -m rankbook``."""

import sys


def main():
    """Entry point of the command `rankbook`."""
    for stream in (sys.stdout, sys.stderr) if sys.platform == "win32" else ():
        stream.reconfigure(encoding="utf-8", errors=stream.errors)  # in pipes, too
    try:
        from rankbook.app.cli.main import main
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        needs = 'the command line needs typer, which is not installed: pip install "rankbook[cli]"'
        print(f"rankbook: error: {needs}", file=sys.stderr)
        raise SystemExit(2) from None
    main()


if __name__ == "__main__":
    main()
