"""Checkpoints, memory limits, threads, files, locks and progress: how work is carried out."""
