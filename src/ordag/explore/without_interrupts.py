"""Ignore Ctrl-C from the first moment on, in the process that workers are forked from and in the workers. Import it nowhere else."""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
