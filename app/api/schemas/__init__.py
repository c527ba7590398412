"""What requests may say: the wire names of everything that comes in, and its bounds."""
