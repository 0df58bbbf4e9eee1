"""What long runs need: threads, files, locks, checkpoints, memory limits and progress."""
