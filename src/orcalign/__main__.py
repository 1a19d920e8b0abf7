"""python -m orcalign: the command, where its script is not on the path."""

from orcalign.cli import main

if __name__ == "__main__":
    main()
