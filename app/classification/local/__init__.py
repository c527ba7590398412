"""The local judge: a small network that reads an incoming text beside stored ones."""
