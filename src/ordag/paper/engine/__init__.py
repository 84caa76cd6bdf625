"""Any experiment in, its rows out: tasks, the workers that run them, and the journal that an interruption cannot harm."""
