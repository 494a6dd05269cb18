"""Run the command ``rankbook`` as ``python -m rankbook``."""

from rankbook.app.cli.main import main

if __name__ == "__main__":
    main()
