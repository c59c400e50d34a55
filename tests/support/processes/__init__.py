"""xdist workers that start at once: forked from a process that has imported what each of them imports."""
