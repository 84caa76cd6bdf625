"""`python -m ordag` is `ordag`."""

from ordag.cli import main

if __name__ == "__main__":
    main()
