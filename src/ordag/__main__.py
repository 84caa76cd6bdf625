"""Where `ordag` and `python -m ordag` begin: Ctrl-C is answered in order from here on, while libraries are loaded too."""

import sys

try:
    from ordag.cli import main
except KeyboardInterrupt:
    sys.stderr.write("ordag: stopped\n")
    sys.exit(130)

if __name__ == "__main__":
    main()
