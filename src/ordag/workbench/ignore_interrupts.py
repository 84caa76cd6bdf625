"""Ignore Ctrl-C: the first import of the process that workers are forked from. Import this nowhere else."""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
