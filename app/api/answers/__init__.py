"""What answers look like: the wire names of everything that goes out."""
