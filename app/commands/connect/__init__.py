"""`palimpsest connect`: write this service into the configuration of hosts of agents."""
