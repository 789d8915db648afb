# SPDX-License-Identifier: MIT
"""What the Python scripts of this folder do alike with their command line."""
import argparse
import os
import shutil
import sys
import tempfile

NAME = "tools/" + os.path.basename(sys.argv[0])


def refuse(text):
    """Ends the script: the command line is wrong, or names what cannot be used. One line on standard error, status 2."""
    print("%s: %s" % (NAME, text), file=sys.stderr)
    sys.exit(2)


def usage(doc, words, options=(), most=0):
    """For a script without argparse. Prints `doc` and ends with status 0 if the first of `words` asks for help; refuses each other
    option than `options`, and more than `most` other words."""
    if words[:1] in (["-h"], ["--help"]):
        print(doc.strip())
        sys.exit(0)
    for word in words:
        if word.startswith("-") and word not in options:
            refuse("%s: unknown option: see %s --help" % (word, NAME))
    others = [w for w in words if not w.startswith("-")]
    if len(others) > most:
        refuse("%s: one word too many: see %s --help" % (others[most], NAME))


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line in one line."""

    def error(self, message):
        refuse("%s: see %s --help" % (message, NAME))


def folder(path):
    """Makes the folder `path`; refuses it if it cannot be made or written."""
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as e:
        refuse("%s: %s: name a folder that can be written" % (path, e.strerror))


def need(*tools):
    """Refuses to run without these programs."""
    for tool in tools:
        if not shutil.which(tool):
            refuse("%s is not installed: run tools/deps" % tool)
