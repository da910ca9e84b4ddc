"""``python -m onward`` is the command line."""

from onward.cli import main

if __name__ == "__main__":
    main()
