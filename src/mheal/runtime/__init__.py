"""Support for long runs: threads, files, locks, checkpoints, memory limits and progress."""
