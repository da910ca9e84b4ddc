"""Run folders: what one run leaves on disk, how it is written, read, resumed and checked."""
